//! A tool with side effects that does not declare whether the user must confirm.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_ir::Tool;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("side-effect-without-confirmation"),
    group: Group::Versions,
    severity: Severity::Warning,
    summary: "a tool has side effects or locked parameters, and no `confirm`",
    vendor: &["SIDE_EFFECT_TOOL_WITHOUT_CONFIRMATION"],
    requires: &[Construct::SideEffects],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    // The signature and the implementation may be in different files; one declaration is enough.
    let message = |tool: &Tool| tool.confirmation.as_ref().is_some_and(|c| c.require.is_some());
    let decided: FxHashSet<&str> =
        cx.program.tools().filter(|t| message(t)).map(|t| t.name.value.as_str()).collect();
    for tool in cx.program.tools() {
        let locked = tool.confirmation.iter().flat_map(|c| &c.immutable_params).next();
        if let Some(locked) = locked.filter(|_| !decided.contains(tool.name.value.as_str())) {
            report.push(
                report
                    .finding(locked.span, format!("`{}` is never confirmed, so that this locks nothing", tool.name))
                    .note("what the user has confirmed must not change; without `confirm` nobody is asked")
                    .help("add `confirm: always` or `confirm: when_side_effects`"),
            );
            continue;
        }
        if tool.hints.side_effects != Some(true)
            || message(tool)
            || decided.contains(tool.name.value.as_str())
        {
            continue;
        }
        let name = &tool.name;
        report.push(
            report
                .finding(name.span, format!("`{name}` has side effects, but no `confirm`"))
                .note("without it the runtime calls the tool without asking the user")
                .help("add `confirm: always`, `confirm: when_side_effects` or, if intended, `confirm: never`"),
        );
    }
}
