//! A setting of a tool that names a parameter which the tool does not have.

use crate::names::suggest;
use crate::rule::{Check, Group, Report, Rule};
use crate::signature::signature;
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_ir::Tool;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-parameter"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "the confirmation of a tool names a parameter that the tool does not have",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let own = cx.program.agents().flat_map(|agent| &agent.tools);
    let libraries = cx.program.libraries.iter().flat_map(|library| &library.tools);
    for tool in own.chain(libraries) {
        of_tool(cx, tool, report);
    }
}

fn of_tool(cx: &ProgramAnalysis<'_>, tool: &Tool, report: &mut Report<'_>) {
    let Some(confirmation) = &tool.confirmation else { return };
    // Without a signature the tool has that of the project.
    let whole = match tool.parameters.is_empty() && tool.returns.is_none() {
        true => cx.library.get(tool.name.value.as_str()).copied(),
        false => Some(tool),
    };
    let Some(whole) = whole else { return };
    for name in &confirmation.immutable_params {
        let known = |root: &str| whole.parameters.iter().any(|p| p.name.value == root);
        let root = name.value.split(['.', '[']).next().unwrap_or_default();
        if known(root) {
            continue;
        }
        let finding = report
            .finding(name.span, format!("`{}` has no parameter `{name}`", tool.name))
            .label(whole.name.span, "declared here")
            .note("what the user confirmed is not kept from changing before the call");
        let all = whole.parameters.iter().map(|p| p.name.value.as_str());
        report.push(suggest(finding, &name.value, all, || {
            format!("its signature is `{}`", signature(whole))
        }));
    }
}
