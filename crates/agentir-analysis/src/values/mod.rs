//! What variables may hold at program points, over the whole program.
//!
//! A forward analysis of the control-flow graph: for each variable whose definitions are all known, the set of values
//! that it may have before and after each node ([`ValueSet`]: a finite set, an interval, whether it may be unset).
//! Assignments are evaluated on sets, the guards of edges narrow them, paths that contradict their guards carry
//! nothing. Values cross steps, hooks, handoffs, delegations and returns. In loops intervals are widened to the
//! constants of the program's conditions, then to infinity.
//!
//! What the user, a tool, the model, a linked source or a statement without an IR form may write is unknown where it is
//! written. Variables that something outside of the graph may write at any time are not followed at all ([`Scope`]).
//! Only variables that a condition reads, or that are copied to one, are followed.
//!
//! In a dialect without shared variables each agent has its own. It begins with its initial values, with what callers
//! pass, or with what it had when it was left. Variables that a detour (an error handler, a check, a digression, the
//! turn around a wait) may set have its values at every point that it may return to.

pub(crate) mod expr;
pub(crate) mod scope;
pub(crate) mod set;
pub(crate) mod state;

pub use scope::Scope;
pub use set::{Known, Range, Source, SourceKind, ValueSet};

use crate::proof::{FactSource, QueryBuilder};
use agentir_diagnostics::Spanned;
use agentir_expr::{Expr, Path};
use agentir_flow::cfg::AgentId;
use agentir_solver::{Bound, FactKind};
use petgraph::graph::NodeIndex;
use smol_str::SmolStr;
use state::State;
use std::rc::Rc;

/// What variables may hold at the nodes of a program.
#[derive(Debug, Default)]
pub struct Values {
    pub(crate) scopes: Vec<Rc<Scope>>,
    /// The scope of each agent, by id.
    pub(crate) scope_of: Vec<usize>,
    /// The initial values of the variables that nothing sets, by scope; of all others nothing is said.
    pub(crate) constants: Vec<Rc<State>>,
    /// The states before and after each node; `None` if nothing reaches it.
    pub(crate) before: Vec<Option<Rc<State>>>,
    pub(crate) after: Vec<Option<Rc<State>>>,
    /// The agents that may begin.
    pub(crate) begun: Vec<bool>,
}

/// When a state is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before the node has any effect.
    Before,
    /// Where the tests on its outgoing edges are made.
    After,
}

impl Values {
    pub(crate) fn state(&self, node: NodeIndex, when: When) -> Option<&Rc<State>> {
        let states = match when {
            When::Before => &self.before,
            When::After => &self.after,
        };
        states.get(node.index())?.as_ref()
    }

    pub(crate) fn scope(&self, agent: AgentId) -> Option<&Rc<Scope>> {
        self.scopes.get(*self.scope_of.get(agent.index())?)
    }

    /// Whether no values of the variables lead to a node of an agent that may begin.
    #[must_use]
    pub fn is_unreached(&self, agent: AgentId, node: NodeIndex) -> bool {
        let begins = self.begun.get(agent.index()).copied().unwrap_or_default();
        begins && self.state(node, When::Before).is_none()
    }

    /// What a variable may hold at a node. `None` if that is not known or nothing reaches the node.
    #[must_use]
    pub fn at(
        &self,
        agent: AgentId,
        node: NodeIndex,
        when: When,
        path: &Path,
    ) -> Option<&ValueSet> {
        let slot = self.scope(agent)?.slot(path)?;
        self.state(node, when)?.get(slot).filter(|set| !set.is_any())
    }

    /// The initial value of a variable that nothing in the program sets.
    #[must_use]
    pub fn constant(&self, agent: AgentId, path: &Path) -> Option<&ValueSet> {
        let scope = self.scope_of.get(agent.index())?;
        let slot = self.scopes.get(*scope)?.slot(path)?;
        self.constants.get(*scope)?.get(slot).filter(|set| !set.is_any())
    }

