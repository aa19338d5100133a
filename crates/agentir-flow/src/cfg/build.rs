//! How graphs are made: nodes, edges that still wait for what they lead to, and the links between
//! agents.

use super::{
    AgentId, Cfg, DecidedBy, Edge, Element, Guard, Link, Literal, Node, NodeKind, Part, Test,
    Transfer, Why,
};
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::{Condition, ConditionKind, Name};
use agentir_ir::{Agent, AgentReference, Profile, Program, Step, Tool};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::sync::OnceLock;

/// An edge that does not know yet where it leads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open<'a> {
    pub(super) from: NodeIndex,
    pub(super) edge: Edge<'a>,
}

/// The ways on from what has been built so far; none if it always leaves.
pub(super) type Ends<'a> = Vec<Open<'a>>;

impl<'a> Cfg<'a> {
    fn empty() -> Self {
        Self {
            graph: DiGraph::new(),
            parts: Vec::new(),
            links: Vec::new(),
            transfers: Vec::new(),
            dead: Vec::new(),
            unmatched: false,
            accesses: OnceLock::new(),
            changes: OnceLock::new(),
        }
    }

    /// The graph of one agent, as if it were alone. `profiles` are those that may change it, its own
    /// included. Linear in what is written.
    #[must_use]
    pub fn of_agent(agent: &'a Agent, profiles: &[&'a Profile]) -> Self {
        let mut cfg = Self::empty();
        let asking = asking(agent.tools.iter().chain(profiles.iter().flat_map(|p| &p.tools_add)));
        Builder::new(&mut cfg, agent, profiles, &asking).build();
        cfg
    }

    /// The graph of a program: the graphs of its agents, and how they lead to each other.
    ///
    /// Where an agent is asked and comes back there are three edges: into it ([`Why::Enter`]), out of
    /// its exit ([`Why::Return`]), and one of [`Why::Return`] that steps over it, which is there even
    /// if the agent is not part of the program.
    #[must_use]
    pub fn of_program(program: &'a Program) -> Self {
        let mut cfg = Self::empty();
        let named: FxHashMap<&str, &Profile> =
            program.profiles.iter().map(|p| (p.name.value.as_str(), p)).collect();
        let asking = asking(program.tools());
        for agent in &program.agents {
            let used = agent.use_behavior_profiles.iter();
            let used = used.filter_map(|name| named.get(name.value.as_str()).copied());
            let profiles: Vec<&Profile> = agent.behavior_profiles.iter().chain(used).collect();
            Builder::new(&mut cfg, agent, &profiles, &asking).build();
        }
        cfg.link();
        cfg
    }

    fn link(&mut self) {
        let mut names: FxHashMap<&str, AgentId> = FxHashMap::default();
        let mut folded_names: FxHashMap<SmolStr, AgentId> = FxHashMap::default();
        for (id, part) in (0..).map(AgentId).zip(&self.parts) {
            let name = part.agent.metadata.name.value.as_str();
            names.entry(name).or_insert(id);
            folded_names.entry(folded(name)).or_insert(id);
        }
        // Agents that are listed by their files alone go by their aliases.
        let mut by_file: FxHashMap<(AgentId, &str), Option<&str>> = FxHashMap::default();
        for (id, part) in (0..).map(AgentId).zip(&self.parts) {
            for reference in part.agent.available_agents.iter().filter(|r| r.agent.is_none()) {
                by_file.insert((id, &reference.alias.value), stem(reference));
            }
        }
        for at in 0..self.transfers.len() {
            let Some(transfer) = self.transfers.get(at).copied() else { continue };
            let Some(node) = self.node(transfer.node) else { continue };
            let file = match node.element {
                Element::Reference(reference) if reference.agent.is_none() => Some(stem(reference)),
                _ => by_file.get(&(node.agent, transfer.to)).copied(),
            };
            let target = match file {
                None => names.get(transfer.to).copied(),
                Some(stem) => stem.and_then(|s| folded_names.get(&folded(s)).copied()),
            };
            self.unmatched |= file.is_some() && target.is_none();
            let Some(part) = target.and_then(|t| self.part(t)) else { continue };
            let (entry, exit) = (part.entry, part.exit);
            let edge = Edge { span: transfer.span, ..Edge::of(Why::Enter) };
            self.graph.add_edge(transfer.node, entry, edge);
            if let Some(back) = transfer.returns {
                let edge = Edge { span: transfer.span, ..Edge::of(Why::Return) };
                self.graph.add_edge(exit, back, edge);
            }
            if let Some(transfer) = self.transfers.get_mut(at) {
                transfer.target = target;
            }
        }
    }
}

