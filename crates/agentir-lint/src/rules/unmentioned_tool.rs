//! A function in `uses` that the prompt never mentions.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Confidence, RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unmentioned-tool"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "`uses` lists a function that the prompt never mentions",
    vendor: &[],
    requires: &[Construct::ToolLists],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let prompts = cx.prompts();
    if prompts.is_empty() {
        return;
    }
    for tool in &cx.agent.use_tools {
        let mentioned = prompts.iter().any(|p| p.template.text.value.contains(tool.value.as_str()));
        if mentioned {
            continue;
        }
        report.push(
            report
                .finding(tool.span, format!("the prompt never mentions `{tool}`"))
                .confidence(Confidence::Medium)
                .note("the prompt should say when to call each function (paper, B.3 and C.2); otherwise the model decides at random")
                .help(format!("say in the prompt when to call `{tool}`, or remove it from `uses`")),
        );
    }
}
