//! User confirmation of tool calls (ABL, current specification, 3.5, "Tool Confirmation
//! Properties"; Agent Script, `require_user_confirmation`).

use super::refusals::call_after;
use super::tool_calls::PlannedCall;
use super::{MASK, Next, NodeResult, Run, index};
use crate::host::Clock;
use crate::model::{Message, ModelTask, Role};
use crate::random::SplitMix64;
use crate::session::{Moment, Proposal, RuntimeError};
use crate::trace::EventKind;
use agentir_flow::Cfg;
use agentir_flow::cfg::{DecidedBy, EdgeKind, NodeKind, Origin};
use agentir_ir::Statement;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};
use std::cell::Cell;

/// A clock that stands still. Its random numbers are a sequence that follows from the moment, so that expressions depend on
/// the state alone.
pub(super) struct StoppedClock {
    now: i64,
    random: Cell<SplitMix64>,
}

impl StoppedClock {
    const fn at(moment: Moment) -> Self {
        Self { now: moment.now, random: Cell::new(SplitMix64::new(moment.seed)) }
    }
}

impl Clock for StoppedClock {
    fn now(&self) -> i64 {
        self.now
    }

    fn random(&self) -> u64 {
        let mut random = self.random.get();
        let number = random.next();
        self.random.set(random);
        number
    }

    fn sleep(&self, _: u64) {}
}

/// The nodes that ask the user before a call, by the node of the call.
pub(super) fn confirmations(cfg: &Cfg<'_>) -> FxHashMap<NodeIndex, NodeIndex> {
    let nodes = cfg.graph().node_indices();
    let asks = nodes.filter(|at| cfg.node(*at).is_some_and(|node| node.kind == NodeKind::Confirm));
    asks.filter_map(|at| Some((call_after(cfg, at)?.0, at))).collect()
}

