//! Cycles without an exit: nothing in them changes the variables that their conditions read, so
//! control that enters such a cycle never leaves it.

use crate::rule::AgentContext;
use agentir_diagnostics::Span;
use agentir_expr::{ExprKind, Path, Visit, system_variable};
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentId, DecidedBy, Edge, EdgeKind, GuardLiteral, NodeKind, Origin, Test};
use agentir_solver::Example;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::collections::VecDeque;

/// The maximum number of cycles to try per loop.
const MAX_CYCLES: usize = 24;

/// The maximum number of edges per loop to start a cycle from.
const MAX_EDGES: usize = 256;

/// A cycle that is never left.
#[derive(Debug)]
pub(crate) struct EndlessCycle {
    /// Its edges in order.
    pub(crate) edges: Vec<EdgeIndex>,
    /// A state in which it is entered; any, if it is unconditional.
    pub(crate) state: Example,
}

/// Returns the id of an agent in the control-flow graph.
pub(crate) fn agent_id(cx: &AgentContext<'_>) -> Option<AgentId> {
    let parts = (0..).map(AgentId).zip(cx.program.graph().agents());
    parts.into_iter().find(|(_, p)| std::ptr::eq(p.agent, cx.agent)).map(|(id, _)| id)
}

/// Whether an edge is autonomous: taken without a decision of the user, the model or another agent.
pub(crate) fn is_autonomous(cfg: &Cfg<'_>, id: EdgeIndex, edge: &Edge<'_>) -> bool {
    let Some((from, to, _)) = cfg.edge(id) else { return false };
    let kind = |node: NodeIndex| cfg.node(node).map(|n| n.kind);
    let waits = |node: NodeIndex| kind(node).is_some_and(NodeKind::waits);
    // No language specifies how the platform continues after an error handler without a jump.
    let unspecified = edge.kind == EdgeKind::Return && matches!(edge.origin, Origin::Handler(_));
    let chosen = matches!(edge.decided_by, DecidedBy::User | DecidedBy::Model);
    !unspecified
        && !chosen
        && edge.limit.is_none()
        && !waits(from)
        && !waits(to)
        && !matches!(
            edge.kind,
            EdgeKind::Named | EdgeKind::Shadowed | EdgeKind::Profile | EdgeKind::Skip
        )
}

/// Whether an edge stays in the agent, with nobody else acting in between.
fn stays_in_agent(cfg: &Cfg<'_>, id: EdgeIndex, edge: &Edge<'_>) -> bool {
    let from = cfg.edge(id).and_then(|(from, ..)| cfg.node(from)).map(|n| n.kind);
    let to = cfg.edge(id).and_then(|(_, to, _)| cfg.node(to)?.step);
    // An inserted step may have the same name as the step at which it is inserted.
    let itself = matches!((edge.kind, edge.origin, to), (EdgeKind::Sequence, Origin::Step(by), Some(to))
        if by.name == to.name);
    edge.kind != EdgeKind::Enter
        && !itself
        && !matches!(
            from,
            Some(
                NodeKind::Delegate
                    | NodeKind::Handoff
                    | NodeKind::FanOut
                    | NodeKind::Escalate
                    | NodeKind::Exit
                    | NodeKind::Choose
                    | NodeKind::Unknown
            )
        )
}

/// Returns the paths that a test reads; `None` if its outcome may change by itself or is not
/// determined by the state.
pub(crate) fn stable_reads(test: &Test<'_>) -> Option<Vec<Path>> {
    let expr = test.expr()?;
    let mut paths = Vec::new();
    let mut stable = true;
    expr.visit(&mut |e| {
        match &e.kind {
            ExprKind::Path(path) => {
                stable &= !is_volatile(path);
                paths.push(path.clone());
            }
            // A clock or a random number.
            ExprKind::Call { args, .. } => stable &= !args.is_empty(),
            _ => {}
        }
        Visit::Children
    });
    stable.then_some(paths)
}

/// Whether the runtime may write a variable during a turn.
fn is_volatile(path: &Path) -> bool {
    let root = path.root.value.as_str();
    let stays_in_agent =
        ["user", "channel", "language", "user_id", "project_id", "tenant_id", "session"];
    (system_variable(root).is_some() || root.starts_with("last_") || root == "result")
        && !stays_in_agent.contains(&root)
}

/// The autonomous cycles of a program, computed once.
#[derive(Debug, Default)]
pub(crate) struct AutonomousCycles {
    /// The autonomous loops by agent, each with its edges.
    loops: FxHashMap<AgentId, Vec<Vec<EdgeIndex>>>,
    /// The cyclic transfers by agent: those made as soon as the agent begins, if conditions hold.
    /// As indices into the transfers of the graph.
    cyclic_transfers: FxHashMap<AgentId, Vec<usize>>,
}

