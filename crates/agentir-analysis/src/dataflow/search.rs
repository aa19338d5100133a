//! Searches for paths on which a variable is never defined.

use super::external::ExternalDefs;
use super::locals::{Constants, LocalVariables, root};
use crate::limits::{Limit, Limits};
use crate::symbols::AgentSymbols;
use agentir_diagnostics::Span;
use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::{Dialect, Expr, ExprKind, Literal, UnaryOp, Visit};
use agentir_flow::cfg::{
    Access, AccessKind, AgentCfg, AgentId, Cfg, Edge, EdgeKind, Guard, NodeKind, Origin,
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

/// An index of definitions: of one agent or, if the program shares its variables, of all agents.
/// Built once.
#[derive(Debug)]
pub struct DefIndex<'a> {
    /// The control-flow graph.
    pub cfg: Rc<Cfg<'a>>,
    /// The dialect of the agent.
    pub dialect: Dialect,
    /// The variables whose definitions are all known.
    pub locals: LocalVariables<'a>,
    /// The nodes that define each variable, in ascending order.
    def_nodes: FxHashMap<SmolStr, Vec<NodeIndex>>,
    /// The nodes that remove each variable, in ascending order.
    kill_nodes: FxHashMap<SmolStr, Vec<NodeIndex>>,
    /// The constants at the agent's entry.
    initial: Rc<Constants>,
    /// The nodes reachable with each variable undefined. Shared by all agents if the program shares
    /// its variables.
    unset: RefCell<FxHashMap<SmolStr, Rc<UndefinedPaths>>>,
    /// Whether the program shares its variables, so that paths lead through other agents.
    shared: bool,
    edges: Edges,
}

/// The outgoing edges of a range of nodes, in order of construction.
#[derive(Debug)]
struct Edges {
    /// The first node of the range.
    first: usize,
    /// The start of each node's edges in `all`, and the end of the last one's.
    begin: Vec<usize>,
    all: Vec<EdgeIndex>,
}

