//! What follows a failed check: what it refuses is neither done nor said, in this turn and in later ones (ABL, current
//! specification, 3.8.3).
//!
//! The checks before a call, an answer or a handoff return to where they were entered, so a [`ReturnPoint`] says what
//! they guard. If they fail, a flow stays there and is checked again with the next message; what the model wanted is
//! refused, and the model is asked anew. Only with `THEN: continue` does execution continue after a failed check.

use super::verdicts::Verdict;
use super::{
    CHECK_ERROR, Next, NodeResult, Run, STAGE_ANSWERS, STAGE_HANDOFF, STAGE_REFUSED, STAGE_SKIP,
    index,
};
use crate::session::{ReturnPoint, RuntimeError, Status};
use crate::trace::EventKind;
use agentir_flow::Cfg;
use agentir_flow::cfg::{EdgeKind, NodeKind, Origin};
use agentir_ir::{
    ConstraintFailure, FailureKind as Reaction, Guardrail, GuardrailKind, Statement, Target,
};
use petgraph::graph::{EdgeIndex, NodeIndex};

/// What the user reads if a check refuses and its author gives no words for it.
pub(super) const BLOCKED: &str = "Sorry, I cannot do that right now.";

/// What a call returns that a rule refuses.
const REFUSED: &str = "refused by a rule of this agent";

/// How many nodes may lie between the choice of a tool and its call.
const MAX_DISTANCE: usize = 8;

/// An input guardrail of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Screened {
    agent: String,
    rail: String,
}

impl Screened {
    fn of(agent: Option<&str>, rail: &Guardrail) -> Self {
        let agent = agent.unwrap_or_default().to_owned();
        Self { agent, rail: rail.name.value.to_string() }
    }
}

/// What a check guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guarded {
    /// The turn, or a part of it that the model leads.
    Turn,
    /// The call that follows this checkpoint.
    Call(NodeIndex),
    /// The answers that leave the agent at this node.
    Answers(NodeIndex),
    /// The handoff at this node.
    Handoff(NodeIndex),
}

/// How it goes on after a failed check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Consequence {
    /// As if it had passed.
    Continue,
    /// With the next message.
    Wait,
    /// With questions to the user, then with the check.
    Collect,
    /// The step begins again.
    Retry,
    /// With a person, who may hand the conversation back.
    Person,
    /// Somewhere else: another step, another agent, the end.
    Leave,
}

fn consequence_of(failure: Option<&ConstraintFailure>) -> Consequence {
    let Some(failure) = failure else { return Consequence::Wait };
    if failure.target.is_some() {
        return Consequence::Leave;
    }
    if failure.continues() {
        return Consequence::Continue;
    }
    if let Some(jump) = failure.then_step.iter().chain(&failure.then_action).next() {
        return match &jump.target {
            Target::Retry | Target::RetryStep => Consequence::Retry,
            Target::Block | Target::Redact => Consequence::Wait,
            Target::Escalate => Consequence::Person,
            _ => Consequence::Leave,
        };
    }
    match failure.kind {
        Reaction::Escalate => Consequence::Person,
        Reaction::RetryStep => Consequence::Retry,
        Reaction::CollectField => Consequence::Collect,
        _ => Consequence::Wait,
    }
}

impl<'p> Run<'_, 'p, '_> {
    /// What the check at work guards.
    pub(super) fn guarded(&mut self) -> Guarded {
        let Some(top) = self.frame().return_points.last().copied() else { return Guarded::Turn };
        let node = NodeIndex::new(top.node as usize);
        match top.stage {
            STAGE_ANSWERS => Guarded::Answers(node),
            STAGE_HANDOFF => Guarded::Handoff(node),
            0 | STAGE_SKIP => Guarded::Turn,
            _ if self.kind(node) == Some(NodeKind::Checkpoint) => Guarded::Call(node),
            _ => Guarded::Turn,
        }
    }

    pub(super) fn kind(&self, node: NodeIndex) -> Option<NodeKind> {
        self.machine.cfg.node(node).map(|node| node.kind)
    }

    // ---- consequences -----------------------------------------------------------------------

