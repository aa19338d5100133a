//! Coverage of a program's control-flow graph by conversations.

use agentir_flow::cfg::{Cfg, EdgeKind, NodeKind};
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::ops::AddAssign;

/// The nodes and edges that conversations have visited.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    nodes: FxHashSet<usize>,
    edges: FxHashSet<(usize, usize)>,
}

/// The coverage of one kind of element.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageMetric {
    /// The kind: `steps`, `branches`, `handoffs`.
    #[serde(rename = "of")]
    pub kind: &'static str,
    /// The number of elements that conversations can reach.
    #[serde(rename = "all")]
    pub total: usize,
    /// The number of covered elements.
    pub covered: usize,
    /// The nodes of the elements that are not covered.
    #[serde(skip)]
    pub missing: Vec<NodeIndex>,
}

impl Coverage {
    /// Adds the path of a turn: the entered nodes, in order.
    pub fn add(&mut self, path: &[usize]) {
        self.nodes.extend(path);
        let pairs = path.iter().zip(path.iter().skip(1));
        self.edges.extend(pairs.map(|(a, b)| (*a, *b)));
    }

    /// The number of visited nodes and edges.
    #[must_use]
    pub fn size(&self) -> usize {
        self.nodes.len() + self.edges.len()
    }

    /// The coverage of a graph, by kind of element.
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