impl AutonomousCycles {
    pub(crate) fn of(cfg: &Cfg<'_>) -> Self {
        let mut autonomous_cycles = Self::default();
        let in_handlers = cfg.in_handlers();
        let inside = |id: EdgeIndex, edge: &Edge<'_>| {
            let again = cfg.edge(id).is_some_and(|(from, to, _)| {
                in_handlers.contains(&from)
                    && cfg.node(to).is_some_and(|n| n.kind == NodeKind::Error)
            });
            !again && is_autonomous(cfg, id, edge) && stays_in_agent(cfg, id, edge)
        };
        for found in cfg.loops(inside) {
            if let Some(node) = found.nodes.first().and_then(|n| cfg.node(*n)) {
                autonomous_cycles.loops.entry(node.agent).or_default().push(found.edges);
            }
        }
        autonomous_cycles.cyclic_transfers = cyclic_transfers(cfg);
        autonomous_cycles
    }

    /// Whether there are no cyclic transfers.
    pub(crate) fn has_no_transfers(&self) -> bool {
        self.cyclic_transfers.is_empty()
    }

    /// Returns the cyclic transfers of an agent.
    pub(crate) fn cyclic_transfers(&self, agent: AgentId) -> &[usize] {
        self.cyclic_transfers.get(&agent).map_or(&[], Vec::as_slice)
    }
}

fn cyclic_transfers(cfg: &Cfg<'_>) -> FxHashMap<AgentId, Vec<usize>> {
    let mut by_agent: FxHashMap<AgentId, Vec<(usize, NodeIndex, AgentId)>> = FxHashMap::default();
    for (at, transfer) in cfg.transfers().iter().enumerate() {
        if let (Some(node), Some(to)) = (cfg.node(transfer.node), transfer.target) {
            by_agent.entry(node.agent).or_default().push((at, transfer.node, to));
        }
    }
    let mut graph: DiGraph<AgentId, usize> = DiGraph::new();
    let nodes: Vec<NodeIndex> =
        (0..).map(AgentId).zip(cfg.agents()).map(|(id, _)| graph.add_node(id)).collect();
    for (from, transfers) in by_agent {
        let Some(agent_cfg) = cfg.agent(from) else { continue };
        let mut seen = FxHashSet::from_iter([agent_cfg.entry]);
        let mut worklist = vec![agent_cfg.entry];
        while let Some(node) = worklist.pop() {
            for edge in cfg.graph().edges(node) {
                if may_precede_transfer(cfg, edge.id(), edge.weight()) && seen.insert(edge.target())
                {
                    worklist.push(edge.target());
                }
            }
        }
        for (at, node, to) in transfers {
            let ends = (nodes.get(from.0 as usize), nodes.get(to.0 as usize));
            if let (true, (Some(from), Some(to))) = (seen.contains(&node), ends) {
                graph.add_edge(*from, *to, at);
            }
        }
    }
    let mut group: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    for (at, nodes) in kosaraju_scc(&graph).into_iter().enumerate() {
        group.extend(nodes.into_iter().map(|node| (node, at)));
    }
    let mut found: FxHashMap<AgentId, Vec<usize>> = FxHashMap::default();
    for edge in graph.edge_indices() {
        if let Some((from, to)) = graph.edge_endpoints(edge)
            && group.get(&from) == group.get(&to)
            && let (Some(agent), Some(at)) = (graph.node_weight(from), graph.edge_weight(edge))
        {
            found.entry(*agent).or_default().push(*at);
        }
    }
    found.values_mut().for_each(|list| list.sort_unstable());
    found
}

/// Whether an edge may be on a path from an agent's entry to a transfer.
pub(crate) fn may_precede_transfer(cfg: &Cfg<'_>, id: EdgeIndex, edge: &Edge<'_>) -> bool {
    is_autonomous(cfg, id, edge) && !matches!(edge.kind, EdgeKind::Enter | EdgeKind::Error)
}

/// Returns the endless cycles of an agent, at most one per loop.
pub(crate) fn endless_cycles(cx: &AgentContext<'_>) -> Vec<EndlessCycle> {
    let cfg = cx.program.graph();
    let autonomous_cycles = cx.program.autonomous_cycles();
    if autonomous_cycles.loops.is_empty() {
        return Vec::new();
    }
    let Some(own) = agent_id(cx) else { return Vec::new() };
    let Some(loops) = autonomous_cycles.loops.get(&own) else { return Vec::new() };
    let reached = cfg.reachable_in(own);
    let mut found = Vec::new();
    for edges in loops {
        let ends = |id: &EdgeIndex| cfg.edge(*id).map(|(from, to, _)| (from, to));
        let nodes: FxHashSet<NodeIndex> = edges.iter().filter_map(ends).map(|e| e.0).collect();
        if nodes.iter().any(|node| !reached.contains(*node)) {
            continue;
        }
        let changed = defined_variables(cfg, nodes.iter().copied());
        let stable: Vec<EdgeIndex> = edges
            .iter()
            .copied()
            .filter(|id| {
                cfg.edge(*id)
                    .and_then(|(_, _, edge)| guard(cfg, edge))
                    .is_some_and(|guard| is_stable_guard(&guard, &changed))
            })
            .collect();
        found.extend(shortest_cycles(cfg, &stable).into_iter().find_map(|path| {
            let state = path_example(cx, &path)?;
            Some(EndlessCycle { edges: path, state })
        }));
    }
    found
}

