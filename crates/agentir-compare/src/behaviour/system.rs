//! Transition systems: the next observable actions, each under a guard. Internal nodes of the
//! control-flow graphs are eliminated: a state is a program point after an action, its transitions
//! are the next actions.

use super::actions::{Action, action, events};
use super::guards::{Atoms, Guard, Guards, Questions};
use super::pairs::{Both, Pairs};
use crate::place::Announced;
use crate::prover::Asked;
use crate::words::all_of;
use agentir_diagnostics::Span;
use agentir_flow::cfg::{self, AgentId, Cfg, Edge, EdgeKind, Transfer};
use agentir_ir::Statement;
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// How often a guard may be handed on along an edge while systems are built.
const MOST_WORK: usize = 2_000_000;

/// One program's graph, and who is who in it.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) cfg: &'a Cfg<'a>,
    pub(super) pairs: &'a Pairs<'a>,
    /// What its variables are called in the first program.
    names: &'a Announced,
    transfers: FxHashMap<NodeIndex, &'a Transfer<'a>>,
    /// Where agents that the model leads choose among others.
    routes: FxHashMap<AgentId, NodeIndex>,
}

impl<'a> Program<'a> {
    pub(super) fn new(cfg: &'a Cfg<'a>, pairs: &'a Pairs<'a>, names: &'a Announced) -> Self {
        let transfers = cfg.transfers().iter().map(|t| (t.node, t)).collect();
        let mut routes = FxHashMap::default();
        for part in cfg.agents().iter().filter(|part| part.agent.flow.is_none()) {
            for at in part.nodes() {
                if let Some(node) = cfg.node(at).filter(|n| n.kind == cfg::NodeKind::Route) {
                    routes.insert(node.agent, at);
                }
            }
        }
        Self { cfg, pairs, names, transfers, routes }
    }

    pub(super) fn action(&self, node: NodeIndex) -> Option<Action> {
        let transfer = self.transfers.get(&node).copied();
        let node = self.cfg.node(node)?;
        let action = action(node, transfer, self.pairs)?;
        let text = matches!(node.kind, cfg::NodeKind::Say | cfg::NodeKind::Instruct);
        Some(Action { key: self.names.in_first(action.key, text), ..action })
    }

    /// Whether control really goes along an edge in what is compared: into agents that only this
    /// program has, but not into those that are compared themselves.
    fn follows(&self, from: NodeIndex, edge: &Edge<'_>) -> bool {
        let inner = |agent: AgentId| self.pairs.is_inner(agent);
        let to = self.transfers.get(&from).and_then(|t| t.target);
        match (edge.kind, to) {
            // A step that never waits is left by what it does, not by what the user says.
            (EdgeKind::Turn, None) => {
                self.cfg.node(from).is_none_or(|node| node.kind != cfg::NodeKind::Step)
            }
            (EdgeKind::Enter, to) => to.is_some_and(inner),
            // What goes in comes out at the agent's end.
            (EdgeKind::Return, Some(to)) => !inner(to),
            (EdgeKind::Return, None) => match self.cfg.node(from) {
                Some(node) if node.kind == cfg::NodeKind::Exit => inner(node.agent),
                _ => true,
            },
            _ => true,
        }
    }

    /// Where it is written that control goes from one node to another without anything that can be
    /// noticed: the edges of a shortest way.
    pub(super) fn way(&self, from: NodeIndex, to: NodeIndex) -> Vec<Span> {
        let mut came: FxHashMap<NodeIndex, (NodeIndex, Span)> = FxHashMap::default();
        let mut open = VecDeque::from([from]);
        while let Some(node) = open.pop_front() {
            let onwards = self.cfg.successors(node).filter(|(_, edge)| self.follows(node, edge));
            for (next, edge) in onwards {
                if came.contains_key(&next) {
                    continue;
                }
                came.insert(next, (node, edge.span));
                if next == to {
                    let mut way = Vec::new();
                    let mut at = to;
                    while let Some((before, span)) = came.get(&at).copied() {
                        way.push(span);
                        at = before;
                        if at == from {
                            break;
                        }
                    }
                    return way;
                }
                if self.action(next).is_none() {
                    open.push_back(next);
                }
            }
        }
        Vec::new()
    }

    /// The values with which its variables begin.
    fn initial(&self) -> Vec<(String, String)> {
        let agents = self.cfg.agents().iter().map(|part| part.agent);
        let variables = agents.flat_map(|agent| &agent.memory.session);
        variables
            .filter_map(|v| Some((v.name.value.to_string(), all_of(v.initial_value.as_ref()?))))
            .collect()
    }

