//! An assignment to a linked variable.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::script::written;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("linked-variable-set"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a variable that the agent cannot write is set",
    vendor: &["set-variables-immutable-target"],
    requires: &[Construct::LinkedVariables],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    written(cx, &mut |name| {
        let Some(variable) = cx.program.variables.get(name.value.as_str()) else { return };
        if variable.mutability == Some("mutable") {
            return;
        }
        let declared = variable.name.span;
        report.push(if variable.mutability.is_some() {
            report
                .finding(name.span, format!("`{name}` is linked, so it cannot be set"))
                .label(declared, "declared here as `linked`")
                .note("linked variables are read-only: the platform sets them")
                .help(format!("declare it as `{name}: mutable …`, or set another variable"))
        } else {
            report
                .finding(
                    name.span,
                    format!("`{name}` is not declared as `mutable`, so it cannot be set"),
                )
                .label(declared, "declared here")
                .note("only mutable variables may be set (specification part I, 5.3)")
                .help(format!("declare it as `{name}: mutable …`"))
        });
    });
}
