//! The steps of a flow as a graph.

use crate::body::{Exit, exits, falls_through};
use agentir_diagnostics::Span;
use agentir_ir::{Agent, Body, Flow, Jump, Profile, Step, Target};
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
}

impl FlowGraph {
    /// The graph of an agent's flow. `profiles` may change it, so their changes are edges too.
    #[must_use]
    pub fn new(agent: &Agent, flow: &Flow, profiles: &[&Profile]) -> Self {
        let mut graph = DiGraph::new();
        let start = graph.add_node(Place::Start);
        let mut this = Self { graph, nodes: FxHashMap::default(), start };
        this.nodes.insert(Place::Start, start);
        for name in flow.definitions.keys() {
            this.node(Place::Step(name.clone()));
        }
        if let Some(entry) = flow.entry() {
            let entry = this.node(Place::Step(SmolStr::new(entry)));
            this.edge(start, entry, EdgeKind::Sequence, flow.span);
        }
        for step in flow.definitions.values() {
            this.step(flow, step);
        }
        this.outside(agent, flow);
        for profile in profiles {
            this.profile(flow, profile);
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
            Target::Handoff(Some(agent)) | Target::Delegate(Some(agent)) => Place::Agent(agent.value.clone()),
            Target::Escalate => Place::Human,
            _ => return,
        };
        let to = self.node(place);
        self.edge(from, to, kind, jump.span);
    }

    fn body(&mut self, from: NodeIndex, body: &Body, kind: EdgeKind) {
        exits(body, &mut |exit| match exit {
            Exit::Jump(jump) => self.jump(from, jump, kind),
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

    fn step(&mut self, flow: &Flow, step: &Step) {
        let from = self.node(Place::Step(step.name.value.clone()));
        self.body(from, &step.body, EdgeKind::Then);
        if falls_through(&step.body) {
            let place = next(flow, &step.name.value).map_or(Place::End, Place::Step);
            let to = self.node(place);
            self.edge(from, to, EdgeKind::Sequence, step.name.span);
        }
        for digression in step.digressions.iter().chain(&step.sub_intents).chain(&flow.global_digressions) {
            self.body(from, &digression.body, EdgeKind::Digression);
        }
        for handler in &step.on_action {
            self.body(from, &handler.body, EdgeKind::Action);
        }
        for handler in &step.on_error {
            self.handler(from, handler);
        }
        for constraint in step.reasoning_zone.iter().flat_map(|z| &z.constraints) {
            for jump in constraint.on_fail.iter().flat_map(|f| f.then_step.iter().chain(&f.then_action)) {
                self.jump(from, jump, EdgeKind::Failure);
            }
        }
        if let Some(jump) = &step.on_exhausted {
            self.jump(from, jump, EdgeKind::Failure);
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
        let from = self.start;
        for constraint in &agent.constraints.constraints {
            for jump in constraint.on_fail.iter().flat_map(|f| f.then_step.iter().chain(&f.then_action)) {
                self.jump(from, jump, EdgeKind::Outside);
            }
        }
        let errors = &agent.error_handling;
        for handler in errors.handlers.iter().chain(errors.default_handler.as_deref()) {
            self.handler(from, handler);
        }
        for handler in &agent.action_handlers {
            self.body(from, &handler.body, EdgeKind::Outside);
        }
        self.body(from, &agent.on_start, EdgeKind::Outside);
        for (_, hook) in agent.hooks.iter() {
            self.body(from, &hook.body, EdgeKind::Outside);
        }
        // `ON_RETURN` may name the step to go on with.
        for on_return in agent.coordination.handoffs.iter().filter_map(|h| h.on_return.as_ref()) {
            for name in on_return.action.iter().chain(&on_return.handler).chain(&on_return.resume_with) {
                if flow.definitions.contains_key(&name.value) {
                    let to = self.node(Place::Step(name.value.clone()));
                    self.edge(from, to, EdgeKind::Outside, name.span);
                }
            }
        }
        for digression in &flow.global_digressions {
            self.body(from, &digression.body, EdgeKind::Digression);
        }
    }

    fn profile(&mut self, flow: &Flow, profile: &Profile) {
        let Some(changes) = &profile.flow_modifications else { return };
        for step in changes.overrides.values() {
            self.step(flow, step);
        }
        for insertion in &changes.insertions {
            let at = self.node(Place::Step(insertion.target_step.value.clone()));
            let new = self.node(Place::Step(insertion.step.name.value.clone()));
            self.edge(at, new, EdgeKind::Profile, insertion.target_step.span);
            self.step(flow, &insertion.step);
            self.edge(new, at, EdgeKind::Profile, insertion.target_step.span);
        }
        // A step that is skipped goes straight on.
        for name in &changes.skip {
            if let Some(after) = next(flow, &name.value) {
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

    /// The steps from which the flow can end: by completing, by handing over, or by running out.
    #[must_use]
    pub fn finishing(&self) -> FxHashSet<SmolStr> {
        let reversed = Reversed(&self.graph);
        let mut found = FxHashSet::default();
        for (place, node) in &self.nodes {
            if matches!(place, Place::Start | Place::Step(_)) {
                continue;
            }
            let mut dfs = Dfs::new(reversed, *node);
            while let Some(node) = dfs.next(reversed) {
                if let Some(Place::Step(name)) = self.graph.node_weight(node) {
                    found.insert(name.clone());
                }
            }
        }
        found
    }

    /// What can follow a step, with the reasons.
    pub fn successors<'a>(&'a self, step: &str) -> impl Iterator<Item = (&'a Place, &'a Edge)> {
        let node = self.nodes.get(&Place::Step(SmolStr::new(step))).copied();
        node.into_iter()
            .flat_map(|n| self.graph.edges_directed(n, Direction::Outgoing))
            .filter_map(|e| Some((self.graph.node_weight(e.target())?, e.weight())))
    }
}

/// The step behind `name`: in the order of the arrows if it is in it, else in the order in which the
/// steps are declared.
fn next(flow: &Flow, name: &str) -> Option<SmolStr> {
    let order = if flow.sequence.iter().any(|s| s.value == name) { &flow.sequence } else { &flow.steps };
    let at = order.iter().position(|s| s.value == name)?;
    order.get(at + 1).map(|s| s.value.clone())
}
