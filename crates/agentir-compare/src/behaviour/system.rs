//! Labelled transition systems, whose transitions are the next observable actions, each under a
//! guard. Internal nodes of the control-flow graphs (τ-moves) are eliminated: a state is a program
//! point after an action.

use super::guards::{AtomOccurrences, Atoms, Guard, Guards};
use super::labels::{Label, events, label, tool_of};
use super::pairs::{Pairs, PointPair};
use crate::location::AnnouncedLosses;
use crate::prover::Condition;
use crate::text::normalized_json;
use agentir_diagnostics::Span;
use agentir_flow::cfg::{self, AgentId, Cfg, Edge, EdgeKind, Transfer};
use agentir_ir::{Statement, Tool};
use agentir_ir_json::shared_expression;
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The maximal number of guard propagations and moves while systems are built: the nodes that are visited, the edges that
/// are followed, and the moves that are made. Where agents hand over to all others and get control back, they grow with the
/// third power of the agents.
const MAX_WORK: usize = 2_000_000;

/// The graph of one program, with the correspondence of its agents.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) cfg: &'a Cfg<'a>,
    program: &'a agentir_ir::Program,
    pub(super) pairs: &'a Pairs<'a>,
    /// Maps its variables to their names in the first program.
    names: &'a AnnouncedLosses,
    transfers: FxHashMap<NodeIndex, &'a Transfer<'a>>,
    /// The routing nodes of agents without a flow.
    routes: FxHashMap<AgentId, NodeIndex>,
}

