//! Construction of graphs: nodes, open edges and the edges between agents.

use super::{
    AgentCfg, AgentId, Cfg, DecidedBy, Edge, EdgeKind, Guard, GuardLink, GuardLiteral, Node,
    NodeKind, Origin, Test, Transfer,
};
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::{Condition, ConditionKind, Name};
use agentir_ir::{Agent, AgentReference, Profile, Program, Step, Tool};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::sync::OnceLock;

/// An edge whose target is not known yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenEdge<'a> {
    pub(super) from: NodeIndex,
    pub(super) edge: Edge<'a>,
}

/// The open edges at the end of what has been built so far. Empty if control never gets there.
pub(super) type OpenEdges<'a> = Vec<OpenEdge<'a>>;

impl<'a> Cfg<'a> {
    fn empty() -> Self {
        Self {
            graph: DiGraph::new(),
            agents: Vec::new(),
            guard_links: Vec::new(),
            transfers: Vec::new(),
            dead: Vec::new(),
            unresolved: false,
            accesses: OnceLock::new(),
            defs: OnceLock::new(),
        }
    }

    /// Builds the graph of a single agent. `profiles` are those that may modify it, its own
    /// included. Linear in the size of the source.
    #[must_use]
    pub fn of_agent(agent: &'a Agent, profiles: &[&'a Profile]) -> Self {
        let mut cfg = Self::empty();
        let tools = agent.tools.iter().chain(profiles.iter().flat_map(|p| &p.tools_add));
        let whole = Whole { confirmed_tools: confirmed_tools(tools), agents: FxHashSet::default() };
        Builder::new(&mut cfg, agent, profiles, &whole).build();
        cfg
    }

    /// Builds the graph of a program: the graphs of its agents and the edges between them.
    ///
    /// A call of another agent that returns has three edges: into the agent ([`EdgeKind::Enter`]),
    /// out of its exit ([`EdgeKind::Return`]), and one of [`EdgeKind::Return`] that bypasses the
    /// agent. The last one exists even if the agent is not part of the program.
    #[must_use]
    pub fn of_program(program: &'a Program) -> Self {
        let mut cfg = Self::empty();
        let named: FxHashMap<&str, &Profile> =
            program.profiles().map(|p| (p.name.value.as_str(), p)).collect();
        let agents = program.agents().map(|agent| agent.metadata.name.value.as_str());
        let agents = agents.chain(program.remote_agents.iter().map(SmolStr::as_str)).collect();
        let whole = Whole { confirmed_tools: confirmed_tools(program.tools()), agents };
        for agent in program.agents() {
            let used = agent.use_behavior_profiles.iter();
            let used = used.filter_map(|name| named.get(name.value.as_str()).copied());
            let profiles: Vec<&Profile> = agent.behavior_profiles.iter().chain(used).collect();
            Builder::new(&mut cfg, agent, &profiles, &whole).build();
        }
        cfg.link();
        cfg
    }

    fn link(&mut self) {
        let mut names: FxHashMap<&str, AgentId> = FxHashMap::default();
        let mut folded_names: FxHashMap<SmolStr, AgentId> = FxHashMap::default();
        for (id, agent_cfg) in (0..).map(AgentId).zip(&self.agents) {
            let name = agent_cfg.agent.metadata.name.value.as_str();
            names.entry(name).or_insert(id);
            folded_names.entry(folded(name)).or_insert(id);
        }
        // Agents that are listed only by file are resolved by alias.
        let mut by_file: FxHashMap<(AgentId, &str), Option<&str>> = FxHashMap::default();
        for (id, agent_cfg) in (0..).map(AgentId).zip(&self.agents) {
            for reference in agent_cfg.agent.available_agents.iter().filter(|r| r.agent.is_none()) {
                by_file.insert((id, &reference.alias.value), stem(reference));
            }
        }
        for at in 0..self.transfers.len() {
            let Some(transfer) = self.transfers.get(at).copied() else { continue };
            let Some(node) = self.node(transfer.node) else { continue };
            let file = match node.origin {
                Origin::Reference(reference) if reference.agent.is_none() => Some(stem(reference)),
                _ => by_file.get(&(node.agent, transfer.to)).copied(),
            };
            let target = match file {
                None => names.get(transfer.to).copied(),
                Some(stem) => stem.and_then(|s| folded_names.get(&folded(s)).copied()),
            };
            self.unresolved |= file.is_some() && target.is_none();
            let Some(agent_cfg) = target.and_then(|t| self.agent(t)) else { continue };
            let (entry, exit) = (agent_cfg.entry, agent_cfg.exit);
            let edge = Edge { span: transfer.span, ..Edge::of(EdgeKind::Enter) };
            self.graph.add_edge(transfer.node, entry, edge);
            if let Some(back) = transfer.returns {
                let edge = Edge { span: transfer.span, ..Edge::of(EdgeKind::Return) };
                self.graph.add_edge(exit, back, edge);
            }
            if let Some(transfer) = self.transfers.get_mut(at) {
                transfer.target = target;
            }
        }
    }
}

