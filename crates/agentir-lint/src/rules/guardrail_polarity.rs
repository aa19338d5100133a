//! A guardrail whose check describes allowed content instead of violations.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Applicability, Confidence, RuleName, Severity};
use agentir_expr::Version;
use agentir_expr::dialect::Construct;
use agentir_ir::polarity::{inverted, reads_like_pass};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("guardrail-polarity"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "the check of a guardrail describes what is allowed, so it blocks what is allowed",
    vendor: &[],
    requires: &[Construct::Guardrails],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.version < Version::Current {
        return;
    }
    let mut last = None;
    for guardrail in &cx.agent.constraints.guardrails {
        let Some(check) = guardrail.check.as_ref().filter(|c| reads_like_pass(c)) else { continue };
        // `kind: both` is lowered to two guardrails with one check.
        if last.replace(check.span) == Some(check.span) {
            continue;
        }
        let instead = inverted(check);
        let mut finding = report
            .finding(check.span, format!("the check of the guardrail `{}` is true for what should be let through", name(guardrail)))
            .note(
                "a check describes the violation: the guardrail acts when it is true (in legacy ABL it acted when it was false)",
            )
            .help(format!("describe what is not allowed: `{instead}`"))
            .confidence(Confidence::Medium);
        if !instead.contains('"') {
            finding = finding.replace(instead, Applicability::Unsafe);
        }
        report.push(finding);
    }
}

/// Returns the name in the source: lowering of `both` adds a suffix.
fn name(guardrail: &agentir_ir::Guardrail) -> &str {
    let name = guardrail.name.value.as_str();
    let written =
        usize::try_from(guardrail.name.span.end.saturating_sub(guardrail.name.span.start))
            .unwrap_or(0);
    name.get(..written).unwrap_or(name)
}
