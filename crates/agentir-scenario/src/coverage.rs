//! Which places of the agents conversations came to.

use agentir_flow::cfg::{Cfg, EdgeKind, NodeKind};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::ops::AddAssign;

/// Which nodes and edges of a program's graph were come to.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    nodes: FxHashSet<usize>,
    edges: FxHashSet<(usize, usize)>,
}

/// How much of one kind was come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageMetric {
    /// Of what: `steps`, `branches`, `handoffs`.
    #[serde(rename = "of")]
    pub kind: &'static str,
    /// How many there are that conversations can come to.
    #[serde(rename = "all")]
    pub total: usize,
    /// How many they came to.
    pub covered: usize,
    /// Where the others are, by their nodes in the graph.
    #[serde(skip)]
    pub missing: Vec<NodeIndex>,
}

impl Coverage {
    /// Adds the path of a turn: nodes in the order in which they were entered.
    pub fn add(&mut self, path: &[usize]) {
        self.nodes.extend(path);
        let pairs = path.iter().zip(path.iter().skip(1));
        self.edges.extend(pairs.map(|(a, b)| (*a, *b)));
    }

    /// How many nodes and pairs of nodes were come to.
    #[must_use]
    pub fn size(&self) -> usize {
        self.nodes.len() + self.edges.len()
    }

    /// How much of a graph it is.
    #[must_use]
    pub fn metrics(&self, cfg: &Cfg<'_>) -> Vec<CoverageMetric> {
        let graph = cfg.graph();
        let metric = |name: &'static str, wanted: Vec<(NodeIndex, bool)>| CoverageMetric {
            kind: name,
            total: wanted.len(),
            covered: wanted.iter().filter(|(_, covered)| *covered).count(),
            missing: wanted.iter().filter(|(_, c)| !c).map(|(node, _)| *node).collect(),
        };
        let nodes = |kinds: &[NodeKind]| -> Vec<(NodeIndex, bool)> {
            graph
                .node_indices()
                .filter(|n| cfg.node(*n).is_some_and(|node| kinds.contains(&node.kind)))
                .map(|n| (n, self.nodes.contains(&n.index())))
                .collect()
        };
        let branches = graph
            .edge_references()
            .filter(|e| {
                matches!(e.weight().kind, EdgeKind::Branch | EdgeKind::Route | EdgeKind::Skip)
            })
            .map(|e| {
                let pair = (e.source().index(), e.target().index());
                (e.target(), self.edges.contains(&pair))
            })
            .collect();
        vec![
            metric("steps", nodes(&[NodeKind::Step])),
            metric("branches", branches),
            metric("handoffs", nodes(&[NodeKind::Handoff, NodeKind::Delegate])),
        ]
    }
}

impl AddAssign for Coverage {
    fn add_assign(&mut self, other: Self) {
        self.nodes.extend(other.nodes);
        self.edges.extend(other.edges);
    }
}
