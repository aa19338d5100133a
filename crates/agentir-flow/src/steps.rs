//! The steps of a flow as a graph.

use crate::body::{Exit, exits, falls_through};
use agentir_diagnostics::{Span, Spanned};
use agentir_ir::{Agent, Body, Constraint, Data, Flow, Jump, Profile, Step, Target};
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeRef, Reversed};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// A place in a flow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// Where the flow starts.
    Start,
    /// A step.
    Step(SmolStr),
    /// The agent is done.
    Complete,
    /// Another agent has taken over.
    Agent(SmolStr),
    /// A person has taken over.
    Human,
    /// The last step is over and says nothing: the agent's `COMPLETE` conditions decide.
    End,
    /// Where the flow was before, or where the user wants to go.
    Elsewhere,
    /// In every step: the digressions, buttons and rules of the whole agent.
    Anywhere,
}

/// Why control can go from one place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// `THEN`, in the step itself or in one of its branches.
    Then,
    /// The next step of the order, where a step says nothing.
    Sequence,
    /// A digression, the step's own or the flow's.
    Digression,
    /// A button or another interactive element.
    Action,
    /// Something went wrong: a failed check, call, constraint or an error.
    Failure,
    /// A profile puts the step there.
    Profile,
    /// A handler outside the flow.
    Outside,
}

/// An edge of the graph.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    /// Why.
    pub kind: EdgeKind,
    /// Where it is written.
    pub span: Span,
}

/// The steps of a flow, and what can follow what.
#[derive(Debug)]
pub struct FlowGraph {
    graph: DiGraph<Place, Edge>,
    nodes: FxHashMap<Place, NodeIndex>,
    start: NodeIndex,
    /// The step behind each step, in the order of the flow.
    next: FxHashMap<SmolStr, SmolStr>,
    /// The steps that exist.
    defined: FxHashSet<SmolStr>,
}

impl FlowGraph {
    /// The graph of an agent's flow. `profiles` may change it, so their changes are edges too.
    #[must_use]
    pub fn new(agent: &Agent, flow: &Flow, profiles: &[&Profile]) -> Self {
        let mut graph = DiGraph::new();
        let start = graph.add_node(Place::Start);
        let mut this = Self {
            graph,
            nodes: FxHashMap::default(),
            start,
            next: order(flow),
            defined: flow.definitions.keys().cloned().collect(),
        };
        this.nodes.insert(Place::Start, start);
        for name in flow.definitions.keys() {
            this.node(Place::Step(name.clone()));
        }
        for insertion in profiles
            .iter()
            .filter_map(|p| p.flow_modifications.as_ref())
            .flat_map(|c| &c.insertions)
        {
            this.defined.insert(insertion.step.name.value.clone());
        }
        if let Some(entry) = flow.entry() {
            let entry = this.node(Place::Step(SmolStr::new(entry)));
            this.edge(start, entry, EdgeKind::Sequence, flow.span);
        }
        let anywhere = this.node(Place::Anywhere);
        this.edge(start, anywhere, EdgeKind::Outside, flow.span);
        // Of two steps with one name only the last counts; but which one was meant nobody knows.
        for step in flow.definitions.values().chain(&flow.shadowed) {
            this.step(step, None);
        }
        this.outside(agent, flow);
        for profile in profiles {
            this.profile(profile);
        }
        this
    }

    fn node(&mut self, place: Place) -> NodeIndex {
        if let Some(node) = self.nodes.get(&place) {
            return *node;
        }
        let node = self.graph.add_node(place.clone());
        self.nodes.insert(place, node);
        node
    }

    fn edge(&mut self, from: NodeIndex, to: NodeIndex, kind: EdgeKind, span: Span) {
        self.graph.add_edge(from, to, Edge { kind, span });
    }

    fn jump(&mut self, from: NodeIndex, jump: &Jump, kind: EdgeKind) {
        let place = match &jump.target {
            Target::Step(name) | Target::Backtrack(Some(name)) => Place::Step(name.value.clone()),
            Target::Complete | Target::Fail => Place::Complete,
            Target::Handoff(Some(agent)) | Target::Delegate(Some(agent)) => {
                Place::Agent(agent.value.clone())
            }
            Target::Escalate => Place::Human,
            Target::Handoff(None)
            | Target::Delegate(None)
            | Target::Resume
            | Target::Backtrack(None)
            | Target::AskUser(_) => Place::Elsewhere,
            // The same step again, or nothing at all.
            Target::Continue
            | Target::Retry
            | Target::RetryStep
            | Target::Block
            | Target::Redact => return,
        };
        let to = self.node(place);
        self.edge(from, to, kind, jump.span);
    }

