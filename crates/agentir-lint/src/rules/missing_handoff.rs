//! Instructions to hand over to an agent that is not reachable.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Confidence, RuleName, Severity};
use agentir_expr::dialect::Phrase;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("missing-handoff"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions mention a handoff to an agent that cannot be reached from there, or that there is not",
    vendor: &[],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    if !cx.program.complete {
        return;
    }
    let said = cx.instructions();
    for analysis in cx.all_agents() {
        let agent = analysis.agent;
        let own = agent.metadata.name.value.as_str();
        for prompt in analysis.prompts() {
            for one in prompt.mentions.misspelled.iter().filter(|one| one.meant != own) {
                let written = prompt.template.text.value.get(one.range.clone()).unwrap_or_default();
                let message = format!(
                    "the instructions of `{own}` hand over to `{written}`, which is no agent"
                );
                report.push(
                    report
                        .finding(prompt.place(&one.range), message)
                        .confidence(Confidence::Medium)
                        .did_you_mean(one.meant),
                );
            }
            for handoff in &prompt.mentions.handoffs {
                let (to, handoff_graph) = (handoff.to, said.handoff_graph());
                if to == own || handoff_graph.routed(own, to) || handoff_graph.direct(own, to) {
                    continue;
                }
                let finding = report
                    .finding(
                        prompt.place(&handoff.name),
                        format!(
                            "the instructions of `{own}` hand over to `{to}`, which it cannot reach"
                        ),
                    )
                    .confidence(Confidence::Medium);
                let words = cx.words(finding.primary.span);
                report.push(
                    finding
                        .note(words.phrase(Phrase::CannotHandOver))
                        .help(words.phrase_with(Phrase::HandOver, &[("own", own), ("to", to)])),
                );
            }
        }
    }
}
