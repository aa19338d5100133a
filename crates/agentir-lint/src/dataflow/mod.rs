//! What variables hold, where: ways through the control-flow graph on which a variable is never set.
//!
//! A way is only followed where what is known on it does not contradict the conditions it passes: a
//! variable that nothing has set is unset, one that was given a constant has it. So `x IS SET`
//! protects a read, and so does a flag that is set together with `x`. A way that is found was taken
//! one edge at a time; not finding one proves nothing.

mod dropped;
mod external;
mod locals;
mod uses;

pub(crate) use dropped::DroppedVariables;
pub(crate) use external::ExternalDefs;
pub(crate) use locals::LocalVariables;
pub(crate) use uses::{Consequence, UseCollector, UseSite};

use crate::rule::AgentContext;
use agentir_diagnostics::{Diagnostic, Span};
use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::{Dialect, Expr, ExprKind, Literal, UnaryOp, Visit};
use agentir_flow::cfg::{
    Access, AccessKind, AgentCfg, AgentId, Cfg, DecidedBy, Edge, EdgeKind, Guard, NodeKind, Origin,
};
use agentir_ir::Statement;
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef as _;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::Deref;
use std::rc::Rc;

/// What is done to variables, place by place: by one agent, or, where variables belong to the program,
/// by all. It is put together once.
#[derive(Debug)]
pub(crate) struct DefIndex<'a> {
    pub(crate) cfg: Rc<Cfg<'a>>,
    pub(crate) dialect: Dialect,
    /// The variables of which everything is known that sets them.
    pub(crate) locals: LocalVariables<'a>,
    /// The places that set each variable, in order.
    def_nodes: FxHashMap<SmolStr, Vec<NodeIndex>>,
    /// The places that remove each variable, in order.
    kill_nodes: FxHashMap<SmolStr, Vec<NodeIndex>>,
    /// What is known where the agent begins.
    initial: Rc<Constants>,
    /// Where each variable is not set yet; the same for all agents of a program that shares variables.
    unset: RefCell<FxHashMap<SmolStr, Rc<UndefinedPaths>>>,
    /// Whether variables belong to the program, so that ways lead through other agents.
    shared: bool,
    edges: Edges,
}

/// The edges out of each of a range of nodes, in the order in which they were made.
#[derive(Debug)]
struct Edges {
    /// The first of the nodes.
    first: usize,
    /// Where those of each node begin, and behind it where those of the last one end.
    begin: Vec<usize>,
    all: Vec<EdgeIndex>,
}

impl Edges {
    /// `nodes` are in ascending order, without gaps.
    fn new(cfg: &Cfg<'_>, nodes: &[NodeIndex]) -> Self {
        let first = nodes.first().map_or(0, |n| n.index());
        let mut edges = Self { first, begin: vec![0], all: Vec::new() };
        for node in nodes {
            let from = edges.all.len();
            edges.all.extend(cfg.graph().edges(*node).map(|e| e.id()));
            // petgraph gives the newest first.
            if let Some(own) = edges.all.get_mut(from..) {
                own.sort_unstable();
            }
            edges.begin.push(edges.all.len());
        }
        edges
    }

    fn of(&self, node: NodeIndex) -> &[EdgeIndex] {
        let at = node.index().checked_sub(self.first);
        let begin = at.and_then(|at| self.begin.get(at).zip(self.begin.get(at + 1)));
        begin.and_then(|(from, to)| self.all.get(*from..*to)).unwrap_or_default()
    }
}

/// A search through the places of an agent, for one purpose.
#[derive(Debug)]
pub(crate) struct Dataflow<'a> {
    defs: Rc<DefIndex<'a>>,
    pub(crate) agent: AgentId,
    /// How much may still be looked at. Every variable costs a look at all places; of very many
    /// variables in a very large agent the last are not looked at.
    budget: Cell<usize>,
    search_stats: Rc<SearchStats>,
}

