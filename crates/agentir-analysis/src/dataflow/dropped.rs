//! Variables that are dropped at a handoff: the agent has them, the next one needs them, and
//! nothing passes them on.

use super::locals::{Constants, root};
use super::search::Dataflow;
use super::uses::{Consequence, UseCollector};
use crate::symbols::{AgentSymbols, ProgramSymbols};
use crate::variables::first;
use agentir_diagnostics::Span;
use agentir_eval::Value;
use agentir_flow::Cfg;
use agentir_flow::cfg::{AccessKind, AgentId, Origin};
use agentir_ir::{Agent, Delegate, Handoff, RoutingRule, Statement};
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// A variable that an agent needs, with its most harmful read.
type Need = (SmolStr, (Consequence, Span));

/// The variables that are dropped where another agent takes over.
#[derive(Debug, Default)]
pub struct DroppedVariables {
    /// In the order of the graph.
    pub all: Vec<DroppedVariable>,
    /// Pairs of a receiving agent and a variable.
    taken: FxHashSet<(SmolStr, SmolStr)>,
}

/// A variable that this agent has and the next one reads, but does not receive.
#[derive(Debug)]
pub struct DroppedVariable {
    /// Its name.
    pub name: SmolStr,
    /// The agent that takes over.
    pub to: SmolStr,
    /// Whether control returns.
    pub delegated: bool,
    /// The reference to the next agent.
    pub at: Span,
    /// A definition in this agent.
    pub set: Span,
    /// A read in the next agent, and its consequence.
    pub read: (Consequence, Span),
}

impl DroppedVariables {
    /// Whether a variable that an agent reads is dropped on the way to it.
    pub fn takes(&self, agent: &str, name: &str) -> bool {
        !self.taken.is_empty() && self.taken.contains(&(agent.into(), name.into()))
    }

    /// Searches all transfers of a program. `agents` returns its agents in order, each with a
    /// search of its own.
    pub(crate) fn new<'p, 'a: 'p>(
        program: &ProgramSymbols<'a>,
        cfg: &Cfg<'a>,
        agents: impl FnOnce() -> Vec<(AgentSymbols<'p, 'a>, Option<Dataflow<'a>>)>,
    ) -> Self {
        if program.traits().shared_variables || cfg.transfers().iter().all(|t| t.target.is_none()) {
            return Self::default();
        }
        let agents = agents();
        let mut needs: FxHashMap<AgentId, Vec<Need>> = FxHashMap::default();
        let mut always: FxHashMap<(AgentId, SmolStr), AlwaysDefined> = FxHashMap::default();
        let mut passed: FxHashMap<AgentId, Passed<'a>> = FxHashMap::default();
        let mut dropped = Self::default();
        for transfer in cfg.transfers() {
            let (Some(node), Some(target)) = (cfg.node(transfer.node), transfer.target) else {
                continue;
            };
            let agent_cfg = |id: AgentId| {
                let (symbols, flow) = agents.get(id.index())?;
                Some((symbols, flow.as_ref()?))
            };
            let (Some((from, here)), Some((to, there))) =
                (agent_cfg(node.agent), agent_cfg(target))
            else {
                continue;
            };
            if node.agent == target {
                continue;
            }
            if !here.spend(1) {
                continue;
            }
            let passed = passed.entry(node.agent).or_insert_with(|| Passed::new(from.agent));
            let given = passed.to(transfer.to, node.origin);
            for (name, read) in needs.entry(target).or_insert_with(|| needed(to, there)) {
                if given.contains(name.as_str()) {
                    continue;
                }
                let has = always
                    .entry((node.agent, name.clone()))
                    .or_insert_with(|| AlwaysDefined::new(here, name));
                // A condition on the variable is only true where it is set.
                let tested = || has.reaches(transfer.node) && is_tested(cfg, node, name);
                let here = has.at(transfer.node) || tested();
                let Some(set) = has.set.filter(|_| here) else { continue };
                let delegated = transfer.returns.is_some();
                let (name, to) = (name.clone(), SmolStr::new(transfer.to));
                dropped.all.push(DroppedVariable {
                    name,
                    to,
                    delegated,
                    at: transfer.span,
                    set,
                    read: *read,
                });
            }
        }
        let mut seen = FxHashSet::default();
        dropped.all.retain(|l| seen.insert((l.at, l.name.clone())));
        dropped.taken = dropped.all.iter().map(|l| (l.to.clone(), l.name.clone())).collect();
        dropped
    }
}