/// The tools that need the user's confirmation before a call. If several tools share a name, one is
/// enough.
fn confirmed_tools<'a>(tools: impl Iterator<Item = &'a Tool>) -> FxHashMap<&'a str, Span> {
    tools
        .filter_map(|tool| Some((tool.name.value.as_str(), tool.confirmation_required_at()?)))
        .collect()
}

/// The name of a referenced file, without its folder and extensions.
fn stem(reference: &AgentReference) -> Option<&str> {
    reference.file.as_ref()?.value.rsplit(['/', '\\']).next()?.split('.').next()
}

/// Folds case and separators: `ticket_booth`, `Ticket_Booth`, `ticket-booth` and `TicketBooth` are
/// the same name.
fn folded(name: &str) -> SmolStr {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl<'a> Edge<'a> {
    /// Returns an unconditional edge.
    pub(super) const fn of(kind: EdgeKind) -> Self {
        Self {
            kind,
            decided_by: DecidedBy::Nobody,
            guard: Guard::ALWAYS,
            limit: None,
            origin: Origin::None,
            span: Span::new(FileId(0), 0, 0),
        }
    }

    pub(super) const fn at(self, origin: Origin<'a>, span: Span) -> Self {
        Self { origin, span, ..self }
    }

    pub(super) const fn decided(self, decided_by: DecidedBy) -> Self {
        Self { decided_by, ..self }
    }

    pub(super) const fn guarded(self, guard: Guard) -> Self {
        Self { guard, ..self }
    }

    pub(super) const fn at_most(self, limit: Option<u32>) -> Self {
        Self { limit, ..self }
    }
}

/// Returns who evaluates a condition: the model if it is in natural language.
pub(super) const fn decided_by_condition(condition: &Condition) -> DecidedBy {
    match condition.kind {
        ConditionKind::Natural => DecidedBy::Model,
        _ => DecidedBy::Condition,
    }
}

/// What the graph of an agent depends on beside it.
pub(super) struct Whole<'a> {
    /// The tools of the program that need confirmation, with the span that requires it.
    pub(super) confirmed_tools: FxHashMap<&'a str, Span>,
    /// The names of the program's agents.
    pub(super) agents: FxHashSet<&'a str>,
}

