//! Returning to where an agent was (`Resume`), and what it says there again.

use super::{Next, NodeResult, Run, STAGE_ASKS, STAGE_RULE, leads_onward};
use crate::session::{ReturnPoint, Status};
use agentir_flow::cfg::{Edge, EdgeKind, Node, NodeKind, Origin};
use agentir_ir::Statement;
use petgraph::graph::NodeIndex;

impl<'p> Run<'_, 'p, '_> {
    /// Returns to the saved node.
    pub(super) fn resume(&mut self, at: NodeIndex) -> NodeResult {
        if self.frame().return_points.is_empty() && self.next_in_queue() {
            return Ok(Next::Switch);
        }
        let again = self
            .progress
            .entered_by
            .and_then(|edge| self.machine.cfg.edge(edge))
            .is_some_and(|(.., edge)| edge.kind == EdgeKind::Retry);
        if again && let Some(next) = self.restart_after_failure() {
            return Ok(next);
        }
        match self.frame().return_points.pop() {
            Some(back) => {
                // A retry starts the node from the beginning.
                let back = match again {
                    true => ReturnPoint { node: self.begin_call_again(back.node), stage: 0 },
                    false => ReturnPoint { stage: self.stage_of_return(back), ..back },
                };
                self.resume_withheld(back)?;
                Ok(Next::ReturnTo(back))
            }
            // Nothing was in progress (a person returned control before any node had run): start
            // now, or with the next message.
            None => {
                let waits = self.progress.handed_back && self.agent()?.flow.is_none();
                let leads_onward = |edge: &Edge<'p>, _: NodeIndex| {
                    leads_onward(edge.kind) || edge.kind == EdgeKind::Turn
                };
                if !waits
                    && (self.profile_edge(at)?.is_some()
                        || self.pick_edge(at, leads_onward)?.is_some())
                {
                    return self.leave(at);
                }
                if let Some(part) = self.agent_id().and_then(|id| self.machine.cfg.agent(id)) {
                    let wait = part.wait;
                    self.frame().node = super::index(wait.index());
                }
                Ok(Next::Stop(Status::Await))
            }
        }
    }

    /// Says again what a step says before it waits at a node.
    pub(super) fn ask_again(&mut self, node: &Node<'p>) {
        let Some(step) = node.step else { return };
        let wait = match node.origin {
            Origin::Statement(wait) => step.body.0.iter().position(|one| std::ptr::eq(one, wait)),
            _ => None,
        };
        let before = step.body.0.get(..wait.unwrap_or(step.body.0.len())).unwrap_or_default();
        // What was said before an earlier answer was for that one.
        let answered = before.iter().rposition(|one| matches!(one, Statement::Await { .. }));
        for one in before.get(answered.map_or(0, |at| at + 1)..).unwrap_or_default() {
            if let Statement::Respond(response) = one {
                self.respond(response);
            }
        }
    }

    /// The stage in which a wait is returned to. If the message was for something else (a digression, the question of a
    /// check, another agent), the step asks again: at the end of a digression always, otherwise if nothing is said.
    fn stage_of_return(&self, back: ReturnPoint) -> u32 {
        let kind = self.machine.cfg.node(NodeIndex::new(back.node as usize)).map(|node| node.kind);
        let read = self.input.is_some() && !self.progress.input_unread;
        let waits = matches!(kind, Some(NodeKind::Await | NodeKind::Collect));
        if back.stage != 0 && back.stage != STAGE_RULE || !read || !waits {
            return back.stage;
        }
        let entered = self.progress.entered_by.and_then(|edge| self.machine.cfg.edge(edge));
        let digressed = entered.is_some_and(|(.., edge)| {
            matches!(edge.origin, Origin::Digression(_) | Origin::Action(_))
        });
        let silent = self.progress.messages.is_empty()
            && self.progress.unchecked.is_empty()
            && !self.progress.handed_back;
        if digressed || silent { STAGE_ASKS } else { back.stage }
    }
}
