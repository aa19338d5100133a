//! Extraction of the variables that a model-led part waits for (`EXIT_WHEN`).
//!
//! The specifications do not define how such a variable gets its value. If no tool, statement or
//! field sets it, only the user can provide it, so the model extracts it from the user's messages.

use super::Run;
use super::conditions::{ConditionKey, condition_key};
use crate::json::from_json;
use crate::model::{Answer, FieldSpec, FieldType, ModelTask, Role};
use crate::session::RuntimeError;
use agentir_expr::TypeKind;
use agentir_flow::cfg::{AgentId, Cfg};
use agentir_ir::{ReasoningZone, SessionVariable};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

/// The variables that the reasoning zones of agents wait for, by the condition that ends the zone.
#[derive(Default)]
pub(super) struct ExitVariables<'p>(
    FxHashMap<(AgentId, ConditionKey<'p>), Vec<&'p SessionVariable>>,
);

impl<'p> ExitVariables<'p> {
    pub(super) fn of(cfg: &Cfg<'p>) -> Self {
        let mut all = FxHashMap::default();
        for (id, part) in (0..).map(AgentId).zip(cfg.agents()) {
            for (exit_when, variables) in cfg.exit_variables(part) {
                all.insert((id, condition_key(exit_when)), variables);
            }
        }
        Self(all)
    }
}

impl<'p> Run<'_, 'p, '_> {
    /// Extracts the variables that a reasoning zone waits for from the user's message.
    pub(super) fn extract_exit_variables(
        &mut self,
        zone: &'p ReasoningZone,
    ) -> Result<(), RuntimeError> {
        let Some(message) = self.input.as_ref().map(|i| i.text.clone()) else { return Ok(()) };
        let Some(exit_when) = &zone.exit_when else { return Ok(()) };
        let Some(agent) = self.agent_id() else { return Ok(()) };
        let key = (agent, condition_key(exit_when));
        let Some(variables) = self.machine.exit_variables.0.get(&key) else { return Ok(()) };
        let fields: Vec<FieldSpec> = variables.iter().map(|v| self.exit_variable_spec(v)).collect();
        let context = self.recent_messages(&message);
        // The model is assumed to have asked for the first unknown variable.
        let spoke = context.iter().any(|m| m.role == Role::Assistant);
        let unknown = |field: &&FieldSpec| self.variable(&field.name).is_none_or(|v| v.is_unset());
        let asked = fields.iter().filter(|_| spoke).find(unknown).map(|field| field.name.clone());
        let task = ModelTask::Extract {
            message,
            context,
            fields: fields.clone(),
            asked,
            known: self.known_values()?,
        };
        let Answer::Values(values) = self.ask_model(task)? else {
            return Err(RuntimeError::new("model_error", "the model returned no values"));
        };
        for field in fields {
            let found = values.get(&field.name).filter(|value| !value.is_null());
            let coerce = found.and_then(|json| super::collect::coerce(json, field.ty));
            if let Some(value) = coerce.and_then(|json| from_json(&json).ok()) {
                self.assign_name(&field.name, value)?;
            }
        }
        self.condition_results.clear();
        Ok(())
    }

    fn exit_variable_spec(&self, variable: &SessionVariable) -> FieldSpec {
        let ty = match variable.ty.as_ref().map(|ty| &ty.kind) {
            Some(TypeKind::Named(name)) => super::prompt::type_named(name),
            _ => match &variable.initial_value {
                Some(Json::Bool(_)) => FieldType::Boolean,
                Some(Json::Number(_)) => FieldType::Number,
                _ => FieldType::Text,
            },
        };
        FieldSpec {
            name: variable.name.value.to_string(),
            ty,
            description: variable
                .description
                .as_ref()
                .map(|text| self.render(text))
                .unwrap_or_default(),
            prompt: None,
            values: indexmap::IndexMap::new(),
            pattern: None,
            format: None,
            rule: None,
            hints: Vec::new(),
            required: false,
        }
    }
}
