//! A flow, or a part of one, that has no way out.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Confidence, RuleName, Severity};
use agentir_flow::{FlowGraph, Place};
use agentir_ir::{Flow, Step};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("flow-never-completes"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a flow, or steps of it, have no way to an end",
    vendor: &[],
    dialects: crate::rule::ABL,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    let (Some(flow), Some(graph)) = (&cx.agent.flow, cx.flow()) else { return };
    if ends_otherwise(cx) {
        return;
    }
    let (reached, finishing) = (graph.reachable(), graph.finishing());
    let trapped: Vec<&Step> = flow
        .definitions
        .values()
        .filter(|s| reached.contains(&s.name.value) && !finishing.contains(&s.name.value))
        .collect();
    // The model may end the agent's work in any step that it leads.
    if trapped.is_empty() || trapped.iter().any(|s| s.reasoning_zone.is_some()) {
        return;
    }
    let whole = flow.entry().is_some_and(|entry| !finishing.contains(entry));
    let steps = names(&trapped);
    let mut finding = if whole {
        report.finding(
            flow.span.at_start(),
            format!("this flow never comes to an end: {steps} only lead to each other"),
        )
    } else {
        let at = trapped.first().map_or(flow.span, |s| s.name.span);
        report.finding(at, format!("the flow never comes to an end once it is in {steps}"))
    };
    if let (false, Some((span, from, into))) = (whole, way_in(flow, graph, &finishing, &trapped)) {
        finding = finding
            .label(span, format!("`{from}` leads into `{into}`, from where nothing leads out"));
    }
    for step in trapped.iter().take(4) {
        let back = graph
            .successors(&step.name.value)
            .filter_map(|(place, edge)| match place {
                Place::Step(next) => Some((next, edge)),
                _ => None,
            })
            .min_by_key(|(_, edge)| edge.span.start);
        if let Some((next, edge)) = back {
            finding = finding.label(edge.span, format!("`{}` goes on with `{next}`", step.name));
        }
    }
    report.push(
        finding
            .confidence(Confidence::Medium)
            .note("the runtime stops a flow that does not end after its 100th transition, or when the user falls silent")
            .help("let one of the steps lead to `COMPLETE`, to a handoff or to an escalation"),
    );
}

/// Whether something outside the flow may end it: `COMPLETE`, a handoff, an escalation.
fn ends_otherwise(cx: &AgentContext<'_>) -> bool {
    let c = &cx.agent.coordination;
    !cx.agent.completion.conditions.is_empty()
        || !c.handoffs.is_empty()
        || c.escalation.as_ref().is_some_and(|e| !e.triggers.is_empty())
}

/// Where the flow goes from a step that can end to one that cannot.
fn way_in<'a>(
    flow: &'a Flow,
    graph: &'a FlowGraph,
    finishing: &FxHashSet<SmolStr>,
    trapped: &[&Step],
) -> Option<(agentir_diagnostics::Span, &'a SmolStr, SmolStr)> {
    let inside: FxHashSet<&str> = trapped.iter().map(|s| s.name.value.as_str()).collect();
    flow.definitions.keys().filter(|name| finishing.contains(*name)).find_map(|name| {
        graph.successors(name).find_map(|(place, edge)| match place {
            Place::Step(next) if inside.contains(next.as_str()) => {
                Some((edge.span, name, next.clone()))
            }
            _ => None,
        })
    })
}

/// `a`, `b` and `c`; the first five of many.
fn names(steps: &[&Step]) -> String {
    let mut all: Vec<String> = steps.iter().take(5).map(|s| format!("`{}`", s.name)).collect();
    if steps.len() > 5 {
        all.push(format!("{} more", steps.len() - 5));
    }
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => all.concat(),
    }
}
