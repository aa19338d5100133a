//! What a picture shows: nodes and edges of the graph, as many of them joined as the level of detail
//! wants.

use crate::label;
use agentir_diagnostics::{SourceMap, Span};
use agentir_flow::cfg::{AgentId, Cfg, EdgeKind, NodeKind, Origin};
use agentir_secrets::Masker;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::VecDeque;

/// So many literals of a guard are written out at most: the last ones.
const MAX_LITERALS: usize = 50;

/// How much a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detail {
    /// A node for each agent.
    Agents,
    /// A node for each step, and for each choice and tool of the model.
    Steps,
    /// A node for each thing that is done.
    Statements,
}

/// What to show.
#[derive(Debug, Clone, Copy)]
pub struct View<'v> {
    /// How much.
    pub detail: Detail,
    /// Only these agents; all if there are none.
    pub agents: &'v [AgentId],
    /// Where conversations begin; what cannot be reached from there is marked. Without it, what
    /// cannot be reached inside its own agent is.
    pub entry: Option<AgentId>,
}

/// The control-flow graph of agents, as it is shown.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Graph {
    /// How much is shown.
    pub detail: Detail,
    /// The agent with which conversations begin, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_agent: Option<String>,
    /// The agents.
    pub agents: Vec<Agent>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// What can follow what.
    pub edges: Vec<Edge>,
}

/// An agent of a [`Graph`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Whether no way leads to it from where conversations begin.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreachable: bool,
}

/// How a node looks, by what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// An agent, or its beginning.
    Agent,
    /// A step.
    Step,
    /// Something that is done.
    Action,
    /// Something that is said.
    Say,
    /// The user is waited for.
    Wait,
    /// A tool.
    Tool,
    /// A condition or a check.
    Decision,
    /// The model chooses.
    Model,
    /// Another agent.
    Other,
    /// A person.
    Person,
    /// The end.
    End,
    /// Something that went wrong.
    Error,
    /// What nobody knows.
    Unknown,
}

impl Shape {
    /// All of them with what they mean, in the order of the legend.
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::Agent, "agent"),
        (Self::Step, "step"),
        (Self::Say, "says"),
        (Self::Wait, "waits for the user"),
        (Self::Action, "does"),
        (Self::Tool, "calls a tool"),
        (Self::Decision, "condition or check"),
        (Self::Model, "the model decides"),
        (Self::Other, "another agent"),
        (Self::Person, "a person"),
        (Self::End, "end"),
        (Self::Error, "error"),
        (Self::Unknown, "unknown"),
    ];

    /// Its name as a class.
    #[must_use]
    pub const fn class(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Step => "step",
            Self::Action => "action",
            Self::Say => "say",
            Self::Wait => "wait",
            Self::Tool => "tool",
            Self::Decision => "decision",
            Self::Model => "model",
            Self::Other => "other",
            Self::Person => "person",
            Self::End => "end",
            Self::Error => "error",
            Self::Unknown => "unknown",
        }
    }

    const fn of(kind: NodeKind) -> Self {
        match kind {
            NodeKind::Entry | NodeKind::Hook => Self::Agent,
            NodeKind::Step => Self::Step,
            NodeKind::Say => Self::Say,
            NodeKind::Await | NodeKind::Collect | NodeKind::Confirm | NodeKind::Interrupt => {
                Self::Wait
            }
            NodeKind::Call => Self::Tool,
            NodeKind::Branch | NodeKind::Check | NodeKind::Checkpoint | NodeKind::Route => {
                Self::Decision
            }
            NodeKind::Choose => Self::Model,
            NodeKind::Delegate | NodeKind::Handoff | NodeKind::FanOut => Self::Other,
            NodeKind::Escalate => Self::Person,
            NodeKind::Complete | NodeKind::Fail | NodeKind::FlowEnd | NodeKind::Exit => Self::End,
            NodeKind::Error => Self::Error,
            NodeKind::Unknown | NodeKind::Dead => Self::Unknown,
            _ => Self::Action,
        }
    }
}