    /// Refuses what a constraint guards, before the graph says what follows.
    pub(super) fn refuse(
        &mut self,
        at: NodeIndex,
        failure: Option<&'p ConstraintFailure>,
    ) -> Result<(), RuntimeError> {
        let then = consequence_of(failure);
        if then == Consequence::Continue {
            match self.guarded() {
                // It asks, and the check is made again with the answer.
                Guarded::Call(checkpoint) if self.asks_first(at, checkpoint, failure) => {}
                Guarded::Call(_) => self.continue_after_call(),
                Guarded::Answers(_) => {
                    let _ = self.take_back_answers();
                }
                Guarded::Turn | Guarded::Handoff(_) => return Ok(()),
            }
            self.progress.refused = true;
            return Ok(());
        }
        // Who takes over has words of their own.
        self.progress.refused |= !matches!(then, Consequence::Leave | Consequence::Person);
        let mute = then == Consequence::Wait && failure.is_none_or(|f| f.message.is_none());
        let in_step = self.node(at)?.step.is_some();
        match self.guarded() {
            // The part that the model leads begins once the check passes.
            Guarded::Turn if in_step && then == Consequence::Wait => {
                self.frame().return_points.push(ReturnPoint { node: index(at.index()), stage: 0 });
            }
            Guarded::Turn => {}
            Guarded::Call(checkpoint) => self.refuse_call(checkpoint, then),
            Guarded::Answers(node) => self.refuse_answers(node, then)?,
            Guarded::Handoff(_) => self.refuse_by_guardrail(),
        }
        if mute && self.progress.messages.is_empty() && self.progress.unchecked.is_empty() {
            self.tell(BLOCKED);
        }
        Ok(())
    }

    pub(super) fn refuse_call(&mut self, checkpoint: NodeIndex, then: Consequence) {
        let by_model = self.is_call_by_model(checkpoint);
        let in_step = self.machine.cfg.node(checkpoint).is_some_and(|node| node.step.is_some());
        match then {
            Consequence::Retry | Consequence::Continue => {}
            Consequence::Collect if !by_model && in_step => {}
            Consequence::Wait if !by_model && in_step => self.check_again_later(),
            // When the person hands back, the flow is where it was.
            Consequence::Person if !by_model && in_step => self.check_again_later(),
            _ => self.abandon_call(checkpoint, then),
        }
    }

    /// Whether a failed check before a call asks for values before it goes on without the call: once, where the flow makes
    /// the call.
    fn asks_first(
        &mut self,
        at: NodeIndex,
        checkpoint: NodeIndex,
        failure: Option<&ConstraintFailure>,
    ) -> bool {
        let in_step = self.machine.cfg.node(checkpoint).is_some_and(|node| node.step.is_some());
        if failure.is_none_or(|failure| failure.collect_fields.is_empty())
            || !in_step
            || self.is_call_by_model(checkpoint)
        {
            return false;
        }
        let asked = &mut self.frame().ask_counts;
        match asked.remove(&index(at.index())) {
            Some(_) => false,
            None => asked.insert(index(at.index()), 1).is_none(),
        }
    }

    /// The call is not made, and execution continues after it once the consequences of the check are done.
    fn continue_after_call(&mut self) {
        if let Some(top) = self.frame().return_points.last_mut() {
            top.stage = STAGE_REFUSED;
        }
    }

    /// Continues after a call that is not made: it has failed.
    pub(super) fn pass_over_call(&mut self, checkpoint: NodeIndex) -> NodeResult {
        let refused = serde_json::json!({ "error": REFUSED });
        let call = self.call_after(checkpoint);
        if let Some((call, Origin::Statement(Statement::Call(statement)))) = call {
            let variable = statement.result.as_ref().map(|name| name.value.as_str());
            self.store_result(&statement.tool.value, variable, &refused, true)?;
            return self.skip_failed_node(call, NodeKind::Call);
        }
        self.answer_tool_use(&refused);
        match self.choice_again(checkpoint) {
            Some(choice) => Ok(Next::ReturnTo(choice)),
            None => self.stop_turn(),
        }
    }

