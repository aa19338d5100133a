//! A variable of the platform's that the agent sets.

use crate::rule::{AGENT_SCRIPT, AgentContext, Check, Group, Report, Rule};
use crate::script::variables;
use agentir_diagnostics::{RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("linked-variable-set"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a variable that only the platform may write is set",
    vendor: &[],
    dialects: AGENT_SCRIPT,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    variables(cx, &mut |name, written| {
        let Some(variable) = cx.program.variables.get(name.value.as_str()) else { return };
        if !written || variable.mutability != Some("linked") {
            return;
        }
        report.push(
            report
                .finding(name.span, format!("`{name}` is linked, so it cannot be set"))
                .label(variable.name.span, "declared here as `linked`")
                .note("linked variables are read-only: the platform gives them their values")
                .help(format!("declare it as `{name}: mutable …`, or set another variable")),
        );
    });
}
