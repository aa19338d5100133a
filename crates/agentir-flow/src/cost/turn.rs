//! The cost of one turn of a single agent.

use super::Calls;
use super::longest_paths::{Arc, ArcKind, LongestPaths, longest_paths};
use crate::cfg::{
    AgentCfg, AgentId, Cfg, DecidedBy, Edge, EdgeKind, Node, NodeKind, Origin, Test, iterations,
};
use agentir_diagnostics::Span;
use agentir_expr::{Condition, ConditionKind};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

/// The costs of turns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turns {
    /// A turn that enters the agent.
    pub(super) enter: Calls,
    /// Any turn.
    pub(super) any: Calls,
}

/// The graph of a turn within one agent.
#[derive(Debug)]
pub(super) struct TurnGraph {
    first: usize,
    entry: usize,
    turn_start: Option<usize>,
    turn_end: Option<usize>,
    weights: Vec<Calls>,
    arcs: Vec<Arc>,
    spans: Vec<Span>,
    /// Detours that return to their start: checks before a call, tools that steps share.
    detours: Vec<(usize, usize)>,
    /// The program points at which a turn can resume: nodes that wait, with their successors.
    waits: Vec<(usize, usize)>,
    /// The nodes that control returns to from other agents.
    returns: Vec<usize>,
    /// The arcs into the flow.
    starts: Vec<usize>,
}

/// The costs of the turns of one agent.
#[derive(Debug)]
pub(super) struct TurnCosts {
    pub(super) turns: Turns,
    /// The cost of the paths from each node.
    from: Vec<Calls>,
    first: usize,
    /// The source of the loops without a bound.
    pub(super) loops: Vec<Vec<Span>>,
}

impl TurnCosts {
    /// Returns the cost of the paths from a node.
    pub(super) fn from(&self, node: NodeIndex) -> Calls {
        let at = node.index().checked_sub(self.first);
        at.and_then(|at| self.from.get(at)).copied().unwrap_or_default()
    }
}

fn is_natural(condition: &Condition) -> bool {
    matches!(condition.kind, ConditionKind::Natural)
}

/// Returns the calls at a node itself.
fn weight(cfg: &Cfg<'_>, at: NodeIndex, node: &Node<'_>) -> Calls {
    let words = || {
        cfg.successors(at).any(|(_, edge)| {
            cfg.last_literal(edge.guard).is_some_and(
                |l| matches!(l.test, Test::Condition(condition) if is_natural(condition)),
            )
        })
    };
    let by_model = || cfg.successors(at).any(|(_, edge)| edge.decided_by == DecidedBy::Model);
    match node.kind {
        NodeKind::Call => Calls::new(0, 1),
        NodeKind::Choose | NodeKind::Collect | NodeKind::Confirm => Calls::new(1, 0),
        NodeKind::Route if by_model() => Calls::new(1, 0),
        NodeKind::Check => match node.origin {
            Origin::Guardrail(guardrail) if guardrail.tier != "local" => Calls::new(1, 0),
            _ if words() => Calls::new(1, 0),
            _ => Calls::default(),
        },
        NodeKind::Branch | NodeKind::Await if words() => Calls::new(1, 0),
        _ => Calls::default(),
    }
}

