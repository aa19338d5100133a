//! A session variable that is declared twice.

use crate::names::defined_twice;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-variable"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a session variable is declared twice",
    vendor: &["duplicate-name"],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    defined_twice(cx.agent.memory.session.iter().map(|v| &v.name), &mut |again, before| {
        let mut finding = report
            .finding(again.span, format!("the variable `{again}` is declared twice"))
            .label(before.span, "first declared here")
            .help("remove one of the two declarations")
            .note("both declare the same variable; which initial value it gets is undefined");
        if cx.traits().unique_declarations {
            finding.severity = Severity::Error;
        }
        report.push(finding);
    });
}
