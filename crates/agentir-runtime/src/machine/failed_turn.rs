//! Turns that fail because of the outside world: the model does not answer, answers what cannot be used or goes round
//! in circles; a remote agent is down. They cost a turn, not the conversation: the state is that after the last good
//! turn, and the next message goes on.

use super::{Next, Run, STAGE_SKIP, Turn, index};
use crate::model::{Message, Role};
use crate::session::{Frame, ReturnPoint, RuntimeError, Session, Status};
use crate::trace::EventKind;
use agentir_flow::cfg::{EdgeKind, Origin};
use agentir_ir::Agent;
use petgraph::graph::NodeIndex;

/// What the user reads if something fails and the author gives no words for it.
const SORRY: &str = "Sorry, something went wrong.";

/// Whether an error is about the outside world.
pub(super) fn costs_a_turn(kind: &str) -> bool {
    matches!(kind, "model_error" | "model_timeout" | "handoff_error" | "loop")
}

impl<'p> Run<'_, 'p, '_> {
    /// Passes an error to the handlers of the step, then to those of the agent.
    pub(super) fn fail(&mut self, at: NodeIndex, problem: RuntimeError) -> Next {
        self.emit(EventKind::Error {
            kind: problem.kind.clone(),
            message: problem.message.clone(),
        });
        self.session.set_system(
            "_error",
            &serde_json::json!({ "type": problem.kind, "message": problem.message }),
        );
        let hub = self.outgoing_edges(at).into_iter().find(|(_, to, edge)| {
            matches!(edge.kind, EdgeKind::Error | EdgeKind::Unhandled) && self.is_error_hub(*to)
        });
        let message = problem.message.clone();
        let endless = problem.kind == "loop";
        self.begin_reaction(&problem);
        self.frame().error = Some(problem);
        match hub {
            Some((edge, ..)) if !endless => {
                let back = ReturnPoint { node: index(at.index()), stage: STAGE_SKIP };
                self.frame().return_points.push(back);
                Next::Take(edge)
            }
            _ => self.give_up(message),
        }
    }

    /// Ends the turn after an unhandled error.
    pub(super) fn give_up(&mut self, message: String) -> Next {
        let error = self.frame().error.clone();
        if let Some(next) = self.fail_delegation(&message) {
            return next;
        }
        // A value that a statement cannot use today may be another one with the next message.
        let fails = error.filter(|error| {
            (costs_a_turn(&error.kind) || error.kind == "unknown_error") && !self.is_speculative()
        });
        if let Some(error) = fails {
            return self.fail_turn(error);
        }
        self.apologize();
        self.progress.error = Some(message);
        self.frame().failed = true;
        Next::Stop(Status::Failed)
    }

    /// Ends the turn, and undoes it.
    fn fail_turn(&mut self, error: RuntimeError) -> Next {
        self.progress.failed = Some(error);
        Next::Stop(Status::Await)
    }