/// What all searches of a program took.
#[derive(Debug, Default)]
pub(crate) struct SearchStats {
    /// The places that were looked at.
    pub(crate) visited_nodes: Cell<u64>,
    /// The searches that were given up because there were too many of them.
    pub(crate) given_up: Cell<u64>,
}

impl<'a> Deref for Dataflow<'a> {
    type Target = DefIndex<'a>;
    fn deref(&self) -> &Self::Target {
        &self.defs
    }
}

/// How deep expressions are looked into.
const MAX_DEPTH: u8 = 32;

/// Conditions of more parts are not looked into: each variable in them asks for all of them, and nobody
/// writes such by hand.
const MAX_PARTS: usize = 256;

/// How many places one search looks at, over all variables of an agent.
const MAX_VISITED_NODES: usize = 300_000;

/// What is known of variables on the way so far; what is not in it may be anything.
pub(crate) type Constants = FxHashMap<SmolStr, Value>;

/// Where a variable is not set, with what is known on the way there.
#[derive(Debug, Default)]
pub(crate) struct UndefinedPaths {
    predecessors: FxHashMap<NodeIndex, (Option<EdgeIndex>, Rc<Constants>)>,
}

impl UndefinedPaths {
    /// What is known at a node, if one can come there with the variable unset.
    pub(crate) fn at(&self, node: NodeIndex) -> Option<&Constants> {
        self.predecessors.get(&node).map(|(_, constants)| constants.as_ref())
    }

    /// A shortest way there.
    pub(crate) fn path_to(&self, cfg: &Cfg<'_>, to: NodeIndex) -> Vec<EdgeIndex> {
        let mut path = Vec::new();
        let mut at = to;
        while let Some((Some(edge), _)) = self.predecessors.get(&at)
            && let Some((from, ..)) = cfg.edge(*edge)
        {
            path.push(*edge);
            at = from;
        }
        path.reverse();
        path
    }

    /// How long the way to each node is.
    pub(crate) fn lengths(&self, cfg: &Cfg<'_>) -> FxHashMap<NodeIndex, usize> {
        let mut lengths: FxHashMap<NodeIndex, usize> = FxHashMap::default();
        for node in self.nodes() {
            let mut at = node;
            let mut behind = Vec::new();
            while !lengths.contains_key(&at)
                && let Some((Some(edge), _)) = self.predecessors.get(&at)
                && let Some((from, ..)) = cfg.edge(*edge)
            {
                behind.push(at);
                at = from;
            }
            let mut length = *lengths.entry(at).or_insert(0);
            for node in behind.into_iter().rev() {
                length += 1;
                lengths.insert(node, length);
            }
        }
        lengths
    }

    /// The nodes one can come to.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeIndex> {
        self.predecessors.keys().copied()
    }
}

/// Whether a node is among the places of a variable.
fn contains(nodes: &FxHashMap<SmolStr, Vec<NodeIndex>>, node: NodeIndex, name: &str) -> bool {
    nodes.get(name).is_some_and(|all| all.binary_search(&node).is_ok())
}

