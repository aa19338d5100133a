//! Facts at program points, a forward must-analysis: the tests and assignments that hold on every
//! path to a node and have not been invalidated since.
//!
//! It runs in linear time and never asks the solver. Soundness about change is decided here:
//! whatever the user, a tool, a handler or another agent may change is invalidated.

use super::def_use::Variable;
use super::{AgentCfg, AgentId, Cfg, DecidedBy, Edge, EdgeKind, GuardLiteral, NodeKind, Origin};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::dialect::RuntimeNames;
use agentir_expr::{Effect, Expr, ExprKind, Name, Path, Visit, function, methods};
use agentir_ir::{SetVariable, Statement};
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, ToSmolStr};
use std::collections::VecDeque;

/// The maximum number of facts per node. Older facts are dropped, which keeps the analysis linear.
const MAX_FACTS: usize = 48;

/// A fact that holds on every path to a program point.
#[derive(Debug, Clone, Copy)]
pub enum Fact<'a> {
    /// The outcome of a test.
    Test(GuardLiteral<'a>),
    /// A variable has been assigned a constant.
    Value(&'a SetVariable),
    /// A variable has been removed.
    Cleared(&'a Spanned<Name>),
}

impl Fact<'_> {
    fn says_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Test(one), Self::Test(other)) => one == other,
            (Self::Value(one), Self::Value(other)) => {
                one.target == other.target && one.value == other.value
            }
            (Self::Cleared(one), Self::Cleared(other)) => one == other,
            _ => false,
        }
    }
}

/// The facts at the nodes of an agent.
#[derive(Debug, Default)]
pub struct Facts<'a> {
    facts: Vec<FactRecord<'a>>,
    /// The facts after each reachable node, where the tests on its outgoing edges are made.
    at: NodeMap<Vec<u32>>,
    /// The facts before each reachable node, where what it says is executed.
    before: NodeMap<Vec<u32>>,
}

/// A map from the nodes of one agent to optional values.
#[derive(Debug)]
struct NodeMap<T> {
    /// The first node of the agent. Its nodes are contiguous.
    first: usize,
    all: Vec<Option<T>>,
}

impl<T> Default for NodeMap<T> {
    fn default() -> Self {
        Self { first: 0, all: Vec::new() }
    }
}

impl<T> NodeMap<T> {
    fn new(agent_cfg: &AgentCfg<'_>) -> Self {
        let range = agent_cfg.range();
        Self { first: range.start, all: range.map(|_| None).collect() }
    }

    fn get(&self, node: NodeIndex) -> Option<&T> {
        self.all.get(node.index().checked_sub(self.first)?)?.as_ref()
    }

    /// Returns the slot of a node; `None` if the node belongs to another agent.
    fn slot(&mut self, node: NodeIndex) -> Option<&mut Option<T>> {
        self.all.get_mut(node.index().checked_sub(self.first)?)
    }

    fn insert(&mut self, node: NodeIndex, value: T) {
        if let Some(slot) = self.slot(node) {
            *slot = Some(value);
        }
    }
}

impl<'a> Facts<'a> {
    /// Returns the facts at a node where the tests on its outgoing edges are made, oldest first.
    pub fn at(&self, node: NodeIndex) -> impl Iterator<Item = Fact<'a>> + '_ {
        self.all(&self.at, node)
    }

    /// Returns the facts before a node has any effect, oldest first.
    pub fn before(&self, node: NodeIndex) -> impl Iterator<Item = Fact<'a>> + '_ {
        self.all(&self.before, node)
    }

    fn all<'f>(
        &'f self,
        map: &'f NodeMap<Vec<u32>>,
        node: NodeIndex,
    ) -> impl Iterator<Item = Fact<'a>> + 'f {
        let ids = map.get(node).into_iter().flatten();
        ids.filter_map(|id| self.facts.get(*id as usize)).map(|record| record.fact)
    }

    /// Whether the node is reachable from the agent's entry.
    #[must_use]
    pub fn reaches(&self, node: NodeIndex) -> bool {
        self.at.get(node).is_some()
    }
}

#[derive(Debug)]
struct FactRecord<'a> {
    fact: Fact<'a>,
    variables: Vec<DependsOn>,
    /// Whether the fact depends on more than the agent's own variables: the user's message, the
    /// time, the judgement of the model.
    volatile: bool,
}