/// Whether the condition of a transfer is only true if a variable has a value.
fn is_tested(cfg: &Cfg<'_>, node: &agentir_flow::cfg::Node<'_>, name: &str) -> bool {
    let condition = match node.origin {
        Origin::Handoff(handoff) => handoff.when.as_ref(),
        Origin::Delegate(delegate) => delegate.when.as_ref(),
        Origin::Rule(rule) => rule.when.as_ref(),
        _ => None,
    };
    let Some(expr) = condition.and_then(agentir_expr::Condition::expr) else { return false };
    let dialect = cfg.agent(node.agent).map(|agent| agent.agent.metadata.dialect);
    let parts = match &expr.kind {
        agentir_expr::ExprKind::And(parts) => parts.as_slice(),
        _ => std::slice::from_ref(expr),
    };
    parts.iter().any(|part| {
        let mut reads = false;
        let mut others = false;
        part.paths(&mut |path| {
            let own = path.root.value == name && path.namespace.is_none();
            reads |= own;
            others |= !own;
        });
        let unset = agentir_eval::State::new();
        reads
            && !others
            && dialect.is_some_and(|dialect| {
                agentir_eval::outcome(part, &unset, dialect) != agentir_eval::Outcome::True
            })
    })
}

/// The nodes at which a variable is definitely set.
#[derive(Debug)]
struct AlwaysDefined {
    reached: FxHashSet<NodeIndex>,
    without: FxHashSet<NodeIndex>,
    /// The nodes that a definition reaches.
    with: FxHashSet<NodeIndex>,
    /// The first definition.
    set: Option<Span>,
}

impl AlwaysDefined {
    fn new(flow: &Dataflow<'_>, name: &str) -> Self {
        let sets = |node: NodeIndex| {
            flow.defs(node)
                .iter()
                .find(|a| a.kind == AccessKind::Def && a.definite && root(a) == name)
                .filter(|_| !flow.kills(node, name))
        };
        let set = flow.nodes().find_map(|node| Some(sets(node)?.variable.span));
        let mut without = FxHashSet::default();
        if let Some(agent_cfg) = flow.cfg.agent(flow.agent).filter(|_| set.is_some()) {
            let cleared = flow.nodes().filter(|n| flow.kills(*n, name));
            let mut worklist: Vec<NodeIndex> =
                std::iter::once(agent_cfg.entry).chain(cleared).collect();
            without.extend(worklist.iter().copied());
            while let Some(node) = worklist.pop() {
                if sets(node).is_some() {
                    continue;
                }
                let next = flow.next(node).map(|(_, to, _)| to);
                worklist.extend(next.filter(|to| without.insert(*to)));
            }
        }
        let reached = if set.is_some() { reached(flow) } else { FxHashSet::default() };
        let mut with = FxHashSet::default();
        let mut worklist: Vec<NodeIndex> =
            flow.nodes().filter(|node| set.is_some() && sets(*node).is_some()).collect();
        while let Some(node) = worklist.pop() {
            if with.insert(node) && !flow.kills(node, name) {
                worklist.extend(flow.next(node).map(|(_, to, _)| to));
            }
        }
        Self { reached, without, with, set }
    }

    /// Whether a definition may reach a node.
    fn reaches(&self, node: NodeIndex) -> bool {
        self.with.contains(&node)
    }

    fn at(&self, node: NodeIndex) -> bool {
        self.reached.contains(&node) && !self.without.contains(&node)
    }
}

/// Returns the nodes that are reachable from the agent's entry. [`agentir_flow::Cfg::reachable_in`]
/// would allocate a set for the whole agent.
fn reached(flow: &Dataflow<'_>) -> FxHashSet<NodeIndex> {
    let mut worklist: Vec<NodeIndex> =
        flow.cfg.agent(flow.agent).map(|p| p.entry).into_iter().collect();
    let mut found: FxHashSet<NodeIndex> = worklist.iter().copied().collect();
    while let Some(node) = worklist.pop() {
        let next = flow.next(node).map(|(_, to, _)| to);
        worklist.extend(next.filter(|to| found.insert(*to)));
    }
    found
}

