//! Two lookup tables with the same name.

use crate::names::defined_twice;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-lookup-table"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "two lookup tables of an agent have the same name",
    vendor: &[],
    requires: &[Construct::LookupTables],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    let tables = agent.shadowed_lookup_tables.iter().chain(agent.lookup_tables.values());
    defined_twice(tables.map(|t| &t.name), &mut |again, before| {
        report.push(
            report
                .finding(again.span, format!("the lookup table `{again}` is defined twice"))
                .label(before.span, "first defined here")
                .help("merge the values into one table, or rename one of them")
                .note("only the last definition is used; values of the first are not found"),
        );
    });
}
