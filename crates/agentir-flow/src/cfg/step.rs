//! Flows: the steps, what may interrupt them, and what profiles change about them.

use super::build::{Builder, Ends, Open, decider};
use super::{DecidedBy, Edge, Element, Guard, NodeKind, Why};
use agentir_diagnostics::{Span, Spanned};
use agentir_ir::{
    ActionHandler, Data, Digression, ErrorHandler, Flow, NumberOrText, Profile, Statement, Step,
    Target,
};
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// What a profile does to a step.
enum Change<'a> {
    Skip(Span),
    Instead(&'a Step),
    Before(&'a Step, Span),
    After(&'a Step, Span),
}

type Changes<'a> = FxHashMap<&'a str, Vec<(&'a Profile, Change<'a>)>>;

impl<'a> Builder<'_, 'a> {
    /// The nodes at which the steps begin. They are there before anything leads to them.
    pub(super) fn step_nodes(&mut self, flow: &'a Flow) {
        let insertions = self
            .profiles
            .iter()
            .filter_map(|p| p.flow_modifications.as_ref())
            .flat_map(|c| &c.insertions)
            // A profile may be made for several agents, not all of which have the step.
            .filter(|i| flow.definitions.contains_key(&i.target_step.value))
            .map(|i| &i.step);
        let steps: Vec<&Step> = flow.definitions.values().chain(insertions).collect();
        for step in steps {
            // Two profiles may bring a step of the same name.
            if self.defined.insert(&step.name.value) {
                self.step = Some(step);
                let node = self.node(NodeKind::Step, Element::Step(step), step.name.span);
                self.steps.insert(&step.name.value, node);
            }
        }
        self.step = None;
    }

    /// All steps. `begin` is what leads into the flow.
    pub(super) fn flow(&mut self, flow: &'a Flow, begin: Ends<'a>) {
        let span = flow.span;
        let agent = Element::Agent(self.agent);
        if let Some(entry) = flow.entry() {
            let named = flow.entry_point.as_ref().or_else(|| flow.steps.first());
            let to = match (self.steps.get(entry), named) {
                (Some(node), _) => Some(*node),
                (None, Some(name)) => Some(self.step_node(name)),
                (None, None) => None,
            };
            let begin = begin.clone();
            if let Some(to) = to {
                self.lead(begin, to, Why::Start, agent, span);
            }
        }
        for profile in self.profiles.clone() {
            if let Some(name) = &profile.flow_replace
                && let Some(to) = self.steps.get(name.value.as_str()).copied()
            {
                let guard = self.and_if(Guard::ALWAYS, profile.when.as_ref(), true);
                for open in &begin {
                    let edge = profile_edge(profile, guard, name.span);
                    self.edge(open.from, to, edge);
                }
            }
        }
        let end = self.node(NodeKind::FlowEnd, agent, span);
        self.places.flow_end = Some(end);
        let turn_end = self.places.turn_end;
        self.edge(end, turn_end, Edge::of(Why::Turn).by(agent, span));
        let next = order(flow);
        let changes = self.changes();
        let after = |builder: &Self, name: &str| {
            next.get(name).and_then(|n| builder.steps.get(n.as_str()).copied()).unwrap_or(end)
        };
        for step in flow.definitions.values() {
            let Some(at) = self.steps.get(step.name.value.as_str()).copied() else { continue };
            let behind = after(self, &step.name.value);
            self.step(step, vec![Self::after(at)], at, behind);
            for (profile, change) in changes.get(step.name.value.as_str()).into_iter().flatten() {
                self.change(profile, change, at, behind);
            }
        }
        // Of two steps with one name only the last counts; but which one was meant nobody knows.
        for step in &flow.shadowed {
            let Some(at) = self.steps.get(step.name.value.as_str()).copied() else { continue };
            let behind = after(self, &step.name.value);
            let edge = Edge::of(Why::Shadowed).by(Element::Step(step), step.name.span);
            self.step(step, vec![Open { from: at, edge }], at, behind);
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
                add(name, Change::Instead(step));
            }
            for insertion in &changes.insertions {
                let (at, step) = (&insertion.target_step, &insertion.step);
                let change = match insertion.position {
                    "before" => Change::Before(step, at.span),
                    _ => Change::After(step, at.span),
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
        behind: NodeIndex,
    ) {
        let guard = self.and_if(Guard::ALWAYS, profile.when.as_ref(), true);
        let edge = |span| profile_edge(profile, guard, span);
        match change {
            Change::Skip(span) => self.edge(at, behind, edge(*span)),
            Change::Instead(step) => {
                let start = vec![Open { from: at, edge: edge(step.name.span) }];
                self.step(step, start, at, behind);
            }
            Change::Before(step, span) | Change::After(step, span) => {
                let Some(named) = self.steps.get(step.name.value.as_str()).copied() else { return };
                // `insert_before: <step>: <new step>` names the step before which it stands.
                let new = if named == at {
                    self.step = Some(step);
                    self.node(NodeKind::Step, Element::Step(step), step.name.span)
                } else {
                    named
                };
                // It comes once before the step or once behind it, it does not go round.
                self.edge(at, new, edge(*span).at_most(Some(1)));
                let behind = if matches!(change, Change::Before(..)) { at } else { behind };
                self.step(step, vec![Self::after(new)], new, behind);
            }
        }
    }

    /// A step: what it does in its order, then what may interrupt it. `at` is where it begins,
    /// `behind` what follows it where it does not say.
    fn step(&mut self, step: &'a Step, start: Ends<'a>, at: NodeIndex, behind: NodeIndex) {
        let element = Element::Step(step);
        let name = step.name.span;
        self.step = Some(step);
        self.waits.clear();
        self.fallible.clear();
        self.resume = self.places.resume;
        let limit = step.max_attempts.and_then(whole);
        self.retry = (at, limit);
        let mut ends: Ends<'a> =
            start.into_iter().map(|o| Open { edge: o.edge.at_most(limit), ..o }).collect();
        if let Some(when) = &step.when {
            let (applies, not) = (
                self.and_if(Guard::ALWAYS, Some(when), true),
                self.and_if(Guard::ALWAYS, Some(when), false),
            );
            let skip = Edge::of(Why::Skip).decided(decider(when)).guarded(not);
            self.edge(at, behind, skip.by(element, when.span()));
            for open in &mut ends {
                open.edge = open.edge.decided(decider(when)).guarded(applies);
            }
        }
        if let Some(jump) = &step.on_exhausted {
            let edge = Edge::of(Why::Exhausted).decided(DecidedBy::Outcome).by(element, jump.span);
            let left = self.jump(jump, vec![Open { from: at, edge }]);
            self.lead(left, behind, Why::Exhausted, element, jump.span);
        }
        for data in step.await_attachment.iter().chain(&step.human_approval) {
            ends = self.then(ends, NodeKind::Await, Element::Data(&data.value), data.span);
            self.named_in(&ends.clone(), &data.value, data.span);
        }
        // What is kept as data may name steps too.
        for extension in step.extensions.0.values().flat_map(|all| all.values()) {
            let named = Edge::of(Why::Named).decided(DecidedBy::Outcome);
            self.named_in(&[Open { from: at, edge: named }], &extension.value, step.span);
        }
        // Where the model leads, it does so once all is said and asked (§3.14: respond, gather, call,
        // check, result, input, then).
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
        ends = self.statements(rest, ends);
        self.lead(ends, behind, Why::Sequence, element, name);
        self.step_errors(step, at);
        self.interrupts_of_step(step, at);
        self.step = None;
        self.resume = self.places.resume;
        self.retry = (self.places.resume, None);
    }

    /// What the user may do at the places where the step waits; at any place of one that never does.
    fn interrupts_of_step(&mut self, step: &'a Step, at: NodeIndex) {
        let element = Element::Step(step);
        let mut from = std::mem::take(&mut self.waits);
        if from.is_empty() {
            from.push(at);
        }
        let turn_end = self.places.turn_end;
        let turn = Edge::of(Why::Turn).decided(DecidedBy::User).by(element, step.name.span);
        for wait in &from {
            self.edge(*wait, turn_end, turn);
        }
        let digressions = step.digressions.iter().chain(&step.sub_intents);
        if digressions.clone().next().is_none() && step.on_action.is_empty() {
            return;
        }
        let hub = self.node(NodeKind::Interrupt, element, step.name.span);
        let edge = Edge::of(Why::Digression).decided(DecidedBy::User).by(element, step.name.span);
        for wait in from {
            self.edge(wait, hub, edge);
        }
        self.resume = at;
        for digression in digressions {
            self.digression(digression, hub, at);
        }
        for handler in &step.on_action {
            self.action(handler, hub, at);
        }
        self.resume = self.places.resume;
        // What is done meanwhile is no place where the step waits.
        self.waits.clear();
    }

    pub(super) fn digression(
        &mut self,
        digression: &'a Digression,
        hub: NodeIndex,
        back: NodeIndex,
    ) {
        let element = Element::Digression(digression);
        let guard = self.and_if(Guard::ALWAYS, digression.condition.as_ref(), true);
        let edge = Edge::of(Why::Digression)
            .decided(DecidedBy::User)
            .guarded(guard)
            .by(element, digression.span);
        self.digressing = true;
        let ends = self.body(&digression.body, vec![Open { from: hub, edge }]);
        self.digressing = false;
        self.lead(ends, back, Why::Return, element, digression.span);
    }

    pub(super) fn action(&mut self, handler: &'a ActionHandler, hub: NodeIndex, back: NodeIndex) {
        let element = Element::Action(handler);
        let guard = self.and_if(Guard::ALWAYS, handler.condition.as_ref(), true);
        let edge =
            Edge::of(Why::Action).decided(DecidedBy::User).guarded(guard).by(element, handler.span);
        let ends = self.body(&handler.body, vec![Open { from: hub, edge }]);
        self.lead(ends, back, Why::Return, element, handler.span);
    }

    /// The step's own error handlers, then the agent's.
    fn step_errors(&mut self, step: &'a Step, at: NodeIndex) {
        let mut from = std::mem::take(&mut self.fallible);
        let element = Element::Step(step);
        let edge = Edge::of(Why::Error).decided(DecidedBy::Outcome).by(element, step.name.span);
        if step.on_error.is_empty() {
            if let Some(errors) = self.places.errors {
                let edge = Edge { why: Why::Unhandled, ..edge };
                from.into_iter().for_each(|node| self.edge(node, errors, edge));
            }
            return;
        }
        if from.is_empty() {
            from.push(at);
        }
        let hub = self.node(NodeKind::Error, element, step.name.span);
        from.into_iter().for_each(|node| self.edge(node, hub, edge));
        self.resume = at;
        for handler in &step.on_error {
            self.handler(handler, hub);
        }
        self.resume = self.places.resume;
        if let Some(errors) = self.places.errors {
            self.edge(hub, errors, Edge { why: Why::Unhandled, ..edge });
        }
    }

    pub(super) fn handler(&mut self, handler: &'a ErrorHandler, hub: NodeIndex) {
        let (element, span) = (Element::Handler(handler), handler.span);
        let edge = Edge::of(Why::Error).decided(DecidedBy::Outcome).by(element, span);
        let mut ends = vec![Open { from: hub, edge }];
        if handler.respond.is_some() {
            ends = self.then(ends, NodeKind::Say, element, span);
        }
        ends = self.body(&handler.body, ends);
        if let Some(NumberOrText::Number(times)) = &handler.retry
            && let Some(times) = whole(*times).filter(|times| *times > 0)
        {
            let (to, _) = self.retry;
            for open in ends.clone() {
                let again = Edge { why: Why::Retry, by: element, span, ..open.edge };
                self.edge(open.from, to, again.at_most(Some(times)));
            }
        }
        if let Some(to) = &handler.handoff_target {
            let node = self.node(NodeKind::Handoff, element, to.span);
            self.attach(ends.clone(), node);
            self.transfer(node, to, None);
        }
        if let Some(step) = &handler.backtrack_to {
            let to = self.step_node(step);
            self.lead(ends.clone(), to, Why::Jump, element, step.span);
        }
        // `THEN: HANDOFF` and `THEN: BACKTRACK` say where to in these fields.
        match &handler.then {
            Some(jump)
                if matches!(jump.target, Target::Handoff(None))
                    && handler.handoff_target.is_some()
                    || matches!(jump.target, Target::Backtrack(None))
                        && handler.backtrack_to.is_some() => {}
            Some(jump) => {
                let left = self.jump(jump, ends);
                self.lead(left, self.resume, Why::Return, element, span);
            }
            None => self.lead(ends, self.resume, Why::Return, element, span),
        }
    }

    /// Edges to the steps that free-form data names.
    fn named_in(&mut self, from: &[Open<'a>], data: &'a Data, span: Span) {
        let mut all = vec![data];
        while let Some(data) = all.pop() {
            match data {
                Data::String(text) => {
                    let text = text.strip_prefix("GOTO ").unwrap_or(text).trim();
                    let to = if matches!(text, "COMPLETE" | "ESCALATE") {
                        self.node(NodeKind::Unknown, Element::Data(data), span)
                    } else if let Some(to) =
                        self.steps.get(text).filter(|_| self.defined.contains(text))
                    {
                        *to
                    } else {
                        continue;
                    };
                    for open in from {
                        let edge =
                            Edge { why: Why::Named, by: Element::Data(data), span, ..open.edge };
                        self.edge(open.from, to, edge.decided(DecidedBy::Outcome));
                    }
                }
                Data::Array(inner) => all.extend(inner),
                Data::Object(inner) => all.extend(inner.values()),
                _ => {}
            }
        }
    }

    /// An edge to the step that `name` is the name of, if there is one.
    pub(super) fn lead_to_named_step(
        &mut self,
        ends: &Ends<'a>,
        name: &'a Spanned<SmolStr>,
        by: Element<'a>,
    ) -> bool {
        if !self.defined.contains(name.value.as_str()) {
            return false;
        }
        let Some(to) = self.steps.get(name.value.as_str()).copied() else { return false };
        self.lead(ends.clone(), to, Why::Jump, by, name.span);
        true
    }
}

fn profile_edge<'a>(profile: &'a Profile, guard: Guard, span: Span) -> Edge<'a> {
    let decided = profile.when.as_ref().map_or(DecidedBy::Nobody, decider);
    Edge::of(Why::Profile).decided(decided).guarded(guard).by(Element::Profile(profile), span)
}

/// A count as authors write it.
pub(super) fn whole(number: agentir_ir::Number) -> Option<u32> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be in range"
    )]
    (number.0 >= 0.0 && number.0 <= f64::from(u32::MAX)).then_some(number.0 as u32)
}

/// The step behind each step: in the order of the arrows if it is in it, else in the order in which
/// the steps are declared.
fn order(flow: &Flow) -> FxHashMap<SmolStr, SmolStr> {
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
