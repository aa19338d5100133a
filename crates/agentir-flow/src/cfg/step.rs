//! Flows: steps, interruptions and the modifications of profiles.

use super::build::{Builder, OpenEdge, OpenEdges, decided_by_condition};
use super::{DecidedBy, Edge, EdgeKind, Guard, NodeKind, Origin};
use agentir_diagnostics::{Span, Spanned};
use agentir_ir::{
    ActionHandler, Data, Digression, ErrorHandler, Flow, Jump, NumberOrText, Profile, Statement,
    Step, Target,
};
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// How often an error handler repeats what failed (`THEN: RETRY_STEP`), unless it says so.
pub(super) const ERROR_RETRIES: u32 = 3;

/// A modification of a step by a profile.
enum Change<'a> {
    Skip(Span),
    Replace(&'a Step),
    InsertBefore(&'a Step, Span),
    InsertAfter(&'a Step, Span),
}

type Changes<'a> = FxHashMap<&'a str, Vec<(&'a Profile, Change<'a>)>>;

impl<'a> Builder<'_, 'a> {
    /// Creates the first node of every step, before anything leads to them.
    pub(super) fn step_nodes(&mut self, flow: &'a Flow) {
        let insertions = self
            .profiles
            .iter()
            .filter_map(|p| p.flow_modifications.as_ref())
            .flat_map(|c| &c.insertions)
            // A profile may serve several agents, not all of which have the step.
            .filter(|i| flow.definitions.contains_key(&i.target_step.value))
            .map(|i| &i.step);
        let steps: Vec<&Step> = flow.definitions.values().chain(insertions).collect();
        for step in steps {
            // Two profiles may insert a step with the same name.
            if self.defined.insert(&step.name.value) {
                self.step = Some(step);
                let node = self.node(NodeKind::Step, Origin::Step(step), step.name.span);
                self.steps.insert(&step.name.value, node);
            }
        }
        self.step = None;
    }

    /// Builds all steps. `begin` are the edges into the flow.
    pub(super) fn flow(&mut self, flow: &'a Flow, begin: OpenEdges<'a>) {
        let span = flow.span;
        let agent = Origin::Agent(self.agent);
        if let Some(entry) = flow.entry() {
            let named = flow.entry_point.as_ref().or_else(|| flow.steps.first());
            let to = match (self.steps.get(entry), named) {
                (Some(node), _) => Some(*node),
                (None, Some(name)) => Some(self.step_node(name)),
                (None, None) => None,
            };
            let begin = begin.clone();
            if let Some(to) = to {
                self.connect_as(begin, to, EdgeKind::Start, agent, span);
            }
        }
        for profile in self.profiles.clone() {
            if let Some(name) = &profile.flow_replace
                && let Some(to) = self.steps.get(name.value.as_str()).copied()
            {
                let guard = self.extend_guard_if(Guard::ALWAYS, profile.when.as_ref(), true);
                for open in &begin {
                    let edge = profile_edge(profile, guard, name.span);
                    self.edge(open.from, to, edge);
                }
            }
        }
        let end = self.node(NodeKind::FlowEnd, agent, span);
        self.shared.flow_end = Some(end);
        let turn_end = self.shared.turn_end;
        self.edge(end, turn_end, Edge::of(EdgeKind::Turn).at(agent, span));
        let next = successor_names(flow);
        let changes = self.changes();
        let after = |builder: &Self, name: &str| {
            next.get(name).and_then(|n| builder.steps.get(n.as_str()).copied()).unwrap_or(end)
        };
        for step in flow.definitions.values() {
            let Some(at) = self.steps.get(step.name.value.as_str()).copied() else { continue };
            let successor = after(self, &step.name.value);
            self.step(step, vec![Self::fallthrough(at)], at, successor);
            for (profile, change) in changes.get(step.name.value.as_str()).into_iter().flatten() {
                self.change(profile, change, at, successor);
            }
        }
        // Of two steps with one name only the last counts, but either may be meant.
        for step in &flow.shadowed {
            let Some(at) = self.steps.get(step.name.value.as_str()).copied() else { continue };
            let successor = after(self, &step.name.value);
            let edge = Edge::of(EdgeKind::Shadowed).at(Origin::Step(step), step.name.span);
            self.step(step, vec![OpenEdge { from: at, edge }], at, successor);
        }
    }

    fn changes(&self) -> Changes<'a> {
        let mut all: Changes<'a> = FxHashMap::default();
        for profile in self.profiles.iter().copied() {
            let Some(changes) = &profile.flow_modifications else { continue };
            let mut add = |name: &'a str, change| {
                all.entry(name).or_default().push((profile, change));
            };
            for name in &changes.skip {
                add(&name.value, Change::Skip(name.span));
            }
            for (name, step) in &changes.overrides {
                add(name, Change::Replace(step));
            }
            for insertion in &changes.insertions {
                let (at, step) = (&insertion.target_step, &insertion.step);
                let change = match insertion.position {
                    "before" => Change::InsertBefore(step, at.span),
                    _ => Change::InsertAfter(step, at.span),
                };
                add(&at.value, change);
            }
        }
        all
    }

    fn change(
        &mut self,
        profile: &'a Profile,
        change: &Change<'a>,
        at: NodeIndex,
        successor: NodeIndex,
    ) {
        let guard = self.extend_guard_if(Guard::ALWAYS, profile.when.as_ref(), true);
        let edge = |span| profile_edge(profile, guard, span);
        match change {
            Change::Skip(span) => self.edge(at, successor, edge(*span)),
            Change::Replace(step) => {
                let start = vec![OpenEdge { from: at, edge: edge(step.name.span) }];
                self.step(step, start, at, successor);
            }
            Change::InsertBefore(step, span) | Change::InsertAfter(step, span) => {
                let Some(named) = self.steps.get(step.name.value.as_str()).copied() else { return };
                // `insert_before: <step>: <new step>` names the step before which the new one is
                // inserted.
                let new = if named == at {
                    self.step = Some(step);
                    self.node(NodeKind::Step, Origin::Step(step), step.name.span)
                } else {
                    named
                };
                // The new step runs once before or after the step, so it does not form a loop.
                self.edge(at, new, edge(*span).at_most(Some(1)));
                let successor =
                    if matches!(change, Change::InsertBefore(..)) { at } else { successor };
                self.step(step, vec![Self::fallthrough(new)], new, successor);
            }
        }
    }

    /// Builds what follows when the attempts of the current step are exhausted at a node.
    pub(super) fn leave_exhausted(&mut self, from: NodeIndex, jump: &'a Jump, origin: Origin<'a>) {
        let edge = Edge::of(EdgeKind::Exhausted).decided(DecidedBy::Outcome).at(origin, jump.span);
        let left = self.jump(jump, vec![OpenEdge { from, edge }]);
        self.connect_as(left, self.successor, EdgeKind::Exhausted, origin, jump.span);
    }

    /// Builds a step: its body in order, then its interruptions. `at` is its first node,
    /// `successor` the node that follows it by default.
    fn step(&mut self, step: &'a Step, start: OpenEdges<'a>, at: NodeIndex, successor: NodeIndex) {
        let origin = Origin::Step(step);
        let name = step.name.span;
        self.step = Some(step);
        self.waits.clear();
        self.fallible.clear();
        self.held_calls.clear();
        self.resume = self.shared.resume;
        let limit = step.max_attempts.and_then(to_count);
        self.retry = (at, limit);
        self.successor = successor;
        let mut ends: OpenEdges<'a> =
            start.into_iter().map(|o| OpenEdge { edge: o.edge.at_most(limit), ..o }).collect();
        if let Some(when) = &step.when {
            let (applies, not) = (
                self.extend_guard_if(Guard::ALWAYS, Some(when), true),
                self.extend_guard_if(Guard::ALWAYS, Some(when), false),
            );
            let skip = Edge::of(EdgeKind::Skip).decided(decided_by_condition(when)).guarded(not);
            self.edge(at, successor, skip.at(origin, when.span()));
            for open in &mut ends {
                open.edge = open.edge.decided(decided_by_condition(when)).guarded(applies);
            }
        }
        if let Some(jump) = &step.on_exhausted {
            self.leave_exhausted(at, jump, origin);
        }
        for data in step.await_attachment.iter().chain(&step.human_approval) {
            ends = self.append(ends, NodeKind::Await, Origin::Data(&data.value), data.span);
            self.connect_named_data(&ends.clone(), &data.value, data.span);
        }
        // Data that the IR keeps verbatim may name steps.
        for extension in step.extensions.0.values().flat_map(|all| all.values()) {
            let named = Edge::of(EdgeKind::Named).decided(DecidedBy::Outcome);
            self.connect_named_data(
                &[OpenEdge { from: at, edge: named }],
                &extension.value,
                step.span,
            );
        }
        // The model takes over after the step has responded and collected (§3.14: respond, gather,
        // call, check, result, input, then).
        let leads = step.body.0.iter().position(|s| {
            !matches!(
                s,
                Statement::Set(_)
                    | Statement::Clear { .. }
                    | Statement::Transform(_)
                    | Statement::Log { .. }
                    | Statement::Respond(_)
                    | Statement::Collect(_)
            )
        });
        let (first, rest) = step.body.0.split_at(leads.unwrap_or(step.body.0.len()));
        ends = self.statements(first, ends);
        if let Some(zone) = &step.reasoning_zone {
            ends = self.zone(zone, ends);
        }
        // Handlers of buttons are for somebody who presses one.
        let (rest, leaving) = match step.on_action.is_empty() || waits(step) {
            true => (rest, None),
            false => {
                let (rest, leaving) = rest.split_at(leaves_at(rest));
                (rest, Some(leaving))
            }
        };
        ends = self.statements(rest, ends);
        if let Some(leaving) = leaving.filter(|_| !ends.is_empty()) {
            let from = self.node(NodeKind::Await, origin, name);
            self.connect(ends, from);
            let edge = Edge::of(EdgeKind::Next).decided(DecidedBy::User).at(origin, name);
            ends = self.statements(leaving, vec![OpenEdge { from, edge }]);
        }
        self.connect_as(ends, successor, EdgeKind::Sequence, origin, name);
        self.step_errors(step, at);
        self.interrupts_of_step(step, at);
        self.step = None;
        self.resume = self.shared.resume;
        self.retry = (self.shared.resume, None);
    }

    /// Builds the interruptions of a step: at its waits, or at its first node if it never waits.
    fn interrupts_of_step(&mut self, step: &'a Step, at: NodeIndex) {
        let origin = Origin::Step(step);
        let mut from = std::mem::take(&mut self.waits);
        if from.is_empty() {
            from.push(at);
        }
        let turn_end = self.shared.turn_end;
        let turn = Edge::of(EdgeKind::Turn).decided(DecidedBy::User).at(origin, step.name.span);
        for wait in &from {
            self.edge(*wait, turn_end, turn);
        }
        let digressions = step.digressions.iter().chain(&step.sub_intents);
        if digressions.clone().next().is_none() && step.on_action.is_empty() {
            return;
        }
        let hub = self.node(NodeKind::Interrupt, origin, step.name.span);
        let edge =
            Edge::of(EdgeKind::Digression).decided(DecidedBy::User).at(origin, step.name.span);
        // A refused call waits for the user, too.
        from.extend(std::mem::take(&mut self.held_calls));
        for wait in from {
            self.edge(wait, hub, edge);
        }
        // The step goes on where it waits: what it has done is not done again.
        let back = self.shared.resume;
        for digression in digressions {
            self.digression(digression, hub, back);
        }
        for handler in &step.on_action {
            self.action(handler, hub, back);
        }
        // Waits inside an interruption are not waits of the step.
        self.waits.clear();
    }

    pub(super) fn digression(
        &mut self,
        digression: &'a Digression,
        hub: NodeIndex,
        back: NodeIndex,
    ) {
        let origin = Origin::Digression(digression);
        let guard = self.extend_guard_if(Guard::ALWAYS, digression.condition.as_ref(), true);
        let edge = Edge::of(EdgeKind::Digression)
            .decided(DecidedBy::User)
            .guarded(guard)
            .at(origin, digression.span);
        self.in_digression = true;
        let ends = self.body(&digression.body, vec![OpenEdge { from: hub, edge }]);
        self.in_digression = false;
        self.connect_as(ends, back, EdgeKind::Return, origin, digression.span);
    }

    pub(super) fn action(&mut self, handler: &'a ActionHandler, hub: NodeIndex, back: NodeIndex) {
        let origin = Origin::Action(handler);
        let guard = self.extend_guard_if(Guard::ALWAYS, handler.condition.as_ref(), true);
        let edge = Edge::of(EdgeKind::Action)
            .decided(DecidedBy::User)
            .guarded(guard)
            .at(origin, handler.span);
        let ends = self.body(&handler.body, vec![OpenEdge { from: hub, edge }]);
        self.connect_as(ends, back, EdgeKind::Return, origin, handler.span);
    }

    /// Connects the errors of a step to its own handlers, then to those of the agent.
    fn step_errors(&mut self, step: &'a Step, at: NodeIndex) {
        let mut from = std::mem::take(&mut self.fallible);
        let origin = Origin::Step(step);
        let edge = Edge::of(EdgeKind::Error).decided(DecidedBy::Outcome).at(origin, step.name.span);
        if step.on_error.is_empty() {
            if let Some(errors) = self.shared.errors {
                let edge = Edge { kind: EdgeKind::Unhandled, ..edge };
                from.into_iter().for_each(|node| self.edge(node, errors, edge));
            }
            return;
        }
        if from.is_empty() {
            from.push(at);
        }
        let hub = self.node(NodeKind::Error, origin, step.name.span);
        from.into_iter().for_each(|node| self.edge(node, hub, edge));
        for handler in &step.on_error {
            self.handler(handler, hub);
        }
        if let Some(errors) = self.shared.errors {
            self.edge(hub, errors, Edge { kind: EdgeKind::Unhandled, ..edge });
        }
    }

    pub(super) fn handler(&mut self, handler: &'a ErrorHandler, hub: NodeIndex) {
        let (origin, span) = (Origin::Handler(handler), handler.span);
        let edge = Edge::of(EdgeKind::Error).decided(DecidedBy::Outcome).at(origin, span);
        let mut ends = vec![OpenEdge { from: hub, edge }];
        if handler.respond.is_some() {
            ends = self.append(ends, NodeKind::Say, origin, span);
        }
        ends = self.body(&handler.body, ends);
        let (retry, limit) = self.retry;
        let times = match &handler.retry {
            Some(NumberOrText::Number(times)) => to_count(*times),
            _ => None,
        };
        if let Some(times) = times.filter(|times| *times > 0) {
            for open in ends.clone() {
                let again = Edge { kind: EdgeKind::Retry, origin, span, ..open.edge };
                self.edge(open.from, retry, again.at_most(Some(times)));
            }
        }
        // `THEN: RETRY_STEP` is limited as `RETRY` is, so that an error that stays does not loop.
        self.retry = (retry, Some(times.or(limit).unwrap_or(ERROR_RETRIES)));
        if let Some(to) = &handler.handoff_target {
            let node = self.node(NodeKind::Handoff, origin, to.span);
            self.connect(ends.clone(), node);
            self.transfer(node, to, None);
        }
        if let Some(step) = &handler.backtrack_to {
            let to = self.step_node(step);
            self.connect_as(ends.clone(), to, EdgeKind::Jump, origin, step.span);
        }
        // `THEN: HANDOFF` and `THEN: BACKTRACK` have their targets in these fields.
        match &handler.then {
            Some(jump)
                if matches!(jump.target, Target::Handoff(None))
                    && handler.handoff_target.is_some()
                    || matches!(jump.target, Target::Backtrack(None))
                        && handler.backtrack_to.is_some() => {}
            Some(jump) => {
                let repeats = matches!(jump.target, Target::Retry | Target::RetryStep);
                // `RETRY` has repeated it as often as it may be.
                if !(repeats && times.is_some()) {
                    let left = self.jump(jump, ends.clone());
                    self.connect_as(left, self.resume, EdgeKind::Return, origin, span);
                }
                // When it has been repeated often enough, it goes on without it.
                if repeats {
                    self.connect_as(ends, self.resume, EdgeKind::Return, origin, span);
                }
            }
            None => self.connect_as(ends, self.resume, EdgeKind::Return, origin, span),
        }
        self.retry = (retry, limit);
    }

    /// Adds edges to the steps that free-form data names.
    fn connect_named_data(&mut self, from: &[OpenEdge<'a>], data: &'a Data, span: Span) {
        let mut all = vec![data];
        while let Some(data) = all.pop() {
            match data {
                Data::String(text) => {
                    let text = text.strip_prefix("GOTO ").unwrap_or(text).trim();
                    let to = if matches!(text, "COMPLETE" | "ESCALATE") {
                        self.node(NodeKind::Unknown, Origin::Data(data), span)
                    } else if let Some(to) =
                        self.steps.get(text).filter(|_| self.defined.contains(text))
                    {
                        *to
                    } else {
                        continue;
                    };
                    for open in from {
                        let edge = Edge {
                            kind: EdgeKind::Named,
                            origin: Origin::Data(data),
                            span,
                            ..open.edge
                        };
                        self.edge(open.from, to, edge.decided(DecidedBy::Outcome));
                    }
                }
                Data::Array(inner) => all.extend(inner),
                Data::Object(inner) => all.extend(inner.values()),
                _ => {}
            }
        }
    }

    /// Adds an edge to the step called `name`, if there is one.
    pub(super) fn connect_named_step(
        &mut self,
        ends: &OpenEdges<'a>,
        name: &'a Spanned<SmolStr>,
        origin: Origin<'a>,
    ) -> bool {
        if !self.defined.contains(name.value.as_str()) {
            return false;
        }
        let Some(to) = self.steps.get(name.value.as_str()).copied() else { return false };
        self.connect_as(ends.clone(), to, EdgeKind::Jump, origin, name.span);
        true
    }
}

