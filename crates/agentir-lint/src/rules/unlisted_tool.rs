//! A tool that instructions mention but the agent does not have.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Confidence, RuleName, Severity, Span};
use agentir_expr::dialect::{Keyword, Tools};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unlisted-tool"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "instructions tell the model to call a tool that the agent does not have",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

/// The maximum number of further places that a finding shows.
const MAX_PLACES: usize = 8;

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let agent = cx.agent;
    // The tools that are exposed to the model.
    let mut listed: FxHashSet<&str> = agent.use_tools.iter().map(|t| t.value.as_str()).collect();
    listed.extend(cx.index.offers.iter().map(|offer| offer.name.value.as_str()));
    let must_list = cx.traits().tools == Tools::Functions;
    if !must_list {
        listed.extend(cx.index.tools.keys().copied());
    }
    // Other named things.
    let mut named: FxHashSet<&str> =
        cx.index.fields.iter().map(|f| f.name.value.as_str()).collect();
    named.extend(agent.flow.iter().flat_map(|f| f.definitions.keys().map(|k| k.as_str())));
    named.extend(agent.templates.keys().map(|k| k.as_str()));
    let mut reported = FxHashSet::default();
    // An agent without any tools lacks the section: that is one cause.
    let none = !must_list && listed.is_empty() && cx.program.library.is_empty();
    let mut without: Vec<Span> = Vec::new();
    let mut whole = None;
    for prompt in cx.prompts() {
        for tool in &prompt.mentions.tools {
            let known = listed.contains(tool.name)
                || (!must_list && cx.program.library.contains_key(tool.name))
                || named.contains(tool.name)
                || cx.program.agents.contains_key(tool.name)
                || (!must_list && cx.variables.knows(tool.name));
            // References to tools are marked; other names may belong to the platform.
            let before = prompt.template.text.value.get(..tool.range.start);
            // Another rule reports unknown references.
            let reference = before.is_some_and(|t| t.ends_with("@actions."));
            // Headings are in capitals: `see DEAL_SUMMARY`.
            let heading = !tool.name.chars().any(|c| c.is_ascii_lowercase());
            let unmarked = cx.traits().namespaced_references && (!tool.marked || reference);
            if known || unmarked || heading || !reported.insert(tool.name) {
                continue;
            }
            if none {
                without.push(prompt.place(&tool.range));
                if without.len() > 1 {
                    continue;
                }
            }
            let own = &agent.metadata.name;
            let words = cx.words(prompt.place(&tool.range));
            let nouns = words.nouns;
            let (what, note, help) = if must_list {
                let list = words.keyword(Keyword::UseTools);
                (
                    format!(
                        "the prompt calls `{}`, which is not listed in `{list}` of `{own}`",
                        tool.name
                    ),
                    format!(
                        "the model is only offered the functions in `{list}`; it can only pretend to call this one"
                    ),
                    match words.is_json() {
                        true => format!("add `\"{}\"` to `{list}`", tool.name),
                        false => format!("add `- {}` to `{list}`", tool.name),
                    },
                )
            } else {
                let section = words.keyword(Keyword::Tools);
                (
                    format!(
                        "the instructions call `{}`, but `{own}` has no such {}",
                        tool.name, nouns.tool
                    ),
                    format!(
                        "the model is only offered the {}s of the {}; it can only pretend to call this one",
                        nouns.tool, nouns.agent
                    ),
                    match words.is_json() {
                        true => format!("declare it in `{section}`, or name an existing one"),
                        false => format!("declare it below `{section}:`, or name an existing one"),
                    },
                )
            };
            let finding = report
                .finding(prompt.place(&tool.range), what)
                .confidence(Confidence::Medium)
                .note(note);
            let finding = suggest(finding, tool.name, listed.iter().copied(), || help);
            match none {
                true => whole = Some(finding),
                false => report.push(finding),
            }
        }
    }
    if let Some(finding) = whole {
        let others = without.iter().skip(1).take(MAX_PLACES);
        report.push(others.fold(finding, |finding, span| finding.label(*span, "nor this tool")));
    }
}
