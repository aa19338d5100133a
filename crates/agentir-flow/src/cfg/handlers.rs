//! The nodes of error handlers.

use super::{Cfg, NodeKind};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

impl Cfg<'_> {
    /// Returns the nodes of error handlers: those after an error, up to the next step, the next
    /// choice of the model or the end of the turn. No language specifies whether handlers also
    /// apply to errors inside handlers; the graph assumes that they may.
    #[must_use]
    pub fn in_handlers(&self) -> FxHashSet<NodeIndex> {
        let kind = |node: NodeIndex| self.node(node).map(|n| n.kind);
        let graph = self.graph();
        let mut worklist: Vec<NodeIndex> =
            graph.node_indices().filter(|n| kind(*n) == Some(NodeKind::Error)).collect();
        let mut found: FxHashSet<NodeIndex> = worklist.iter().copied().collect();
        while let Some(node) = worklist.pop() {
            for next in graph.neighbors(node) {
                let over = matches!(
                    kind(next),
                    Some(
                        NodeKind::Step
                            | NodeKind::Choose
                            | NodeKind::Resume
                            | NodeKind::Entry
                            | NodeKind::Exit
                            | NodeKind::TurnEnd
                            | NodeKind::Hook
                    )
                );
                if !over && found.insert(next) {
                    worklist.push(next);
                }
            }
        }
        found
    }
}
