//! Agents that send the conversation round in circles, by what their instructions say.
//!
//! A router that chooses an agent is no part of a circle: it chooses anew each time. Nor is the way back
//! to an agent that chose among several. A circle needs at least one handoff that is made whatever
//! happens, and it is broken by one that depends on what a tool has found.

use super::Instructions;
use super::mentions::Strength;
use super::text::Prompt;
use crate::dialects::is_adl;
use agentir_diagnostics::Span;
use agentir_ir::{Agent, AgentType, AgentUse, Node, Program};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

/// A circle of agents.
#[derive(Debug)]
pub(crate) struct Loop<'a> {
    /// The handoffs, from an agent back to it. The first one is made whatever happens.
    pub(crate) edges: Vec<LoopEdge<'a>>,
    /// The steps that come after the first handoff and are never taken, if it ends the agent: their
    /// numbers, and the tools in them.
    pub(crate) cut_off: Vec<&'a str>,
    pub(crate) lost_tools: Vec<&'a str>,
}

/// A handoff of a circle.
#[derive(Debug, Clone)]
pub(crate) struct LoopEdge<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    pub(crate) span: Span,
    pub(crate) must: bool,
    /// Whether it is a step that calls, not words.
    pub(crate) call: bool,
}

type Said<'s, 'a> = (&'a Agent, &'s [Prompt<'a>]);

/// The circles of a program, each once.
pub(super) fn loops<'a>(program: &'a Program, said: &Instructions<'a>) -> Vec<Loop<'a>> {
    let all = said.prompts.iter().flatten().flat_map(|p| &p.asks.handoffs);
    if !all.clone().any(|handoff| handoff.strength == Strength::Must) {
        return Vec::new();
    }
    let ways = said.ways();
    let said: Vec<Said<'_, 'a>> =
        program.agents.iter().zip(said.prompts.iter().map(Vec::as_slice)).collect();
    let routers: FxHashSet<&str> = program
        .agents
        .iter()
        .filter(|a| a.metadata.kind == AgentType::Supervisor)
        .map(|a| a.metadata.name.value.as_str())
        .collect();
    let edges = edges(&said, ways, &routers);
    let mut graph: DiGraph<&str, LoopEdge<'_>> = DiGraph::new();
    let mut nodes: FxHashMap<&str, NodeIndex> = FxHashMap::default();
    for edge in edges {
        let from = *nodes.entry(edge.from).or_insert_with(|| graph.add_node(edge.from));
        let to = *nodes.entry(edge.to).or_insert_with(|| graph.add_node(edge.to));
        graph.add_edge(from, to, edge);
    }
    // Not Tarjan's algorithm, which recurses as deep as a chain of agents is long.
    let mut part: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    let components = petgraph::algo::kosaraju_scc(&graph);
    for (number, nodes) in components.iter().enumerate() {
        part.extend(nodes.iter().map(|node| (*node, number)));
    }
    let mut by_part: FxHashMap<usize, Vec<(&LoopEdge<'_>, NodeIndex, NodeIndex)>> =
        FxHashMap::default();
    for index in graph.edge_indices() {
        let (Some((from, to)), Some(edge)) =
            (graph.edge_endpoints(index), graph.edge_weight(index))
        else {
            continue;
        };
        let within = part.get(&from).filter(|n| part.get(&to) == Some(*n));
        if let Some(number) = within.filter(|_| edge.must && !edge.call && from != to) {
            by_part.entry(*number).or_default().push((edge, from, to));
        }
    }
    let mut all = Vec::new();
    for (number, mut musts) in by_part {
        let Some(component) = components.get(number) else { continue };
        let inside: FxHashSet<NodeIndex> = component.iter().copied().collect();
        musts.sort_by_key(|(edge, ..)| (edge.span.file, edge.span.start));
        let Some((first, from, to)) = musts.first() else { continue };
        let mut edges = vec![(*first).clone()];
        edges.extend(way(&graph, *to, *from, &inside));
        let (cut_off, lost_tools) = after(&said, first);
        all.push(Loop { edges, cut_off, lost_tools });
    }
    all.sort_by_key(|l| l.edges.first().map(|e| (e.span.file, e.span.start)));
    all
}

/// All handoffs that can be parts of a circle.
fn edges<'a>(
    said: &[Said<'_, 'a>],
    ways: &Ways<'a>,
    routers: &FxHashSet<&str>,
) -> Vec<LoopEdge<'a>> {
    let mut edges = Vec::new();
    // Whom an agent may choose among.
    let mut choices: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for (agent, prompts) in said {
        let from = agent.metadata.name.value.as_str();
        for prompt in *prompts {
            choices.entry(from).or_default().extend(prompt.offers.values());
        }
        for prompt in *prompts {
            for handoff in &prompt.asks.handoffs {
                if handoff.to == from
                    || routers.contains(handoff.to)
                    || handoff.strength == Strength::Checked
                {
                    continue;
                }
                if handoff.strength == Strength::May {
                    choices.entry(from).or_default().insert(handoff.to);
                }
                if !ways.lead(agent, handoff.to) {
                    continue;
                }
                edges.push(LoopEdge {
                    from,
                    to: handoff.to,
                    span: prompt.place(&handoff.sentence.range),
                    must: handoff.strength == Strength::Must,
                    call: false,
                });
            }
        }
        agent.walk(&mut |node| {
            if let Node::AgentRef(to, AgentUse::Delegate) = node
                && !routers.contains(to.value.as_str())
            {
                let to_name = to.value.as_str();
                edges.push(LoopEdge { from, to: to_name, span: to.span, must: false, call: true });
            }
        });
    }
    // The way back to an agent that chose among several.
    edges.retain(|e| {
        let chose = choices.get(e.to).is_some_and(|c| c.len() > 1 && c.contains(e.from));
        !chose
    });
    edges
}

/// How an agent that is told to hand over can do so.
#[derive(Debug)]
pub(crate) struct Ways<'a> {
    /// The routers that choose each agent, and each router itself.
    routers: FxHashMap<&'a str, Vec<usize>>,
    direct: FxHashMap<&'a str, FxHashSet<&'a str>>,
}