impl<'a> DefIndex<'a> {
    pub(crate) fn new(cx: &AgentContext<'a>) -> Option<Self> {
        let (agent, cfg) = (cx.id, cx.program.shared_graph());
        let dialect = Dialect::ALL
            .into_iter()
            .find(|d| d.name() == cx.agent.metadata.dialect)
            .unwrap_or(Dialect::Abl);
        let shared = cx.is_agent_script();
        let nodes: Vec<NodeIndex> = if shared {
            cfg.graph().node_indices().collect()
        } else {
            cfg.agent(agent)?.nodes().collect()
        };
        let edges = Edges::new(&cfg, &nodes);
        let locals = LocalVariables::new(cx, nodes.iter().flat_map(|node| cfg.defs(*node)));
        let mut def_nodes: FxHashMap<SmolStr, Vec<NodeIndex>> = FxHashMap::default();
        let mut kill_nodes: FxHashMap<SmolStr, Vec<NodeIndex>> = FxHashMap::default();
        for node in &nodes {
            for access in cfg.defs(*node) {
                let (of, name) = match access.kind {
                    AccessKind::Def => (&mut def_nodes, root(access)),
                    AccessKind::Kill => (&mut kill_nodes, access.variable.name.as_str()),
                    AccessKind::Use => continue,
                };
                of.entry(SmolStr::new(name)).or_default().push(*node);
            }
        }
        for all in def_nodes.values_mut().chain(kill_nodes.values_mut()) {
            all.sort();
            all.dedup();
        }
        let initial = Rc::new(locals.initial());
        let unset = RefCell::default();
        Some(Self { cfg, dialect, locals, def_nodes, kill_nodes, initial, unset, shared, edges })
    }

    /// What a node does to variables besides reading them.
    pub(crate) fn defs(&self, node: NodeIndex) -> &[Access] {
        self.cfg.defs(node)
    }

    /// The places that set a variable.
    pub(crate) fn def_nodes(&self, name: &str) -> Vec<NodeIndex> {
        let all = self.def_nodes.get(name).into_iter().flatten();
        all.copied().filter(|node| self.defines(*node, name)).collect()
    }

    fn kind(&self, node: NodeIndex) -> NodeKind {
        self.cfg.node(node).map_or(NodeKind::Other, |n| n.kind)
    }

    /// Whether a node itself gives the variable a value.
    pub(crate) fn defines(&self, node: NodeIndex, name: &str) -> bool {
        contains(&self.def_nodes, node, name) && !self.kills(node, name)
    }

    /// Whether somebody else may give the variable a value at a node: the user, the model, tools.
    fn may_be_defined_elsewhere(&self, node: NodeIndex, name: &str, locals: bool) -> bool {
        let kind = self.kind(node);
        let others = matches!(
            kind,
            NodeKind::Await
                | NodeKind::Collect
                | NodeKind::Confirm
                | NodeKind::Choose
                | NodeKind::Call
                | NodeKind::Delegate
                | NodeKind::FanOut
                | NodeKind::Return
                | NodeKind::Unknown
                | NodeKind::Other
        );
        match self.dialect {
            // In ADL the model fills arguments from what the user says, and functions may set them.
            Dialect::Adl => others,
            _ if locals => kind == NodeKind::Choose && self.locals.is_model_visible(name),
            _ => others,
        }
    }

    /// Whether a node removes the variable: by `CLEAR`, or by giving it null.
    pub(crate) fn kills(&self, node: NodeIndex, name: &str) -> bool {
        self.assigns_null(node, name) || contains(&self.kill_nodes, node, name)
    }

    /// Whether a node gives the variable null.
    pub(crate) fn assigns_null(&self, node: NodeIndex, name: &str) -> bool {
        self.constant(node).is_some_and(|(set, value)| {
            set.target.segments.is_empty()
                && set.target.root.value == name
                && matches!(value, Literal::Null | Literal::Undefined)
        })
    }

    /// The constant that a node assigns.
    fn constant(&self, node: NodeIndex) -> Option<(&'a agentir_ir::SetVariable, &'a Literal)> {
        let set = match self.cfg.node(node)?.origin {
            Origin::Set(set) | Origin::Statement(Statement::Set(set)) => set,
            _ => return None,
        };
        match &set.value.kind {
            ExprKind::Literal(literal) => Some((set, literal)),
            _ => None,
        }
    }
}

impl<'a> Dataflow<'a> {
    pub(crate) fn new(
        defs: Rc<DefIndex<'a>>,
        agent: AgentId,
        search_stats: Rc<SearchStats>,
    ) -> Self {
        Self { defs, agent, budget: Cell::new(MAX_VISITED_NODES), search_stats }
    }

