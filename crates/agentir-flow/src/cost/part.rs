//! What one turn of a single agent can cost.

use super::Calls;
use super::longest::{Arc, Kind, Longest, longest};
use crate::cfg::{
    AgentId, Cfg, DecidedBy, Edge, Element, Node, NodeKind, Part, Test, Why, iterations,
};
use agentir_diagnostics::Span;
use agentir_expr::{Condition, ConditionKind};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;

/// What turns cost.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turns {
    /// One that begins with the agent.
    pub(super) enter: Calls,
    /// Any.
    pub(super) any: Calls,
}

/// The part of a turn's graph that belongs to one agent.
#[derive(Debug)]
pub(super) struct Own {
    first: usize,
    entry: usize,
    turn_start: Option<usize>,
    turn_end: Option<usize>,
    weights: Vec<Calls>,
    arcs: Vec<Arc>,
    spans: Vec<Span>,
    /// What is done on the way and comes back: checks before a call, tools that steps share.
    aside: Vec<(usize, usize)>,
    /// Where a turn can go on, with what follows: nodes that wait, and what they lead to.
    waits: Vec<(usize, usize)>,
    /// Where one comes back to from another agent.
    returns: Vec<usize>,
    /// The arcs into the flow.
    starts: Vec<usize>,
}

/// What turns of one agent cost.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) turns: Turns,
    /// What follows behind each node.
    from: Vec<Calls>,
    first: usize,
    /// The lines of loops that have no bound.
    pub(super) loops: Vec<Vec<Span>>,
}

impl Found {
    /// What can follow from a node on.
    pub(super) fn from(&self, node: NodeIndex) -> Calls {
        let at = node.index().checked_sub(self.first);
        at.and_then(|at| self.from.get(at)).copied().unwrap_or_default()
    }
}

fn judged(condition: &Condition) -> bool {
    matches!(condition.kind, ConditionKind::Natural)
}

/// What is called at a node itself.
fn weight(cfg: &Cfg<'_>, at: NodeIndex, node: &Node<'_>) -> Calls {
    let words = || {
        cfg.successors(at).any(|(_, edge)| {
            cfg.guard(edge.guard)
                .last()
                .is_some_and(|l| matches!(l.test, Test::Condition(condition) if judged(condition)))
        })
    };
    let by_model = || cfg.successors(at).any(|(_, edge)| edge.decided_by == DecidedBy::Model);
    match node.kind {
        NodeKind::Call => Calls::new(0, 1),
        NodeKind::Choose | NodeKind::Collect | NodeKind::Confirm => Calls::new(1, 0),
        NodeKind::Route if by_model() => Calls::new(1, 0),
        NodeKind::Check => match node.element {
            Element::Guardrail(guardrail) if guardrail.tier != "local" => Calls::new(1, 0),
            _ if words() => Calls::new(1, 0),
            _ => Calls::default(),
        },
        NodeKind::Branch | NodeKind::Await if words() => Calls::new(1, 0),
        _ => Calls::default(),
    }
}

impl Own {
    pub(super) fn of(
        cfg: &Cfg<'_>,
        agent: AgentId,
        in_handlers: &FxHashSet<NodeIndex>,
    ) -> Option<Self> {
        let part = cfg.part(agent)?;
        let nodes: Vec<NodeIndex> = part.nodes().collect();
        let first = nodes.first()?.index();
        let mut own = Self {
            first,
            entry: part.entry.index() - first,
            turn_start: None,
            turn_end: None,
            weights: Vec::with_capacity(nodes.len()),
            arcs: Vec::new(),
            spans: Vec::new(),
            aside: Vec::new(),
            waits: Vec::new(),
            returns: Vec::new(),
            starts: Vec::new(),
        };
        for at in nodes {
            let Some(node) = cfg.node(at) else { continue };
            let here = at.index() - first;
            own.weights.push(weight(cfg, at, node));
            match node.kind {
                NodeKind::TurnStart => own.turn_start = Some(here),
                NodeKind::TurnEnd => own.turn_end = Some(here),
                NodeKind::Return => own.returns.push(here),
                _ => {}
            }
            for (to, edge) in cfg.successors(at) {
                let Some(target) = cfg.node(to).filter(|n| n.agent == agent) else { continue };
                let again = target.kind == NodeKind::Error && in_handlers.contains(&at);
                if at != part.wait && !again {
                    own.add(cfg, part, (at, node), to, edge);
                }
            }
        }
        // The tools that steps share are chosen where a step lets the model lead.
        let shared: Vec<usize> = own
            .aside
            .iter()
            .map(|(_, to)| *to)
            .filter(|to| toolbox(cfg, part, first + to))
            .collect();
        for at in shared {
            if let Some(weight) = own.weights.get_mut(at) {
                *weight = Calls::default();
            }
        }
        Some(own)
    }

