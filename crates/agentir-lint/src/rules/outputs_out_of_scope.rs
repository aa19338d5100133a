//! `@outputs` without an enclosing action, or shadowed by another action.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::script::{Outputs, output, outputs};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("outputs-out-of-scope"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "`@outputs` is read outside the callback of an action",
    vendor: &[],
    requires: &[Construct::Callbacks],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    outputs(cx.agent, &mut |path, here| {
        let name = output(path);
        if matches!(here, Outputs::Nothing) {
            report.push(
                report
                    .finding(name.span, format!("`@outputs.{name}` is read outside the callback of an action"))
                    .note("`@outputs` holds the outputs of an action, and only below that action")
                    .help("move this below the `run` of the action, or use a variable that is set there"),
            );
        }
    });
}
