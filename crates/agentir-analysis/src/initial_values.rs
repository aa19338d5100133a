//! Initial values that are still in effect.

use crate::dataflow::Dataflow;
use crate::program::AgentAnalysis;
use crate::proof::{FactSource, QueryBuilder};
use agentir_diagnostics::Span;
use agentir_eval::Value;
use agentir_expr::Path;
use agentir_solver::FactKind;
use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The initial values of an agent's variables, where no definition can have reached yet. Only for
/// variables whose definitions are all known, in a complete program in which nobody hands over to
/// the agent: otherwise it may resume with earlier values.
pub struct InitialValues<'a> {
    flow: Option<Dataflow<'a>>,
    found: FxHashMap<SmolStr, Option<InitialValue>>,
}

struct InitialValue {
    value: Value,
    declared: Span,
    /// The nodes at which it may have another value.
    changed: FxHashSet<NodeIndex>,
}

impl<'a> InitialValues<'a> {
    /// Prepares queries about an agent.
    #[must_use]
    pub fn new(cx: &AgentAnalysis<'_, 'a>) -> Self {
        let begins_once = cx.program.program.complete
            && cx.starts_fresh()
            && cx.program.graph().sources(cx.id).next().is_none();
        let declares = cx.agent.memory.session.iter().any(|v| v.initial_value.is_some());
        let flow = if begins_once && declares { cx.dataflow() } else { None };
        Self { flow, found: FxHashMap::default() }
    }

    /// Returns the initial value of a variable and its declaration, if it is still in effect at a
    /// node.
    fn at(&mut self, name: &str, node: NodeIndex) -> Option<(Value, Span)> {
        let flow = self.flow.as_ref().filter(|flow| flow.cfg.node(node).is_some())?;
        if !self.found.contains_key(name) {
            let value = flow.locals.first(name).filter(|value| !value.is_unset());
            let first = value.zip(flow.locals.declared(name)).map(|(value, declared)| {
                InitialValue { value: value.clone(), declared, changed: flow.may_be_set(name) }
            });
            // After an exhausted search any node may define the variable.
            let first = first.filter(|_| !flow.is_exhausted());
            self.found.insert(name.into(), first);
        }
        let first = self.found.get(name)?.as_ref()?;
        (!first.changed.contains(&node)).then(|| (first.value.clone(), first.declared))
    }

    /// Adds the initial values that are in effect at a node to a query. Returns whether there are
    /// any.
    pub fn add_to<'n>(
        &mut self,
        query: &mut QueryBuilder<'_, '_>,
        names: impl IntoIterator<Item = &'n SmolStr>,
        node: NodeIndex,
    ) -> bool {
        let mut any = false;
        for name in names {
            if let Some((value, declared)) = self.at(name, node) {
                let message = format!(
                    "this is its initial value, and nothing on any path here sets it: `{value}`"
                );
                let path =
                    Path::variable(agentir_diagnostics::Spanned::new(name.clone(), declared));
                query.add_fact(path, FactKind::Is(value), FactSource::on_paths(declared, message));
                any = true;
            }
        }
        any
    }
}