fn profile_edge<'a>(profile: &'a Profile, guard: Guard, span: Span) -> Edge<'a> {
    let decided = profile.when.as_ref().map_or(DecidedBy::Nobody, decided_by_condition);
    Edge::of(EdgeKind::Profile).decided(decided).guarded(guard).at(Origin::Profile(profile), span)
}

/// Whether a step waits for the user.
fn waits(step: &Step) -> bool {
    let asks = |s: &Statement| matches!(s, Statement::Collect(_) | Statement::Await { .. });
    step.reasoning_zone.is_some()
        || step.await_attachment.is_some()
        || step.human_approval.is_some()
        || step.body.0.iter().any(asks)
}

/// Where the statements begin after which nothing but jumps follows.
fn leaves_at(body: &[Statement]) -> usize {
    let leaves = |s: &Statement| {
        matches!(
            s,
            Statement::Goto(_)
                | Statement::If { .. }
                | Statement::Escalate { .. }
                | Statement::Handoff(_)
        )
    };
    body.iter().rposition(|statement| !leaves(statement)).map_or(0, |last| last + 1)
}

/// Converts a number from the source to a count.
pub(super) fn to_count(number: agentir_ir::Number) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be in range"
    )]
    (number.0 >= 0.0 && number.0 <= f64::from(u32::MAX)).then_some(number.0 as u32)
}

/// Returns the successor of each step: by the order of the arrows if the step occurs there, else by
/// the order of the declarations.
fn successor_names(flow: &Flow) -> FxHashMap<SmolStr, SmolStr> {
    let mut next = FxHashMap::default();
    for order in [&flow.steps, &flow.sequence] {
        let mut seen = FxHashSet::default();
        for (step, after) in order.iter().zip(order.iter().skip(1).map(Some).chain([None])) {
            if !seen.insert(&step.value) {
                continue;
            }
            match after {
                Some(after) => next.insert(step.value.clone(), after.value.clone()),
                None => next.remove(&step.value),
            };
        }
    }
    next
}
