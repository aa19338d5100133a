//! What one message of the user can cost at most: how often models and tools are called before the
//! user is waited for again.
//!
//! A turn goes from one wait to the next. Calls of models are: each round of a reasoning loop, each
//! asking for fields (what the user said is taken apart), each choice among agents, and each place
//! that tests conditions in words or has a guardrail that a model checks. Calls of tools are the
//! places that call one.
//!
//! The most is taken over all ways through the graph, whatever their conditions. Loops count as often
//! as their bounds allow (`max_iterations` of a reasoning loop, `MAX_ATTEMPTS`, `RETRY`, `tries`); one
//! without a bound that calls something makes a turn unbounded. Fields are asked for once in a turn:
//! who comes back to them waits. What happens between a failing call and an error handler that says
//! nothing about how to go on is the platform's and does not count.
//!
//! *Invariant*: linear in the graph.

mod longest;
mod part;
mod report;

pub use report::{CostReport, cost_schema};

use crate::cfg::{AgentId, Cfg, Transfer};
use agentir_diagnostics::Span;
use part::{Found, Own};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Add;

/// A count that may have no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Most {
    /// At most so many.
    AtMost(u64),
    /// Nothing bounds it.
    Unbounded,
}

impl Default for Most {
    fn default() -> Self {
        Self::AtMost(0)
    }
}

impl Most {
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

    /// For a loop that nothing bounds: what costs nothing costs nothing however often.
    const fn forever(self) -> Self {
        match self {
            Self::AtMost(0) => Self::AtMost(0),
            _ => Self::Unbounded,
        }
    }
}

impl Add for Most {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        match (self, other) {
            (Self::AtMost(a), Self::AtMost(b)) => Self::AtMost(a.saturating_add(b)),
            _ => Self::Unbounded,
        }
    }
}

/// How often models and tools are called. The two are counted apart: the way on which most tools are
/// called need not be the one on which models are called most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Calls {
    /// Of models.
    pub models: Most,
    /// Of tools.
    pub tools: Most,
}

impl Calls {
    pub(super) const fn new(models: u64, tools: u64) -> Self {
        Self { models: Most::AtMost(models), tools: Most::AtMost(tools) }
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self { models: self.models.max(other.models), tools: self.tools.max(other.tools) }
    }

    pub(super) fn times(self, rounds: u64) -> Self {
        Self { models: self.models.times(rounds), tools: self.tools.times(rounds) }
    }

    pub(super) const fn forever(self) -> Self {
        Self { models: self.models.forever(), tools: self.tools.forever() }
    }

    /// Whether both are bounded.
    #[must_use]
    pub const fn is_bounded(&self) -> bool {
        matches!((self.models, self.tools), (Most::AtMost(_), Most::AtMost(_)))
    }
}

impl Add for Calls {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { models: self.models + other.models, tools: self.tools + other.tools }
    }
}

/// Why a turn has no bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A loop inside an agent, by the lines that lead round.
    Loop(Vec<Span>),
    /// Agents that lead to each other before anybody waits for the user, by the lines that name them.
    Agents(Vec<Span>),
}

/// What one message can cost at an agent.
#[derive(Debug, Clone)]
pub struct AgentCost {
    /// The agent.
    pub agent: AgentId,
    /// What the agent does itself.
    pub own: Calls,
    /// With what the agents do that it hands over to or asks.
    pub total: Calls,
    /// Why there is no bound, where there is none.
    pub reasons: Vec<Reason>,
}

