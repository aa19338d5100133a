//! Two entities with the same name.

use crate::names::defined_twice;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-entity"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "two entities of an agent have the same name",
    vendor: &[],
    requires: &[Construct::Entities],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let understood = cx.agent.nlu.iter().flat_map(|n| &n.entities);
    defined_twice(
        cx.agent.entities.iter().chain(understood).map(|e| &e.name),
        &mut |again, before| {
            report.push(
                report
                    .finding(again.span, format!("the entity `{again}` is defined twice"))
                    .label(before.span, "first defined here")
                    .help("keep one definition, with the values of both")
                    .note("fields refer to entities by name, so only one of the two is used"),
            );
        },
    );
}