/// Returns cycles over these edges: the shortest one through each of the first edges.
fn shortest_cycles(cfg: &Cfg<'_>, edges: &[EdgeIndex]) -> Vec<Vec<EdgeIndex>> {
    let mut next: FxHashMap<NodeIndex, Vec<(EdgeIndex, NodeIndex)>> = FxHashMap::default();
    for id in edges {
        if let Some((from, to, _)) = cfg.edge(*id) {
            next.entry(from).or_default().push((*id, to));
        }
    }
    let path = |from: NodeIndex, to: NodeIndex| -> Option<Vec<EdgeIndex>> {
        let mut predecessor: FxHashMap<NodeIndex, (EdgeIndex, NodeIndex)> = FxHashMap::default();
        let mut worklist = VecDeque::from([from]);
        while let Some(node) = worklist.pop_front() {
            if node == to {
                break;
            }
            for (id, target) in next.get(&node).into_iter().flatten() {
                if *target != from && !predecessor.contains_key(target) {
                    predecessor.insert(*target, (*id, node));
                    worklist.push_back(*target);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let (edge, before) = *predecessor.get(&at)?;
            path.push(edge);
            at = before;
        }
        path.reverse();
        Some(path)
    };
    edges
        .iter()
        .take(MAX_EDGES)
        .filter_map(|first| {
            let (from, to, _) = cfg.edge(*first)?;
            let mut round = vec![*first];
            round.extend(path(to, from)?);
            Some(round)
        })
        .take(MAX_CYCLES)
        .collect()
}

/// Returns the literals of an edge; `None` if one of them is not an expression.
fn guard<'a>(cfg: &Cfg<'a>, edge: &Edge<'a>) -> Option<Vec<GuardLiteral<'a>>> {
    let all = cfg.guard(edge.guard);
    all.iter().all(|l| l.test.expr().is_some()).then_some(all)
}

fn is_stable_guard(guard: &[GuardLiteral<'_>], changed: &FxHashSet<SmolStr>) -> bool {
    guard.iter().all(|literal| {
        stable_reads(&literal.test)
            .is_some_and(|paths| paths.iter().all(|p| !changed.contains(&p.root.value)))
    })
}

/// Returns the variables that these nodes define or remove.
pub(crate) fn defined_variables(
    cfg: &Cfg<'_>,
    nodes: impl IntoIterator<Item = NodeIndex>,
) -> FxHashSet<SmolStr> {
    nodes
        .into_iter()
        .flat_map(|node| cfg.defs(node))
        .map(|access| SmolStr::new(access.variable.root()))
        .collect()
}

/// Returns a state in which a path can be taken.
fn path_example<'a>(cx: &AgentContext<'a>, path: &[EdgeIndex]) -> Option<Example> {
    let cfg = cx.program.graph();
    let mut literals: Vec<GuardLiteral<'a>> = Vec::new();
    for edge in path {
        let (_, _, edge) = cfg.edge(*edge)?;
        for literal in cfg.guard(edge.guard) {
            if !literals.contains(&literal) {
                literals.push(literal);
            }
        }
    }
    example_of(cx, &literals)
}

/// Returns a state that satisfies the literals; any, if there are none.
pub(crate) fn example_of<'a>(
    cx: &AgentContext<'a>,
    literals: &[GuardLiteral<'a>],
) -> Option<Example> {
    if literals.is_empty() {
        return Some(Example::default());
    }
    let mut query = cx.query();
    for literal in literals {
        query.assume(literal.test.expr()?, literal.holds);
    }
    query.solve()?.state()
}

/// Returns the edges of a path that lead from one step to the next, in order.
pub(crate) fn step_transitions(cfg: &Cfg<'_>, path: &[EdgeIndex]) -> Vec<(Span, String)> {
    let mut step_transitions = Vec::new();
    for (from, to, edge) in path.iter().filter_map(|id| cfg.edge(*id)) {
        let (Some(from), Some(to)) = (cfg.node(from), cfg.node(to)) else { continue };
        let (NodeKind::Step, Some(step)) = (to.kind, to.step) else { continue };
        let Some(before) = from.step else { continue };
        if edge.span != Span::default() {
            let message = if before.name == step.name {
                format!("`{}` starts again", step.name)
            } else {
                format!("`{}` continues with `{}`", before.name, step.name)
            };
            step_transitions.push((edge.span, message));
        }
    }
    step_transitions
}
