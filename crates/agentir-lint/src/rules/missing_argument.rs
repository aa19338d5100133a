//! A tool call without a required argument.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::signature::signature;
use crate::wording::listed;
use agentir_analysis::calls::{is_required, matched_calls};
use agentir_diagnostics::{Confidence, RuleName, Severity};
use agentir_expr::dialect::{Keyword, Tools};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("missing-argument"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a tool call is missing a required argument",
    vendor: &["action-missing-input", "deterministic-action-missing-input"],
    requires: &[],
    check: Check::Agent(check),
};

/// `run` without a required input. The model fills the inputs of its own calls.
fn with_own_tools(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for matched in matched_calls(cx) {
        let (call, tool) = (matched.call, matched.tool);
        let missing: Vec<&str> = matched.missing().map(|p| p.name.value.as_str()).collect();
        if missing.is_empty() {
            continue;
        }
        let names: Vec<String> = missing.iter().map(|n| format!("`{n}`")).collect();
        let words = cx.words(call.tool.span);
        let with = |name: &&str| match words.is_json() {
            true => format!("`{{\"name\": \"{name}\", \"value\": …}}`"),
            false => format!("`with {name}=…`"),
        };
        let with: Vec<String> = missing.iter().map(with).collect();
        let mut finding = report
            .finding(
                call.tool.span,
                format!("this `run` of `{}` is missing {}", tool.name, listed(&names)),
            )
            .label(tool.name.span, "declared here")
            .help(format!("add {} {}", listed(&with), words.either("below it", "to its `with`")))
            .note("missing inputs are filled by the model, but `run` does not involve the model");
        finding.severity = Severity::Warning;
        report.push(finding);
    }
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.traits().tools == Tools::Local {
        with_own_tools(cx, report);
        return;
    }
    for matched_calls in matched_calls(cx) {
        let (call, tool) = (matched_calls.call, matched_calls.tool);
        // A bare `CALL: f` reads variables named like the parameters.
        let taken = |name: &str| !call.has_arguments && cx.variables.knows(name);
        let missing: Vec<String> = matched_calls
            .missing()
            .filter(|p| !taken(&p.name.value))
            .map(|p| format!("`{}`", p.name))
            .collect();
        if missing.is_empty() {
            continue;
        }
        let names = listed(&missing);
        let note = "a call without a required argument fails, and the step continues with its failure handling";
        let finding = if call.has_arguments {
            report
                .finding(call.tool.span, format!("this call of `{}` is missing {names}", tool.name))
                .help(format!("its signature is `{}`", signature(tool)))
        } else {
            let mut bare = report
                .finding(
                    call.tool.span,
                    format!(
                        "this call of `{}` is missing {names}, and no variable has that name",
                        tool.name
                    ),
                )
                .at("called without arguments")
                .help(format!(
                    "collect it, set it, or pass a value: `{}: {}`",
                    cx.words(call.tool.span).keyword(Keyword::Call),
                    example(&matched_calls.parameters, call)
                ))
                .confidence(Confidence::Medium);
            bare.severity = Severity::Warning;
            bare
        };
        report.push(finding.label(tool.name.span, "declared here").note(note));
    }
}

/// Returns the call with all its arguments by name.
fn example(
    parameters: &[(&agentir_ir::Parameter, Option<&agentir_expr::Argument>)],
    call: &agentir_ir::Call,
) -> String {
    let due =
        parameters.iter().filter(|(p, _)| is_required(p)).map(|(p, _)| format!("{}: …", p.name));
    format!("{}({})", call.tool, due.collect::<Vec<_>>().join(", "))
}
