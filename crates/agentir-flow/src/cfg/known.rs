//! What is known at a place: the tests and assignments that every way there passes, and that nothing
//! on the way since can have undone.

use super::access::Variable;
use super::{AgentId, Cfg, DecidedBy, Edge, Element, Literal, NodeKind, Part, Test, Why};
use agentir_diagnostics::Spanned;
use agentir_expr::{
    Effect, Expr, ExprKind, Name, Path, Visit, function, methods, system_namespace, system_variable,
};
use agentir_ir::{SetVariable, Statement};
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::{SmolStr, ToSmolStr};
use std::collections::VecDeque;

/// At most so many things are kept in mind at a place, the latest; so time grows linearly.
const MOST: usize = 48;

/// Something that holds at a place, whichever way leads there.
#[derive(Debug, Clone, Copy)]
pub enum Known<'a> {
    /// A test came out so.
    Test(Literal<'a>),
    /// A variable was set to a constant.
    Value(&'a SetVariable),
    /// A variable was removed.
    Cleared(&'a Spanned<Name>),
}

/// What is known at the places of an agent.
#[derive(Debug, Default)]
pub struct Knowledge<'a> {
    facts: Vec<Fact<'a>>,
    /// By node, as far as one comes there: what is known when the tests on the ways out are made.
    at: ByNode<Vec<u32>>,
}

/// Something of each node of an agent that there is anything of.
#[derive(Debug)]
struct ByNode<T> {
    /// The first node of the agent; the others follow it.
    first: usize,
    all: Vec<Option<T>>,
}

impl<T> Default for ByNode<T> {
    fn default() -> Self {
        Self { first: 0, all: Vec::new() }
    }
}

impl<T> ByNode<T> {
    fn new(part: &Part<'_>) -> Self {
        let range = part.range();
        Self { first: range.start, all: range.map(|_| None).collect() }
    }

    fn get(&self, node: NodeIndex) -> Option<&T> {
        self.all.get(node.index().checked_sub(self.first)?)?.as_ref()
    }

    /// What there is of a node; `None` if it is another agent's.
    fn slot(&mut self, node: NodeIndex) -> Option<&mut Option<T>> {
        self.all.get_mut(node.index().checked_sub(self.first)?)
    }

    fn insert(&mut self, node: NodeIndex, what: T) {
        if let Some(slot) = self.slot(node) {
            *slot = Some(what);
        }
    }
}

impl<'a> Knowledge<'a> {
    /// What is known at a node when the tests on the ways out of it are made, the oldest first.
    pub fn at(&self, node: NodeIndex) -> impl Iterator<Item = Known<'a>> + '_ {
        let known = self.at.get(node).into_iter().flatten();
        known.filter_map(|fact| self.facts.get(*fact as usize)).map(|fact| fact.known)
    }

    /// Whether some way leads there from the beginning of the agent.
    #[must_use]
    pub fn reaches(&self, node: NodeIndex) -> bool {
        self.at.get(node).is_some()
    }
}

#[derive(Debug)]
struct Fact<'a> {
    known: Known<'a>,
    reads: Vec<Read>,
    /// Whether it depends on more than variables of the agent's own: what the user said, the time, the
    /// judgement of the model.
    fragile: bool,
}

/// A variable, or a part of one, that something depends on.
#[derive(Debug)]
struct Read {
    variable: Variable,
    /// The variable that it is a part of.
    root: SmolStr,
}

impl From<Variable> for Read {
    fn from(variable: Variable) -> Self {
        Self { root: SmolStr::new(variable.root()), variable }
    }
}

/// What a node does to what is known.
#[derive(Debug, Default)]
struct Effects<'c> {
    /// Nothing stays known.
    all: bool,
    /// The user speaks, and the agent does what it does in every turn.
    turn: bool,
    /// A tool runs, checks are made, handlers look after what went wrong.
    aside: bool,
    /// Variables that are set or removed.
    changes: Vec<&'c Variable>,
    /// What is known because of the node itself.
    adds: Vec<u32>,
}

struct Search<'c, 'a> {
    cfg: &'c Cfg<'a>,
    part: &'c Part<'a>,
    facts: Vec<Fact<'a>>,
    /// Facts by the place in memory of what they come from, and whether it holds.
    numbers: FxHashMap<(usize, bool), u32>,
    /// The variables that may change between two turns of a flow.
    between: FxHashSet<&'c str>,
    /// Those that may change in what is done aside and comes back to where it was.
    aside: FxHashSet<&'c str>,
    effects: ByNode<Effects<'c>>,
}

