//! A step that is not reachable.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span, Spanned};
use agentir_expr::Name;
use agentir_expr::dialect::{Construct, Phrase};
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentCfg, Edge, Node, NodeKind, Origin};
use agentir_ir::Step;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unreachable-step"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "no path through the flow leads to a step",
    vendor: &["ORPHANED_STEP"],
    requires: &[Construct::Steps],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let (Some(flow), graph) = (&cx.agent.flow, cx.program.graph()) else { return };
    // Without an entry point one finding is enough.
    if !flow.entry().is_some_and(|entry| flow.definitions.contains_key(entry)) {
        return;
    }
    let Some(agent_cfg) = graph.agent(cx.id) else { return };
    let reached = graph.reachable_in(cx.id);
    let is_reached = |name: &str| agent_cfg.step(name).is_some_and(|node| reached.contains(node));
    let lost: Vec<&Step> =
        flow.definitions.values().filter(|s| !is_reached(&s.name.value)).collect();
    // The target of a jump to an undefined step may be meant.
    let astray = agent_cfg.steps().any(|(_, node)| {
        reached.contains(node) && graph.node(node).is_some_and(|n| n.kind == NodeKind::Unknown)
    });
    if lost.is_empty() || astray {
        return;
    }
    let exits = graph.step_exits(cx.id);
    for step in lost {
        let finding = report
            .finding(step.name.span, format!("the step `{}` is unreachable", step.name))
            .note("a step is only entered if another one leads to it")
            .help(
                cx.words(step.name.span)
                    .phrase_with(Phrase::GoToStep, &[("name", &step.name.value)]),
            );
        let finding = match leads_here(graph, agent_cfg, step) {
            Some((span, name)) => finding
                .label(span, format!("only `{name}` leads here, which is unreachable itself")),
            None => finding,
        };
        let before = flow
            .steps
            .iter()
            .zip(flow.steps.iter().skip(1))
            .find(|(_, s)| s.value == step.name.value)
            .map(|(before, _)| before)
            .filter(|before| is_reached(&before.value));
        report.push(match before {
            Some(before) => passes_by(finding, before, exits.get(before.value.as_str())),
            None => finding,
        });
    }
}

/// Returns a step that leads to this one but is unreachable itself.
fn leads_here<'a>(
    graph: &Cfg<'a>,
    agent_cfg: &AgentCfg<'a>,
    step: &Step,
) -> Option<(Span, &'a Name)> {
    graph
        .predecessors(agent_cfg.step(&step.name.value)?)
        .filter_map(|(from, edge)| Some((edge.span, &graph.node(from)?.step?.name.value)))
        .filter(|(_, name)| **name != step.name.value)
        .min_by_key(|(span, _)| span.start)
}

/// Explains where the previous step goes instead.
fn passes_by(
    finding: Diagnostic,
    before: &Spanned<Name>,
    exits: Option<&Vec<(&Node<'_>, &Edge<'_>)>>,
) -> Diagnostic {
    // Of several exits, the last one is how the step ends.
    let Some((to, edge)) = exits
        .into_iter()
        .flatten()
        .rfind(|(_, edge)| matches!(edge.origin, Origin::Jump(_) | Origin::Statement(_)))
    else {
        return finding;
    };
    match (to.kind, to.origin) {
        (NodeKind::Step, Origin::Step(next)) => finding
            .label(edge.span, format!("`{before}`, the step before it, goes to `{}`", next.name)),
        (NodeKind::Complete | NodeKind::Fail | NodeKind::Handoff | NodeKind::Escalate, _) => {
            finding.label(edge.span, format!("`{before}`, the step before it, ends the flow"))
        }
        _ => finding,
    }
}
