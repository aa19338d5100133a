//! Longest paths through a graph with loops, some of them bounded.

use super::Calls;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

/// The effect of an arc on the loops that it closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArcKind {
    /// No effect.
    Plain,
    /// The arc is taken at most this many times per turn.
    Bounded(u64),
    /// The arc closes a reasoning loop of this many rounds per entry of the loop.
    Reasoning(u64),
    /// The arc leaves a wait whose fields are already filled. Such a loop does not repeat.
    Filled,
}

/// An arc between two nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arc {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) kind: ArcKind,
}

/// The costs of the longest paths.
#[derive(Debug)]
pub(super) struct LongestPaths {
    /// From each node, its own cost included.
    pub(super) from: Vec<Calls>,
    /// The arcs of each loop that has no bound and costs something.
    pub(super) endless: Vec<Vec<usize>>,
}

/// Computes the longest paths. Nodes are numbered in the order of traversal. Linear in nodes and
/// arcs.
pub(super) fn longest_paths(weights: &[Calls], arcs: &[Arc]) -> LongestPaths {
    let mut endless = Vec::new();
    // The bound of a reasoning loop applies to each entry, so reasoning loops are collapsed first.
    let inner = |arc: &Arc| matches!(arc.kind, ArcKind::Plain | ArcKind::Reasoning(_));
    let first = collapse(weights, arcs, inner, |inside, weights| {
        let rounds = inside.iter().map(|(_, arc)| match arc.kind {
            ArcKind::Reasoning(rounds) => rounds.max(1),
            _ => 0,
        });
        let rounds: u64 = rounds.fold(0, u64::max);
        let plain: Vec<(usize, usize)> = inside
            .iter()
            .filter(|(_, arc)| arc.kind == ArcKind::Plain)
            .map(|(_, arc)| (arc.from, arc.to))
            .collect();
        if rounds > 0 && is_acyclic(weights.len(), &plain) {
            return maximum(&longest_from(weights, &plain, 0..weights.len())).times(rounds);
        }
        let all = weights.iter().fold(Calls::default(), |all, one| all + *one).repeated();
        if !all.is_bounded() {
            endless.push(inside.iter().map(|(at, _)| *at).collect());
        }
        all
    });
    let between = first.arcs(arcs);
    let second = collapse(
        &first.weights,
        &between,
        |arc| arc.kind != ArcKind::Filled,
        |inside, weights| {
            let mut extra: FxHashMap<usize, u64> = FxHashMap::default();
            for (_, arc) in inside {
                if let ArcKind::Bounded(times) = arc.kind {
                    let most = extra.entry(arc.to).or_default();
                    *most = times.max(*most);
                }
            }
            let rounds = extra.values().fold(1, |all: u64, one| all.saturating_add(*one));
            let plain: Vec<(usize, usize)> = inside
                .iter()
                .filter(|(_, arc)| !matches!(arc.kind, ArcKind::Bounded(_)))
                .map(|(_, arc)| (arc.from, arc.to))
                .collect();
            maximum(&longest_from(weights, &plain, 0..weights.len())).times(rounds)
        },
    );
    let outer: Vec<(usize, usize)> =
        second.arcs(&between).iter().map(|arc| (arc.from, arc.to)).collect();
    let units: Vec<usize> =
        first.unit.iter().filter_map(|unit| second.unit.get(*unit)).copied().collect();
    let found = longest_from(&second.weights, &outer, units.iter().copied());
    let of = |unit: &usize| found.get(*unit).copied().unwrap_or_default();
    LongestPaths { from: units.iter().map(of).collect(), endless }
}

/// A graph whose loops are collapsed to single nodes.
struct Collapsed {
    /// The collapsed node of each original node.
    unit: Vec<usize>,
    weights: Vec<Calls>,
}

impl Collapsed {
    fn arcs(&self, arcs: &[Arc]) -> Vec<Arc> {
        let unit = |node: usize| self.unit.get(node).copied();
        arcs.iter()
            .filter_map(|arc| Some(Arc { from: unit(arc.from)?, to: unit(arc.to)?, ..*arc }))
            .filter(|arc| arc.from != arc.to)
            .collect()
    }
}

/// Collapses each loop of the selected arcs to one node. `cost` computes the weight of a loop from
/// its arcs, renumbered within the loop, and the weights of its nodes.
fn collapse(
    weights: &[Calls],
    arcs: &[Arc],
    wanted: impl Fn(&Arc) -> bool,
    mut cost: impl FnMut(&[(usize, Arc)], &[Calls]) -> Calls,
) -> Collapsed {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    for _ in weights {
        graph.add_node(());
    }
    for arc in arcs.iter().filter(|arc| wanted(arc)) {
        graph.add_edge(NodeIndex::new(arc.from), NodeIndex::new(arc.to), ());
    }
    let mut unit = vec![0; weights.len()];
    let mut place = vec![0; weights.len()];
    let mut members: Vec<Vec<Calls>> = Vec::new();
    for group in kosaraju_scc(&graph) {
        let mut inside = Vec::new();
        for node in group {
            if let (Some(unit), Some(place), Some(weight)) =
                (unit.get_mut(node.index()), place.get_mut(node.index()), weights.get(node.index()))
            {
                *unit = members.len();
                *place = inside.len();
                inside.push(*weight);
            }
        }
        members.push(inside);
    }
    let mut inside: Vec<Vec<(usize, Arc)>> = vec![Vec::new(); members.len()];
    for (at, arc) in arcs.iter().enumerate().filter(|(_, arc)| wanted(arc)) {
        if let (Some(from), Some(to)) = (unit.get(arc.from), unit.get(arc.to))
            && from == to
            && let (Some(a), Some(b)) = (place.get(arc.from), place.get(arc.to))
            && let Some(list) = inside.get_mut(*from)
        {
            list.push((at, Arc { from: *a, to: *b, ..*arc }));
        }
    }
    let weights = members
        .iter()
        .zip(&inside)
        .map(|(members, inside)| match (members.as_slice(), inside.as_slice()) {
            ([only], []) => *only,
            _ => cost(inside, members),
        })
        .collect();
    Collapsed { unit, weights }
}

