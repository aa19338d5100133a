//! A cycle of steps without an exit.

use crate::evidence::{bindings, step_transitions};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::endless::{EndlessCycle, endless_cycles};
use agentir_diagnostics::{Diagnostic, Label, RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_flow::cfg::{DecidedBy, Edge, EdgeKind, Origin};
use agentir_ir::{Body, NumberOrText, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("endless-loop"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "steps form a loop that never waits for the user and never ends",
    vendor: &[],
    requires: &[Construct::StepGraph],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for cycle in endless_cycles(cx).iter().filter(|c| !retries(cx, c)) {
        let when = if cycle.state.is_any() {
            "this loop never ends".to_owned()
        } else {
            format!("this loop never ends when `{}`", cycle.state)
        };
        report
            .push(explain(cx, cycle, when, report).help(
                "ask the user for something in the loop, or change what the conditions test",
            ));
    }
}

/// Whether the cycle repeats because something failed.
pub(super) fn retries(cx: &AgentContext<'_, '_>, cycle: &EndlessCycle) -> bool {
    let cfg = cx.program.graph();
    cycle.edges.iter().filter_map(|id| cfg.edge(*id)).any(|(from, _, edge)| {
        let failed = match cfg.node(from).map(|n| n.origin) {
            Some(Origin::Statement(Statement::Call(call))) => jumps_first(&call.on_failure, edge),
            _ => false,
        };
        edge.decided_by == DecidedBy::Outcome
            && (failed || matches!(edge.kind, EdgeKind::Error | EdgeKind::Retry))
    })
}

/// Whether a body begins with the jump that an edge comes from.
fn jumps_first(body: &Body, edge: &Edge<'_>) -> bool {
    let first = body.0.first();
    matches!((first, edge.origin), (Some(Statement::Goto(first)), Origin::Jump(jump))
        if first.span == jump.span)
}

/// Creates the finding at the edge that closes the cycle.
pub(super) fn explain(
    cx: &AgentContext<'_, '_>,
    cycle: &EndlessCycle,
    message: String,
    report: &Report<'_>,
) -> Diagnostic {
    let cfg = cx.program.graph();
    let mut transitions = step_transitions(cfg, &cycle.edges);
    let run: Vec<Label> =
        transitions.iter().map(|(span, message)| Label::new(*span, message.as_str())).collect();
    transitions.sort_by_key(|(span, _)| *span);
    transitions.dedup_by_key(|(span, _)| *span);
    let fallback = cx.agent.metadata.name.span;
    let last = transitions.pop();
    let (at, label) = last.unwrap_or_else(|| (fallback, "in this agent".to_owned()));
    let mut finding =
        report.finding(at, message).at(label).example(bindings(&cycle.state)).run(run, true);
    for (span, label) in transitions.into_iter().take(4) {
        finding = finding.label(span, label);
    }
    let limit = match &cx.agent.execution.max_flow_iterations {
        Some(NumberOrText::Number(n)) => format!("{}", n.0),
        _ => "100".to_owned(),
    };
    finding.note(format!(
        "the user waits until the platform stops the flow after {limit} steps (`max_flow_iterations`)"
    ))
}
