//! Two templates with the same name.

use crate::names::defined_twice;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-template"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "two templates of an agent have the same name",
    vendor: &[],
    requires: &[Construct::Templates],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    let templates = agent.shadowed_templates.iter().chain(agent.templates.values());
    defined_twice(templates.map(|t| &t.name), &mut |again, before| {
        report.push(
            report
                .finding(again.span, format!("the template `{again}` is defined twice"))
                .label(before.span, "first defined here")
                .help("remove one of the two, or rename it")
                .note("only the last definition is used; the first text is never shown"),
        );
    });
}
