//! Questions about a graph. None of them asks whether a condition can hold.

use super::{AgentId, Cfg, DecidedBy, Edge, Element, How, Node, NodeKind, Transfer, Variable, Why};
use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Range;

/// So many nodes are looked at to find where variables are read that are not set, over all variables
/// of an agent.
const MOST_LOOKED: usize = 2_000_000;

/// A set of nodes of one graph, or of one agent in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSet {
    /// The first node that can be in it: what is asked of one agent must not take time for all.
    first: usize,
    there: Vec<bool>,
}

impl NodeSet {
    fn new(nodes: Range<usize>) -> Self {
        Self { first: nodes.start, there: vec![false; nodes.len()] }
    }

    /// Adds a node; false if it was there, or cannot be.
    fn insert(&mut self, node: NodeIndex) -> bool {
        node.index()
            .checked_sub(self.first)
            .and_then(|at| self.there.get_mut(at))
            .is_some_and(|there| !std::mem::replace(there, true))
    }

    /// Whether a node is in it.
    #[must_use]
    pub fn contains(&self, node: NodeIndex) -> bool {
        let at = node.index().checked_sub(self.first);
        at.and_then(|at| self.there.get(at)).copied().unwrap_or(false)
    }

    /// Its nodes, ascending.
    pub fn iter(&self) -> impl Iterator<Item = NodeIndex> + '_ {
        let all = (self.first..).map(NodeIndex::new).zip(&self.there);
        all.filter(|(_, there)| **there).map(|(node, _)| node)
    }
}

/// Nodes that lead to each other: every one can be reached from every other.
#[derive(Debug, Clone)]
pub struct Loop {
    /// The nodes, ascending.
    pub nodes: Vec<NodeIndex>,
    /// The edges among them, ascending.
    pub edges: Vec<EdgeIndex>,
    /// Whether every way round passes an edge with a limit.
    pub bounded: bool,
    /// Whether every way round waits for the user.
    pub waits: bool,
}

/// A variable that is read although it has not been set on some way there.
#[derive(Debug, Clone)]
pub struct Unset {
    /// The variable as it is read.
    pub variable: Variable,
    /// Where it is read.
    pub read: NodeIndex,
    /// A shortest way there from the beginning of the agent that sets it nowhere.
    pub way: Vec<EdgeIndex>,
}

