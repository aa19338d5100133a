//! Selection of the agent of an ensemble that answers, by the methods of the ADL paper
//! ([`OrchestrationMethod`]).
//!
//! With a method, a message goes to the ensemble first, whichever agent was in charge; an agent
//! with a flow keeps its messages. To compare answers, agents run speculatively: until the turn
//! ends or an external side effect is due. Then the state is restored.
//!
//! Speculation is possible because sessions are plain data: the machine keeps the session, runs one
//! agent, and restores the session. `docs/orchestration.md` reports what the methods cost.

use super::{Next, Progress, Run, leads_onward};
use crate::model::{Candidate, Message, Purpose, Role, ToolSpec};
use crate::orchestration::{OrchestrationMethod, with_guardrail_rules};
use crate::session::{RuntimeError, Session, Status};
use crate::trace::EventKind;
use agentir_flow::cfg::{EdgeKind, NodeKind};
use agentir_ir::{AgentType, Guardrail, GuardrailKind};
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::Value as Json;

/// The maximum number of nodes between an ensemble's routing edge and the agent it leads to.
const MAX_PATH_LEN: usize = 16;

/// The state of an orchestration method within a turn.
#[derive(Default)]
pub(super) struct Orchestration {
    /// Whether the message has been dispatched to the ensemble, or does not concern it.
    dispatched: bool,
    /// The agent that was in charge at the start of the turn.
    in_charge: Option<String>,
    /// The agent that continues, if that is already decided.
    preferred: Option<String>,
    /// The routing node of the ensemble, and the agents it can choose from.
    routing_candidates: Option<(NodeIndex, Vec<Candidate>)>,
    /// Whether execution is speculative.
    speculative: bool,
    /// Why speculative execution stopped early.
    stopped_at: Option<AttemptEnd>,
    /// Whether the agents have already been compared.
    contested: bool,
    /// Guardrails that are merged into the next request to continue the conversation.
    deferred: Option<Box<DeferredGuardrails>>,
    /// Whether guardrails need requests of their own after all.
    guardrails_separate: bool,
}

/// Guardrails that have not been evaluated yet.
struct DeferredGuardrails {
    /// The state before the first of them.
    before: Snapshot,
    /// For each guardrail, what it detects and the answer in that case.
    rules: Vec<(String, String)>,
}

/// The state that is restored when a turn is rolled back.
#[derive(Clone)]
struct Snapshot {
    session: Session,
    progress: Progress,
}

/// How an attempt ended.
#[derive(Clone, Copy)]
enum AttemptEnd {
    /// The turn ended.
    Over(Status),
    /// An external side effect was due.
    SideEffect,
    /// The agent returned the message.
    Declined,
}

/// A speculative answer of an agent.
struct Attempt {
    agent: String,
    text: String,
    end: AttemptEnd,
    after: Snapshot,
}

impl Attempt {
    /// Whether the attempt produced an answer.
    fn is_answer(&self) -> bool {
        match self.end {
            AttemptEnd::Over(status) => status != Status::Failed && !self.text.is_empty(),
            AttemptEnd::SideEffect => true,
            AttemptEnd::Declined => false,
        }
    }
}

impl<'p> Run<'_, 'p, '_> {
    // ---- dispatch to the ensemble -----------------------------------------------------------

    /// Passes a message to the ensemble of the agent in charge, if a method selects the answering
    /// agent.
    pub(super) fn dispatch_to_ensemble(&mut self) -> Option<Next> {
        self.session.orchestration?;
        if std::mem::replace(&mut self.orchestration.dispatched, true) || !self.is_ensemble_member()
        {
            return None;
        }
        self.orchestration.in_charge = self.session.agent().map(str::to_owned);
        self.return_to_ensemble()?;
        self.restart_turn();
        Some(Next::Switch)
    }

    /// Whether the agent in charge is a model-led member of an ensemble.
    fn is_ensemble_member(&self) -> bool {
        let Some((last, above)) = self.session.stack.split_last() else { return false };
        let ensemble = above.last().and_then(|t| self.machine.agent(&t.agent));
        !last.delegated
            && last.returns_to.is_some()
            && self.agent().is_ok_and(|agent| agent.flow.is_none())
            && ensemble.is_some_and(|a| a.metadata.kind == AgentType::Supervisor)
    }

