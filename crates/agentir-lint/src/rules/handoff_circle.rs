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
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::rc::Rc;

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
#[derive(Clone)]
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
    Search { cx, cfg, known: Known::default(), budget: 256, report }.visit(cx.id, &mut Vec::new());
}

/// The handoffs of the agents that a search came to.
type Known<'c, 'a> = FxHashMap<AgentId, Rc<[Hop<'c, 'a>]>>;

/// A search for the cycles that begin at an agent.
struct Search<'r, 'c, 'a, 'f> {
    cx: &'c AgentContext<'c, 'a>,
    cfg: &'c Cfg<'a>,
    known: Known<'c, 'a>,
    /// How many further handoffs are followed.
    budget: usize,
    report: &'r mut Report<'f>,
}

impl<'c, 'a> Search<'_, 'c, 'a, '_> {
    /// As recursive as [`MAX_CYCLE_LENGTH`].
    fn visit(&mut self, at: AgentId, hops: &mut Vec<Hop<'c, 'a>>) {
        let (cx, cfg, start) = (self.cx, self.cfg, self.cx.id);
        if hops.len() >= MAX_CYCLE_LENGTH {
            return;
        }
        let new = || cyclic_transfers(cx, cfg, at).into();
        let transfers = Rc::clone(self.known.entry(at).or_insert_with(new));
        for hop in transfers.iter() {
            let Some(to) = hop.transfer.target else { continue };
            let been =
                hops.iter().any(|h| cfg.node(h.transfer.node).is_some_and(|n| n.agent == to));
            // A cycle is reported at its first agent.
            if to < start || (to != start && been) {
                continue;
            }
            if self.budget == 0 {
                let at = cx.agent.metadata.name.span;
                cx.program.limits().reach(Limit::Combinations, Some(at));
                return;
            }
            self.budget -= 1;
            hops.push(hop.clone());
            if to != start {
                self.visit(to, hops);
            } else if hops.len() > 1
                && let Some(state) = state(cx, cfg, hops)
            {
                report_cycle(cfg, hops, &state, self.report);
            }
            hops.pop();
        }
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
    let transfers: Vec<_> = transfers.filter_map(|at| cfg.transfers().get(*at)).collect();
    let nodes: Vec<_> = transfers.iter().map(|transfer| transfer.node).collect();
    let paths =
        cfg.shortest_paths(agent_cfg.entry, &nodes, |id, edge| may_precede_transfer(cfg, id, edge));
    transfers
        .into_iter()
        .zip(paths)
        .filter_map(|(transfer, path)| {
            let path = path?;
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
    // What the variables may be where the handoffs are tested may exclude them.
    let is_excluded = |hop: &Hop<'_, 'a>| {
        let from = cfg.node(hop.transfer.node).map(|node| node.agent.index());
        let Some(agent) = from.and_then(|at| cx.program.all_agents().nth(at)) else { return false };
        let mut tests = hop.guard.iter().filter_map(|l| Some((l.test.expr()?, l.holds)));
        cx.program.values().is_unreached(agent.id, hop.transfer.node)
            || tests.any(|(expr, holds)| agent.constants_exclude(expr, holds))
    };
    if hops.iter().any(is_excluded) {
        return None;
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
