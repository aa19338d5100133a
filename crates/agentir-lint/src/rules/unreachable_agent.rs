//! An agent that is not reachable.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Phrase;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-agent"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "an agent cannot be reached from the entry agent",
    vendor: &["unused-node", "unreachable-subagent"],
    requires: &[],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let program = cx.program;
    let Some(entry) = program.entry().filter(|_| program.complete && program.agents.len() > 1)
    else {
        return;
    };
    let entry_name = &entry.metadata.name;
    let graph = cx.graph();
    let Some(id) = graph.find(&entry_name.value) else { return };
    let Some(reached) = graph.reachable_agents(id) else { return };
    // Of two agents with one name only one is reachable; another rule reports that.
    let names: FxHashSet<&str> = reached
        .iter()
        .filter_map(|id| Some(graph.agent(*id)?.agent.metadata.name.value.as_str()))
        .collect();
    for agent in program.agents().filter(|a| !names.contains(a.metadata.name.value.as_str())) {
        let name = &agent.metadata.name;
        // A runtime may query it anyway: MICA calls the first kb agent of a file in every turn, even outside of ensembles.
        if cx.traits().queries_all_knowledge && agent.knowledge.is_some() {
            continue;
        }
        let words = cx.words(name.span);
        let mut finding = report
            .finding(name.span, format!("no {} leads to `{name}`", words.nouns.agent))
            .label(entry_name.span, "every conversation begins here")
            .note(words.phrase(Phrase::AgentIsReached))
            .help(words.phrase_with(Phrase::LeadToAgent, &[("name", &name.value)]));
        let own = graph.find(&name.value);
        let other = own.and_then(|own| graph.sources(own).find(|(from, _)| *from != own));
        if let Some((agent_cfg, edge)) =
            other.and_then(|(from, edge)| Some((graph.agent(from)?, edge)))
        {
            let other = &agent_cfg.agent.metadata.name;
            finding = finding.label(
                edge.span,
                format!("only `{other}` leads here, which is unreachable itself"),
            );
        }
        report.push(finding);
    }
}
