//! What must hold, and what happens if it does not: constraints, guardrails, completion.

use super::build::{Builder, Ends, Open, decider};
use super::{DecidedBy, Edge, Element, Guard, NodeKind, Test, Why};
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Name};
use agentir_ir::{
    Checkpoint, Constraint, ConstraintFailure, ConstraintKind, Data, FailureKind, Guardrail,
    GuardrailKind, Profile,
};
use rustc_hash::FxHashMap;

impl<'a> Builder<'_, 'a> {
    /// The constraints that are checked in every turn, in the order in which they are declared, then
    /// those of profiles.
    pub(super) fn turn_constraints(&mut self, ends: Ends<'a>) -> Ends<'a> {
        self.constraints(ends, |c| c.checkpoint.is_none())
    }

    /// Those that are checked before the user gets an answer.
    pub(super) fn response_constraints(&mut self, ends: Ends<'a>) -> Ends<'a> {
        self.constraints(ends, |c| matches!(c.checkpoint, Some(Checkpoint::Response)))
    }

    fn constraints(
        &mut self,
        mut ends: Ends<'a>,
        wanted: impl Fn(&Constraint) -> bool,
    ) -> Ends<'a> {
        for (constraint, profile) in self.all_constraints() {
            if wanted(constraint) {
                ends = self.constraint(constraint, profile, ends);
            }
        }
        ends
    }

    fn all_constraints(&self) -> Vec<(&'a Constraint, Option<&'a Profile>)> {
        let own = self.agent.constraints.constraints.iter().map(|c| (c, None));
        let profiles = self.profiles.iter().copied();
        own.chain(profiles.flat_map(|p| p.constraints.iter().map(move |c| (c, Some(p))))).collect()
    }

    /// A constraint. It passes where it does not apply, and where it holds.
    pub(super) fn constraint(
        &mut self,
        constraint: &'a Constraint,
        profile: Option<&'a Profile>,
        ends: Ends<'a>,
    ) -> Ends<'a> {
        let (element, span) = (Element::Constraint(constraint), constraint.span);
        let node = self.node(NodeKind::Check, element, span);
        self.attach(ends, node);
        let edge = |why: Why, guard: Guard, condition: &Condition| {
            Edge::of(why).decided(decider(condition)).guarded(guard).by(element, condition.span())
        };
        let mut passes = Vec::new();
        let mut applies = Guard::ALWAYS;
        let gates = [profile.and_then(|p| p.when.as_ref()), constraint.applies_when.as_ref()];
        for gate in gates.into_iter().flatten() {
            let not = self.and(applies, Test::Condition(gate), false);
            passes.push(Open { from: node, edge: edge(Why::Next, not, gate) });
            applies = self.and(applies, Test::Condition(gate), true);
        }
        let condition = &constraint.condition;
        let test = Test::Condition(condition);
        let must = constraint.kind != Some(ConstraintKind::Restrict);
        let holds = self.and(applies, test, must);
        let fails = self.and(applies, test, !must);
        passes.push(Open { from: node, edge: edge(Why::Next, holds, condition) });
        let failed = vec![Open { from: node, edge: edge(Why::Error, fails, condition) }];
        let warns = constraint.severity == Some("warning");
        match &constraint.on_fail {
            // A warning only warns: what it says is said, and it goes on.
            Some(failure) if warns && failure.message.is_some() => {
                passes.extend(self.then(
                    failed,
                    NodeKind::Say,
                    Element::Failure(failure),
                    failure.span,
                ));
            }
            _ if warns => passes.extend(failed),
            Some(failure) => passes.extend(self.failure(failure, failed)),
            None => {
                let wait = self.places.wait;
                self.lead(failed, wait, Why::Error, element, span);
            }
        }
        passes
    }

    /// What happens if a constraint fails; gives back where it goes on as if it had held.
    fn failure(&mut self, failure: &'a ConstraintFailure, mut ends: Ends<'a>) -> Ends<'a> {
        let (element, span) = (Element::Failure(failure), failure.span);
        if failure.message.is_some() {
            ends = self.then(ends, NodeKind::Say, element, span);
        }
        if !failure.clear.is_empty() {
            ends = self.then(ends, NodeKind::Clear, element, span);
        }
        if !failure.collect_fields.is_empty() {
            ends = self.then(ends, NodeKind::Collect, element, span);
        }
        if let Some(to) = &failure.target {
            let node = self.node(NodeKind::Handoff, element, to.span);
            self.attach(ends, node);
            self.transfer(node, to, None);
            return Vec::new();
        }
        let mut jumps = failure.then_step.iter().chain(&failure.then_action);
        if let Some(jump) = jumps.next() {
            // Written twice, either may be meant.
            for other in jumps {
                let left = self.jump(other, ends.clone());
                self.lead(left, self.resume, Why::Return, element, span);
            }
            return self.jump(jump, ends);
        }
        match failure.kind {
            FailureKind::Redact => return ends,
            FailureKind::Escalate => {
                self.escalate(ends, element, span);
            }
            FailureKind::RetryStep => {
                let (to, limit) = self.retry;
                let ends = ends.into_iter().map(|o| Open { edge: o.edge.at_most(limit), ..o });
                self.lead(ends.collect(), to, Why::Retry, element, span);
            }
            FailureKind::CollectField => return ends,
            FailureKind::Handoff
            | FailureKind::GotoStep
            | FailureKind::Respond
            | FailureKind::Block => {
                let wait = self.places.wait;
                self.lead(ends, wait, Why::Error, element, span);
            }
        }
        Vec::new()
    }

    pub(super) fn guardrails(&mut self, kind: GuardrailKind, mut ends: Ends<'a>) -> Ends<'a> {
        let mut all: Vec<&'a Guardrail> =
            self.agent.constraints.guardrails.iter().filter(|g| g.kind == kind).collect();
        // Lower first (§3.9).
        all.sort_by(|a, b| a.priority.0.total_cmp(&b.priority.0));
        for guardrail in all {
            ends = self.guardrail(guardrail, ends);
        }
        ends
    }

    fn guardrail(&mut self, guardrail: &'a Guardrail, ends: Ends<'a>) -> Ends<'a> {
        let (element, span) = (Element::Guardrail(guardrail), guardrail.span);
        let node = self.node(NodeKind::Check, element, span);
        self.attach(ends, node);
        let (mut fine, mut hit) = (Guard::ALWAYS, Guard::ALWAYS);
        let decided = if let Some(check) = &guardrail.check {
            fine = self.and(fine, Test::Expr(check), false);
            hit = self.and(hit, Test::Expr(check), true);
            DecidedBy::Condition
        } else {
            DecidedBy::Model
        };
        let edge = |why, guard| Edge::of(why).decided(decided).guarded(guard).by(element, span);
        let mut passes = vec![Open { from: node, edge: edge(Why::Next, fine) }];
        let mut hits = vec![Open { from: node, edge: edge(Why::Error, hit) }];
        let action = match &guardrail.action {
            Data::Object(fields) => fields.get("type").and_then(Data::as_str),
            other => other.as_str(),
        };
        match action {
            Some("escalate") => {
                self.escalate(hits, element, span);
            }
            Some("block") => {
                hits = self.then(hits, NodeKind::Say, element, span);
                let wait = self.places.wait;
                self.lead(hits, wait, Why::Error, element, span);
            }
            Some("reask") => self.lead(hits, self.resume, Why::Retry, element, span),
            // The text is changed, or somebody is warned, and it goes on.
            _ => passes.extend(hits),
        }
        passes
    }

    /// What is checked before tools are called: for all tools once, and for each tool that a
    /// constraint names.
    pub(super) fn before_tools(&mut self) {
        let kinds = [GuardrailKind::ToolInput, GuardrailKind::ToolOutput];
        if self.agent.constraints.guardrails.iter().any(|g| kinds.contains(&g.kind)) {
            let agent = Element::Agent(self.agent);
            let node = self.node(NodeKind::Checkpoint, agent, self.agent.metadata.name.span);
            self.places.before_calls = Some(node);
            let ends = self.guardrails(GuardrailKind::ToolInput, vec![Self::after(node)]);
            let ends = self.guardrails(GuardrailKind::ToolOutput, ends);
            self.lead(ends, self.places.resume, Why::Return, agent, self.agent.metadata.name.span);
        }
        if self.agent.constraints.guardrails.iter().any(|g| g.kind == GuardrailKind::Handoff) {
            let agent = Element::Agent(self.agent);
            let node = self.node(NodeKind::Checkpoint, agent, self.agent.metadata.name.span);
            self.places.before_handoffs = Some(node);
            let ends = self.guardrails(GuardrailKind::Handoff, vec![Self::after(node)]);
            self.lead(ends, self.places.resume, Why::Return, agent, self.agent.metadata.name.span);
        }
        let mut by_tool: FxHashMap<&str, Vec<_>> = FxHashMap::default();
        let mut tools: Vec<&'a Spanned<Name>> = Vec::new();
        for (constraint, profile) in self.all_constraints() {
            if let Some(Checkpoint::ToolCall { target }) = &constraint.checkpoint {
                let list = by_tool.entry(target.value.as_str()).or_default();
                if list.is_empty() {
                    tools.push(target);
                }
                list.push((constraint, profile));
            }
        }
        for tool in tools {
            let element = Element::Name(tool);
            let node = self.node(NodeKind::Checkpoint, element, tool.span);
            self.checkpoints.insert(&tool.value, node);
            let mut ends = vec![Self::after(node)];
            for (constraint, profile) in by_tool.remove(tool.value.as_str()).unwrap_or_default() {
                ends = self.constraint(constraint, profile, ends);
            }
            self.lead(ends, self.places.resume, Why::Return, element, tool.span);
        }
    }

    /// In front of a call: what is checked before that tool is called.
    pub(super) fn checked_before_call(
        &mut self,
        tool: &'a Spanned<Name>,
        ends: Ends<'a>,
    ) -> Ends<'a> {
        let own = self.checkpoints.get(tool.value.as_str()).copied();
        if own.is_none() && self.places.before_calls.is_none() {
            return ends;
        }
        let element = Element::Name(tool);
        let node = self.node(NodeKind::Checkpoint, element, tool.span);
        self.attach(ends, node);
        let edge = Edge::of(Why::Checkpoint).decided(DecidedBy::Outcome).by(element, tool.span);
        for to in own.into_iter().chain(self.places.before_calls) {
            self.edge(node, to, edge);
        }
        vec![Self::after(node)]
    }

    /// In front of a call that the user must agree to: the question, and the way behind it if they do not.
    /// In a hook nobody can be asked (ABL, current specification, 3.5).
    pub(super) fn agreed_before_call(
        &mut self,
        tool: &'a Spanned<Name>,
        element: Element<'a>,
        ends: Ends<'a>,
    ) -> (Ends<'a>, Option<Open<'a>>) {
        let Some(place) = self.asking.get(tool.value.as_str()).copied().filter(|_| !self.hooked)
        else {
            return (ends, None);
        };
        let node = self.node(NodeKind::Confirm, element, place);
        self.attach(ends, node);
        if self.step.is_none() && !self.digressing {
            let turn = Edge::of(Why::Turn).decided(DecidedBy::User).by(element, place);
            self.edge(node, self.places.turn_end, turn);
        }
        let way = |why| Open {
            from: node,
            edge: Edge::of(why).decided(DecidedBy::User).by(element, place),
        };
        (vec![way(Why::Next)], Some(way(Why::Error)))
    }

    /// Whether the user may be asked, outside of steps, before a tool is called.
    pub(super) fn asks_outside_of_steps(&self) -> bool {
        self.agent.flow.is_none() && !self.asking.is_empty()
    }

    /// `COMPLETE` after a turn: the first condition that holds ends the agent.
    pub(super) fn completion(&mut self, mut ends: Ends<'a>) -> Ends<'a> {
        let offered = self.offered_spans();
        for done in &self.agent.completion.conditions {
            // What the model is offered is decided by it, not after the turn.
            if offered.contains(&done.span) {
                continue;
            }
            let (element, span) = (Element::Completion(done), done.span);
            let node = self.node(NodeKind::Branch, element, span);
            self.attach(ends, node);
            let yes = self.and_if(Guard::ALWAYS, done.when.as_ref(), true);
            let no = self.and_if(Guard::ALWAYS, done.when.as_ref(), false);
            let decided = done.when.as_ref().map_or(DecidedBy::Model, decider);
            let edge = |why, guard| Edge::of(why).decided(decided).guarded(guard).by(element, span);
            let mut inside = vec![Open { from: node, edge: edge(Why::Branch, yes) }];
            for set in &done.set {
                inside = self.then(inside, NodeKind::Set, Element::Set(set), set.span);
            }
            if done.respond.is_some() || done.respond_template.is_some() {
                inside = self.then(inside, NodeKind::Say, element, span);
            }
            if done.store.is_some() {
                inside = self.then(inside, NodeKind::Store, element, span);
            }
            self.finish(NodeKind::Complete, inside, element, span);
            ends = vec![Open { from: node, edge: edge(Why::Next, no) }];
        }
        ends
    }

    /// What is remembered after a turn.
    pub(super) fn remember(&mut self, mut ends: Ends<'a>) -> Ends<'a> {
        for rule in &self.agent.memory.remember {
            let (element, span) = (Element::Remember(rule), rule.span);
            let Some(when) = &rule.when else {
                ends = self.then(ends, NodeKind::Store, element, span);
                continue;
            };
            let node = self.node(NodeKind::Branch, element, span);
            self.attach(ends, node);
            let yes = self.and_if(Guard::ALWAYS, Some(when), true);
            let no = self.and_if(Guard::ALWAYS, Some(when), false);
            let edge =
                |why, guard| Edge::of(why).decided(decider(when)).guarded(guard).by(element, span);
            let inside = vec![Open { from: node, edge: edge(Why::Branch, yes) }];
            ends = self.then(inside, NodeKind::Store, element, span);
            ends.push(Open { from: node, edge: edge(Why::Next, no) });
        }
        ends
    }
}
