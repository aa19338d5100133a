//! Cycles of agents that hand the conversation on, according to their instructions.
//!
//! A router that chooses an agent is not part of a cycle: it chooses anew each time. Neither is the
//! way back to an agent that chose among several. A cycle needs at least one unconditional handoff;
//! a handoff that depends on the result of a tool breaks it.

use super::mentions::Strength;
use super::prompts::Prompt;
use agentir_diagnostics::Span;
use agentir_ir::{Agent, AgentType, AgentUse, Node, Program};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

/// A cycle of agents.
#[derive(Debug)]
pub struct PromptCycle<'a> {
    /// The handoffs of the cycle. The first one is unconditional.
    pub edges: Vec<PromptHandoff<'a>>,
    /// The steps after the first handoff, which are unreachable if it ends the agent.
    pub cut_off: Vec<&'a str>,
    /// The tools in these steps.
    pub lost_tools: Vec<&'a str>,
}

/// A handoff of a cycle.
#[derive(Debug, Clone)]
pub struct PromptHandoff<'a> {
    /// The agent that hands over.
    pub from: &'a str,
    /// The agent that takes over.
    pub to: &'a str,
    /// The sentence, or the reference in the flow.
    pub span: Span,
    /// Whether it is unconditional.
    pub mandatory: bool,
    /// Whether a step of the flow makes the handoff, not an instruction.
    pub by_call: bool,
}

