//! Agents that call each other in a cycle.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Label, RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Construct;
use agentir_flow::cfg::{AgentId, Cfg, NodeKind};
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, VecDeque};

/// So many delegations of an agent within a cycle are tried; each takes a walk through the agent.
const MAX_TRIED: usize = 100;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("delegation-cycle"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "agents delegate to each other in a cycle",
    vendor: &["subagent-delegation-cycle"],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    if cx.program.agents().all(|agent| agent.coordination.delegates.is_empty()) {
        return;
    }
    let mut graph: DiGraph<(), &Spanned<Name>> = DiGraph::new();
    let mut nodes: FxHashMap<&str, NodeIndex> = FxHashMap::default();
    for agent in cx.program.agents() {
        nodes.entry(&agent.metadata.name.value).or_insert_with(|| graph.add_node(()));
    }
    // What is offered to a model may be called at any time. Where steps delegate, conditions decide whether they do.
    let offers = cx.dialect().has(Construct::DelegationTools);
    for agent in cx.program.agents() {
        let from = nodes.get(agent.metadata.name.value.as_str());
        for delegate in &agent.coordination.delegates {
            if let (Some(from), Some(to)) = (from, nodes.get(delegate.agent.value.as_str())) {
                graph.add_edge(*from, *to, &delegate.agent);
            }
        }
    }
    if !offers {
        // Those outside of a cycle are in none, however often they delegate.
        let part = parts(&graph);
        let cfg = cx.graph();
        let mut transfers: FxHashMap<AgentId, Vec<(NodeIndex, &str)>> = FxHashMap::default();
        for transfer in cfg.transfers() {
            if let Some(node) = cfg.node(transfer.node)
                && node.kind == NodeKind::Delegate
            {
                transfers.entry(node.agent).or_default().push((transfer.node, transfer.to));
            }
        }
        let mut always: FxHashSet<(NodeIndex, &str)> = FxHashSet::default();
        for analysis in cx.all_agents() {
            let Some(from) = nodes.get(analysis.agent.metadata.name.value.as_str()) else {
                continue;
            };
            let within = |to: NodeIndex| part.get(from) == part.get(&to);
            let named = graph.edges(*from).filter(|edge| within(edge.target()));
            let names: FxHashSet<&str> = named.map(|edge| edge.weight().value.as_str()).collect();
            let own = transfers.get(&analysis.id).into_iter().flatten().copied();
            let own = own.filter(|(_, to)| names.contains(to)).collect();
            let unavoidable = unavoidable(cfg, analysis.id, &own);
            always.extend(unavoidable.into_iter().map(|to| (*from, to)));
        }
        graph.retain_edges(|graph, edge| {
            let ends = graph.edge_endpoints(edge).zip(graph.edge_weight(edge));
            ends.is_some_and(|((from, _), to)| always.contains(&(from, to.value.as_str())))
        });
    }
    let part = parts(&graph);
    let mut endless_cycles: BTreeMap<usize, Vec<(&Spanned<Name>, EdgeIndex)>> = BTreeMap::new();
    for index in graph.edge_indices() {
        if let (Some((from, to)), Some(name)) =
            (graph.edge_endpoints(index), graph.edge_weight(index))
            && let Some(number) = part.get(&from).filter(|n| part.get(&to) == Some(*n))
        {
            endless_cycles.entry(*number).or_default().push((name, index));
        }
    }
    for mut cycle in endless_cycles.into_values() {
        cycle.sort_by_key(|(name, _)| (name.span.file, name.span.start));
        let Some(((first, index), rest)) = cycle.split_first() else { continue };
        let step = |name: &Spanned<Name>| Label::new(name.span, format!("delegates to `{name}`"));
        let (message, note, help) = match offers {
            true => (
                "these subagents delegate to each other in a cycle",
                "each waits for the answer of the next, and the last may call the first again",
                "hand over in one of them instead: `@utils.transition to …`",
            ),
            false => (
                "these agents delegate to each other in a cycle",
                "none of them can end without delegating to the next, so none ever returns",
                "let one of them end without delegating, or hand over to the first instead",
            ),
        };
        let mut finding = report
            .finding(first.span, message)
            .at(format!("delegates to `{first}`"))
            .note(note)
            .help(help);
        finding.labels.extend(rest.iter().map(|(name, _)| step(name)));
        let run = shortest_cycle(&graph, *index);
        let run = run.iter().filter_map(|edge| graph.edge_weight(*edge)).map(|name| step(name));
        report.push(finding.run(run, true));
    }
}

