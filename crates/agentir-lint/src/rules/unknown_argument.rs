//! An argument that the tool does not take.

use crate::arguments::{matched, signature};
use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unknown-argument"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a tool call gives an argument that the tool does not take",
    vendor: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    for matched in matched(cx) {
        let tool = matched.tool;
        let takes = || format!("its signature is `{}`", signature(tool));
        for argument in matched.others {
            let finding = match &argument.name {
                Some(name) => {
                    let finding = report.finding(
                        name.span,
                        format!("the tool `{}` has no parameter `{name}`", tool.name),
                    );
                    suggest(
                        finding,
                        &name.value,
                        tool.parameters.iter().map(|p| p.name.value.as_str()),
                        takes,
                    )
                }
                None => {
                    let most = match tool.parameters.len() {
                        0 => "no arguments".to_owned(),
                        1 => "1 argument".to_owned(),
                        n => format!("{n} arguments"),
                    };
                    let message = format!(
                        "the tool `{}` takes {most}, not {}",
                        tool.name,
                        matched.call.with.len()
                    );
                    report.finding(argument.value.span, message).at("one too many").help(takes())
                }
            };
            report.push(
                finding
                    .label(tool.name.span, "declared here")
                    .note("the tool never sees this value; strict tools refuse the whole call"),
            );
        }
    }
}