/// A variable, or a part of one, that a fact depends on.
#[derive(Debug)]
struct DependsOn {
    variable: Variable,
    /// The variable without its field path.
    root: SmolStr,
}

impl From<Variable> for DependsOn {
    fn from(variable: Variable) -> Self {
        Self { root: SmolStr::new(variable.root()), variable }
    }
}

/// The effect of a node on facts: its gen and kill sets.
#[derive(Debug, Default)]
struct NodeEffects<'c> {
    /// Kills all facts.
    kills_all: bool,
    /// The user speaks, and the agent runs its per-turn constructs.
    turn: bool,
    /// A tool, a check or an error handler runs and returns.
    detours: bool,
    /// The defined and removed variables. Facts that depend on them are killed.
    defs: Vec<&'c Variable>,
    /// The facts that the node itself establishes.
    generated: Vec<u32>,
}

struct FactAnalysis<'c, 'a> {
    cfg: &'c Cfg<'a>,
    agent_cfg: &'c AgentCfg<'a>,
    facts: Vec<FactRecord<'a>>,
    /// The facts of each span. Lowering may give several constructs the same span.
    ids: FxHashMap<Span, Vec<u32>>,
    /// The variables that may change between two turns of a flow.
    changed_between_turns: FxHashSet<&'c str>,
    /// The variables that may change in detours, see [`is_detour`].
    changed_in_detours: FxHashSet<&'c str>,
    effects: NodeMap<NodeEffects<'c>>,
    /// The names that the runtime owns.
    runtime: &'static RuntimeNames,
}

impl<'a> Cfg<'a> {
    /// Computes the facts that hold at the nodes of an agent on every path. Conditions are not
    /// interpreted. Linear in the size of the graph.
    #[must_use]
    pub fn facts(&self, agent: AgentId) -> Facts<'a> {
        let Some(agent_cfg) = self.agent(agent) else { return Facts::default() };
        let mut analysis = FactAnalysis {
            cfg: self,
            agent_cfg,
            facts: Vec::new(),
            ids: FxHashMap::default(),
            changed_between_turns: FxHashSet::default(),
            changed_in_detours: FxHashSet::default(),
            effects: NodeMap::new(agent_cfg),
            runtime: agent_cfg.agent.metadata.dialect.runtime(),
        };
        analysis.prepare(agent);
        analysis.run()
    }

    /// The nodes of detours, which return to a program point that the graph does not name.
    #[must_use]
    pub fn detours(&self, agent: AgentId) -> FxHashSet<NodeIndex> {
        let Some(agent_cfg) = self.agent(agent) else { return FxHashSet::default() };
        let mut worklist: Vec<NodeIndex> = agent_cfg
            .nodes()
            .flat_map(|n| self.graph.edges(n))
            .filter(|e| is_detour(e.weight()))
            .map(|e| e.target())
            .collect();
        let mut found = FxHashSet::default();
        while let Some(node) = worklist.pop() {
            let stops = self.node(node).is_none_or(|n| {
                n.kind.waits()
                    || matches!(
                        n.kind,
                        NodeKind::Resume | NodeKind::Choose | NodeKind::TurnEnd | NodeKind::Step
                    )
            });
            let own = agent_cfg.range().contains(&node.index());
            if !stops && own && found.insert(node) {
                worklist.extend(self.graph.edges(node).map(|e| e.target()));
            }
        }
        found
    }

    /// Whether a detour begins at a node.
    #[must_use]
    pub fn leads_to_detour(&self, node: NodeIndex) -> bool {
        self.graph.edges(node).any(|edge| is_detour(edge.weight()))
    }
}

