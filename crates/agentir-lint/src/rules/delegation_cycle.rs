//! Agents that call each other in a cycle.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Label, RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Construct;
use agentir_flow::cfg::{AgentId, NodeKind};
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

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
    for analysis in cx.all_agents() {
        let agent = analysis.agent;
        let from = nodes.get(agent.metadata.name.value.as_str());
        for delegate in &agent.coordination.delegates {
            if !offers && !always_delegates(cx, analysis.id, &delegate.agent.value) {
                continue;
            }
            if let (Some(from), Some(to)) = (from, nodes.get(delegate.agent.value.as_str())) {
                graph.add_edge(*from, *to, &delegate.agent);
            }
        }
    }
    let mut part: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    for (number, nodes) in kosaraju_scc(&graph).into_iter().enumerate() {
        part.extend(nodes.into_iter().map(|node| (node, number)));
    }
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

/// Whether an agent cannot end without having delegated to another one.
fn always_delegates(cx: &ProgramAnalysis<'_>, id: AgentId, to: &str) -> bool {
    let cfg = cx.graph();
    let Some(agent_cfg) = cfg.agent(id) else { return false };
    let delegating: FxHashSet<NodeIndex> = cfg
        .transfers()
        .iter()
        .filter(|transfer| transfer.to == to)
        .map(|transfer| transfer.node)
        .filter(|at| {
            cfg.node(*at).is_some_and(|node| node.agent == id && node.kind == NodeKind::Delegate)
        })
        .collect();
    let mut work = vec![agent_cfg.entry];
    let mut seen: FxHashSet<NodeIndex> = work.iter().copied().collect();
    let mut delegates = false;
    while let Some(at) = work.pop() {
        if delegating.contains(&at) {
            delegates = true;
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
            return false;
        }
        work.extend(cfg.successors(at).map(|(to, _)| to).filter(|to| seen.insert(*to)));
    }
    delegates
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