    /// Returns control to the ensemble; the agent resumes where it stopped when it is selected
    /// again.
    fn return_to_ensemble(&mut self) -> Option<()> {
        self.settle_answers();
        let child = self.session.stack.pop()?;
        let since =
            child.messages.iter().rposition(|m| m.role == Role::User).map_or(0, |at| at + 1);
        let new = child.messages.get(since..).unwrap_or_default().iter();
        let words: Vec<Message> = new
            .filter(|m| m.role == Role::Assistant && m.calls.is_empty() && !m.text.is_empty())
            .cloned()
            .collect();
        let to = self.session.agent()?.to_owned();
        self.emit(EventKind::Transfer { how: "return", from: child.agent.clone(), to });
        self.write_back_bindings(&child);
        self.frame().messages.extend(words);
        self.session.parked.push(child);
        self.progress.input_unread = self.input.is_some();
        Some(())
    }

    // ---- selection of the answering agent ---------------------------------------------------

    /// Selects the agent for a message by the orchestration method. `None` if routing proceeds as
    /// usual.
    pub(super) fn choose_by_method(
        &mut self,
        at: NodeIndex,
        asked: &[(EdgeIndex, Candidate)],
    ) -> Result<Option<Next>, RuntimeError> {
        let Some(method) = self.session.orchestration else { return Ok(None) };
        let agents = asked
            .iter()
            .filter_map(|(edge, candidate)| {
                let name = self.target_agent(*edge)?.to_owned();
                Some(Candidate { name, ..candidate.clone() })
            })
            .collect();
        self.orchestration.routing_candidates = Some((at, agents));
        let preferred = self.orchestration.preferred.take();
        let preferred = match method {
            OrchestrationMethod::Autonomous => {
                preferred.or_else(|| self.orchestration.in_charge.take())
            }
            _ => preferred,
        };
        if let Some(preferred) = preferred {
            let edge =
                asked.iter().find(|(edge, _)| self.target_agent(*edge) == Some(preferred.as_str()));
            if let Some((edge, _)) = edge {
                return Ok(Some(Next::Take(*edge)));
            }
        }
        let tries =
            matches!(method, OrchestrationMethod::FirstSuccess | OrchestrationMethod::BestOfN);
        if tries
            && !self.orchestration.speculative
            && !std::mem::replace(&mut self.orchestration.contested, true)
        {
            return self.contest(method, asked);
        }
        Ok(None)
    }

    /// Records the routing decision, so that it is not made again if the guardrails need requests
    /// of their own.
    pub(super) fn routed_to(&mut self, edge: EdgeIndex) {
        if self.orchestration.deferred.is_some() {
            self.orchestration.preferred = self.target_agent(edge).map(str::to_owned);
        }
    }

