//! Instructions to hand over to an agent that is not reachable.

use crate::rule::{Check, Group, Report, Rule};
use crate::wording::Wording;
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::dialects::is_adl;
use agentir_diagnostics::{Confidence, RuleName, Severity};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("missing-handoff"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions mention a handoff to an agent that cannot be reached from there",
    vendor: &[],
    dialects: crate::rule::ANY,
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
        let words = Wording::of(agent).agent;
        for prompt in analysis.prompts() {
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
                report.push(if is_adl(agent) {
                    finding
                        .note("the model can only pretend to do it: no ensemble contains both agents")
                        .help(format!("put both `{own}` and `{to}` into one ensemble, or change the instructions of `{own}`"))
                } else if cx.is_agent_script() {
                    finding
                        .note(format!("the model can only pretend to do it: no action of the {words} leads there"))
                        .help(format!("add an action `go_to_{to}: @utils.transition to @subagent.{to}`, or change the instructions of `{own}`"))
                } else {
                    finding
                        .note("the model can only pretend to do it: no handoff of the agent leads there")
                        .help(format!("add `{to}` to the `HANDOFF` of `{own}`, or change its instructions"))
                });
            }
        }
    }
}