fn maximum(all: &[Calls]) -> Calls {
    all.iter().fold(Calls::default(), |maximum, one| maximum.max(*one))
}

fn is_acyclic(nodes: usize, arcs: &[(usize, usize)]) -> bool {
    let mut acyclic = true;
    depth_first(nodes, arcs, 0..nodes, |_, _| {}, |_| acyclic = false);
    acyclic
}

/// Returns the longest path from each node. Back edges of the searches are ignored. Searches begin
/// at `starts`, in this order.
fn longest_from(
    weights: &[Calls],
    arcs: &[(usize, usize)],
    starts: impl Iterator<Item = usize>,
) -> Vec<Calls> {
    let mut found: Vec<Calls> = weights.to_vec();
    depth_first(
        weights.len(),
        arcs,
        starts,
        |node, next| {
            let most = next
                .iter()
                .filter_map(|to| found.get(*to))
                .fold(Calls::default(), |maximum, one| maximum.max(*one));
            if let Some(own) = found.get_mut(node) {
                *own = *own + most;
            }
        },
        |_| {},
    );
    found
}

/// A depth-first search. Calls `done` for each node after its successors, with those that are done,
/// and `back` for each back edge.
fn depth_first(
    nodes: usize,
    arcs: &[(usize, usize)],
    starts: impl Iterator<Item = usize>,
    mut done: impl FnMut(usize, &[usize]),
    mut back: impl FnMut((usize, usize)),
) {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (from, to) in arcs {
        if let Some(list) = next.get_mut(*from) {
            list.push(*to);
        }
    }
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; nodes];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for start in starts {
        if state.get(start) != Some(&State::New) {
            continue;
        }
        stack.push((start, 0));
        while let Some((node, at)) = stack.pop() {
            if at == 0
                && let Some(state) = state.get_mut(node)
            {
                *state = State::Open;
            }
            if let Some(to) = next.get(node).and_then(|list| list.get(at)).copied() {
                stack.push((node, at + 1));
                match state.get(to) {
                    Some(State::New) => stack.push((to, 0)),
                    Some(State::Open) => back((node, to)),
                    _ => {}
                }
                continue;
            }
            let forward: Vec<usize> = next
                .get(node)
                .into_iter()
                .flatten()
                .copied()
                .filter(|to| state.get(*to) == Some(&State::Done))
                .collect();
            done(node, &forward);
            if let Some(state) = state.get_mut(node) {
                *state = State::Done;
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests end by panicking")]
mod tests {
    use super::*;
    use crate::cost::UpperBound;

    const MODEL: Calls = Calls::new(1, 0);
    const TOOL: Calls = Calls::new(0, 1);
    const NOTHING: Calls = Calls::new(0, 0);

    fn arc(from: usize, to: usize, kind: ArcKind) -> Arc {
        Arc { from, to, kind }
    }

    #[test]
    fn the_longer_of_two_ways_counts() {
        let weights = [NOTHING, MODEL, MODEL, NOTHING];
        let arcs = [(0, 1), (1, 2), (2, 3), (0, 3)].map(|(a, b)| arc(a, b, ArcKind::Plain));
        assert_eq!(longest_paths(&weights, &arcs).from[0], Calls::new(2, 0));
    }

    #[test]
    fn reasoning_inside_a_retry_is_bounded_anew_each_time() {
        let weights = [NOTHING, MODEL, TOOL, NOTHING];
        let arcs = [
            arc(0, 1, ArcKind::Plain),
            arc(1, 2, ArcKind::Plain),
            arc(2, 1, ArcKind::Reasoning(10)),
            arc(1, 3, ArcKind::Plain),
            arc(3, 0, ArcKind::Bounded(2)),
        ];
        assert_eq!(longest_paths(&weights, &arcs).from[0], Calls::new(30, 30));
    }

    #[test]
    fn a_loop_without_a_bound_has_none_if_it_costs_something() {
        let arcs = [arc(0, 1, ArcKind::Plain), arc(1, 0, ArcKind::Plain)];
        let found = longest_paths(&[NOTHING, TOOL], &arcs);
        assert_eq!(
            found.from[0],
            Calls { models: UpperBound::AtMost(0), tools: UpperBound::Unbounded }
        );
        assert_eq!(found.endless, [vec![0, 1]]);
        assert_eq!(longest_paths(&[NOTHING, NOTHING], &arcs).from[0], Calls::default());
    }

    #[test]
    fn nobody_asks_twice_for_what_is_filled() {
        let weights = [MODEL, TOOL];
        let arcs = [arc(0, 1, ArcKind::Filled), arc(1, 0, ArcKind::Plain)];
        assert_eq!(longest_paths(&weights, &arcs).from[0], Calls::new(1, 1));
    }
}