/// The strongly connected component of each node.
fn parts<T>(graph: &DiGraph<(), T>) -> FxHashMap<NodeIndex, usize> {
    let mut part: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    for (number, nodes) in kosaraju_scc(graph).into_iter().enumerate() {
        part.extend(nodes.into_iter().map(|node| (node, number)));
    }
    part
}

/// The agents without having delegated to which an agent cannot end, of those that it delegates to at some nodes.
fn unavoidable<'n>(
    cfg: &Cfg<'_>,
    id: AgentId,
    delegating: &FxHashMap<NodeIndex, &'n str>,
) -> FxHashSet<&'n str> {
    let Some(agent_cfg) = cfg.agent(id).filter(|_| !delegating.is_empty()) else {
        return FxHashSet::default();
    };
    let to = |node: &NodeIndex| delegating.get(node).copied();
    // What is not on one way to an end is not on all of them.
    let way = match way_to_end(cfg, id, agent_cfg.entry, |_| false) {
        Ok(way) => way,
        // It never ends: it comes to what it can come to.
        Err(reached) => return reached.iter().filter_map(to).collect(),
    };
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let candidates = way.iter().filter_map(to).filter(|name| seen.insert(name)).take(MAX_TRIED);
    let candidates: Vec<&str> = candidates.collect();
    let around =
        |name: &str| way_to_end(cfg, id, agent_cfg.entry, |node| to(&node) == Some(name)).is_ok();
    candidates.into_iter().filter(|name| !around(name)).collect()
}

/// A way through an agent to one of its ends that avoids some nodes, or the nodes that it comes to without them.
fn way_to_end(
    cfg: &Cfg<'_>,
    id: AgentId,
    entry: NodeIndex,
    avoided: impl Fn(NodeIndex) -> bool,
) -> Result<Vec<NodeIndex>, Vec<NodeIndex>> {
    let mut before: FxHashMap<NodeIndex, NodeIndex> = FxHashMap::default();
    let mut work = VecDeque::from([entry]);
    before.insert(entry, entry);
    while let Some(at) = work.pop_front() {
        if avoided(at) {
            continue;
        }
        let ends = cfg.node(at).is_none_or(|node| {
            node.agent != id
                || matches!(
                    node.kind,
                    NodeKind::Exit | NodeKind::FlowEnd | NodeKind::Handoff | NodeKind::Escalate
                )
        });
        if ends {
            let back = |at: &NodeIndex| before.get(at).copied().filter(|one| one != at);
            return Ok(std::iter::successors(Some(at), back).collect());
        }
        for (to, _) in cfg.successors(at) {
            if let Entry::Vacant(new) = before.entry(to) {
                new.insert(at);
                work.push_back(to);
            }
        }
    }
    Err(before.into_keys().collect())
}

/// Returns a shortest cycle that begins with an edge.
fn shortest_cycle<T>(graph: &DiGraph<(), T>, first: EdgeIndex) -> Vec<EdgeIndex> {
    let Some((from, to)) = graph.edge_endpoints(first) else { return Vec::new() };
    let back = astar(graph, to, |node| node == from, |_| 1, |_| 0);
    let nodes = back.map(|(_, nodes)| nodes).unwrap_or_default();
    let edges = nodes.windows(2).filter_map(|pair| match pair {
        [a, b] => graph.find_edge(*a, *b),
        _ => None,
    });
    std::iter::once(first).chain(edges).collect()
}
