//! The agents of a program as a graph.

use agentir_diagnostics::Span;
use agentir_ir::{Agent, AgentUse, Node, Program, Target};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// How one agent reaches another.
#[derive(Debug, Clone, Copy)]
pub struct AgentEdge {
    /// By what.
    pub by: AgentUse,
    /// Where it is written.
    pub span: Span,
}

/// The agents of a program, and who can reach whom.
#[derive(Debug)]
pub struct AgentGraph {
    graph: DiGraph<SmolStr, AgentEdge>,
    nodes: FxHashMap<SmolStr, NodeIndex>,
}

impl AgentGraph {
    /// The graph of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut this = Self { graph: DiGraph::new(), nodes: FxHashMap::default() };
        for agent in &program.agents {
            this.node(&agent.metadata.name.value);
        }
        for agent in &program.agents {
            let from = this.node(&agent.metadata.name.value);
            targets(agent, &mut |name, edge| {
                let to = this.node(name);
                this.graph.add_edge(from, to, edge);
            });
        }
        this
    }

    fn node(&mut self, name: &SmolStr) -> NodeIndex {
        if let Some(node) = self.nodes.get(name) {
            return *node;
        }
        let node = self.graph.add_node(name.clone());
        self.nodes.insert(name.clone(), node);
        node
    }

    /// The agents that can be reached from `entry`, itself included.
    #[must_use]
    pub fn reachable(&self, entry: &str) -> FxHashSet<SmolStr> {
        let mut found = FxHashSet::default();
        if let Some(start) = self.nodes.get(entry) {
            let mut dfs = Dfs::new(&self.graph, *start);
            while let Some(node) = dfs.next(&self.graph) {
                found.extend(self.graph.node_weight(node).cloned());
            }
        }
        found
    }
}

/// Calls `found` with every agent that `agent` names as one it may go to, aliases resolved.
fn targets(agent: &Agent, found: &mut dyn FnMut(&SmolStr, AgentEdge)) {
    agent.walk(&mut |node| match node {
        Node::AgentRef(name, by) if by != AgentUse::Available => {
            found(&agent.resolve_alias(name).value, AgentEdge { by, span: name.span });
        }
        Node::Jump(jump) => {
            if let Target::Handoff(Some(name)) | Target::Delegate(Some(name)) = &jump.target {
                let edge = AgentEdge { by: AgentUse::Flow, span: name.span };
                found(&agent.resolve_alias(name).value, edge);
            }
        }
        _ => {}
    });
}
