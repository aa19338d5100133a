//! Two steps with the same name.

use crate::names::defined_twice;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-step"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a flow has two steps of the same name",
    vendor: &["DUPLICATE_STEP_NAME"],
    requires: &[Construct::Steps],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(flow) = &cx.agent.flow else { return };
    let steps = flow.shadowed.iter().chain(flow.definitions.values()).map(|s| &s.name);
    defined_twice(steps, &mut |again, before| {
        let what = cx.words(again.span).nouns.step;
        report.push(
            report
                .finding(again.span, format!("the {what} `{again}` is defined twice"))
                .at("this definition replaces the other")
                .label(before.span, "first defined here")
                .help("rename one of the two, or remove it")
                .note("only the last definition is used; the first is never executed"),
        );
    });
}