impl<'p> Run<'_, 'p, '_> {
    /// Asks for confirmation, or evaluates the answer. Anything but agreement counts as a refusal.
    pub(super) fn confirm_call(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        let clock = self.host.clock;
        let moment = Moment { now: clock.now(), seed: clock.random() };
        let Some((tool, arguments)) = self.planned_call_at(element, moment)? else {
            return self.leave(at);
        };
        let node = index(at.index());
        let agreed = self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Next)?;
        let call = self.call_after(at).map(|(call, _)| call);
        let (Some(agreed), Some(call)) = (agreed, call) else { return self.leave(at) };
        let turn = self.session.turn;
        // A retry of a failed call needs no new confirmation.
        let given = self.frame().approved.clone().filter(|given| given.turn == turn);
        if given.is_some() && self.confirmed_call(call, element)?.is_some() {
            return Ok(Next::Take(agreed));
        }
        let fresh = self.progress.input_unread;
        let question = self.confirmation_question(tool, &arguments);
        // In changed agents, the same place may have another call.
        let same = |asked: &Proposal| {
            !asked.before_change
                || asked.tool == tool && asked.arguments == arguments && asked.question == question
        };
        let asked = self.frame().proposed.take();
        let asked = asked.filter(|asked| fresh && asked.node == node && same(asked));
        let Some(asked) = asked else {
            self.withdraw_calls();
            self.say(&question, None);
            let tool = tool.to_owned();
            let (call, before_change) = (index(call.index()), false);
            self.frame().proposed = Some(Proposal {
                node,
                call,
                tool,
                arguments,
                question,
                before_change,
                turn,
                moment,
            });
            return self.end_turn_at(at);
        };
        if let Some(edge) = self.interruption_edge(at)? {
            return Ok(Next::Take(edge));
        }
        self.consume_input();
        // A button is of an earlier question: this one has none.
        let pressed = self.input.as_ref().is_some_and(|input| input.action.is_some());
        let agrees = !pressed && self.judge_user(ModelTask::AGREEMENT)?;
        self.repeat_calls();
        self.emit(EventKind::Condition {
            condition: ModelTask::AGREEMENT.to_owned(),
            holds: agrees,
            decided_by: "model",
        });
        if !agrees {
            return self.decline_call(at, element, tool);
        }
        self.frame().approved = Some(Proposal { call: index(call.index()), turn, ..asked });
        Ok(Next::Take(agreed))
    }

    /// A declined call returns an error result, but does not trigger error handlers.
    fn decline_call(&mut self, at: NodeIndex, element: &Origin<'p>, tool: &str) -> NodeResult {
        let result = serde_json::json!({ "error": "the user did not agree" });
        let variable = match element {
            Origin::Statement(Statement::Call(call)) => call.result.as_ref(),
            _ => None,
        };
        self.store_result(tool, variable.map(|name| name.value.as_str()), &result, true)?;
        self.answer_tool_use(&result);
        let way = self.pick_edge(at, |edge, _| {
            edge.decided_by == DecidedBy::User
                && matches!(edge.kind, EdgeKind::Error | EdgeKind::Return)
        })?;
        match way {
            Some(edge) => Ok(Next::Take(edge)),
            None => Err(RuntimeError::new(
                "loop",
                format!("confirmation of `{tool}` was requested too often"),
            )),
        }
    }

    /// The call that a node makes, with the time and with chance as they were at a moment.
    fn planned_call_at(
        &mut self,
        element: &Origin<'p>,
        moment: Moment,
    ) -> Result<Option<PlannedCall<'p>>, RuntimeError> {
        self.stopped = Some(StoppedClock::at(moment));
        let planned = self.planned_call(element);
        self.stopped = None;
        planned
    }

    /// The arguments of a call as the user has confirmed them. None if nobody has, or if they are others now: then the user
    /// is asked again.
    pub(super) fn confirmed_call(
        &mut self,
        call: NodeIndex,
        element: &Origin<'p>,
    ) -> Result<Option<Map<String, Json>>, RuntimeError> {
        let Some(given) = self.approval_of(call).cloned() else { return Ok(None) };
        let Some((tool, mut arguments)) = self.planned_call_at(element, given.moment)? else {
            return Ok(None);
        };
        self.enforce_immutable_params(call, tool, &mut arguments);
        Ok((arguments == given.arguments).then_some(arguments))
    }

    /// What the user has agreed to, if it is this call.
    pub(super) fn approval_of(&self, call: NodeIndex) -> Option<&Proposal> {
        let call = index(call.index());
        self.session.stack.last()?.approved.as_ref().filter(|given| given.call == call)
    }

    /// Restores the parameters of a confirmed call that must not change (`immutable_params`).
    pub(super) fn enforce_immutable_params(
        &mut self,
        at: NodeIndex,
        tool: &str,
        arguments: &mut Map<String, Json>,
    ) {
        let Some(approved) = self.approval_of(at).cloned() else { return };
        let confirmation = self.tool(tool).and_then(|tool| tool.confirmation.as_ref());
        for name in confirmation.iter().flat_map(|c| &c.immutable_params) {
            let name = name.value.as_str();
            match approved.arguments.get(name) {
                Some(value) => arguments.insert(name.to_owned(), value.clone()),
                None => arguments.remove(name),
            };
        }
    }

    /// The question to the user; the languages do not let authors define it.
    fn confirmation_question(&self, tool: &str, arguments: &Map<String, Json>) -> String {
        let described = self.tool(tool).and_then(|tool| tool.description.as_ref());
        let what = match described.map(|text| self.render(text)) {
            Some(text) if !text.trim().is_empty() => text.trim().trim_end_matches('.').to_owned(),
            _ => tool.replace('_', " "),
        };
        // What only the declaration gives is not shown: neither the user nor the model could say anything about it.
        let reserved = self.reserved(tool);
        let is_shown = |name: &String| reserved.iter().all(|own| own.name.value != name.as_str());
        let with: Vec<String> = arguments
            .iter()
            .filter(|(name, value)| !value.is_null() && is_shown(name))
            .map(|(name, value)| (name.replace('_', " "), self.masked(name, value)))
            .map(|(name, value)| match value {
                Json::String(text) if text == MASK => name,
                Json::String(text) => format!("{name}: {text}"),
                value => format!("{name}: {value}"),
            })
            .collect();
        match with.as_slice() {
            [] => format!("Shall I do this? {what}."),
            with => format!("Shall I do this? {what} ({}).", with.join(", ")),
        }
    }

    /// Removes pending tool calls from the messages until the user has answered, as nothing may
    /// come between a call and its result.
    fn withdraw_calls(&mut self) {
        let frame = self.frame();
        let Some(at) = frame.messages.iter().rposition(|m| !m.calls.is_empty()) else { return };
        let Some(message) = frame.messages.get_mut(at) else { return };
        let pending = &frame.pending;
        message.calls.retain(|call| !pending.iter().any(|pick| pick.id == call.id));
        if message.calls.is_empty() && message.text.trim().is_empty() {
            frame.messages.remove(at);
        }
    }

    fn repeat_calls(&mut self) {
        let frame = self.frame();
        if frame.pending.is_empty() {
            return;
        }
        let mut message = Message::new(Role::Assistant, "");
        // `pending` is a stack, so the first call is last.
        message.calls = frame.pending.iter().rev().cloned().collect();
        frame.messages.push(message);
    }
}
