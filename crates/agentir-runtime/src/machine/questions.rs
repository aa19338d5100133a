//! The questions of failed constraints (ABL, current specification, 3.8.3, `COLLECT`): where the answer is heard, and what
//! is decided before that. Checks are outside of steps, and a message to their questions begins a turn as any other.

use super::refusals::Guarded;
use super::{Run, STAGE_RULE, STAGE_SKIP};
use agentir_flow::cfg::{NodeKind, Origin};
use agentir_ir::{Constraint, ConstraintFailure};
use petgraph::graph::NodeIndex;

impl<'p> Run<'_, 'p, '_> {
    /// The constraint's reaction whose questions are asked at a node outside of steps.
    fn questions_at(&self, at: NodeIndex) -> Option<&'p ConstraintFailure> {
        let node = self.machine.cfg.node(at)?;
        match node.origin {
            Origin::Failure(failure) if node.kind == NodeKind::Collect && node.step.is_none() => {
                Some(failure)
            }
            _ => None,
        }
    }

    /// Whether a node asks the questions of a check that exists once, outside of steps.
    pub(super) fn is_question_of_check(&self, at: NodeIndex) -> bool {
        self.questions_at(at).is_some()
    }

    /// Whether a node asks the questions of a constraint that is about turns, or about every call.
    pub(super) fn is_question_of_turn(&self, at: NodeIndex) -> bool {
        let own = |failure: &ConstraintFailure| {
            let of_turns =
                self.constraints_where(|c| c.is_of_every_turn() || self.is_before_every_call(c));
            let mut reactions = of_turns.into_iter().filter_map(|(c, _)| c.on_fail.as_ref());
            reactions.any(|reaction| std::ptr::eq(reaction, failure))
        };
        self.questions_at(at).is_some_and(own)
    }

    /// The constraint of every turn, by its reaction, whose questions were the last thing that was said.
    fn asking_rule(&self) -> Option<&'p ConstraintFailure> {
        let top = self.session.stack.last()?.return_points.last()?;
        self.questions_at(NodeIndex::new(top.node as usize)).filter(|_| top.stage == STAGE_RULE)
    }

    /// Whether the answer to the questions of a constraint of every turn has still to be heard.
    pub(super) fn awaits_answer_for_rule(&self) -> bool {
        self.asking_rule().is_some()
    }

    /// Whether a constraint of every turn is left to the answer to the questions that it has asked. Where these were asked at
    /// the beginning of a turn, it goes on there, and what comes after it is left to the answer, too, which is remembered.
    pub(super) fn leaves_to_answer(
        &mut self,
        constraint: &'p Constraint,
        guarded: Guarded,
    ) -> bool {
        let asking = self.asking_rule().filter(|_| guarded == Guarded::Turn);
        let own = constraint.on_fail.as_ref();
        let asks = asking.zip(own).is_some_and(|(asking, own)| std::ptr::eq(own, asking));
        let before_call = self.frame().return_points.iter().rev().nth(1).copied();
        let before_call = before_call.is_some_and(|below| {
            let kind = self.kind(NodeIndex::new(below.node as usize));
            kind == Some(NodeKind::Checkpoint) && !matches!(below.stage, 0 | STAGE_SKIP)
        });
        let before = std::mem::take(&mut self.progress.rule_awaits_answer);
        self.progress.rule_awaits_answer = asking.is_some() && !before_call && (asks || before);
        asks || self.progress.rule_awaits_answer
    }

    /// Whether a constraint has asked the user for the values that it reads: since then, that they are missing is not
    /// unknown any more.
    pub(super) fn has_asked_for(&self, constraint: &'p Constraint) -> bool {
        let Some((own, frame)) = constraint.on_fail.as_ref().zip(self.session.stack.last()) else {
            return false;
        };
        frame.ask_counts.keys().any(|node| {
            let asked = self.questions_at(NodeIndex::new(*node as usize));
            asked.is_some_and(|asked| std::ptr::eq(asked, own))
        })
    }
}
