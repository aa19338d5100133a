//! Dependencies between fields.

use agentir_diagnostics::Spanned;
use agentir_expr::Name;
use agentir_ir::GatherField;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};

/// A field and one that it depends on.
#[derive(Debug, Clone, Copy)]
pub struct Dependency<'a> {
    /// The dependent field.
    pub field: &'a Spanned<Name>,
    /// The name in its `depends_on`.
    pub on: &'a Spanned<Name>,
}

/// Returns the cycles of `depends_on`: one for each strongly connected component, from the
/// component's first field.
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
    // `tarjan_scc` is recursive: a chain of thousands of fields would overflow the stack.
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

/// Returns a shortest cycle through `first` within its component.
fn cycle<'a>(
    graph: &DiGraph<&'a Spanned<Name>, &'a Spanned<Name>>,
    first: NodeIndex,
    group: &FxHashSet<NodeIndex>,
) -> Option<Vec<Dependency<'a>>> {
    let mut predecessor: FxHashMap<NodeIndex, (NodeIndex, &'a Spanned<Name>)> =
        FxHashMap::default();
    let mut worklist = std::collections::VecDeque::from([first]);
    while let Some(node) = worklist.pop_front() {
        for edge in graph.edges(node).filter(|e| group.contains(&e.target())) {
            if let std::collections::hash_map::Entry::Vacant(free) =
                predecessor.entry(edge.target())
            {
                free.insert((node, edge.weight()));
                worklist.push_back(edge.target());
            }
        }
    }
    let mut path = Vec::new();
    let mut at = first;
    loop {
        let (from, on) = *predecessor.get(&at)?;
        path.push(Dependency { field: graph.node_weight(from)?, on });
        if from == first {
            break;
        }
        at = from;
    }
    path.reverse();
    Some(path)
}
