//! A lookup table without references.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::lookup_refs;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unused-lookup-table"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a lookup table is defined, but no field or parameter uses it",
    vendor: &[],
    requires: &[Construct::LookupTables],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut used = FxHashSet::default();
    lookup_refs(cx, &mut |name| {
        used.insert(name.value);
    });
    for table in cx.agent.lookup_tables.values().filter(|t| !used.contains(&t.name.value)) {
        let name = &table.name;
        report.push(
            report
                .finding(name.span, format!("the lookup table `{name}` is never used"))
                .help(match cx.words(name.span).is_json() {
                    true => format!(
                        "refer to it from a field, with `\"semantics\": {{\"lookup\": \"{name}\"}}`, or remove it"
                    ),
                    false => format!(
                        "refer to it from a field, `semantics:` with `lookup: {name}`, or remove it"
                    ),
                })
                .note("a table that no field or parameter refers to is never loaded"),
        );
    }
}
