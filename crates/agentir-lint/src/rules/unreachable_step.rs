//! A step that no path through the flow leads to.

use crate::dialects::is_adl;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Diagnostic, RuleName, Severity};
use agentir_flow::{EdgeKind, FlowGraph, Place};
use agentir_ir::{Flow, Step};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-step"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "no path through the flow leads to a step",
    vendor: &["ORPHANED_STEP"],
    dialects: crate::rule::ABL_AND_ADL,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    let (Some(flow), Some(graph)) = (&cx.agent.flow, cx.flow()) else { return };
    // Where the flow does not start anywhere, one finding is enough.
    if !flow.entry().is_some_and(|entry| flow.definitions.contains_key(entry)) {
        return;
    }
    let reached = graph.reachable();
    // Where a jump leads to a step that does not exist, the step it should lead to is not lost.
    if reached.iter().any(|name| !graph.is_defined(name)) {
        return;
    }
    for step in flow.definitions.values().filter(|s| !reached.contains(&s.name.value)) {
        let finding = report
            .finding(step.name.span, format!("the step `{}` can never be reached", step.name))
            .note("the runtime only enters a step that another one leads to")
            .help(if is_adl(cx.agent) {
                format!("lead to it with `next: {}`, or remove it", step.name)
            } else {
                format!("lead to it, as with `THEN: {}`, or remove it", step.name)
            });
        report.push(explain(finding, flow, graph, step, &reached));
    }
}

/// Who leads to the step although nobody comes there, and who passes it by.
fn explain(
    finding: Diagnostic,
    flow: &Flow,
    graph: &FlowGraph,
    step: &Step,
    reached: &FxHashSet<SmolStr>,
) -> Diagnostic {
    let mut from: Vec<_> = graph
        .predecessors(&step.name.value)
        .filter_map(|(place, edge)| match place {
            Place::Step(name) if *name != step.name.value => Some((edge.span, name)),
            _ => None,
        })
        .collect();
    from.sort_by_key(|(span, _)| span.start);
    let finding = match from.first() {
        Some((span, name)) => finding
            .label(*span, format!("only `{name}` leads here, and it cannot be reached either")),
        None => finding,
    };
    let before =
        flow.steps.iter().zip(flow.steps.iter().skip(1)).find(|(_, s)| s.value == step.name.value);
    let Some((before, _)) = before.filter(|(b, _)| reached.contains(&b.value)) else {
        return finding;
    };
    let passing = graph
        .successors(&before.value)
        .filter(|(_, edge)| edge.kind == EdgeKind::Then)
        .max_by_key(|(_, edge)| edge.span.start);
    match passing {
        Some((Place::Step(next), edge)) => {
            finding.label(edge.span, format!("`{before}`, the step before it, goes to `{next}`"))
        }
        Some((Place::Complete | Place::Agent(_) | Place::Human, edge)) => {
            finding.label(edge.span, format!("`{before}`, the step before it, ends the flow"))
        }
        _ => finding,
    }
}
