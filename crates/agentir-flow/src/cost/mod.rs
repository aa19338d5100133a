//! An upper bound for the cost of one user message: how many model and tool calls happen before the
//! next wait for the user.
//!
//! A turn is a path from one wait to the next. Model calls are: each round of a reasoning loop,
//! each collection of fields (the message is parsed), each choice among agents, and each node that
//! tests natural-language conditions or has a guardrail that a model checks. Tool calls are the
//! nodes that call a tool.
//!
//! The bound is the maximum over all paths through the graph, whatever their conditions. Loops
//! count as often as their bounds allow (`max_iterations` of a reasoning loop, `MAX_ATTEMPTS`,
//! `RETRY`, `tries`); a loop without a bound that calls something makes the turn unbounded. Fields
//! are collected once per turn: control that returns to them waits. The platform defines what
//! happens between a failing call and an error handler without a continuation, so it does not
//! count.
//!
//! *Invariant*: linear in the size of the graph.

mod longest_paths;
mod report;
mod turn;

pub use report::{CostReport, cost_schema};

use crate::cfg::{AgentId, Cfg, Transfer};
use agentir_diagnostics::Span;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Add;
use std::sync::Arc;
use turn::{TurnCosts, TurnGraph};

/// An upper bound for a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpperBound {
    /// At most this many.
    AtMost(u64),
    /// No bound.
    Unbounded,
}

impl Default for UpperBound {
    fn default() -> Self {
        Self::AtMost(0)
    }
}

impl UpperBound {
    fn max(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtMost(a), Self::AtMost(b)) => Self::AtMost(a.max(b)),
            _ => Self::Unbounded,
        }
    }

    fn times(self, rounds: u64) -> Self {
        match self {
            Self::AtMost(n) => Self::AtMost(n.saturating_mul(rounds)),
            Self::Unbounded => Self::Unbounded,
        }
    }

    /// The cost of a loop without a bound. A loop that costs nothing stays free.
    const fn repeated(self) -> Self {
        match self {
            Self::AtMost(0) => Self::AtMost(0),
            _ => Self::Unbounded,
        }
    }
}

impl Add for UpperBound {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtMost(a), Self::AtMost(b)) => Self::AtMost(a.saturating_add(b)),
            _ => Self::Unbounded,
        }
    }
}

/// The numbers of model and tool calls. They are maximized separately: the path with most tool
/// calls need not be the one with most model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// Model calls.
    pub models: UpperBound,
    /// Tool calls.
    pub tools: UpperBound,
}

impl Calls {
    pub(super) const fn new(models: u64, tools: u64) -> Self {
        Self { models: UpperBound::AtMost(models), tools: UpperBound::AtMost(tools) }
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self { models: self.models.max(other.models), tools: self.tools.max(other.tools) }
    }

    pub(super) fn times(self, rounds: u64) -> Self {
        Self { models: self.models.times(rounds), tools: self.tools.times(rounds) }
    }

    pub(super) const fn repeated(self) -> Self {
        Self { models: self.models.repeated(), tools: self.tools.repeated() }
    }

    /// Whether both are bounded.
    #[must_use]
    pub const fn is_bounded(&self) -> bool {
        matches!((self.models, self.tools), (UpperBound::AtMost(_), UpperBound::AtMost(_)))
    }
}

impl Add for Calls {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { models: self.models + other.models, tools: self.tools + other.tools }
    }
}

/// The reason why a turn has no bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A loop inside an agent, with the source of its edges.
    Loop(Arc<[Span]>),
    /// Agents that transfer to each other before the user is waited for, with the source of the
    /// transfers.
    Agents(Arc<[Span]>),
}

/// The cost of one message at an agent.
#[derive(Debug, Clone)]
pub struct AgentCost {
    /// The agent.
    pub agent: AgentId,
    /// The cost of the agent itself.
    pub own: Calls,
    /// The cost including the agents that it hands off to or calls.
    pub total: Calls,
    /// The reasons why there is no bound. Empty if there is one.
    pub reasons: Vec<Reason>,
}

