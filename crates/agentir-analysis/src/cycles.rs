//! Autonomous cycles: those that neither the user nor the model nor another agent decides about.

use agentir_expr::dialect::RuntimeNames;
use agentir_expr::{ExprKind, Path, Visit};
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentId, DecidedBy, Edge, EdgeKind, NodeKind, Origin, Test};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// Whether an edge is autonomous: taken without a decision of the user, the model or another agent.
pub fn is_autonomous(cfg: &Cfg<'_>, id: EdgeIndex, edge: &Edge<'_>) -> bool {
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
pub fn stable_reads(test: &Test<'_>, runtime: &RuntimeNames) -> Option<Vec<Path>> {
    let expr = test.expr()?;
    let mut paths = Vec::new();
    let mut stable = true;
    expr.visit(&mut |e| {
        match &e.kind {
            ExprKind::Path(path) => {
                stable &= !is_volatile(path, runtime);
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
fn is_volatile(path: &Path, runtime: &RuntimeNames) -> bool {
    let root = path.root.value.as_str();
    let stays_in_agent =
        ["user", "channel", "language", "user_id", "project_id", "tenant_id", "session"];
    let is_result = (root.starts_with("last_") || root == "result") && runtime.lists("result");
    (runtime.variable(root).is_some() || is_result) && !stays_in_agent.contains(&root)
}

/// The autonomous cycles of a program, computed once.
#[derive(Debug, Default)]
pub struct AutonomousCycles {
    /// The autonomous loops by agent, each with its edges.
    loops: FxHashMap<AgentId, Vec<Vec<EdgeIndex>>>,
    /// The cyclic transfers by agent: those made as soon as the agent begins, if conditions hold.
    /// As indices into the transfers of the graph.
    cyclic_transfers: FxHashMap<AgentId, Vec<usize>>,
}

impl AutonomousCycles {
    /// Searches a graph.
    #[must_use]
    pub fn of(cfg: &Cfg<'_>) -> Self {
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

    /// Returns the edges of each loop of an agent.
    #[must_use]
    pub fn loops(&self, agent: AgentId) -> &[Vec<EdgeIndex>] {
        self.loops.get(&agent).map_or(&[], Vec::as_slice)
    }

    /// Whether there are no cyclic transfers.
    pub fn has_no_transfers(&self) -> bool {
        self.cyclic_transfers.is_empty()
    }

    /// Returns the cyclic transfers of an agent.
    pub fn cyclic_transfers(&self, agent: AgentId) -> &[usize] {
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
            let ends = (nodes.get(from.index()), nodes.get(to.index()));
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
pub fn may_precede_transfer(cfg: &Cfg<'_>, id: EdgeIndex, edge: &Edge<'_>) -> bool {
    is_autonomous(cfg, id, edge) && !matches!(edge.kind, EdgeKind::Enter | EdgeKind::Error)
}

/// Returns the variables that these nodes define or remove.
pub fn defined_variables(
    cfg: &Cfg<'_>,
    nodes: impl IntoIterator<Item = NodeIndex>,
) -> FxHashSet<SmolStr> {
    nodes
        .into_iter()
        .flat_map(|node| cfg.defs(node))
        .map(|access| SmolStr::new(access.variable.root()))
        .collect()
}