impl<'a> Ways<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let mut ways = Self { routers: FxHashMap::default(), direct: FxHashMap::default() };
        for (number, agent) in program.agents.iter().enumerate() {
            let own = agent.metadata.name.value.as_str();
            let mut to: FxHashSet<&str> = agent.targets().map(|t| t.value.as_str()).collect();
            if agent.metadata.kind == AgentType::Supervisor {
                for name in to.iter().copied().chain([own]) {
                    ways.routers.entry(name).or_default().push(number);
                }
            }
            agent.walk(&mut |node| {
                if let Node::AgentRef(name, _) = node {
                    to.insert(&name.value);
                }
            });
            ways.direct.entry(own).or_default().extend(to);
        }
        ways
    }

    /// Whether the agent itself can go to the other.
    pub(crate) fn direct(&self, from: &str, to: &str) -> bool {
        self.direct.get(from).is_some_and(|all| all.contains(to))
    }

    /// Whether somebody chooses among both agents.
    pub(crate) fn routed(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.routers.get(a), self.routers.get(b)) else { return false };
        // In ascending order, both of them.
        a.iter().any(|router| b.binary_search(router).is_ok())
    }

    /// Whether words can lead from an agent to another. Without any ensemble ADL leaves open who
    /// chooses.
    fn lead(&self, from: &Agent, to: &str) -> bool {
        let own = from.metadata.name.value.as_str();
        let nobody_chooses = is_adl(from) && self.routers.is_empty();
        nobody_chooses || self.routed(own, to) || self.direct(own, to)
    }
}

/// The shortest way from one agent to another.
fn way<'a>(
    graph: &DiGraph<&'a str, LoopEdge<'a>>,
    from: NodeIndex,
    to: NodeIndex,
    inside: &FxHashSet<NodeIndex>,
) -> Vec<LoopEdge<'a>> {
    use petgraph::visit::EdgeRef;
    let mut came: FxHashMap<NodeIndex, (NodeIndex, &LoopEdge<'a>)> = FxHashMap::default();
    let mut open = std::collections::VecDeque::from([from]);
    while let Some(node) = open.pop_front() {
        if node == to {
            break;
        }
        for edge in graph.edges(node) {
            let next = edge.target();
            if inside.contains(&next) && next != from && !came.contains_key(&next) {
                came.insert(next, (node, edge.weight()));
                open.push_back(next);
            }
        }
    }
    let mut edges = Vec::new();
    let mut at = to;
    while at != from {
        let Some((before, edge)) = came.get(&at) else { break };
        edges.push((*edge).clone());
        at = *before;
    }
    edges.reverse();
    edges
}

/// What a handoff that ends its agent cuts off: the steps behind it and the tools they call.
fn after<'a>(said: &[Said<'_, 'a>], edge: &LoopEdge<'a>) -> (Vec<&'a str>, Vec<&'a str>) {
    for (_, prompts) in said.iter().filter(|(agent, _)| agent.metadata.name.value == edge.from) {
        for prompt in *prompts {
            let ends = |place| prompt.place(place) == edge.span;
            let found = &prompt.asks.handoffs;
            let here = found.iter().find(|h| h.exits && ends(&h.sentence.range));
            let Some(here) = here else { continue };
            let behind = prompt.steps.iter().skip(here.step + 1);
            let numbers = behind.filter_map(|s| s.number.as_ref().map(|n| n.0)).collect();
            let tools = prompt.asks.tools.iter().filter(|t| t.step > here.step);
            let mut tools: Vec<&str> = tools.map(|t| t.name).collect();
            let mut seen = FxHashSet::default();
            tools.retain(|t| seen.insert(*t));
            return (numbers, tools);
        }
    }
    (Vec::new(), Vec::new())
}