    fn add<'a>(
        &mut self,
        cfg: &Cfg<'a>,
        part: &Part<'a>,
        (at, node): (NodeIndex, &Node<'a>),
        to: NodeIndex,
        edge: &Edge<'a>,
    ) {
        let (from, next) = (at.index() - self.first, to.index() - self.first);
        if edge.why == Why::Checkpoint || (at != to && toolbox(cfg, part, to.index())) {
            self.aside.push((from, next));
            return;
        }
        let Some(target) = cfg.node(to) else { return };
        if target.kind == NodeKind::Resume && !comes_back(node, edge)
            || edge.why == Why::Return && matches!(edge.by, Element::Handler(_))
            || matches!(edge.why, Why::Named)
            // Nobody knows when a person is done.
            || node.kind == NodeKind::Escalate
        {
            return;
        }
        let interrupts = matches!(edge.why, Why::Digression | Why::Action);
        if node.kind.waits() && edge.why != Why::Turn {
            if edge.why != Why::Retry || node.kind == NodeKind::Await {
                // Without a flow every message begins at the beginning of a turn, but for a yes or a no.
                if part.agent.flow.is_some() || node.kind == NodeKind::Confirm {
                    self.waits.push((from, next));
                }
            }
            if node.kind == NodeKind::Collect && edge.why != Why::Retry && !interrupts {
                self.push(from, next, Kind::Filled, edge.span);
            }
            return;
        }
        if interrupts && !matches!(node.kind, NodeKind::TurnStart | NodeKind::Interrupt) {
            return;
        }
        if edge.why == Why::Start {
            self.starts.push(self.arcs.len());
        }
        let reasons = matches!(target.kind, NodeKind::Choose)
            || matches!(target.element, Element::Procedure("instructions"));
        // Who comes back goes on with the rounds that are left.
        let rounds = match edge.limit {
            None if reasons && node.kind == NodeKind::Resume => iterations(part.agent),
            limit => limit,
        };
        let kind = match rounds {
            None => Kind::Plain,
            Some(times) if reasons => Kind::Reasoning(u64::from(times)),
            // From the beginning of a step into it: the first time is among them.
            Some(times) if node.kind == NodeKind::Step && edge.why != Why::Retry => {
                Kind::Bounded(u64::from(times).saturating_sub(1))
            }
            Some(times) => Kind::Bounded(u64::from(times)),
        };
        self.push(from, next, kind, edge.span);
    }

    fn push(&mut self, from: usize, to: usize, kind: Kind, span: Span) {
        self.arcs.push(Arc { from, to, kind });
        self.spans.push(span);
    }

    /// Which nodes can be reached from the beginning of the agent before anybody is waited for.
    pub(super) fn at_once(&self) -> Vec<bool> {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.weights.len()];
        for arc in &self.arcs {
            if let Some(list) = next.get_mut(arc.from) {
                list.push(arc.to);
            }
        }
        let mut seen = vec![false; self.weights.len()];
        let mut waiting = vec![self.entry];
        while let Some(node) = waiting.pop() {
            if let Some(seen) = seen.get_mut(node).filter(|seen| !**seen) {
                *seen = true;
                waiting.extend(next.get(node).into_iter().flatten());
            }
        }
        seen
    }

    /// What turns cost if nodes cost `extra` besides. Returns are left out: what follows them is in
    /// the result.
    pub(super) fn turns(&self, extra: impl Fn(NodeIndex) -> Calls) -> Found {
        let mut weights: Vec<Calls> = self
            .weights
            .iter()
            .enumerate()
            .map(|(at, weight)| *weight + extra(NodeIndex::new(self.first + at)))
            .collect();
        // Checks before a call belong to the call, and tools that are called to the step.
        for _ in 0..if self.aside.is_empty() { 0 } else { 2 } {
            let found = longest(&weights, &self.arcs).from;
            let plain: Vec<Calls> = self
                .weights
                .iter()
                .enumerate()
                .map(|(at, weight)| *weight + extra(NodeIndex::new(self.first + at)))
                .collect();
            weights = plain;
            for (from, to) in &self.aside {
                let aside = found.get(*to).copied().unwrap_or_default();
                if let Some(weight) = weights.get_mut(*from) {
                    *weight = *weight + aside;
                }
            }
        }
        let Longest { from, endless } = longest(&weights, &self.arcs);
        let at = |node: usize| from.get(node).copied().unwrap_or_default();
        let enter = at(self.entry);
        let mut any = enter.max(self.turn_start.map_or_else(Calls::default, at));
        if !self.waits.is_empty() {
            let before = self.before_the_flow(&weights);
            for (wait, next) in &self.waits {
                let own = weights.get(*wait).copied().unwrap_or_default();
                any = any.max(before + own + at(*next));
            }
        }
        for node in &self.returns {
            any = any.max(at(*node));
        }
        let loops = endless
            .into_iter()
            .map(|arcs| {
                let mut spans: Vec<Span> =
                    arcs.iter().filter_map(|arc| self.spans.get(*arc)).copied().collect();
                spans.retain(|span| *span != Span::default());
                spans.sort();
                spans.dedup();
                spans
            })
            .collect();
        Found { turns: Turns { enter, any }, from, first: self.first, loops }
    }

    /// What is done with a message before the flow goes on where it was.
    fn before_the_flow(&self, weights: &[Calls]) -> Calls {
        let Some(start) = self.turn_start else { return Calls::default() };
        let arcs: Vec<Arc> = self
            .arcs
            .iter()
            .enumerate()
            .filter(|(at, _)| self.starts.binary_search(at).is_err())
            .map(|(_, arc)| *arc)
            .collect();
        longest(weights, &arcs).from.get(start).copied().unwrap_or_default()
    }
}

/// Whether control is back from an agent, so that the one who asked goes on in the same turn. What
/// merely resumes goes on where the graph has it already.
fn comes_back(from: &Node<'_>, edge: &Edge<'_>) -> bool {
    from.kind == NodeKind::Return
        || matches!(edge.by, Element::Handoff(_) | Element::OnReturn(_) | Element::Rule(_))
}

/// Whether a node stands for the tools that the steps of a flow share.
fn toolbox(cfg: &Cfg<'_>, part: &Part<'_>, node: usize) -> bool {
    part.agent.flow.is_some()
        && cfg
            .node(NodeIndex::new(node))
            .is_some_and(|n| n.kind == NodeKind::Choose && n.step.is_none())
}
