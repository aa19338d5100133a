//! Steps that lead to each other without ever waiting for the user.

use crate::rule::{Check, Group, ProgramContext, Report, Rule};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_ir::{Body, Branch, Program, Statement};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("turnless-cycle"),
    group: Group::Reachability,
    severity: Severity::Error,
    summary: "steps lead to each other and never wait for the user",
    vendor: &[],
    dialects: crate::rule::ADL,
    check: Check::Program(check),
};

/// A step of an agent.
type Place<'a> = (&'a str, &'a str);

struct Edge {
    span: Span,
    /// The step that it leaves.
    from: String,
    to: String,
}

fn check(cx: &ProgramContext<'_>, report: &mut Report<'_>) {
    let program = cx.program;
    let mut graph: DiGraph<Place<'_>, Edge> = DiGraph::new();
    let mut nodes: FxHashMap<Place<'_>, NodeIndex> = FxHashMap::default();
    for agent in &program.agents {
        let Some(flow) = &agent.flow else { continue };
        for step in flow.definitions.values() {
            let place = (agent.metadata.name.value.as_str(), step.name.value.as_str());
            nodes.insert(place, graph.add_node(place));
        }
    }
    let entry = |agent: &str| {
        let agent = program.agent(agent)?;
        let step = agent.flow.as_ref()?.entry()?;
        nodes.get(&(agent.metadata.name.value.as_str(), step)).copied()
    };
    for agent in &program.agents {
        let Some(flow) = &agent.flow else { continue };
        let name = agent.metadata.name.value.as_str();
        for step in flow.definitions.values() {
            let Some(from) = nodes.get(&(name, step.name.value.as_str())).copied() else {
                continue;
            };
            let mut found = Vec::new();
            before_waiting(program, &step.body, &mut found);
            for (target, span) in found {
                let (to, text) = match target {
                    Goes::Step(step) => (nodes.get(&(name, step)).copied(), step),
                    Goes::Agent(agent) => (entry(agent), agent),
                };
                if let Some(to) = to {
                    let edge =
                        Edge { span, from: step.name.value.to_string(), to: text.to_owned() };
                    graph.add_edge(from, to, edge);
                }
            }
        }
    }
    // Not Tarjan's algorithm, which recurses as deep as a flow is long.
    let mut part: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    for (number, nodes) in kosaraju_scc(&graph).into_iter().enumerate() {
        part.extend(nodes.into_iter().map(|node| (node, number)));
    }
    let mut circles: BTreeMap<usize, Vec<&Edge>> = BTreeMap::new();
    for index in graph.edge_indices() {
        if let (Some((from, to)), Some(edge)) =
            (graph.edge_endpoints(index), graph.edge_weight(index))
            && let Some(number) = part.get(&from).filter(|n| part.get(&to) == Some(*n))
        {
            circles.entry(*number).or_default().push(edge);
        }
    }
    for mut edges in circles.into_values() {
        edges.sort_by_key(|e| (e.span.file, e.span.start));
        let Some((last, others)) = edges.split_last() else { continue };
        let mut finding = report
            .finding(last.span, "this leads in a circle that never waits for the user")
            .note("MICA goes round for ever, and the whole server stands still")
            .help("put `- user` into the circle, or limit it with `tries`");
        for edge in others.iter().take(4) {
            finding = finding.label(edge.span, format!("`{}` goes on to `{}`", edge.from, edge.to));
        }
        report.push(finding);
    }
}

enum Goes<'a> {
    Step(&'a str),
    Agent(&'a str),
}

/// Where control can go from a body before it waits for the user or for somebody who does. Returns
/// whether it can reach the end so.
fn before_waiting<'a>(
    program: &Program,
    body: &'a Body,
    found: &mut Vec<(Goes<'a>, Span)>,
) -> bool {
    for statement in &body.0 {
        match statement {
            Statement::Await { .. } | Statement::Collect(_) => return false,
            Statement::Goto(jump) => {
                found.extend(jump.target.step().map(|s| (Goes::Step(&s.value), jump.span)));
                return false;
            }
            Statement::Delegate(d) => {
                found.push((Goes::Agent(&d.agent.value), d.agent.span));
                if talks(program, &d.agent.value) {
                    return false;
                }
            }
            Statement::If { branches } => {
                let through = branches.iter().fold(open(branches), |through, branch| {
                    before_waiting(program, &branch.body, found) || through
                });
                if !through {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}

/// Whether an agent waits for the user before it comes back: all do that talk, but a flow that never
/// waits does not.
fn talks(program: &Program, agent: &str) -> bool {
    let Some(agent) = program.agent(agent) else { return true };
    match &agent.flow {
        Some(flow) => flow.definitions.values().any(|step| waits(&step.body)),
        None => agent.knowledge.is_none(),
    }
}

fn waits(body: &Body) -> bool {
    body.0.iter().any(|statement| match statement {
        Statement::Await { .. } | Statement::Collect(_) => true,
        Statement::If { branches } => branches.iter().any(|b| waits(&b.body)),
        _ => false,
    })
}

/// Whether perhaps no branch is taken.
fn open(branches: &[Branch]) -> bool {
    branches.iter().all(|b| b.condition.is_some())
}