    /// Whether a node gives a variable the value with which it begins.
    fn sets_initial(&self, node: NodeIndex, initial: &FxHashSet<(String, String)>) -> bool {
        let Some(cfg::Origin::Statement(Statement::Set(set))) =
            self.cfg.node(node).map(|n| n.origin)
        else {
            return false;
        };
        initial.contains(&(set.target.root.value.to_string(), set.value.to_string()))
            && set.target.segments.is_empty()
    }

    /// All conditions and events.
    pub(super) fn asked(&self) -> Questions {
        let mut all = Questions::default();
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
                    let asked = Asked::new(literal.test, part.agent, self.names);
                    let owned = (asked, part.agent.metadata.name.value.clone());
                    all.conditions.push((owned, literal.test.span()));
                }
                at = self.cfg.guard_prefix(at);
            }
        }
        all
    }
}

/// Something that can be noticed next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    pub(super) guard: Guard,
    /// The action, by its number.
    pub(super) action: u32,
    /// The state behind it.
    pub(super) to: u32,
    /// The node that does it.
    pub(super) node: NodeIndex,
}

/// Two transition systems in one.
#[derive(Debug, Default)]
pub(super) struct System {
    /// The moves of each state.
    pub(super) moves: Vec<Vec<Move>>,
    /// Which side each state is of.
    pub(super) side: Vec<usize>,
    /// The node that each state is at or behind; none at the end.
    pub(super) node: Vec<Option<NodeIndex>>,
    /// What the actions are called.
    pub(super) actions: Vec<String>,
    /// The states at the places that both programs have, by their order.
    pub(super) places: Vec<[u32; 2]>,
}

pub(super) struct Builder<'b, 'a> {
    pub(super) programs: [&'b Program<'a>; 2],
    pub(super) atoms: &'b Atoms,
    pub(super) guards: &'b mut Guards,
    pub(super) work: usize,
    /// The values with which variables begin, as one of the programs declares them.
    initial: FxHashSet<(String, String)>,
    /// The guards of edges that were made already.
    made: [FxHashMap<(cfg::Guard, AgentId, bool), Guard>; 2],
}

/// The system that is being built, and what is open in it.
struct Building {
    system: System,
    /// States behind nodes, by side.
    behind: [FxHashMap<NodeIndex, u32>; 2],
    numbers: FxHashMap<String, u32>,
    open: VecDeque<(usize, NodeIndex, u32)>,
    /// Where nothing follows.
    end: [Option<u32>; 2],
}

impl Building {
    fn state(&mut self, side: usize, node: Option<NodeIndex>) -> u32 {
        self.system.moves.push(Vec::new());
        self.system.side.push(side);
        self.system.node.push(node);
        u32::try_from(self.system.moves.len() - 1).unwrap_or(u32::MAX)
    }

