//! A tool that instructions mention but the agent does not have.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::wording::Wording;
use agentir_analysis::dialects::is_adl;
use agentir_diagnostics::{Confidence, RuleName, Severity};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unlisted-tool"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions tell the model to call a tool that the agent does not have",
    vendor: &[],
    dialects: crate::rule::ANY,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    // The tools that are exposed to the model.
    let mut listed: FxHashSet<&str> = agent.use_tools.iter().map(|t| t.value.as_str()).collect();
    listed.extend(cx.index.offers.iter().map(|offer| offer.name.value.as_str()));
    if !is_adl(agent) {
        listed.extend(cx.index.tools.keys().copied());
    }
    // Other named things.
    let mut named: FxHashSet<&str> =
        cx.index.fields.iter().map(|f| f.name.value.as_str()).collect();
    named.extend(agent.flow.iter().flat_map(|f| f.definitions.keys().map(|k| k.as_str())));
    named.extend(agent.templates.keys().map(|k| k.as_str()));
    let mut reported = FxHashSet::default();
    for prompt in cx.prompts() {
        for tool in &prompt.mentions.tools {
            let known = listed.contains(tool.name)
                || (!is_adl(agent) && cx.program.library.contains_key(tool.name))
                || named.contains(tool.name)
                || cx.program.agents.contains_key(tool.name)
                || (!is_adl(agent) && cx.variables.knows(tool.name));
            // Agent Script refers to its actions as `{!@actions.name}`; other names may belong to
            // the platform.
            let before = prompt.template.text.value.get(..tool.range.start);
            // Another rule reports unknown references.
            let reference = before.is_some_and(|t| t.ends_with("@actions."));
            let unmarked = cx.is_agent_script() && (!tool.marked || reference);
            if known || unmarked || !reported.insert(tool.name) {
                continue;
            }
            let own = &agent.metadata.name;
            let words = Wording::of(agent);
            let (what, note, help) = if is_adl(agent) {
                (
                    format!("the prompt calls `{}`, which is not listed in `uses` of `{own}`", tool.name),
                    "the model is only offered the functions in `uses`; it can only pretend to call this one".to_owned(),
                    format!("add `- {}` to `uses`", tool.name),
                )
            } else {
                let section = words.tools_section;
                (
                    format!(
                        "the instructions call `{}`, but `{own}` has no such {}",
                        tool.name, words.tool
                    ),
                    format!(
                        "the model is only offered the {}s of the {}; it can only pretend to call this one",
                        words.tool, words.agent
                    ),
                    format!("declare it below `{section}`, or name an existing one"),
                )
            };
            let finding = report
                .finding(prompt.place(&tool.range), what)
                .confidence(Confidence::Medium)
                .note(note);
            report.push(suggest(finding, tool.name, listed.iter().copied(), || help));
        }
    }
}