    /// Where the model chooses anew after a call of its own; steps share the node that exposes all tools.
    fn choice_again(&mut self, checkpoint: NodeIndex) -> Option<ReturnPoint> {
        let top = self.frame().return_points.last().copied();
        let shared = top
            .filter(|top| self.kind(NodeIndex::new(top.node as usize)) == Some(NodeKind::Choose));
        if shared.is_some() {
            self.frame().return_points.pop();
            return shared;
        }
        let choice = self.choice_before(checkpoint)?;
        Some(ReturnPoint { node: index(choice.index()), stage: 0 })
    }

    fn refuse_answers(&mut self, node: NodeIndex, then: Consequence) -> Result<(), RuntimeError> {
        let messages = self.take_back_answers();
        let held = matches!(then, Consequence::Wait | Consequence::Collect)
            && self.kind(node).is_some_and(NodeKind::releases_answers)
            && self.agent()?.flow.is_some()
            && !self.is_led_by_model(node);
        if held {
            self.frame().withheld.extend(messages);
        }
        match then {
            Consequence::Retry | Consequence::Continue => {}
            Consequence::Collect if held => {}
            Consequence::Wait if held => self.check_again_later(),
            _ => {
                let led = self.is_led_by_model(node);
                self.abandon();
                // The model goes on with what is asked for.
                if led && then == Consequence::Collect {
                    self.answer_again();
                }
            }
        }
        Ok(())
    }

    /// A turn in which a check has refused something says so, if nothing else is said in it.
    pub(super) fn say_that_it_was_refused(&mut self, status: Status) {
        let silent = self.progress.messages.is_empty() && self.progress.unchecked.is_empty();
        if self.progress.refused && silent && status == Status::Await && !self.progress.handed_back
        {
            self.tell(BLOCKED);
        }
    }

    /// Refuses what a guardrail guards. What it refuses to say is never said; a call is checked again with the next
    /// message.
    pub(super) fn refuse_by_guardrail(&mut self) {
        self.progress.refused = true;
        match self.guarded() {
            Guarded::Turn => {}
            Guarded::Call(checkpoint) => self.refuse_call(checkpoint, Consequence::Wait),
            Guarded::Answers(node) => {
                self.discard_unchecked();
                let ends = self.kind(node) == Some(NodeKind::TurnEnd);
                let flow = self.agent().is_ok_and(|agent| agent.flow.is_some());
                if flow && !ends && self.kind(node).is_some_and(NodeKind::releases_answers) {
                    self.check_again_later();
                } else {
                    self.abandon();
                }
            }
            Guarded::Handoff(_) => {
                let top = self.frame().return_points.last().map(|top| top.node as usize);
                let node = top.and_then(|top| self.machine.cfg.node(NodeIndex::new(top)));
                match node.and_then(|node| node.step) {
                    Some(_) => self.check_again_later(),
                    None => self.abandon(),
                }
            }
        }
    }

    /// Nothing is left inside a check while the user is awaited (a retry that is exhausted): what it guards is refused.
    pub(super) fn leave_no_check_open(&mut self) {
        let silent = self.progress.messages.is_empty()
            && self.progress.unchecked.is_empty()
            && self.input.is_some();
        if silent && matches!(self.guarded(), Guarded::Call(_) | Guarded::Answers(_)) {
            self.tell(BLOCKED);
        }
        match self.guarded() {
            Guarded::Turn => {}
            Guarded::Call(checkpoint) => self.refuse_call(checkpoint, Consequence::Wait),
            Guarded::Answers(_) | Guarded::Handoff(_) => self.abandon(),
        }
    }

    /// The flow waits at what is refused, and its checks begin again with the next message.
    fn check_again_later(&mut self) {
        if let Some(top) = self.frame().return_points.last_mut() {
            top.stage = 0;
        }
    }

    /// What a failed constraint guards waits for the next message, because there is nothing to ask for.
    pub(super) fn wait_at_failure(&mut self) {
        match self.guarded() {
            Guarded::Call(checkpoint) => self.refuse_call(checkpoint, Consequence::Wait),
            Guarded::Answers(_) => self.check_again_later(),
            Guarded::Turn | Guarded::Handoff(_) => {}
        }
    }