    /// The agent that a routing edge of an ensemble leads to.
    fn target_agent(&self, edge: EdgeIndex) -> Option<&'p str> {
        let (_, mut at, _) = self.machine.cfg.edge(edge)?;
        for _ in 0..MAX_PATH_LEN {
            if let Some(transfer) = self.machine.transfers.get(&at).and_then(|all| all.first()) {
                let part = self.machine.cfg.agent(transfer.target?)?;
                return Some(part.agent.metadata.name.value.as_str());
            }
            at = self.outgoing_edges(at).into_iter().find(|(.., edge)| leads_onward(edge.kind))?.1;
        }
        None
    }

    /// Runs several agents speculatively: until one is acceptable, or all of them.
    fn contest(
        &mut self,
        method: OrchestrationMethod,
        asked: &[(EdgeIndex, Candidate)],
    ) -> Result<Option<Next>, RuntimeError> {
        let before = self.snapshot();
        let begin = match (method, &self.orchestration.in_charge) {
            (OrchestrationMethod::FirstSuccess, Some(agent)) => {
                asked.iter().position(|(edge, _)| self.target_agent(*edge) == Some(agent.as_str()))
            }
            _ => None,
        };
        let order = asked.iter().cycle().skip(begin.unwrap_or(0)).take(asked.len());
        let mut attempts = Vec::new();
        for (edge, _) in order {
            let Some(attempt) = self.attempt(*edge) else { continue };
            self.restore(&before);
            let will_do = method == OrchestrationMethod::FirstSuccess
                && attempt.is_answer()
                && (matches!(attempt.end, AttemptEnd::SideEffect)
                    || self.judge(
                        "it helps with what the user said last, and is not an excuse",
                        attempt.text.clone(),
                    )?);
            if will_do {
                return Ok(Some(self.accept_attempt(&attempt)));
            }
            if method == OrchestrationMethod::FirstSuccess {
                self.emit(EventKind::Attempt { by: attempt.agent.clone(), taken: false });
            }
            attempts.push(attempt);
        }
        attempts.retain(Attempt::is_answer);
        let best = match method {
            OrchestrationMethod::BestOfN if attempts.len() > 1 => {
                let candidates = attempts.iter().map(|attempt| Candidate {
                    name: attempt.agent.clone(),
                    description: attempt.text.clone(),
                    examples: Vec::new(),
                    keywords: Vec::new(),
                });
                let purpose = "Several agents have answered the user. Which answer is the best?";
                let chosen = self.choose_among(purpose, candidates.collect(), false)?;
                chosen.first().and_then(|name| attempts.iter().position(|a| a.agent == *name))
            }
            _ => None,
        };
        if method == OrchestrationMethod::BestOfN {
            for (n, attempt) in attempts.iter().enumerate() {
                if n != best.unwrap_or(0) {
                    self.emit(EventKind::Attempt { by: attempt.agent.clone(), taken: false });
                }
            }
        }
        // If no answer is preferred, the first one is used.
        Ok(attempts.get(best.unwrap_or(0)).map(|attempt| self.accept_attempt(attempt)))
    }

    /// Follows a routing edge speculatively.
    fn attempt(&mut self, edge: EdgeIndex) -> Option<Attempt> {
        let agent = self.target_agent(edge)?.to_owned();
        let before = self.progress.messages.len();
        self.orchestration.speculative = true;
        self.orchestration.stopped_at = None;
        self.take_edge(edge);
        let status = self.run_until_wait();
        self.orchestration.speculative = false;
        let end = self.orchestration.stopped_at.take().unwrap_or(AttemptEnd::Over(status));
        let messages = self.progress.messages.get(before..).unwrap_or_default().iter();
        let mut texts: Vec<String> = messages.map(|s| s.text.clone()).collect();
        if let (AttemptEnd::SideEffect, Some(frame)) = (end, self.session.stack.last()) {
            texts.extend(frame.pending.last().map(|pick| format!("[{}]", pick.name)));
        }
        Some(Attempt { agent, text: texts.join("\n"), end, after: self.snapshot() })
    }

    /// Makes an attempt the actual continuation.
    fn accept_attempt(&mut self, attempt: &Attempt) -> Next {
        self.restore(&attempt.after);
        self.emit(EventKind::Attempt { by: attempt.agent.clone(), taken: true });
        match attempt.end {
            AttemptEnd::Over(status) => Next::Stop(status),
            AttemptEnd::SideEffect | AttemptEnd::Declined => Next::Switch,
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { session: self.session.clone(), progress: self.progress.clone() }
    }

    /// Restores a snapshot, except for the token usage.
    fn restore(&mut self, kept: &Snapshot) {
        let cost = (self.session.usage, self.session.model_calls);
        self.session.clone_from(&kept.session);
        (self.session.usage, self.session.model_calls) = cost;
        self.progress.clone_from(&kept.progress);
    }

    /// Begins an execution that is rolled back.
    pub(super) const fn speculate(&mut self) {
        self.orchestration.speculative = true;
    }

    /// Whether execution may still be rolled back, so that nothing must be sent to the user.
    pub(super) const fn is_speculative(&self) -> bool {
        self.orchestration.speculative
    }

    /// Whether what is said now may be said again, or not at all.
    pub(super) const fn may_roll_back(&self) -> bool {
        self.orchestration.speculative || self.orchestration.deferred.is_some()
    }

    /// Stops speculative execution before a node with external side effects.
    pub(super) fn stops_speculation(&mut self, at: NodeIndex, kind: NodeKind) -> bool {
        let acts = self.orchestration.speculative
            && (matches!(kind, NodeKind::Confirm | NodeKind::Call | NodeKind::Escalate)
                || self.leads_to_remote(at));
        if acts {
            self.orchestration.stopped_at = Some(AttemptEnd::SideEffect);
        }
        acts
    }

    /// Ends an attempt whose agent returns the message.
    pub(super) fn decline(&mut self) -> Option<Next> {
        self.orchestration.speculative.then(|| {
            self.orchestration.stopped_at = Some(AttemptEnd::Declined);
            Next::Stop(Status::Await)
        })
    }

    // ---- handover between members -----------------------------------------------------------

    /// Exposes the other members of the ensemble as tools; returns whether there are any.
    pub(super) fn offer_siblings(&mut self, tools: &mut Vec<ToolSpec>) -> bool {
        if self.session.orchestration != Some(OrchestrationMethod::Autonomous)
            || !self.is_ensemble_member()
        {
            return false;
        }
        let own = self.session.agent().unwrap_or_default();
        let others = self.orchestration.routing_candidates.iter().flat_map(|(_, agents)| agents);
        let mut any = false;
        for other in others.filter(|other| other.name != own) {
            any = true;
            if tools.iter().all(|tool| tool.name != other.name) {
                let (name, description) = (other.name.as_str(), other.description.as_str());
                tools.push(ToolSpec::new(name, description, Purpose::Handoff));
            }
        }
        any
    }

    /// Hands over to another member of the ensemble. The previous agent is no longer available
    /// within the turn, so that two agents cannot pass a message back and forth.
    pub(super) fn pick_sibling(&mut self, name: &str) -> Option<Next> {
        if self.session.orchestration != Some(OrchestrationMethod::Autonomous)
            || !self.is_ensemble_member()
        {
            return None;
        }
        let own = self.session.agent()?.to_owned();
        let (at, agents) = self.orchestration.routing_candidates.as_mut()?;
        let at = *at;
        agents.iter().find(|agent| agent.name == name)?;
        agents.retain(|agent| agent.name != own);
        self.answer_tool_use(&Json::from("done"));
        self.frame().pending.clear();
        self.return_to_ensemble()?;
        self.frame().node = super::index(at.index());
        self.orchestration.preferred = Some(name.to_owned());
        Some(Next::Switch)
    }

    // ---- guardrails merged with the agent ---------------------------------------------------

    /// Whether a guardrail can share the model request of the next agent.
    pub(super) fn can_defer_guardrail(&self, rail: &Guardrail) -> bool {
        self.session.orchestration == Some(OrchestrationMethod::Merging)
            && rail.kind == GuardrailKind::Input
            && rail.check.is_none()
            && rail.llm_check.is_some()
            && rail.action_type() == "block"
            && !self.orchestration.guardrails_separate
            && self.agent().is_ok_and(|agent| agent.flow.is_none())
    }

    /// Defers a guardrail so that it shares the model request of the next agent.
    pub(super) fn defer_guardrail(&mut self, rail: &Guardrail) -> bool {
        let Some(question) = rail.llm_check.as_ref().filter(|_| self.can_defer_guardrail(rail))
        else {
            return false;
        };
        let question = self.render(question);
        // What asks nothing cannot be judged, and refuses by itself.
        if question.trim().is_empty() {
            return false;
        }
        let rule = (question, self.guardrail_message(rail));
        if self.orchestration.deferred.is_none() {
            let before = self.snapshot();
            self.orchestration.deferred =
                Some(Box::new(DeferredGuardrails { before, rules: Vec::new() }));
        }
        if let Some(merging) = &mut self.orchestration.deferred {
            merging.rules.push(rule);
        }
        true
    }

    /// Rolls the turn back to deferred guardrails that no request has included, before the message
    /// has any effect that they might have prevented.
    pub(super) fn restore_deferred_guardrails(&mut self, at: NodeIndex, kind: NodeKind) -> bool {
        let heard_of = self.leads_to_remote(at)
            || matches!(
                kind,
                NodeKind::Say
                    | NodeKind::Confirm
                    | NodeKind::Call
                    | NodeKind::Await
                    | NodeKind::Collect
                    | NodeKind::Store
                    | NodeKind::FanOut
                    | NodeKind::Escalate
                    | NodeKind::Complete
                    | NodeKind::Fail
                    | NodeKind::Exit
            );
        if !heard_of {
            return false;
        }
        let Some(merging) = self.orchestration.deferred.take() else { return false };
        self.orchestration.guardrails_separate = true;
        self.restore(&merging.before);
        true
    }

    /// Prepends the deferred guardrails to a system prompt.
    pub(super) fn with_guardrails(&mut self, system: String) -> String {
        let Some(merging) = self.orchestration.deferred.take() else { return system };
        self.orchestration.preferred = None;
        self.orchestration.guardrails_separate = true;
        with_guardrail_rules(&merging.rules, &system)
    }

    /// Moves the agent in charge to the start of its turn.
    pub(super) fn restart_turn(&mut self) {
        let Some(part) = self.agent_id().and_then(|id| self.machine.cfg.agent(id)) else { return };
        let mut ways = self.machine.cfg.successors(part.wait);
        let start = ways.find(|(_, edge)| edge.kind == EdgeKind::Turn).map(|(to, _)| to);
        if let Some(start) = start {
            self.frame().node = super::index(start.index());
        }
    }
}
