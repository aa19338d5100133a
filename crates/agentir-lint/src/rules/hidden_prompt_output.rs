//! The output of a prompt template that nobody sees.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_ir::{Data, Tool};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("hidden-prompt-output"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "the output of a prompt template is shown neither to the user nor to the model",
    vendor: &["prompt-template-output-flags"],
    requires: &[Construct::PromptTemplates],
    check: Check::Agent(check),
};

/// The targets that render a prompt template and return the model's answer.
const TEMPLATES: &[&str] = &["generatePromptResponse", "prompt"];

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for tool in cx.agent.tools.iter().filter(|t| is_template(t)) {
        let Some(returns) = &tool.returns else { continue };
        for field in returns.fields.iter().filter(|f| hidden(tool, &f.name.value)) {
            let name = &field.name;
            report.push(
                report
                    .finding(name.span, format!("the output of `{}` is shown to nobody", tool.name))
                    .note("its flags hide it from the model and from the user")
                    .help("write `is_displayable: True` or `is_used_by_planner: True` below it"),
            );
        }
    }
}

fn is_template(tool: &Tool) -> bool {
    let target = tool.binding.as_ref().and_then(|b| b.0.get("target"));
    let Some(Data::String(target)) = target else { return false };
    let scheme = target.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
    TEMPLATES.iter().any(|t| t.eq_ignore_ascii_case(scheme))
}

/// Whether both flags of an output are present and off; their defaults depend on the platform.
fn hidden(tool: &Tool, output: &str) -> bool {
    let said = tool.extensions.named("outputs");
    let flags: Vec<&Data> = said.filter_map(|e| e.value.get(output)).collect();
    ["is_displayable", "is_used_by_planner"]
        .iter()
        .all(|flag| flags.iter().any(|all| all.get(flag) == Some(&Data::Bool(false))))
}
