//! Statements after one that always leaves.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_flow::statement_span;
use agentir_ir::Statement;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-statement"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a statement follows one that always leaves",
    vendor: &["unreachable-code", "transition-multiple-targets"],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for dead in cx.program.graph().dead_code().iter().filter(|d| d.agent == cx.id) {
        found(cx, dead.leaves, dead.first, report);
    }
}

fn found(
    cx: &AgentContext<'_, '_>,
    before: &Statement,
    after: &Statement,
    report: &mut Report<'_>,
) {
    let (Some(leaves), Some(at)) = (statement_span(before), statement_span(after)) else { return };
    if !cx.owns(at) {
        return;
    }
    let (why, help) = match before {
        Statement::Goto(jump) => (
            match jump.target.step() {
                Some(step) => format!("the jump to `{step}` always leaves"),
                None => format!("`{}` always leaves", jump.target),
            },
            "move it before the jump, or remove it",
        ),
        Statement::Await { .. } | Statement::If { .. } => (
            "one of these branches is always taken, and each of them leaves".to_owned(),
            "remove it, or let the branch it belongs to continue",
        ),
        Statement::Call(_) => (
            "both the success and the failure of this call leave".to_owned(),
            "remove it, or let the outcome it belongs to continue",
        ),
        _ => ("this always leaves".to_owned(), "move it before that, or remove it"),
    };
    let finding = report
        .finding(at, "this statement is never executed")
        .label(leaves, why)
        .note("statements are executed in order until one leaves")
        .help(help);
    report.push(finding);
}
