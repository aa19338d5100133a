//! Collecting fields (ABL, current specification, 3.6 and 3.14.2).

use super::{Next, NodeResult, Run, index, leads_onward};
use crate::json::{from_json, to_json};
use crate::model::{Answer, FieldSpec, FieldType, ModelTask, Role};
use crate::session::RuntimeError;
use agentir_eval::{Value, evaluate, pattern, truthy};
use agentir_expr::{ExprKind, Visit};
use agentir_flow::cfg::{EdgeKind, NodeKind, Origin};
use agentir_ir::{
    Activation, BindingAction, Collect, Gather, GatherField, Statement, ToolBinding, Validation,
};
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::Value as Json;

/// How often the user is asked again after a rejected value, unless the field defines it.
const MAX_RETRIES: u32 = 3;

/// The fields to collect at a node.
#[derive(Clone, Copy)]
struct CollectRequest<'p> {
    gather: &'p Gather,
    /// A subset of the fields; all of them if empty.
    only: &'p [agentir_diagnostics::Spanned<agentir_expr::Name>],
    collect: Option<&'p Collect>,
}

impl<'p> CollectRequest<'p> {
    fn fields(self) -> impl Iterator<Item = &'p GatherField> {
        self.gather.fields.iter().filter(move |f| {
            self.only.is_empty() || self.only.iter().any(|o| o.value == f.name.value)
        })
    }
}

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn collect(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        let agent = self.agent()?;
        let asking = match element {
            Origin::Statement(Statement::Collect(collect)) => {
                CollectRequest { gather: &collect.gather, only: &[], collect: Some(collect) }
            }
            Origin::Failure(failure) => {
                // Fields named by `COLLECT` after a failed constraint are collected again even if
                // they have values.
                if !self.progress.input_unread
                    && !self.frame().ask_counts.contains_key(&index(at.index()))
                {
                    for name in &failure.collect_fields {
                        self.clear(&name.value);
                    }
                }
                CollectRequest {
                    gather: &agent.gather,
                    only: &failure.collect_fields,
                    collect: None,
                }
            }
            _ => CollectRequest { gather: &agent.gather, only: &[], collect: None },
        };
        let led_by_model = matches!(element, Origin::Agent(_));
        let mut refused = None;
        if led_by_model || self.progress.input_unread {
            if self.progress.input_unread {
                if let Some(edge) = self.interruption_edge(at)? {
                    return Ok(Next::Take(edge));
                }
                self.consume_input();
            }
            let agent = self.session.agent().unwrap_or_default();
            refused = match self
                .progress
                .extracted_ahead
                .take_if(|(who, _)| led_by_model && who == agent)
            {
                Some((_, refused)) => refused,
                // The model fills variables through an exposed tool, subject to its guard.
                None if led_by_model && self.traits().model_acts_by_tools => None,
                None => self.extract(asking)?,
            };
        }
        // If the model leads, it asks the questions; the fields are only filled from the user's
        // messages.
        if led_by_model {
            if let Some(message) = refused {
                self.frame().notes.push(message);
            }
            self.update_all_fields_gathered()?;
            return match self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Return)? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        }
        self.ask_for(at, asking, refused)
    }

    /// Asks for missing fields, or continues.
    fn ask_for(
        &mut self,
        at: NodeIndex,
        asking: CollectRequest<'p>,
        refused: Option<String>,
    ) -> NodeResult {
        let complete = match asking.collect.and_then(|c| c.complete_when.as_ref()) {
            Some(when) => {
                self.condition_results.clear();
                self.condition(when)?
            }
            None => false,
        };
        let missing = self.missing_of(asking)?;
        if complete
            || (missing.is_empty() && asking.collect.is_none_or(|c| c.complete_when.is_none()))
        {
            self.update_all_fields_gathered()?;
            self.reset_attempts(at);
            return match self.pick_edge(at, |edge, to| leads_onward(edge.kind) && to != at)? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        }
        let key = index(at.index());
        let times = *self.frame().ask_counts.entry(key).and_modify(|n| *n += 1).or_insert(1);
        let limit = self.node(at)?.step.and_then(|s| s.max_attempts).map(|n| n.0);
        let failed = self.outgoing_edges(at).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Error
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind != NodeKind::Error)
        });
        if limit.is_some_and(|limit| f64::from(times) > limit) || self.retries_exhausted(asking) {
            self.reset_attempts(at);
            return match failed {
                Some((edge, ..)) => Ok(Next::Take(edge)),
                None => {
                    Err(RuntimeError::new("validation_error", "the fields could not be collected"))
                }
            };
        }
        if times > 1 {
            let count = self.session.variable("_clarification_count").and_then(|c| c.as_f64());
            self.session
                .set_system("_clarification_count", &Json::from(count.unwrap_or(0.0) + 1.0));
        }
        self.expect_answer_for(missing.first());
        let question = refused.unwrap_or_else(|| self.question(asking, &missing));
        self.say(&question, None);
        self.end_turn_at(at)
    }

    /// Records which field the user is about to be asked for, as the answer may have to be masked
    /// in traces.
    pub(super) fn expect_answer_for(&mut self, field: Option<&FieldSpec>) {
        let confidential = field.is_some_and(|field| self.is_sensitive(&field.name));
        self.frame().confidential = confidential;
    }

    /// If the model leads, corrections by the user are extracted before the constraints are
    /// checked, which would otherwise reject the old value forever. Only done if a constraint that
    /// applies to every turn reads a field.
    pub(super) fn extract_ahead(&mut self) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        let field = |path: &agentir_expr::Path| {
            agent.gather.fields.iter().any(|field| field.name.value == path.root.value)
        };
        let speaks = |condition: &agentir_expr::Condition| {
            let mut speaks = false;
            if let Some(expr) = condition.expr() {
                expr.visit(&mut |e| {
                    speaks |= matches!(&e.kind, ExprKind::Path(path) if field(path));
                    Visit::Children
                });
            }
            speaks
        };
        let mut checks = agent.constraints.constraints.iter().filter(|c| c.checkpoint.is_none());
        if agent.flow.is_some() || !checks.any(|c| speaks(&c.condition)) {
            return Ok(());
        }
        let refused =
            self.extract(CollectRequest { gather: &agent.gather, only: &[], collect: None })?;
        self.condition_results.clear();
        self.progress.extracted_ahead = Some((agent.metadata.name.value.to_string(), refused));
        Ok(())
    }

    fn reset_attempts(&mut self, at: NodeIndex) {
        let frame = self.frame();
        frame.ask_counts.remove(&index(at.index()));
        frame.rejections.clear();
    }

    fn retries_exhausted(&mut self, asking: CollectRequest<'p>) -> bool {
        asking.fields().any(|field| {
            let most = field
                .validation
                .as_ref()
                .and_then(|v| v.max_retries)
                .map_or(f64::from(MAX_RETRIES), |n| n.0);
            let times =
                self.frame().rejections.get(field.name.value.as_str()).copied().unwrap_or(0);
            f64::from(times) > most
        })
    }

    /// The question for the first missing field, or for all fields at once.
    fn question(&self, asking: CollectRequest<'p>, missing: &[FieldSpec]) -> String {
        let all = asking
            .gather
            .prompt
            .as_ref()
            .map(|p| self.render(p))
            .or_else(|| self.message(asking.gather.message_key.as_ref()?.value.as_str()));
        if let Some(all) = all
            && asking.fields().count() == missing.len()
        {
            return all;
        }
        let Some(first) = missing.first() else {
            return "Could you tell me more?".to_owned();
        };
        first.prompt.clone().unwrap_or_else(|| {
            let name = first.name.replace('_', " ");
            if first.description.is_empty() {
                format!("Please tell me: {name}.")
            } else {
                format!("Please tell me: {}.", first.description.trim_end_matches('.'))
            }
        })
    }

    /// The fields still to be collected, in order.
    fn missing_of(&mut self, asking: CollectRequest<'p>) -> Result<Vec<FieldSpec>, RuntimeError> {
        let agent = self.agent()?;
        let fields: Vec<&GatherField> = asking.fields().collect();
        let mut missing = Vec::new();
        for field in fields {
            if self.has_value(&field.name.value) || !self.must_ask(field)? {
                continue;
            }
            if let Some(default) = &field.default {
                if let Ok(value) = from_json(default) {
                    self.assign_name(&field.name.value, value)?;
                }
                continue;
            }
            missing.push(self.field_spec(agent, field));
        }
        Ok(missing)
    }

    pub(super) fn missing_fields(&mut self) -> Result<Vec<FieldSpec>, RuntimeError> {
        let agent = self.agent()?;
        self.missing_of(CollectRequest { gather: &agent.gather, only: &[], collect: None })
    }

    /// The fields without a value that the agent takes if the user gives them, but does not have to collect.
    pub(super) fn optional_fields(&mut self) -> Result<Vec<FieldSpec>, RuntimeError> {
        let agent = self.agent()?;
        let mut optional = Vec::new();
        for field in &agent.gather.fields {
            let by_user = !matches!(field.satisfied_by, Some("authoritative_tool" | "system"));
            if by_user && !self.has_value(&field.name.value) && !self.must_ask(field)? {
                optional.push(self.field_spec(agent, field));
            }
        }
        Ok(optional)
    }

    /// Whether a field has to be collected, according to its activation.
    fn must_ask(&mut self, field: &'p GatherField) -> Result<bool, RuntimeError> {
        if field.prompt_mode == Some("extract_only")
            || matches!(field.satisfied_by, Some("authoritative_tool" | "system"))
        {
            return Ok(false);
        }
        let there = field.depends_on.iter().all(|name| self.has_value(&name.value));
        Ok(match &field.activation {
            Some(Activation::Optional) => false,
            Some(Activation::Progressive) => there && !field.depends_on.is_empty(),
            Some(Activation::When { when }) => there && self.condition(when)?,
            Some(Activation::Required) => there,
            None => (field.required || field.default.is_some()) && there,
        })
    }

    fn has_value(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    /// Extracts values from the user's message. Returns the message about a rejected value.
    fn extract(&mut self, asking: CollectRequest<'p>) -> Result<Option<String>, RuntimeError> {
        let Some(message) = self.input.as_ref().map(|i| i.text.clone()) else { return Ok(None) };
        let agent = self.agent()?;
        let corrects = asking.collect.is_none_or(|c| c.corrections == Some(true));
        let mut wanted: Vec<&'p GatherField> = Vec::new();
        for field in asking.fields() {
            let known = self.has_value(&field.name.value);
            let by_user = !matches!(field.satisfied_by, Some("authoritative_tool" | "system"));
            if by_user && (!known || corrects) {
                wanted.push(field);
            }
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        let missing = self.missing_of(asking)?;
        // A model-led agent that has not said anything yet has not asked for a field.
        let silent = asking.collect.is_none()
            && !self.traits().arguments_are_variables
            && self.frame().messages.iter().all(|m| m.role != Role::Assistant);
        let asked = missing.first().filter(|_| !silent).map(|f| f.name.clone());
        let specs: Vec<FieldSpec> = wanted.iter().map(|f| self.field_spec(agent, f)).collect();
        let context = self.recent_messages(&message);
        let mut known = self.known_values()?;
        known.retain(|name, _| specs.iter().any(|field| field.name == *name));
        let task = ModelTask::Extract { message, context, fields: specs.clone(), asked, known };
        let values = match self.ask_model(task)? {
            Answer::Values(values) => values,
            _ => {
                return Err(RuntimeError::new("model_error", "the model returned no values"));
            }
        };
        let mut refused = None;
        self.progress.rejected = None;
        for (field, spec) in wanted.iter().zip(&specs) {
            let Some(found) = values.get(&spec.name).filter(|v| !v.is_null()) else { continue };
            // A field without a type accepts any value.
            let declared = field.ty.is_some() || field.entity_ref.is_some();
            let given = if declared { coerce(found, spec.ty) } else { Some(found.clone()) };
            let value = given.and_then(|json| from_json(&json).ok()).ok_or_else(|| {
                RuntimeError::new("invalid_input", format!("`{}` has no value", spec.name))
            });
            let valid = match value {
                Ok(value) => self.accept_value(field, spec, value)?,
                Err(_) => Some(format!(
                    "I could not understand that. {}",
                    spec.prompt.clone().unwrap_or_default()
                )),
            };
            if let Some(message) = valid {
                *self.frame().rejections.entry(spec.name.clone()).or_default() += 1;
                self.progress.rejected.get_or_insert_with(|| (spec.name.clone(), message.clone()));
                refused = refused.or(Some(message));
            } else {
                self.recall(&format!("entity:{}:extracted", field.name.value));
            }
        }
        Ok(refused)
    }

    /// Assigns a value if it is valid; otherwise returns a message about it.
    fn accept_value(
        &mut self,
        field: &'p GatherField,
        spec: &FieldSpec,
        value: Value,
    ) -> Result<Option<String>, RuntimeError> {
        let before = self.frame().variables.get(&field.name.value).cloned();
        self.assign_name(&field.name.value, value.clone())?;
        let Some(validation) = &field.validation else { return Ok(None) };
        if self.is_valid(validation, spec, &value)? {
            return Ok(None);
        }
        self.assign_name(&field.name.value, before.unwrap_or_default())?;
        let message = validation.error_message.as_ref().or(validation.retry_prompt.as_ref());
        Ok(Some(match message {
            Some(message) => self.render(message),
            None => format!(
                "That does not fit. {}",
                spec.prompt.clone().unwrap_or_else(|| format!("Please tell me: {}.", spec.name))
            ),
        }))
    }

    fn is_valid(
        &mut self,
        validation: &Validation,
        spec: &FieldSpec,
        value: &Value,
    ) -> Result<bool, RuntimeError> {
        let rule = validation.rule.value.as_str();
        let text = agentir_eval::text(value, self.dialect().semantics());
        Ok(match validation.kind.value.to_ascii_lowercase().as_str() {
            "pattern" | "regex" => {
                // An invalid pattern rejects nothing; a lint reports it.
                pattern(rule).map_or(true, |p| p.is_match(&text))
            }
            "range" => in_range(validation, value),
            "enum" => {
                validation.values().any(|v| v.eq_ignore_ascii_case(&text))
                    || spec.values.keys().any(|v| v.eq_ignore_ascii_case(&text))
            }
            "custom" => match &validation.check {
                Some(expr) => evaluate(expr, &self.scope(), self.dialect())
                    .map_or(true, |v| truthy(&v, self.dialect().semantics())),
                None => true,
            },
            "llm" => {
                let statement = format!("`{text}` as {}: {rule}", spec.name);
                self.judge_or(&statement, text.to_string(), true)?
            }
            _ => true,
        })
    }

    /// Fills the agent's fields from any user message within a flow (ABL, 3.6: "extracts from user
    /// messages"; ADL, B.3: the arguments of an agent).
    pub(super) fn extract_agent_fields(&mut self) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        if agent.gather.fields.is_empty() {
            return Ok(());
        }
        self.extract(CollectRequest { gather: &agent.gather, only: &[], collect: None })?;
        self.condition_results.clear();
        self.update_all_fields_gathered()
    }

    /// Updates `all_fields_gathered`, which agents can read.
    pub(super) fn update_all_fields_gathered(&mut self) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        if !agent.gather.fields.is_empty() || agent.flow.is_some() {
            let all = self.missing_fields()?.is_empty();
            self.frame().variables.set("all_fields_gathered", Value::Bool(all));
        }
        Ok(())
    }

    /// The edge from a model-led node to the node that collects fields.
    pub(super) fn collect_edge(
        &mut self,
        at: NodeIndex,
    ) -> Result<Option<EdgeIndex>, RuntimeError> {
        let edge = self.outgoing_edges(at).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Choice
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind == NodeKind::Collect)
        });
        Ok(edge.map(|(edge, ..)| edge))
    }

    /// Fills variables from a tool call of the model.
    pub(super) fn fill_from_offer(&mut self, offer: &'p ToolBinding) -> Result<(), RuntimeError> {
        if !matches!(offer.action, BindingAction::Collect) {
            return Ok(());
        }
        let arguments =
            self.frame().pending.last().map(|p| p.arguments.clone()).unwrap_or_default();
        for with in &offer.with {
            let value = match &with.value {
                Some(value) => Some(to_json(&self.value(value)?)),
                None => arguments.get(with.name.value.as_str()).cloned(),
            };
            if let Some(value) = value.and_then(|v| from_json(&v).ok()) {
                let agent = self.agent()?;
                let name = super::scope::name_of_variable(agent, &with.name.value);
                self.assign_name(&name, value)?;
            }
        }
        self.answer_tool_use(&Json::from("noted"));
        Ok(())
    }
}