/// An agent with its prompts.
type AgentPrompts<'s, 'a> = (&'a Agent, &'s [Prompt<'a>]);

/// Returns the cycles of a program, each once.
pub(super) fn cycles<'g, 'a: 'g>(
    program: &'a Program,
    prompts: &[Vec<Prompt<'a>>],
    handoff_graph: impl FnOnce() -> &'g HandoffGraph<'a>,
) -> Vec<PromptCycle<'a>> {
    let all = prompts.iter().flatten().flat_map(|p| &p.mentions.handoffs);
    if !all.clone().any(|handoff| handoff.strength == Strength::Must) {
        return Vec::new();
    }
    let handoff_graph = handoff_graph();
    let prompts_of: Vec<AgentPrompts<'_, 'a>> =
        program.agents().zip(prompts.iter().map(Vec::as_slice)).collect();
    let routers: FxHashSet<&str> = program
        .agents
        .iter()
        .filter(|a| a.metadata.kind == AgentType::Supervisor)
        .map(|a| a.metadata.name.value.as_str())
        .collect();
    let edges = edges(&prompts_of, handoff_graph, &routers);
    let mut graph: DiGraph<&str, PromptHandoff<'_>> = DiGraph::new();
    let mut nodes: FxHashMap<&str, NodeIndex> = FxHashMap::default();
    for edge in edges {
        let from = *nodes.entry(edge.from).or_insert_with(|| graph.add_node(edge.from));
        let to = *nodes.entry(edge.to).or_insert_with(|| graph.add_node(edge.to));
        graph.add_edge(from, to, edge);
    }
    // Tarjan's algorithm recurses as deep as a chain of agents is long.
    let mut component_of: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    let components = petgraph::algo::kosaraju_scc(&graph);
    for (number, nodes) in components.iter().enumerate() {
        component_of.extend(nodes.iter().map(|node| (*node, number)));
    }
    let mut by_component: FxHashMap<usize, Vec<(&PromptHandoff<'_>, NodeIndex, NodeIndex)>> =
        FxHashMap::default();
    for index in graph.edge_indices() {
        let (Some((from, to)), Some(edge)) =
            (graph.edge_endpoints(index), graph.edge_weight(index))
        else {
            continue;
        };
        let within = component_of.get(&from).filter(|n| component_of.get(&to) == Some(*n));
        if let Some(number) = within.filter(|_| edge.mandatory && !edge.by_call && from != to) {
            by_component.entry(*number).or_default().push((edge, from, to));
        }
    }
    let mut all = Vec::new();
    for (number, mut mandatory) in by_component {
        let Some(component) = components.get(number) else { continue };
        let inside: FxHashSet<NodeIndex> = component.iter().copied().collect();
        mandatory.sort_by_key(|(edge, ..)| (edge.span.file, edge.span.start));
        let Some((first, from, to)) = mandatory.first() else { continue };
        let mut edges = vec![(*first).clone()];
        edges.extend(shortest_path(&graph, *to, *from, &inside));
        let (cut_off, lost_tools) = after(&prompts_of, first);
        all.push(PromptCycle { edges, cut_off, lost_tools });
    }
    all.sort_by_key(|l| l.edges.first().map(|e| (e.span.file, e.span.start)));
    all
}

/// Returns all handoffs that may be part of a cycle.
fn edges<'a>(
    prompts_of: &[AgentPrompts<'_, 'a>],
    handoff_graph: &HandoffGraph<'a>,
    routers: &FxHashSet<&str>,
) -> Vec<PromptHandoff<'a>> {
    let mut edges = Vec::new();
    // The agents that each agent may choose among.
    let mut choices: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for (agent, prompts) in prompts_of {
        let from = agent.metadata.name.value.as_str();
        for prompt in *prompts {
            choices.entry(from).or_default().extend(prompt.offers.values());
        }
        for prompt in *prompts {
            for handoff in &prompt.mentions.handoffs {
                if handoff.to == from
                    || routers.contains(handoff.to)
                    || handoff.strength == Strength::Checked
                {
                    continue;
                }
                if handoff.strength == Strength::May {
                    choices.entry(from).or_default().insert(handoff.to);
                }
                if !handoff_graph.can_lead(agent, handoff.to) {
                    continue;
                }
                edges.push(PromptHandoff {
                    from,
                    to: handoff.to,
                    span: prompt.place(&handoff.sentence.range),
                    mandatory: handoff.strength == Strength::Must,
                    by_call: false,
                });
            }
        }
        agent.walk(&mut |node| {
            if let Node::AgentRef(to, AgentUse::Delegate) = node
                && !routers.contains(to.value.as_str())
            {
                let to_name = to.value.as_str();
                edges.push(PromptHandoff {
                    from,
                    to: to_name,
                    span: to.span,
                    mandatory: false,
                    by_call: true,
                });
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

/// The ways in which agents can hand over to each other.
#[derive(Debug)]
pub struct HandoffGraph<'a> {
    /// The routers that can choose each agent, and each router itself.
    routers: FxHashMap<&'a str, Vec<usize>>,
    direct: FxHashMap<&'a str, FxHashSet<&'a str>>,
}

impl<'a> HandoffGraph<'a> {
    /// Collects the handoffs that the agents of a program declare.
    #[must_use]
    pub fn new(program: &'a Program) -> Self {
        let mut handoff_graph =
            Self { routers: FxHashMap::default(), direct: FxHashMap::default() };
        for (number, agent) in program.agents().enumerate() {
            let own = agent.metadata.name.value.as_str();
            let mut to: FxHashSet<&str> = agent.targets().map(|t| t.value.as_str()).collect();
            if agent.metadata.kind == AgentType::Supervisor {
                for name in to.iter().copied().chain([own]) {
                    handoff_graph.routers.entry(name).or_default().push(number);
                }
            }
            agent.walk(&mut |node| {
                if let Node::AgentRef(name, _) = node {
                    to.insert(&name.value);
                }
            });
            handoff_graph.direct.entry(own).or_default().extend(to);
        }
        handoff_graph
    }

    /// Whether an agent declares a transfer to the other one.
    pub fn direct(&self, from: &str, to: &str) -> bool {
        self.direct.get(from).is_some_and(|all| all.contains(to))
    }

    /// Whether some router can choose both agents.
    pub fn routed(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.routers.get(a), self.routers.get(b)) else { return false };
        // Both lists are sorted.
        a.iter().any(|router| b.binary_search(router).is_ok())
    }

    /// Whether instructions can lead from an agent to another. Without a
    /// router, some dialects leave open who chooses.
    fn can_lead(&self, from: &Agent, to: &str) -> bool {
        let own = from.metadata.name.value.as_str();
        let nobody_chooses =
            from.metadata.dialect.traits().implicit_routing && self.routers.is_empty();
        nobody_chooses || self.routed(own, to) || self.direct(own, to)
    }
}

/// Returns a shortest path from one agent to another.
fn shortest_path<'a>(
    graph: &DiGraph<&'a str, PromptHandoff<'a>>,
    from: NodeIndex,
    to: NodeIndex,
    inside: &FxHashSet<NodeIndex>,
) -> Vec<PromptHandoff<'a>> {
    use petgraph::visit::EdgeRef;
    let mut predecessor: FxHashMap<NodeIndex, (NodeIndex, &PromptHandoff<'a>)> =
        FxHashMap::default();
    let mut worklist = std::collections::VecDeque::from([from]);
    while let Some(node) = worklist.pop_front() {
        if node == to {
            break;
        }
        for edge in graph.edges(node) {
            let next = edge.target();
            if inside.contains(&next) && next != from && !predecessor.contains_key(&next) {
                predecessor.insert(next, (node, edge.weight()));
                worklist.push_back(next);
            }
        }
    }
    let mut edges = Vec::new();
    let mut at = to;
    while at != from {
        let Some((before, edge)) = predecessor.get(&at) else { break };
        edges.push((*edge).clone());
        at = *before;
    }
    edges.reverse();
    edges
}

/// Returns the steps after a handoff that ends its agent, and the tools that they call.
fn after<'a>(
    prompts_of: &[AgentPrompts<'_, 'a>],
    edge: &PromptHandoff<'a>,
) -> (Vec<&'a str>, Vec<&'a str>) {
    for (_, prompts) in
        prompts_of.iter().filter(|(agent, _)| agent.metadata.name.value == edge.from)
    {
        for prompt in *prompts {
            let ends = |place| prompt.place(place) == edge.span;
            let found = &prompt.mentions.handoffs;
            let here = found.iter().find(|h| h.exits && ends(&h.sentence.range));
            let Some(here) = here else { continue };
            let behind = prompt.steps.iter().skip(here.step + 1);
            let numbers = behind.filter_map(|s| s.number.as_ref().map(|n| n.0)).collect();
            let tools = prompt.mentions.tools.iter().filter(|t| t.step > here.step);
            let mut tools: Vec<&str> = tools.map(|t| t.name).collect();
            let mut seen = FxHashSet::default();
            tools.retain(|t| seen.insert(*t));
            return (numbers, tools);
        }
    }
    (Vec::new(), Vec::new())
}
