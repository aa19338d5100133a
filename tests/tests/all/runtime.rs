//! The runtime and the graph are one: what conversations do is what the graph says can be done.

#![allow(clippy::unwrap_used, missing_docs)]

use agentir_diagnostics::Span;
use agentir_flow::cfg::{Cfg, NodeKind};
use agentir_runtime::Machine;
use agentir_scenario::{Limits, Scenario, generate, run};
use agentir_tests::check::{Checked, check};
use agentir_tests::samples;
use petgraph::graph::NodeIndex;
use rayon::prelude::*;
use std::fmt::Write as _;

/// So many conversations are tried with each program.
const TRIES: usize = 12;

/// Whether control may go from a node to another without an edge between them: it comes back to where an
/// agent was, or another agent goes on.
fn jumps(cfg: &Cfg<'_>, from: NodeIndex, to: NodeIndex) -> bool {
    let (Some(a), Some(b)) = (cfg.node(from), cfg.node(to)) else { return false };
    match a.kind {
        // Where the agent was before.
        NodeKind::Resume => a.agent == b.agent,
        // Another agent begins, or goes on where it gave control back.
        NodeKind::Handoff | NodeKind::Delegate | NodeKind::FanOut => {
            let mut targets = cfg.transfers().iter().filter(|t| t.node == from);
            targets.any(|t| t.target == Some(b.agent))
                && matches!(b.kind, NodeKind::Entry | NodeKind::Choose)
                || a.kind == NodeKind::FanOut && from == to
        }
        // The agent that asked goes on.
        NodeKind::Exit => {
            // A supervisor routes what else the user wants.
            b.kind == NodeKind::TurnStart && a.agent != b.agent
                || b.kind == NodeKind::FanOut
                || cfg.transfers().iter().any(|t| t.returns == Some(to))
        }
        // The model picks again, a tool that all steps share goes back to it, or the agent above looks
        // at the message anew.
        NodeKind::Choose => {
            from == to
                || (b.kind == NodeKind::TurnStart && a.agent != b.agent)
                || cfg.transfers().iter().any(|t| t.returns == Some(to))
        }
        // A subagent that was used as a tool has answered.
        NodeKind::Await => cfg.transfers().iter().any(|t| t.returns == Some(to)),
        _ => false,
    }
}

fn edge(cfg: &Cfg<'_>, from: NodeIndex, to: NodeIndex) -> bool {
    cfg.graph().find_edge(from, to).is_some()
}

/// All our samples that can be run, with their names.
fn programs() -> Vec<(String, Checked)> {
    let abl = samples::all_ours().into_iter().map(|s| {
        let options = agentir_lang_abl::Options { version: s.version, fragment: s.fragment };
        (s.files, options)
    });
    let script = samples::agent_script("valid").into_iter().map(|s| (s.files, Default::default()));
    let adl = samples::adl("valid").into_iter().map(|files| (files, Default::default()));
    let all: Vec<_> = abl.chain(script).chain(adl).collect();
    all.into_par_iter()
        .map(|(files, options)| (files.first().unwrap().name.clone(), check(&files, options)))
        .filter(|(_, c)| c.errors().next().is_none() && !c.program.agents.is_empty())
        .collect()
}

/// Every conversation that is made for our samples is a path in the graph, never enters a place that
/// the graph or a lint calls unreachable, and goes the same way when it is played back.
#[test]
fn conversations_are_paths_of_the_graph() {
    let problems: Vec<String> = programs()
        .par_iter()
        .flat_map(|(name, checked)| {
            let program = &checked.program;
            let machine = Machine::new(program);
            let entry = match program.entry() {
                Some(_) => None,
                None => program.agents().next().map(|a| a.metadata.name.value.as_str()),
            };
            let limits = Limits { max_tries: TRIES, ..Limits::default() };
            let made = generate(&machine, entry, limits).unwrap();
            let cfg = machine.cfg();
            let unreachable: Vec<Span> = checked
                .diagnostics
                .iter()
                .filter(|d| {
                    matches!(
                        d.rule.0,
                        "unreachable-step" | "unreachable-agent" | "unreachable-branch"
                    )
                })
                .map(|d| d.primary.span)
                .collect();
            let mut problems = Vec::new();
            for (n, conversation) in made.conversations.iter().enumerate() {
                for turn in &conversation.turns {
                    let pairs = turn.path.iter().zip(turn.path.iter().skip(1));
                    for (from, to) in pairs {
                        let (from, to) = (NodeIndex::new(*from), NodeIndex::new(*to));
                        if !edge(cfg, from, to) && !jumps(cfg, from, to) {
                            let kinds = (cfg.node(from).unwrap().kind, cfg.node(to).unwrap().kind);
                            problems.push(format!("{}: {n}: {kinds:?} is not an edge", name));
                        }
                    }
                    for at in &turn.path {
                        let node = cfg.node(NodeIndex::new(*at)).unwrap();
                        if node.kind == NodeKind::Dead
                            || (node.kind == NodeKind::Step && unreachable.contains(&node.span))
                        {
                            problems.push(format!("{}: {n}: {:?} was entered", name, node.kind));
                        }
                    }
                }
            }
            let file = made.to_yaml("x", entry);
            match Scenario::read(&file) {
                Ok(scenario) => {
                    let outcomes = run(&machine, &scenario).unwrap();
                    for outcome in outcomes.iter().filter(|o| !o.failures.is_empty()).take(1) {
                        let mut text = format!("{}: {} goes otherwise\n", name, outcome.name);
                        let _ = writeln!(text, "{:#?}\n{}", outcome.failures, outcome.transcript);
                        problems.push(text);
                    }
                }
                Err(error) => problems.push(format!("{}: {error}", name)),
            }
            problems
        })
        .collect();
    assert!(problems.is_empty(), "{}: {}", problems.len(), problems.join("\n"));
}

/// Values come from the guards, so a flow whose branches look at what tools give is gone through whole.
#[test]
fn a_flow_is_gone_through_whole() {
    let (_, checked) = programs().into_iter().find(|(n, _)| n.contains("parcel_redirect")).unwrap();
    let machine = Machine::new(&checked.program);
    let made = generate(&machine, None, Limits { max_tries: 300, ..Limits::default() }).unwrap();
    for metric in made.coverage.metrics(machine.cfg()) {
        assert_eq!(metric.covered, metric.total, "{}", metric.kind);
    }
}