/// Builds the graph of one agent.
pub(super) struct Builder<'c, 'a> {
    pub(super) cfg: &'c mut Cfg<'a>,
    pub(super) agent: &'a Agent,
    pub(super) profiles: Vec<&'a Profile>,
    pub(super) id: AgentId,
    pub(super) first: usize,
    /// The current step.
    pub(super) step: Option<&'a Step>,
    /// The nodes of the current step that wait for the user.
    pub(super) waits: Vec<NodeIndex>,
    /// The nodes of the current step that can fail.
    pub(super) fallible: Vec<NodeIndex>,
    /// The target of `RESUME` in the current context.
    pub(super) resume: NodeIndex,
    /// The target of `RETRY` in the current context, and its limit.
    pub(super) retry: (NodeIndex, Option<u32>),
    /// The node that follows the current step by default.
    pub(super) successor: NodeIndex,
    /// Whether the current context is a digression, from which a delegation may not return.
    pub(super) in_digression: bool,
    /// Whether the current context is a hook, in which the user cannot be asked.
    pub(super) in_hook: bool,
    /// Whether the current context is a checkpoint, which returns to where it was entered.
    pub(super) in_checkpoint: bool,
    /// The number of callbacks around the current context.
    pub(super) callbacks: usize,
    /// The nodes of the checks that exist once, from the first up to but not including the last.
    pub(super) checks: Vec<(usize, usize)>,
    /// The checkpoints of the current step, at which a refused call may have to wait.
    pub(super) held_calls: Vec<NodeIndex>,
    pub(super) steps: FxHashMap<&'a str, NodeIndex>,
    pub(super) defined: FxHashSet<&'a str>,
    pub(super) shared: SharedNodes,
    pub(super) tools: FxHashMap<&'a str, &'a Tool>,
    pub(super) whole: &'c Whole<'a>,
    /// The constraints to check before a call, by tool.
    pub(super) checkpoints: FxHashMap<&'a str, NodeIndex>,
    aliases: FxHashMap<&'a str, &'a str>,
}

/// Nodes of an agent that many edges lead to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SharedNodes {
    pub(super) entry: NodeIndex,
    pub(super) exit: NodeIndex,
    /// The target of `COMPLETE` and similar: the final actions, then the exit.
    pub(super) finish: NodeIndex,
    pub(super) turn_end: NodeIndex,
    pub(super) wait: NodeIndex,
    pub(super) turn_start: NodeIndex,
    /// The program point at which the conversation was interrupted.
    pub(super) resume: NodeIndex,
    pub(super) flow_end: Option<NodeIndex>,
    pub(super) errors: Option<NodeIndex>,
    /// The continuation after a person has finished.
    pub(super) human: Option<NodeIndex>,
    /// The tools that the model may call in every reasoning zone.
    pub(super) toolbox: Option<NodeIndex>,
    /// The checks before every tool call.
    pub(super) before_calls: Option<NodeIndex>,
    /// The rules of the turn that are checked again before a call, because the turn may have changed the state.
    pub(super) rules_again: Option<NodeIndex>,
    /// The checks before every handoff.
    pub(super) before_handoffs: Option<NodeIndex>,
    /// The checks before the user gets an answer.
    pub(super) before_answers: Option<NodeIndex>,
}

