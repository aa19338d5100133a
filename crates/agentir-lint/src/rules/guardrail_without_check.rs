//! A guardrail without a check.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("guardrail-without-check"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "a guardrail has no check",
    vendor: &[],
    requires: &[Construct::Guardrails],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut last = None;
    for guardrail in &cx.agent.constraints.guardrails {
        // An unreadable check has been reported; presets define it elsewhere.
        let message = guardrail.check_span.is_some()
            || guardrail.llm_check.is_some()
            || guardrail.provider.is_some()
            || guardrail
                .extensions
                .0
                .values()
                .any(|e| e.contains_key("preset_key") || e.contains_key("entities"));
        let at = guardrail.name.span;
        if message || last.replace(at) == Some(at) {
            continue;
        }
        report.push(
            report
                .finding(at, "this guardrail has no check")
                .note("it never acts, and lets everything through")
                .help(cx.words(at).either(
                    "add `check:` with a condition, `llm_check:` with a question for the model, or `provider:`",
                    "add `check` with a condition, `llmCheck` with a question for the model, or `provider`",
                )),
        );
    }
}