impl<'a> Cfg<'a> {
    /// What is known at the places of an agent whichever way leads there, without asking what
    /// conditions mean. Takes time in proportion to the graph.
    #[must_use]
    pub fn known(&self, agent: AgentId) -> Knowledge<'a> {
        let Some(part) = self.part(agent) else { return Knowledge::default() };
        let mut search = Search {
            cfg: self,
            part,
            facts: Vec::new(),
            numbers: FxHashMap::default(),
            between: FxHashSet::default(),
            aside: FxHashSet::default(),
            effects: ByNode::new(part),
        };
        search.prepare();
        search.run()
    }
}

fn same<T>(thing: &T) -> usize {
    std::ptr::from_ref(thing) as usize
}

impl<'c, 'a> Search<'c, 'a> {
    fn own(&self, node: NodeIndex) -> bool {
        self.part.range().contains(&node.index())
    }

    fn fact(&mut self, known: Known<'a>) -> Option<u32> {
        let key = match known {
            Known::Test(Literal { test: Test::Condition(c), holds }) => (same(c), holds),
            Known::Test(Literal { test: Test::Expr(e), holds }) => (same(e), holds),
            Known::Value(set) => (same(set), true),
            Known::Cleared(name) => (same(name), true),
        };
        if let Some(number) = self.numbers.get(&key) {
            return Some(*number);
        }
        let mut fact = Fact { known, reads: Vec::new(), fragile: false };
        match known {
            Known::Test(literal) => match literal.test.expr() {
                Some(expr) => {
                    expr.paths(&mut |path| fact.reads.push(Variable::of(path).into()));
                    fact.fragile = is_fragile(expr);
                }
                None => fact.fragile = true,
            },
            Known::Value(set) => {
                fact.reads.push(Variable::of(&set.target).into());
                fact.fragile = is_foreign(&set.target);
            }
            Known::Cleared(name) => fact.reads.push(Variable::named(name).into()),
        }
        let number = u32::try_from(self.facts.len()).ok()?;
        self.facts.push(fact);
        self.numbers.insert(key, number);
        Some(number)
    }

    fn prepare(&mut self) {
        let (cfg, part): (&'c Cfg<'a>, &'c Part<'a>) = (self.cfg, self.part);
        // What the user says may fill these at any time.
        let fields = part.agent.gather.fields.iter().map(|f| f.name.value.as_str());
        self.between.extend(fields);
        let flow = part.agent.flow.is_some();
        let aside = self.aside();
        for node in part.nodes() {
            let Some(at) = cfg.node(node).copied() else { continue };
            let mut effects = Effects {
                changes: cfg.changes(node).iter().map(|access| &access.variable).collect(),
                ..Effects::default()
            };
            let names = effects.changes.iter().map(|v| v.root());
            if aside.contains(&node) {
                self.aside.extend(names.clone());
            }
            // In a later turn a flow goes on where it was, after what the agent does in every turn.
            if at.kind == NodeKind::Collect || at.step.is_none() {
                self.between.extend(names);
            }
            effects.all = match at.kind {
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
            effects.aside =
                at.kind == NodeKind::Call || cfg.graph.edges(node).any(|e| is_aside(e.weight()));
            match at.element {
                Element::Set(set) | Element::Statement(Statement::Set(set))
                    if at.kind == NodeKind::Set
                        && matches!(set.value.kind, ExprKind::Literal(_)) =>
                {
                    effects.adds.extend(self.fact(Known::Value(set)));
                }
                Element::Statement(Statement::Clear { variables }) => {
                    for name in variables {
                        effects.adds.extend(self.fact(Known::Cleared(name)));
                    }
                }
                _ => {}
            }
            self.effects.insert(node, effects);
        }
    }

    /// The nodes at which something is done aside: it comes back to a place that the graph does not
    /// name.
    fn aside(&self) -> FxHashSet<NodeIndex> {
        let mut waiting: Vec<NodeIndex> = self
            .part
            .nodes()
            .flat_map(|n| self.cfg.graph.edges(n))
            .filter(|e| is_aside(e.weight()))
            .map(|e| e.target())
            .collect();
        let mut found = FxHashSet::default();
        while let Some(node) = waiting.pop() {
            let stops = self.cfg.node(node).is_none_or(|n| {
                n.kind.waits()
                    || matches!(
                        n.kind,
                        NodeKind::Resume | NodeKind::Choose | NodeKind::TurnEnd | NodeKind::Step
                    )
            });
            if !stops && self.own(node) && found.insert(node) {
                waiting.extend(self.cfg.graph.edges(node).map(|e| e.target()));
            }
        }
        found
    }

    fn run(mut self) -> Knowledge<'a> {
        let (cfg, entry) = (self.cfg, self.part.entry);
        let mut before: ByNode<Vec<u32>> = ByNode::new(self.part);
        let mut after: ByNode<Vec<u32>> = ByNode::new(self.part);
        let mut queued: ByNode<()> = ByNode::new(self.part);
        before.insert(entry, Vec::new());
        let mut waiting = VecDeque::from([entry]);
        queued.insert(entry, ());
        let mut tests = Vec::new();
        while let Some(node) = waiting.pop_front() {
            queued.slot(node).map(Option::take);
            let Some(known) = before.get(node) else { continue };
            let out = self.passes(node, known);
            for edge in cfg.graph.edges_directed(node, Direction::Outgoing) {
                let (to, edge) = (edge.target(), edge.weight());
                let Some(slot) = before.slot(to).filter(|_| edge.why != Why::Enter) else {
                    continue;
                };
                let changed = match slot {
                    // Nothing is left that could be forgotten.
                    Some(known) if known.is_empty() => false,
                    Some(known) => {
                        self.tested(edge, &mut tests);
                        let had = known.len();
                        known.retain(|fact| out.contains(fact) || tests.contains(fact));
                        known.len() < had
                    }
                    None => {
                        self.tested(edge, &mut tests);
                        let mut reached = Vec::with_capacity(out.len() + tests.len());
                        reached.extend_from_slice(&out);
                        reached.extend(tests.iter().rev().filter(|test| !out.contains(test)));
                        keep_latest(&mut reached);
                        *slot = Some(reached);
                        true
                    }
                };
                if changed && queued.slot(to).is_some_and(|slot| slot.replace(()).is_none()) {
                    waiting.push_back(to);
                }
            }
            after.insert(node, out);
        }
        // The model chooses among what is offered before it changes anything.
        for node in self.part.nodes() {
            if cfg.node(node).is_some_and(|n| n.kind == NodeKind::Choose)
                && let Some(known) = before.slot(node).and_then(Option::take)
            {
                after.insert(node, known);
            }
        }
        Knowledge { facts: self.facts, at: after }
    }