/// Returns the variables that an agent reads and that nothing of its own can have set.
fn needed<'a>(cx: &AgentSymbols<'_, 'a>, flow: &Dataflow<'a>) -> Vec<Need> {
    let agent = cx.agent;
    let variables = cx.variables;
    let arguments = agent.metadata.dialect.traits().arguments_are_variables;
    let initial: FxHashSet<&str> = agent
        .memory
        .session
        .iter()
        .filter(|v| v.initial_value.is_some())
        .map(|v| first(&v.name.value))
        .chain(agent.memory.state.iter().map(|v| first(&v.name.value)))
        .chain(cx.index.fields.iter().filter(|_| !arguments).map(|f| f.name.value.as_str()))
        .chain(agent.attachments.iter().map(|a| a.name.value.as_str()))
        .collect();
    let its_own = |name: &str| {
        initial.contains(name)
            || [&variables.roots, &variables.returned, &variables.results, &variables.labels]
                .iter()
                .any(|set| set.contains(name))
            || variables.runtime.defines(name)
            || name.starts_with('@')
            || cx.index.writes.iter().any(|(written, _)| first(&written.value) == name)
            || cx.index.sets.iter().any(|s| s.target.root.value == name)
    };
    let reached = reached(flow);
    let mut names: Vec<SmolStr> = flow
        .nodes()
        .filter(|node| reached.contains(node))
        .flat_map(|node| flow.cfg.accesses(node).iter().filter(|a| a.kind == AccessKind::Use))
        .map(|a| SmolStr::new(root(a)))
        .collect();
    names.sort();
    names.dedup();
    // In ADL only declared arguments can be passed.
    let declared: FxHashSet<&str> =
        agent.gather.fields.iter().map(|f| f.name.value.as_str()).collect();
    names.retain(|name| {
        !name.is_empty() && !its_own(name) && (!arguments || declared.contains(name.as_str()))
    });
    let use_sites = UseCollector::places(flow, &|tool| cx.tool(tool));
    let mut found = Vec::new();
    for name in names {
        let constants = Constants::from_iter([(name.clone(), Value::Undefined)]);
        let unset = flow.undefined_with(&name, constants);
        let mut reads: Vec<(usize, (Consequence, Span))> = Vec::new();
        for node in use_sites.get(&name).into_iter().flatten().map(|site| site.node) {
            let Some(constants) = unset.at(node) else { continue };
            let path = unset.path_to(&flow.cfg, node).len();
            let all = UseCollector::at(flow, node, &name, constants, &|tool| cx.tool(tool));
            reads.extend(all.into_iter().map(|read| (path, read)));
        }
        reads.sort_by_key(|(path, (consequence, span))| (*consequence, *path, span.start));
        if let Some((_, read)) = reads.first() {
            found.push((name, *read));
        }
    }
    found
}

/// What an agent passes to others, by who takes over.
#[derive(Debug, Default)]
struct Passed<'a> {
    /// By the location of a handoff and of the agent in it.
    at_handoff: FxHashMap<(Span, Span), Vec<&'a Handoff>>,
    at_delegate: FxHashMap<(Span, Span), Vec<&'a Delegate>>,
    /// By the name of the agent that takes over.
    handoffs: FxHashMap<&'a str, Vec<&'a Handoff>>,
    delegates: FxHashMap<&'a str, Vec<&'a Delegate>>,
    rules: FxHashMap<&'a str, Vec<&'a RoutingRule>>,
}

impl<'a> Passed<'a> {
    fn new(from: &'a Agent) -> Self {
        let aliases = from.aliases();
        let mut passed = Self::default();
        for handoff in &from.coordination.handoffs {
            passed.at_handoff.entry((handoff.span, handoff.to.span)).or_default().push(handoff);
            passed
                .handoffs
                .entry(aliases.resolve(&handoff.to).value.as_str())
                .or_default()
                .push(handoff);
        }
        for delegate in &from.coordination.delegates {
            let at = (delegate.span, delegate.agent.span);
            passed.at_delegate.entry(at).or_default().push(delegate);
            passed
                .delegates
                .entry(aliases.resolve(&delegate.agent).value.as_str())
                .or_default()
                .push(delegate);
        }
        for rule in from.routing.iter().flat_map(|routing| &routing.rules) {
            if let Some(to) = &rule.to {
                passed.rules.entry(aliases.resolve(to).value.as_str()).or_default().push(rule);
            }
        }
        passed
    }

    /// The variables that a transfer passes to an agent: its own or, if it has none, those of the declaration for
    /// that agent.
    fn to(&self, to: &str, origin: Origin<'a>) -> FxHashSet<&'a str> {
        let (handoffs, delegates) = match origin {
            Origin::Handoff(own) => (self.at_handoff.get(&(own.span, own.to.span)), None),
            Origin::Delegate(own) => (None, self.at_delegate.get(&(own.span, own.agent.span))),
            _ => (self.handoffs.get(to), self.delegates.get(to)),
        };
        let mut all: FxHashSet<&str> = FxHashSet::default();
        for handoff in handoffs.into_iter().flatten() {
            let context = &handoff.context;
            all.extend(context.pass.iter().map(|p| first(&p.name.value)));
            all.extend(context.set.iter().map(|s| s.target.root.value.as_str()));
            all.extend(context.bindings.iter().map(|b| b.variable.value.as_str()));
            all.extend(context.memory_grants.iter().map(|g| first(&g.path.value)));
            // The model may extract it from the summary.
            if let Some(summary) = &context.summary {
                summary.exprs(&mut |e| {
                    crate::variables::roots(e, &mut |name, _| {
                        all.insert(&name.value);
                    });
                });
            }
        }
        let inputs = delegates.into_iter().flatten().flat_map(|d| &d.input);
        all.extend(inputs.map(|(name, _)| name.value.as_str()));
        let rules = self.rules.get(to).into_iter().flatten();
        all.extend(rules.flat_map(|r| &r.pass).map(|name| first(&name.value)));
        if let Origin::Statement(Statement::Delegate(d) | Statement::Handoff(d)) = origin {
            all.extend(d.bindings.iter().map(|b| b.variable.value.as_str()));
        }
        all
    }
}
