//! What variables begin with.

use super::flow::{Effect, Flow, unknown};
use crate::program::AgentAnalysis;
use crate::values::set::{SourceKind, ValueSet};
use crate::values::state::State;
use agentir_eval::Value;
use agentir_ir::{Data, SessionVariable};
use std::rc::Rc;

impl<'p, 'a> Flow<'p, 'a> {
    pub(super) fn initial_shared(&self, name: &str) -> ValueSet {
        match self.program.variables.get(name) {
            Some(variable) => initial_value(variable),
            None => ValueSet::any(),
        }
    }

    /// What a variable of an agent may hold when the agent begins for the first time, besides what callers pass.
    pub(super) fn initial(&self, cx: &AgentAnalysis<'p, 'a>, name: &str) -> ValueSet {
        let declared = self.declared.get(cx.id.index()).and_then(|all| all.get(name));
        let variable = declared.map(|(variable, _)| *variable);
        let traits = cx.traits();
        let known = cx.program.program.complete || traits.closed_programs;
        let asked = traits.arguments_are_variables
            && self.program.external_defs().chosen.contains(cx.agent.metadata.name.value.as_str());
        match variable {
            _ if declared.is_some_and(|(_, twice)| *twice) || asked => ValueSet::any(),
            // Of an answer it is known what it is declared to be; another agent may pass what is not.
            _ if self.is_field(cx, name) => match self.scope(cx.id).filter(|_| known) {
                Some(scope) => unknown(&cx.value_frame(scope), scope, name),
                None => ValueSet::any(),
            },
            Some(variable) if variable.scope.is_some() || variable.reset.is_some() => {
                ValueSet::any()
            }
            // An agent outside of these files may pass what is declared without a value, and only to say what it is
            // are others declared with one.
            Some(variable) if known || variable.initial_value.is_some() => initial_value(variable),
            Some(_) => ValueSet::any(),
            // What is not declared is nobody else's.
            None => ValueSet::unset(),
        }
    }

    /// Whether an answer of the user may fill a variable before its agent begins.
    fn is_field(&self, cx: &AgentAnalysis<'p, 'a>, name: &str) -> bool {
        let scope = self.scope(cx.id);
        scope.is_some_and(|scope| scope.named(name).is_some_and(|at| scope.fields.contains(&at)))
    }

    /// The initial values of the variables that no node sets and no caller passes.
    pub(super) fn constants(&self) -> Vec<Rc<State>> {
        let mut all: Vec<Vec<ValueSet>> = self
            .scopes
            .iter()
            .map(|scope| match scope.shared {
                true => scope.names.iter().map(|name| self.initial_shared(name)).collect(),
                false => vec![ValueSet::any(); scope.names.len()],
            })
            .collect();
        for cx in &self.agents {
            let at = self.scope_of.get(cx.id.index()).copied().unwrap_or_default();
            let (Some(scope), Some(state)) = (self.scopes.get(at), all.get_mut(at)) else {
                continue;
            };
            if scope.shared {
                continue;
            }
            let agent = cx.agent.metadata.name.value.as_str();
            let passed = self.program.passed.get(agent);
            for (name, set) in scope.names.iter().zip(state) {
                if passed.is_none_or(|passed| !passed.contains(name.as_str())) {
                    *set = self.initial(cx, name);
                }
            }
        }
        for (node, effects) in self.effects.iter().enumerate() {
            let agent = self.node(node).map(|node| node.agent.index());
            let scope = agent.and_then(|agent| self.scope_of.get(agent));
            let Some(state) = scope.and_then(|scope| all.get_mut(*scope)) else { continue };
            for effect in effects.iter() {
                let set = match effect {
                    Effect::All => {
                        state.fill(ValueSet::any());
                        continue;
                    }
                    Effect::Assign(slot, ..)
                    | Effect::Unknown(slot)
                    | Effect::Filled(slot)
                    | Effect::Clear(slot, _)
                    | Effect::Returned(slot, ..) => state.get_mut(*slot),
                };
                if let Some(set) = set {
                    *set = ValueSet::any();
                }
            }
        }
        let all = self.scopes.iter().zip(all);
        all.map(|(scope, sets)| Rc::new(State::new(scope, sets))).collect()
    }
}

fn initial_value(variable: &SessionVariable) -> ValueSet {
    let is_date = variable.ty.as_ref().and_then(|ty| ty.name()).is_some_and(|ty| {
        ["date", "datetime", "timestamp", "time"].contains(&ty.to_lowercase().as_str())
    });
    let set = match &variable.initial_value {
        None | Some(Data::Null) => ValueSet::unset(),
        Some(Data::Bool(value)) => ValueSet::of(Value::Bool(*value)),
        Some(Data::Number(n)) => match n.as_f64().map(Value::number) {
            Some(Ok(value)) => ValueSet::of(value),
            _ => return ValueSet::any(),
        },
        Some(Data::String(text)) if !is_date => ValueSet::of(Value::text(text.as_str())),
        Some(_) => return ValueSet::any(),
    };
    set.resting_on(variable.name.span, SourceKind::Initial)
}
