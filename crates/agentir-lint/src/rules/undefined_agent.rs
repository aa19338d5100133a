//! A reference to an agent that does not exist.

use crate::names::suggest;
use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::{Keyword, Phrase};
use agentir_ir::{Agent, AgentUse, Node};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undefined-agent"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a handoff, delegation or route names an agent that does not exist",
    vendor: &[
        "INVALID_HANDOFF_TARGET",
        "INVALID_DELEGATE_TARGET",
        "INVALID_ROUTING_TARGET",
        "INVALID_DEFAULT_ROUTING_TARGET",
        "undefined-reference",
        "UNRESOLVED_REFERENCE",
    ],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let here = cx.program.agents().map(|a| a.metadata.name.value.as_str());
    let agents: FxHashSet<&str> =
        here.chain(cx.program.remote_agents.iter().map(SmolStr::as_str)).collect();
    if cx.traits().agents_are_declared {
        return in_declarations(cx, &agents, report);
    }
    for agent in cx.program.agents() {
        one(cx, agent, &agents, report);
    }
    for profile in cx.program.profiles.iter().filter(|_| cx.program.complete) {
        profile.walk(&mut |node| {
            if let Some((name, _)) = reference(node)
                && !agents.contains(name.value.as_str())
            {
                missing(cx, name, agents.iter(), report);
            }
        });
    }
}

/// A program that declares all agents, also those deployed elsewhere.
fn in_declarations(cx: &ProgramAnalysis<'_>, agents: &FxHashSet<&str>, report: &mut Report<'_>) {
    // A document may say that it has not all of them.
    if !cx.program.complete {
        return;
    }
    let elsewhere = cx.program.agents().flat_map(|a| &a.available_agents);
    let elsewhere: FxHashSet<&str> = elsewhere.map(|r| r.alias.value.as_str()).collect();
    let known = |name: &str| agents.contains(name) || elsewhere.contains(name);
    let mut seen = FxHashSet::default();
    for agent in cx.program.agents() {
        let mut look = |name: &Spanned<Name>| {
            if name.value.is_empty() || known(&name.value) || !seen.insert(name.span) {
                return;
            }
            missing(cx, name, agents.iter().chain(&elsewhere), report);
        };
        agent.walk(&mut |node| {
            if let Some((name, _)) = reference(node) {
                look(name);
            }
        });
    }
}

/// Checks the references of one agent.
fn one(cx: &ProgramAnalysis<'_>, agent: &Agent, agents: &FxHashSet<&str>, report: &mut Report<'_>) {
    let aliases = agent.available_agents.iter().map(|r| r.alias.value.as_str());
    let handoffs = agent
        .coordination
        .handoffs
        .iter()
        .filter(|h| h.remote.is_some())
        .map(|h| h.to.value.as_str());
    let delegates = agent.coordination.delegates.iter().filter(|d| d.remote.is_some());
    let local: FxHashSet<&str> =
        aliases.chain(handoffs).chain(delegates.map(|d| d.agent.value.as_str())).collect();
    let mut seen = FxHashSet::default();
    agent.walk(&mut |node| {
        let Some((name, used)) = reference(node) else { return };
        let word = name.value.as_str();
        if agents.contains(word)
            || (local.contains(word) && used != AgentUse::Available)
            || !seen.insert(name.span)
        {
            return;
        }
        // Agent names begin with a capital letter, so this is an alias, and all aliases are known.
        let alias = used == AgentUse::Routing || used == AgentUse::DefaultRoute;
        let alias = alias
            && !agent.available_agents.is_empty()
            && word.starts_with(|c: char| c.is_lowercase());
        if !cx.program.complete && !alias {
            return;
        }
        // An agent does not mean itself.
        let own = agent.metadata.name.value.as_str();
        let others = agents.iter().chain(&local).filter(|known| **known != own);
        missing(cx, name, others, report);
        if let Some(finding) = report.diagnostics.last_mut().filter(|f| alias && f.fixes.is_empty())
        {
            let words = cx.words(name.span);
            finding.help = Some(match words.is_json() {
                true => format!(
                    "list it in `{}`, as `{{\"alias\": \"{word}\", \"agent\": …}}`, or route elsewhere",
                    words.keyword(Keyword::Agents)
                ),
                false => format!(
                    "list it below `{}:`, as `{word}: Name_Of_The_Agent`, or route elsewhere",
                    words.keyword(Keyword::Agents)
                ),
            });
        }
    });
}

fn reference(node: Node<'_>) -> Option<(&Spanned<Name>, AgentUse)> {
    match node {
        Node::AgentRef(name, used) => Some((name, used)),
        Node::Jump(jump) => Some((jump.target.agent()?, AgentUse::Flow)),
        _ => None,
    }
}

fn missing<'k>(
    cx: &ProgramAnalysis<'_>,
    name: &Spanned<Name>,
    known: impl Iterator<Item = &'k &'k str>,
    report: &mut Report<'_>,
) {
    let words = cx.words(name.span);
    let finding = report
        .finding(name.span, format!("there is no {} `{name}`", words.nouns.agent))
        .note(words.phrase(Phrase::AgentMustExist));
    report.push(suggest(finding, &name.value, known.copied(), || {
        words.phrase_with(Phrase::DeclareAgent, &[("name", &name.value)])
    }));
}