    /// What is still known behind a node.
    fn passes(&self, node: NodeIndex, known: &[u32]) -> Vec<u32> {
        let Some(effects) = self.effects.get(node).filter(|e| !e.all) else { return Vec::new() };
        let stays = |fact: &Fact<'a>| {
            let changes = |names: &FxHashSet<&str>| {
                fact.reads.iter().any(|v| names.contains(v.root.as_str()))
            };
            !((effects.turn || effects.aside) && (fact.fragile || changes(&self.aside)))
                && !(effects.turn && changes(&self.between))
                && !fact
                    .reads
                    .iter()
                    .any(|v| effects.changes.iter().any(|c| c.touches(&v.variable)))
        };
        let mut out: Vec<u32> = known
            .iter()
            .copied()
            .filter(|fact| self.facts.get(*fact as usize).is_some_and(stays))
            .chain(effects.adds.iter().copied())
            .collect();
        keep_latest(&mut out);
        out
    }

    /// What an edge tests, the last first.
    fn tested(&mut self, edge: &Edge<'a>, tests: &mut Vec<u32>) {
        tests.clear();
        let mut at = edge.guard;
        while tests.len() < MOST
            && let Some(link) =
                at.0.checked_sub(1).and_then(|index| self.cfg.links.get(index as usize))
        {
            let test = self.fact(Known::Test(link.literal));
            tests.extend(test.filter(|test| !tests.contains(test)));
            at = link.before;
        }
    }
}

fn keep_latest(known: &mut Vec<u32>) {
    let most = known.len().saturating_sub(MOST);
    known.drain(..most);
}

/// Whether an edge leads to something that is done aside. What the user wants besides is done
/// between turns.
fn is_aside(edge: &Edge<'_>) -> bool {
    match edge.why {
        Why::Checkpoint | Why::Unhandled => true,
        Why::Error => edge.decided_by == DecidedBy::Outcome,
        _ => false,
    }
}

/// Whether a variable is not the agent's own: the runtime or somebody else may change it at any time.
fn is_foreign(path: &Path) -> bool {
    let root = path.root.value.as_str();
    let namespace = path.namespace.as_ref();
    namespace.is_some_and(|n| n.value != "variables")
        || system_namespace(root).is_some()
        || root == "user"
        // None of the runtime's variables is written with a namespace.
        || (namespace.is_none() && system_variable(&path.to_smolstr()).is_some())
}

/// Whether an expression depends on more than variables of the agent's own.
fn is_fragile(expr: &Expr) -> bool {
    let mut fragile = false;
    expr.visit(&mut |e| {
        fragile |= match &e.kind {
            ExprKind::Path(path) => is_foreign(path),
            ExprKind::Call { function: name, .. } => {
                function(&name.value).is_none_or(|f| f.effect != Effect::Pure)
            }
            ExprKind::Method { method, .. } => !methods().iter().any(|m| m.name == method.value),
            ExprKind::Ellipsis => true,
            _ => false,
        };
        Visit::Children
    });
    fragile
}