    /// Says the author's words for an error, or ours.
    fn apologize(&mut self) {
        let message_of = |agent: &'p Agent| {
            agent.messages.get("error_default").or_else(|| agent.messages.get("error"))
        };
        // What a script says of its system holds for all its subagents (AS, "messages").
        let first = self.machine.program.agents().next();
        let first = first.filter(|_| self.traits().shared_variables);
        let own = self.agent().ok().into_iter().chain(first).find_map(message_of);
        let before = std::mem::replace(&mut self.notice, true);
        match own {
            Some(response) => self.respond(response),
            None => self.say(SORRY, None),
        }
        self.notice = before;
    }

    /// Where a handler of such an error goes on, there is nothing to go on with.
    pub(super) fn fail_after_handler(&mut self) -> Option<Next> {
        let error = self.frame().error.clone()?;
        let model = matches!(error.kind.as_str(), "model_error" | "model_timeout");
        if !model || self.is_speculative() {
            return None;
        }
        self.fail_delegation(&error.message).or_else(|| Some(self.fail_turn(error)))
    }

    /// Follows `ON_FAIL` of the nearest delegation that the agent works for, if there is one: the agent that was
    /// delegated to has failed, and nothing is left of it (reference of supervisors and multiple agents, "Delegate
    /// failure strategies": "when the sub-agent fails or times out").
    pub(super) fn fail_delegation(&mut self, why: &str) -> Option<Next> {
        if self.is_speculative() {
            return None;
        }
        let machine = self.machine;
        let reacts = |frame: &Frame| {
            let back = frame.returns_to.filter(|_| frame.delegated)?;
            let back = Some(NodeIndex::new(back as usize));
            let transfer = machine.cfg.transfers().iter().find(|t| t.returns == back).copied()?;
            let mut edges = machine.cfg.successors(transfer.node);
            let reacts = edges.any(|(_, edge)| {
                matches!(edge.kind, EdgeKind::Error | EdgeKind::Retry)
                    && matches!(edge.origin, Origin::Delegate(_))
            });
            reacts.then_some(transfer)
        };
        let frames = self.session.stack.iter().enumerate().skip(1).rev();
        let (depth, transfer) =
            frames.filter_map(|(at, frame)| Some((at, reacts(frame)?))).next()?;
        self.discard_unchecked();
        let from = self.session.agent().unwrap_or_default().to_owned();
        self.session.stack.truncate(depth);
        let to = self.session.agent().unwrap_or_default().to_owned();
        self.emit_as(from.clone(), EventKind::Transfer { how: "return", from, to });
        self.session.set_system("delegate", &serde_json::json!({ "completed": false }));
        // The turn goes on, and what was said in it stays said.
        self.progress.before_error = None;
        self.progress.entered_by = None;
        self.condition_results.clear();
        self.frame().node = index(transfer.node.index());
        let next = self.unreachable(transfer.node, &transfer, why);
        Some(next.unwrap_or_else(|problem| self.fail(transfer.node, problem)))
    }

    /// Notes where the reaction to an error begins, because nothing else of a failed turn is said.
    pub(super) fn begin_reaction(&mut self, error: &RuntimeError) {
        if costs_a_turn(&error.kind) && !self.is_speculative() {
            self.settle_answers();
            self.progress.before_error = Some(self.progress.messages.len());
        }
    }

    /// Restores the state after the last good turn, and says that this one failed.
    pub(super) fn end_failed_turn(&mut self, good: Session, error: RuntimeError) -> Turn {
        self.settle_answers();
        let since = self.progress.before_error.unwrap_or(self.progress.messages.len());
        let mut said = self.progress.messages.split_off(since.min(self.progress.messages.len()));
        if said.is_empty() {
            self.apologize();
            self.settle_answers();
            said = self.progress.messages.split_off(since.min(self.progress.messages.len()));
        }
        // What was shown before the failure stays said.
        let mut messages = std::mem::take(&mut self.progress.messages);
        messages.retain(|message| message.delivered);
        messages.append(&mut said);
        self.progress.messages = messages;
        self.deliver_all();
        let said = std::mem::take(&mut self.progress.messages);
        let (usage, model_calls) = (self.session.usage, self.session.model_calls);
        let turn = self.session.turn;
        let transcript = std::mem::take(&mut self.session.transcript);
        // Calls of an earlier failed turn that this one has not repeated are still not to be made twice.
        let mut unfinished = std::mem::take(&mut self.session.unfinished);
        unfinished.append(&mut self.calls);
        let status = good.status;
        *self.session = good;
        self.session.usage = usage;
        self.session.model_calls = model_calls;
        self.session.turn = turn;
        self.session.transcript = transcript;
        self.session.unfinished = unfinished;
        for message in &said {
            self.session.transcript.push(Message::new(Role::Assistant, message.words()));
        }
        self.session.set_system(
            "_error",
            &serde_json::json!({ "type": error.kind, "message": error.message }),
        );
        self.emit(EventKind::TurnEnd { status: status.name() });
        Turn { messages: said, status, error: Some(error.message) }
    }
}