/// Returns the cost of one message at each agent of a graph, by [`AgentId`].
#[must_use]
pub fn cost(cfg: &Cfg<'_>) -> Vec<AgentCost> {
    let ids: Vec<AgentId> = (0..).map(AgentId).take(cfg.agents().len()).collect();
    let in_handlers = cfg.in_handlers();
    let graphs: Vec<Option<TurnGraph>> =
        ids.iter().map(|id| TurnGraph::of(cfg, *id, &in_handlers)).collect();
    let alone: Vec<Option<TurnCosts>> =
        graphs.iter().map(|graph| Some(graph.as_ref()?.turns(|_| Calls::default()))).collect();
    let mut by_node: FxHashMap<NodeIndex, Vec<AgentId>> = FxHashMap::default();
    for transfer in cfg.transfers() {
        if let Some(to) = transfer.target {
            by_node.entry(transfer.node).or_default().push(to);
        }
    }
    // The cost of a turn that enters an agent, callees first.
    let mut entered = vec![Calls::default(); graphs.len()];
    let mut cycles: Vec<Option<Arc<[Span]>>> = vec![None; graphs.len()];
    let leads = |entered: &[Calls], node: NodeIndex| {
        let costs = by_node.get(&node).into_iter().flatten();
        let costs = costs.filter_map(|to| entered.get(to.0 as usize)).copied();
        costs.fold(Calls::default(), Add::add)
    };
    for (group, cycle) in immediate_cycles(cfg, &graphs) {
        let cycle: Arc<[Span]> = cycle.into();
        let mut most = Calls::default();
        for id in &group {
            if let Some(graph) = graphs.get(id.0 as usize).and_then(Option::as_ref) {
                most = most.max(graph.turns(|node| leads(&entered, node)).turns.enter);
            }
        }
        for id in &group {
            let at = id.0 as usize;
            if let (Some(entered), Some(place)) = (entered.get_mut(at), cycles.get_mut(at)) {
                *entered = if cycle.is_empty() { most } else { most.repeated() };
                *place = (!cycle.is_empty()).then(|| Arc::clone(&cycle));
            }
        }
    }
    let with: Vec<Option<TurnCosts>> = graphs
        .iter()
        .map(|graph| Some(graph.as_ref()?.turns(|node| leads(&entered, node))))
        .collect();
    let turns = with_returns(cfg, &with);
    let reasons = Reasons::new(cfg, &alone, &cycles);
    ids.into_iter()
        .filter_map(|agent| {
            let at = agent.0 as usize;
            let total = *turns.get(at)?;
            let reasons = if total.is_bounded() { Vec::new() } else { reasons.of(agent) };
            let own = alone.get(at)?.as_ref()?.turns.any;
            Some(AgentCost { agent, own, total, reasons })
        })
        .collect()
}

/// Returns the groups of agents that transfer to each other before the user is waited for, and all
/// other agents as groups of their own, callees first. With the transfers of each group.
fn immediate_cycles(cfg: &Cfg<'_>, graphs: &[Option<TurnGraph>]) -> Vec<(Vec<AgentId>, Vec<Span>)> {
    let reachable_in_turn: Vec<Vec<bool>> = graphs
        .iter()
        .map(|graph| graph.as_ref().map(TurnGraph::reachable_in_turn).unwrap_or_default())
        .collect();
    let wanted = |transfer: &Transfer<'_>| {
        let from = cfg.node(transfer.node).map(|n| n.agent);
        let first = from.and_then(|from| cfg.agent(from)?.nodes().next());
        from.zip(first).is_some_and(|(from, first)| {
            let place = transfer.node.index().checked_sub(first.index());
            let seen = reachable_in_turn.get(from.0 as usize);
            place.zip(seen).is_some_and(|(place, seen)| seen.get(place) == Some(&true))
        })
    };
    let graph = agents(cfg, graphs.len(), wanted);
    let mut group_of: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    let groups = kosaraju_scc(&graph);
    for (at, group) in groups.iter().enumerate() {
        group_of.extend(group.iter().map(|node| (*node, at)));
    }
    let mut lines: Vec<Vec<Span>> = vec![Vec::new(); groups.len()];
    for edge in graph.edge_indices() {
        if let Some((from, to)) = graph.edge_endpoints(edge)
            && let (Some(a), Some(b)) = (group_of.get(&from), group_of.get(&to))
            && a == b
            && let (Some(lines), Some(span)) = (lines.get_mut(*a), graph.edge_weight(edge))
        {
            lines.push(*span);
        }
    }
    groups
        .into_iter()
        .map(|group| group.iter().filter_map(|n| graph.node_weight(*n).copied()).collect())
        .zip(lines)
        .collect()
}

