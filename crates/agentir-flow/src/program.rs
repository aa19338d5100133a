//! The agents of a program as a graph.

use agentir_diagnostics::Span;
use agentir_ir::{Agent, AgentReference, AgentUse, Node, Profile, Program, Target};
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
    /// Files of agents that no agent of the program could be matched with.
    unmatched: bool,
}

impl AgentGraph {
    /// The graph of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut this =
            Self { graph: DiGraph::new(), nodes: FxHashMap::default(), unmatched: false };
        let mut by_stem: FxHashMap<SmolStr, &SmolStr> = FxHashMap::default();
        for agent in &program.agents {
            let name = &agent.metadata.name.value;
            this.node(name);
            by_stem.entry(folded(name)).or_insert(name);
        }
        let profiles: FxHashMap<&str, &Profile> =
            program.profiles.iter().map(|p| (p.name.value.as_str(), p)).collect();
        for agent in &program.agents {
            let from = this.node(&agent.metadata.name.value);
            let aliases: FxHashMap<&str, &SmolStr> = agent
                .available_agents
                .iter()
                .filter_map(|r| Some((r.alias.value.as_str(), &r.agent.as_ref()?.value)))
                .collect();
            let used =
                agent.use_behavior_profiles.iter().filter_map(|n| profiles.get(n.value.as_str()));
            targets(agent, used.copied(), &mut |name, edge| {
                let name = aliases.get(name.as_str()).copied().unwrap_or(name);
                let to = this.node(name);
                this.graph.add_edge(from, to, edge);
            });
            for reference in agent.available_agents.iter().filter(|r| r.agent.is_none()) {
                let edge = AgentEdge { by: AgentUse::Available, span: reference.span };
                match stem(reference).and_then(|stem| by_stem.get(&folded(stem)).copied()) {
                    Some(name) => {
                        let to = this.node(name);
                        this.graph.add_edge(from, to, edge);
                    }
                    None => this.unmatched = true,
                }
            }
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

    /// The agents that can be reached from `entry`, itself included; `None` if that cannot be said,
    /// because an agent is named by a file that does not tell its name.
    #[must_use]
    pub fn reachable(&self, entry: &str) -> Option<FxHashSet<SmolStr>> {
        if self.unmatched {
            return None;
        }
        let mut found = FxHashSet::default();
        let mut dfs = Dfs::new(&self.graph, *self.nodes.get(entry)?);
        while let Some(node) = dfs.next(&self.graph) {
            found.extend(self.graph.node_weight(node).cloned());
        }
        Some(found)
    }

    /// The agents that may go to `name`, with how.
    pub fn predecessors<'a>(
        &'a self,
        name: &str,
    ) -> impl Iterator<Item = (&'a SmolStr, &'a AgentEdge)> {
        use petgraph::visit::EdgeRef;
        self.nodes
            .get(name)
            .into_iter()
            .flat_map(|n| self.graph.edges_directed(*n, petgraph::Direction::Incoming))
            .filter_map(|e| Some((self.graph.node_weight(e.source())?, e.weight())))
    }
}

/// The name of a referenced file, without folder and endings.
fn stem(reference: &AgentReference) -> Option<&str> {
    reference.file.as_ref()?.value.rsplit(['/', '\\']).next()?.split('.').next()
}

/// `ticket_booth`, `Ticket_Booth`, `ticket-booth` and `TicketBooth` are the same name to people.
fn folded(name: &str) -> SmolStr {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Calls `found` with every agent that `agent` names as one it may go to. An agent that is only
/// listed counts too: the model may choose it.
fn targets<'a>(
    agent: &'a Agent,
    profiles: impl Iterator<Item = &'a Profile>,
    found: &mut dyn FnMut(&SmolStr, AgentEdge),
) {
    let mut visit = |node: Node<'a>| match node {
        Node::AgentRef(name, by) => found(&name.value, AgentEdge { by, span: name.span }),
        Node::Jump(jump) => {
            if let Target::Handoff(Some(name)) | Target::Delegate(Some(name)) = &jump.target {
                found(&name.value, AgentEdge { by: AgentUse::Flow, span: name.span });
            }
        }
        _ => {}
    };
    agent.walk(&mut visit);
    for profile in profiles {
        profile.walk(&mut visit);
    }
}