/// A node of a [`Graph`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Node {
    /// Its number, by which edges name it.
    pub id: usize,
    /// Its agent, by the place in `agents`; absent for what belongs to none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<usize>,
    /// What it is for: `step`, `say`, `call`, …
    pub kind: &'static str,
    /// How it looks.
    pub shape: Shape,
    /// The step it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What stands in it.
    pub label: String,
    /// Where it is written: `file:line:column`.
    #[serde(rename = "place", skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The last line of what it stands for, which begins at its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<usize>,
    /// Whether no way leads to it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unreachable: bool,
    #[serde(skip)]
    pub(crate) node_kind: NodeKind,
}

/// A circle that an edge is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cycle {
    /// It waits for the user, is up to the model, or is bounded.
    Ordinary,
    /// It never waits, and nobody but conditions can stop it.
    Endless,
}

/// An edge of a [`Graph`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Edge {
    /// The node it leaves.
    pub from: usize,
    /// The node it leads to.
    pub to: usize,
    /// Why it is there: `next`, `jump`, `branch`, `error`, …
    pub why: &'static str,
    /// Who decides it: `nobody`, `condition`, `model`, `user`, `outcome`.
    pub decided_by: &'static str,
    /// All that must hold, in the order in which it is tested; what must not begins with `not: `.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guard: Vec<String>,
    /// What stands at it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// At most so many times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// The circle that it is part of.
    #[serde(rename = "circle", skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Cycle>,
    /// Where it is written: `file:line:column`.
    #[serde(rename = "place", skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// What of a graph is shown, without the secrets of the sources.
