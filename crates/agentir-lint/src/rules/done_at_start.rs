//! An agent that completes or fails before it has done anything.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::initial_state::InitialState;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_expr::{Condition, Path};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("done-at-start"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a `COMPLETE` or `ESCALATE` condition is already true when the conversation begins",
    vendor: &[],
    requires: &[Construct::Completion],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let start = InitialState::of(cx);
    let completes = cx.agent.completion.conditions.iter().filter_map(|c| c.when.as_ref());
    for condition in completes {
        look(cx, &start, condition, "done after its first answer", report);
    }
    let triggers = cx.agent.coordination.escalation.iter().flat_map(|e| &e.triggers);
    for condition in triggers.filter_map(|t| t.when.as_ref()) {
        look(cx, &start, condition, "escalated to a person at the first message", report);
    }
}

fn look<'a>(
    cx: &AgentContext<'_, 'a>,
    start: &InitialState,
    condition: &'a Condition,
    happens: &str,
    report: &mut Report<'_>,
) {
    let Some(expr) = condition.expr() else { return };
    let mut paths: Vec<Path> = Vec::new();
    expr.paths(&mut |path| {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    });
    if !paths.iter().any(|path| path.namespace.is_none() && start.is_known(&path.root.value)) {
        return;
    }
    let mut query = cx.query();
    start.add_to(&mut query, &paths);
    let Some(core) = query.prove(condition, true) else { return };
    // Conditions that hold for all values are reported by another rule.
    if core.facts.is_empty() {
        return;
    }
    let subject = if happens.starts_with("escalated") { "the conversation" } else { "the agent" };
    let finding = report
        .finding(condition.span(), "this condition is already true when the conversation begins")
        .at(format!("{subject} is {happens}"));
    report.push(
        explain_core(finding, &core)
            .note("these conditions are tested after every turn, including the first")
            .help("test something that is only true when the work is done, such as `… IS SET` of a result"),
    );
}
