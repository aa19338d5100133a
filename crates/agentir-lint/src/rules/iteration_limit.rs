//! A flow that is too long for its iteration limit.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Label, RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentId, EdgeKind, Node, NodeKind};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("iteration-limit"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "even the shortest path through a flow has more steps than the platform allows",
    vendor: &[],
    requires: &[Construct::StepGraph],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(flow) = &cx.agent.flow else { return };
    let execution = &cx.agent.execution;
    let Some(limit) = execution.max_flow_steps() else { return };
    let whose = match &execution.max_flow_iterations {
        Some(_) => format!("`{}` sets", cx.words(flow.key).keyword(Keyword::Execution)),
        None => "the platform's limit is".to_owned(),
    };
    let cfg = cx.program.graph();
    let Some((steps, path)) = shortest(cfg, cx.id) else { return };
    if f64::from(steps) <= limit {
        return;
    }
    let mut finding = report
        .finding(
            flow.key,
            format!("this flow is stopped before it can end: its shortest path has {steps} steps"),
        )
        .note(format!(
            "{whose} `max_flow_iterations: {limit}`, which counts the steps of a session"
        ))
        .help(format!("raise `max_flow_iterations` to at least {steps}, or merge steps"));
    let step = |node: &Node<'_>| {
        let step = node.step.filter(|_| node.kind == NodeKind::Step)?;
        Some(Label::new(step.name.span, format!("step `{}`", step.name)))
    };
    let nodes = path.iter().filter_map(|node| cfg.node(*node));
    let mut run: Vec<Label> = nodes.filter_map(step).collect();
    if let Some(node) = path.last().and_then(|last| cfg.node(*last)) {
        let end = Label::new(node.span, "the nearest end");
        finding.labels.push(end.clone());
        run.push(end);
    }
    finding = finding.run(run, false);
    report.push(finding);
}

/// Returns the number of steps on a shortest path from an agent's entry to an end, and the path.
fn shortest(cfg: &Cfg<'_>, agent: AgentId) -> Option<(u32, Vec<NodeIndex>)> {
    let entry = cfg.agent(agent)?.entry;
    let mut best: FxHashMap<NodeIndex, u32> = FxHashMap::from_iter([(entry, 0)]);
    let mut previous: FxHashMap<NodeIndex, NodeIndex> = FxHashMap::default();
    let mut waiting = VecDeque::from([(entry, 0)]);
    while let Some((node, steps)) = waiting.pop_front() {
        if best.get(&node) != Some(&steps) {
            continue;
        }
        let kind = cfg.node(node)?.kind;
        if kind.ends() {
            let back = std::iter::successors(Some(node), |node| previous.get(node).copied());
            let mut path: Vec<NodeIndex> = back.collect();
            path.reverse();
            return Some((steps, path));
        }
        for (next, edge) in cfg.successors(node) {
            // Every turn passes `Resume`, which is not a path through the flow.
            let to = cfg.node(next).map(|n| n.kind);
            if matches!(edge.kind, EdgeKind::Enter | EdgeKind::Turn) || to == Some(NodeKind::Resume)
            {
                continue;
            }
            let steps = steps + u32::from(to == Some(NodeKind::Step));
            if best.get(&next).is_none_or(|old| steps < *old) {
                best.insert(next, steps);
                previous.insert(next, node);
                if to == Some(NodeKind::Step) {
                    waiting.push_back((next, steps));
                } else {
                    waiting.push_front((next, steps));
                }
            }
        }
    }
    None
}