    /// The nodes of the agent.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = NodeIndex> {
        self.cfg.agent(self.agent).into_iter().flat_map(AgentCfg::nodes)
    }

    /// All places that a way may pass.
    fn nodes_on_paths(&self) -> Vec<NodeIndex> {
        if self.shared {
            self.cfg.graph().node_indices().collect()
        } else {
            self.cfg.agent(self.agent).into_iter().flat_map(AgentCfg::nodes).collect()
        }
    }

    /// The edges out of a node that stay in the agent. Agents that are called come back by an edge
    /// of their own.
    pub(crate) fn next(
        &self,
        node: NodeIndex,
    ) -> impl Iterator<Item = (EdgeIndex, NodeIndex, &Edge<'a>)> {
        let inside = |to: NodeIndex| self.cfg.node(to).is_some_and(|n| n.agent == self.agent);
        let edges = self.defs.edges.of(node).iter();
        edges.filter_map(|id| self.cfg.edge(*id).map(|(_, to, edge)| (*id, to, edge))).filter(
            move |(_, to, edge)| self.shared || (edge.kind != EdgeKind::Enter && inside(*to)),
        )
    }

    /// Takes from what may be looked at; false if nothing is left.
    fn spend(&self, steps: usize) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(steps));
        let visited = u64::try_from(steps.min(left)).unwrap_or(u64::MAX);
        self.search_stats
            .visited_nodes
            .set(self.search_stats.visited_nodes.get().saturating_add(visited));
        if left > 0 && left <= steps {
            self.search_stats.given_up.set(self.search_stats.given_up.get() + 1);
        }
        left > steps
    }

    /// Whether nothing more is looked at.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.budget.get() == 0
    }

    /// Everywhere one can come with the variable unset, from the beginning.
    pub(crate) fn undefined_from_entry(&self, name: &str) -> Rc<UndefinedPaths> {
        if let Some(found) = self.unset.borrow().get(name) {
            return Rc::clone(found);
        }
        let entry = if self.shared { self.program_entry() } else { Some(self.agent) };
        let start = entry.and_then(|a| self.cfg.agent(a)).map(|p| p.entry);
        let found = Rc::new(start.map_or_else(UndefinedPaths::default, |start| {
            self.search(start, name, true, Rc::clone(&self.initial))
        }));
        self.unset.borrow_mut().insert(name.into(), Rc::clone(&found));
        found
    }

    fn program_entry(&self) -> Option<AgentId> {
        self.cfg.find(self.locals.entry_agent()?)
    }

    /// Everywhere one can come in the agent with a variable unset that only its own statements set,
    /// from its beginning, with what is known there.
    pub(crate) fn undefined_with(&self, name: &str, constants: Constants) -> UndefinedPaths {
        let start = self.cfg.agent(self.agent).map(|p| p.entry);
        start.map_or_else(UndefinedPaths::default, |start| {
            self.search(start, name, true, Rc::new(constants))
        })
    }

    /// Everywhere one can come from behind a node that removed the variable, without its being set
    /// again.
    pub(crate) fn undefined_from(&self, clear: NodeIndex, name: &str) -> UndefinedPaths {
        let constants = Constants::from_iter([(SmolStr::new(name), Value::Undefined)]);
        self.search(clear, name, self.locals.has(name), Rc::new(constants))
    }

    fn search(
        &self,
        start: NodeIndex,
        name: &str,
        locals: bool,
        constants: Rc<Constants>,
    ) -> UndefinedPaths {
        let mut found = UndefinedPaths::default();
        let mut worklist = VecDeque::from([(start, Rc::clone(&constants))]);
        found.predecessors.insert(start, (None, constants));
        while let Some((node, before)) = worklist.pop_front() {
            if !self.spend(1) {
                return UndefinedPaths::default();
            }
            if node != start
                && (self.defines(node, name) || self.may_be_defined_elsewhere(node, name, locals))
            {
                continue;
            }
            let after = self.transfer_function(node, &before);
            for (id, to, edge) in self.next(node) {
                if found.predecessors.contains_key(&to) || !self.may_pass(edge.guard, &after) {
                    continue;
                }
                found.predecessors.insert(to, (Some(id), Rc::clone(&after)));
                worklist.push_back((to, Rc::clone(&after)));
            }
        }
        found
    }

    /// What is known behind a node.
    fn transfer_function(&self, node: NodeIndex, before: &Rc<Constants>) -> Rc<Constants> {
        let changes = self.defs(node);
        let wipes = self.dialect == Dialect::Adl && self.may_be_defined_elsewhere(node, "", true);
        let model_visible = self.kind(node) == NodeKind::Choose;
        if !wipes && !model_visible && changes.is_empty() {
            return Rc::clone(before);
        }
        self.spend(before.len());
        let mut constants = if wipes { Constants::default() } else { before.as_ref().clone() };
        if model_visible {
            constants.retain(|name, _| !self.locals.is_model_visible(name));
        }
        for access in changes {
            match access.kind {
                AccessKind::Use => {}
                AccessKind::Def => {
                    constants.remove(root(access));
                }
                AccessKind::Kill if self.locals.has(&access.variable.name) => {
                    constants.insert(access.variable.name.clone(), Value::Undefined);
                }
                AccessKind::Kill => {}
            }
        }
        if let Some((set, literal)) = self.constant(node)
            && set.target.segments.is_empty()
            && self.locals.has(&set.target.root.value)
            && let Some(value) = value_of(literal)
        {
            constants.insert(set.target.root.value.clone(), value);
        }
        Rc::new(constants)
    }

    /// Whether a guard can hold with what is known. Of very many conditions the nearest count.
    pub(crate) fn may_pass(&self, guard: Guard, constants: &Constants) -> bool {
        guard.is_always()
            || constants.is_empty()
            || self.cfg.guard(guard).iter().rev().take(128).all(|literal| {
                self.spend(1);
                let holds = literal.test.expr().and_then(|e| self.holds(e, constants));
                holds.is_none_or(|holds| holds == literal.holds)
            })
    }

    /// Whether an expression holds, as far as what is known decides it.
    pub(crate) fn holds(&self, expr: &Expr, constants: &Constants) -> Option<bool> {
        self.holds_at(expr, constants, 0)
    }

    fn holds_at(&self, expr: &Expr, constants: &Constants, depth: u8) -> Option<bool> {
        if depth > MAX_DEPTH {
            return None;
        }
        let depth = depth + 1;
        match &expr.kind {
            ExprKind::And(all) | ExprKind::Or(all) if all.len() > MAX_PARTS => None,
            ExprKind::And(all) => self.all(all, constants, false, depth),
            ExprKind::Or(all) => self.all(all, constants, true, depth),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                self.holds_at(operand, constants, depth).map(|holds| !holds)
            }
            _ => {
                let mut state = State::new();
                if !self.fill(expr, constants, &mut state) {
                    return None;
                }
                match outcome(expr, &state, self.dialect) {
                    Outcome::True => Some(true),
                    Outcome::False => Some(false),
                    Outcome::Error => None,
                }
            }
        }
    }

    fn all(&self, parts: &[Expr], constants: &Constants, decides: bool, depth: u8) -> Option<bool> {
        let mut unknown = false;
        for agent_cfg in parts {
            match self.holds_at(agent_cfg, constants, depth) {
                Some(holds) if holds == decides => return Some(decides),
                Some(_) => {}
                None => unknown = true,
            }
        }
        (!unknown).then_some(!decides)
    }

    /// Gives a state what an expression reads; false if that is not all known.
    fn fill(&self, expr: &Expr, constants: &Constants, state: &mut State) -> bool {
        let mut all = true;
        expr.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) => {
                    let name = match path.namespace.as_ref().map(|n| n.value.as_str()) {
                        None => path.root.value.clone(),
                        Some("variables") => {
                            smol_str::format_smolstr!("@variables.{}", path.root.value)
                        }
                        Some(_) => {
                            all = false;
                            return Visit::Skip;
                        }
                    };
                    match constants.get(&path.root.value) {
                        Some(value) => state.set(name, value.clone()),
                        None => all = false,
                    }
                }
                ExprKind::Object(entries) if entries.iter().any(|e| e.value.is_none()) => {
                    all = false;
                }
                ExprKind::Call { .. } | ExprKind::Method { .. } | ExprKind::Ellipsis => all = false,
                _ => {}
            }
            Visit::Children
        });
        all
    }

    /// Whether a place can be come to with a variable set: behind one that sets it, and from there
    /// without its being removed. Where a turn resumes, nobody knows which wait that is.
    pub(crate) fn may_be_set(&self, name: &str) -> FxHashSet<NodeIndex> {
        let mut found = FxHashSet::default();
        let mut worklist = self.def_nodes(name);
        if self.dialect == Dialect::Adl || self.locals.is_model_visible(name) {
            worklist.extend(
                self.nodes_on_paths()
                    .into_iter()
                    .filter(|n| self.may_be_defined_elsewhere(*n, name, true)),
            );
        }
        let waits: Vec<NodeIndex> =
            self.nodes_on_paths().into_iter().filter(|n| self.kind(*n).waits()).collect();
        self.spend(2 * waits.len());
        let mut resumed = false;
        while let Some(node) = worklist.pop() {
            self.spend(1);
            if self.kills(node, name) {
                continue;
            }
            let next = self.next(node).map(|(_, to, _)| to);
            worklist.extend(next.filter(|n| found.insert(*n)));
            if self.kind(node) == NodeKind::Resume && !std::mem::replace(&mut resumed, true) {
                worklist.extend(waits.iter().filter(|n| found.insert(**n)));
            }
        }
        found
    }

    /// Shows a way in a finding: the branches that are taken and the steps that are come through.
    pub(crate) fn explain(&self, mut finding: Diagnostic, path: &[EdgeIndex]) -> Diagnostic {
        let mut shown: Vec<Span> = vec![finding.primary.span];
        let waypoints = path.iter().filter_map(|edge| {
            let (_, to, edge) = self.cfg.edge(*edge)?;
            let step = self.cfg.node(to)?;
            match (step.kind, step.step) {
                _ if edge.decided_by == DecidedBy::Condition && !edge.guard.is_always() => {
                    let literal = self.cfg.last_literal(edge.guard)?;
                    let message = if literal.holds { "this holds" } else { "this does not hold" };
                    Some((literal.test.span(), message.to_owned()))
                }
                (NodeKind::Step, Some(step)) => {
                    Some((step.name.span, format!("then step `{}`", step.name)))
                }
                _ => None,
            }
        });
        let waypoints: Vec<(Span, String)> = waypoints.collect();
        // A long way is told by its beginning and its end.
        let skipped = waypoints.len().saturating_sub(6);
        for (at, (span, message)) in waypoints.into_iter().enumerate() {
            if (3..3 + skipped).contains(&at) || shown.contains(&span) {
                continue;
            }
            shown.push(span);
            finding = finding.label(span, format!("on the way: {message}"));
        }
        finding
    }
}

/// The variable of an access; other namespaces than that of variables have none.
pub(crate) fn root(access: &Access) -> &str {
    if access.variable.name.starts_with('@') { "" } else { access.variable.root() }
}

fn value_of(literal: &Literal) -> Option<Value> {
    Some(match literal {
        Literal::Null => Value::Null,
        Literal::Undefined => Value::Undefined,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Number(value) => Value::number(*value).ok()?,
        Literal::String(text) => Value::from(text.as_str()),
        Literal::Regex(_) | Literal::Date(_) => return None,
    })
}
