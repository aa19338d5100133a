//! A function that the prompt says to call, but `uses` does not list.

use crate::prompt::{prompts, tools};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Confidence, RuleName, Severity, closest};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unlisted-tool"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "a prompt says to call a function that `uses` does not list",
    vendor: &[],
    dialects: crate::rule::ADL,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    let listed: FxHashSet<&str> = agent.use_tools.iter().map(|t| t.value.as_str()).collect();
    let mut known: FxHashSet<&str> = listed.clone();
    known.extend(agent.gather.fields.iter().map(|f| f.name.value.as_str()));
    known.extend(cx.program.program.agents.iter().map(|a| a.metadata.name.value.as_str()));
    let mut told = FxHashSet::default();
    for prompt in prompts(agent) {
        for tool in tools(&prompt) {
            if known.contains(tool.name) || !told.insert(tool.name) {
                continue;
            }
            let own = &agent.metadata.name;
            let finding = report
                .finding(
                    prompt.place(&tool.range),
                    format!("the prompt says to call `{}`, which `uses` of `{own}` does not list", tool.name),
                )
                .confidence(Confidence::Medium)
                .note("the model is only offered what `uses` lists; it can do no more than pretend to call this");
            report.push(match closest(tool.name, listed.iter().copied()) {
                Some(near) => finding.help(format!("did you mean `{near}`?")),
                None => finding.help(format!("add `- {}` to `uses`", tool.name)),
            });
        }
    }
}