#[must_use]
pub fn graph(cfg: &Cfg<'_>, sources: &SourceMap, view: &View<'_>) -> Graph {
    let shown = |id: AgentId| view.agents.is_empty() || view.agents.contains(&id);
    let representative = collapse(cfg, view.detail);
    let reached = reachable(cfg, view.entry);
    let last_lines = last_lines(cfg, sources, &representative);
    let mut agents = Vec::new();
    let mut agent_at: FxHashMap<AgentId, usize> = FxHashMap::default();
    for (id, part) in (0..).map(AgentId).zip(cfg.agents()) {
        if shown(id) {
            agent_at.insert(id, agents.len());
            agents.push(Agent {
                name: part.agent.metadata.name.value.to_string(),
                unreachable: !reached.contains(&part.entry),
            });
        }
    }
    let mut nodes: Vec<Node> = Vec::new();
    let mut node_at: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    // A node that stands for others is reached if one of them is.
    let alive: FxHashSet<NodeIndex> =
        reached.iter().filter_map(|n| representative.get(n.index()).copied().flatten()).collect();
    for at in cfg.graph().node_indices() {
        let Some(node) = cfg.node(at).filter(|_| representative.get(at.index()) == Some(&Some(at)))
        else {
            continue;
        };
        if !shown(node.agent) {
            continue;
        }
        node_at.insert(at, nodes.len());
        nodes.push(Node {
            id: nodes.len(),
            agent: agent_at.get(&node.agent).copied(),
            kind: node.kind.name(),
            shape: Shape::of(node.kind),
            step: node.step.map(|s| s.name.value.to_string()),
            label: label::node(cfg, at, node),
            location: location(sources, node.span),
            last_line: last_lines.get(&at).copied(),
            unreachable: !alive.contains(&at),
            node_kind: node.kind,
        });
    }
    let external = external_agents(cfg, &representative, &node_at, &mut nodes);
    let cycles = cycles(cfg, &representative);
    let mut edges: Vec<Edge> = Vec::new();
    let mut drawn: FxHashMap<(usize, usize, String), usize> = FxHashMap::default();
    for id in cfg.graph().edge_indices() {
        let Some((from, to, edge)) = cfg.edge(id) else { continue };
        if view.detail != Detail::Statements && is_noise(edge.kind) {
            continue;
        }
        let stands = |n: NodeIndex| {
            let stands = representative.get(n.index()).copied().flatten()?;
            node_at.get(&stands).or_else(|| external.get(&n)).copied()
        };
        let (Some(a), Some(b)) = (stands(from), stands(to)) else { continue };
        if a == b && (from != to && !matches!(edge.kind, EdgeKind::Jump | EdgeKind::Retry)) {
            continue;
        }
        // Where the node that hands over is not shown, what leads to it says when.
        let hidden = representative.get(from.index()) != Some(&Some(from));
        let edge = match edge.kind {
            EdgeKind::Enter if hidden => {
                sole_incoming_edge(cfg, &representative, from).unwrap_or(edge)
            }
            _ => edge,
        };
        let mut label = label::edge(cfg, edge);
        // Messages and assignments before a jump are not shown; the condition before them is.
        let mut guard = cfg.guard(edge.guard);
        if hidden
            && label.is_empty()
            && guard.is_empty()
            && let Some(led) = sole_incoming_edge(cfg, &representative, from)
        {
            label = label::edge(cfg, led);
            guard = cfg.guard(led.guard);
        }
        let cycle = cycles.get(&id).copied();
        let key = (a, b, label.clone());
        if let Some(earlier) = drawn.get(&key).and_then(|at| edges.get_mut(*at)) {
            earlier.cycle = earlier.cycle.max(cycle);
            continue;
        }
        drawn.insert(key, edges.len());
        // A thousand branches would otherwise be printed half a million times.
        let left_out = guard.len().saturating_sub(MAX_LITERALS);
        let mut literals: Vec<String> = Vec::new();
        if left_out > 0 {
            literals.push(format!("{left_out} more, of the branches before"));
        }
        literals.extend(guard.iter().skip(left_out).map(|l| match l.holds {
            true => l.test.to_string(),
            false => format!("not: {}", l.test),
        }));
        edges.push(Edge {
            from: a,
            to: b,
            why: edge.kind.name(),
            decided_by: edge.decided_by.name(),
            guard: literals,
            label,
            limit: edge.limit,
            cycle,
            location: location(sources, edge.span),
        });
    }
    for (node, at) in &external {
        let from = representative.get(node.index()).copied().flatten();
        if let Some(from) = from.and_then(|n| node_at.get(&n)).filter(|from| *from != at) {
            let led = sole_incoming_edge(cfg, &representative, *node);
            edges.push(Edge {
                from: *from,
                to: *at,
                why: EdgeKind::Enter.name(),
                decided_by: led.map_or("nobody", |e| e.decided_by.name()),
                guard: Vec::new(),
                label: led.map_or_else(String::new, |e| label::edge(cfg, e)),
                limit: None,
                cycle: None,
                location: None,
            });
        }
    }
    let elsewhere_first = node_at.len();
    edges.sort_by_key(|e| (e.from, e.to >= elsewhere_first));
    edges.dedup_by(|a, b| (a.from, a.to, &a.label) == (b.from, b.to, &b.label));
    let used: FxHashSet<usize> = edges.iter().flat_map(|e| [e.from, e.to]).collect();
    drop_unused(&mut nodes, &mut edges, &used);
    let entry_agent = view
        .entry
        .and_then(|id| cfg.agent(id))
        .map(|part| part.agent.metadata.name.value.to_string());
    let mut graph = Graph { detail: view.detail, entry_agent, agents, nodes, edges };
    graph.mask(&sources.masker());
    graph
}

