//! The state at the beginning of an agent.

use crate::program::AgentAnalysis;
use crate::proof::{FactSource, QueryBuilder};
use agentir_diagnostics::Span;
use agentir_eval::Value;
use agentir_expr::Path;
use agentir_flow::cfg::{EdgeKind, NodeKind};
use agentir_ir::Data;
use agentir_solver::FactKind;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// The values of variables after the first message of the user, as far as they are the same in
/// every conversation: initial values, and unset for fields that have not been collected.
#[derive(Debug, Default)]
pub struct InitialState {
    values: FxHashMap<SmolStr, (Value, Span, String)>,
}

impl InitialState {
    /// Returns the state at the beginning of an agent.
    #[must_use]
    pub fn of(cx: &AgentAnalysis<'_, '_>) -> Self {
        let mut start = Self::default();
        if !cx.starts_fresh() {
            return start;
        }
        for variable in &cx.agent.memory.session {
            let name = &variable.name;
            let (value, message) = match &variable.initial_value {
                None => (Value::Undefined, "it has no value initially".to_owned()),
                Some(data) => match value(data) {
                    Some(value) => {
                        let message = format!("its initial value is `{value}`");
                        (value, message)
                    }
                    None => continue,
                },
            };
            start.values.insert(name.value.clone(), (value, name.span, message));
        }
        for field in cx.index.fields.iter().filter(|f| f.default.is_none()) {
            let name = &field.name;
            start.values.entry(name.value.clone()).or_insert_with(|| {
                (Value::Undefined, name.span, "the user has not been asked for it yet".to_owned())
            });
        }
        let name = cx.agent.metadata.name.value.as_str();
        for given in cx.program.passed.get(name).into_iter().flatten() {
            start.values.remove(*given);
        }
        for path in &cx.agent.memory.persistent {
            start.values.remove(path.path.value.as_str());
        }
        let defined_before_first_wait = defined_before_first_wait(cx);
        start.values.retain(|name, _| !defined_before_first_wait.contains(name));
        start
    }

    /// Whether the value of a variable is known.
    pub fn is_known(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Whether a variable is known to have a value.
    pub fn has_value(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|(value, ..)| !value.is_unset())
    }

    /// Adds the values of these paths to a query as facts.
    pub fn add_to<'a>(
        &self,
        query: &mut QueryBuilder<'_, '_>,
        paths: impl IntoIterator<Item = &'a Path>,
    ) {
        for path in paths {
            if let Some((value, span, message)) = self.values.get(&path.root.value) {
                let of_root = Path { segments: Vec::new(), ..path.clone() };
                query.add_fact(
                    of_root,
                    FactKind::Is(value.clone()),
                    FactSource::at(*span, message.clone()),
                );
                if value.is_unset() && !path.segments.is_empty() {
                    let unset = FactKind::Is(Value::Undefined);
                    query.add_fact(path.clone(), unset, FactSource::at(*span, message.clone()));
                }
            }
        }
    }
}

/// Returns the variables that may be defined between the first message and the first wait, apart
/// from values in the message itself.
fn defined_before_first_wait(cx: &AgentAnalysis<'_, '_>) -> FxHashSet<SmolStr> {
    let mut names = FxHashSet::default();
    let cfg = cx.program.graph();
    let Some(agent_cfg) = cx.agent_cfg() else { return names };
    let waits = |node| cfg.node(node).is_some_and(|n: &agentir_flow::cfg::Node<'_>| n.kind.waits());
    let mut seen = FxHashSet::from_iter([agent_cfg.entry]);
    let mut worklist = vec![agent_cfg.entry];
    while let Some(node) = worklist.pop() {
        if cfg.node(node).is_none_or(|n| n.kind != NodeKind::Collect) {
            let set = cfg.defs(node).iter();
            names.extend(set.map(|access| SmolStr::new(access.variable.root())));
        }
        if waits(node) {
            continue;
        }
        for (next, edge) in cfg.successors(node) {
            if edge.kind != EdgeKind::Enter && seen.insert(next) {
                worklist.push(next);
            }
        }
    }
    names
}

/// The value that a declared initial value has, if it is neither a list nor an object.
#[must_use]
pub fn value(data: &Data) -> Option<Value> {
    Some(match data {
        Data::Null => Value::Null,
        Data::Bool(b) => Value::Bool(*b),
        Data::Number(n) => Value::number(n.as_f64()?).ok()?,
        Data::String(text) => Value::text(text.as_str()),
        _ => return None,
    })
}
