//! A reference to a tool that is not declared.

use crate::names::suggest;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::script::references;
use agentir_diagnostics::{RuleName, Severity, Spanned, closest};
use agentir_expr::Name;
use agentir_expr::dialect::{Phrase, Tools};
use agentir_ir::ToolUse;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-tool"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a tool is used, but not declared",
    vendor: &["UNDEFINED_TOOL_CALL", "undefined-reference"],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let local = match cx.traits().tools {
        Tools::Functions => return functions(cx, report),
        Tools::Local => true,
        Tools::Declared => false,
    };
    let called = cx.index.calls.iter().map(|c| (&c.tool, "called", None));
    let named = cx.index.tool_refs.iter();
    let named = named.filter(|(name, used)| match used {
        ToolUse::Checkpoint => !guards_agent(cx, name),
        ToolUse::Forbidden => false,
        ToolUse::Available | ToolUse::Hidden => true,
    });
    let named = named.map(|(name, used)| (*name, "named", Some(*used)));
    forbidden(cx, report);
    if local {
        named_in_texts(cx, report);
    }
    imported(cx, report);
    for (name, how, used) in called.chain(named) {
        if !is_known(cx, name) {
            let known = cx.index.tools.keys().chain(cx.program.library.keys()).copied();
            let how = if local { "used" } else { how };
            let words = cx.words(name.span);
            let tool = words.nouns.tool;
            let mut finding = report
                .finding(name.span, format!("the {tool} `{name}` is {how}, but not declared"))
                .note(format!(
                    "a call of an undeclared {tool} fails at run time; the agent does not compile"
                ));
            // Nothing calls it here. A check before no tool, in contrast, is one before all of them.
            if used == Some(ToolUse::Hidden) {
                finding.severity = Severity::Warning;
                finding = finding.note("there is nothing to hide");
            }
            finding = match closest(&name.value, known) {
                Some(near) => finding.did_you_mean(near),
                None => {
                    finding.help(words.phrase_with(Phrase::DeclareTool, &[("name", &name.value)]))
                }
            };
            report.push(finding);
        }
    }
}

/// Whether a constraint before this name is one before an agent gets control.
fn guards_agent(cx: &AgentContext<'_, '_>, name: &Spanned<Name>) -> bool {
    let program = cx.program.program;
    let is_agent = |name: &str| {
        program.agent(name).is_some() || program.remote_agents.iter().any(|agent| agent == name)
    };
    // An agent of an incomplete program may be in another file.
    let refers = || {
        let jumps = cx.index.jumps.iter().filter_map(|jump| jump.target.agent());
        let mut all = cx.index.agent_refs.iter().map(|(agent, _)| *agent).chain(jumps);
        all.any(|agent| agent.value == name.value)
    };
    cx.agent.can_call(&name.value, [], is_agent) || !program.complete && refers()
}

/// What a supervisor must never do, and what no tool of the program is called: nothing is forbidden by that.
fn forbidden(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let program = cx.program.program;
    let named = cx.index.tool_refs.iter().filter(|(_, used)| *used == ToolUse::Forbidden);
    for (name, _) in named {
        if is_known(cx, name) || program.tools().any(|tool| tool.name.value == name.value) {
            continue;
        }
        let tool = cx.words(name.span).nouns.tool;
        let mut finding = report
            .finding(name.span, format!("no {tool} is called `{name}`, so this forbids nothing"));
        let known = || program.tools().map(|tool| tool.name.value.as_str());
        // `pay()`
        let bare = name.value.split('(').next().unwrap_or_default().trim_end();
        match known().find(|tool| *tool == bare).or_else(|| closest(bare, known())) {
            Some(near) => finding = finding.did_you_mean(near),
            None if !program.complete => continue,
            // An action may be described in words, which no call is.
            None => {
                finding.severity = Severity::Warning;
                finding = finding.help(format!("write the name of a {tool}"));
            }
        }
        report.push(finding);
    }
}

