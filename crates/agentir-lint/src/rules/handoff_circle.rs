//! A cycle of handoffs within one message.

use crate::evidence::bindings;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::cycles::{defined_variables, may_precede_transfer, stable_reads};
use agentir_analysis::endless::example_of;
use agentir_analysis::limits::Limit;
use agentir_diagnostics::{Label, RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_flow::Cfg;
use agentir_flow::cfg::{AgentId, GuardLiteral, Origin, Transfer};
use agentir_solver::Example;
use petgraph::graph::EdgeIndex;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("handoff-circle"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "agents hand the same message to each other in a cycle",
    vendor: &["conditional-transition-cycle"],
    requires: &[Construct::Handoffs],
    check: Check::Agent(check),
};

/// The maximum number of agents in a cycle.
const MAX_CYCLE_LENGTH: usize = 4;

/// The maximum number of handoffs per agent.
const MAX_TRANSFERS: usize = 32;

/// An autonomous handoff.
struct Hop<'c, 'a> {
    transfer: &'c Transfer<'a>,
    guard: Vec<GuardLiteral<'a>>,
    path: Vec<EdgeIndex>,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let cfg = cx.program.graph();
    if cx.program.autonomous_cycles().has_no_transfers() {
        return;
    }
    if cx.program.autonomous_cycles().cyclic_transfers(cx.id).is_empty() {
        return;
    }
    let mut hops: Vec<Hop<'_, '_>> = Vec::new();
    let mut budget = 256;
    search(cx, cfg, cx.id, cx.id, &mut hops, &mut budget, report);
}

fn search<'c, 'a>(
    cx: &'c AgentContext<'c, 'a>,
    cfg: &'c Cfg<'a>,
    start: AgentId,
    at: AgentId,
    hops: &mut Vec<Hop<'c, 'a>>,
    budget: &mut usize,
    report: &mut Report<'_>,
) {
    if hops.len() >= MAX_CYCLE_LENGTH {
        return;
    }
    for hop in cyclic_transfers(cx, cfg, at) {
        let Some(to) = hop.transfer.target else { continue };
        let been = hops.iter().any(|h| cfg.node(h.transfer.node).is_some_and(|n| n.agent == to));
        // A cycle is reported at its first agent.
        if to < start || (to != start && been) {
            continue;
        }
        if *budget == 0 {
            let at = cx.agent.metadata.name.span;
            cx.program.limits().reach(Limit::Combinations, Some(at));
            return;
        }
        *budget -= 1;
        hops.push(hop);
        if to != start {
            search(cx, cfg, start, to, hops, budget, report);
        } else if hops.len() > 1
            && let Some(state) = state(cx, cfg, hops)
        {
            report_cycle(cfg, hops, &state, report);
        }
        hops.pop();
    }
}

/// Returns the handoffs that an agent makes as soon as it begins, if their conditions hold, and
/// that are part of a cycle.
fn cyclic_transfers<'c, 'a>(
    cx: &'c AgentContext<'c, 'a>,
    cfg: &'c Cfg<'a>,
    agent: AgentId,
) -> Vec<Hop<'c, 'a>> {
    let Some(agent_cfg) = cfg.agent(agent) else { return Vec::new() };
    let transfers =
        cx.program.autonomous_cycles().cyclic_transfers(agent).iter().take(MAX_TRANSFERS);
    transfers
        .filter_map(|at| {
            let transfer = cfg.transfers().get(*at)?;
            let path = cfg.shortest_path(agent_cfg.entry, transfer.node, |id, edge| {
                may_precede_transfer(cfg, id, edge)
            })?;
            let mut guard = Vec::new();
            for edge in path.iter().filter_map(|id| cfg.edge(*id)) {
                guard.extend(cfg.guard(edge.2.guard));
            }
            guard.iter().all(|l| l.test.expr().is_some()).then_some(Hop { transfer, guard, path })
        })
        .collect()
}

/// Returns a state in which all handoffs of a cycle are made. It requires that nothing on the cycle
/// changes the variables of their conditions, and that all agents share these variables: they
/// belong to the user, or every handoff passes them.
fn state<'a>(cx: &AgentContext<'_, 'a>, cfg: &Cfg<'a>, hops: &[Hop<'_, 'a>]) -> Option<Example> {
    let nodes = hops.iter().flat_map(|hop| &hop.path).filter_map(|id| Some(cfg.edge(*id)?.0));
    let changed = defined_variables(cfg, nodes);
    let passed: Vec<FxHashSet<SmolStr>> = hops.iter().map(|h| passed(cfg, h.transfer)).collect();
    let literals: Vec<GuardLiteral<'a>> =
        hops.iter().flat_map(|h| h.guard.iter().copied()).collect();
    // Of procedures `transition-cycle` reports unconditional cycles.
    if cx.dialect().has(Construct::Procedures) && literals.is_empty() {
        return None;
    }
    let runtime = cx.dialect().runtime();
    for literal in &literals {
        for path in stable_reads(&literal.test, runtime)? {
            let root = &path.root.value;
            let shared = cx.traits().shared_variables && path.namespace.is_some()
                || runtime.variable(root).is_some()
                || runtime.memory_roots.contains(&root.as_str())
                || passed.iter().all(|names| names.contains(root));
            if changed.contains(root) || !shared {
                return None;
            }
        }
    }
    example_of(cx, &literals)
}

fn passed(cfg: &Cfg<'_>, transfer: &Transfer<'_>) -> FxHashSet<SmolStr> {
    match cfg.node(transfer.node).map(|n| n.origin) {
        Some(Origin::Handoff(handoff)) => {
            handoff.context.pass.iter().map(|p| p.name.value.clone()).collect()
        }
        Some(Origin::Rule(rule)) => rule.pass.iter().map(|n| n.value.clone()).collect(),
        _ => FxHashSet::default(),
    }
}

fn report_cycle(cfg: &Cfg<'_>, hops: &[Hop<'_, '_>], state: &Example, report: &mut Report<'_>) {
    let Some((last, others)) = hops.split_last() else { return };
    let names: Vec<String> = hops
        .iter()
        .filter_map(|h| Some(cfg.agent(cfg.node(h.transfer.node)?.agent)?.agent))
        .map(|agent| format!("`{}`", agent.metadata.name))
        .collect();
    let when = if state.is_any() { String::new() } else { format!(" when `{state}`") };
    let message =
        format!("{} hand the user over to each other in a cycle{when}", names.join(" and "));
    let first = names.first().cloned().unwrap_or_default();
    let step = |hop: &Hop<'_, '_>| {
        Label::new(hop.transfer.span, format!("this hands over to `{}`", hop.transfer.to))
    };
    let mut finding = report
        .finding(last.transfer.span, message)
        .at(format!("… and this hands back to {first}"))
        .example(bindings(state))
        .run(hops.iter().map(step), true);
    finding.labels.extend(others.iter().map(step));
    for literal in hops.iter().flat_map(|h| &h.guard).filter(|l| l.holds) {
        finding = finding.label(literal.test.span(), "this is true");
    }
    report.push(
        finding
            .note("nothing between the handoffs changes what their conditions test, so no agent ever answers")
            .help("narrow one of the conditions, or let one of the agents answer"),
    );
}