    fn number(&mut self, action: Action) -> u32 {
        let Self { numbers, system, .. } = self;
        let next = u32::try_from(system.actions.len()).unwrap_or(u32::MAX);
        *numbers.entry(action.key).or_insert_with(|| {
            system.actions.push(action.says);
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
        let made = [FxHashMap::default(), FxHashMap::default()];
        let initial = programs.iter().flat_map(|p| p.initial()).collect();
        Self { programs, atoms, guards, work: 0, made, initial }
    }

    /// The systems of both programs. With `stops` a jump to a place that both have is an action of its
    /// own and nothing follows it, so that a difference shows only where it is. None if it is too much
    /// work.
    pub(super) fn build(&mut self, places: &[Both], stops: bool) -> Option<System> {
        let mut building = Building {
            system: System::default(),
            behind: [FxHashMap::default(), FxHashMap::default()],
            numbers: FxHashMap::default(),
            open: VecDeque::new(),
            end: [None, None],
        };
        let mut stopping = [FxHashMap::default(), FxHashMap::default()];
        if stops {
            for (number, place) in places.iter().enumerate() {
                for (stopping, at) in stopping.iter_mut().zip(place.at) {
                    stopping.insert(at, number);
                }
            }
        }
        for place in places {
            let mut states = [0, 0];
            for (side, at) in place.at.into_iter().enumerate() {
                let state = building.state(side, Some(at));
                if let Some(slot) = states.get_mut(side) {
                    *slot = state;
                }
                let first = place.first;
                let mut reach = Reach { begins: Some(at), first, ..Reach::default() };
                reach.arrive(self.guards, at, Guard::ALWAYS);
                self.moves(&mut building, (side, state), reach, &stopping)?;
            }
            building.system.places.push(states);
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

    /// Where control can go from a node, and under which guard.
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
        // A model that leads may hand over whenever it chooses, whether that is declared beside its
        // tools or as one of them.
        if from.kind == cfg::NodeKind::Choose
            && let Some(route) = program.routes.get(&from.agent)
        {
            all.push((*route, Guard::ALWAYS));
        }
        all
    }

    /// A guard of the graph. Where the model chooses among what it is offered, words only describe
    /// the choice, and in some languages they stand where no guard is: with `open_words` they may be
    /// true or false.
    fn guard(&mut self, side: usize, guard: cfg::Guard, agent: AgentId, open_words: bool) -> Guard {
        let Some(program) = self.programs.get(side).copied() else { return Guard::ALWAYS };
        // From the front, because guards share their beginnings.
        let mut open = Vec::new();
        let mut at = guard;
        let mut made = Guard::ALWAYS;
        while !at.is_always() {
            if let Some(found) = self.made.get(side).and_then(|m| m.get(&(at, agent, open_words))) {
                made = *found;
                break;
            }
            open.push(at);
            at = program.cfg.guard_prefix(at);
        }
        for at in open.into_iter().rev() {
            if let (Some(literal), Some(part)) =
                (program.cfg.last_literal(at), program.cfg.agent(agent))
            {
                let asked = Asked::new(literal.test, part.agent, program.names);
                if !(open_words && matches!(asked, Asked::Words(_))) {
                    let literal = self.guards.condition(self.atoms, &asked, literal.holds);
                    made = self.guards.and(made, literal);
                }
            }
            if let Some(all) = self.made.get_mut(side) {
                all.insert((at, agent, open_words), made);
            }
        }
        made
    }

    /// Finds what can be noticed next: the guard of each node that is reached silently is the
    /// disjunction over all ways, which a worklist makes complete.
    fn moves(
        &mut self,
        building: &mut Building,
        (side, state): (usize, u32),
        mut reach: Reach,
        stopping: &[FxHashMap<NodeIndex, usize>; 2],
    ) -> Option<()> {
        let program = self.programs.get(side).copied()?;
        let stopping = stopping.get(side)?;
        let mut noticed: FxHashMap<NodeIndex, Option<Action>> = FxHashMap::default();
        while let Some(node) = reach.open.pop_front() {
            self.work += 1;
            if self.work > MOST_WORK || self.guards.too_large {
                return None;
            }
            let acts = noticed
                .entry(node)
                .or_insert_with(|| {
                    let initial = reach.first && program.sets_initial(node, &self.initial);
                    if initial { None } else { program.action(node) }
                })
                .is_some();
            let stops = stopping.contains_key(&node) && reach.begins != Some(node);
            if acts || stops {
                continue;
            }
            let here = reach.guards.get(&node).copied().unwrap_or(Guard::NEVER);
            for (to, guard) in self.successors(side, node) {
                let guard = self.guards.and(here, guard);
                // Back where it began is a place like any other.
                if reach.begins == Some(to) {
                    reach.again = self.guards.or(reach.again, guard);
                }
                reach.arrive(self.guards, to, guard);
            }
        }
        let own = reach.begins;
        let again = reach.again;
        for node in reach.order {
            let place = stopping.get(&node);
            let guard = match place {
                Some(_) if own == Some(node) => again,
                _ => reach.guards.get(&node).copied().unwrap_or(Guard::NEVER),
            };
            if guard == Guard::NEVER {
                continue;
            }
            let (action, to) = match (place, noticed.remove(&node).flatten()) {
                (Some(place), _) => {
                    let key = format!("place {place}");
                    (building.number(Action { says: key.clone(), key }), building.end(side))
                }
                (None, Some(action)) => (building.number(action), building.behind(side, node)),
                (None, None) => continue,
            };
            if let Some(moves) = building.system.moves.get_mut(state as usize) {
                moves.push(Move { guard, action, to, node });
            }
        }
        Some(())
    }
}

/// Whether the model chooses at a node among other agents, tools and people.
const fn chooses(node: &cfg::Node<'_>) -> bool {
    matches!(node.kind, cfg::NodeKind::Route | cfg::NodeKind::Choose)
        || matches!(node.origin, cfg::Origin::Trigger(_))
}

/// Nodes that are reached silently, in the order in which they are, and under which guard.
#[derive(Debug, Default)]
struct Reach {
    /// The place at which it begins, if it is one.
    begins: Option<NodeIndex>,
    /// Whether a conversation begins there.
    first: bool,
    /// Under which guard that is reached again.
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
    /// The state behind a node.
    fn behind(&mut self, side: usize, node: NodeIndex) -> u32 {
        if let Some(state) = self.behind.get(side).and_then(|behind| behind.get(&node)) {
            return *state;
        }
        let state = self.state(side, Some(node));
        if let Some(behind) = self.behind.get_mut(side) {
            behind.insert(node, state);
        }
        self.open.push_back((side, node, state));
        state
    }

    /// The state of a side after which nothing is looked at.
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