impl<'a> Program<'a> {
    pub(super) fn new(
        (program, cfg): (&'a agentir_ir::Program, &'a Cfg<'a>),
        pairs: &'a Pairs<'a>,
        names: &'a AnnouncedLosses,
    ) -> Self {
        let transfers = cfg.transfers().iter().map(|t| (t.node, t)).collect();
        let mut routes = FxHashMap::default();
        for part in cfg.agents().iter().filter(|part| part.agent.flow.is_none()) {
            for at in part.nodes() {
                if let Some(node) = cfg.node(at).filter(|n| n.kind == cfg::NodeKind::Route) {
                    routes.insert(node.agent, at);
                }
            }
        }
        Self { cfg, program, pairs, names, transfers, routes }
    }

    pub(super) fn label(&self, node: NodeIndex) -> Option<Label> {
        let transfer = self.transfers.get(&node).copied();
        let node = self.cfg.node(node)?;
        let mut label = label(node, transfer, self.pairs)?;
        if self.passes_nothing(node) {
            label.key.push_str(" without arguments");
            label.text.push_str(" without arguments");
        }
        if let Some(tool) = self.called(node) {
            let (sets, corrects) = (&tool.on_result, &tool.on_error);
            for (when, sets) in [(" and then sets", sets), (" and after a failure sets", corrects)]
            {
                if !sets.is_empty() {
                    label.key.push_str(when);
                    label.key.push_str(&normalized_json(sets));
                    label.text.push_str(when);
                    let all = sets.iter().map(|set| {
                        format!(" `{} = {}`", set.target, shared_expression(&set.value))
                    });
                    label.text.push_str(&all.collect::<Vec<_>>().join(","));
                }
            }
        }
        let is_template = matches!(node.kind, cfg::NodeKind::Say | cfg::NodeKind::Instruct);
        Some(Label { key: self.names.with_first_names(label.key, is_template), ..label })
    }

    /// The declaration of the tool that a node calls: that of its agent, else that of a library.
    pub(super) fn called(&self, node: &cfg::Node<'_>) -> Option<&'a Tool> {
        if node.kind != cfg::NodeKind::Call {
            return None;
        }
        let name = tool_of(node)?;
        let own = self.cfg.agent(node.agent).map(|part| &part.agent.tools);
        let shared = self.program.libraries.iter().map(|library| &library.tools);
        own.into_iter().chain(shared).flatten().find(|tool| tool.name.value == name.value)
    }

    /// Whether a call says that it passes nothing to a tool that has parameters. A call that says nothing passes the
    /// variables named like them.
    fn passes_nothing(&self, node: &cfg::Node<'_>) -> bool {
        let cfg::Origin::Statement(Statement::Call(call)) = node.origin else { return false };
        let agents = self.cfg.agents().iter();
        let mut tools = agents.flat_map(|part| &part.agent.tools);
        node.kind == cfg::NodeKind::Call
            && call.has_arguments
            && call.with.is_empty()
            && tools.any(|tool| tool.name.value == call.tool.value && !tool.parameters.is_empty())
    }

    /// Whether the transition system follows an edge: into internal agents, but not into those that
    /// are compared themselves.
    fn follows(&self, from: NodeIndex, edge: &Edge<'_>) -> bool {
        let inner = |agent: AgentId| self.pairs.is_inner(agent);
        let to = self.transfers.get(&from).and_then(|t| t.target);
        match (edge.kind, to) {
            // A step that never waits is left by its actions, not by user input.
            (EdgeKind::Turn, None) => {
                self.cfg.node(from).is_none_or(|node| node.kind != cfg::NodeKind::Step)
            }
            (EdgeKind::Enter, to) => to.is_some_and(inner),
            // A call of an internal agent returns at that agent's exit.
            (EdgeKind::Return, Some(to)) => !inner(to),
            (EdgeKind::Return, None) => match self.cfg.node(from) {
                Some(node) if node.kind == cfg::NodeKind::Exit => inner(node.agent),
                _ => true,
            },
            _ => true,
        }
    }

    /// The spans of the edges of a shortest path of τ-moves between two nodes.
    pub(super) fn internal_path(&self, from: NodeIndex, to: NodeIndex) -> Vec<Span> {
        let mut predecessors: FxHashMap<NodeIndex, (NodeIndex, Span)> = FxHashMap::default();
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            let successors = self.cfg.successors(node).filter(|(_, edge)| self.follows(node, edge));
            for (next, edge) in successors {
                if predecessors.contains_key(&next) {
                    continue;
                }
                predecessors.insert(next, (node, edge.span));
                if next == to {
                    let mut path = Vec::new();
                    let mut at = to;
                    while let Some((before, span)) = predecessors.get(&at).copied() {
                        path.push(span);
                        at = before;
                        if at == from {
                            break;
                        }
                    }
                    return path;
                }
                if self.label(next).is_none() {
                    open.push_back(next);
                }
            }
        }
        Vec::new()
    }

    /// The initial values of its variables.
    fn initial(&self) -> Vec<(String, String)> {
        let agents = self.cfg.agents().iter().map(|part| part.agent);
        let variables = agents.flat_map(|agent| &agent.memory.session);
        variables
            .filter_map(|v| {
                Some((v.name.value.to_string(), normalized_json(v.initial_value.as_ref()?)))
            })
            .collect()
    }

    /// Whether a node sets a variable to its initial value.
    fn sets_initial(&self, node: NodeIndex, initial: &FxHashSet<(String, String)>) -> bool {
        let Some(cfg::Origin::Statement(Statement::Set(set))) =
            self.cfg.node(node).map(|n| n.origin)
        else {
            return false;
        };
        initial.contains(&(set.target.root.value.to_string(), set.value.to_string()))
            && set.target.segments.is_empty()
    }

    /// The occurrences of all conditions and events.
    pub(super) fn atom_occurrences(&self) -> AtomOccurrences {
        let mut all = AtomOccurrences::default();
        let mut seen: FxHashSet<(cfg::Guard, AgentId)> = FxHashSet::default();
        let graph = self.cfg.graph();
        for edge in graph.edge_indices() {
            let Some((from, _, edge)) = self.cfg.edge(edge) else { continue };
            let Some(node) = self.cfg.node(from) else { continue };
            let events = events(node, edge).into_iter().map(|(event, _)| (event, edge.span));
            all.events.extend(events);
            let Some(part) = self.cfg.agent(node.agent) else { continue };
            let mut at = edge.guard;
            while !at.is_always() && seen.insert((at, node.agent)) {
                if let Some(literal) = self.cfg.last_literal(at) {
                    let condition = Condition::new(literal.test, part.agent, self.names);
                    let condition = (condition, part.agent.metadata.name.value.clone());
                    all.conditions.push((condition, literal.test.span()));
                }
                at = self.cfg.guard_prefix(at);
            }
        }
        all
    }
}

/// A transition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    pub(super) guard: Guard,
    /// The index of the label.
    pub(super) label: u32,
    /// The target state.
    pub(super) to: u32,
    /// The node of the action.
    pub(super) node: NodeIndex,
}