    fn body(&mut self, from: NodeIndex, body: &Body, kind: EdgeKind) {
        exits(body, &mut |exit| match exit {
            Exit::Jump(jump) => self.jump(from, jump, kind),
            // An agent that is asked gives control back, except perhaps out of a digression.
            Exit::Delegate(_) if kind != EdgeKind::Digression => {}
            Exit::Handoff(agent) | Exit::Delegate(agent) => {
                let to = self.node(Place::Agent(agent.value.clone()));
                self.edge(from, to, kind, agent.span);
            }
            Exit::Escalate(span) => {
                let to = self.node(Place::Human);
                self.edge(from, to, kind, span);
            }
        });
    }

    /// A step. `after` is what follows it, where that is not what the order of the flow says.
    fn step(&mut self, step: &Step, after: Option<&SmolStr>) {
        let from = self.node(Place::Step(step.name.value.clone()));
        let anywhere = self.node(Place::Anywhere);
        self.edge(from, anywhere, EdgeKind::Digression, step.name.span);
        self.body(from, &step.body, EdgeKind::Then);
        // A step that does not apply is skipped.
        if step.when.is_some() || falls_through(&step.body) {
            let next = after.or_else(|| self.next.get(&step.name.value)).cloned();
            let to = self.node(next.map_or(Place::End, Place::Step));
            self.edge(from, to, EdgeKind::Sequence, step.name.span);
        }
        for digression in step.digressions.iter().chain(&step.sub_intents) {
            self.body(from, &digression.body, EdgeKind::Digression);
        }
        for handler in &step.on_action {
            self.body(from, &handler.body, EdgeKind::Action);
        }
        for handler in &step.on_error {
            self.handler(from, handler);
        }
        for constraint in step.reasoning_zone.iter().flat_map(|z| &z.constraints) {
            self.constraint(from, constraint, EdgeKind::Failure);
        }
        if let Some(jump) = &step.on_exhausted {
            self.jump(from, jump, EdgeKind::Failure);
        }
        // What is kept as data may name steps too.
        let kept = step.extensions.0.values().flat_map(|all| all.values()).map(|e| &e.value);
        for data in step.await_attachment.iter().chain(&step.human_approval).chain(kept) {
            self.named_in(from, data, step.span);
        }
    }

    fn named_in(&mut self, from: NodeIndex, data: &Data, span: Span) {
        match data {
            Data::String(text) => {
                let text = text.strip_prefix("GOTO ").unwrap_or(text).trim();
                match text {
                    "COMPLETE" | "ESCALATE" => {
                        let to = self.node(Place::Elsewhere);
                        self.edge(from, to, EdgeKind::Then, span);
                    }
                    step if self.defined.contains(step) => {
                        let to = self.node(Place::Step(SmolStr::new(step)));
                        self.edge(from, to, EdgeKind::Then, span);
                    }
                    _ => {}
                }
            }
            Data::Array(all) => all.iter().for_each(|d| self.named_in(from, d, span)),
            Data::Object(all) => all.values().for_each(|d| self.named_in(from, d, span)),
            _ => {}
        }
    }

    fn constraint(&mut self, from: NodeIndex, constraint: &Constraint, kind: EdgeKind) {
        for jump in constraint.on_fail.iter().flat_map(|f| f.then_step.iter().chain(&f.then_action))
        {
            self.jump(from, jump, kind);
        }
    }

    fn handler(&mut self, from: NodeIndex, handler: &agentir_ir::ErrorHandler) {
        self.body(from, &handler.body, EdgeKind::Failure);
        if let Some(jump) = &handler.then {
            self.jump(from, jump, EdgeKind::Failure);
        }
        if let Some(step) = &handler.backtrack_to {
            let to = self.node(Place::Step(step.value.clone()));
            self.edge(from, to, EdgeKind::Failure, step.span);
        }
        if let Some(agent) = &handler.handoff_target {
            let to = self.node(Place::Agent(agent.value.clone()));
            self.edge(from, to, EdgeKind::Failure, agent.span);
        }
    }

    /// What may move the flow from outside its steps, in any step: constraints, error handlers,
    /// buttons, hooks, returns.
    fn outside(&mut self, agent: &Agent, flow: &Flow) {
        let anywhere = self.node(Place::Anywhere);
        for constraint in &agent.constraints.constraints {
            self.constraint(anywhere, constraint, EdgeKind::Outside);
        }
        for handler in &agent.action_handlers {
            self.body(anywhere, &handler.body, EdgeKind::Outside);
        }
        for (_, hook) in agent.hooks.iter() {
            self.body(anywhere, &hook.body, EdgeKind::Outside);
        }
        for digression in &flow.global_digressions {
            self.body(anywhere, &digression.body, EdgeKind::Digression);
        }
        // Only the steps that come before all others: an error is no way for a flow to end, nor are
        // agents and people who come back.
        let start = self.start;
        self.body(start, &agent.on_start, EdgeKind::Outside);
        let errors = &agent.error_handling;
        for handler in errors.handlers.iter().chain(errors.default_handler.as_deref()) {
            self.handler(start, handler);
        }
        let c = &agent.coordination;
        for jump in
            c.escalation.iter().flat_map(|e| &e.on_human_complete).filter_map(|o| o.action.as_ref())
        {
            self.jump(start, jump, EdgeKind::Outside);
        }
        let failures = c.handoffs.iter().filter_map(|h| h.on_failure.as_ref());
        for jump in failures.chain(c.delegates.iter().filter_map(|d| d.on_failure.as_ref())) {
            self.jump(start, jump, EdgeKind::Outside);
        }
        // `ON_RETURN` may name the step to go on with.
        for on_return in c.handoffs.iter().filter_map(|h| h.on_return.as_ref()) {
            for name in
                on_return.action.iter().chain(&on_return.handler).chain(&on_return.resume_with)
            {
                self.names_step(start, name, EdgeKind::Outside);
            }
        }
    }

