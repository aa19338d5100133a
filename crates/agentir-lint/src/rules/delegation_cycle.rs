//! Subagents that call each other in a cycle.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Label, RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Construct;
use petgraph::algo::{astar, kosaraju_scc};
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("delegation-cycle"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "subagents delegate to each other in a cycle",
    vendor: &["subagent-delegation-cycle"],
    requires: &[Construct::DelegationTools],
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
    for agent in cx.program.agents() {
        let from = nodes.get(agent.metadata.name.value.as_str());
        for delegate in &agent.coordination.delegates {
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
        let mut finding = report
            .finding(first.span, "these subagents delegate to each other in a cycle")
            .at(format!("delegates to `{first}`"))
            .note("each waits for the answer of the next, and the last may call the first again")
            .help("hand over in one of them instead: `@utils.transition to …`");
        finding.labels.extend(rest.iter().map(|(name, _)| step(name)));
        let run = shortest_cycle(&graph, *index);
        let run = run.iter().filter_map(|edge| graph.edge_weight(*edge)).map(|name| step(name));
        report.push(finding.run(run, true));
    }
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
