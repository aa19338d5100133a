//! A completion condition that an earlier one shadows.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::shadowing::shadowed_by;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::Condition;
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("shadowed-completion"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a `COMPLETE` condition is never reached because an earlier one always applies",
    vendor: &[],
    requires: &[Construct::Completion],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let all: Vec<&Condition> =
        cx.agent.completion.conditions.iter().filter_map(|c| c.when.as_ref()).collect();
    for (at, this) in all.iter().enumerate().skip(1) {
        let earlier: Vec<Option<&Condition>> = all.iter().take(at).map(|c| Some(*c)).collect();
        let Some(shadowed_by) = shadowed_by(cx, &earlier, Some(this)) else { continue };
        let mut finding = report
            .finding(this.span(), "this condition never completes the agent")
            .at("whenever this is true …");
        for other in shadowed_by.by.iter().filter_map(|by| all.get(*by)) {
            finding = finding.label(other.span(), "… this is true as well, and comes first");
        }
        report.push(
            explain_core(finding, &shadowed_by.core)
                .note("after each turn the first condition that is true ends the agent with its own response; the response and the values of this one are lost")
                .help("put the narrower condition first, or remove this one"),
        );
    }
}