impl<'c, 'a> FactAnalysis<'c, 'a> {
    fn intern(&mut self, fact: Fact<'a>) -> Option<u32> {
        let span = match fact {
            Fact::Test(literal) => literal.test.span(),
            Fact::Value(set) => set.span,
            Fact::Cleared(name) => name.span,
        };
        let known = self.ids.get(&span).into_iter().flatten().copied();
        let same = |id: &u32| {
            self.facts.get(*id as usize).is_some_and(|record| record.fact.says_the_same(&fact))
        };
        if let Some(id) = known.into_iter().find(same) {
            return Some(id);
        }
        let mut record = FactRecord { fact, variables: Vec::new(), volatile: false };
        match fact {
            Fact::Test(literal) => match literal.test.expr() {
                Some(expr) => {
                    expr.paths(&mut |path| record.variables.push(Variable::of(path).into()));
                    record.volatile = is_volatile(expr, self.runtime);
                }
                None => record.volatile = true,
            },
            Fact::Value(set) => {
                record.variables.push(Variable::of(&set.target).into());
                record.volatile = is_external(&set.target, self.runtime);
            }
            Fact::Cleared(name) => record.variables.push(Variable::named(name).into()),
        }
        let id = u32::try_from(self.facts.len()).ok()?;
        self.facts.push(record);
        self.ids.entry(span).or_default().push(id);
        Some(id)
    }

    fn prepare(&mut self, agent: AgentId) {
        let (cfg, agent_cfg): (&'c Cfg<'a>, &'c AgentCfg<'a>) = (self.cfg, self.agent_cfg);
        // Any message of the user may fill these fields.
        let fields = agent_cfg.agent.gather.fields.iter().map(|f| f.name.value.as_str());
        self.changed_between_turns.extend(fields);
        let flow = agent_cfg.agent.flow.is_some();
        let detours = cfg.detours(agent);
        for node in agent_cfg.nodes() {
            let Some(at) = cfg.node(node).copied() else { continue };
            let mut effects = NodeEffects {
                defs: cfg.defs(node).iter().map(|access| &access.variable).collect(),
                ..NodeEffects::default()
            };
            let names = effects.defs.iter().map(|v| v.root());
            if detours.contains(&node) {
                self.changed_in_detours.extend(names.clone());
            }
            // In later turns a flow resumes after the agent's per-turn constructs.
            if at.kind == NodeKind::Collect || at.step.is_none() {
                self.changed_between_turns.extend(names);
            }
            effects.kills_all = match at.kind {
                NodeKind::Entry
                | NodeKind::Choose
                | NodeKind::Delegate
                | NodeKind::Handoff
                | NodeKind::FanOut
                | NodeKind::Return
                | NodeKind::Escalate
                | NodeKind::Other
                | NodeKind::Unknown
                | NodeKind::Resume
                | NodeKind::Exit => true,
                NodeKind::Await | NodeKind::Collect | NodeKind::Confirm | NodeKind::TurnStart => {
                    !flow
                }
                _ => false,
            };
            effects.turn =
                at.kind.waits() || matches!(at.kind, NodeKind::TurnStart | NodeKind::TurnEnd);
            effects.detours = at.kind == NodeKind::Call || cfg.leads_to_detour(node);
            match at.origin {
                Origin::Set(set) | Origin::Statement(Statement::Set(set))
                    if at.kind == NodeKind::Set
                        && matches!(set.value.kind, ExprKind::Literal(_)) =>
                {
                    effects.generated.extend(self.intern(Fact::Value(set)));
                }
                Origin::Statement(Statement::Clear { variables }) => {
                    for name in variables {
                        effects.generated.extend(self.intern(Fact::Cleared(name)));
                    }
                }
                _ => {}
            }
            self.effects.insert(node, effects);
        }
    }