impl<'a> Cfg<'a> {
    /// The nodes that can be reached from `from`, these included, by edges that are followed.
    pub fn reach(
        &self,
        from: impl IntoIterator<Item = NodeIndex>,
        follow: impl Fn(&Edge<'a>) -> bool,
    ) -> NodeSet {
        self.spread(from, Direction::Outgoing, 0..self.graph.node_count(), follow)
    }

    /// The nodes from which `to` can be reached, these included.
    pub fn reach_back(
        &self,
        to: impl IntoIterator<Item = NodeIndex>,
        follow: impl Fn(&Edge<'a>) -> bool,
    ) -> NodeSet {
        self.spread(to, Direction::Incoming, 0..self.graph.node_count(), follow)
    }

    fn spread(
        &self,
        from: impl IntoIterator<Item = NodeIndex>,
        direction: Direction,
        within: Range<usize>,
        follow: impl Fn(&Edge<'a>) -> bool,
    ) -> NodeSet {
        let mut found = NodeSet::new(within);
        let mut waiting: Vec<NodeIndex> = from.into_iter().filter(|n| found.insert(*n)).collect();
        while let Some(node) = waiting.pop() {
            for edge in self.graph.edges_directed(node, direction) {
                let next =
                    if direction == Direction::Outgoing { edge.target() } else { edge.source() };
                if follow(edge.weight()) && found.insert(next) {
                    waiting.push(next);
                }
            }
        }
        found
    }

    /// What an agent can reach of itself, taking agents that it asks to come back.
    #[must_use]
    pub fn reachable_in(&self, agent: AgentId) -> NodeSet {
        let part = self.part(agent);
        let own = part.map_or(0..0, super::Part::range);
        self.spread(part.map(|p| p.entry), Direction::Outgoing, own, |_| true)
    }

    /// Everything that can be reached from the beginning of an agent, other agents included.
    #[must_use]
    pub fn reachable_from(&self, agent: AgentId) -> NodeSet {
        self.reach(self.part(agent).map(|p| p.entry), |_| true)
    }

    /// The nodes of an agent from which its part in the conversation can end, see
    /// [`NodeKind::ends`]. The handlers of errors are left out: an error is no way to end that an
    /// author plans with.
    #[must_use]
    pub fn finishing_in(&self, agent: AgentId) -> NodeSet {
        let part = self.part(agent);
        let nodes = part.into_iter().flat_map(super::Part::nodes);
        let ends = nodes.filter(|n| self.node(*n).is_some_and(|node| self.may_end(*n, node.kind)));
        let own = part.map_or(0..0, super::Part::range);
        self.spread(ends, Direction::Incoming, own, |edge| edge.why != Why::Unhandled)
    }

    /// Whether an agent's part may end at a node. Every turn comes back to where it was; only a jump
    /// to there leaves the step for nobody knows where.
    fn may_end(&self, node: NodeIndex, kind: NodeKind) -> bool {
        let resumes = |to: NodeIndex| self.node(to).is_some_and(|n| n.kind == NodeKind::Resume);
        let jumps = |edge: &Edge<'a>| matches!(edge.by, Element::Jump(_));
        kind.ends() && kind != NodeKind::Resume
            || self.graph.edges(node).any(|e| jumps(e.weight()) && resumes(e.target()))
    }

    /// Nodes that lead nowhere and end nothing; a conversation that gets there hangs.
    #[must_use]
    pub fn stuck(&self) -> Vec<NodeIndex> {
        self.graph
            .node_indices()
            .filter(|n| self.graph.edges(*n).next().is_none())
            .filter(|n| self.node(*n).is_some_and(|node| !node.kind.ends()))
            .collect()
    }

    /// The dominators of an agent's nodes: the places that every way from its beginning passes.
    #[must_use]
    pub fn dominators(&self, agent: AgentId) -> Option<Dominators<NodeIndex>> {
        Some(simple_fast(&self.graph, self.part(agent)?.entry))
    }

    /// A shortest way from one node to another by edges that are followed.
    pub fn way(
        &self,
        from: NodeIndex,
        to: NodeIndex,
        follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool,
    ) -> Option<Vec<EdgeIndex>> {
        let mut came: FxHashMap<NodeIndex, EdgeIndex> = FxHashMap::default();
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front() {
            let mut next: Vec<_> =
                self.graph.edges(node).map(|e| (e.id(), e.target(), e.weight())).collect();
            next.sort_by_key(|(id, ..)| *id);
            for (id, target, edge) in next {
                if follow(id, edge) && target != from && !came.contains_key(&target) {
                    came.insert(target, id);
                    waiting.push_back(target);
                }
            }
            if came.contains_key(&to) {
                break;
            }
        }
        let mut way = Vec::new();
        let mut at = to;
        while at != from {
            let edge = *came.get(&at)?;
            way.push(edge);
            at = self.graph.edge_endpoints(edge)?.0;
        }
        way.reverse();
        Some(way)
    }

    /// The loops among the edges that are followed, by their first nodes. A turn of a flow goes on
    /// where it was, so that is no loop.
    pub fn loops(&self, follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool) -> Vec<Loop> {
        let follow = |id, edge: &Edge<'a>| !self.is_next_turn_of_flow(id) && follow(id, edge);
        let groups = self.circles(|id, edge| follow(id, edge));
        if groups.is_empty() {
            return Vec::new();
        }
        let unlimited = self.circles(|id, edge| edge.limit.is_none() && follow(id, edge));
        let unlimited: FxHashSet<NodeIndex> = unlimited.into_iter().flatten().collect();
        let waitless = self.circles(|id, edge| !self.touches_wait(id) && follow(id, edge));
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
            let part = self.node(from).and_then(|n| self.part(n.agent));
            edge.why == Why::Turn && part.is_some_and(|p| p.wait == from && p.agent.flow.is_some())
        })
    }

    fn touches_wait(&self, edge: EdgeIndex) -> bool {
        self.edge(edge).is_some_and(|(from, to, _)| {
            [from, to].into_iter().any(|n| self.node(n).is_some_and(|n| n.kind.waits()))
        })
    }

    /// The strongly connected parts with at least one edge inside.
    fn circles(&self, follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool) -> Vec<Vec<NodeIndex>> {
        let follow = self.on_circles(follow);
        if !follow.contains(&true) {
            return Vec::new();
        }
        let follow = |id: EdgeIndex| follow.get(id.index()).copied().unwrap_or_default();
        let filtered = EdgeFiltered::from_fn(&self.graph, |edge| follow(edge.id()));
        // Not `tarjan_scc`, which recurses as deep as a flow is long.
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

    /// Which of the edges that are followed may be on a circle: all that are left when what nothing
    /// leads to is taken away, again and again. Mostly there are none, and this is cheaper than looking
    /// for circles.
    fn on_circles(&self, follow: impl Fn(EdgeIndex, &Edge<'a>) -> bool) -> Vec<bool> {
        let mut followed: Vec<bool> =
            self.graph.edge_references().map(|e| follow(e.id(), e.weight())).collect();
        let mut into = vec![0_usize; self.graph.node_count()];
        for (edge, _) in self.graph.edge_references().zip(&followed).filter(|(_, f)| **f) {
            if let Some(count) = into.get_mut(edge.target().index()) {
                *count += 1;
            }
        }
        let mut waiting: Vec<NodeIndex> =
            self.graph.node_indices().filter(|n| into.get(n.index()) == Some(&0)).collect();
        while let Some(node) = waiting.pop() {
            for edge in self.graph.edges(node) {
                let taken = followed.get_mut(edge.id().index());
                if !taken.is_some_and(std::mem::take) {
                    continue;
                }
                if let Some(count) = into.get_mut(edge.target().index()) {
                    *count -= 1;
                    if *count == 0 {
                        waiting.push(edge.target());
                    }
                }
            }
        }
        followed
    }

    /// Loops that never wait for the user, in which nothing is up to the user or the model, and that
    /// nothing bounds. Where another agent is asked, the loop goes on behind it unless that agent
    /// `talks`; one that is not part of the program does.
    pub fn turnless_loops(&self, talks: impl Fn(AgentId) -> bool) -> Vec<Loop> {
        let talking: Vec<bool> = (0..).map(AgentId).take(self.parts.len()).map(talks).collect();
        let silent: FxHashSet<NodeIndex> = self
            .transfers
            .iter()
            .filter(|t| t.target.is_some_and(|a| talking.get(a.0 as usize) == Some(&false)))
            .map(|t| t.node)
            .collect();
        self.loops(|id, edge| {
            // Out of an agent one would come to all who ask it.
            let back = edge.why == Why::Return
                && self.edge(id).is_some_and(|(from, ..)| {
                    self.node(from).is_some_and(|n| match n.kind {
                        NodeKind::Exit => true,
                        NodeKind::Delegate | NodeKind::Handoff => !silent.contains(&from),
                        _ => false,
                    })
                });
            !matches!(edge.decided_by, DecidedBy::User | DecidedBy::Model)
                && edge.limit.is_none()
                && !self.touches_wait(id)
                && !back
        })
    }

    /// The nodes from which nothing can be reached that waits for the user, lets the model choose or
    /// ends: whoever comes there goes round for ever.
    #[must_use]
    pub fn never_yielding(&self) -> NodeSet {
        let yields = self.graph.node_indices().filter(|n| {
            self.node(*n).is_some_and(|node| {
                node.kind.waits()
                    || node.kind == NodeKind::Choose
                    || (node.kind.ends() && self.graph.edges(*n).next().is_none())
            })
        });
        let mut set = self.reach_back(yields, |_| true);
        set.there.iter_mut().for_each(|yields| *yields = !*yields);
        set
    }

    /// The ways out of each step of an agent, by the step's name: the edges to other steps and to
    /// where the flow ends, in the order of the source.
    #[must_use]
    pub fn ways_out(&self, agent: AgentId) -> FxHashMap<&'a str, Vec<(&Node<'a>, &Edge<'a>)>> {
        let mut all: FxHashMap<&'a str, Vec<(&Node<'a>, &Edge<'a>)>> = FxHashMap::default();
        for from in self.part(agent).into_iter().flat_map(super::Part::nodes) {
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
    pub fn talks(&self, agent: AgentId) -> bool {
        let reached = self.reachable_in(agent);
        let own = self.part(agent).into_iter().flat_map(super::Part::nodes);
        // The wait between turns belongs to every agent.
        own.filter(|n| reached.contains(*n) && self.part(agent).is_some_and(|p| p.wait != *n))
            .any(|n| self.node(n).is_some_and(|n| n.kind.waits() || n.kind == NodeKind::Choose))
    }

    /// The agents that are led to from one, with how; those of the graph only.
    pub fn targets(&self, agent: AgentId) -> impl Iterator<Item = (AgentId, &Transfer<'a>)> {
        self.transfers
            .iter()
            .filter(move |t| self.node(t.node).is_some_and(|n| n.agent == agent))
            .filter_map(|t| Some((t.target?, t)))
    }

    /// The agents that lead to one, with how.
    pub fn sources(&self, agent: AgentId) -> impl Iterator<Item = (AgentId, &Transfer<'a>)> {
        self.transfers
            .iter()
            .filter(move |t| t.target == Some(agent))
            .filter_map(|t| Some((self.node(t.node)?.agent, t)))
    }

    /// The agents that can be reached from one, itself included, whatever place in an agent leads to
    /// the next; `None` if nobody can say, because an agent is named by a file that does not tell
    /// which one it is.
    #[must_use]
    pub fn reachable_agents(&self, entry: AgentId) -> Option<FxHashSet<AgentId>> {
        if self.unmatched {
            return None;
        }
        let mut next: FxHashMap<AgentId, Vec<AgentId>> = FxHashMap::default();
        for transfer in &self.transfers {
            if let (Some(from), Some(to)) = (self.node(transfer.node), transfer.target) {
                next.entry(from.agent).or_default().push(to);
            }
        }
        let mut found = FxHashSet::from_iter([entry]);
        let mut waiting = vec![entry];
        while let Some(agent) = waiting.pop() {
            for to in next.get(&agent).into_iter().flatten() {
                if found.insert(*to) {
                    waiting.push(*to);
                }
            }
        }
        Some(found)
    }

    /// Groups of agents that hand over to each other for good, so that a conversation can go back and
    /// forth among them: each with its transfers, in the order of the source.
    #[must_use]
    pub fn back_and_forth(&self) -> Vec<(Vec<AgentId>, Vec<&Transfer<'a>>)> {
        let mut graph: DiGraph<AgentId, ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> =
            (0..).map(AgentId).zip(&self.parts).map(|(id, _)| graph.add_node(id)).collect();
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

    /// The reads of an agent that some way from its beginning leads to without setting the variable
    /// before, for the variables that `about` wants; one for each place that reads. What the user or
    /// the model may fill in counts as set. Takes time in proportion to the graph for each variable; of
    /// very many variables in a very large agent the last are not looked at.
    pub fn unset_reads(&self, agent: AgentId, about: impl Fn(&str) -> bool) -> Vec<Unset> {
        let Some(part) = self.part(agent) else { return Vec::new() };
        let mut reads: FxHashMap<String, Vec<(NodeIndex, Variable)>> = FxHashMap::default();
        let mut sets: FxHashMap<NodeIndex, Vec<Variable>> = FxHashMap::default();
        for node in part.nodes() {
            for access in self.accesses(node) {
                match access.how {
                    How::Reads if about(&access.variable.name) => reads
                        .entry(access.variable.name.to_string())
                        .or_default()
                        .push((node, access.variable.clone())),
                    How::Sets => sets.entry(node).or_default().push(access.variable.clone()),
                    _ => {}
                }
            }
        }
        let asked: FxHashSet<&str> =
            part.agent.gather.fields.iter().map(|f| f.name.value.as_str()).collect();
        let mut names: Vec<&String> = reads.keys().collect();
        names.sort();
        let mut found = Vec::new();
        let mut looked = 0;
        for name in names {
            let Some(places) = reads.get(name).filter(|_| looked < MOST_LOOKED) else { continue };
            let by_user = places.iter().any(|(_, v)| asked.contains(v.root()));
            let sets_it = |node: NodeIndex| {
                let wanted = places.first().map(|(_, v)| v);
                sets.get(&node)
                    .is_some_and(|all| all.iter().any(|v| wanted.is_some_and(|w| v.touches(w))))
                    || (by_user
                        && self
                            .node(node)
                            .is_some_and(|n| n.kind.waits() && n.kind != NodeKind::Confirm))
            };
            let came = self.spread_unset(part.entry, sets_it);
            looked += came.len();
            for (node, variable) in places {
                if *node == part.entry || came.contains_key(node) {
                    let way = back(&came, *node, part.entry, &self.graph);
                    found.push(Unset { variable: variable.clone(), read: *node, way });
                }
            }
        }
        found
    }

    /// Where one comes to from the beginning of an agent without passing a node that `stops`; these
    /// are still reached. With the edge one comes by first.
    fn spread_unset(
        &self,
        entry: NodeIndex,
        stops: impl Fn(NodeIndex) -> bool,
    ) -> FxHashMap<NodeIndex, EdgeIndex> {
        let mut came: FxHashMap<NodeIndex, EdgeIndex> = FxHashMap::default();
        let mut waiting = VecDeque::from([entry]);
        while let Some(node) = waiting.pop_front() {
            if stops(node) {
                continue;
            }
            for edge in self.graph.edges(node) {
                let to = edge.target();
                if edge.weight().why != Why::Enter && to != entry && !came.contains_key(&to) {
                    came.insert(to, edge.id());
                    waiting.push_back(to);
                }
            }
        }
        came
    }
}

fn back(
    came: &FxHashMap<NodeIndex, EdgeIndex>,
    to: NodeIndex,
    from: NodeIndex,
    graph: &DiGraph<Node<'_>, Edge<'_>>,
) -> Vec<EdgeIndex> {
    let mut way = Vec::new();
    let mut at = to;
    while at != from
        && let Some(edge) = came.get(&at)
        && let Some((before, _)) = graph.edge_endpoints(*edge)
    {
        way.push(*edge);
        at = before;
    }
    way.reverse();
    way
}