impl Graph {
    /// Takes secrets out of all texts. Texts that are cut were cut before.
    fn mask(&mut self, masker: &Masker) {
        let mask = |text: &mut String| masker.mask_in_place(text);
        self.entry_agent.iter_mut().for_each(mask);
        self.agents.iter_mut().for_each(|agent| mask(&mut agent.name));
        for node in &mut self.nodes {
            mask(&mut node.label);
            node.step.iter_mut().chain(&mut node.location).for_each(mask);
        }
        for edge in &mut self.edges {
            mask(&mut edge.label);
            edge.guard.iter_mut().chain(&mut edge.location).for_each(mask);
        }
    }
}

/// The only edge that leads to a node, over what is done on the way to it.
fn sole_incoming_edge<'g, 'a>(
    cfg: &'g Cfg<'a>,
    representative: &[Option<NodeIndex>],
    node: NodeIndex,
) -> Option<&'g agentir_flow::cfg::Edge<'a>> {
    let mut at = node;
    // A longer list of statements says nothing of its beginning in few words.
    for _ in 0..100 {
        // What leads to a node that is shown belongs to the node before it.
        if representative.get(at.index()) == Some(&Some(at)) {
            return None;
        }
        let mut before = cfg.predecessors(at);
        let (from, edge) = before.next()?;
        if before.next().is_some() {
            return None;
        }
        if edge.kind != EdgeKind::Next || !edge.guard.is_always() {
            return Some(edge);
        }
        at = from;
    }
    None
}

/// Removes unconnected nodes: an exit that is never taken, a turn that never ends.
fn drop_unused(nodes: &mut Vec<Node>, edges: &mut [Edge], used: &FxHashSet<usize>) {
    let keep =
        |n: &Node| used.contains(&n.id) || matches!(n.node_kind, NodeKind::Entry | NodeKind::Step);
    let mut new_id: FxHashMap<usize, usize> = FxHashMap::default();
    for node in nodes.iter().filter(|n| keep(n)) {
        new_id.insert(node.id, new_id.len());
    }
    nodes.retain(keep);
    for (id, node) in nodes.iter_mut().enumerate() {
        node.id = id;
    }
    for edge in edges {
        edge.from = new_id.get(&edge.from).copied().unwrap_or_default();
        edge.to = new_id.get(&edge.to).copied().unwrap_or_default();
    }
}

/// The agents that are named, but not shown: each once.
fn external_agents(
    cfg: &Cfg<'_>,
    representative: &[Option<NodeIndex>],
    node_at: &FxHashMap<NodeIndex, usize>,
    nodes: &mut Vec<Node>,
) -> FxHashMap<NodeIndex, usize> {
    let mut by_name: FxHashMap<&str, usize> = FxHashMap::default();
    let mut found = FxHashMap::default();
    for transfer in cfg.transfers() {
        let shown = |n: NodeIndex| {
            representative
                .get(n.index())
                .copied()
                .flatten()
                .is_some_and(|n| node_at.contains_key(&n))
        };
        let target = transfer.target.and_then(|t| cfg.agent(t)).map(|p| p.entry);
        if !shown(transfer.node) || target.is_some_and(shown) {
            continue;
        }
        let at = *by_name.entry(transfer.to).or_insert_with(|| {
            nodes.push(Node {
                id: nodes.len(),
                agent: None,
                kind: "agent",
                shape: Shape::Other,
                step: None,
                label: label::short(transfer.to),
                location: None,
                last_line: None,
                unreachable: false,
                node_kind: NodeKind::Entry,
            });
            nodes.len() - 1
        });
        found.insert(transfer.node, at);
    }
    found
}

/// What a picture of steps leaves out: the turn around each wait, the ways to the handlers of all
/// errors, what comes back.
const fn is_noise(why: EdgeKind) -> bool {
    matches!(
        why,
        EdgeKind::Turn
            | EdgeKind::Unhandled
            | EdgeKind::Return
            | EdgeKind::Checkpoint
            | EdgeKind::Finish
    )
}

