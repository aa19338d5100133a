//! Subagents that call each other in a cycle.

use crate::rule::{AGENT_SCRIPT, Check, Group, ProgramContext, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::Name;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("delegation-cycle"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "subagents are each other's tools",
    vendor: &["subagent-delegation-cycle"],
    dialects: AGENT_SCRIPT,
    check: Check::Program(check),
};

fn check(cx: &ProgramContext<'_>, report: &mut Report<'_>) {
    if cx.program.agents.iter().all(|agent| agent.coordination.delegates.is_empty()) {
        return;
    }
    let mut graph: DiGraph<(), &Spanned<Name>> = DiGraph::new();
    let mut nodes: FxHashMap<&str, NodeIndex> = FxHashMap::default();
    for agent in &cx.program.agents {
        nodes.entry(&agent.metadata.name.value).or_insert_with(|| graph.add_node(()));
    }
    for agent in &cx.program.agents {
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
    let mut endless_cycles: BTreeMap<usize, Vec<&Spanned<Name>>> = BTreeMap::new();
    for index in graph.edge_indices() {
        if let (Some((from, to)), Some(name)) =
            (graph.edge_endpoints(index), graph.edge_weight(index))
            && let Some(number) = part.get(&from).filter(|n| part.get(&to) == Some(*n))
        {
            endless_cycles.entry(*number).or_default().push(name);
        }
    }
    for mut cycle in endless_cycles.into_values() {
        cycle.sort_by_key(|name| (name.span.file, name.span.start));
        let Some((first, rest)) = cycle.split_first() else { continue };
        let mut finding = report
            .finding(first.span, "these subagents ask each other in a circle")
            .at(format!("asks `{first}`"))
            .note("each waits for the answer of the next, and the last one may ask the first again")
            .help("let one of them hand over instead: `@utils.transition to …`");
        for step in rest {
            finding = finding.label(step.span, format!("asks `{step}`"));
        }
        report.push(finding);
    }
}
