//! Transfers of control between agents and to people (ABL, current specification, 3.10, 3.11, 5.2;
//! ADL, B.3).

use super::refusals::{BLOCKED, Guarded};
use super::scope::{dotted, path_of};
use super::{MAX_STACK_DEPTH, Next, NodeResult, Run, index};
use crate::host::{FailureKind, ToolFailure};
use crate::json::{from_json, to_json};
use crate::model::{Message, Role};
use crate::session::{Binding, Frame, RuntimeError, Status};
use crate::trace::EventKind;
use agentir_diagnostics::{Span, Spanned};
use agentir_eval::Value;
use agentir_expr::{Expr, Name};
use agentir_flow::cfg::{EdgeKind, Node, NodeKind, Origin, Transfer};
use agentir_ir::{
    AgentType, BindingAction, Context, Data, Delegate, Handoff, Statement, Target, VariableBinding,
};
use petgraph::graph::NodeIndex;
use serde_json::{Map, Value as Json};

/// The input of an agent that receives control.
#[derive(Default)]
pub(super) struct HandoffInput {
    pub(super) variables: Vec<(String, Value)>,
    bindings: Vec<Binding>,
    pub(super) messages: Vec<Message>,
}

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn transfer(&mut self, at: NodeIndex, node: &Node<'p>) -> NodeResult {
        let transfer = self.machine.transfers.get(&at).and_then(|all| all.first()).copied();
        let Some(transfer) = transfer else {
            return Err(RuntimeError::unknown("the handoff target is unknown"));
        };
        let asks = node.kind == NodeKind::Delegate;
        if let Some(failure) = self.refuses_transfer(&transfer) {
            if matches!(node.origin, Origin::ToolBinding(_)) {
                self.answer_tool_use(&serde_json::json!({ "error": failure.message }));
                self.frame().pending.clear();
            }
            self.report_refused_transfer(&failure);
            return self.stop_turn();
        }
        let part = transfer.target.and_then(|id| self.machine.cfg.agent(id));
        let Some(part) = part else {
            return self.call_remote_agent(at, node, &transfer);
        };
        if self.session.stack.len() >= MAX_STACK_DEPTH {
            return Err(RuntimeError::new("loop", "too many nested agents"));
        }
        // The tool call that led here is completed.
        if matches!(node.origin, Origin::ToolBinding(_)) {
            self.answer_tool_use(&Json::from("done"));
            self.frame().pending.clear();
        }
        let mut given = self.handoff_input(&node.origin, transfer.to, asks)?;
        // Subagents share one conversation, with what was called in it.
        let from_tool = matches!(node.origin, Origin::ToolBinding(_));
        if (given.messages.is_empty() || from_tool) && self.traits().model_acts_by_tools {
            given.messages = self.messages_with(|_| true);
        }
        let turn = self.session.turn;
        let has_seen = self.frame().last_seen_turn == Some(turn);
        self.progress.passed_message =
            has_seen && given.messages.iter().any(|message| message.role == Role::User);
        let from = self.session.agent().unwrap_or_default().to_owned();
        let to = part.agent.metadata.name.value.to_string();
        let how = if asks { "delegate" } else { "handoff" };
        self.emit(EventKind::Transfer { how, from, to: to.clone() });
        let entry = index(part.entry.index());
        if asks {
            self.hold_message();
        }
        // The next agent sees the message that led to it.
        let flow = part.agent.flow.is_some();
        if self.input.is_some() && (!flow || self.progress.input_unread) {
            self.progress.input_unread = true;
        }
        match transfer.returns {
            Some(back) => {
                self.frame().node = index(back.index());
                self.push_agent(&to, entry, given, index(back.index()), asks);
            }
            None => {
                self.remember_all()?;
                let keeps = self.routes_next_message(node, transfer.to);
                let old = self.session.stack.pop();
                old.iter().for_each(|frame| self.keep_variables(frame));
                let waits = |t: &Frame| t.agent == to && t.returned && !t.failed;
                let parked = self.session.parked.iter().position(|t| keeps && waits(t));
                let mut frame = match parked.map(|at| self.session.parked.remove(at)) {
                    Some(parked) => Frame { returned: false, iterations: 0, ..parked },
                    None => Frame::new(&to, entry, self.session.turn),
                };
                if let Some(old) = old {
                    frame.returns_to = old.returns_to;
                    frame.delegated = old.delegated;
                    frame.bindings.clone_from(&old.bindings);
                    frame.routed_by = match old.returns_to {
                        None if keeps => Some(Box::new(old)),
                        _ => old.routed_by,
                    };
                }
                self.session.stack.push(frame);
                self.apply_input(given)?;
            }
        }
        Ok(Next::Switch)
    }

    /// Says that another agent does not get control.
    pub(super) fn report_refused_transfer(&mut self, failure: &ToolFailure) {
        let message = failure.explanation().to_owned();
        self.emit(EventKind::Error { kind: "handoff_error".to_owned(), message });
        self.say_notice(&failure.message);
    }

    /// Why another agent does not get control now: a supervisor says for whom it is, or a constraint before its
    /// name does not hold.
    fn refuses_transfer(&mut self, transfer: &Transfer<'p>) -> Option<ToolFailure> {
        if let Some(why) = self.unavailable(transfer.named) {
            let failure = ToolFailure::new(FailureKind::Refused, BLOCKED);
            return Some(ToolFailure { for_developers: Some(why.into()), ..failure });
        }
        let agent = self.agent().ok()?;
        let mut names = vec![transfer.to, transfer.named];
        names.extend(agent.references_to(transfer.named).map(|one| one.alias.value.as_str()));
        self.refused_by_constraint(&names, &Map::new())
    }

    /// Starts another agent, or resumes it if it is parked.
    fn push_agent(&mut self, to: &str, entry: u32, given: HandoffInput, back: u32, asks: bool) {
        let parked = self
            .session
            .parked
            .iter()
            .position(|t| t.agent == to && t.returns_to.is_some() && !t.failed)
            .map(|at| self.session.parked.remove(at));
        let frame = match parked {
            Some(mut frame) => {
                frame.returns_to = Some(back);
                frame.iterations = 0;
                frame
            }
            None => {
                let mut frame = Frame::new(to, entry, self.session.turn);
                frame.returns_to = Some(back);
                frame.delegated = asks;
                frame
            }
        };
        self.session.stack.push(frame);
        // Input that does not name a variable is dropped.
        let _ = self.apply_input(given);
    }

    fn apply_input(&mut self, given: HandoffInput) -> Result<(), RuntimeError> {
        self.frame().bindings = given.bindings;
        self.frame().messages.extend(given.messages);
        for (name, value) in given.variables {
            let path = self.own_path(&path_of(&name));
            let name = dotted(&path).to_string();
            // What the agent knows already it need not be told: `PASS: [user_id]`.
            if self.keeps_protected(&name, &value) {
                continue;
            }
            self.receive(&name);
            self.frame()
                .variables
                .set_path(&path, value.clone())
                .map_err(|e| RuntimeError::unknown(e.to_string()))?;
            let value = self.masked(&name, &to_json(&value));
            self.emit(EventKind::Set { variable: name, value });
        }
        Ok(())
    }

    /// The input for the next agent, as declared by the handoff or by this statement.
    pub(super) fn handoff_input(
        &mut self,
        element: &Origin<'p>,
        to: &str,
        asks: bool,
    ) -> Result<HandoffInput, RuntimeError> {
        match element {
            Origin::Handoff(handoff) => self.context_input(&handoff.context),
            Origin::Delegate(delegate) => self.delegate_input(delegate),
            Origin::Statement(Statement::Delegate(d) | Statement::Handoff(d)) => {
                let mut given = self.input_by_name(&d.agent.value, asks)?;
                self.bindings(&d.bindings, &mut given)?;
                Ok(given)
            }
            Origin::Jump(jump) => match jump.target.agent() {
                Some(agent) => self.input_by_name(&agent.value, asks),
                None => Ok(HandoffInput::default()),
            },
            Origin::Name(name) => self.input_by_name(&name.value, asks),
            Origin::Rule(rule) => {
                let mut given = self.input_by_name(to, asks)?;
                for name in &rule.pass {
                    self.pass_variable(&name.value, &mut given);
                }
                Ok(given)
            }
            Origin::ToolBinding(offer) => {
                let agent = match &offer.action {
                    BindingAction::Handoff { to } => to,
                    BindingAction::Delegate { agent } => agent,
                    _ => return Ok(HandoffInput::default()),
                };
                let mut given = self.input_by_name(&agent.value, asks)?;
                for with in &offer.with {
                    if let Some(value) = &with.value {
                        let value = self.value(value)?;
                        given.variables.push((with.name.value.to_string(), value));
                    }
                }
                // If all agents share the conversation, the messages of the model are passed on.
                if given.messages.is_empty() {
                    given.messages = self.text_messages();
                }
                Ok(given)
            }
            _ => Ok(HandoffInput::default()),
        }
    }

    /// What a guardrail of handoffs checks: the known values, and what the other agent is about to be given, the texts among
    /// it as `summary` and `history` (ABL, current specification, 3.9 and 3.10).
    pub(super) fn handed_over(&mut self) -> Result<Map<String, Json>, RuntimeError> {
        let mut all = self.known_values()?;
        let Guarded::Handoff(at) = self.guarded() else { return Ok(all) };
        let node = self.node(at)?;
        let transfer = self.machine.transfers.get(&at).and_then(|all| all.first()).copied();
        let Some(transfer) = transfer else { return Ok(all) };
        let asks = node.kind == NodeKind::Delegate;
        let given = self.handoff_input(&node.origin, transfer.to, asks)?;
        for (name, value) in &given.variables {
            all.insert(name.clone(), to_json(value));
        }
        let texts = |summaries: bool| -> Vec<&str> {
            let messages = given.messages.iter();
            let of_kind = messages.filter(|m| (m.role == Role::System) == summaries);
            of_kind.map(|message| message.text.as_str()).collect()
        };
        let (summaries, history) = (texts(true), texts(false));
        // A value of that name is checked as well.
        let mut add = |name: &str, text: Json| match all.remove(name) {
            Some(value) => all.insert(name.to_owned(), Json::Array(vec![value, text])),
            None => all.insert(name.to_owned(), text),
        };
        if !summaries.is_empty() {
            add("summary", Json::from(summaries.join("\n")));
        }
        if !history.is_empty() {
            add("history", Json::from(history));
        }
        Ok(all)
    }

    /// The conversation, without tool calls.
    fn text_messages(&mut self) -> Vec<Message> {
        self.messages_with(|m| m.calls.is_empty() && m.role != Role::Tool && !m.text.is_empty())
    }

    /// The messages of a conversation for which something holds, after a summary of what came before them. A call is
    /// among them only with its result.
    fn messages_with(&mut self, holds: impl Fn(&Message) -> bool) -> Vec<Message> {
        let frame = self.frame();
        let summary = (!frame.summary.is_empty())
            .then(|| Message::new(Role::System, super::history::earlier(&frame.summary)));
        let answered = |id: &str| {
            frame.messages.iter().any(|message| message.tool_use_id.as_deref() == Some(id))
        };
        let passed = frame.messages.iter().filter(|message| holds(message)).cloned();
        let passed = passed.map(|mut message| {
            message.calls.retain(|call| answered(&call.id));
            message
        });
        let is_empty = |message: &Message| message.calls.is_empty() && message.text.is_empty();
        summary.into_iter().chain(passed.filter(|message| !is_empty(message))).collect()
    }

    fn input_by_name(&mut self, name: &str, asks: bool) -> Result<HandoffInput, RuntimeError> {
        let agent = self.agent()?;
        let real = |declared: &'p agentir_diagnostics::Spanned<agentir_expr::Name>| {
            declared.value == name || agent.resolve_alias(declared).value == name
        };
        let delegate = agent.coordination.delegates.iter().find(|d| real(&d.agent));
        let handoff: Option<&Handoff> = agent.coordination.handoffs.iter().find(|h| real(&h.to));
        match (delegate, handoff) {
            (Some(delegate), _) if asks => self.delegate_input(delegate),
            (_, Some(handoff)) => self.context_input(&handoff.context),
            (Some(delegate), None) => self.delegate_input(delegate),
            _ => Ok(HandoffInput::default()),
        }
    }

    /// Notes a value that another agent passed or returned, so that the model is told of it.
    pub(super) fn receive(&mut self, name: &str) {
        let received = &mut self.frame().received;
        if received.iter().all(|known| known != name) {
            received.push(name.to_owned());
        }
    }

    /// Passes a variable that has a value; null is one.
    fn pass_variable(&mut self, name: &str, given: &mut HandoffInput) {
        let expr = Expr::path(path_of(name), Span::default());
        match self.value(&expr) {
            Ok(value) if value != Value::Undefined => {
                given.variables.push((name.to_owned(), value));
            }
            _ => {}
        }
    }

    fn context_input(&mut self, context: &'p Context) -> Result<HandoffInput, RuntimeError> {
        let mut given = HandoffInput::default();
        for passed in &context.pass {
            self.pass_variable(&passed.name.value, &mut given);
        }
        self.bindings(&context.bindings, &mut given)?;
        match &context.history {
            Some(Data::String(word)) if word == "full" || word == "auto" => {
                given.messages = self.text_messages();
            }
            Some(Data::Object(fields)) => {
                if let Some(n) = fields.get("last_n").and_then(Data::as_u64) {
                    let all = self.text_messages();
                    let skip = all.len().saturating_sub(usize::try_from(n).unwrap_or(usize::MAX));
                    given.messages = all.into_iter().skip(skip).collect();
                }
            }
            _ => {}
        }
        if let Some(summary) = &context.summary {
            let text = self.render(summary);
            given.messages.insert(0, Message::new(Role::System, text));
        }
        Ok(given)
    }

    fn delegate_input(&mut self, delegate: &'p Delegate) -> Result<HandoffInput, RuntimeError> {
        let mut given = HandoffInput::default();
        for (name, value) in &delegate.input {
            let value = self.value(value)?;
            given.variables.push((name.value.to_string(), value));
        }
        if let Some(purpose) = &delegate.purpose {
            let text = self.render(purpose);
            given.messages.push(Message::new(Role::System, text));
        }
        Ok(given)
    }

    /// Evaluates variables of the next agent: given by value, or bound to a variable of this one.
    fn bindings(
        &self,
        all: &[VariableBinding],
        given: &mut HandoffInput,
    ) -> Result<(), RuntimeError> {
        for binding in all {
            let value = self.value(&binding.value)?;
            let name = binding.variable.value.to_string();
            if binding.by_reference
                && let Some(path) = binding.value.as_path()
            {
                given
                    .bindings
                    .push(Binding { variable: name.clone(), path: dotted(path).to_string() });
            }
            given.variables.push((name, value));
        }
        Ok(())
    }

    /// Continues after an agent that cannot be reached, or that was delegated to and has failed.
    pub(super) fn unreachable(
        &mut self,
        at: NodeIndex,
        transfer: &Transfer<'p>,
        why: &str,
    ) -> NodeResult {
        let message = match transfer.target {
            Some(_) => format!("the agent `{}` failed: {why}", transfer.to),
            None => format!("the agent `{}` cannot be reached: {why}", transfer.to),
        };
        // Another attempt, or what follows the last one, is about the same message.
        let delegates = self.node(at)?.kind == NodeKind::Delegate;
        if delegates {
            self.resume_held_message();
        }
        if let Some(again) =
            self.pick_edge(at, |edge, to| edge.kind == EdgeKind::Retry && to == at)?
        {
            self.emit(EventKind::Error { kind: "handoff_error".to_owned(), message });
            return Ok(Next::Take(again));
        }
        let failed = self
            .outgoing_edges(at)
            .into_iter()
            .find(|(_, to, edge)| edge.kind == EdgeKind::Error && !self.is_error_hub(*to));
        if let Some((edge, _, weight)) = failed {
            self.emit(EventKind::Error { kind: "handoff_error".to_owned(), message });
            if let Origin::Delegate(delegate) = weight.origin {
                self.forget_returned(delegate);
            }
            let (words, jump) = match weight.origin {
                Origin::Handoff(h) => (h.failure_message.as_ref(), h.on_failure.as_ref()),
                Origin::Delegate(d) => (d.failure_message.as_ref(), d.on_failure.as_ref()),
                _ => (None, None),
            };
            // `continue` is silent.
            let target = jump.map(|jump| &jump.target);
            let words = words.filter(|_| target != Some(&Target::Continue));
            let reason = jump.filter(|jump| jump.target == Target::Respond);
            let reason = reason.and_then(|jump| jump.reason.as_ref());
            let text = match (words, reason) {
                (Some(words), _) => self.render(words),
                (None, reason) => reason.map(|text| text.value.to_string()).unwrap_or_default(),
            };
            self.say(&text, None);
            // The message that led here has not been answered by that.
            self.progress.answered &= !delegates;
            return Ok(Next::Take(edge));
        }
        Err(RuntimeError::new("handoff_error", message))
    }

    /// Ends the active agent: its caller continues, or the conversation is over.
    pub(super) fn exit_agent(&mut self) -> NodeResult {
        if self.frame().failed
            && let Some(next) = self.fail_delegation("it gave up")
        {
            return Ok(next);
        }
        self.settle_answers();
        let name = self.session.agent().unwrap_or_default().to_owned();
        self.recall(&format!("agent:{name}:after"));
        let Some(child) = self.session.stack.pop() else { return Ok(Next::Stop(Status::Done)) };
        self.keep_variables(&child);
        let Some(back) = child.returns_to.filter(|_| !self.session.stack.is_empty()) else {
            let failed = child.failed;
            let mut child = child;
            if let Some(supervisor) = child.routed_by.take().filter(|_| !failed) {
                let (from, to) = (child.agent.clone(), supervisor.agent.clone());
                self.session.parked.retain(|t| t.agent != from);
                self.session.parked.push(child);
                self.emit_as(from.clone(), EventKind::Transfer { how: "return", from, to });
                return Ok(self.resume_supervisor(*supervisor));
            }
            self.session.parked.push(child);
            self.session.stack.clear();
            return Ok(Next::Stop(if failed { Status::Failed } else { Status::Done }));
        };
        self.resume_caller(child, back, true);
        Ok(Next::Switch)
    }

    /// Returns control to the agent that handed over, which decides again.
    pub(super) fn return_control(&mut self) -> NodeResult {
        self.settle_answers();
        let Some(mut child) = self.session.stack.pop() else {
            return Ok(Next::Stop(Status::Done));
        };
        if let Some(supervisor) = child.routed_by.take() {
            let (from, to) = (child.agent.clone(), supervisor.agent.clone());
            child.pending.clear();
            child.returned = true;
            self.session.parked.push(child);
            self.session.stack.push(*supervisor);
            self.emit_as(from.clone(), EventKind::Transfer { how: "return", from, to });
            self.progress.input_unread = self.input.is_some();
            self.restart_turn();
            return Ok(Next::Switch);
        }
        let Some(back) = child.returns_to.filter(|_| !self.session.stack.is_empty()) else {
            self.session.stack.push(child);
            return Err(RuntimeError::unknown("there is no agent to return control to"));
        };
        child.pending.clear();
        self.progress.input_unread = self.input.is_some();
        // The frame is parked, so that the agent can be resumed later.
        self.session.parked.push(child.clone());
        self.resume_caller(child, back, false);
        // The caller processes the message again.
        self.restart_turn();
        Ok(Next::Switch)
    }

    /// Copies the values of bound variables back to the caller.
    pub(super) fn write_back_bindings(&mut self, child: &Frame) {
        for binding in &child.bindings {
            if let Some(value) = child.variables.get(&binding.variable) {
                let value = value.clone();
                // The caller's variable may no longer exist.
                let _ = self.assign_name(&binding.path, value);
            }
        }
    }

    pub(super) fn resume_caller(&mut self, child: Frame, back: u32, done: bool) {
        let to = self.session.agent().unwrap_or_default().to_owned();
        self.emit(EventKind::Transfer { how: "return", from: child.agent.clone(), to });
        self.write_back_bindings(&child);
        // Results of other agents are excluded; passing them on would double the size with each
        // turn.
        let program = self.machine.program;
        let own = |name: &str| {
            name != "result" && program.agent(name).is_none() && self.tool(name).is_none()
        };
        let result: Map<String, Json> = child
            .variables
            .variables()
            .filter(|(name, value)| **value != Value::Undefined && own(name))
            .map(|(name, value)| (name.to_string(), to_json(value)))
            .collect();
        if let Ok(value) = from_json(&Json::Object(result.clone())) {
            // Agents that read each other's variables find the result where all look.
            if self.traits().reads_other_agents {
                self.session.shared.set(child.agent.as_str(), value.clone());
            } else if !self.refuses_owned(&child.agent) {
                self.frame().variables.set(child.agent.as_str(), value.clone());
            }
            self.frame().variables.set("result", value);
        }
        let outputs = Json::Object(result);
        self.keep_outputs(back, outputs.clone());
        let which = if child.delegated { "delegate" } else { "handoff" };
        let failed = child.failed;
        let state = serde_json::json!({ "completed": done && !failed });
        self.session.set_system(which, &state);
        let words: Vec<Message> = child
            .messages
            .iter()
            .filter(|m| m.role == Role::Assistant && m.calls.is_empty())
            .cloned()
            .collect();
        // A supervisor has nothing to add when one of its agents is done. A message that was
        // returned still has to be answered, and so has one that an agent only delegated about.
        let chooses = self.agent().is_ok_and(|a| a.metadata.kind == AgentType::Supervisor);
        let spoke = self.progress.messages.iter().any(|s| s.agent == child.agent);
        self.progress.answered =
            done && if child.delegated { chooses && spoke } else { chooses || spoke };
        let frame = self.frame();
        frame.node = back;
        if !child.delegated {
            frame.messages.extend(words);
        }
        frame.failed = false;
        frame.error = failed.then(|| RuntimeError::new("agent_failed", "the agent gave up"));
        if !frame.pending.is_empty() {
            self.answer_tool_use(&outputs);
        }
        if child.delegated {
            self.resume_held_message();
        } else {
            self.progress.input_unread = self.progress.input_unread && !done;
        }
        self.session.parked.retain(|t| !(done && t.agent == child.agent));
        if done {
            // The variables of a finished agent remain readable after the end.
            self.session.parked.retain(|t| t.returns_to.is_some());
        }
    }

    /// Continues in the caller after an agent has returned.
    pub(super) fn handle_return(
        &mut self,
        at: NodeIndex,
        node: &Node<'p>,
    ) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        let meant = |name: &'p Spanned<Name>| agent.resolve_alias(name).value.as_str();
        let (to, asks) = match node.origin {
            Origin::Handoff(handoff) => return self.after_return(handoff),
            Origin::Delegate(delegate) => return self.after_delegate(delegate),
            Origin::Statement(Statement::Delegate(d)) => (meant(&d.agent), true),
            Origin::Statement(Statement::Handoff(d)) => (meant(&d.agent), false),
            Origin::Jump(jump) => match &jump.target {
                Target::Delegate(Some(to)) => (meant(to), true),
                Target::Handoff(Some(to)) => (meant(to), false),
                _ => return Ok(()),
            },
            Origin::Rule(_) => {
                match self.machine.cfg.transfers().iter().find(|t| t.returns == Some(at)) {
                    Some(transfer) => (transfer.to, false),
                    None => return Ok(()),
                }
            }
            Origin::Name(to) => (meant(to), false),
            _ => return Ok(()),
        };
        // What is declared about the agent holds whatever leads to it.
        let named = |name: &'p Spanned<Name>| meant(name) == to;
        let coordination = &agent.coordination;
        if asks {
            match coordination.delegates.iter().find(|d| named(&d.agent)) {
                Some(delegate) => self.after_delegate(delegate),
                None => Ok(()),
            }
        } else {
            match coordination.handoffs.iter().find(|h| named(&h.to)) {
                Some(handoff) => self.after_return(handoff),
                None => Ok(()),
            }
        }
    }

    fn after_return(&mut self, handoff: &'p Handoff) -> Result<(), RuntimeError> {
        let Some(on_return) = &handoff.on_return else { return Ok(()) };
        let agent = self.agent()?;
        for (name, value) in &on_return.map {
            // Fields of the child are read from its result.
            if let Value::Object(object) = self.result() {
                let mark = self.locals.len();
                let fields: Vec<_> =
                    object.fields().iter().map(|(n, v)| (n.clone(), v.clone())).collect();
                self.locals.extend(fields);
                let value = self.value(value);
                self.locals.truncate(mark);
                self.assign_returned(&name.value, value?)?;
                self.receive(&name.value);
            }
        }
        let handler = on_return
            .handler
            .as_ref()
            .or(on_return.action.as_ref())
            .and_then(|name| agent.coordination.return_handlers.get(name.value.as_str()));
        if let Some(handler) = handler {
            if let Some(words) = &handler.respond {
                let text = self.render(words);
                self.say(&text, None);
            }
            for name in &handler.clear {
                self.clear(&name.value);
            }
        }
        Ok(())
    }

    pub(super) fn result(&mut self) -> Value {
        self.frame().variables.get("result").cloned().unwrap_or_default()
    }

    /// Delegates to several agents in sequence; each sees the same message.
    pub(super) fn fan_out(&mut self, at: NodeIndex) -> NodeResult {
        let wanted = match self.session.variable("_disambiguation_intents") {
            Some(Json::Array(all)) => all,
            _ => Vec::new(),
        };
        let mut left: Vec<Json> = wanted;
        let next = loop {
            let Some(Json::String(name)) = left.first().cloned() else { break None };
            left.remove(0);
            let Some(target) = self.fan_out_target(at, &name) else { continue };
            match self.refuses_transfer(&target) {
                None => break Some(target),
                Some(failure) => self.report_refused_transfer(&failure),
            }
        };
        self.session.set_system("_disambiguation_intents", &Json::Array(left));
        let Some(transfer) = next else {
            return match self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Return)? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        };
        let Some(part) = transfer.target.and_then(|id| self.machine.cfg.agent(id)) else {
            return Ok(Next::ReturnTo(crate::session::ReturnPoint {
                node: index(at.index()),
                stage: 0,
            }));
        };
        let from = self.session.agent().unwrap_or_default().to_owned();
        let to = part.agent.metadata.name.value.to_string();
        let given = self.input_by_name(transfer.to, true)?;
        self.emit(EventKind::Transfer { how: "delegate", from, to: to.clone() });
        self.hold_message();
        self.progress.input_unread = self.input.is_some();
        // Control returns here for the next agent.
        self.push_agent(&to, index(part.entry.index()), given, index(at.index()), true);
        Ok(Next::Switch)
    }

    /// The transfer to the agent that handles an intent.
    fn fan_out_target(&self, at: NodeIndex, intent: &str) -> Option<Transfer<'p>> {
        let agent = self.agent().ok()?;
        let by_rule = agent.routing.iter().flat_map(|r| &r.rules).find(|rule| {
            rule.intents.first().is_some_and(|i| i.value == intent)
                || rule.name.as_ref().is_some_and(|n| n.value == intent)
        });
        let named =
            by_rule.and_then(|rule| rule.to.as_ref()).map_or(intent, |to| to.value.as_str());
        self.transfer_named(at, named)
    }

    /// The transfer of a node to an agent, by the name that is written there, else by the agent's own name.
    pub(super) fn transfer_named(&self, at: NodeIndex, named: &str) -> Option<Transfer<'p>> {
        let all = self.machine.transfers.get(&at)?;
        let written = all.iter().find(|transfer| transfer.named == named);
        written.or_else(|| all.iter().find(|transfer| transfer.to == named)).copied()
    }

    /// Completes the agent; completing the whole conversation also ends the waiting agents.
    pub(super) fn complete(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        // `COMPLETE` conditions are for the end of the turn, where this was done.
        if !matches!(element, Origin::Completion(_)) {
            self.remember_all()?;
        }
        let all = match element {
            Origin::ToolBinding(_) => true,
            Origin::Completion(done) => done.terminal == Some(true),
            Origin::Rule(_) => true,
            _ => false,
        };
        if matches!(element, Origin::ToolBinding(_)) {
            self.answer_tool_use(&Json::from("done"));
        }
        if all && let Some(last) = self.session.stack.pop() {
            self.session.stack.clear();
            self.session.stack.push(Frame { returns_to: None, routed_by: None, ..last });
        }
        self.leave(at)
    }
}
