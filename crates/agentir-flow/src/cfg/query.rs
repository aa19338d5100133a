//! Graph queries. None of them decides whether a condition can hold.

use super::{
    AccessKind, AgentId, Cfg, DecidedBy, Edge, EdgeKind, Node, NodeKind, Origin, Transfer, Variable,
};
use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Range;

/// The maximum number of nodes that the search for uninitialized reads visits, over all variables
/// of an agent.
const MAX_VISITED_NODES: usize = 2_000_000;

/// A set of nodes of one graph, or of one agent in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSet {
    /// The first possible member. A query about one agent must not take time for the whole graph.
    first: usize,
    members: Vec<bool>,
}

impl NodeSet {
    fn new(nodes: Range<usize>) -> Self {
        Self { first: nodes.start, members: vec![false; nodes.len()] }
    }

    /// Adds a node. Returns false if it is a member already or cannot be one.
    fn insert(&mut self, node: NodeIndex) -> bool {
        node.index()
            .checked_sub(self.first)
            .and_then(|at| self.members.get_mut(at))
            .is_some_and(|members| !std::mem::replace(members, true))
    }

    /// Whether the node is a member.
    #[must_use]
    pub fn contains(&self, node: NodeIndex) -> bool {
        let at = node.index().checked_sub(self.first);
        at.and_then(|at| self.members.get(at)).copied().unwrap_or(false)
    }

    /// Returns the members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        let all = (self.first..).map(NodeIndex::new).zip(&self.members);
        all.filter(|(_, members)| **members).map(|(node, _)| node)
    }
}

/// A strongly connected component with at least one edge.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Its nodes in ascending order.
    pub nodes: Vec<NodeIndex>,
    /// Its edges in ascending order.
    pub edges: Vec<EdgeIndex>,
    /// Whether every cycle has an edge with a limit.
    pub bounded: bool,
    /// Whether every cycle waits for the user.
    pub waits: bool,
}

/// A read of a variable that some path to it does not define.
#[derive(Debug, Clone)]
pub struct UninitializedRead {
    /// The variable as it is read.
    pub variable: Variable,
    /// The node that reads it.
    pub read: NodeIndex,
    /// A shortest path to the node, from the agent's entry, without a definition of the variable.
    pub path: Vec<EdgeIndex>,
}

