//! Instructions that hand the conversation on in a cycle.

use crate::rule::{Check, Group, Report, Rule};
use crate::wording::listed;
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::prompt::PromptHandoff;
use agentir_diagnostics::{Confidence, Label, RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("prompt-loop"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions hand the conversation from agent to agent in a cycle",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    for found in cx.instructions().cycles() {
        let Some(first) = found.edges.first() else { continue };
        let chain: Vec<String> = found
            .edges
            .iter()
            .map(|e| e.from)
            .chain([first.from])
            .map(|n| format!("`{n}`"))
            .collect();
        let mut finding = report
            .finding(first.span, format!("these instructions form a cycle: {}", chain.join(" → ")))
            .at(format!("`{}` always hands over to `{}` here", first.from, first.to))
            .confidence(Confidence::Medium);
        let step = |edge: &PromptHandoff<'_>| {
            let how = match (edge.by_call, edge.mandatory) {
                (true, _) => "calls",
                (false, true) => "always hands over to",
                (false, false) => "may hand over to",
            };
            Label::new(edge.span, format!("`{}` {how} `{}` here", edge.from, edge.to))
        };
        finding.labels.extend(found.edges.iter().skip(1).map(step));
        finding = finding.run(found.edges.iter().map(step), true);
        let mut note = format!(
            "nothing that `{}` does in between changes what `{}` does when it starts again",
            first.to, first.from
        );
        if !found.cut_off.is_empty() {
            let (steps, are) = match found.cut_off.len() {
                1 => ("step", "is"),
                _ => ("steps", "are"),
            };
            note.push_str(&format!(
                "; {steps} {} of `{}` {are} never reached",
                listed(&found.cut_off),
                first.from
            ));
            if !found.lost_tools.is_empty() {
                let tools: Vec<String> =
                    found.lost_tools.iter().map(|t| format!("`{t}`")).collect();
                note.push_str(&format!(", so {} can never be called", listed(&tools)));
            }
        }
        report.push(finding.note(note).help(format!(
            "hand over only when needed, and let a tool decide: \"Call … . If there is no …, enter the {} agent\"",
            first.to
        )));
    }
}
