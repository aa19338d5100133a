//! An agent that is not reachable.

use crate::rule::{Check, Group, Report, Rule};
use crate::wording::Wording;
use agentir_analysis::ProgramAnalysis;
use agentir_analysis::dialects::is_adl;
use agentir_diagnostics::{RuleName, Severity};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-agent"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "an agent cannot be reached from the entry agent",
    vendor: &["unused-node", "unreachable-subagent"],
    dialects: crate::rule::ANY,
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
        // MICA calls the first kb agent of a file in every turn, even outside of ensembles.
        if is_adl(agent) && agent.knowledge.is_some() {
            continue;
        }
        let words = Wording::of(agent).agent;
        let finding = report
            .finding(name.span, format!("no {words} leads to `{name}`"))
            .label(entry_name.span, "every conversation begins here");
        let mut finding = if cx.is_agent_script() {
            finding
                .note("a subagent runs if a transition leads to it, or if it is offered as a tool")
                .help(format!("add a tool `go_to_{name}: @utils.transition to @subagent.{name}` where it is needed, or remove it"))
        } else {
            finding
                .note("an agent runs if it is the entry agent, or if a reachable agent hands over, delegates or routes to it")
                .help(if is_adl(agent) {
                    format!("list it in the `contains` of a reachable ensemble, `call` it, or remove `{name}`")
                } else {
                    format!("name it in a `HANDOFF`, `DELEGATE` or `ROUTING` of a reachable agent, or remove `{name}`")
                })
        };
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
