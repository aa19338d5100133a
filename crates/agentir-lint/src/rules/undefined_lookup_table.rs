//! A reference to a lookup table that is not defined.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::expressions::lookup_refs;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-lookup-table"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a field or a parameter names a lookup table that does not exist",
    vendor: &[],
    requires: &[Construct::LookupTables],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let tables = &cx.agent.lookup_tables;
    lookup_refs(cx, &mut |name| {
        if tables.contains_key(&name.value) || name.span.file != cx.agent.metadata.name.span.file {
            return;
        }
        let finding = report
            .finding(name.span, format!("there is no lookup table `{name}`"))
            .note("without the table no value is found, so none is accepted");
        report.push(suggest(finding, &name.value, tables.keys().map(|k| k.as_str()), || {
            let words = cx.words(name.span);
            let tables = words.keyword(Keyword::LookupTables);
            match words.is_json() {
                true => format!("define it in `{tables}`: `\"{name}\": {{\"source\": …}}`"),
                false => format!("define it: `{name}:` with a `source` below `{tables}:`"),
            }
        }));
    });
}