fn agents(
    cfg: &Cfg<'_>,
    count: usize,
    wanted: impl Fn(&Transfer<'_>) -> bool,
) -> DiGraph<AgentId, Span> {
    let mut graph = DiGraph::new();
    let nodes: Vec<_> = (0..).map(AgentId).take(count).map(|id| graph.add_node(id)).collect();
    for transfer in cfg.transfers().iter().filter(|t| wanted(t)) {
        let from = cfg.node(transfer.node).and_then(|n| nodes.get(n.agent.0 as usize));
        let to = transfer.target.and_then(|to| nodes.get(to.0 as usize));
        if let (Some(from), Some(to)) = (from, to) {
            graph.add_edge(*from, *to, transfer.span);
        }
    }
    graph
}

/// Returns the maximum cost of any turn, including those in which a called agent returns and its
/// caller continues.
fn with_returns(cfg: &Cfg<'_>, with: &[Option<TurnCosts>]) -> Vec<Calls> {
    let mut turns: Vec<Calls> =
        with.iter().map(|f| f.as_ref().map(|f| f.turns.any).unwrap_or_default()).collect();
    let mut by_agent: FxHashMap<AgentId, Vec<(AgentId, NodeIndex)>> = FxHashMap::default();
    for transfer in cfg.transfers() {
        if let (Some(from), Some(to), Some(back)) =
            (cfg.node(transfer.node), transfer.target, transfer.returns)
        {
            by_agent.entry(from.agent).or_default().push((to, back));
        }
    }
    let graph = agents(cfg, with.len(), |t| t.returns.is_some());
    for id in kosaraju_scc(&graph).into_iter().flatten().filter_map(|n| graph.node_weight(n)) {
        let Some(own) = with.get(id.0 as usize).and_then(Option::as_ref) else { continue };
        for (to, back) in by_agent.get(id).into_iter().flatten() {
            let before = turns.get(to.0 as usize).copied().unwrap_or_default();
            if let Some(turn) = turns.get_mut(id.0 as usize) {
                *turn = turn.max(before + own.from(*back));
            }
        }
    }
    turns
}

/// The reasons why turns have no bound.
struct Reasons<'g> {
    own: Vec<Vec<Reason>>,
    /// The agents that each agent transfers to.
    leads: FxHashMap<AgentId, Vec<AgentId>>,
    cycles: &'g [Option<Arc<[Span]>>],
}

impl<'g> Reasons<'g> {
    fn new(cfg: &Cfg<'_>, alone: &[Option<TurnCosts>], cycles: &'g [Option<Arc<[Span]>>]) -> Self {
        let own = alone
            .iter()
            .map(|f| {
                f.iter().flat_map(|f| &f.loops).map(|l| Reason::Loop(l.as_slice().into())).collect()
            })
            .collect();
        let mut leads: FxHashMap<AgentId, Vec<AgentId>> = FxHashMap::default();
        for transfer in cfg.transfers() {
            if let (Some(from), Some(to)) = (cfg.node(transfer.node), transfer.target) {
                leads.entry(from.agent).or_default().push(to);
            }
        }
        Self { own, leads, cycles }
    }

    /// Returns the nearest reasons: those of the agent itself, else of the agents that it transfers
    /// to.
    fn of(&self, agent: AgentId) -> Vec<Reason> {
        let mut seen = FxHashSet::from_iter([agent]);
        let mut worklist = VecDeque::from([agent]);
        while let Some(agent) = worklist.pop_front() {
            let at = agent.0 as usize;
            let mut found: Vec<Reason> = self.own.get(at).cloned().unwrap_or_default();
            let cycle = self.cycles.get(at).and_then(Option::as_ref);
            found.extend(cycle.map(|lines| Reason::Agents(Arc::clone(lines))));
            if !found.is_empty() {
                return found;
            }
            let next = self.leads.get(&agent).into_iter().flatten();
            worklist.extend(next.filter(|to| seen.insert(**to)));
        }
        Vec::new()
    }
}
