//! The fixed point over the control-flow graph.

use super::{MAX_WORK, followed};
use crate::limits::Limit;
use crate::program::{AgentAnalysis, ProgramAnalysis};
use crate::values::Values;
use crate::values::expr::Frame;
use crate::values::scope::{Scope, own_name};
use crate::values::set::{Known, Source, SourceKind, ValueSet};
use crate::values::state::{Relation, State};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Path, Visit};
use agentir_flow::Cfg;
use agentir_flow::cfg::{AccessKind, AgentId, EdgeKind, Guard, Node, NodeKind, Origin};
use agentir_ir::{Agent, Delegate, SessionVariable, Statement};
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef as _;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// After so many changes of a state, intervals are widened.
const WIDEN_AFTER: u16 = 24;

/// Of longer guards only the last tests are evaluated.
const MAX_LITERALS: usize = 64;

/// A flow begins once; in later turns it goes on where it was, after what an agent does in each turn. So the states of
/// the turns before its first step are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// The agent has a flow, and no step of it has run.
    BeforeFlow,
    /// All others.
    Later,
}

/// What a node does to a variable.
#[derive(Clone, Copy)]
pub(super) enum Effect<'a> {
    /// Assigns an expression.
    Assign(usize, &'a Expr, Span),
    /// Gives it a value that is not known; or may do so, if it is not definite.
    Unknown(usize),
    /// May fill a field with an answer of the user. One that has a value keeps having one.
    Filled(usize),
    /// Removes it.
    Clear(usize, Span),
    /// May give it what a variable of another agent holds at its end.
    Returned(usize, AgentId, usize, Span),
    /// Anything may happen to all variables.
    All,
}