    /// An edge to the step that `name` is the name of, if there is one.
    fn names_step(&mut self, from: NodeIndex, name: &Spanned<SmolStr>, kind: EdgeKind) {
        if self.defined.contains(&name.value) {
            let to = self.node(Place::Step(name.value.clone()));
            self.edge(from, to, kind, name.span);
        }
    }

    fn profile(&mut self, profile: &Profile) {
        let anywhere = self.node(Place::Anywhere);
        for constraint in &profile.constraints {
            self.constraint(anywhere, constraint, EdgeKind::Profile);
        }
        if let Some(name) = &profile.flow_replace {
            self.names_step(self.start, name, EdgeKind::Profile);
        }
        let Some(changes) = &profile.flow_modifications else { return };
        for step in changes.overrides.values() {
            self.step(step, None);
        }
        for insertion in &changes.insertions {
            let at = &insertion.target_step;
            let from = self.node(Place::Step(at.value.clone()));
            let new = self.node(Place::Step(insertion.step.name.value.clone()));
            self.edge(from, new, EdgeKind::Profile, at.span);
            let after = match insertion.position {
                "before" => Some(at.value.clone()),
                _ => self.next.get(&at.value).cloned(),
            };
            self.step(&insertion.step, after.as_ref());
        }
        // A step that is skipped goes straight on.
        for name in &changes.skip {
            if let Some(after) = self.next.get(&name.value).cloned() {
                let from = self.node(Place::Step(name.value.clone()));
                let to = self.node(Place::Step(after));
                self.edge(from, to, EdgeKind::Profile, name.span);
            }
        }
    }

    /// The steps that control can reach.
    #[must_use]
    pub fn reachable(&self) -> FxHashSet<SmolStr> {
        let mut dfs = Dfs::new(&self.graph, self.start);
        let mut found = FxHashSet::default();
        while let Some(node) = dfs.next(&self.graph) {
            if let Some(Place::Step(name)) = self.graph.node_weight(node) {
                found.insert(name.clone());
            }
        }
        found
    }

    /// The steps from which the flow can end: by completing, by handing over, by running out, or by
    /// going where nobody knows.
    #[must_use]
    pub fn finishing(&self) -> FxHashSet<SmolStr> {
        let reversed = Reversed(&self.graph);
        let mut dfs = Dfs::empty(reversed);
        dfs.stack = self
            .nodes
            .iter()
            .filter(|(place, _)| self.ends(place))
            .map(|(_, node)| *node)
            .collect();
        let mut found = FxHashSet::default();
        while let Some(node) = dfs.next(reversed) {
            if let Some(Place::Step(name)) = self.graph.node_weight(node) {
                found.insert(name.clone());
            }
        }
        found
    }

    /// Whether the flow is over at a place, or may be: nobody knows what a step that does not exist
    /// would do.
    fn ends(&self, place: &Place) -> bool {
        match place {
            Place::Start | Place::Anywhere => false,
            Place::Step(name) => !self.defined.contains(name),
            _ => true,
        }
    }

    /// Whether a step exists, in the flow or in a profile's changes to it.
    #[must_use]
    pub fn is_defined(&self, step: &str) -> bool {
        self.defined.contains(step)
    }

    /// What can come before a step, with the reasons.
    pub fn predecessors<'a>(&'a self, step: &str) -> impl Iterator<Item = (&'a Place, &'a Edge)> {
        let node = self.nodes.get(&Place::Step(SmolStr::new(step))).copied();
        node.into_iter()
            .flat_map(|n| self.graph.edges_directed(n, Direction::Incoming))
            .filter_map(|e| Some((self.graph.node_weight(e.source())?, e.weight())))
    }

    /// What can follow a step, with the reasons.
    pub fn successors<'a>(&'a self, step: &str) -> impl Iterator<Item = (&'a Place, &'a Edge)> {
        let node = self.nodes.get(&Place::Step(SmolStr::new(step))).copied();
        node.into_iter()
            .flat_map(|n| self.graph.edges_directed(n, Direction::Outgoing))
            .filter_map(|e| Some((self.graph.node_weight(e.target())?, e.weight())))
    }
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
