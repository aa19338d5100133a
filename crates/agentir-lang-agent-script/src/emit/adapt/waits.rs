//! Adapts steps that wait for the user: what is behind the wait is a subagent of its own.

use super::Adapter;
use super::exposed_tools::{
    after_turn, before_turn, boolean, branch, instruct, say_instruction, set,
};
use super::expr::{self, all, not};
use super::flow::{SplitBody, Steps, if_chain, transition};
use super::phrases::{complete_under_phrase, in_words, transition_under_phrase};
use agentir_expr::{Name, Template};
use agentir_ir::{Agent, BindingAction, Branch, Collect, Statement};

impl Adapter<'_> {
    /// Collecting: a tool sets the fields, and once all are set the flow continues.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    pub(super) fn collect(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: &Template,
        asked: &Collect,
        tail: &[Statement],
        next: Option<&Name>,
        new: &mut Agent,
        split: SplitBody,
    ) {
        new.reasoning.get_or_insert_default().prepare.0.extend(split.messages);
        if !split.effects.is_empty() {
            // Only once, not in every turn of collecting.
            let flag = self.flag(&format!("{name}_begun"));
            let mut done = split.effects;
            done.push(set(&flag, boolean(true)));
            let unset = not(expr::reference("variables", &flag));
            before_turn(new).push(Statement::If { branches: vec![branch(unset, done)] });
        }
        if let Some(present) = &asked.present {
            let present = say_instruction(&self.variables.text(present));
            instruct(new, None, present);
        }
        let fields = self.gather(steps.agent, &asked.gather, new);
        let there = fields
            .iter()
            .filter(|(_, required)| *required)
            .filter_map(|(name, _)| expr::is_set(expr::reference("variables", name), false));
        let enough = match asked.complete_when.as_ref().and_then(|c| self.variables.condition(c)) {
            Some(enough) => Some(enough),
            None => all(there),
        };
        let mut failure = SplitBody::default();
        self.split_under_phrase(
            steps,
            &asked.on_failure.0,
            "the user cannot answer",
            new,
            &mut failure,
        );
        new.reasoning.get_or_insert_default().prepare.0.extend(failure.messages);
        let rest: Vec<Statement> = asked.on_success.0.iter().chain(tail).cloned().collect();
        let exit = self.continuation(steps, &format!("{name}_done"), about, &rest, next);
        match (exit, enough) {
            (None, _) => self.expose_completion(new),
            (Some((mut done, exit)), Some(enough)) => {
                done.push(exit);
                let branches = vec![branch(Some(enough), done)];
                after_turn(new).push(Statement::If { branches });
            }
            (Some((done, exit)), None) => {
                transition_under_phrase(new, &exit, "When nothing is left to ask", done);
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    pub(super) fn wait_in_branches(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: &Template,
        branches: &[Branch],
        next: Option<&Name>,
        new: &mut Agent,
        split: SplitBody,
    ) {
        let mut exits = Vec::new();
        for (i, one) in branches.iter().enumerate() {
            let own = format!("{name}_{}", i + 1);
            let exit = self.continuation(steps, &own, about, &one.body.0, next);
            let when = one.condition.as_ref().map(|c| (c, self.variables.condition(c)));
            match (when, exit) {
                (Some((words, None)), None) => {
                    let words = expr::to_phrase(words);
                    complete_under_phrase(&words, None, self.returns_control, new);
                }
                (when, None) => {
                    self.expose_completion(new);
                    exits.push(branch(when.and_then(|(_, when)| when), Vec::new()));
                }
                (None, Some((mut done, exit))) => {
                    done.push(exit);
                    exits.push(branch(None, done));
                }
                (Some((_, Some(when))), Some((mut done, exit))) => {
                    done.push(exit);
                    exits.push(branch(Some(when), done));
                }
                (Some((words, None)), Some((done, exit))) => {
                    transition_under_phrase(new, &exit, &expr::to_phrase(words), done);
                }
            }
        }
        if branches.iter().all(|b| b.condition.is_some())
            && let Some(next) = next
        {
            exits.push(branch(None, vec![transition(next)]));
        }
        let talks = !split.messages.is_empty() || new.reasoning.is_some();
        before_turn(new).extend(split.effects);
        new.reasoning.get_or_insert_default().prepare.0.extend(split.messages);
        let exits = split.jumps.into_iter().chain(if_chain(exits));
        if talks { after_turn(new) } else { before_turn(new) }.extend(exits);
    }

    /// Waiting for an answer: the first turn asks, the next one branches on the answer.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step")]
    pub(super) fn await_answer(
        &mut self,
        steps: &Steps<'_>,
        name: &Name,
        about: &Template,
        branches: &[Branch],
        next: Option<&Name>,
        new: &mut Agent,
        split: SplitBody,
    ) {
        let flag = self.flag(&format!("{name}_asked"));
        let asked = || expr::reference("variables", &flag);
        let Some(first) = not(asked()) else { return };
        if !split.effects.is_empty() {
            let branches = vec![branch(Some(first.clone()), split.effects)];
            before_turn(new).push(Statement::If { branches });
        }
        let prompt = &mut new.reasoning.get_or_insert_default().prepare.0;
        if !split.messages.is_empty() {
            let branches = vec![branch(Some(first.clone()), split.messages)];
            prompt.push(Statement::If { branches });
        }
        // Fields that are only taken if mentioned are taken here.
        let extracted = steps.agent.gather.clone();
        self.gather(steps.agent, &extracted, new);
        let mut exits = vec![branch(Some(first), vec![set(&flag, boolean(true))])];
        let mut judged = false;
        for (i, one) in branches.iter().enumerate() {
            let own = format!("{name}_{}", i + 1);
            let exit = self.continuation(steps, &own, about, &one.body.0, next);
            let when = one.condition.as_ref();
            let known = when.map(|c| self.variables.condition(c));
            let Some((mut done, exit)) = exit else {
                let ended = vec![set(&flag, boolean(false))];
                match (when, known) {
                    (_, Some(Some(when))) => {
                        self.expose_completion(new);
                        exits.push(branch(Some(when), ended));
                    }
                    (None, _) if !judged => {
                        self.expose_completion(new);
                        exits.push(branch(None, ended));
                    }
                    (when, _) => {
                        judged = true;
                        let guard = Some(asked());
                        complete_under_phrase(&in_words(when), guard, self.returns_control, new);
                    }
                }
                continue;
            };
            match (when, known) {
                (None, _) if !judged => {
                    done.extend([set(&flag, boolean(false)), exit]);
                    exits.push(branch(None, done));
                }
                (_, Some(Some(when))) => {
                    done.extend([set(&flag, boolean(false)), exit]);
                    exits.push(branch(Some(when), done));
                }
                (when, _) => {
                    judged = true;
                    transition_under_phrase(new, &exit, &in_words(when), done);
                    if let Some(one) = new.reasoning.as_mut().and_then(|r| r.bindings.last_mut()) {
                        one.available_when = Some(expr::condition(asked()));
                        one.after.0.push(set(&flag, boolean(false)));
                    }
                }
            }
        }
        if let Some(next) = next.filter(|_| branches.iter().all(|b| b.condition.is_some())) {
            if judged {
                transition_under_phrase(
                    new,
                    &transition(next),
                    "None of the others fits",
                    Vec::new(),
                );
            } else {
                exits.push(branch(None, vec![set(&flag, boolean(false)), transition(next)]));
            }
        }
        after_turn(new).push(Statement::If { branches: exits });
    }

    /// Resets the flag when the user leaves before answering, so that the question is repeated on return.
    pub(super) fn reset_asked_flag(&mut self, name: &Name, new: &mut Agent) {
        let flag = self.flag(&format!("{name}_asked"));
        for binding in new.reasoning.iter_mut().flat_map(|zone| &mut zone.bindings) {
            let resets = binding.after.0.iter().any(|s| match s {
                Statement::Set(one) => one.target.root.value == flag,
                _ => false,
            });
            if matches!(binding.action, BindingAction::Handoff { .. }) && !resets {
                binding.after.0.push(set(&flag, boolean(false)));
            }
        }
    }
}