/// Converts a value to the type of a field, as models may return another representation.
pub(super) fn coerce(json: &Json, ty: FieldType) -> Option<Json> {
    match (ty, json) {
        (FieldType::Number | FieldType::Currency, Json::String(text)) => {
            let plain: String =
                text.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | '-')).collect();
            plain.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Json::Number)
        }
        (FieldType::Number | FieldType::Currency, Json::Number(_)) => Some(json.clone()),
        (FieldType::Number, _) => None,
        (FieldType::Boolean, Json::String(text)) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" => Some(Json::Bool(true)),
            "false" | "no" => Some(Json::Bool(false)),
            _ => None,
        },
        (
            FieldType::Text | FieldType::Email | FieldType::Phone | FieldType::Date,
            Json::Number(n),
        ) => Some(Json::String(n.to_string())),
        _ => Some(json.clone()),
    }
}

/// Whether a value is within a range: a number, a numeric string, or else the length of a string.
fn in_range(validation: &Validation, value: &Value) -> bool {
    // An invalid range rejects nothing; a lint reports it.
    let Some((low, high)) = validation.bounds() else { return true };
    let size = match value {
        Value::Number(n) => *n,
        Value::Text(text) => text.parse::<f64>().unwrap_or(text.chars().count() as f64),
        _ => return true,
    };
    low.is_none_or(|low| size >= low) && high.is_none_or(|high| size <= high)
}
