//! An argument that the tool does not have.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::signature::signature;
use crate::wording::{listed, plural};
use agentir_analysis::calls::matched_calls;
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::Tools;
use agentir_ir::{BindingAction, Tool};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unknown-argument"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a tool call passes an argument that the tool does not have",
    vendor: &["action-unknown-input", "deterministic-action-unknown-input"],
    requires: &[],
    check: Check::Agent(check),
};

/// Inputs of actions that are exposed to the model.
fn offered(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for offer in &cx.index.offers {
        let BindingAction::Call { tool } = &offer.action else { continue };
        let Some(tool) = own_tool(cx, &tool.value) else { continue };
        for input in &offer.with {
            if tool.parameters.iter().all(|p| p.name.value != input.name.value) {
                tell(cx, tool, &input.name, report);
            }
        }
    }
}

/// Returns the tool of this name whose inputs are all declared. Actions that agentfabric declares for the whole document
/// accept the inputs of their servers in addition to those listed.
fn own_tool<'a>(cx: &AgentContext<'_, 'a>, name: &str) -> Option<&'a Tool> {
    match cx.traits().tools {
        Tools::Local => cx.index.tools.get(name).copied(),
        Tools::Declared | Tools::Functions => cx.tool(name),
    }
}

/// `with` names an input that the action does not declare.
fn tell(cx: &AgentContext<'_, '_>, tool: &Tool, name: &Spanned<Name>, report: &mut Report<'_>) {
    let is_json = cx.words(name.span).is_json();
    let words = cx.words(name.span).nouns;
    let finding = report.finding(
        name.span,
        format!("the {} `{}` has no {} `{name}`", words.tool, tool.name, words.argument),
    );
    let known = || tool.parameters.iter().map(|p| p.name.value.as_str());
    let finding = suggest(finding, &name.value, known(), || match tool.parameters.is_empty() {
        true if is_json => format!("`{}` has none; declare them in its `parameters`", tool.name),
        true => format!("`{}` has no inputs; declare them below its `inputs:`", tool.name),
        false => {
            let has: Vec<String> = known().map(|n| format!("`{n}`")).collect();
            format!(
                "`{}` has the {} {}",
                tool.name,
                plural(words.argument, has.len()),
                listed(&has)
            )
        }
    });
    report.push(finding.label(tool.name.span, "declared here").note("the agent does not compile"));
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    offered(cx, report);
    if cx.traits().tools == Tools::Local {
        for call in &cx.index.calls {
            let Some(tool) = own_tool(cx, &call.tool.value) else { continue };
            for name in call.with.iter().filter_map(|a| a.name.as_ref()) {
                if tool.parameters.iter().all(|p| p.name.value != name.value) {
                    tell(cx, tool, name, report);
                }
            }
        }
        return;
    }
    for matched_calls in matched_calls(cx) {
        let tool = matched_calls.tool;
        let takes = || format!("its signature is `{}`", signature(tool));
        for argument in matched_calls.others {
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
                        matched_calls.call.with.len()
                    );
                    report
                        .finding(argument.value.span, message)
                        .at("unexpected argument")
                        .help(takes())
                }
            };
            report.push(
                finding
                    .label(tool.name.span, "declared here")
                    .note("the tool never receives this value; strict tools reject the whole call"),
            );
        }
    }
}
