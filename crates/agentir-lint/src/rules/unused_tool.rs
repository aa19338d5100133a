//! A tool that nothing can call.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::script::references;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword, Tools};
use agentir_ir::{Data, ToolUse};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unused-tool"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a tool is declared, but never called or offered to the model",
    vendor: &["unused-action"],
    requires: &[Construct::ToolDeclarations],
    check: Check::Agent(check),
};

/// The model sees only the actions below `reasoning:`.
fn with_own_tools(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let index = &cx.index;
    let mut used: FxHashSet<&str> = index.calls.iter().map(|c| c.tool.value.as_str()).collect();
    used.extend(index.tool_refs.iter().map(|(name, _)| name.value.as_str()));
    references(cx, &mut |namespace, name, _| {
        if namespace == "actions" {
            used.insert(&name.value);
        }
    });
    for tool in cx.agent.tools.iter().filter(|t| !used.contains(t.name.value.as_str())) {
        let name = &tool.name;
        report.push(
            report
                .finding(name.span, format!("the action `{name}` is never used"))
                .help(match cx.words(name.span).is_json() {
                    true => "offer it to the model in `reasoning.bindings`, call it with `call_spec`, or remove it".to_owned(),
                    false => format!("offer it to the model below `reasoning:`, `actions:`, call it with `run @actions.{name}`, or remove it"),
                })
                .note("declaring an action does not offer it to the model"),
        );
    }
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.traits().tools == Tools::Local {
        with_own_tools(cx, report);
        return;
    }
    // Without a flow the model may call every tool.
    let Some(flow) = &cx.agent.flow else { return };
    let mut steps = flow.definitions.values().chain(&flow.shadowed);
    let all_offered = |zone: &agentir_ir::ReasoningZone| zone.available_tools.is_none();
    if steps.any(|s| s.reasoning_zone.as_ref().is_some_and(all_offered) || s.reasoning.is_none()) {
        return;
    }
    let index = &cx.index;
    let mut used: FxHashSet<&str> = index.calls.iter().map(|c| c.tool.value.as_str()).collect();
    let offered = index.tool_refs.iter().filter(|(_, used)| *used == ToolUse::Available);
    used.extend(offered.map(|(name, _)| name.value.as_str()));
    // Data that the IR keeps verbatim may name a tool.
    for step in flow.definitions.values() {
        let kept = step.extensions.0.values().flatten().map(|(_, kept)| &kept.value);
        kept.chain(step.await_attachment.iter().chain(&step.human_approval).map(|d| &d.value))
            .for_each(|data| texts(data, &mut used));
    }
    for tool in cx.agent.tools.iter().filter(|t| !used.contains(t.name.value.as_str())) {
        let name = &tool.name;
        // The other one of two declarations is reported.
        if index.tools.get(name.value.as_str()).is_some_and(|t| t.name.span != name.span) {
            continue;
        }
        let words = cx.words(name.span);
        report.push(
            report
                .finding(name.span, format!("the tool `{name}` is never called"))
                .help(match words.is_json() {
                    true => "call it in a step with `call_spec`, offer it in `available_tools`, or remove it".to_owned(),
                    false => format!(
                        "call it in a step with `{}: {name}(…)`, offer it in `{}`, or remove it",
                        words.keyword(Keyword::Call),
                        words.keyword(Keyword::AvailableTools)
                    ),
                })
                .note("no step of the flow calls it or offers it to the model"),
        );
    }
}

/// Collects all strings in free-form data.
fn texts<'a>(data: &'a Data, found: &mut FxHashSet<&'a str>) {
    match data {
        Data::String(text) => {
            found.insert(text);
        }
        Data::Array(all) => all.iter().for_each(|one| texts(one, found)),
        Data::Object(all) => all.values().for_each(|one| texts(one, found)),
        _ => {}
    }
}