fn reachable(cfg: &Cfg<'_>, entry: Option<AgentId>) -> FxHashSet<NodeIndex> {
    match entry {
        Some(entry) => cfg.reachable_from(entry).iter().collect(),
        None => cfg
            .reachable(cfg.agents().iter().map(|p| p.entry), |edge| edge.kind != EdgeKind::Enter)
            .iter()
            .collect(),
    }
}

fn location(sources: &SourceMap, span: Span) -> Option<String> {
    if span.is_empty() && span.start == 0 {
        return None;
    }
    let file = sources.get(span.file)?;
    let at = file.line_column(span.start);
    Some(format!("{}:{}:{}", file.name, at.line, at.column))
}

/// The last line of what each node stands for: an agent, up to the next one of its file; of everything else, what the nodes
/// that it represents are written as, and the jumps from there.
fn last_lines(
    cfg: &Cfg<'_>,
    sources: &SourceMap,
    representative: &[Option<NodeIndex>],
) -> FxHashMap<NodeIndex, usize> {
    let is_known = |span: Span| !(span.is_empty() && span.start == 0);
    let stands = |at: NodeIndex| representative.get(at.index()).copied().flatten();
    let mut ends: FxHashMap<NodeIndex, Span> = FxHashMap::default();
    let mut add = |at: NodeIndex, span: Span| {
        let Some(own) = stands(at).and_then(|own| Some((own, cfg.node(own)?.span))) else { return };
        if is_known(span) && is_known(own.1) && span.file == own.1.file {
            let end = ends.entry(own.0).or_insert(own.1);
            end.end = end.end.max(span.end);
        }
    };
    let mut entries: Vec<(Span, NodeIndex)> = Vec::new();
    for at in cfg.graph().node_indices() {
        let Some(node) = cfg.node(at) else { continue };
        match (node.kind, node.origin) {
            (NodeKind::Entry, _) => entries.push((node.span, at)),
            // What follows from the agent as a whole is written nowhere.
            (_, Origin::Agent(_)) => {}
            _ => add(at, node.span),
        }
    }
    for id in cfg.graph().edge_indices() {
        if let Some((from, _, edge)) = cfg.edge(id)
            && matches!(edge.kind, EdgeKind::Jump | EdgeKind::Branch)
            && !matches!(edge.origin, Origin::Agent(_))
        {
            add(from, edge.span);
        }
    }
    let line = |span: Span| {
        let last = (span.end as usize).saturating_sub(1);
        Some(sources.get(span.file)?.line_index(last) + 1)
    };
    let mut lines: FxHashMap<NodeIndex, usize> =
        ends.into_iter().filter_map(|(at, span)| Some((at, line(span)?))).collect();
    entries.retain(|(span, _)| is_known(*span));
    entries.sort_unstable_by_key(|(span, _)| (span.file, span.start));
    for (index, (span, at)) in entries.iter().enumerate() {
        let Some(file) = sources.get(span.file) else { continue };
        let next = entries.get(index + 1).filter(|(next, _)| next.file == span.file);
        let end = next.map_or(file.text.len(), |(next, _)| (next.start as usize).saturating_sub(1));
        lines.insert(*at, file.line_index(end) + 1);
    }
    lines
}