    /// What the variables of tests may be together at a node, in words.
    pub fn together<'e>(
        &self,
        agent: AgentId,
        (node, when): (NodeIndex, When),
        tests: impl Iterator<Item = &'e Expr>,
    ) -> Vec<FactSource> {
        let (Some(scope), Some(state)) = (self.scope(agent), self.state(node, when)) else {
            return Vec::new();
        };
        let mut read: Vec<(usize, Spanned<SmolStr>)> = Vec::new();
        for test in tests {
            test.paths(&mut |path| {
                let whole = Path { segments: Vec::new(), ..path.clone() };
                if let Some(slot) = scope.slot(&whole)
                    && !read.iter().any(|(known, _)| *known == slot)
                {
                    read.push((slot, whole.root.clone()));
                }
            });
        }
        let mut facts: Vec<FactSource> = Vec::new();
        for (slot, name) in &read {
            let Some(set) = state.get(*slot).filter(|set| !set.is_any()) else { continue };
            let mut fact = source(name, set);
            for (other, with) in &read {
                let pair = scope.pair(*slot, *other).filter(|_| other > slot);
                let words = pair
                    .and_then(|(pair, _)| state.relation(pair)?.words(&name.value, &with.value));
                if let Some(words) = words {
                    fact.message = words;
                }
            }
            facts.push(fact);
        }
        facts
    }

    /// Adds what is known of the variables of an expression at a node to a query.
    pub fn add_to(
        &self,
        query: &mut QueryBuilder<'_, '_>,
        agent: AgentId,
        (node, when): (NodeIndex, When),
        expr: &Expr,
    ) -> bool {
        let mut seen: Vec<SmolStr> = Vec::new();
        let mut any = false;
        expr.paths(&mut |path| {
            let whole = Path { segments: Vec::new(), ..path.clone() };
            if !seen.contains(&whole.root.value)
                && let Some(set) = self.at(agent, node, when, &whole)
            {
                seen.push(whole.root.value.clone());
                for kind in facts(set) {
                    query.add_fact(whole.clone(), kind, source(&whole.root, set));
                    any = true;
                }
            }
        });
        any
    }
}

/// A set as facts for the solver.
fn facts(set: &ValueSet) -> Vec<FactKind> {
    let mut facts = Vec::new();
    match &set.known {
        Known::Values(values) => match values.as_slice() {
            [] => facts.push(FactKind::Is(agentir_eval::Value::Undefined)),
            [only] if !set.unset => facts.push(FactKind::Is(only.clone())),
            many => facts.push(FactKind::OneOf(many.to_vec())),
        },
        Known::Range(range) => {
            let ty = if range.whole {
                agentir_solver::Type::Integer
            } else {
                agentir_solver::Type::Number
            };
            facts.push(FactKind::Type(ty));
            if range.least.is_finite() {
                facts.push(FactKind::AtLeast(Bound::Value, range.least));
            }
            if range.most.is_finite() {
                facts.push(FactKind::AtMost(Bound::Value, range.most));
            }
        }
        Known::Any => {}
    }
    if !set.unset && !matches!(facts.as_slice(), [FactKind::Is(_)]) {
        facts.push(FactKind::Set);
    }
    facts
}

/// What a set rests on, as the source of a fact.
#[must_use]
pub fn source(variable: &Spanned<SmolStr>, set: &ValueSet) -> FactSource {
    let message = |source: &Source| match source.kind {
        SourceKind::Initial => format!("`{}` begins with this", variable.value),
        SourceKind::Assigned => format!("`{}` is set here", variable.value),
        SourceKind::Cleared => format!("`{}` is removed here", variable.value),
        SourceKind::Passed => format!("`{}` is passed here", variable.value),
        SourceKind::Tested => "every path here depends on this test".to_owned(),
    };
    let places = set.sources.iter().map(|source| (source.span, message(source))).collect();
    FactSource {
        span: None,
        message: format!(
            "nothing else can set `{}` on the paths here: it is {set}",
            variable.value
        ),
        on_paths: true,
        places,
    }
}