/// The tools of which the user is asked before they are called; of several of one name one is enough.
fn asking<'a>(tools: impl Iterator<Item = &'a Tool>) -> FxHashMap<&'a str, Span> {
    tools
        .filter_map(|tool| Some((tool.name.value.as_str(), tool.confirmation_required_at()?)))
        .collect()
}

/// The name of a referenced file, without folder and endings.
fn stem(reference: &AgentReference) -> Option<&str> {
    reference.file.as_ref()?.value.rsplit(['/', '\\']).next()?.split('.').next()
}

/// `ticket_booth`, `Ticket_Booth`, `ticket-booth` and `TicketBooth` are the same name to people.
fn folded(name: &str) -> SmolStr {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

impl<'a> Edge<'a> {
    /// An edge that is taken whenever it is reached.
    pub(super) const fn of(why: Why) -> Self {
        Self {
            why,
            decided_by: DecidedBy::Nobody,
            guard: Guard::ALWAYS,
            limit: None,
            by: Element::None,
            span: Span::new(FileId(0), 0, 0),
        }
    }

    pub(super) const fn by(self, by: Element<'a>, span: Span) -> Self {
        Self { by, span, ..self }
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

/// Who decides by a condition.
pub(super) const fn decider(condition: &Condition) -> DecidedBy {
    match condition.kind {
        ConditionKind::Natural => DecidedBy::Model,
        _ => DecidedBy::Condition,
    }
}

/// Builds the part of one agent.
pub(super) struct Builder<'c, 'a> {
    pub(super) cfg: &'c mut Cfg<'a>,
    pub(super) agent: &'a Agent,
    pub(super) profiles: Vec<&'a Profile>,
    pub(super) id: AgentId,
    first: usize,
    /// The step that is being built.
    pub(super) step: Option<&'a Step>,
    /// The nodes of the step that is being built at which the user is waited for.
    pub(super) waits: Vec<NodeIndex>,
    /// Its nodes at which something can go wrong.
    pub(super) fallible: Vec<NodeIndex>,
    /// Where `RESUME` leads from where we are.
    pub(super) resume: NodeIndex,
    /// Where `RETRY` leads from where we are, and how often.
    pub(super) retry: (NodeIndex, Option<u32>),
    /// Whether we are in a digression, out of which a delegation may not come back.
    pub(super) digressing: bool,
    /// Whether we are in a hook, where nobody can be asked.
    pub(super) hooked: bool,
    pub(super) steps: FxHashMap<&'a str, NodeIndex>,
    pub(super) defined: FxHashSet<&'a str>,
    pub(super) places: Places,
    pub(super) tools: FxHashMap<&'a str, &'a Tool>,
    /// The tools of the program of which the user is asked before they are called, and where it says so.
    pub(super) asking: &'c FxHashMap<&'a str, Span>,
    /// What is checked before a tool is called, by the tool.
    pub(super) checkpoints: FxHashMap<&'a str, NodeIndex>,
    aliases: FxHashMap<&'a str, &'a str>,
}

/// The places of an agent that many others lead to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Places {
    pub(super) entry: NodeIndex,
    pub(super) exit: NodeIndex,
    /// Where `COMPLETE` and the like lead: what is done at the end, then the exit.
    pub(super) finish: NodeIndex,
    pub(super) turn_end: NodeIndex,
    pub(super) wait: NodeIndex,
    pub(super) turn_start: NodeIndex,
    /// Where the conversation was before.
    pub(super) resume: NodeIndex,
    pub(super) flow_end: Option<NodeIndex>,
    pub(super) errors: Option<NodeIndex>,
    /// What follows when a person is done.
    pub(super) human: Option<NodeIndex>,
    /// The tools that the model may call wherever it leads.
    pub(super) toolbox: Option<NodeIndex>,
    /// What is checked before any tool is called.
    pub(super) before_calls: Option<NodeIndex>,
    /// What is checked before a conversation is handed over.
    pub(super) before_handoffs: Option<NodeIndex>,
}

impl<'c, 'a> Builder<'c, 'a> {
    fn new(
        cfg: &'c mut Cfg<'a>,
        agent: &'a Agent,
        profiles: &[&'a Profile],
        asking: &'c FxHashMap<&'a str, Span>,
    ) -> Self {
        let first = cfg.graph.node_count();
        let id = AgentId(u32::try_from(cfg.parts.len()).unwrap_or(u32::MAX));
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
            digressing: false,
            hooked: false,
            steps: FxHashMap::default(),
            defined: FxHashSet::default(),
            places: Places::default(),
            tools: own.map(|t| (t.name.value.as_str(), t)).collect(),
            asking,
            checkpoints: FxHashMap::default(),
            aliases,
        }
    }

    fn build(mut self) {
        self.whole_agent();
        let end = self.cfg.graph.node_count();
        self.cfg.parts.push(Part {
            agent: self.agent,
            entry: self.places.entry,
            exit: self.places.exit,
            wait: self.places.wait,
            steps: self.steps,
            // Later ones are overwritten by earlier ones.
            tools: self.agent.tools.iter().rev().map(|t| (t.name.value.as_str(), t)).collect(),
            first: u32::try_from(self.first).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
        });
    }

    pub(super) fn node(&mut self, kind: NodeKind, element: Element<'a>, span: Span) -> NodeIndex {
        let node = Node { kind, agent: self.id, step: self.step, element, span };
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

    /// `before` and then one literal more.
    pub(super) fn and(&mut self, before: Guard, test: Test<'a>, holds: bool) -> Guard {
        self.cfg.links.push(Link { literal: Literal { test, holds }, before });
        Guard(u32::try_from(self.cfg.links.len()).unwrap_or(0))
    }

    pub(super) fn and_if(
        &mut self,
        before: Guard,
        test: Option<&'a Condition>,
        holds: bool,
    ) -> Guard {
        match test {
            Some(condition) => self.and(before, Test::Condition(condition), holds),
            None => before,
        }
    }

    /// The way on from a node to whatever stands behind it.
    pub(super) const fn after(node: NodeIndex) -> Open<'a> {
        Open { from: node, edge: Edge::of(Why::Next) }
    }

    pub(super) fn attach(&mut self, ends: Ends<'a>, to: NodeIndex) {
        for open in ends {
            self.edge(open.from, to, open.edge);
        }
    }

    /// Leads the ends to a node for a reason of its own: a jump, the end of a step. A branch keeps
    /// who decides it and what must hold.
    pub(super) fn lead(
        &mut self,
        ends: Ends<'a>,
        to: NodeIndex,
        why: Why,
        by: Element<'a>,
        span: Span,
    ) {
        for open in ends {
            let edge = match open.edge.why {
                Why::Next | Why::Branch => Edge { why, by, span, ..open.edge },
                // Why it is taken at all says more than how it is written.
                _ => Edge { span, ..open.edge },
            };
            self.edge(open.from, to, edge);
        }
    }

    /// A node that is done and goes on with whatever stands behind it.
    pub(super) fn then(
        &mut self,
        ends: Ends<'a>,
        kind: NodeKind,
        element: Element<'a>,
        span: Span,
    ) -> Ends<'a> {
        let node = self.node(kind, element, span);
        self.attach(ends, node);
        vec![Self::after(node)]
    }

    /// The node at which a step begins; one that is not defined is where nobody knows.
    pub(super) fn step_node(&mut self, name: &'a Spanned<Name>) -> NodeIndex {
        if let Some(node) = self.steps.get(name.value.as_str()) {
            return *node;
        }
        let node = self.node(NodeKind::Unknown, Element::Name(name), name.span);
        self.steps.insert(&name.value, node);
        node
    }

    /// The agent that is meant by a name.
    pub(super) fn agent_name(&self, name: &'a str) -> &'a str {
        self.aliases.get(name).copied().unwrap_or(name)
    }

    pub(super) fn transfer(
        &mut self,
        node: NodeIndex,
        to: &'a Spanned<Name>,
        returns: Option<NodeIndex>,
    ) {
        let transfer =
            Transfer { node, to: self.agent_name(&to.value), span: to.span, returns, target: None };
        self.cfg.transfers.push(transfer);
    }
}
