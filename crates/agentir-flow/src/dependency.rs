//! Fields that wait for each other.

use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use agentir_ir::GatherField;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};

/// A field and one that it waits for.
#[derive(Debug, Clone, Copy)]
pub struct Dependency<'a> {
    /// The field.
    pub field: &'a Spanned<Name>,
    /// Where it names the other one.
    pub on: &'a Spanned<Name>,
}

/// The circles among the fields, by `depends_on`: for each group of fields that all wait for each
/// other one circle, which begins at the group's first field.
#[must_use]
pub fn dependency_cycles<'a>(fields: &[&'a GatherField]) -> Vec<Vec<Dependency<'a>>> {
    let mut graph: DiGraph<&'a Spanned<Name>, &'a Spanned<Name>> = DiGraph::new();
    let mut nodes: FxHashMap<&str, NodeIndex> = FxHashMap::default();
    for field in fields {
        nodes.entry(&field.name.value).or_insert_with(|| graph.add_node(&field.name));
    }
    for field in fields {
        for on in &field.depends_on {
            if let (Some(from), Some(to)) =
                (nodes.get(field.name.value.as_str()), nodes.get(on.value.as_str()))
            {
                graph.add_edge(*from, *to, on);
            }
        }
    }
    // Not `tarjan_scc`, which recurses: a chain of thousands of fields would end the stack.
    let mut cycles: Vec<(NodeIndex, Vec<Dependency<'a>>)> = kosaraju_scc(&graph)
        .into_iter()
        .filter_map(|group| {
            let first = group.iter().copied().min()?;
            Some((first, cycle(&graph, first, &group.into_iter().collect())?))
        })
        .collect();
    cycles.sort_by_key(|(first, _)| *first);
    cycles.into_iter().map(|(_, cycle)| cycle).collect()
}

/// A shortest way from `first` back to itself inside its group.
fn cycle<'a>(
    graph: &DiGraph<&'a Spanned<Name>, &'a Spanned<Name>>,
    first: NodeIndex,
    group: &FxHashSet<NodeIndex>,
) -> Option<Vec<Dependency<'a>>> {
    let mut came: FxHashMap<NodeIndex, (NodeIndex, &'a Spanned<Name>)> = FxHashMap::default();
    let mut waiting = std::collections::VecDeque::from([first]);
    while let Some(node) = waiting.pop_front() {
        for edge in graph.edges(node).filter(|e| group.contains(&e.target())) {
            if let std::collections::hash_map::Entry::Vacant(free) = came.entry(edge.target()) {
                free.insert((node, edge.weight()));
                waiting.push_back(edge.target());
            }
        }
    }
    let mut way = Vec::new();
    let mut at = first;
    loop {
        let (from, on) = *came.get(&at)?;
        way.push(Dependency { field: graph.node_weight(from)?, on });
        if from == first {
            break;
        }
        at = from;
    }
    way.reverse();
    Some(way)
}