impl<'c, 'a> Builder<'c, 'a> {
    fn new(
        cfg: &'c mut Cfg<'a>,
        agent: &'a Agent,
        profiles: &[&'a Profile],
        whole: &'c Whole<'a>,
    ) -> Self {
        let first = cfg.graph.node_count();
        let id = AgentId(u32::try_from(cfg.agents.len()).unwrap_or(u32::MAX));
        let aliases = agent
            .available_agents
            .iter()
            .rev()
            .filter_map(|r| Some((r.alias.value.as_str(), r.agent.as_ref()?.value.as_str())))
            .collect();
        let nowhere = NodeIndex::end();
        let own = profiles.iter().flat_map(|p| &p.tools_add).chain(&agent.tools);
        Self {
            cfg,
            agent,
            profiles: profiles.to_vec(),
            id,
            first,
            step: None,
            waits: Vec::new(),
            fallible: Vec::new(),
            resume: nowhere,
            retry: (nowhere, None),
            successor: nowhere,
            in_digression: false,
            in_hook: false,
            in_checkpoint: false,
            callbacks: 0,
            checks: Vec::new(),
            held_calls: Vec::new(),
            steps: FxHashMap::default(),
            defined: FxHashSet::default(),
            shared: SharedNodes::default(),
            tools: own.map(|t| (t.name.value.as_str(), t)).collect(),
            whole,
            checkpoints: FxHashMap::default(),
            aliases,
        }
    }

    fn build(mut self) {
        self.build_agent();
        let end = self.cfg.graph.node_count();
        self.cfg.agents.push(AgentCfg {
            agent: self.agent,
            entry: self.shared.entry,
            exit: self.shared.exit,
            wait: self.shared.wait,
            before_answers: self.shared.before_answers,
            before_handoffs: self.shared.before_handoffs,
            steps: self.steps,
            // The first of several tools with one name wins: earlier ones overwrite later ones.
            tools: self.agent.tools.iter().rev().map(|t| (t.name.value.as_str(), t)).collect(),
            first: u32::try_from(self.first).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
        });
    }

    pub(super) fn node(&mut self, kind: NodeKind, origin: Origin<'a>, span: Span) -> NodeIndex {
        let node =
            Node { kind, agent: self.id, step: self.step, origin, span, callbacks: self.callbacks };
        let node = self.cfg.graph.add_node(node);
        if kind.waits() {
            self.waits.push(node);
        }
        if matches!(
            kind,
            NodeKind::Call | NodeKind::Confirm | NodeKind::Collect | NodeKind::Delegate
        ) {
            self.fallible.push(node);
        }
        node
    }

    pub(super) fn edge(&mut self, from: NodeIndex, to: NodeIndex, edge: Edge<'a>) {
        self.cfg.graph.add_edge(from, to, edge);
    }

    /// Returns `before` with one more literal.
    pub(super) fn extend_guard(&mut self, before: Guard, test: Test<'a>, holds: bool) -> Guard {
        self.cfg.guard_links.push(GuardLink { literal: GuardLiteral { test, holds }, before });
        Guard(u32::try_from(self.cfg.guard_links.len()).unwrap_or(0))
    }

    pub(super) fn extend_guard_if(
        &mut self,
        before: Guard,
        test: Option<&'a Condition>,
        holds: bool,
    ) -> Guard {
        match test {
            Some(condition) => self.extend_guard(before, Test::Condition(condition), holds),
            None => before,
        }
    }

    /// Returns the open edge from a node to whatever follows it.
    pub(super) const fn fallthrough(node: NodeIndex) -> OpenEdge<'a> {
        OpenEdge { from: node, edge: Edge::of(EdgeKind::Next) }
    }

    pub(super) fn connect(&mut self, ends: OpenEdges<'a>, to: NodeIndex) {
        for open in ends {
            self.edge(open.from, to, open.edge);
        }
    }

    /// Connects the open edges to a node with a kind of their own, such as a jump or the end of a
    /// step. A branch keeps its decider and its guard.
    pub(super) fn connect_as(
        &mut self,
        ends: OpenEdges<'a>,
        to: NodeIndex,
        kind: EdgeKind,
        origin: Origin<'a>,
        span: Span,
    ) {
        for open in ends {
            let edge = match open.edge.kind {
                EdgeKind::Next | EdgeKind::Branch => Edge { kind, origin, span, ..open.edge },
                // A specific kind says more than the way the jump is written.
                _ => Edge { span, ..open.edge },
            };
            self.edge(open.from, to, edge);
        }
    }

    /// Appends a node that falls through to its successor.
    pub(super) fn append(
        &mut self,
        ends: OpenEdges<'a>,
        kind: NodeKind,
        origin: Origin<'a>,
        span: Span,
    ) -> OpenEdges<'a> {
        let node = self.node(kind, origin, span);
        self.connect(ends, node);
        vec![Self::fallthrough(node)]
    }

    /// Returns the first node of a step. An undefined step gets a node of kind `Unknown`.
    pub(super) fn step_node(&mut self, name: &'a Spanned<Name>) -> NodeIndex {
        if let Some(node) = self.steps.get(name.value.as_str()) {
            return *node;
        }
        let node = self.node(NodeKind::Unknown, Origin::Name(name), name.span);
        self.steps.insert(&name.value, node);
        node
    }

    /// Resolves an alias to the name of the agent.
    pub(super) fn agent_name(&self, name: &'a str) -> &'a str {
        self.aliases.get(name).copied().unwrap_or(name)
    }

    pub(super) fn transfer(
        &mut self,
        node: NodeIndex,
        to: &'a Spanned<Name>,
        returns: Option<NodeIndex>,
    ) {
        let (to, named, span) = (self.agent_name(&to.value), to.value.as_str(), to.span);
        self.cfg.transfers.push(Transfer { node, to, named, span, returns, target: None });
    }
}