    fn run(mut self) -> Facts<'a> {
        let (cfg, entry) = (self.cfg, self.agent_cfg.entry);
        let mut before: NodeMap<Vec<u32>> = NodeMap::new(self.agent_cfg);
        let mut after: NodeMap<Vec<u32>> = NodeMap::new(self.agent_cfg);
        let mut queued: NodeMap<()> = NodeMap::new(self.agent_cfg);
        before.insert(entry, Vec::new());
        let mut worklist = VecDeque::from([entry]);
        queued.insert(entry, ());
        let mut tests = Vec::new();
        while let Some(node) = worklist.pop_front() {
            queued.slot(node).map(Option::take);
            let Some(facts) = before.get(node) else { continue };
            let out = self.transfer_function(node, facts);
            for edge in cfg.graph.edges_directed(node, Direction::Outgoing) {
                let (to, edge) = (edge.target(), edge.weight());
                let Some(slot) = before.slot(to).filter(|_| edge.kind != EdgeKind::Enter) else {
                    continue;
                };
                let changed = match slot {
                    // No fact is left to drop.
                    Some(facts) if facts.is_empty() => false,
                    Some(facts) => {
                        self.edge_tests(edge, &mut tests);
                        let had = facts.len();
                        facts.retain(|fact| out.contains(fact) || tests.contains(fact));
                        facts.len() < had
                    }
                    None => {
                        self.edge_tests(edge, &mut tests);
                        let mut reached = Vec::with_capacity(out.len() + tests.len());
                        reached.extend_from_slice(&out);
                        reached.extend(tests.iter().rev().filter(|test| !out.contains(test)));
                        keep_newest(&mut reached);
                        *slot = Some(reached);
                        true
                    }
                };
                if changed && queued.slot(to).is_some_and(|slot| slot.replace(()).is_none()) {
                    worklist.push_back(to);
                }
            }
            after.insert(node, out);
        }
        // The model chooses among its tools before the node changes anything.
        for node in self.agent_cfg.nodes() {
            if cfg.node(node).is_some_and(|n| n.kind == NodeKind::Choose)
                && let Some(facts) = before.get(node)
            {
                after.insert(node, facts.clone());
            }
        }
        Facts { facts: self.facts, at: after, before }
    }

    /// Applies a node's transfer function to the facts before it.
    fn transfer_function(&self, node: NodeIndex, facts: &[u32]) -> Vec<u32> {
        let Some(effects) = self.effects.get(node).filter(|e| !e.kills_all) else {
            return Vec::new();
        };
        let survives = |fact: &FactRecord<'a>| {
            let changed = |names: &FxHashSet<&str>| {
                fact.variables.iter().any(|v| names.contains(v.root.as_str()))
            };
            !((effects.turn || effects.detours)
                && (fact.volatile || changed(&self.changed_in_detours)))
                && !(effects.turn && changed(&self.changed_between_turns))
                && !fact
                    .variables
                    .iter()
                    .any(|v| effects.defs.iter().any(|c| c.overlaps(&v.variable)))
        };
        let mut out: Vec<u32> = facts
            .iter()
            .copied()
            .filter(|fact| self.facts.get(*fact as usize).is_some_and(survives))
            .chain(effects.generated.iter().copied())
            .collect();
        keep_newest(&mut out);
        out
    }

    /// Collects the tests of an edge, the last one first.
    fn edge_tests(&mut self, edge: &Edge<'a>, tests: &mut Vec<u32>) {
        tests.clear();
        let mut at = edge.guard;
        while tests.len() < MAX_FACTS
            && let Some(link) =
                at.0.checked_sub(1).and_then(|index| self.cfg.guard_links.get(index as usize))
        {
            let test = self.intern(Fact::Test(link.literal));
            tests.extend(test.filter(|test| !tests.contains(test)));
            at = link.before;
        }
    }
}

fn keep_newest(facts: &mut Vec<u32>) {
    let excess = facts.len().saturating_sub(MAX_FACTS);
    facts.drain(..excess);
}

/// Whether an edge leads to a detour: nodes that run and then return to a program point that the
/// graph does not name. Digressions run between turns and do not count.
fn is_detour(edge: &Edge<'_>) -> bool {
    match edge.kind {
        EdgeKind::Checkpoint | EdgeKind::Unhandled => true,
        EdgeKind::Error => edge.decided_by == DecidedBy::Outcome,
        _ => false,
    }
}

/// Whether the runtime or another agent may change a variable at any time.
fn is_external(path: &Path, runtime: &RuntimeNames) -> bool {
    let root = path.root.value.as_str();
    let namespace = path.namespace.as_ref();
    namespace.is_some_and(|n| n.value != "variables")
        // Names of the runtime have no namespace.
        || (namespace.is_none() && runtime.assigns(root, &path.to_smolstr()))
}

/// Whether an expression depends on more than the agent's own variables.
fn is_volatile(expr: &Expr, runtime: &RuntimeNames) -> bool {
    let mut volatile = false;
    expr.visit(&mut |e| {
        volatile |= match &e.kind {
            ExprKind::Path(path) => is_external(path, runtime),
            ExprKind::Call { function: name, .. } => {
                function(&name.value).is_none_or(|f| f.effect != Effect::Pure)
            }
            ExprKind::Method { method, .. } => !methods().iter().any(|m| m.name == method.value),
            ExprKind::Ellipsis => true,
            _ => false,
        };
        Visit::Children
    });
    volatile
}
