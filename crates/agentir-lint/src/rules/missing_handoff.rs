//! Instructions that hand over to an agent that cannot be reached from there.

use crate::prompt::{Names, handoffs, prompts};
use crate::rule::{Check, Group, ProgramContext, Report, Rule};
use agentir_diagnostics::{Confidence, RuleName, Severity};
use agentir_ir::AgentType;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("missing-handoff"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions hand over to an agent that nothing leads to from there",
    vendor: &[],
    dialects: crate::rule::ABL_AND_ADL,
    check: Check::Program(check),
};

fn check(cx: &ProgramContext<'_>, report: &mut Report<'_>) {
    let program = cx.program;
    if !program.complete {
        return;
    }
    let names =
        Names { agents: program.agents.iter().map(|a| a.metadata.name.value.as_str()).collect() };
    let routers: Vec<FxHashSet<&str>> = program
        .agents
        .iter()
        .filter(|a| a.metadata.kind == AgentType::Supervisor)
        .map(|a| {
            let own = std::iter::once(a.metadata.name.value.as_str());
            own.chain(a.targets().map(|t| t.value.as_str())).collect()
        })
        .collect();
    for agent in &program.agents {
        let own = agent.metadata.name.value.as_str();
        let mut direct: FxHashSet<&str> = agent.targets().map(|t| t.value.as_str()).collect();
        agent.walk(&mut |node| {
            if let agentir_ir::Node::AgentRef(to, _) = node {
                direct.insert(&to.value);
            }
        });
        for prompt in prompts(agent) {
            for handoff in handoffs(&prompt, &names) {
                let to = handoff.to;
                let together = routers.iter().any(|g| g.contains(own) && g.contains(to));
                if to == own || together || direct.contains(to) {
                    continue;
                }
                let place = prompt.place(&handoff.name);
                report.push(
                    report
                        .finding(place, format!("`{own}` is told to hand over to `{to}`, which it cannot reach"))
                        .confidence(Confidence::Medium)
                        .note("the model can only promise it: no agent that chooses knows both of them")
                        .help(format!("let one ensemble contain both `{own}` and `{to}`, or tell `{own}` something else")),
                );
            }
        }
    }
}