impl TurnGraph {
    pub(super) fn of(
        cfg: &Cfg<'_>,
        agent: AgentId,
        in_handlers: &FxHashSet<NodeIndex>,
    ) -> Option<Self> {
        let agent_cfg = cfg.agent(agent)?;
        let nodes: Vec<NodeIndex> = agent_cfg.nodes().collect();
        let first = nodes.first()?.index();
        let mut own = Self {
            first,
            entry: agent_cfg.entry.index() - first,
            turn_start: None,
            turn_end: None,
            weights: Vec::with_capacity(nodes.len()),
            arcs: Vec::new(),
            spans: Vec::new(),
            detours: Vec::new(),
            waits: Vec::new(),
            returns: Vec::new(),
            starts: Vec::new(),
        };
        for at in nodes {
            let Some(node) = cfg.node(at) else { continue };
            let here = at.index() - first;
            own.weights.push(weight(cfg, at, node));
            match node.kind {
                NodeKind::TurnStart => own.turn_start = Some(here),
                NodeKind::TurnEnd => own.turn_end = Some(here),
                NodeKind::Return => own.returns.push(here),
                _ => {}
            }
            for (to, edge) in cfg.successors(at) {
                let Some(target) = cfg.node(to).filter(|n| n.agent == agent) else { continue };
                let again = target.kind == NodeKind::Error && in_handlers.contains(&at);
                if at != agent_cfg.wait && !again {
                    own.add(cfg, agent_cfg, (at, node), to, edge);
                }
            }
        }
        // Tools that steps share are chosen in the reasoning zones of the steps.
        let shared: Vec<usize> = own
            .detours
            .iter()
            .map(|(_, to)| *to)
            .filter(|to| toolbox(cfg, agent_cfg, first + to))
            .collect();
        for at in shared {
            if let Some(weight) = own.weights.get_mut(at) {
                *weight = Calls::default();
            }
        }
        Some(own)
    }

    fn add<'a>(
        &mut self,
        cfg: &Cfg<'a>,
        agent_cfg: &AgentCfg<'a>,
        (at, node): (NodeIndex, &Node<'a>),
        to: NodeIndex,
        edge: &Edge<'a>,
    ) {
        let (from, next) = (at.index() - self.first, to.index() - self.first);
        if edge.kind == EdgeKind::Checkpoint || (at != to && toolbox(cfg, agent_cfg, to.index())) {
            self.detours.push((from, next));
            return;
        }
        let Some(target) = cfg.node(to) else { return };
        if target.kind == NodeKind::Resume && !comes_back(node, edge)
            || edge.kind == EdgeKind::Return && matches!(edge.origin, Origin::Handler(_))
            || matches!(edge.kind, EdgeKind::Named)
            // When a person finishes is unknown.
            || node.kind == NodeKind::Escalate
        {
            return;
        }
        let interrupts = matches!(edge.kind, EdgeKind::Digression | EdgeKind::Action);
        if node.kind.waits() && edge.kind != EdgeKind::Turn {
            if edge.kind != EdgeKind::Retry || node.kind == NodeKind::Await {
                // Without a flow every message starts a new turn, except the answer to a
                // confirmation.
                if agent_cfg.agent.flow.is_some() || node.kind == NodeKind::Confirm {
                    self.waits.push((from, next));
                }
            }
            if node.kind == NodeKind::Collect && edge.kind != EdgeKind::Retry && !interrupts {
                self.push(from, next, ArcKind::Filled, edge.span);
            }
            return;
        }
        if interrupts && !matches!(node.kind, NodeKind::TurnStart | NodeKind::Interrupt) {
            return;
        }
        if edge.kind == EdgeKind::Start {
            self.starts.push(self.arcs.len());
        }
        let reasons = matches!(target.kind, NodeKind::Choose)
            || matches!(target.origin, Origin::Procedure("instructions"));
        // After a return the remaining rounds apply.
        let rounds = match edge.limit {
            None if reasons && node.kind == NodeKind::Resume => iterations(agent_cfg.agent),
            limit => limit,
        };
        let kind = match rounds {
            None => ArcKind::Plain,
            Some(times) if reasons => ArcKind::Reasoning(u64::from(times)),
            // An edge from the start of a step into it: its limit includes the first time.
            Some(times) if node.kind == NodeKind::Step && edge.kind != EdgeKind::Retry => {
                ArcKind::Bounded(u64::from(times).saturating_sub(1))
            }
            Some(times) => ArcKind::Bounded(u64::from(times)),
        };
        self.push(from, next, kind, edge.span);
    }

    fn push(&mut self, from: usize, to: usize, kind: ArcKind, span: Span) {
        self.arcs.push(Arc { from, to, kind });
        self.spans.push(span);
    }

