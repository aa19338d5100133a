//! Subagents that transfer to each other before the model or the user can act.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Label, RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_flow::cfg::{AgentId, Transfer};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("transition-cycle"),
    group: Group::Reachability,
    severity: Severity::Error,
    summary: "subagents transition to each other in a cycle without waiting for the user",
    vendor: &["cycle-detected", "unconditional-transition-cycle"],
    requires: &[Construct::Procedures],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let graph = cx.graph();
    // From these nodes no path leads to the model, to the user or to an end.
    let lost = graph.never_yielding();
    let mut next: FxHashMap<AgentId, &Transfer<'_>> = FxHashMap::default();
    for transfer in graph.transfers().iter().filter(|t| lost.contains(t.node)) {
        if let Some(node) = graph.node(transfer.node)
            && graph.agent(node.agent).is_some_and(|part| lost.contains(part.entry))
        {
            next.entry(node.agent).or_insert(transfer);
        }
    }
    let mut done: FxHashSet<AgentId> = FxHashSet::default();
    for id in (0..).map(AgentId).take(graph.agents().len()) {
        let mut path: Vec<&Transfer<'_>> = Vec::new();
        let mut places: FxHashMap<AgentId, usize> = FxHashMap::default();
        let mut at = id;
        while let Some(transfer) = next.get(&at) {
            if !done.insert(at) {
                break;
            }
            places.insert(at, path.len());
            path.push(transfer);
            let Some(to) = transfer.target else { break };
            at = to;
        }
        let Some(cycle) = places.get(&at).and_then(|start| path.get(*start..)) else { continue };
        let Some((first, rest)) = cycle.split_first() else { continue };
        let step = |t: &&Transfer<'_>| Label::new(t.span, format!("on to `{}`", t.to));
        let mut finding = report
            .finding(first.span, "these transitions form a cycle")
            .at(format!("on to `{}`", first.to))
            .note(
                "they are unconditional and run before the model is called, so the turn never ends",
            )
            .help("put one of them below an `if`")
            .run(cycle.iter().map(step), true);
        finding.labels.extend(rest.iter().map(step));
        report.push(finding);
    }
}