/// Tools that the agent takes from libraries. They may be in files outside of an incomplete program, and a project
/// without libraries has those of the platform; a document of AgentIR has its own.
fn imported(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let program = cx.program.program;
    for name in &cx.agent.use_tools {
        let words = cx.words(name.span);
        let all_are_here = program.complete && (words.is_json() || !program.libraries.is_empty());
        if !all_are_here
            || cx.tool(&name.value).is_some()
            || cx.dialect().runtime().has_tool(&name.value)
            || cx.names(&RULE, "known", &name.value)
        {
            continue;
        }
        let tool = words.nouns.tool;
        let finding = report
            .finding(name.span, format!("no library has a {tool} `{name}`"))
            .note(format!("the agent has no such {tool}, and calls of it fail"));
        let known = cx.program.library.keys().copied();
        report.push(suggest(finding, &name.value, known, || {
            format!("define the {tool} in a library, or remove the name here")
        }));
    }
}

/// `{!@actions.x}` inserts the name of an exposed tool or of an action.
fn named_in_texts(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let offered: FxHashSet<&str> =
        cx.index.offers.iter().map(|offer| offer.name.value.as_str()).collect();
    references(cx, &mut |namespace, name, _| {
        let known = namespace != "actions"
            || name.value.is_empty()
            || offered.contains(name.value.as_str())
            || is_known(cx, name);
        if !known {
            let finding = report
                .finding(name.span, format!("there is no tool or action `{name}` to mention"))
                .note(
                    "the prompt mentions a tool that the model does not have; the agent does not compile",
                );
            let names = offered.iter().copied().chain(cx.index.tools.keys().copied());
            report.push(suggest(finding, &name.value, names, || {
                "offer it below `reasoning:`, `actions:` of the same subagent".to_owned()
            }));
        }
    });
}

/// Functions of a bot: those that are called, and those that `uses` exposes to the model.
fn functions(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let program = cx.program.program;
    let called = cx.index.calls.iter().map(|c| (&c.tool, true));
    let offered = cx.agent.use_tools.iter().map(|name| (name, false));
    let named = cx.index.tool_refs.iter().filter(|(_, used)| *used == ToolUse::Available);
    let named = named.map(|(name, _)| (*name, false));
    for (name, called) in called.chain(offered).chain(named) {
        let word = name.value.as_str();
        if cx.tool(word).is_some() || cx.names(&RULE, "known", word) {
            continue;
        }
        let what = if called { "called" } else { "offered to the model" };
        let finding = report
            .finding(name.span, format!("the function `{name}` is {what}, but not defined"))
            .note(if called {
                "MICA silently skips this step"
            } else {
                "MICA drops this function and all functions listed after it"
            });
        let steps = cx.agent.flow.as_ref().filter(|f| f.definitions.contains_key(word));
        if steps.is_some() && called {
            report.push(finding.help(format!(
                "`{name}` is a label or subflow of this flow: go to it with `next: {name}`"
            )));
            continue;
        }
        let agents = program.agents().map(|a| a.metadata.name.value.as_str());
        let near_agent = closest(word, agents).filter(|_| called);
        // Without the Python files, or with one that does not parse, the functions are unknown; a misspelt agent
        // name is still reported. A program with an entry is complete but for what could not be read.
        let unread = program.entry_agent.is_some() && !program.complete;
        if (program.libraries.is_empty() || unread) && near_agent.is_none() {
            continue;
        }
        let near = closest(word, cx.program.library.keys().copied()).or(near_agent);
        report.push(match near {
            Some(near) => finding.did_you_mean(near),
            None => {
                let words = cx.words(name.span);
                finding.help(words.phrase_with(Phrase::DeclareTool, &[("name", word)]))
            }
        });
    }
}

fn is_known(cx: &AgentContext<'_, '_>, name: &Spanned<Name>) -> bool {
    cx.tool(&name.value).is_some()
        || cx.agent.use_tools.iter().any(|t| t.value == name.value)
        || cx.dialect().runtime().has_tool(&name.value)
        || cx.names(&RULE, "known", &name.value)
}