impl Edges {
    /// `nodes` must be ascending and contiguous.
    fn new(cfg: &Cfg<'_>, nodes: &[NodeIndex]) -> Self {
        let first = nodes.first().map_or(0, |n| n.index());
        let mut edges = Self { first, begin: vec![0], all: Vec::new() };
        for node in nodes {
            let from = edges.all.len();
            edges.all.extend(cfg.graph().edges(*node).map(|e| e.id()));
            // petgraph yields the newest edge first.
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

/// A dataflow search with a budget.
#[derive(Debug)]
pub struct Dataflow<'a> {
    defs: Rc<DefIndex<'a>>,
    /// The agent that is searched.
    pub agent: AgentId,
    /// The number of nodes that may still be visited. Every variable costs a traversal; if a very
    /// large agent has very many variables, the last ones are skipped.
    budget: Cell<usize>,
    search_stats: Rc<SearchStats>,
    limits: Rc<Limits>,
    /// Where the agent is.
    at: Span,
}

/// Statistics of all searches of a program.
#[derive(Debug, Default)]
pub struct SearchStats {
    /// The visited nodes.
    pub visited_nodes: Cell<u64>,
    /// The searches that exhausted their budget.
    pub given_up: Cell<u64>,
}

impl<'a> Deref for Dataflow<'a> {
    type Target = DefIndex<'a>;
    fn deref(&self) -> &Self::Target {
        &self.defs
    }
}

/// The maximum depth of expressions that are evaluated.
pub(super) const MAX_DEPTH: u8 = 32;

/// Larger conjunctions and disjunctions are not evaluated: the cost is quadratic in their operands,
/// and only generated code has them.
pub(super) const MAX_PARTS: usize = 256;

/// The maximum number of nodes that one search visits, over all variables of an agent.
const MAX_VISITED_NODES: usize = 300_000;

/// The nodes that are reachable with a variable undefined, with the constants on the path.
#[derive(Debug, Default)]
pub struct UndefinedPaths {
    predecessors: FxHashMap<NodeIndex, (Option<EdgeIndex>, Rc<Constants>)>,
}

impl UndefinedPaths {
    /// Returns the constants at a node, if it is reachable with the variable undefined.
    pub fn at(&self, node: NodeIndex) -> Option<&Constants> {
        self.predecessors.get(&node).map(|(_, constants)| constants.as_ref())
    }

    /// Returns a shortest path to a node.
    pub fn path_to(&self, cfg: &Cfg<'_>, to: NodeIndex) -> Vec<EdgeIndex> {
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

    /// Returns the length of the path to each node.
    pub fn lengths(&self, cfg: &Cfg<'_>) -> FxHashMap<NodeIndex, usize> {
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

    /// Returns the reachable nodes.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> {
        self.predecessors.keys().copied()
    }
}

/// Whether a node is among those of a variable.
fn contains(nodes: &FxHashMap<SmolStr, Vec<NodeIndex>>, node: NodeIndex, name: &str) -> bool {
    nodes.get(name).is_some_and(|all| all.binary_search(&node).is_ok())
}

impl<'a> DefIndex<'a> {
    /// Indexes the definitions of an agent. `external_defs` are those of other agents.
    pub(crate) fn of_agent(
        cx: &AgentSymbols<'_, 'a>,
        cfg: Rc<Cfg<'a>>,
        external_defs: &ExternalDefs<'a>,
    ) -> Option<Self> {
        let nodes: Vec<NodeIndex> = cfg.agent(cx.id)?.nodes().collect();
        let accesses = nodes.iter().flat_map(|node| cfg.defs(*node));
        let locals = LocalVariables::of_agent(cx, external_defs, accesses);
        Some(Self::new(cx, cfg, &nodes, locals, false))
    }

    /// Indexes the definitions of all agents of a program that shares its variables. `cx` is one of
    /// the agents.
    pub(crate) fn of_program(cx: &AgentSymbols<'_, 'a>, cfg: Rc<Cfg<'a>>) -> Self {
        let nodes: Vec<NodeIndex> = cfg.graph().node_indices().collect();
        Self::new(cx, cfg, &nodes, LocalVariables::of_program(cx.program), true)
    }

    fn new(
        cx: &AgentSymbols<'_, 'a>,
        cfg: Rc<Cfg<'a>>,
        nodes: &[NodeIndex],
        locals: LocalVariables<'a>,
        shared: bool,
    ) -> Self {
        let dialect = cx.agent.metadata.dialect;
        let edges = Edges::new(&cfg, nodes);
        let mut def_nodes: FxHashMap<SmolStr, Vec<NodeIndex>> = FxHashMap::default();
        let mut kill_nodes: FxHashMap<SmolStr, Vec<NodeIndex>> = FxHashMap::default();
        for node in nodes {
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
        Self { cfg, dialect, locals, def_nodes, kill_nodes, initial, unset, shared, edges }
    }

    /// Returns the definitions and kills of a node.
    pub fn defs(&self, node: NodeIndex) -> &[Access] {
        self.cfg.defs(node)
    }

    /// Returns the nodes that define a variable.
    pub fn def_nodes(&self, name: &str) -> Vec<NodeIndex> {
        let all = self.def_nodes.get(name).into_iter().flatten();
        all.copied().filter(|node| self.defines(*node, name)).collect()
    }

    fn kind(&self, node: NodeIndex) -> NodeKind {
        self.cfg.node(node).map_or(NodeKind::Other, |n| n.kind)
    }

    /// Whether a node itself defines the variable.
    pub fn defines(&self, node: NodeIndex, name: &str) -> bool {
        contains(&self.def_nodes, node, name) && !self.kills(node, name)
    }

    /// Whether the user, the model or a tool may define the variable at a node.
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
        // The model fills arguments from messages, and functions may set them.
        if locals && !self.dialect.traits().arguments_are_variables {
            kind == NodeKind::Choose && self.locals.is_model_visible(name)
        } else {
            others
        }
    }

    /// Whether a node removes the variable, by `CLEAR` or by assigning null.
    pub fn kills(&self, node: NodeIndex, name: &str) -> bool {
        self.assigns_null(node, name) || contains(&self.kill_nodes, node, name)
    }

    /// Whether a node assigns null to the variable.
    pub fn assigns_null(&self, node: NodeIndex, name: &str) -> bool {
        self.constant(node).is_some_and(|(set, value)| {
            set.target.segments.is_empty()
                && set.target.root.value == name
                && matches!(value, Literal::Null | Literal::Undefined)
        })
    }

    /// Returns the constant that a node assigns.
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
        (agent, at): (AgentId, Span),
        search_stats: Rc<SearchStats>,
        limits: Rc<Limits>,
    ) -> Self {
        Self { defs, agent, budget: Cell::new(MAX_VISITED_NODES), search_stats, limits, at }
    }

    /// Returns the nodes of the agent.
    pub fn nodes(&self) -> impl Iterator<Item = NodeIndex> {
        self.cfg.agent(self.agent).into_iter().flat_map(AgentCfg::nodes)
    }

    /// Returns all nodes that a path may pass.
    fn nodes_on_paths(&self) -> Vec<NodeIndex> {
        if self.shared {
            self.cfg.graph().node_indices().collect()
        } else {
            self.cfg.agent(self.agent).into_iter().flat_map(AgentCfg::nodes).collect()
        }
    }

    /// Returns the outgoing edges of a node within the agent. Calls of other agents have a separate
    /// edge for the return.
    pub fn next(&self, node: NodeIndex) -> impl Iterator<Item = (EdgeIndex, NodeIndex, &Edge<'a>)> {
        let inside = |to: NodeIndex| self.cfg.node(to).is_some_and(|n| n.agent == self.agent);
        let edges = self.defs.edges.of(node).iter();
        edges.filter_map(|id| self.cfg.edge(*id).map(|(_, to, edge)| (*id, to, edge))).filter(
            move |(_, to, edge)| self.shared || (edge.kind != EdgeKind::Enter && inside(*to)),
        )
    }

    /// Spends budget. Returns false if none is left.
    pub(super) fn spend(&self, steps: usize) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(steps));
        let visited = u64::try_from(steps.min(left)).unwrap_or(u64::MAX);
        self.search_stats
            .visited_nodes
            .set(self.search_stats.visited_nodes.get().saturating_add(visited));
        if left > 0 && left <= steps {
            self.search_stats.given_up.set(self.search_stats.given_up.get() + 1);
            self.limits.reach(Limit::Paths, Some(self.at));
        }
        left > steps
    }