    /// Gives up what is refused.
    pub(super) fn abandon(&mut self) {
        self.frame().return_points.pop();
        // A question that was not asked cannot be answered.
        self.frame().proposed = None;
        self.forget_inferences();
        if !self.frame().pending.is_empty() {
            let top = self.frame().return_points.last().map(|top| top.node as usize);
            let kind = top.and_then(|top| self.kind(NodeIndex::new(top)));
            if kind == Some(NodeKind::Confirm) {
                self.frame().return_points.pop();
            }
        }
        self.refuse_pending();
    }

    fn abandon_call(&mut self, checkpoint: NodeIndex, then: Consequence) {
        let by_model = self.is_call_by_model(checkpoint);
        self.abandon();
        // A step that the model leads goes on with the model.
        let chosen_at = self.choice_before(checkpoint).filter(|_| by_model);
        let in_step = self.machine.cfg.node(checkpoint).is_some_and(|node| node.step.is_some());
        if let Some(choice) = chosen_at
            .filter(|_| in_step && !matches!(then, Consequence::Leave | Consequence::Person))
        {
            self.frame().return_points.push(ReturnPoint { node: index(choice.index()), stage: 0 });
        }
    }

    /// Tells the model that what it wanted is refused.
    fn refuse_pending(&mut self) {
        let refused = serde_json::json!({ "error": REFUSED });
        while !self.frame().pending.is_empty() {
            self.answer_tool_use(&refused);
        }
        self.frame().answer = None;
    }

    /// Ends the turn after a check for which the graph has no consequence.
    pub(super) fn stop_turn(&mut self) -> NodeResult {
        self.leave_no_check_open();
        if let Some(part) = self.agent_id().and_then(|id| self.machine.cfg.agent(id)) {
            let wait = part.wait;
            self.frame().node = index(wait.index());
        }
        Ok(Next::Stop(Status::Await))
    }

    /// Refuses what a broken check guards: it says so to the developer, and to the user that it cannot go on.
    pub(super) fn block(&mut self, at: NodeIndex) -> NodeResult {
        self.refuse(at, None)?;
        if self.progress.unchecked.iter().all(|m| m.message.text != BLOCKED)
            && self.progress.messages.iter().all(|m| m.text != BLOCKED)
        {
            // What was said before it comes first; no check of the agent has a say in these words.
            match self.progress.unchecked.is_empty() {
                true => self.tell(BLOCKED),
                false => self.say_notice(BLOCKED),
            }
        }
        self.stop_turn()
    }

    /// Records that a check cannot be evaluated.
    pub(super) fn report_broken(&mut self, what: &str, problem: &RuntimeError) {
        let message = match problem.kind == CHECK_ERROR {
            true => format!("{what} blocks, because {}", problem.message),
            false => format!("{what} blocks, because it cannot be evaluated: {}", problem.message),
        };
        self.emit(EventKind::Error { kind: CHECK_ERROR.to_owned(), message });
    }

    /// `RETRY` after a failed constraint: the step begins again, or the model answers again.
    pub(super) fn restart_after_failure(&mut self) -> Option<Next> {
        let edge = self.progress.entered_by?;
        let (.., edge) = self.machine.cfg.edge(edge)?;
        let Origin::Failure(failure) = edge.origin else { return None };
        if consequence_of(Some(failure)) != Consequence::Retry {
            return None;
        }
        self.keep_calls_of_step();
        let back = |node: NodeIndex| {
            Some(Next::ReturnTo(ReturnPoint { node: index(node.index()), stage: 0 }))
        };
        match self.guarded() {
            Guarded::Call(checkpoint) if self.is_call_by_model(checkpoint) => {
                self.abandon();
                self.choice_again(checkpoint).map(Next::ReturnTo)
            }
            Guarded::Call(checkpoint) => {
                let step = self.step_node(checkpoint);
                self.frame().return_points.pop();
                match step {
                    Some(step) => {
                        self.frame().return_points.clear();
                        back(step)
                    }
                    None => self.wait_node().and_then(back),
                }
            }
            Guarded::Answers(node) => {
                let led = self.is_led_by_model(node);
                self.abandon();
                let top = self.frame().return_points.last().copied();
                let waits = top.map(|top| NodeIndex::new(top.node as usize));
                if led {
                    self.answer_again();
                    return None;
                }
                let flow = self.agent().is_ok_and(|agent| agent.flow.is_some());
                if !flow {
                    return None;
                }
                match self.step_node(node).or_else(|| self.step_node(waits?)) {
                    Some(step) => {
                        self.frame().return_points.clear();
                        back(step)
                    }
                    None => self.wait_node().and_then(back),
                }
            }
            _ => None,
        }
    }

