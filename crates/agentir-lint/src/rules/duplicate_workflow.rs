//! Two tools that run the same workflow.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_ir::Tool;
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("duplicate-workflow"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "two tools have the same workflow",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

/// What decides which workflow a tool runs.
const KEYS: [&str; 3] = ["workflow_version", "trigger_id", "param_mapping"];

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let mut known: FxHashMap<&str, Vec<&Tool>> = FxHashMap::default();
    let libraries = cx.program.libraries.iter().flat_map(|library| &library.tools);
    for tool in libraries.chain(cx.program.agents().flat_map(|agent| &agent.tools)) {
        let setting = |key: &str| tool.binding.as_ref().and_then(|binding| binding.0.get(key));
        let Some(id) =
            setting("workflow_id").and_then(|id| id.as_str()).filter(|id| !id.is_empty())
        else {
            continue;
        };
        let all = known.entry(id).or_default();
        let same = |other: &&&Tool| {
            let others = |key: &str| other.binding.as_ref().and_then(|binding| binding.0.get(key));
            other.name.value != tool.name.value
                && KEYS.iter().all(|key| match (setting(key), others(key)) {
                    (Some(own), Some(other)) => own == other,
                    (None, None) => true,
                    // What one of them leaves out may be what the other says.
                    _ => *key == "workflow_version",
                })
        };
        if let Some(other) = all.iter().find(same) {
            report.push(
                report
                    .finding(
                        tool.name.span,
                        format!("`{}` runs the same workflow as `{}`", tool.name, other.name),
                    )
                    .label(other.name.span, "this tool has the same `workflow_id`")
                    .note("one of them was probably copied, and does what the other one should")
                    .help("give it the `workflow_id` of its own workflow, or keep one tool"),
            );
        }
        all.push(tool);
    }
}