/// The disjoint union of the transition systems of two programs.
#[derive(Debug, Default)]
pub(super) struct System {
    /// The moves of each state.
    pub(super) moves: Vec<Vec<Move>>,
    /// The side of each state.
    pub(super) side: Vec<usize>,
    /// The node at or after which each state is; none for the end.
    pub(super) node: Vec<Option<NodeIndex>>,
    /// The text of the labels.
    pub(super) labels: Vec<String>,
    /// The states of the common program points, in their order.
    pub(super) points: Vec<[u32; 2]>,
}

pub(super) struct Builder<'b, 'a> {
    pub(super) programs: [&'b Program<'a>; 2],
    pub(super) atoms: &'b Atoms,
    pub(super) guards: &'b mut Guards,
    pub(super) work: usize,
    /// The initial values of variables in either program.
    initial: FxHashSet<(String, String)>,
    /// The guards that were already translated.
    translated: [FxHashMap<(cfg::Guard, AgentId, bool), Guard>; 2],
    /// The labels of nodes, at the beginning of a conversation or later; many states reach the same nodes.
    labels: [FxHashMap<(NodeIndex, bool), Option<Known>>; 2],
    /// The side and the node at which a limit was exceeded.
    pub(super) stopped: Option<(usize, NodeIndex)>,
}

/// A label, and its number once a move has it.
struct Known {
    label: Label,
    number: Option<u32>,
}

/// The system under construction, with its worklist.
struct Building {
    system: System,
    /// The states after nodes, by side.
    after: [FxHashMap<NodeIndex, u32>; 2],
    numbers: FxHashMap<String, u32>,
    open: VecDeque<(usize, NodeIndex, u32)>,
    /// The end states.
    end: [Option<u32>; 2],
}

impl Building {
    fn state(&mut self, side: usize, node: Option<NodeIndex>) -> u32 {
        self.system.moves.push(Vec::new());
        self.system.side.push(side);
        self.system.node.push(node);
        u32::try_from(self.system.moves.len() - 1).unwrap_or(u32::MAX)
    }

    fn label(&mut self, label: Label) -> u32 {
        let Self { numbers, system, .. } = self;
        let next = u32::try_from(system.labels.len()).unwrap_or(u32::MAX);
        *numbers.entry(label.key).or_insert_with(|| {
            system.labels.push(label.text);
            next
        })
    }
}

impl<'b, 'a> Builder<'b, 'a> {
    pub(super) fn new(
        programs: [&'b Program<'a>; 2],
        atoms: &'b Atoms,
        guards: &'b mut Guards,
    ) -> Self {
        let translated = [FxHashMap::default(), FxHashMap::default()];
        let initial = programs.iter().flat_map(|p| p.initial()).collect();
        Self {
            programs,
            atoms,
            guards,
            work: 0,
            translated,
            initial,
            labels: [FxHashMap::default(), FxHashMap::default()],
            stopped: None,
        }
    }

