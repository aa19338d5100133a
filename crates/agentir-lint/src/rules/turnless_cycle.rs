//! A cycle of steps that never waits for the user.

use crate::rule::{Check, Group, Report, Rule};
use agentir_analysis::ProgramAnalysis;
use agentir_diagnostics::{Label, RuleName, Severity, Span};
use agentir_expr::dialect::Construct;
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentCfg, AgentId, Node, NodeKind, Origin};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("turnless-cycle"),
    group: Group::Reachability,
    severity: Severity::Error,
    summary: "steps form a loop that never waits for the user",
    vendor: &[],
    requires: &[Construct::StepLists],
    check: Check::Program(check),
};

fn check(cx: &ProgramAnalysis<'_>, report: &mut Report<'_>) {
    let graph = cx.graph();
    for cycle in graph.turnless_loops(|agent| interacts(graph, agent)) {
        let mut transitions: Vec<Transition> = Vec::new();
        for (from, to, edge) in cycle.edges.iter().filter_map(|id| graph.edge(*id)) {
            let (Some(from), Some(to)) = (graph.node(from), graph.node(to)) else { continue };
            let (Some(step), Some(next)) = (from.step, leads_to(graph, to)) else { continue };
            transitions.push(Transition { span: edge.span, from: &step.name.value, to: next });
        }
        let step = |transition: &Transition<'_>| {
            let Transition { span, from, to } = transition;
            Label::new(*span, format!("`{from}` continues with `{to}`"))
        };
        let run: Vec<Label> = transitions.iter().map(step).collect();
        // Several branches may share a jump.
        transitions.sort_by_key(|transition| (transition.span.file, transition.span.start));
        transitions.dedup_by_key(|transition| transition.span);
        let Some((last, others)) = transitions.split_last() else { continue };
        let mut finding = report
            .finding(last.span, "this loop never waits for the user")
            .note("MICA loops forever and blocks the whole server")
            .help(cx.words(last.span).either(
                "put `- user` into the loop, or limit it with `tries`",
                "put an `await` into the loop, or limit it with a `repeat`",
            ))
            .run(run, true);
        finding.labels.extend(others.iter().take(4).map(step));
        report.push(finding);
    }
}

/// A transition of a cycle to the next step or to another agent.
struct Transition<'a> {
    span: Span,
    from: &'a str,
    to: &'a str,
}

/// Returns the step or the agent that begins at a node.
fn leads_to<'a>(graph: &Cfg<'a>, node: &Node<'a>) -> Option<&'a str> {
    match (node.kind, node.origin) {
        (NodeKind::Step, Origin::Step(step)) => Some(&step.name.value),
        (NodeKind::Entry, _) => Some(&graph.agent(node.agent)?.agent.metadata.name.value),
        _ => None,
    }
}

/// Whether an agent waits for the user before it returns. An agent that only answers from a
/// knowledge base does not.
fn interacts(graph: &Cfg<'_>, agent: AgentId) -> bool {
    let knows = |agent_cfg: &AgentCfg<'_>| {
        agent_cfg.agent.flow.is_none() && agent_cfg.agent.knowledge.is_some()
    };
    graph.interacts(agent) && !graph.agent(agent).is_some_and(knows)
}