/// The node that represents each node. Nodes of a step are represented by the step; others by the last
/// visible node before them.
fn collapse(cfg: &Cfg<'_>, detail: Detail) -> Vec<Option<NodeIndex>> {
    let count = cfg.graph().node_count();
    if detail == Detail::Statements {
        return cfg.graph().node_indices().map(Some).collect();
    }
    let mut stands: Vec<Option<NodeIndex>> = vec![None; count];
    let mut single: FxHashMap<(AgentId, NodeKind), NodeIndex> = FxHashMap::default();
    let mut waiting = VecDeque::new();
    for at in cfg.graph().node_indices() {
        let Some((node, part)) = cfg.node(at).and_then(|n| Some((n, cfg.agent(n.agent)?))) else {
            continue;
        };
        let once = |single: &mut FxHashMap<_, NodeIndex>| {
            *single.entry((node.agent, node.kind)).or_insert(at)
        };
        let own = match (detail, node.kind) {
            (Detail::Agents, NodeKind::Escalate) => Some(once(&mut single)),
            (Detail::Agents, _) => Some(part.entry),
            (_, NodeKind::Escalate | NodeKind::Complete | NodeKind::Fail | NodeKind::FlowEnd) => {
                Some(once(&mut single))
            }
            (_, NodeKind::Step | NodeKind::Entry | NodeKind::Unknown) => Some(at),
            (_, NodeKind::Interrupt | NodeKind::Error) if node.step.is_none() => Some(at),
            (_, NodeKind::Choose | NodeKind::Confirm | NodeKind::Call)
                if part.agent.flow.is_none() =>
            {
                Some(at)
            }
            _ => node.step.and_then(|s| part.step(&s.name.value)),
        };
        if let (Some(own), Some(slot)) = (own, stands.get_mut(at.index())) {
            *slot = Some(own);
            waiting.push_back(at);
        }
    }
    while let Some(at) = waiting.pop_front() {
        let own = stands.get(at.index()).copied().flatten();
        let agent = cfg.node(at).map(|n| n.agent);
        for (to, _) in cfg.successors(at) {
            if cfg.node(to).map(|n| n.agent) != agent {
                continue;
            }
            if let Some(slot) = stands.get_mut(to.index()).filter(|slot| slot.is_none()) {
                *slot = own;
                waiting.push_back(to);
            }
        }
    }
    for at in cfg.graph().node_indices() {
        if let (Some(slot), Some(node)) = (stands.get_mut(at.index()), cfg.node(at)) {
            let entry = cfg.agent(node.agent).map(|p| p.entry);
            slot.get_or_insert_with(|| entry.unwrap_or(at));
        }
    }
    stands
}

/// The edges that are part of a circle, as far as they are shown.
fn cycles(cfg: &Cfg<'_>, representative: &[Option<NodeIndex>]) -> FxHashMap<EdgeIndex, Cycle> {
    let mut found: FxHashMap<EdgeIndex, Cycle> = FxHashMap::default();
    let follows = |why: EdgeKind| {
        matches!(
            why,
            EdgeKind::Next
                | EdgeKind::Sequence
                | EdgeKind::Branch
                | EdgeKind::Jump
                | EdgeKind::Retry
                | EdgeKind::Skip
                | EdgeKind::Error
                | EdgeKind::Enter
        )
    };
    let mut small: DiGraph<(), EdgeIndex> = DiGraph::new();
    let nodes: Vec<NodeIndex> = representative.iter().map(|_| small.add_node(())).collect();
    let at = |n: NodeIndex| {
        let stands = representative.get(n.index()).copied().flatten()?;
        nodes.get(stands.index()).copied()
    };
    for id in cfg.graph().edge_indices() {
        if let Some((from, to, edge)) = cfg.edge(id)
            && let (Some(from), Some(to)) = (at(from), at(to))
            && follows(edge.kind)
        {
            small.add_edge(from, to, id);
        }
    }
    let mut part: FxHashMap<NodeIndex, usize> = FxHashMap::default();
    for (number, group) in kosaraju_scc(&small).into_iter().enumerate() {
        part.extend(group.into_iter().map(|node| (node, number)));
    }
    for edge in small.edge_indices() {
        if let (Some((from, to)), Some(id)) = (small.edge_endpoints(edge), small.edge_weight(edge))
            && part.get(&from) == part.get(&to)
            && (from != to || cfg.edge(*id).is_some_and(|(a, b, _)| a == b))
        {
            found.insert(*id, Cycle::Ordinary);
        }
    }
    for cycle in cfg.turnless_loops(|agent| cfg.interacts(agent)) {
        found.extend(cycle.edges.into_iter().map(|id| (id, Cycle::Endless)));
    }
    found
}
