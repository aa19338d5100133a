//! Cycles without an exit: nothing in them changes the variables that their conditions read, so
//! control that enters such a cycle never leaves it.

use crate::cycles::{defined_variables, stable_reads};
use crate::program::AgentAnalysis;
use agentir_expr::dialect::RuntimeNames;
use agentir_flow::Cfg;
use agentir_flow::cfg::{Edge, GuardLiteral};
use agentir_solver::Example;
use petgraph::graph::{EdgeIndex, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::collections::VecDeque;

/// The maximum number of cycles to try per loop.
const MAX_CYCLES: usize = 24;

/// The maximum number of edges per loop to start a cycle from.
const MAX_EDGES: usize = 256;

/// A cycle that is never left.
#[derive(Debug)]
pub struct EndlessCycle {
    /// Its edges in order.
    pub edges: Vec<EdgeIndex>,
    /// A state in which it is entered; any, if it is unconditional.
    pub state: Example,
}

/// Returns the endless cycles of an agent, at most one per loop.
pub fn endless_cycles(cx: &AgentAnalysis<'_, '_>) -> Vec<EndlessCycle> {
    let cfg = cx.program.graph();
    let autonomous_cycles = cx.program.autonomous_cycles();
    let loops = autonomous_cycles.loops(cx.id);
    if loops.is_empty() {
        return Vec::new();
    }
    let reached = cfg.reachable_in(cx.id);
    let runtime = cx.dialect().runtime();
    let mut found = Vec::new();
    for edges in loops {
        let ends = |id: &EdgeIndex| cfg.edge(*id).map(|(from, to, _)| (from, to));
        let nodes: FxHashSet<NodeIndex> = edges.iter().filter_map(ends).map(|e| e.0).collect();
        if nodes.iter().any(|node| !reached.contains(*node)) {
            continue;
        }
        let changed = defined_variables(cfg, nodes.iter().copied());
        let stable: Vec<EdgeIndex> = edges
            .iter()
            .copied()
            .filter(|id| {
                cfg.edge(*id)
                    .and_then(|(_, _, edge)| guard(cfg, edge))
                    .is_some_and(|guard| is_stable_guard(&guard, &changed, runtime))
            })
            .collect();
        found.extend(shortest_cycles(cfg, &stable).into_iter().find_map(|path| {
            let state = path_example(cx, &path)?;
            Some(EndlessCycle { edges: path, state })
        }));
    }
    found
}

/// Returns cycles over these edges: the shortest one through each of the first edges.
fn shortest_cycles(cfg: &Cfg<'_>, edges: &[EdgeIndex]) -> Vec<Vec<EdgeIndex>> {
    let mut next: FxHashMap<NodeIndex, Vec<(EdgeIndex, NodeIndex)>> = FxHashMap::default();
    for id in edges {
        if let Some((from, to, _)) = cfg.edge(*id) {
            next.entry(from).or_default().push((*id, to));
        }
    }
    let path = |from: NodeIndex, to: NodeIndex| -> Option<Vec<EdgeIndex>> {
        let mut predecessor: FxHashMap<NodeIndex, (EdgeIndex, NodeIndex)> = FxHashMap::default();
        let mut worklist = VecDeque::from([from]);
        while let Some(node) = worklist.pop_front() {
            if node == to {
                break;
            }
            for (id, target) in next.get(&node).into_iter().flatten() {
                if *target != from && !predecessor.contains_key(target) {
                    predecessor.insert(*target, (*id, node));
                    worklist.push_back(*target);
                }
            }
        }
        let mut path = Vec::new();
        let mut at = to;
        while at != from {
            let (edge, before) = *predecessor.get(&at)?;
            path.push(edge);
            at = before;
        }
        path.reverse();
        Some(path)
    };
    edges
        .iter()
        .take(MAX_EDGES)
        .filter_map(|first| {
            let (from, to, _) = cfg.edge(*first)?;
            let mut round = vec![*first];
            round.extend(path(to, from)?);
            Some(round)
        })
        .take(MAX_CYCLES)
        .collect()
}

/// Returns the literals of an edge; `None` if one of them is not an expression.
fn guard<'a>(cfg: &Cfg<'a>, edge: &Edge<'a>) -> Option<Vec<GuardLiteral<'a>>> {
    let all = cfg.guard(edge.guard);
    all.iter().all(|l| l.test.expr().is_some()).then_some(all)
}

fn is_stable_guard(
    guard: &[GuardLiteral<'_>],
    changed: &FxHashSet<SmolStr>,
    runtime: &RuntimeNames,
) -> bool {
    guard.iter().all(|literal| {
        stable_reads(&literal.test, runtime)
            .is_some_and(|paths| paths.iter().all(|p| !changed.contains(&p.root.value)))
    })
}

/// Returns a state in which a path can be taken.
fn path_example<'a>(cx: &AgentAnalysis<'_, 'a>, path: &[EdgeIndex]) -> Option<Example> {
    let cfg = cx.program.graph();
    let mut literals: Vec<GuardLiteral<'a>> = Vec::new();
    for edge in path {
        let (_, _, edge) = cfg.edge(*edge)?;
        for literal in cfg.guard(edge.guard) {
            if !literals.contains(&literal) {
                literals.push(literal);
            }
        }
    }
    example_of(cx, &literals)
}

/// Returns a state that satisfies the literals; any, if there are none.
pub fn example_of<'a>(
    cx: &AgentAnalysis<'_, 'a>,
    literals: &[GuardLiteral<'a>],
) -> Option<Example> {
    if literals.is_empty() {
        return Some(Example::default());
    }
    let mut query = cx.query();
    for literal in literals {
        query.assume(literal.test.expr()?, literal.holds);
    }
    query.solve()?.state()
}
