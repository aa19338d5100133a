//! Gather fields that depend on each other.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Label, RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_flow::{Dependency, dependency_cycles};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("circular-dependency"),
    group: Group::Reachability,
    severity: Severity::Error,
    summary: "gather fields depend on each other",
    vendor: &["CIRCULAR_DEPENDS_ON"],
    requires: &[Construct::FieldDependencies],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for cycle in dependency_cycles(&cx.index.fields) {
        let Some((first, rest)) = cycle.split_first() else { continue };
        if !cx.owns(first.on.span) {
            continue;
        }
        let message = if rest.is_empty() {
            format!("the field `{}` depends on itself", first.field)
        } else {
            format!("the field `{}` depends on itself through `{}`", first.field, first.on)
        };
        let step = |Dependency { field, on }: &Dependency<'_>| {
            Label::new(on.span, format!("`{field}` depends on `{on}`"))
        };
        let mut finding = report
            .finding(first.on.span, message)
            .at(step(first).message)
            .note(
                "a field is asked for once the fields it depends on have values; these never have",
            )
            .help("remove one of the `depends_on`")
            .run(cycle.iter().map(step), true);
        finding.labels.extend(rest.iter().map(step));
        report.push(finding);
    }
}