/// What one message can cost at each agent of a graph, in the order of its parts.
#[must_use]
pub fn cost(cfg: &Cfg<'_>) -> Vec<AgentCost> {
    let ids: Vec<AgentId> = (0..).map(AgentId).take(cfg.parts().len()).collect();
    let in_handlers = cfg.in_handlers();
    let parts: Vec<Option<Own>> = ids.iter().map(|id| Own::of(cfg, *id, &in_handlers)).collect();
    let alone: Vec<Option<Found>> =
        parts.iter().map(|part| Some(part.as_ref()?.turns(|_| Calls::default()))).collect();
    let mut by_node: FxHashMap<NodeIndex, Vec<AgentId>> = FxHashMap::default();
    for transfer in cfg.transfers() {
        if let Some(to) = transfer.target {
            by_node.entry(transfer.node).or_default().push(to);
        }
    }
    // What a turn costs that begins with an agent, those first that the others lead to.
    let mut entered = vec![Calls::default(); parts.len()];
    let mut circles: Vec<Option<Vec<Span>>> = vec![None; parts.len()];
    let leads = |entered: &[Calls], node: NodeIndex| {
        let costs = by_node.get(&node).into_iter().flatten();
        let costs = costs.filter_map(|to| entered.get(to.0 as usize)).copied();
        costs.fold(Calls::default(), Add::add)
    };
    for (group, circle) in circles_at_once(cfg, &parts) {
        let mut most = Calls::default();
        for id in &group {
            if let Some(part) = parts.get(id.0 as usize).and_then(Option::as_ref) {
                most = most.max(part.turns(|node| leads(&entered, node)).turns.enter);
            }
        }
        for id in &group {
            let at = id.0 as usize;
            if let (Some(entered), Some(place)) = (entered.get_mut(at), circles.get_mut(at)) {
                *entered = if circle.is_empty() { most } else { most.forever() };
                *place = (!circle.is_empty()).then(|| circle.clone());
            }
        }
    }
    let with: Vec<Option<Found>> =
        parts.iter().map(|part| Some(part.as_ref()?.turns(|node| leads(&entered, node)))).collect();
    let turns = come_back(cfg, &with);
    let reasons = Reasons::new(cfg, &alone, &circles);
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

/// Agents that lead to each other before anybody waits for the user, or single agents; those first
/// that the others lead to. With the lines that lead round.
fn circles_at_once(cfg: &Cfg<'_>, parts: &[Option<Own>]) -> Vec<(Vec<AgentId>, Vec<Span>)> {
    let at_once: Vec<Vec<bool>> =
        parts.iter().map(|part| part.as_ref().map(Own::at_once).unwrap_or_default()).collect();
    let wanted = |transfer: &Transfer<'_>| {
        let from = cfg.node(transfer.node).map(|n| n.agent);
        let first = from.and_then(|from| cfg.part(from)?.nodes().next());
        from.zip(first).is_some_and(|(from, first)| {
            let place = transfer.node.index().checked_sub(first.index());
            let seen = at_once.get(from.0 as usize);
            place.zip(seen).is_some_and(|(place, seen)| seen.get(place) == Some(&true))
        })
    };
    let graph = agents(cfg, parts.len(), wanted);
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

/// The most of any turn, that one included in which an agent that was asked is done and the one who
/// asked goes on.
fn come_back(cfg: &Cfg<'_>, with: &[Option<Found>]) -> Vec<Calls> {
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

/// Why turns have no bound.
struct Reasons<'g> {
    own: Vec<Vec<Reason>>,
    /// Whom each agent leads to.
    leads: FxHashMap<AgentId, Vec<AgentId>>,
    circles: &'g [Option<Vec<Span>>],
}

impl<'g> Reasons<'g> {
    fn new(cfg: &Cfg<'_>, alone: &[Option<Found>], circles: &'g [Option<Vec<Span>>]) -> Self {
        let own = alone
            .iter()
            .map(|f| f.iter().flat_map(|f| &f.loops).cloned().map(Reason::Loop).collect())
            .collect();
        let mut leads: FxHashMap<AgentId, Vec<AgentId>> = FxHashMap::default();
        for transfer in cfg.transfers() {
            if let (Some(from), Some(to)) = (cfg.node(transfer.node), transfer.target) {
                leads.entry(from.agent).or_default().push(to);
            }
        }
        Self { own, leads, circles }
    }

    /// The nearest ones: of the agent itself, else of those it leads to.
    fn of(&self, agent: AgentId) -> Vec<Reason> {
        let mut seen = FxHashSet::from_iter([agent]);
        let mut waiting = VecDeque::from([agent]);
        while let Some(agent) = waiting.pop_front() {
            let at = agent.0 as usize;
            let mut found: Vec<Reason> = self.own.get(at).cloned().unwrap_or_default();
            let circle = self.circles.get(at).and_then(Option::as_ref);
            found.extend(circle.map(|lines| Reason::Agents(lines.clone())));
            if !found.is_empty() {
                return found;
            }
            let next = self.leads.get(&agent).into_iter().flatten();
            waiting.extend(next.filter(|to| seen.insert(**to)));
        }
        Vec::new()
    }
}