    /// Returns the nodes that are reachable from the agent's entry before a wait.
    pub(super) fn reachable_in_turn(&self) -> Vec<bool> {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.weights.len()];
        for arc in &self.arcs {
            if let Some(list) = next.get_mut(arc.from) {
                list.push(arc.to);
            }
        }
        let mut seen = vec![false; self.weights.len()];
        let mut worklist = vec![self.entry];
        while let Some(node) = worklist.pop() {
            if let Some(seen) = seen.get_mut(node).filter(|seen| !**seen) {
                *seen = true;
                worklist.extend(next.get(node).into_iter().flatten());
            }
        }
        seen
    }

    /// Returns the costs of turns if nodes cost `extra` in addition. Returns are not followed; the
    /// result has the cost of what comes after them.
    pub(super) fn turns(&self, extra: impl Fn(NodeIndex) -> Calls) -> TurnCosts {
        let mut weights: Vec<Calls> = self
            .weights
            .iter()
            .enumerate()
            .map(|(at, weight)| *weight + extra(NodeIndex::new(self.first + at)))
            .collect();
        // Checks belong to their call, and shared tools to the step that calls them.
        for _ in 0..if self.detours.is_empty() { 0 } else { 2 } {
            let found = longest_paths(&weights, &self.arcs).from;
            let plain: Vec<Calls> = self
                .weights
                .iter()
                .enumerate()
                .map(|(at, weight)| *weight + extra(NodeIndex::new(self.first + at)))
                .collect();
            weights = plain;
            for (from, to) in &self.detours {
                let detour = found.get(*to).copied().unwrap_or_default();
                if let Some(weight) = weights.get_mut(*from) {
                    *weight = *weight + detour;
                }
            }
        }
        let LongestPaths { from, endless } = longest_paths(&weights, &self.arcs);
        let at = |node: usize| from.get(node).copied().unwrap_or_default();
        let enter = at(self.entry);
        let mut any = enter.max(self.turn_start.map_or_else(Calls::default, at));
        if !self.waits.is_empty() {
            let before = self.before_the_flow(&weights);
            for (wait, next) in &self.waits {
                let own = weights.get(*wait).copied().unwrap_or_default();
                any = any.max(before + own + at(*next));
            }
        }
        for node in &self.returns {
            any = any.max(at(*node));
        }
        let loops = endless
            .into_iter()
            .map(|arcs| {
                let mut spans: Vec<Span> =
                    arcs.iter().filter_map(|arc| self.spans.get(*arc)).copied().collect();
                spans.retain(|span| *span != Span::default());
                spans.sort();
                spans.dedup();
                spans
            })
            .collect();
        TurnCosts { turns: Turns { enter, any }, from, first: self.first, loops }
    }

    /// Returns the cost of handling a message before the flow resumes.
    fn before_the_flow(&self, weights: &[Calls]) -> Calls {
        let Some(start) = self.turn_start else { return Calls::default() };
        let arcs: Vec<Arc> = self
            .arcs
            .iter()
            .enumerate()
            .filter(|(at, _)| self.starts.binary_search(at).is_err())
            .map(|(_, arc)| *arc)
            .collect();
        longest_paths(weights, &arcs).from.get(start).copied().unwrap_or_default()
    }
}

/// Whether control has returned from an agent, so that the caller continues in the same turn. For
/// other resumptions the graph already has the continuation.
fn comes_back(from: &Node<'_>, edge: &Edge<'_>) -> bool {
    from.kind == NodeKind::Return
        || matches!(edge.origin, Origin::Handoff(_) | Origin::OnReturn(_) | Origin::Rule(_))
}

/// Whether a node stands for the tools that the steps of a flow share.
fn toolbox(cfg: &Cfg<'_>, agent_cfg: &AgentCfg<'_>, node: usize) -> bool {
    agent_cfg.agent.flow.is_some()
        && cfg
            .node(NodeIndex::new(node))
            .is_some_and(|n| n.kind == NodeKind::Choose && n.step.is_none())
}
