//! A field that occurs twice in one gather.

use crate::names::defined_twice;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_ir::{Gather, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-gather-field"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a field occurs twice in one `GATHER`",
    vendor: &[],
    requires: &[Construct::Fields],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let steps = cx.agent.flow.iter().flat_map(|f| f.definitions.values().chain(&f.shadowed));
    let collected = steps.flat_map(|step| &step.body.0).filter_map(|statement| match statement {
        Statement::Collect(collect) => Some(&collect.gather),
        _ => None,
    });
    // A field in two steps is collected once, in the first of them.
    for gather in std::iter::once(&cx.agent.gather).chain(collected) {
        tell(gather, report);
    }
}

fn tell(gather: &Gather, report: &mut Report<'_>) {
    defined_twice(gather.fields.iter().map(|f| &f.name), &mut |again, before| {
        report.push(
            report
                .finding(again.span, format!("the field `{again}` is defined twice"))
                .label(before.span, "first defined here")
                .help("keep one of the two, with the intended prompt and validation")
                .note("both write the same variable; which prompt and which validation apply is undefined"),
        );
    });
}
