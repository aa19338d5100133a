//! A flow without steps.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("empty-flow"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a flow has no steps",
    vendor: &["EMPTY_FLOW"],
    requires: &[Construct::StepGraph],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(flow) = cx.agent.flow.as_ref().filter(|f| f.definitions.is_empty()) else { return };
    let finding = report.finding(flow.key, "this flow has no steps").note(format!(
        "an agent with a `{}` only executes its steps, so this one does nothing",
        cx.words(flow.key).keyword(Keyword::Flow)
    ));
    let finding = match flow.steps.first() {
        Some(named) => {
            finding.help(format!("write the step `{named}:` below it, or remove the section"))
        }
        None => finding.help(
            "add at least one step, or remove the section so that the model leads the conversation",
        ),
    };
    report.push(finding);
}
