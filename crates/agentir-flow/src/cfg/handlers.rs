//! What is done about errors.

use super::{Cfg, NodeKind};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

impl Cfg<'_> {
    /// The nodes of error handlers: what is done about an error until a step begins, the model chooses
    /// or the turn is over. Whether handlers look after what goes wrong in them no language says; the
    /// graph takes it to be possible.
    #[must_use]
    pub fn in_handlers(&self) -> FxHashSet<NodeIndex> {
        let kind = |node: NodeIndex| self.node(node).map(|n| n.kind);
        let graph = self.graph();
        let mut waiting: Vec<NodeIndex> =
            graph.node_indices().filter(|n| kind(*n) == Some(NodeKind::Error)).collect();
        let mut found: FxHashSet<NodeIndex> = waiting.iter().copied().collect();
        while let Some(node) = waiting.pop() {
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
                    waiting.push(next);
                }
            }
        }
        found
    }
}
