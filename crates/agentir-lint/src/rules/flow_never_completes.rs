//! A flow, or a part of one, without an exit.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::wording::listed;
use agentir_diagnostics::{Confidence, RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_flow::cfg::{Edge, Node, NodeKind, Origin};
use agentir_ir::{Flow, Step};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("flow-never-completes"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a flow, or some of its steps, cannot reach an end",
    vendor: &[],
    requires: &[Construct::StepGraph],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(flow) = &cx.agent.flow else { return };
    if ends_otherwise(cx) {
        return;
    }
    let graph = cx.program.graph();
    let Some(agent_cfg) = graph.agent(cx.id) else { return };
    let (reached, finishing) = (graph.reachable_in(cx.id), graph.can_finish(cx.id));
    let finishes = |name: &str| agent_cfg.step(name).is_none_or(|node| finishing.contains(node));
    let trapped: Vec<&Step> = flow
        .definitions
        .values()
        .filter(|s| agent_cfg.step(&s.name.value).is_some_and(|node| reached.contains(node)))
        .filter(|s| !finishes(&s.name.value))
        .collect();
    // The model may end the agent in any reasoning zone.
    if trapped.is_empty() || trapped.iter().any(|s| s.reasoning_zone.is_some()) {
        return;
    }
    let whole = flow.entry().is_some_and(|entry| !finishes(entry));
    let exits = graph.step_exits(cx.id);
    let steps = names(&trapped);
    let mut finding = if whole {
        let leads =
            if trapped.len() == 1 { "only leads to itself" } else { "only lead to each other" };
        report.finding(flow.key, format!("this flow never ends: {steps} {leads}"))
    } else {
        let at = trapped.first().map_or(flow.span, |s| s.name.span);
        report.finding(at, format!("the flow never ends once it is in {steps}"))
    };
    if let (false, Some((span, from, into))) =
        (whole, entry_into_trap(flow, &exits, &finishes, &trapped))
    {
        finding = finding.label(span, format!("`{from}` leads to `{into}`, which nothing leaves"));
    }
    for step in trapped.iter().take(4) {
        let back = exits.get(step.name.value.as_str()).into_iter().flatten();
        if let Some((next, edge)) = back.filter_map(|(to, edge)| Some((leads_to(to)?, edge))).next()
        {
            finding = finding.label(edge.span, format!("`{}` continues with `{next}`", step.name));
        }
    }
    report.push(
        finding
            .confidence(Confidence::Medium)
            .note("the runtime stops a flow after its 100th transition, or when the user stops answering")
            .help("let one of the steps lead to `COMPLETE`, to a handoff or to an escalation"),
    );
}

/// Whether something outside of the flow may end it: `COMPLETE`, a handoff, an escalation.
fn ends_otherwise(cx: &AgentContext<'_, '_>) -> bool {
    let c = &cx.agent.coordination;
    !cx.agent.completion.conditions.is_empty()
        || !c.handoffs.is_empty()
        || c.escalation.as_ref().is_some_and(|e| !e.triggers.is_empty())
}

/// The edges that leave each step, by its name.
type StepExits<'g, 'a> = FxHashMap<&'a str, Vec<(&'g Node<'a>, &'g Edge<'a>)>>;

/// Returns the step that begins at a node.
fn leads_to<'a>(node: &Node<'a>) -> Option<&'a str> {
    match (node.kind, node.origin) {
        (NodeKind::Step, Origin::Step(step)) => Some(&step.name.value),
        _ => None,
    }
}

/// Returns the edge from a step that can finish to one that cannot.
fn entry_into_trap<'a>(
    flow: &'a Flow,
    exits: &StepExits<'_, 'a>,
    finishes: &dyn Fn(&str) -> bool,
    trapped: &[&Step],
) -> Option<(agentir_diagnostics::Span, &'a str, &'a str)> {
    let inside: FxHashSet<&str> = trapped.iter().map(|s| s.name.value.as_str()).collect();
    flow.definitions.keys().filter(|name| finishes(name)).find_map(|name| {
        let exits = exits.get(name.as_str())?;
        let next = |(to, edge): &(&Node<'a>, &Edge<'a>)| {
            let next = leads_to(to).filter(|next| inside.contains(next))?;
            Some((edge.span, name.as_str(), next))
        };
        exits.iter().find_map(next)
    })
}

/// `a`, `b` and `c`; at most five.
fn names(steps: &[&Step]) -> String {
    let mut all: Vec<String> = steps.iter().take(5).map(|s| format!("`{}`", s.name)).collect();
    if steps.len() > 5 {
        all.push(format!("{} more", steps.len() - 5));
    }
    listed(&all)
}
