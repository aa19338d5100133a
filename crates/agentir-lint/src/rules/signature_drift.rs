//! A tool whose signature in an agent differs from that in the project's tool files.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::signature::signature;
use crate::wording::listed;
use agentir_analysis::calls::is_required;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Tools;
use agentir_expr::{TypeExpr, ValueType};
use agentir_ir::Tool;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("signature-drift"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "the signature of a tool in an agent differs from that in the project's tools",
    vendor: &["T-03", "T-06"],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.traits().tools != Tools::Declared {
        return;
    }
    for own in &cx.agent.tools {
        let Some(tool) = cx.program.library.get(own.name.value.as_str()) else { continue };
        // A tool without a signature takes that of the project.
        let untold = |tool: &Tool| tool.parameters.is_empty() && tool.returns.is_none();
        if !cx.owns(own.name.span) || untold(own) || untold(tool) {
            continue;
        }
        let differences = differences(own, tool);
        if differences.is_empty() {
            continue;
        }
        report.push(
            report
                .finding(
                    own.name.span,
                    format!("`{}` differs from the project's tool: {}", own.name, listed(&differences)),
                )
                .label(tool.name.span, "the project's tool")
                .note("the platform runs the project's tool, with the arguments that this signature lets the agent pass")
                .help(format!("write `{}`", signature(tool))),
        );
    }
}

/// How the signature of an agent differs from that of the project, in words.
fn differences(own: &Tool, tool: &Tool) -> Vec<String> {
    let mut all = Vec::new();
    for parameter in &tool.parameters {
        let name = &parameter.name.value;
        match own.parameters.iter().find(|p| p.name.value == *name) {
            None if is_required(parameter) => {
                all.push(format!("it lacks the parameter `{name}`"));
            }
            Some(known) => {
                if let Some((here, there)) = types_differ(known.ty.as_ref(), parameter.ty.as_ref())
                {
                    all.push(format!("`{name}` is {here} here and {there} there"));
                }
            }
            None => {}
        }
    }
    if !tool.extensions.has("kwargs") {
        let known = |name: &str| tool.parameters.iter().any(|p| p.name.value == name);
        let others = own.parameters.iter().filter(|p| !known(&p.name.value));
        all.extend(others.map(|p| format!("it has a parameter `{}` that the tool lacks", p.name)));
    }
    if let (Some(here), Some(there)) = (&own.returns, &tool.returns)
        && !there.fields.is_empty()
    {
        for field in &here.fields {
            match there.fields.iter().find(|f| f.name.value == field.name.value) {
                None => all.push(format!("its result has no field `{}`", field.name)),
                Some(other) => {
                    if let Some((one, two)) = types_differ(Some(&field.ty), Some(&other.ty)) {
                        all.push(format!(
                            "the field `{}` of its result is {one} here and {two} there",
                            field.name
                        ));
                    }
                }
            }
        }
    }
    all
}

/// Two types in words, if they are of different kinds.
fn types_differ(one: Option<&TypeExpr>, two: Option<&TypeExpr>) -> Option<(String, String)> {
    let (one, two) = (ValueType::of(one?)?, ValueType::of(two?)?);
    let (a, b) = (one.words().to_owned(), two.words().to_owned());
    (a != b).then_some((a, b))
}