impl<'a> Cfg<'a> {
    /// Returns the nodes that are reachable from `from`, these included, along the edges that
    /// `follow` accepts.
    pub fn reachable(
        &self,
        from: impl IntoIterator<Item = NodeIndex>,
        follow: impl Fn(&Edge<'a>) -> bool,
    ) -> NodeSet {
        self.search(from, Direction::Outgoing, 0..self.graph.node_count(), follow)
    }

    /// Returns the nodes from which `to` is reachable, these included.
    pub fn reaching(
        &self,
        to: impl IntoIterator<Item = NodeIndex>,
        follow: impl Fn(&Edge<'a>) -> bool,
    ) -> NodeSet {
        self.search(to, Direction::Incoming, 0..self.graph.node_count(), follow)
    }

    fn search(
        &self,
        from: impl IntoIterator<Item = NodeIndex>,
        direction: Direction,
        within: Range<usize>,
        follow: impl Fn(&Edge<'a>) -> bool,
    ) -> NodeSet {
        let mut found = NodeSet::new(within);
        let mut worklist: Vec<NodeIndex> = from.into_iter().filter(|n| found.insert(*n)).collect();
        while let Some(node) = worklist.pop() {
            for edge in self.graph.edges_directed(node, direction) {
                let next =
                    if direction == Direction::Outgoing { edge.target() } else { edge.source() };
                if follow(edge.weight()) && found.insert(next) {
                    worklist.push(next);
                }
            }
        }
        found
    }

    /// Returns the nodes of an agent that are reachable from its entry, if the agents that it calls
    /// return.
    #[must_use]
    pub fn reachable_in(&self, agent: AgentId) -> NodeSet {
        let agent_cfg = self.agent(agent);
        let own = agent_cfg.map_or(0..0, super::AgentCfg::range);
        self.search(agent_cfg.map(|p| p.entry), Direction::Outgoing, own, |_| true)
    }

    /// Returns all nodes that are reachable from an agent's entry, other agents included.
    #[must_use]
    pub fn reachable_from(&self, agent: AgentId) -> NodeSet {
        self.reachable(self.agent(agent).map(|p| p.entry), |_| true)
    }

    /// Returns the nodes from which the agent can end, see [`NodeKind::ends`]. Error handlers do
    /// not count: authors do not plan to end an agent by an error.
    #[must_use]
    pub fn can_finish(&self, agent: AgentId) -> NodeSet {
        let agent_cfg = self.agent(agent);
        let nodes = agent_cfg.into_iter().flat_map(super::AgentCfg::nodes);
        let ends = nodes.filter(|n| self.node(*n).is_some_and(|node| self.may_end(*n, node.kind)));
        let own = agent_cfg.map_or(0..0, super::AgentCfg::range);
        self.search(ends, Direction::Incoming, own, |edge| edge.kind != EdgeKind::Unhandled)
    }

    /// Whether the agent may end at a node. Every turn resumes where it was; only a jump to
    /// `Resume` leaves the step for an unknown program point.
    fn may_end(&self, node: NodeIndex, kind: NodeKind) -> bool {
        let resumes = |to: NodeIndex| self.node(to).is_some_and(|n| n.kind == NodeKind::Resume);
        let jumps = |edge: &Edge<'a>| matches!(edge.origin, Origin::Jump(_));
        kind.ends() && kind != NodeKind::Resume
            || self.graph.edges(node).any(|e| jumps(e.weight()) && resumes(e.target()))
    }

    /// Returns the nodes without successors that do not end the agent. A conversation that gets
    /// there hangs.
    #[must_use]
    pub fn dead_ends(&self) -> Vec<NodeIndex> {
        self.graph
            .node_indices()
            .filter(|n| self.graph.edges(*n).next().is_none())
            .filter(|n| self.node(*n).is_some_and(|node| !node.kind.ends()))
            .collect()
    }

    /// Returns the dominators of an agent's nodes, with its entry as the root.
    #[must_use]
    pub fn dominators(&self, agent: AgentId) -> Option<Dominators<NodeIndex>> {
        Some(simple_fast(&self.graph, self.agent(agent)?.entry))
    }

    /// Returns a shortest path from a node to each of some others, along the edges that `follow` accepts.
    pub fn shortest_paths(
        &self,
        from: NodeIndex,
        to: &[NodeIndex],
        follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool,
    ) -> Vec<Option<Vec<EdgeIndex>>> {
        let mut left: FxHashSet<NodeIndex> = to.iter().copied().filter(|to| *to != from).collect();
        let mut predecessor: FxHashMap<NodeIndex, EdgeIndex> = FxHashMap::default();
        let mut worklist = VecDeque::from([from]);
        while let Some(node) = worklist.pop_front() {
            let mut next: Vec<_> =
                self.graph.edges(node).map(|e| (e.id(), e.target(), e.weight())).collect();
            next.sort_by_key(|(id, ..)| *id);
            for (id, target, edge) in next {
                if follow(id, edge) && target != from && !predecessor.contains_key(&target) {
                    predecessor.insert(target, id);
                    worklist.push_back(target);
                    left.remove(&target);
                }
            }
            if left.is_empty() {
                break;
            }
        }
        let path = |to: NodeIndex| {
            let mut path = Vec::new();
            let mut at = to;
            while at != from {
                let edge = *predecessor.get(&at)?;
                path.push(edge);
                at = self.graph.edge_endpoints(edge)?.0;
            }
            path.reverse();
            Some(path)
        };
        to.iter().copied().map(path).collect()
    }

    /// Returns the loops among the edges that `follow` accepts, ordered by their first nodes. The
    /// turn of a flow resumes where it was, so it is not a loop.
    pub fn loops(&self, follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool) -> Vec<Loop> {
        let follow = |id, edge: &Edge<'a>| !self.is_next_turn_of_flow(id) && follow(id, edge);
        let groups = self.cyclic_components(|id, edge| follow(id, edge));
        if groups.is_empty() {
            return Vec::new();
        }
        let unlimited = self.cyclic_components(|id, edge| edge.limit.is_none() && follow(id, edge));
        let unlimited: FxHashSet<NodeIndex> = unlimited.into_iter().flatten().collect();
        let waitless =
            self.cyclic_components(|id, edge| !self.touches_wait(id) && follow(id, edge));
        let waitless: FxHashSet<NodeIndex> = waitless.into_iter().flatten().collect();
        let mut number: FxHashMap<NodeIndex, usize> = FxHashMap::default();
        for (at, group) in groups.iter().enumerate() {
            number.extend(group.iter().map(|node| (*node, at)));
        }
        let mut edges: Vec<Vec<EdgeIndex>> = vec![Vec::new(); groups.len()];
        for id in self.graph.edge_indices() {
            if let Some((from, to, edge)) = self.edge(id)
                && let Some(at) = number.get(&from).filter(|at| number.get(&to) == Some(*at))
                && follow(id, edge)
                && let Some(list) = edges.get_mut(*at)
            {
                list.push(id);
            }
        }
        groups
            .into_iter()
            .zip(edges)
            .map(|(nodes, edges)| Loop {
                bounded: nodes.iter().all(|n| !unlimited.contains(n)),
                waits: nodes.iter().all(|n| !waitless.contains(n)),
                nodes,
                edges,
            })
            .collect()
    }

    fn is_next_turn_of_flow(&self, edge: EdgeIndex) -> bool {
        self.edge(edge).is_some_and(|(from, _, edge)| {
            let agent_cfg = self.node(from).and_then(|n| self.agent(n.agent));
            edge.kind == EdgeKind::Turn
                && agent_cfg.is_some_and(|p| p.wait == from && p.agent.flow.is_some())
        })
    }

    fn touches_wait(&self, edge: EdgeIndex) -> bool {
        self.edge(edge).is_some_and(|(from, to, _)| {
            [from, to].into_iter().any(|n| self.node(n).is_some_and(|n| n.kind.waits()))
        })
    }

    /// Returns the strongly connected components with at least one edge.
    fn cyclic_components(
        &self,
        follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool,
    ) -> Vec<Vec<NodeIndex>> {
        let follow = self.edges_on_cycles(follow);
        if !follow.contains(&true) {
            return Vec::new();
        }
        let follow = |id: EdgeIndex| follow.get(id.index()).copied().unwrap_or_default();
        let filtered = EdgeFiltered::from_fn(&self.graph, |edge| follow(edge.id()));
        // `tarjan_scc` recurses as deep as a flow is long.
        let mut groups: Vec<Vec<NodeIndex>> = kosaraju_scc(&filtered)
            .into_iter()
            .filter(|group| match group.as_slice() {
                [only] => self.graph.edges_connecting(*only, *only).any(|e| follow(e.id())),
                _ => true,
            })
            .collect();
        for group in &mut groups {
            group.sort();
        }
        groups.sort();
        groups
    }

    /// Marks the edges that may be on a cycle: those left after the nodes without predecessors have
    /// been removed repeatedly. Usually none is left, and this is cheaper than computing
    /// components.
    fn edges_on_cycles(&self, follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool) -> Vec<bool> {
        let mut followed: Vec<bool> =
            self.graph.edge_references().map(|e| follow(e.id(), e.weight())).collect();
        let mut into = vec![0_usize; self.graph.node_count()];
        for (edge, _) in self.graph.edge_references().zip(&followed).filter(|(_, f)| **f) {
            if let Some(count) = into.get_mut(edge.target().index()) {
                *count += 1;
            }
        }
        let mut worklist: Vec<NodeIndex> =
            self.graph.node_indices().filter(|n| into.get(n.index()) == Some(&0)).collect();
        while let Some(node) = worklist.pop() {
            for edge in self.graph.edges(node) {
                let taken = followed.get_mut(edge.id().index());
                if !taken.is_some_and(std::mem::take) {
                    continue;
                }
                if let Some(count) = into.get_mut(edge.target().index()) {
                    *count -= 1;
                    if *count == 0 {
                        worklist.push(edge.target());
                    }
                }
            }
        }
        followed
    }

    /// Returns the loops without a bound in which nothing waits for the user and neither the user
    /// nor the model decides. A call of another agent counts as part of the loop unless the agent
    /// `interacts` with the user. Agents outside of the program do.
    pub fn turnless_loops(&self, interacts: impl Fn(AgentId) -> bool) -> Vec<Loop> {
        let talking: Vec<bool> =
            (0..).map(AgentId).take(self.agents.len()).map(interacts).collect();
        let non_interactive: FxHashSet<NodeIndex> = self
            .transfers
            .iter()
            .filter(|t| t.target.is_some_and(|a| talking.get(a.0 as usize) == Some(&false)))
            .map(|t| t.node)
            .collect();
        self.loops(|id, edge| {
            // The exit of an agent leads to all of its callers.
            let back = edge.kind == EdgeKind::Return
                && self.edge(id).is_some_and(|(from, ..)| {
                    self.node(from).is_some_and(|n| match n.kind {
                        NodeKind::Exit => true,
                        NodeKind::Delegate | NodeKind::Handoff => !non_interactive.contains(&from),
                        _ => false,
                    })
                });
            !matches!(edge.decided_by, DecidedBy::User | DecidedBy::Model)
                && edge.limit.is_none()
                && !self.touches_wait(id)
                && !back
        })
    }

    /// Returns the nodes from which no wait, no choice of the model and no end is reachable:
    /// control that gets there never leaves.
    #[must_use]
    pub fn never_yielding(&self) -> NodeSet {
        let yields = self.graph.node_indices().filter(|n| {
            self.node(*n).is_some_and(|node| {
                node.kind.waits()
                    || node.kind == NodeKind::Choose
                    || (node.kind.ends() && self.graph.edges(*n).next().is_none())
            })
        });
        let mut set = self.reaching(yields, |_| true);
        set.members.iter_mut().for_each(|yields| *yields = !*yields);
        set
    }

    /// Returns the edges that leave each step of an agent, by the step's name: those to other steps
    /// and to the end of the flow, in source order.
    #[must_use]
    pub fn step_exits(&self, agent: AgentId) -> FxHashMap<&'a str, Vec<(&Node<'a>, &Edge<'a>)>> {
        let mut all: FxHashMap<&'a str, Vec<(&Node<'a>, &Edge<'a>)>> = FxHashMap::default();
        for from in self.agent(agent).into_iter().flat_map(super::AgentCfg::nodes) {
            let Some(step) = self.node(from).and_then(|n| n.step) else { continue };
            for edge in self.graph.edges(from) {
                let Some(to) = self.node(edge.target()) else { continue };
                let leaves = to.kind == NodeKind::Step
                    || to.step.is_none_or(|other| other.name.value != step.name.value)
                    || (to.kind.ends() && to.kind != NodeKind::Resume);
                if leaves {
                    all.entry(&step.name.value).or_default().push((to, edge.weight()));
                }
            }
        }
        for ways in all.values_mut() {
            ways.sort_by_key(|(_, edge)| (edge.span.file, edge.span.start));
        }
        all
    }

    /// Whether an agent can wait for the user or lets the model talk to them.
    #[must_use]
    pub fn interacts(&self, agent: AgentId) -> bool {
        let reached = self.reachable_in(agent);
        let own = self.agent(agent).into_iter().flat_map(super::AgentCfg::nodes);
        // Every agent has the wait between turns.
        own.filter(|n| reached.contains(*n) && self.agent(agent).is_some_and(|p| p.wait != *n))
            .any(|n| self.node(n).is_some_and(|n| n.kind.waits() || n.kind == NodeKind::Choose))
    }

    /// Returns the agents that an agent transfers to, if they are part of the graph.
    pub fn targets(&self, agent: AgentId) -> impl Iterator<Item = (AgentId, &Transfer<'a>)> {
        self.transfers
            .iter()
            .filter(move |t| self.node(t.node).is_some_and(|n| n.agent == agent))
            .filter_map(|t| Some((t.target?, t)))
    }

    /// Returns the agents that transfer to an agent.
    pub fn sources(&self, agent: AgentId) -> impl Iterator<Item = (AgentId, &Transfer<'a>)> {
        self.transfers
            .iter()
            .filter(move |t| t.target == Some(agent))
            .filter_map(|t| Some((self.node(t.node)?.agent, t)))
    }

    /// Returns the agents that are reachable from one, itself included, whatever program points the
    /// transfers are at. `None` if an agent is referenced by a file that does not identify it.
    #[must_use]
    pub fn reachable_agents(&self, entry: AgentId) -> Option<FxHashSet<AgentId>> {
        if self.unresolved {
            return None;
        }
        let mut next: FxHashMap<AgentId, Vec<AgentId>> = FxHashMap::default();
        for transfer in &self.transfers {
            if let (Some(from), Some(to)) = (self.node(transfer.node), transfer.target) {
                next.entry(from.agent).or_default().push(to);
            }
        }
        let mut found = FxHashSet::from_iter([entry]);
        let mut worklist = vec![entry];
        while let Some(agent) = worklist.pop() {
            for to in next.get(&agent).into_iter().flatten() {
                if found.insert(*to) {
                    worklist.push(*to);
                }
            }
        }
        Some(found)
    }

    /// Returns the groups of agents that hand off to each other without returning, with their
    /// transfers in source order. A conversation can go back and forth in such a group.
    #[must_use]
    pub fn handoff_cycles(&self) -> Vec<(Vec<AgentId>, Vec<&Transfer<'a>>)> {
        let mut graph: DiGraph<AgentId, ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> =
            (0..).map(AgentId).zip(&self.agents).map(|(id, _)| graph.add_node(id)).collect();
        let for_good = |t: &&Transfer<'a>| t.returns.is_none() && t.target.is_some();
        let ends = |t: &Transfer<'a>| Some((self.node(t.node)?.agent, t.target?));
        for (from, to) in self.transfers.iter().filter(for_good).filter_map(ends) {
            if let (Some(from), Some(to)) = (nodes.get(from.0 as usize), nodes.get(to.0 as usize)) {
                graph.add_edge(*from, *to, ());
            }
        }
        let mut groups: Vec<Vec<AgentId>> = kosaraju_scc(&graph)
            .into_iter()
            .filter(|g| g.len() > 1)
            .map(|g| g.into_iter().filter_map(|n| graph.node_weight(n).copied()).collect())
            .collect();
        groups.iter_mut().for_each(|g| g.sort());
        groups.sort();
        groups
            .into_iter()
            .map(|group| {
                let inside = |t: &&Transfer<'a>| {
                    ends(t).is_some_and(|(a, b)| group.contains(&a) && group.contains(&b))
                };
                let transfers = self.transfers.iter().filter(for_good).filter(inside).collect();
                (group, transfers)
            })
            .collect()
    }

    /// Returns the reads that some path from the agent's entry reaches without a definition of the
    /// variable, for the variables that `about` accepts; one per reading node. What the user or the
    /// model may fill counts as defined. Linear in the size of the graph for each variable. If a
    /// very large agent has very many variables, the last ones are skipped.
    pub fn uninitialized_reads(
        &self,
        agent: AgentId,
        about: impl Fn(&str) -> bool,
    ) -> Vec<UninitializedRead> {
        self.unset_reads(agent, about, false)
    }

    /// As [`Cfg::uninitialized_reads`], and a call that fails defines nothing.
    pub fn uninitialized_reads_after_failures(
        &self,
        agent: AgentId,
        about: impl Fn(&str) -> bool,
    ) -> Vec<UninitializedRead> {
        self.unset_reads(agent, about, true)
    }

    fn unset_reads(
        &self,
        agent: AgentId,
        about: impl Fn(&str) -> bool,
        calls_fail: bool,
    ) -> Vec<UninitializedRead> {
        let Some(agent_cfg) = self.agent(agent) else { return Vec::new() };
        let mut reads: FxHashMap<String, Vec<(NodeIndex, Variable)>> = FxHashMap::default();
        let mut defs: FxHashMap<NodeIndex, Vec<Variable>> = FxHashMap::default();
        for node in agent_cfg.nodes() {
            for access in self.accesses(node) {
                match access.kind {
                    AccessKind::Use if about(&access.variable.name) => reads
                        .entry(access.variable.name.to_string())
                        .or_default()
                        .push((node, access.variable.clone())),
                    AccessKind::Def => defs.entry(node).or_default().push(access.variable.clone()),
                    _ => {}
                }
            }
        }
        let asked: FxHashSet<&str> =
            agent_cfg.agent.gather.fields.iter().map(|f| f.name.value.as_str()).collect();
        let mut names: Vec<&String> = reads.keys().collect();
        names.sort();
        let mut found = Vec::new();
        let mut visited = 0;
        for name in names {
            let Some(uses) = reads.get(name).filter(|_| visited < MAX_VISITED_NODES) else {
                continue;
            };
            let by_user = uses.iter().any(|(_, v)| asked.contains(v.root()));
            let sets_it = |node: NodeIndex| {
                let wanted = uses.first().map(|(_, v)| v);
                defs.get(&node)
                    .is_some_and(|all| all.iter().any(|v| wanted.is_some_and(|w| v.overlaps(w))))
                    || (by_user
                        && self
                            .node(node)
                            .is_some_and(|n| n.kind.waits() && n.kind != NodeKind::Confirm))
            };
            let predecessor = self.reachable_without_def(agent_cfg.entry, sets_it, calls_fail);
            visited += predecessor.len();
            for (node, variable) in uses {
                if *node == agent_cfg.entry || predecessor.contains_key(node) {
                    let path = trace_back(&predecessor, *node, agent_cfg.entry, &self.graph);
                    found.push(UninitializedRead { variable: variable.clone(), read: *node, path });
                }
            }
        }
        found
    }

    /// Returns the nodes that are reachable from the entry without passing a node that `stops`,
    /// with the edge that reached them first. Nodes that stop are included. If `calls_fail`, the ways that
    /// failed calls leave by are not stopped.
    fn reachable_without_def(
        &self,
        entry: NodeIndex,
        stops: impl Fn(NodeIndex) -> bool,
        calls_fail: bool,
    ) -> FxHashMap<NodeIndex, EdgeIndex> {
        let mut predecessor: FxHashMap<NodeIndex, EdgeIndex> = FxHashMap::default();
        let mut worklist = VecDeque::from([entry]);
        while let Some(node) = worklist.pop_front() {
            let stopped = stops(node);
            let is_call = || self.node(node).is_some_and(|n| n.kind == NodeKind::Call);
            if stopped && !(calls_fail && is_call()) {
                continue;
            }
            for edge in self.graph.edges(node) {
                let to = edge.target();
                let kind = edge.weight().kind;
                if kind != EdgeKind::Enter
                    && (!stopped || matches!(kind, EdgeKind::Error | EdgeKind::Unhandled))
                    && to != entry
                    && !predecessor.contains_key(&to)
                {
                    predecessor.insert(to, edge.id());
                    worklist.push_back(to);
                }
            }
        }
        predecessor
    }
}

fn trace_back(
    predecessor: &FxHashMap<NodeIndex, EdgeIndex>,
    to: NodeIndex,
    from: NodeIndex,
    graph: &DiGraph<Node<'_>, Edge<'_>>,
) -> Vec<EdgeIndex> {
    let mut path = Vec::new();
    let mut at = to;
    while at != from
        && let Some(edge) = predecessor.get(&at)
        && let Some((before, _)) = graph.edge_endpoints(*edge)
    {
        path.push(*edge);
        at = before;
    }
    path.reverse();
    path
}