    /// The systems of both programs. With `stops`, a jump to a common program point is an observable
    /// action without successors, which isolates each difference. None if that exceeds [`MAX_WORK`].
    pub(super) fn build(&mut self, points: &[PointPair], stops: bool) -> Option<System> {
        let mut building = Building {
            system: System::default(),
            after: [FxHashMap::default(), FxHashMap::default()],
            numbers: FxHashMap::default(),
            open: VecDeque::new(),
            end: [None, None],
        };
        let mut stopping = [FxHashMap::default(), FxHashMap::default()];
        if stops {
            for (number, point) in points.iter().enumerate() {
                for (stopping, at) in stopping.iter_mut().zip(point.at) {
                    stopping.insert(at, number);
                }
            }
        }
        for point in points {
            let mut states = [0, 0];
            for (side, at) in point.at.into_iter().enumerate() {
                let state = building.state(side, Some(at));
                if let Some(slot) = states.get_mut(side) {
                    *slot = state;
                }
                let first = point.first;
                let mut reach = Reach { origin: Some(at), first, ..Reach::default() };
                reach.arrive(self.guards, at, Guard::ALWAYS);
                self.moves(&mut building, (side, state), reach, &stopping)?;
            }
            building.system.points.push(states);
        }
        while let Some((side, node, state)) = building.open.pop_front() {
            let mut reach = Reach::default();
            for (to, guard) in self.successors(side, node) {
                reach.arrive(self.guards, to, guard);
            }
            self.moves(&mut building, (side, state), reach, &stopping)?;
        }
        if self.guards.too_large { None } else { Some(building.system) }
    }

    /// The successors of a node, each with its guard.
    fn successors(&mut self, side: usize, node: NodeIndex) -> Vec<(NodeIndex, Guard)> {
        let Some(program) = self.programs.get(side).copied() else { return Vec::new() };
        let Some(from) = program.cfg.node(node) else { return Vec::new() };
        let mut all = Vec::new();
        for (to, edge) in program.cfg.successors(node) {
            if !program.follows(node, edge) {
                continue;
            }
            let mut guard = self.guard(side, edge.guard, from.agent, chooses(from));
            for (event, happens) in events(from, edge) {
                let event = self.guards.event(self.atoms, &event, happens);
                guard = self.guards.and(guard, event);
            }
            all.push((to, guard));
        }
        // Where the model is in control it may hand over at any choice, whether the handoff is
        // declared as a tool or separately.
        if from.kind == cfg::NodeKind::Choose
            && let Some(route) = program.routes.get(&from.agent)
        {
            all.push((*route, Guard::ALWAYS));
        }
        all
    }

    /// Translates a guard of the graph. Where the model chooses among tools and agents, natural
    /// language only describes the choice, and some languages do not write it as a guard: with
    /// `open_words` such conditions are unconstrained.
    fn guard(&mut self, side: usize, guard: cfg::Guard, agent: AgentId, open_words: bool) -> Guard {
        let Some(program) = self.programs.get(side).copied() else { return Guard::ALWAYS };
        // From the front, because guards share prefixes.
        let mut open = Vec::new();
        let mut at = guard;
        let mut result = Guard::ALWAYS;
        while !at.is_always() {
            if let Some(found) =
                self.translated.get(side).and_then(|m| m.get(&(at, agent, open_words)))
            {
                result = *found;
                break;
            }
            open.push(at);
            at = program.cfg.guard_prefix(at);
        }
        for at in open.into_iter().rev() {
            if let (Some(literal), Some(part)) =
                (program.cfg.last_literal(at), program.cfg.agent(agent))
            {
                let condition = Condition::new(literal.test, part.agent, program.names);
                if !(open_words && matches!(condition, Condition::Words(_))) {
                    let literal = self.guards.condition(self.atoms, &condition, literal.holds);
                    result = self.guards.and(result, literal);
                }
            }
            if let Some(all) = self.translated.get_mut(side) {
                all.insert((at, agent, open_words), result);
            }
        }
        result
    }