    /// Lets the model that leads a step go on without waiting for the user.
    pub(super) fn answer_again(&mut self) {
        let Some(top) = self.frame().return_points.pop() else { return };
        let wait = NodeIndex::new(top.node as usize);
        let again = self.outgoing_edges(wait).into_iter();
        let mut choice =
            again.filter(|(.., edge)| edge.kind == EdgeKind::Return).map(|(_, to, _)| to);
        if let Some(choice) = choice.next() {
            self.frame().return_points.push(ReturnPoint { node: index(choice.index()), stage: 0 });
        }
    }

    fn wait_node(&self) -> Option<NodeIndex> {
        self.agent_id().and_then(|id| self.machine.cfg.agent(id)).map(|part| part.wait)
    }

    /// The first node of the step that a node belongs to.
    fn step_node(&self, node: NodeIndex) -> Option<NodeIndex> {
        let node = self.machine.cfg.node(node)?;
        self.machine.cfg.agent(node.agent)?.step(&node.step?.name.value)
    }

    /// Whether the answers that leave at a node are the model's in a step that it leads.
    pub(super) fn is_led_by_model(&mut self, node: NodeIndex) -> bool {
        if self.kind(node) != Some(NodeKind::TurnEnd) {
            return false;
        }
        let points = &self.frame().return_points;
        let below = points.iter().rev().find(|p| p.node != index(node.index())).copied();
        let below = below.and_then(|p| self.machine.cfg.node(NodeIndex::new(p.node as usize)));
        below.is_some_and(|n| n.kind == NodeKind::Await && matches!(n.origin, Origin::Zone(_)))
    }

    // ---- calls ------------------------------------------------------------------------------

    /// The call that a checkpoint guards.
    pub(super) fn call_after(&self, checkpoint: NodeIndex) -> Option<(NodeIndex, Origin<'p>)> {
        call_after(&self.machine.cfg, checkpoint)
    }

    fn is_call_by_model(&self, checkpoint: NodeIndex) -> bool {
        self.call_after(checkpoint)
            .is_some_and(|(_, origin)| !matches!(origin, Origin::Statement(Statement::Call(_))))
    }

    /// The node at which the model chose what happens at a node.
    pub(super) fn choice_before(&self, node: NodeIndex) -> Option<NodeIndex> {
        let mut at = node;
        for _ in 0..MAX_DISTANCE {
            let mut before: Vec<(NodeIndex, EdgeKind)> =
                self.machine.cfg.predecessors(at).map(|(from, edge)| (from, edge.kind)).collect();
            before.sort_by_key(|(_, kind)| *kind != EdgeKind::Choice);
            let (from, kind) = *before.first()?;
            if kind == EdgeKind::Choice {
                return Some(from);
            }
            at = before.iter().find(|(_, kind)| *kind == EdgeKind::Next)?.0;
        }
        None
    }

    /// Whether the guard of what the model may choose holds; if it cannot be evaluated, it does not.
    pub(super) fn is_offered(
        &mut self,
        edge: &agentir_flow::cfg::Edge<'p>,
    ) -> Result<bool, RuntimeError> {
        match self.strictly(|run| run.guard_holds(edge.guard)) {
            Err(problem) if problem.kind == CHECK_ERROR => {
                self.report_broken("the condition of an action", &problem);
                Ok(false)
            }
            other => other,
        }
    }

    /// Whether the guard of what the model chose still holds when it is done: the user may have been asked first.
    pub(super) fn is_still_available(
        &mut self,
        element: &Origin<'p>,
    ) -> Result<bool, RuntimeError> {
        match element {
            Origin::ToolBinding(offer) => match &offer.available_when {
                Some(when) => match self.decide(when) {
                    Err(problem) if problem.kind == CHECK_ERROR => {
                        self.report_broken("the condition of an action", &problem);
                        Ok(false)
                    }
                    other => other,
                },
                None => Ok(true),
            },
            _ => Ok(true),
        }
    }