pub(super) struct Flow<'p, 'a> {
    pub(super) program: &'p ProgramAnalysis<'a>,
    pub(super) cfg: &'p Cfg<'a>,
    pub(super) agents: Vec<AgentAnalysis<'p, 'a>>,
    /// The variables that each agent declares, by their own names, and whether one is declared twice.
    pub(super) declared: Vec<FxHashMap<&'a str, (&'a SessionVariable, bool)>>,
    pub(super) scopes: Vec<Rc<Scope>>,
    pub(super) scope_of: Vec<usize>,
    pub(super) effects: Vec<Rc<[Effect<'a>]>>,
    /// The states before and after each node, by phase.
    pub(super) before: [Vec<Option<Rc<State>>>; 2],
    pub(super) after: [Vec<Option<Rc<State>>>; 2],
    pub(super) changes: [Vec<u16>; 2],
    /// What is to be visited, in reverse postorder: what leads to a node is visited before it, but for loops.
    pub(super) work: BTreeSet<(usize, usize, Phase)>,
    pub(super) ranks: Vec<usize>,
    /// The variables of each agent that detours and turns may set, with what they may hold then.
    pub(super) ambient: Vec<FxHashMap<usize, ValueSet>>,
    /// The same of pairs.
    pub(super) ambient_pairs: Vec<FxHashMap<usize, Relation>>,
    /// Whether a node sets variables in a detour.
    pub(super) in_detour: Vec<bool>,
    /// Whether control may come back to a node from a detour.
    pub(super) resumes: Vec<bool>,
    /// The agents that nodes transfer to, and how they call them. There may be as many as pairs of agents.
    pub(super) transfers: FxHashMap<usize, Rc<[(AgentId, &'a str)]>>,
    /// What each agent's variables hold where it ends.
    pub(super) ends: Vec<Option<State>>,
    /// What they hold where it is left, and may begin with when it is entered again.
    pub(super) left: Vec<Option<State>>,
    /// The nodes that read what an agent returns.
    pub(super) readers: FxHashMap<AgentId, Vec<usize>>,
    pub(super) thresholds: Vec<f64>,
    pub(super) spent: usize,
}

/// The agents that each node transfers to.
fn transfers<'a>(cfg: &Cfg<'a>) -> FxHashMap<usize, Rc<[(AgentId, &'a str)]>> {
    let mut all: FxHashMap<usize, Vec<(AgentId, &'a str)>> = FxHashMap::default();
    for transfer in cfg.transfers() {
        if let Some(target) = transfer.target {
            all.entry(transfer.node.index()).or_default().push((target, transfer.to));
        }
    }
    all.into_iter().map(|(node, to)| (node, to.into())).collect()
}

impl<'p, 'a> Flow<'p, 'a> {
    /// Prepares the analysis; `None` if no condition reads a variable that can be followed.
    pub(super) fn new(program: &'p ProgramAnalysis<'a>) -> Option<Self> {
        let cfg = program.graph();
        let wanted = followed::wanted(program);
        if wanted.is_empty() {
            return None;
        }
        let agents: Vec<AgentAnalysis<'p, 'a>> = program.all_agents().collect();
        let shared = program.traits().shared_variables;
        let (scopes, scope_of): (Vec<Rc<Scope>>, Vec<usize>) = match shared {
            true => {
                let mut scope = followed::scope_of_program(program, cfg, &wanted);
                agents.iter().for_each(|cx| followed::pairs(cx, &mut scope));
                (vec![Rc::new(scope)], vec![0; agents.len()])
            }
            false => {
                let external = program.external_defs();
                let of = |cx: &AgentAnalysis<'p, 'a>| {
                    let mut scope = Scope::of_agent(cx, cfg, external, &wanted);
                    followed::pairs(cx, &mut scope);
                    scope
                };
                (agents.iter().map(|cx| Rc::new(of(cx))).collect(), (0..agents.len()).collect())
            }
        };
        if scopes.iter().all(|scope| scope.names.is_empty()) {
            return None;
        }
        let nodes = cfg.graph().node_count();
        let mut flow = Self {
            program,
            cfg,
            ambient: agents.iter().map(|_| FxHashMap::default()).collect(),
            ambient_pairs: agents.iter().map(|_| FxHashMap::default()).collect(),
            ends: agents.iter().map(|_| None).collect(),
            left: agents.iter().map(|_| None).collect(),
            declared: agents.iter().map(|cx| declared(cx.agent)).collect(),
            agents,
            scopes,
            scope_of,
            effects: Vec::with_capacity(nodes),
            before: [vec![None; nodes], vec![None; nodes]],
            after: [vec![None; nodes], vec![None; nodes]],
            changes: [vec![0; nodes], vec![0; nodes]],
            work: BTreeSet::new(),
            ranks: ranks(cfg),
            in_detour: vec![false; nodes],
            resumes: vec![false; nodes],
            readers: FxHashMap::default(),
            transfers: transfers(cfg),
            thresholds: thresholds(program),
            spent: 0,
        };
        for node in cfg.graph().node_indices() {
            // What does not fit into the budget is not begun; `run` says so.
            if flow.spent > MAX_WORK {
                return Some(flow);
            }
            let effects = flow.effects_of(node);
            flow.spent += effects.len();
            flow.effects.push(effects.into());
        }
        flow.find_detours();
        flow.begin();
        Some(flow)
    }

    pub(super) fn scope(&self, agent: AgentId) -> Option<&Rc<Scope>> {
        self.scopes.get(*self.scope_of.get(agent.index())?)
    }

    pub(super) fn node(&self, node: usize) -> Option<&Node<'a>> {
        self.cfg.node(NodeIndex::new(node))
    }

    fn effects_of(&mut self, at: NodeIndex) -> Vec<Effect<'a>> {
        let Some(node) = self.cfg.node(at).copied() else { return Vec::new() };
        let (Some(scope), Some(cx)) =
            (self.scope(node.agent).cloned(), self.agents.get(node.agent.index()).copied())
        else {
            return Vec::new();
        };
        let traits = cx.traits();
        let mut effects = Vec::new();
        let wipes = match node.kind {
            // Shared variables that data without an IR form mentions are not followed.
            NodeKind::Unknown | NodeKind::Other => !traits.shared_variables,
            // The model may set what it sees.
            NodeKind::Choose => traits.model_sees_memory && !traits.shared_variables,
            // The model fills arguments from messages, and functions may set them.
            NodeKind::Await
            | NodeKind::Collect
            | NodeKind::Confirm
            | NodeKind::Call
            | NodeKind::Delegate
            | NodeKind::FanOut
            | NodeKind::Return => traits.arguments_are_variables,
            _ => false,
        };
        if wipes {
            effects.push(Effect::All);
        }
        // Any message may fill any field.
        if node.kind.waits() || node.kind == NodeKind::TurnStart {
            effects.extend(scope.fields.iter().map(|slot| Effect::Filled(*slot)));
            // The model may answer a question of the agent in charge by another value.
            let asked = cx.agent.gather.fields.iter().filter(|_| scope.shared);
            effects.extend(asked.filter_map(|f| scope.named(&f.name.value)).map(Effect::Unknown));
        }
        let set = match node.origin {
            Origin::Set(set) | Origin::Statement(Statement::Set(set)) => Some(set),
            _ => None,
        };
        for access in self.cfg.defs(at) {
            let name = access.variable.name.as_str();
            let Some(slot) = scope.named(own_name(name)).filter(|_| !name.starts_with('@')) else {
                continue;
            };
            let span = access.variable.span;
            effects.push(match access.kind {
                AccessKind::Use => continue,
                AccessKind::Kill => Effect::Clear(slot, span),
                AccessKind::Def => match set {
                    Some(set)
                        if node.kind == NodeKind::Set
                            && (scope.slot(&set.target) == Some(slot)
                                || (set.target.segments.is_empty()
                                    && set.target.root.value == name)) =>
                    {
                        Effect::Assign(slot, &set.value, set.span)
                    }
                    _ => match self.returned(&node, &cx, name) {
                        Some((agent, from, span)) => {
                            self.readers.entry(agent).or_default().push(at.index());
                            Effect::Returned(slot, agent, from, span)
                        }
                        None => Effect::Unknown(slot),
                    },
                },
            });
        }
        effects
    }

    /// The agent and its variable that a delegation gives to a variable when it returns.
    fn returned(
        &self,
        node: &Node<'a>,
        cx: &AgentAnalysis<'p, 'a>,
        name: &str,
    ) -> Option<(AgentId, usize, Span)> {
        if node.kind != NodeKind::Return {
            return None;
        }
        let agent = cx.agent;
        let delegate: &Delegate = match node.origin {
            Origin::Delegate(delegate) => delegate,
            Origin::Statement(Statement::Delegate(to)) => {
                let asked = agent.resolve_alias(&to.agent);
                let mut all = agent.coordination.delegates.iter();
                all.find(|one| agent.resolve_alias(&one.agent).value == asked.value)?
            }
            _ => return None,
        };
        let value = delegate.returned().find(|value| value.variable == name)?;
        let child = self.cfg.find(&agent.resolve_alias(&delegate.agent).value)?;
        // A model may answer with something else than its variables hold.
        let flows = self.cfg.agent(child)?.agent.flow.is_some();
        let is_choice =
            |node: NodeIndex| self.cfg.node(node).is_some_and(|node| node.kind == NodeKind::Choose);
        if !flows || self.cfg.agent(child)?.nodes().any(is_choice) {
            return None;
        }
        let slot = self.scope(child)?.named(&value.field.value)?;
        Some((child, slot, value.span))
    }

    /// Finds what detours and the turn around a wait may set, and where control may come back from them.
    fn find_detours(&mut self) {
        for id in followed::agents(self.program) {
            let Some(agent_cfg) = self.cfg.agent(id) else { continue };
            let flow = agent_cfg.agent.flow.is_some();
            let mut detours = self.cfg.detours(id);
            if flow {
                detours.extend(self.resuming(id));
                let turn = agent_cfg.nodes().filter(|n| {
                    let node = self.cfg.node(*n);
                    node.is_some_and(|node| node.step.is_none() && node.kind != NodeKind::Entry)
                });
                detours.extend(turn);
            }
            for node in agent_cfg.nodes() {
                let Some(kind) = self.cfg.node(node).map(|node| node.kind) else { continue };
                if let Some(slot) = self.in_detour.get_mut(node.index()) {
                    *slot = detours.contains(&node);
                }
                let turns = flow && (kind.waits() || matches!(kind, NodeKind::Return));
                let detour = kind == NodeKind::Call || self.cfg.leads_to_detour(node);
                if let Some(slot) = self.resumes.get_mut(node.index()) {
                    *slot = turns || detour;
                }
            }
        }
    }

    /// The nodes of a flow from which control returns to where it was, back to the step or the wait before them.
    fn resuming(&self, id: AgentId) -> FxHashSet<NodeIndex> {
        let mut found = FxHashSet::default();
        let nodes = self.cfg.agent(id).into_iter().flat_map(agentir_flow::cfg::AgentCfg::nodes);
        let is =
            |node: NodeIndex, kind: NodeKind| self.cfg.node(node).is_some_and(|n| n.kind == kind);
        let mut work: Vec<NodeIndex> = nodes.filter(|node| is(*node, NodeKind::Resume)).collect();
        while let Some(node) = work.pop() {
            for edge in self.cfg.graph().edges_directed(node, petgraph::Direction::Incoming) {
                let from = edge.source();
                let Some(at) = self.cfg.node(from) else { continue };
                let stops = at.kind.waits() || matches!(at.kind, NodeKind::Step | NodeKind::Exit);
                if at.agent == id && !stops && found.insert(from) {
                    work.push(from);
                }
            }
        }
        found
    }

    /// Puts the initial values where conversations begin.
    fn begin(&mut self) {
        let first = self.program.program.entry_agent.as_ref();
        let first = first.and_then(|name| self.cfg.find(&name.value));
        let closed = self.program.program.complete || self.program.traits().closed_programs;
        for id in followed::agents(self.program) {
            let Some(scope) = self.scope(id).cloned() else { continue };
            let Some(cx) = self.agents.get(id.index()).copied() else { continue };
            // Conversations begin elsewhere, and who hands over to this agent says what it begins with.
            let entered = scope.shared || (closed && self.cfg.sources(id).next().is_some());
            if entered && first.is_some_and(|first| first != id) {
                continue;
            }
            let sets = match scope.shared {
                true => scope.names.iter().map(|name| self.initial_shared(name)).collect(),
                false => scope.names.iter().map(|name| self.initial(&cx, name)).collect(),
            };
            self.enter(id, Rc::new(State::new(&scope, sets)));
        }
    }

    /// Joins a state into that before an agent.
    pub(super) fn enter(&mut self, id: AgentId, state: Rc<State>) {
        let Some(agent_cfg) = self.cfg.agent(id) else { return };
        let phase = match agent_cfg.agent.flow {
            Some(_) => Phase::BeforeFlow,
            None => Phase::Later,
        };
        self.reach(agent_cfg.entry, phase, state);
    }

    /// Joins a state into that before a node.
    fn reach(&mut self, node: NodeIndex, phase: Phase, state: Rc<State>) {
        let at = node.index();
        let [first, later] = &mut self.before;
        let [first_changes, later_changes] = &mut self.changes;
        let (before, changes) = match phase {
            Phase::BeforeFlow => (first, first_changes),
            Phase::Later => (later, later_changes),
        };
        let Some(slot) = before.get_mut(at) else { return };
        let changed = match slot {
            None => {
                *slot = Some(state);
                true
            }
            Some(known) if Rc::ptr_eq(known, &state) => false,
            Some(known) => {
                self.spent += state.len();
                let widen = changes.get(at).is_some_and(|count| *count >= WIDEN_AFTER);
                let thresholds = widen.then_some(self.thresholds.as_slice());
                !known.covers(&state) && Rc::make_mut(known).join(&state, thresholds)
            }
        };
        if changed {
            if let Some(count) = changes.get_mut(at) {
                *count = count.saturating_add(1);
            }
            self.plan(at, phase);
        }
    }

    fn plan(&mut self, at: usize, phase: Phase) {
        let rank = self.ranks.get(at).copied().unwrap_or(at);
        self.work.insert((rank, at, phase));
    }

    pub(super) fn run(mut self) -> Values {
        loop {
            if self.spent > MAX_WORK {
                self.program.limits().reach(Limit::Values, None);
                return Values::default();
            }
            let Some((_, at, phase)) = self.work.pop_first() else { break };
            self.spent += 1;
            self.visit(at, phase);
        }
        let constants = self.constants();
        let Self { cfg, scopes, scope_of, before, after, .. } = self;
        let before = of_both(before);
        let begins = |entry: NodeIndex| before.get(entry.index()).is_some_and(Option::is_some);
        let begun = cfg.agents().iter().map(|agent| begins(agent.entry)).collect();
        Values { scopes, scope_of, constants, before, after: of_both(after), begun }
    }

    fn state(&self, at: usize, phase: Phase) -> Option<&Rc<State>> {
        self.before.get(phase as usize)?.get(at)?.as_ref()
    }

    /// Visits nodes again that something reaches.
    fn again(&mut self, nodes: impl IntoIterator<Item = usize>) {
        for at in nodes {
            for phase in [Phase::BeforeFlow, Phase::Later] {
                if self.state(at, phase).is_some() {
                    self.plan(at, phase);
                }
            }
        }
    }

    fn visit(&mut self, at: usize, phase: Phase) {
        let Some(node) = self.node(at).copied() else { return };
        let Some(before) = self.state(at, phase).cloned() else { return };
        let (Some(scope), Some(cx)) =
            (self.scope(node.agent).cloned(), self.agents.get(node.agent.index()).copied())
        else {
            return;
        };
        let after = self.transfer(at, &node, &before, &scope, &cx);
        // A state of its own takes time and memory for each of its sets.
        if !Rc::ptr_eq(&before, &after) {
            self.spent += after.len();
        }
        self.note(at, &node, &after, &scope);
        let edges: Vec<EdgeIndex> =
            self.cfg.graph().edges(NodeIndex::new(at)).map(|edge| edge.id()).collect();
        let flow = cx.agent.flow.is_some();
        let frame = Frame { scope: &scope, dialect: cx.dialect(), facts: cx.variable_facts() };
        for edge in edges {
            let Some((_, to, edge)) = self.cfg.edge(edge) else { continue };
            let Some(next) = self.cfg.node(to) else { continue };
            let leaves = next.agent != node.agent || edge.kind == EdgeKind::Enter;
            let begun = flow && phase == Phase::Later && node.step.is_none();
            if (leaves && !scope.shared) || (begun && edge.kind == EdgeKind::Start) {
                continue;
            }
            let mut state = Rc::clone(&after);
            if self.passes(&frame, edge.guard, &mut state) {
                // The user is asked until all fields are filled, unless something else is done instead.
                if node.kind == NodeKind::Collect
                    && matches!(
                        edge.kind,
                        EdgeKind::Next | EdgeKind::Sequence | EdgeKind::Jump | EdgeKind::Branch
                    )
                {
                    let filled = self.cfg.defs(NodeIndex::new(at)).iter();
                    let own = &cx.agent.gather.fields;
                    let required =
                        |name: &str| own.iter().any(|f| f.required && f.name.value == name);
                    let filled = filled.filter(|a| {
                        let sets = a.kind == AccessKind::Def;
                        sets && (a.definite || required(&a.variable.name))
                    });
                    for slot in filled.filter_map(|a| scope.named(&a.variable.name)) {
                        if let Some(set) = state.get(slot).filter(|set| set.unset).cloned() {
                            let set = ValueSet { unset: false, ..set };
                            Rc::make_mut(&mut state).narrow(&scope, slot, set);
                        }
                    }
                }
                if !Rc::ptr_eq(&state, &after) {
                    self.spent += state.len();
                }
                match next.step {
                    _ if next.kind == NodeKind::Entry => self.enter(next.agent, state),
                    Some(_) => self.reach(to, Phase::Later, state),
                    None => self.reach(to, phase, state),
                }
            }
        }
        if !scope.shared {
            self.hand_over(at, &node, &before, &frame, &cx);
        } else if node.kind == NodeKind::Await
            && let Some(first) = self.program.program.entry_agent.as_ref()
            && let Some(start) = self.cfg.find(&first.value)
        {
            // Each message may begin at the first agent again.
            self.enter(start, Rc::clone(&after));
        }
        let slot = self.after.get_mut(phase as usize).and_then(|all| all.get_mut(at));
        if let Some(slot) = slot {
            *slot = Some(after);
        }
    }

    fn passes(&self, frame: &Frame<'_>, guard: Guard, state: &mut Rc<State>) -> bool {
        if guard.is_always() {
            return true;
        }
        let mut literals: Vec<_> = self.cfg.literals_backwards(guard).take(MAX_LITERALS).collect();
        literals.reverse();
        literals.into_iter().all(|literal| match literal.test.expr() {
            Some(expr) if frame.scope.is_read_by(expr) => frame.assume(state, expr, literal.holds),
            _ => true,
        })
    }

    /// The state after a node.
    fn transfer(
        &mut self,
        at: usize,
        node: &Node<'a>,
        before: &Rc<State>,
        scope: &Rc<Scope>,
        cx: &AgentAnalysis<'p, 'a>,
    ) -> Rc<State> {
        let effects = self.effects.get(at).cloned().unwrap_or_default();
        let mut state = Rc::clone(before);
        let frame = Frame { scope, dialect: cx.dialect(), facts: cx.variable_facts() };
        for effect in effects.iter() {
            match *effect {
                Effect::All => {
                    let all = scope.names.iter().map(|name| unknown(&frame, scope, name));
                    state = Rc::new(State::new(scope, all.collect()));
                }
                Effect::Assign(slot, value, span) => {
                    let mut set = frame.value(value, &state, 0);
                    if matches!(set.known, Known::Any) {
                        let name = scope.names.get(slot).map_or("", |name| name.as_str());
                        set.known = unknown(&frame, scope, name).known;
                    }
                    set.add_source(Source { span, kind: SourceKind::Assigned });
                    frame.assign(Rc::make_mut(&mut state), slot, set, value);
                }
                Effect::Unknown(slot) => {
                    let name = scope.names.get(slot).map_or("", |name| name.as_str());
                    put(&mut state, scope, slot, unknown(&frame, scope, name));
                }
                Effect::Filled(slot) => {
                    let name = scope.names.get(slot).map_or("", |name| name.as_str());
                    let unset = state.get(slot).is_none_or(|set| set.unset);
                    put(
                        &mut state,
                        scope,
                        slot,
                        ValueSet { unset, ..unknown(&frame, scope, name) },
                    );
                }
                Effect::Clear(slot, span) => {
                    let unset = ValueSet::unset().resting_on(span, SourceKind::Cleared);
                    put(&mut state, scope, slot, unset);
                }
                Effect::Returned(slot, agent, from, span) => {
                    let ended = self.ends.get(agent.index()).and_then(Option::as_ref);
                    let given = ended.and_then(|state| state.get(from)).cloned();
                    if let Some(mut set) = state.get(slot).cloned() {
                        set.unset = true;
                        if let Some(given) = given {
                            set.join(&given.resting_on(span, SourceKind::Passed));
                        }
                        put(&mut state, scope, slot, set);
                    }
                }
            }
        }
        if self.resumes.get(at) == Some(&true)
            && let (Some(ambient), Some(pairs)) =
                (self.ambient.get(node.agent.index()), self.ambient_pairs.get(node.agent.index()))
            && !ambient.is_empty()
        {
            let own = Rc::make_mut(&mut state);
            for (slot, more) in ambient {
                if let Some(set) = own.get_mut(*slot) {
                    set.join(more);
                }
            }
            for (pair, more) in pairs {
                own.join_relation(*pair, more);
            }
            // A variable that a detour has set may be together with whatever the others are here.
            for (pair, (first, second)) in scope.pairs.iter().enumerate() {
                if ambient.contains_key(first) != ambient.contains_key(second) {
                    own.unrelate(scope, pair);
                }
            }
        }
        state
    }

    /// Notes what detours set, and what agents hold where they end.
    fn note(&mut self, at: usize, node: &Node<'a>, after: &Rc<State>, scope: &Rc<Scope>) {
        if self.in_detour.get(at) == Some(&true) {
            let filled: FxHashSet<usize> = self
                .effects
                .get(at)
                .into_iter()
                .flat_map(|effects| effects.iter())
                .filter_map(|effect| match effect {
                    Effect::Filled(slot) => Some(*slot),
                    _ => None,
                })
                .collect();
            let slots: Vec<usize> = self
                .effects
                .get(at)
                .into_iter()
                .flat_map(|effects| effects.iter())
                .flat_map(|effect| match effect {
                    Effect::All => (0..scope.names.len()).collect::<Vec<_>>(),
                    Effect::Assign(slot, ..)
                    | Effect::Unknown(slot)
                    | Effect::Filled(slot)
                    | Effect::Clear(slot, _)
                    | Effect::Returned(slot, ..) => vec![*slot],
                })
                .collect();
            let mut grew = false;
            if let Some(ambient) = self.ambient_pairs.get_mut(node.agent.index()) {
                let touched = scope.pairs.iter().enumerate();
                let changed: FxHashSet<usize> = slots.iter().copied().collect();
                let touched =
                    touched.filter(|(_, (a, b))| changed.contains(a) || changed.contains(b));
                for (pair, _) in touched {
                    let Some(relation) = after.relation(pair) else { continue };
                    match ambient.entry(pair) {
                        Entry::Occupied(mut known) => grew |= known.get_mut().join(relation),
                        Entry::Vacant(new) => {
                            new.insert(relation.clone());
                            grew = true;
                        }
                    }
                }
            }
            if let Some(ambient) = self.ambient.get_mut(node.agent.index()) {
                for slot in slots {
                    if let Some(set) = after.get(slot) {
                        // What was unset before it was not filled.
                        let is_filled = filled.contains(&slot);
                        let set = &match is_filled {
                            true => ValueSet { unset: false, ..set.clone() },
                            false => set.clone(),
                        };
                        let known = ambient.entry(slot).or_insert_with(ValueSet::none);
                        let before = known.clone();
                        if known.join(set) {
                            known.widen(&before, &self.thresholds);
                            grew = true;
                        }
                    }
                }
            }
            if grew && let Some(agent_cfg) = self.cfg.agent(node.agent) {
                let back = agent_cfg.nodes().map(NodeIndex::index);
                let back: Vec<usize> =
                    back.filter(|n| self.resumes.get(*n) == Some(&true)).collect();
                self.again(back);
            }
        }
        let leaves = matches!(node.kind, NodeKind::Exit | NodeKind::Handoff | NodeKind::Escalate);
        if scope.shared {
            return;
        }
        let id = node.agent;
        if (leaves || node.kind == NodeKind::FlowEnd)
            && let Some(left) = self.left.get_mut(id.index())
            && join_into(left, after, &self.thresholds)
        {
            let left = left.clone();
            let entered: Vec<usize> = self.cfg.sources(id).map(|(_, t)| t.node.index()).collect();
            let traits = self.program.traits();
            let closed = self.program.program.complete || traits.closed_programs;
            if let Some(left) = left.filter(|_| entered.is_empty() || !closed) {
                self.enter(id, Rc::new(left));
            }
            self.again(entered);
        }
        if leaves
            && let Some(end) = self.ends.get_mut(id.index())
            && join_into(end, after, &self.thresholds)
        {
            let readers = self.readers.get(&id).cloned().unwrap_or_default();
            self.again(readers);
        }
    }
}

/// The states of both phases together.
fn of_both([first, later]: [Vec<Option<Rc<State>>>; 2]) -> Vec<Option<Rc<State>>> {
    let both = first.into_iter().zip(later);
    both.map(|states| match states {
        (Some(first), Some(mut later)) => {
            Rc::make_mut(&mut later).join(&first, None);
            Some(later)
        }
        (first, later) => first.or(later),
    })
    .collect()
}

/// Joins a state into one that may not exist yet. Returns whether it grew.
fn join_into(known: &mut Option<State>, state: &State, thresholds: &[f64]) -> bool {
    let Some(known) = known else {
        *known = Some(state.clone());
        return true;
    };
    known.join(state, Some(thresholds))
}

fn put(state: &mut Rc<State>, scope: &Scope, slot: usize, set: ValueSet) {
    if state.get(slot) != Some(&set) {
        Rc::make_mut(state).put(scope, slot, set);
    }
}

/// The place of each node in a reverse postorder of the graph.
fn ranks(cfg: &Cfg<'_>) -> Vec<usize> {
    let graph = cfg.graph();
    let mut ranks = vec![0; graph.node_count()];
    let mut search = petgraph::visit::DfsPostOrder::empty(graph);
    let mut rank = graph.node_count();
    let roots = cfg.agents().iter().map(|agent| agent.entry).chain(graph.node_indices());
    for root in roots {
        search.move_to(root);
        while let Some(node) = search.next(graph) {
            rank = rank.saturating_sub(1);
            if let Some(place) = ranks.get_mut(node.index()) {
                *place = rank;
            }
        }
    }
    ranks
}

/// A value of a variable that nothing is known of but its declaration.
pub(super) fn unknown(frame: &Frame<'_>, scope: &Scope, name: &str) -> ValueSet {
    let root = Spanned::new(name.into(), Span::default());
    let namespace =
        scope.shared.then(|| Spanned::new(agentir_expr::Name::new_static("variables"), root.span));
    frame.declared(&Path { namespace, ..Path::variable(root) })
}

/// The numbers in the program's conditions, in order.
fn thresholds(program: &ProgramAnalysis<'_>) -> Vec<f64> {
    let mut all: Vec<f64> = vec![0.0];
    for cx in program.all_agents() {
        for expr in cx.index.conditions.iter().filter_map(|(condition, _)| condition.expr()) {
            expr.visit(&mut |e| {
                if let ExprKind::Literal(Literal::Number(n)) = &e.kind {
                    all.extend([n - 1.0, *n, n + 1.0]);
                }
                Visit::Children
            });
        }
    }
    all.sort_by(f64::total_cmp);
    all.dedup();
    all.truncate(256);
    all
}

/// The variables that an agent declares, by their own names, and whether one is declared twice.
fn declared(agent: &Agent) -> FxHashMap<&str, (&SessionVariable, bool)> {
    let mut all: FxHashMap<&str, (&SessionVariable, bool)> = FxHashMap::default();
    for variable in &agent.memory.session {
        let name = own_name(&variable.name.value);
        all.entry(name).and_modify(|(_, twice)| *twice = true).or_insert((variable, false));
    }
    all
}
