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

    /// Whether a constraint that refuses nothing has got what it has asked for: it goes on, whatever the answer is.
    pub(super) fn has_its_answer(&mut self, constraint: &'p Constraint) -> bool {
        let Some(own) = constraint.on_fail.as_ref().filter(|own| !own.collect_fields.is_empty())
        else {
            return false;
        };
        if constraint.refuses() {
            return false;
        }
        // Where the model leads, it hears the answer.
        let heard = self.is_led_by_its_model()
            && self.has_asked_for(constraint)
            && own.collect_fields.iter().all(|field| self.has_value(&field.value));
        if heard {
            self.forget_question(constraint);
            self.progress.answered_questions.push(own.span);
        }
        self.progress.answered_questions.contains(&own.span)
    }

    /// Where the model leads, the field that a constraint has asked for, and that has no value yet.
    pub(super) fn asked_by_check(&self) -> Option<String> {
        let frame = self.session.stack.last().filter(|_| self.is_led_by_its_model())?;
        let asked = frame.ask_counts.keys();
        let asked = asked.filter_map(|node| self.questions_at(NodeIndex::new(*node as usize)));
        let mut fields = asked.flat_map(|failure| &failure.collect_fields);
        fields.find(|field| !self.has_value(&field.value)).map(|field| field.value.to_string())
    }

    /// Where the model leads, a constraint that holds has not asked for anything any more. A flow hears the answer where it
    /// has asked.
    pub(super) fn forget_question(&mut self, constraint: &'p Constraint) {
        if !self.is_led_by_its_model() || !self.has_asked_for(constraint) {
            return;
        }
        let own = constraint.on_fail.as_ref();
        let asked: Vec<u32> = self.frame().ask_counts.keys().copied().collect();
        for node in asked {
            let of = self.questions_at(NodeIndex::new(node as usize));
            if of.zip(own).is_some_and(|(of, own)| std::ptr::eq(of, own)) {
                self.frame().ask_counts.remove(&node);
            }
        }
    }

    /// Whether the model leads the agent, and hears the answers to all questions.
    pub(super) fn is_led_by_its_model(&self) -> bool {
        self.agent().is_ok_and(|agent| agent.flow.is_none())
    }

    /// Whether a constraint with this reaction goes on with the turn, whatever is answered.
    pub(super) fn refuses_nothing(&self, failure: &ConstraintFailure) -> bool {
        let going_on = self.constraints_where(|constraint| !constraint.refuses());
        let mut reactions = going_on.into_iter().filter_map(|(c, _)| c.on_fail.as_ref());
        reactions.any(|reaction| std::ptr::eq(reaction, failure))
    }
}