    /// What a turn limits is counted anew for each message: the retries of failed checks and of errors, and the calls of
    /// the model.
    pub(super) fn begin_counting(&mut self) {
        let cfg = &self.machine.cfg;
        let lasts = |edge: &u32| {
            let Some((from, _, edge)) = cfg.edge(EdgeIndex::new(*edge as usize)) else {
                return true;
            };
            match edge.kind {
                EdgeKind::Retry => !matches!(
                    edge.origin,
                    Origin::Failure(_) | Origin::Handler(_) | Origin::Delegate(_)
                ),
                // Of the returns to the model, only those after a message of the user are counted for longer.
                EdgeKind::Return => cfg.node(from).is_some_and(|n| n.kind == NodeKind::Await),
                _ => true,
            }
        };
        for frame in &mut self.session.stack {
            frame.edge_counts.retain(|edge, _| lasts(edge));
        }
    }

    /// Evaluates the input guardrails before anything is done with the message (current specification, 3.9), and filters
    /// what is to be filtered. Returns the one that refuses the message, and how. If a node follows for each of them,
    /// it takes the verdict from here, and says the rest.
    pub(super) fn screen(&mut self, nodes_follow: bool) -> Option<(&'p Guardrail, Verdict)> {
        self.progress.screened.clear();
        for rail in self.guardrails_of(GuardrailKind::Input) {
            if nodes_follow && self.can_defer_guardrail(rail) {
                continue;
            }
            let content = self.input.as_ref().map(|i| i.text.clone())?;
            let mut verdict = self.guardrail_verdict(rail, &content);
            let filters = verdict == Verdict::Fails
                && matches!(rail.action_type(), "redact" | "filter" | "fix")
                && self.filter_until_it_passes(rail);
            if verdict != Verdict::Passes && (filters || !nodes_follow) {
                let (rule, action) = (rail.name.value.to_string(), rail.action_type().to_owned());
                self.emit(EventKind::Violation { rule, action });
            }
            if filters {
                verdict = Verdict::Passes;
            }
            self.progress.screened.push((Screened::of(self.session.agent(), rail), verdict));
            if verdict != Verdict::Passes && self.must_refuse(rail) {
                return Some((rail, verdict));
            }
        }
        None
    }

    /// The verdict about the message of a guardrail that was evaluated at the beginning of the turn.
    pub(super) fn screened(&self, rail: &Guardrail) -> Option<Verdict> {
        let this = Screened::of(self.session.agent(), rail);
        let verdicts = self.progress.screened.iter().filter(|(screened, _)| *screened == this);
        // Guardrails may have one name.
        verdicts.map(|(_, verdict)| *verdict).reduce(|one, other| match one {
            Verdict::Passes => other,
            _ => one,
        })
    }

    /// Checks a message that goes to a place inside a turn (a question of a failed constraint, a remote agent), where
    /// no turn begins. Returns the status if it is blocked.
    pub(super) fn screen_message(&mut self) -> Option<Status> {
        let at = NodeIndex::new(self.session.stack.last()?.node as usize);
        let begins = matches!(self.kind(at), Some(NodeKind::TurnStart | NodeKind::Entry));
        if self.input.is_none() || begins || Some(at) == self.wait_node() {
            return None;
        }
        let (rail, verdict) = self.screen(false)?;
        let text = match verdict {
            Verdict::Broken => BLOCKED.to_owned(),
            _ => self.guardrail_message(rail),
        };
        self.tell(&text);
        Some(self.session.status)
    }
}

/// The call that a checkpoint guards, or about which a node asks the user.
pub(super) fn call_after<'p>(
    cfg: &Cfg<'p>,
    checkpoint: NodeIndex,
) -> Option<(NodeIndex, Origin<'p>)> {
    let mut at = checkpoint;
    for _ in 0..MAX_DISTANCE {
        let (to, _) = cfg.successors(at).find(|(_, edge)| edge.kind == EdgeKind::Next)?;
        let node = cfg.node(to)?;
        if node.kind == NodeKind::Call {
            return Some((to, node.origin));
        }
        at = to;
    }
    None
}