    /// Adds the moves of a state. The guard of each node that is reached by τ-moves is the
    /// disjunction over all paths, which a worklist computes.
    fn moves(
        &mut self,
        building: &mut Building,
        (side, state): (usize, u32),
        mut reach: Reach,
        stopping: &[FxHashMap<NodeIndex, usize>; 2],
    ) -> Option<()> {
        let program = self.programs.get(side).copied()?;
        let stopping = stopping.get(side)?;
        let first = reach.first;
        while let Some(node) = reach.open.pop_front() {
            self.work += 1;
            if self.work > MAX_WORK || self.guards.too_large {
                self.stopped = Some((side, node));
                return None;
            }
            let initial = &self.initial;
            let known = self.labels.get_mut(side)?.entry((node, first)).or_insert_with(|| {
                let initial = first && program.sets_initial(node, initial);
                let label = if initial { None } else { program.label(node) };
                label.map(|label| Known { label, number: None })
            });
            let observable = known.is_some();
            let stops = stopping.contains_key(&node) && reach.origin != Some(node);
            if observable || stops {
                continue;
            }
            let here = reach.guards.get(&node).copied().unwrap_or(Guard::NEVER);
            for (to, guard) in self.successors(side, node) {
                self.work += 1;
                let guard = self.guards.and(here, guard);
                // The origin may be reached again.
                if reach.origin == Some(to) {
                    reach.again = self.guards.or(reach.again, guard);
                }
                reach.arrive(self.guards, to, guard);
            }
        }
        let own = reach.origin;
        let again = reach.again;
        self.work += reach.order.len();
        for node in reach.order {
            let point = stopping.get(&node);
            let guard = match point {
                Some(_) if own == Some(node) => again,
                _ => reach.guards.get(&node).copied().unwrap_or(Guard::NEVER),
            };
            if guard == Guard::NEVER {
                continue;
            }
            let known = self.labels.get_mut(side)?.get_mut(&(node, first)).and_then(Option::as_mut);
            let (label, to) = match (point, known) {
                (Some(point), _) => {
                    let key = format!("point {point}");
                    (building.label(Label { text: key.clone(), key }), building.end(side))
                }
                (None, Some(Known { label, number })) => {
                    let number = *number.get_or_insert_with(|| building.label(label.clone()));
                    (number, building.state_after(side, node))
                }
                (None, None) => continue,
            };
            if let Some(moves) = building.system.moves.get_mut(state as usize) {
                moves.push(Move { guard, label, to, node });
            }
        }
        Some(())
    }
}

/// Whether the model chooses at a node among agents, tools and human agents.
const fn chooses(node: &cfg::Node<'_>) -> bool {
    matches!(node.kind, cfg::NodeKind::Route | cfg::NodeKind::Choose)
        || matches!(node.origin, cfg::Origin::Trigger(_))
}

/// The nodes that are reached by τ-moves, in order of discovery, with their guards.
#[derive(Debug, Default)]
struct Reach {
    /// The common program point at which it begins, if any.
    origin: Option<NodeIndex>,
    /// Whether a conversation begins there.
    first: bool,
    /// The guard under which the origin is reached again.
    again: Guard,
    guards: FxHashMap<NodeIndex, Guard>,
    order: Vec<NodeIndex>,
    open: VecDeque<NodeIndex>,
}

impl Reach {
    fn arrive(&mut self, guards: &mut Guards, to: NodeIndex, guard: Guard) {
        let before = self.guards.get(&to).copied();
        let after = guards.or(before.unwrap_or(Guard::NEVER), guard);
        if before.is_none() {
            self.order.push(to);
        }
        if before != Some(after) {
            self.guards.insert(to, after);
            self.open.push_back(to);
        }
    }
}

impl Building {
    /// The state after a node.
    fn state_after(&mut self, side: usize, node: NodeIndex) -> u32 {
        if let Some(state) = self.after.get(side).and_then(|after| after.get(&node)) {
            return *state;
        }
        let state = self.state(side, Some(node));
        if let Some(after) = self.after.get_mut(side) {
            after.insert(node, state);
        }
        self.open.push_back((side, node, state));
        state
    }

    /// The end state of a side, which has no moves.
    fn end(&mut self, side: usize) -> u32 {
        if let Some(Some(state)) = self.end.get(side) {
            return *state;
        }
        let state = self.state(side, None);
        if let Some(end) = self.end.get_mut(side) {
            *end = Some(state);
        }
        state
    }
}
