//! Constraints, guardrails, confirmations, completion conditions.

use super::build::{Builder, OpenEdge, OpenEdges, decided_by_condition};
use super::{DecidedBy, Edge, EdgeKind, Guard, NodeKind, Origin, Test};
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, ConditionKind, Name};
use agentir_ir::{
    Checkpoint, Constraint, ConstraintFailure, ConstraintKind, Data, FailureKind, Guardrail,
    GuardrailKind, Jump, Profile, Target,
};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;

/// How often a failed constraint begins its step again in a turn (`RETRY: true`), unless the step has `MAX_ATTEMPTS`.
/// The specification has no number.
const FAILURE_RETRIES: u32 = 1;

impl<'a> Builder<'_, 'a> {
    /// Builds the constraints of every turn in source order, then those of profiles.
    pub(super) fn turn_constraints(&mut self, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        self.constraints(ends, Constraint::is_of_every_turn)
    }

    /// Builds the checks before the user gets an answer: the constraints `BEFORE returning results`, then the output
    /// guardrails (§3.8, §3.9). An answer leaves the agent in many ways (the turn ends, another agent or a person
    /// takes over, the agent completes), so they exist once, and the nodes by which it may leave have an edge to them.
    fn answer_checkpoint(&mut self) {
        let response = |c: &Constraint| matches!(c.checkpoint, Some(Checkpoint::Response));
        let output = |g: &Guardrail| g.kind == GuardrailKind::Output;
        if !self.all_constraints().iter().any(|(c, _)| response(c))
            && !self.agent.constraints.guardrails.iter().any(output)
        {
            return;
        }
        let node = self.shared_checkpoint(|builder, ends| {
            let ends = builder.constraints(ends, response);
            builder.guardrails(GuardrailKind::Output, ends)
        });
        self.shared.before_answers = Some(node);
    }

    /// Builds checks that exist once: they are entered from a program point, and return to it.
    fn shared_checkpoint(
        &mut self,
        checks: impl FnOnce(&mut Self, OpenEdges<'a>) -> OpenEdges<'a>,
    ) -> NodeIndex {
        let (origin, span) = (Origin::Agent(self.agent), self.agent.metadata.name.span);
        let node = self.node(NodeKind::Checkpoint, origin, span);
        self.in_checkpoint = true;
        let ends = checks(self, vec![Self::fallthrough(node)]);
        self.in_checkpoint = false;
        self.connect_as(ends, self.shared.resume, EdgeKind::Return, origin, span);
        self.checks.push((node.index(), self.cfg.graph.node_count()));
        node
    }

    /// Connects the nodes by which an answer or the conversation may leave the agent with the checks before that.
    pub(super) fn connect_checkpoints(&mut self) {
        let (answers, handoffs) = (self.shared.before_answers, self.shared.before_handoffs);
        if answers.is_none() && handoffs.is_none() {
            return;
        }
        let (origin, span) = (Origin::Agent(self.agent), self.agent.metadata.name.span);
        let edge = Edge::of(EdgeKind::Checkpoint).decided(DecidedBy::Outcome).at(origin, span);
        for index in self.first..self.cfg.graph.node_count() {
            let node = NodeIndex::new(index);
            let Some(kind) = self.cfg.node(node).map(|n| n.kind) else { continue };
            // What follows a failed check of an answer is not checked by it again.
            if self.checks.iter().any(|(first, end)| (*first..*end).contains(&index)) {
                continue;
            }
            let answers = answers.filter(|_| match kind {
                // Between the end and the exit there is only this hook.
                NodeKind::Exit => self.agent.hooks.after_agent.is_some(),
                _ => kind.releases_answers() || node == self.shared.wait,
            });
            let to = [answers, handoffs.filter(|_| kind.transfers())];
            for to in to.into_iter().flatten() {
                self.edge(node, to, edge);
            }
        }
    }

    fn constraints(
        &mut self,
        mut ends: OpenEdges<'a>,
        wanted: impl Fn(&Constraint) -> bool,
    ) -> OpenEdges<'a> {
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

    /// Whether a constraint is checked before every call, because nobody knows which call it was meant for.
    fn is_before_every_call(&self, constraint: &Constraint) -> bool {
        let profiles = || self.profiles.iter().copied();
        constraint.is_before_every_call(|name| {
            self.agent.can_call(name, profiles(), |agent| self.whole.agents.contains(agent))
        })
    }

    /// Builds a constraint. It passes if it does not apply or if it holds.
    pub(super) fn constraint(
        &mut self,
        constraint: &'a Constraint,
        profile: Option<&'a Profile>,
        ends: OpenEdges<'a>,
    ) -> OpenEdges<'a> {
        let (origin, span) = (Origin::Constraint(constraint), constraint.span);
        let node = self.node(NodeKind::Check, origin, span);
        self.connect(ends, node);
        let edge = |kind: EdgeKind, guard: Guard, condition: &Condition| {
            Edge::of(kind)
                .decided(decided_by_condition(condition))
                .guarded(guard)
                .at(origin, condition.span())
        };
        let mut passes = Vec::new();
        let mut applies = Guard::ALWAYS;
        let gates = [profile.and_then(|p| p.when.as_ref()), constraint.applies_when.as_ref()];
        for gate in gates.into_iter().flatten() {
            let not = self.extend_guard(applies, Test::Condition(gate), false);
            passes.push(OpenEdge { from: node, edge: edge(EdgeKind::Next, not, gate) });
            applies = self.extend_guard(applies, Test::Condition(gate), true);
        }
        let condition = &constraint.condition;
        let test = Test::Condition(condition);
        let must = constraint.kind != Some(ConstraintKind::Restrict);
        let holds = self.extend_guard(applies, test, must);
        let fails = self.extend_guard(applies, test, !must);
        passes.push(OpenEdge { from: node, edge: edge(EdgeKind::Next, holds, condition) });
        let failed = vec![OpenEdge { from: node, edge: edge(EdgeKind::Error, fails, condition) }];
        let warns = constraint.severity == Some("warning");
        match &constraint.on_fail {
            // A warning prints its message and continues.
            Some(failure) if warns && failure.message.is_some() => {
                passes.extend(self.append(
                    failed,
                    NodeKind::Say,
                    Origin::Failure(failure),
                    failure.span,
                ));
            }
            _ if warns => passes.extend(failed),
            Some(failure) => {
                // Before a call, what it has asked for is checked by all rules; then it goes on.
                let asks_first = self.in_checkpoint
                    && !constraint.refuses()
                    && !failure.collect_fields.is_empty();
                passes.extend(self.failure(failure, node, failed, asks_first));
            }
            None => {
                let wait = self.shared.wait;
                self.connect_as(failed, wait, EdgeKind::Error, origin, span);
            }
        }
        passes
    }

    /// Builds the consequences of a failed constraint. Returns the edges that continue as if it had held, which only
    /// `THEN: continue` does. After `COLLECT` alone the constraint is checked again, and so it is after one that `asks_first`.
    fn failure(
        &mut self,
        failure: &'a ConstraintFailure,
        check: NodeIndex,
        mut ends: OpenEdges<'a>,
        asks_first: bool,
    ) -> OpenEdges<'a> {
        let (origin, span) = (Origin::Failure(failure), failure.span);
        if failure.message.is_some() {
            ends = self.append(ends, NodeKind::Say, origin, span);
        }
        if !failure.clear.is_empty() {
            ends = self.append(ends, NodeKind::Clear, origin, span);
        }
        if !failure.collect_fields.is_empty() {
            let node = self.node(NodeKind::Collect, origin, span);
            self.connect(ends, node);
            // The waits of a step get this edge with the step. Where the model leads, it asks, and does not wait here.
            if self.step.is_none() && self.agent.flow.is_some() {
                let turn = Edge::of(EdgeKind::Turn).decided(DecidedBy::User).at(origin, span);
                self.edge(node, self.shared.turn_end, turn);
            }
            ends = vec![Self::fallthrough(node)];
        }
        if asks_first {
            self.check_again(failure, check, ends);
            return Vec::new();
        }
        if let Some(to) = &failure.target {
            let node = self.node(NodeKind::Handoff, origin, to.span);
            self.connect(ends, node);
            self.transfer(node, to, None);
            return Vec::new();
        }
        let mut jumps = failure.then_step.iter().chain(&failure.then_action);
        let retries = |jump: &Jump| matches!(jump.target, Target::Retry | Target::RetryStep);
        if let Some(jump) = jumps.next() {
            if retries(jump) {
                self.retry_after_failure(failure, ends);
                return Vec::new();
            }
            let others = ends.clone();
            let open = self.jump(jump, ends);
            // With several jumps, any of them may be meant; the first is taken.
            for other in jumps.filter(|jump| !retries(jump)) {
                let left = self.jump(other, others.clone());
                self.connect_as(left, self.resume, EdgeKind::Return, origin, span);
            }
            return open;
        }
        match failure.kind {
            FailureKind::Escalate => {
                self.escalate(ends, origin, span);
            }
            FailureKind::RetryStep => self.retry_after_failure(failure, ends),
            FailureKind::CollectField => self.check_again(failure, check, ends),
            FailureKind::Handoff
            | FailureKind::GotoStep
            | FailureKind::Redact
            | FailureKind::Respond
            | FailureKind::Block => {
                let wait = self.shared.wait;
                self.connect_as(ends, wait, EdgeKind::Error, origin, span);
            }
        }
        Vec::new()
    }

    /// Leads back to a check whose questions were answered.
    fn check_again(
        &mut self,
        failure: &'a ConstraintFailure,
        check: NodeIndex,
        ends: OpenEdges<'a>,
    ) {
        let (origin, span) = (Origin::Failure(failure), failure.span);
        let to = if self.in_checkpoint { self.shared.resume } else { check };
        for open in ends {
            let edge = Edge { kind: EdgeKind::Retry, origin, span, ..open.edge };
            self.edge(open.from, to, edge);
        }
    }

    /// Builds `RETRY` of a failed constraint: the step begins again, a limited number of times; then the user's next
    /// message is awaited. Outside of steps there is nothing to begin again but the turn.
    fn retry_after_failure(&mut self, failure: &'a ConstraintFailure, ends: OpenEdges<'a>) {
        let (origin, span) = (Origin::Failure(failure), failure.span);
        let to = match (self.in_checkpoint, self.step) {
            (true, _) => Some((self.shared.resume, None)),
            (false, Some(_)) => Some(self.retry),
            (false, None) => None,
        };
        if let Some((to, limit)) = to {
            let limit = Some(limit.unwrap_or(FAILURE_RETRIES));
            for open in &ends {
                let edge = Edge { kind: EdgeKind::Retry, origin, span, ..open.edge };
                self.edge(open.from, to, edge.at_most(limit));
            }
        }
        let wait = self.shared.wait;
        self.connect_as(ends, wait, EdgeKind::Error, origin, span);
    }

    pub(super) fn guardrails(
        &mut self,
        kind: GuardrailKind,
        mut ends: OpenEdges<'a>,
    ) -> OpenEdges<'a> {
        let mut all: Vec<&'a Guardrail> =
            self.agent.constraints.guardrails.iter().filter(|g| g.kind == kind).collect();
        // The lowest priority number comes first (§3.9).
        all.sort_by(|a, b| a.priority.0.total_cmp(&b.priority.0));
        for guardrail in all {
            ends = self.guardrail(guardrail, ends);
        }
        ends
    }

    fn guardrail(&mut self, guardrail: &'a Guardrail, ends: OpenEdges<'a>) -> OpenEdges<'a> {
        let (origin, span) = (Origin::Guardrail(guardrail), guardrail.span);
        let node = self.node(NodeKind::Check, origin, span);
        self.connect(ends, node);
        let (mut fine, mut hit) = (Guard::ALWAYS, Guard::ALWAYS);
        // What the model judges as well is not decided by the check.
        let judged = [&guardrail.category, &guardrail.provider].into_iter().any(Option::is_some)
            || guardrail.llm_check.is_some();
        let decided = if let Some(check) = guardrail.check.as_ref().filter(|_| !judged) {
            fine = self.extend_guard(fine, Test::Expr(check), false);
            hit = self.extend_guard(hit, Test::Expr(check), true);
            DecidedBy::Condition
        } else {
            DecidedBy::Model
        };
        let edge = |kind, guard| Edge::of(kind).decided(decided).guarded(guard).at(origin, span);
        let mut passes = vec![OpenEdge { from: node, edge: edge(EdgeKind::Next, fine) }];
        let mut hits = vec![OpenEdge { from: node, edge: edge(EdgeKind::Error, hit) }];
        let action = match &guardrail.action {
            Data::Object(fields) => fields.get("type").and_then(Data::as_str),
            other => other.as_str(),
        };
        match action {
            Some("escalate") => {
                self.escalate(hits, origin, span);
            }
            // An action that is missing or not known is not allowed to do less.
            Some("block") | None => {
                hits = self.append(hits, NodeKind::Say, origin, span);
                let wait = self.shared.wait;
                self.connect_as(hits, wait, EdgeKind::Error, origin, span);
            }
            Some("reask") => self.connect_as(hits, self.resume, EdgeKind::Retry, origin, span),
            // The output is changed or a warning is logged, and the turn continues.
            _ => passes.extend(hits),
        }
        passes
    }

    /// Builds the checks before tool calls: one node for all tools, and one per tool that a
    /// constraint names.
    pub(super) fn tool_checkpoints(&mut self) {
        let has = |kinds: &[GuardrailKind]| {
            self.agent.constraints.guardrails.iter().any(|g| kinds.contains(&g.kind))
        };
        let (calls, handoffs) = (
            has(&[GuardrailKind::ToolInput, GuardrailKind::ToolOutput]),
            has(&[GuardrailKind::Handoff]),
        );
        if calls {
            let node = self.shared_checkpoint(|builder, ends| {
                let ends = builder.guardrails(GuardrailKind::ToolInput, ends);
                builder.guardrails(GuardrailKind::ToolOutput, ends)
            });
            self.shared.before_calls = Some(node);
        }
        if handoffs {
            let checks =
                |builder: &mut Self, ends| builder.guardrails(GuardrailKind::Handoff, ends);
            self.shared.before_handoffs = Some(self.shared_checkpoint(checks));
        }
        self.answer_checkpoint();
        let mut by_tool: FxHashMap<&str, Vec<_>> = FxHashMap::default();
        let mut tools: Vec<&'a Spanned<Name>> = Vec::new();
        for (constraint, profile) in self.all_constraints() {
            if let Some(Checkpoint::ToolCall { target }) = &constraint.checkpoint
                && !self.is_before_every_call(constraint)
            {
                let list = by_tool.entry(target.value.as_str()).or_default();
                if list.is_empty() {
                    tools.push(target);
                }
                list.push((constraint, profile));
            }
        }
        for tool in tools {
            let origin = Origin::Name(tool);
            let node = self.node(NodeKind::Checkpoint, origin, tool.span);
            self.checkpoints.insert(&tool.value, node);
            let mut ends = vec![Self::fallthrough(node)];
            self.in_checkpoint = true;
            for (constraint, profile) in by_tool.remove(tool.value.as_str()).unwrap_or_default() {
                ends = self.constraint(constraint, profile, ends);
            }
            self.in_checkpoint = false;
            self.connect_as(ends, self.shared.resume, EdgeKind::Return, origin, tool.span);
        }
    }

    /// Builds what is checked in every turn and reads the state, once more: the checks of the turn have been made before
    /// that, and a call is where a value begins to count (ABL, current specification, 3.8: "checks over session state and
    /// execution checkpoints"). No list says which names a turn can change, because nearly everything can change them: a
    /// rule whose values are the same has the same outcome.
    pub(super) fn rules_before_calls(&mut self) {
        let agent = self.agent;
        let reads = |condition: &Condition| {
            let mut reads = false;
            if let Some(expr) = condition.expr() {
                expr.paths(&mut |_| reads = true);
            }
            reads
        };
        // What a model judges may be about values that were not there before.
        let may_change = |condition: &Condition| {
            matches!(condition.kind, ConditionKind::Natural) || reads(condition)
        };
        let again = |(constraint, profile): &(&Constraint, Option<&Profile>)| {
            let gates = [constraint.applies_when.as_ref(), profile.and_then(|p| p.when.as_ref())];
            let conditions = gates.into_iter().flatten().chain([&constraint.condition]);
            self.is_before_every_call(constraint)
                || constraint.is_of_every_turn() && conditions.into_iter().any(may_change)
        };
        let constraints: Vec<_> = self.all_constraints().into_iter().filter(again).collect();
        let triggers: Vec<_> = (agent.coordination.escalation.iter())
            .flat_map(|escalation| &escalation.triggers)
            .filter(|t| !t.repeats_binding && t.when.as_ref().is_some_and(reads))
            .collect();
        if constraints.is_empty() && triggers.is_empty() {
            return;
        }
        let node = self.shared_checkpoint(|builder, mut ends| {
            for (constraint, profile) in constraints {
                ends = builder.constraint(constraint, profile, ends);
            }
            for trigger in triggers {
                ends = builder.trigger(trigger, ends);
            }
            ends
        });
        self.shared.rules_again = Some(node);
    }

    /// What must hold so that the model may hand over: the constraints before the call of the platform's tool for that.
    /// Those that hold sometimes only (`WHEN`, profiles) are left to the runtime.
    pub(super) fn guard_handing_over(&mut self, mut guard: Guard) -> Guard {
        let agent = self.agent;
        let Some(tool) = agent.metadata.dialect.runtime().handoff_tool else { return guard };
        for constraint in &agent.constraints.constraints {
            if constraint.is_before_call(tool)
                && constraint.refuses()
                && constraint.applies_when.is_none()
            {
                let must = constraint.kind != Some(ConstraintKind::Restrict);
                guard = self.extend_guard(guard, Test::Condition(&constraint.condition), must);
            }
        }
        guard
    }

    /// Inserts the checks before a call of a tool.
    pub(super) fn check_before_call(
        &mut self,
        tool: &'a Spanned<Name>,
        ends: OpenEdges<'a>,
    ) -> OpenEdges<'a> {
        let own = self.checkpoints.get(tool.value.as_str()).copied();
        // What hooks do is there for the checks, or follows them.
        let again = self.shared.rules_again.filter(|_| !self.in_hook);
        if own.is_none() && self.shared.before_calls.is_none() && again.is_none() {
            return ends;
        }
        let origin = Origin::Name(tool);
        let node = self.node(NodeKind::Checkpoint, origin, tool.span);
        self.connect(ends, node);
        if self.step.is_some() {
            self.held_calls.push(node);
        }
        let edge = Edge::of(EdgeKind::Checkpoint).decided(DecidedBy::Outcome).at(origin, tool.span);
        for to in again.into_iter().chain(own).chain(self.shared.before_calls) {
            self.edge(node, to, edge);
        }
        vec![Self::fallthrough(node)]
    }

    /// Inserts the confirmation before a call, for tools that need one. Returns the open edges
    /// after consent, and the edge for a refusal. In a hook the user cannot be asked (ABL, current
    /// specification, 3.5).
    pub(super) fn confirm_before_call(
        &mut self,
        tool: &'a Spanned<Name>,
        origin: Origin<'a>,
        ends: OpenEdges<'a>,
    ) -> (OpenEdges<'a>, Option<OpenEdge<'a>>) {
        let Some(place) =
            self.whole.confirmed_tools.get(tool.value.as_str()).copied().filter(|_| !self.in_hook)
        else {
            return (ends, None);
        };
        let node = self.node(NodeKind::Confirm, origin, place);
        self.connect(ends, node);
        if self.step.is_none() && !self.in_digression {
            let turn = Edge::of(EdgeKind::Turn).decided(DecidedBy::User).at(origin, place);
            self.edge(node, self.shared.turn_end, turn);
        }
        let way = |kind| OpenEdge {
            from: node,
            edge: Edge::of(kind).decided(DecidedBy::User).at(origin, place),
        };
        // What was allowed when the user was asked may no longer be when the user has agreed.
        let agreed = self.check_before_call(tool, vec![way(EdgeKind::Next)]);
        (agreed, Some(way(EdgeKind::Error)))
    }

    /// Whether the user may be asked for confirmation outside of steps.
    pub(super) fn confirms_outside_steps(&self) -> bool {
        self.agent.flow.is_none() && !self.whole.confirmed_tools.is_empty()
    }

    /// Builds the `COMPLETE` conditions after a turn. The first one that holds ends the agent.
    pub(super) fn completion(&mut self, mut ends: OpenEdges<'a>) -> OpenEdges<'a> {
        for done in &self.agent.completion.conditions {
            // The model decides about conditions that come from its tool bindings, not the end of
            // the turn.
            if done.repeats_binding {
                continue;
            }
            let (origin, span) = (Origin::Completion(done), done.span);
            let node = self.node(NodeKind::Branch, origin, span);
            self.connect(ends, node);
            let yes = self.extend_guard_if(Guard::ALWAYS, done.when.as_ref(), true);
            let no = self.extend_guard_if(Guard::ALWAYS, done.when.as_ref(), false);
            let decided = done.when.as_ref().map_or(DecidedBy::Model, decided_by_condition);
            let edge =
                |kind, guard| Edge::of(kind).decided(decided).guarded(guard).at(origin, span);
            let mut inside = vec![OpenEdge { from: node, edge: edge(EdgeKind::Branch, yes) }];
            for set in &done.set {
                inside = self.append(inside, NodeKind::Set, Origin::Set(set), set.span);
            }
            if done.respond.is_some() || done.respond_template.is_some() {
                inside = self.append(inside, NodeKind::Say, origin, span);
            }
            if done.store.is_some() {
                inside = self.append(inside, NodeKind::Store, origin, span);
            }
            self.finish(NodeKind::Complete, inside, origin, span);
            ends = vec![OpenEdge { from: node, edge: edge(EdgeKind::Next, no) }];
        }
        ends
    }

    /// Builds what is stored in memory after a turn.
    pub(super) fn remember(&mut self, mut ends: OpenEdges<'a>) -> OpenEdges<'a> {
        for rule in &self.agent.memory.remember {
            let (origin, span) = (Origin::Remember(rule), rule.span);
            let Some(when) = &rule.when else {
                ends = self.append(ends, NodeKind::Store, origin, span);
                continue;
            };
            let node = self.node(NodeKind::Branch, origin, span);
            self.connect(ends, node);
            let yes = self.extend_guard_if(Guard::ALWAYS, Some(when), true);
            let no = self.extend_guard_if(Guard::ALWAYS, Some(when), false);
            let edge = |kind, guard| {
                Edge::of(kind).decided(decided_by_condition(when)).guarded(guard).at(origin, span)
            };
            let inside = vec![OpenEdge { from: node, edge: edge(EdgeKind::Branch, yes) }];
            ends = self.append(inside, NodeKind::Store, origin, span);
            ends.push(OpenEdge { from: node, edge: edge(EdgeKind::Next, no) });
        }
        ends
    }
}
