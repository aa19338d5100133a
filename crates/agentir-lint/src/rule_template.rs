//! (What it finds, in a sentence.)

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("example-rule"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "(what it finds, lower case, no full stop)",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for call in &cx.index.calls {
        if call.tool.value == "example_tool" {
            report.push(report.finding(call.tool.span, format!("`{}` is an example", call.tool)));
        }
    }
}