    /// Whether the budget is exhausted.
    pub fn is_exhausted(&self) -> bool {
        self.budget.get() == 0
    }

    /// Searches for nodes that are reachable from the entry with the variable undefined.
    pub fn undefined_from_entry(&self, name: &str) -> Rc<UndefinedPaths> {
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

    /// Searches for nodes of the agent that are reachable from its entry with a local variable
    /// undefined, given the constants at the entry.
    pub(super) fn undefined_with(&self, name: &str, constants: Constants) -> UndefinedPaths {
        let start = self.cfg.agent(self.agent).map(|p| p.entry);
        start.map_or_else(UndefinedPaths::default, |start| {
            self.search(start, name, true, Rc::new(constants))
        })
    }

    /// Searches for nodes that are reachable from a kill of the variable without a new definition.
    pub fn undefined_from(&self, clear: NodeIndex, name: &str) -> UndefinedPaths {
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

    /// Returns the constants after a node.
    fn transfer_function(&self, node: NodeIndex, before: &Rc<Constants>) -> Rc<Constants> {
        let changes = self.defs(node);
        let wipes = self.dialect.traits().arguments_are_variables
            && self.may_be_defined_elsewhere(node, "", true);
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

    /// Whether a guard is consistent with the constants. Of very many literals only the last ones
    /// are evaluated.
    pub(crate) fn may_pass(&self, guard: Guard, constants: &Constants) -> bool {
        guard.is_always()
            || constants.is_empty()
            || self.cfg.literals_backwards(guard).take(128).all(|literal| {
                self.spend(1);
                let holds = literal.test.expr().and_then(|e| self.holds(e, constants));
                holds.is_none_or(|holds| holds == literal.holds)
            })
    }

    /// Evaluates a condition, if the constants determine it.
    pub fn holds(&self, expr: &Expr, constants: &Constants) -> Option<bool> {
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

    /// Binds the variables of an expression in a state. Returns false if some are unknown.
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

    /// Returns the nodes that a definition of the variable may reach without a kill in between.
    /// `Resume` may continue at any wait.
    pub fn may_be_set(&self, name: &str) -> FxHashSet<NodeIndex> {
        let mut found = FxHashSet::default();
        let mut worklist = self.def_nodes(name);
        if self.dialect.traits().arguments_are_variables || self.locals.is_model_visible(name) {
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
