//! Asking for fields (ABL, current specification, 3.6 and 3.14.2).

use super::{Next, Run, Step, index, onward};
use crate::json::{from_json, to_json};
use crate::model::{Answer, Ask, FieldSpec, FieldType, Role};
use crate::session::Problem;
use agentir_diagnostics::FileId;
use agentir_eval::{Value, evaluate, pattern, semantics, truthy};
use agentir_expr::{Dialect, Expr, ExprKind, Visit};
use agentir_flow::cfg::{EdgeKind, NodeKind, Origin};
use agentir_ir::{
    Activation, BindingAction, Collect, Gather, GatherField, Statement, ToolBinding, Validation,
};
use agentir_syntax::abl::leaf::condition;
use agentir_syntax::leaf::Leaf;
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::Value as Json;

/// How often a field is asked for again if its values are refused and nobody says how often.
const MAX_RETRIES: u32 = 3;

/// What fields are asked for at a place.
#[derive(Clone, Copy)]
struct Asking<'p> {
    gather: &'p Gather,
    /// Only these fields of it; all if none is named.
    only: &'p [agentir_diagnostics::Spanned<agentir_expr::Name>],
    collect: Option<&'p Collect>,
}

impl<'p> Asking<'p> {
    fn fields(self) -> impl Iterator<Item = &'p GatherField> {
        self.gather.fields.iter().filter(move |f| {
            self.only.is_empty() || self.only.iter().any(|o| o.value == f.name.value)
        })
    }
}

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn collect(&mut self, at: NodeIndex, element: &Origin<'p>) -> Step {
        let agent = self.agent()?;
        let asking = match element {
            Origin::Statement(Statement::Collect(collect)) => {
                Asking { gather: &collect.gather, only: &[], collect: Some(collect) }
            }
            Origin::Failure(failure) => {
                // What is asked for again is asked for even if it has a value.
                if !self.progress.fresh && !self.thread().asked.contains_key(&index(at.index())) {
                    for name in &failure.collect_fields {
                        self.clear(&name.value);
                    }
                }
                Asking { gather: &agent.gather, only: &failure.collect_fields, collect: None }
            }
            _ => Asking { gather: &agent.gather, only: &[], collect: None },
        };
        let led_by_model = matches!(element, Origin::Agent(_));
        let mut refused = None;
        if led_by_model || self.progress.fresh {
            if self.progress.fresh {
                if let Some(edge) = self.interrupted(at)? {
                    return Ok(Next::Take(edge));
                }
                self.consume();
            }
            let agent = self.session.agent().unwrap_or_default();
            refused = match self.progress.ahead.take_if(|(who, _)| led_by_model && who == agent) {
                Some((_, refused)) => refused,
                // In Agent Script the model fills variables in by an offer, under its guard.
                None if led_by_model && self.dialect() == Dialect::AgentScript => None,
                None => self.extract(asking)?,
            };
        }
        // Where the model leads, it asks; the fields only take what the user says.
        if led_by_model {
            if let Some(message) = refused {
                self.thread().notes.push(message);
            }
            self.gathered()?;
            return match self.pick(at, |edge, _| edge.kind == EdgeKind::Return)? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        }
        self.ask_for(at, asking, refused)
    }

    /// Asks for what is missing, or goes on.
    fn ask_for(&mut self, at: NodeIndex, asking: Asking<'p>, refused: Option<String>) -> Step {
        let complete = match asking.collect.and_then(|c| c.complete_when.as_ref()) {
            Some(when) => {
                self.judged.clear();
                self.condition(when)?
            }
            None => false,
        };
        let missing = self.missing(asking)?;
        if complete
            || (missing.is_empty() && asking.collect.is_none_or(|c| c.complete_when.is_none()))
        {
            self.gathered()?;
            self.forget_asking(at);
            return match self.pick(at, |edge, to| onward(edge.kind) && to != at)? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        }
        let key = index(at.index());
        let times = *self.thread().asked.entry(key).and_modify(|n| *n += 1).or_insert(1);
        let limit = self.node(at)?.step.and_then(|s| s.max_attempts).map(|n| n.0);
        let failed = self.leaving(at).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Error
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind != NodeKind::Error)
        });
        if limit.is_some_and(|limit| f64::from(times) > limit) || self.retries_used_up(asking) {
            self.forget_asking(at);
            return match failed {
                Some((edge, ..)) => Ok(Next::Take(edge)),
                None => Err(Problem::new("validation_error", "the fields could not be filled")),
            };
        }
        if times > 1 {
            let count = self.session.variable("_clarification_count").and_then(|c| c.as_f64());
            self.session
                .set_system("_clarification_count", &Json::from(count.unwrap_or(0.0) + 1.0));
        }
        self.expect(missing.first());
        let question = refused.unwrap_or_else(|| self.question(asking, &missing));
        self.say(&question, None);
        self.turn_over(at)
    }

    /// The user is about to be asked for a field; a trace may not show the answer to some.
    pub(super) fn expect(&mut self, field: Option<&FieldSpec>) {
        let confidential = field.is_some_and(|field| self.sensitive(&field.name));
        self.thread().confidential = confidential;
    }

    /// Where the model leads, what the user corrects must be known before the constraints look at it:
    /// they would refuse the old value for ever. Asked only if a constraint of every turn speaks of a
    /// field.
    pub(super) fn extract_ahead(&mut self) -> Result<(), Problem> {
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
        let refused = self.extract(Asking { gather: &agent.gather, only: &[], collect: None })?;
        self.judged.clear();
        self.progress.ahead = Some((agent.metadata.name.value.to_string(), refused));
        Ok(())
    }

    fn forget_asking(&mut self, at: NodeIndex) {
        let thread = self.thread();
        thread.asked.remove(&index(at.index()));
        thread.refused.clear();
    }

    fn retries_used_up(&mut self, asking: Asking<'p>) -> bool {
        asking.fields().any(|field| {
            let most = field
                .validation
                .as_ref()
                .and_then(|v| v.max_retries)
                .map_or(f64::from(MAX_RETRIES), |n| n.0);
            let times = self.thread().refused.get(field.name.value.as_str()).copied().unwrap_or(0);
            f64::from(times) > most
        })
    }

    /// What asks for the first field that is missing, or for all of them at once.
    fn question(&self, asking: Asking<'p>, missing: &[FieldSpec]) -> String {
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

    /// The fields that are still to be asked for, in their order.
    fn missing(&mut self, asking: Asking<'p>) -> Result<Vec<FieldSpec>, Problem> {
        let agent = self.agent()?;
        let fields: Vec<&GatherField> = asking.fields().collect();
        let mut missing = Vec::new();
        for field in fields {
            if self.has(&field.name.value) || !self.wanted(field)? {
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

    pub(super) fn missing_fields(&mut self) -> Result<Vec<FieldSpec>, Problem> {
        let agent = self.agent()?;
        self.missing(Asking { gather: &agent.gather, only: &[], collect: None })
    }

    /// Whether a field must be asked for, by its activation.
    fn wanted(&mut self, field: &'p GatherField) -> Result<bool, Problem> {
        if field.prompt_mode == Some("extract_only")
            || matches!(field.satisfied_by, Some("authoritative_tool" | "system"))
        {
            return Ok(false);
        }
        let there = field.depends_on.iter().all(|name| self.has(&name.value));
        Ok(match &field.activation {
            Some(Activation::Optional) => false,
            Some(Activation::Progressive) => there && !field.depends_on.is_empty(),
            Some(Activation::When { when }) => there && self.condition(when)?,
            Some(Activation::Required) => there,
            None => (field.required || field.default.is_some()) && there,
        })
    }

    fn has(&self, name: &str) -> bool {
        self.variable(name).is_some()
    }

    /// Takes values from what the user said. Gives what to say about one that was refused.
    fn extract(&mut self, asking: Asking<'p>) -> Result<Option<String>, Problem> {
        let Some(message) = self.input.as_ref().map(|i| i.text.clone()) else { return Ok(None) };
        let agent = self.agent()?;
        let corrects = asking.collect.is_none_or(|c| c.corrections == Some(true));
        let mut wanted: Vec<&'p GatherField> = Vec::new();
        for field in asking.fields() {
            let known = self.has(&field.name.value);
            let by_user = !matches!(field.satisfied_by, Some("authoritative_tool" | "system"));
            if by_user && (!known || corrects) {
                wanted.push(field);
            }
        }
        if wanted.is_empty() {
            return Ok(None);
        }
        let missing = self.missing(asking)?;
        // Who leads by a model and has said nothing yet has asked for nothing.
        let silent = asking.collect.is_none()
            && self.dialect() != Dialect::Adl
            && self.thread().messages.iter().all(|m| m.role != Role::Assistant);
        let asked = missing.first().filter(|_| !silent).map(|f| f.name.clone());
        let specs: Vec<FieldSpec> = wanted.iter().map(|f| self.field_spec(agent, f)).collect();
        let mut context = self.thread().messages.clone();
        context.pop();
        let ask = Ask::Extract { message, context, fields: specs.clone(), asked };
        let values = match self.ask(ask)? {
            Answer::Values(values) => values,
            _ => return Err(Problem::new("model_error", "asked for values, the model gave none")),
        };
        let mut refused = None;
        self.progress.refused = None;
        for (field, spec) in wanted.iter().zip(&specs) {
            let Some(found) = values.get(&spec.name).filter(|v| !v.is_null()) else { continue };
            // A field without a type takes what it is given as it is.
            let declared = field.ty.is_some() || field.entity_ref.is_some();
            let given = if declared { typed(found, spec.ty) } else { Some(found.clone()) };
            let value = given.and_then(|json| from_json(&json).ok()).ok_or_else(|| {
                Problem::new("invalid_input", format!("`{}` has no value", spec.name))
            });
            let valid = match value {
                Ok(value) => self.accept(field, spec, value)?,
                Err(_) => Some(format!(
                    "I could not understand that. {}",
                    spec.prompt.clone().unwrap_or_default()
                )),
            };
            if let Some(message) = valid {
                *self.thread().refused.entry(spec.name.clone()).or_default() += 1;
                self.progress.refused.get_or_insert_with(|| (spec.name.clone(), message.clone()));
                refused = refused.or(Some(message));
            } else {
                self.recall(&format!("entity:{}:extracted", field.name.value));
            }
        }
        Ok(refused)
    }

    /// Takes a value if it is one that the field takes; else says what is wrong with it.
    fn accept(
        &mut self,
        field: &'p GatherField,
        spec: &FieldSpec,
        value: Value,
    ) -> Result<Option<String>, Problem> {
        let before = self.thread().variables.get(&field.name.value).cloned();
        self.assign_name(&field.name.value, value.clone())?;
        let Some(validation) = &field.validation else { return Ok(None) };
        if self.valid(validation, spec, &value)? {
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

    fn valid(
        &mut self,
        validation: &Validation,
        spec: &FieldSpec,
        value: &Value,
    ) -> Result<bool, Problem> {
        let rule = validation.rule.value.as_str();
        let text = agentir_eval::text(value, semantics(self.dialect()));
        Ok(match validation.kind.value.to_ascii_lowercase().as_str() {
            "pattern" | "regex" => {
                // A pattern that is none refuses nothing; a lint says so.
                pattern(rule).map_or(true, |p| p.is_match(&text))
            }
            "range" => in_range(validation, value),
            "enum" => {
                validation.values().any(|v| v.eq_ignore_ascii_case(&text))
                    || spec.values.keys().any(|v| v.eq_ignore_ascii_case(&text))
            }
            "custom" => match custom(validation) {
                Some(expr) => evaluate(&expr, &self.scope(), self.dialect())
                    .map_or(true, |v| truthy(&v, semantics(self.dialect()))),
                None => true,
            },
            "llm" => {
                let statement = format!("`{text}` as {}: {rule}", spec.name);
                self.judge(&statement, text.to_string())?
            }
            _ => true,
        })
    }

    /// What the user says anywhere in a flow fills fields of the agent (ABL, 3.6: "extracts from user
    /// messages"; ADL, B.3: the arguments of an agent).
    pub(super) fn take_fields(&mut self) -> Result<(), Problem> {
        let agent = self.agent()?;
        if agent.gather.fields.is_empty() {
            return Ok(());
        }
        self.extract(Asking { gather: &agent.gather, only: &[], collect: None })?;
        self.judged.clear();
        self.gathered()
    }

    /// All required fields are there, or not: what agents read as `all_fields_gathered`.
    pub(super) fn gathered(&mut self) -> Result<(), Problem> {
        let agent = self.agent()?;
        if !agent.gather.fields.is_empty() || agent.flow.is_some() {
            let all = self.missing_fields()?.is_empty();
            self.thread().variables.set("all_fields_gathered", Value::Bool(all));
        }
        Ok(())
    }

    /// The way from a place where the model leads to the fields that it collects, if the user may
    /// have filled one.
    pub(super) fn collecting(&mut self, at: NodeIndex) -> Result<Option<EdgeIndex>, Problem> {
        let edge = self.leaving(at).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Choice
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind == NodeKind::Collect)
        });
        Ok(edge.map(|(edge, ..)| edge))
    }

    /// The model fills variables in by an offer.
    pub(super) fn fill(&mut self, offer: &'p ToolBinding) -> Result<(), Problem> {
        if !matches!(offer.action, BindingAction::Collect) {
            return Ok(());
        }
        let arguments =
            self.thread().pending.last().map(|p| p.arguments.clone()).unwrap_or_default();
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
        self.answer_call(&Json::from("noted"));
        Ok(())
    }
}

/// A custom rule as an expression. The IR keeps rules as they are written, so it is read here.
fn custom(validation: &Validation) -> Option<Expr> {
    let leaf = Leaf::verbatim(validation.parts().1, FileId(0), 0);
    // What is no expression was reported where the agent was read.
    condition(leaf, true, &mut Vec::new()).expr().cloned()
}

/// A value in the form of its type, as models and rules of thumb may give it otherwise.
pub(super) fn typed(json: &Json, ty: FieldType) -> Option<Json> {
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

/// Whether a number is in a range; a text by the number it is, else by how long it is.
fn in_range(validation: &Validation, value: &Value) -> bool {
    // A range that cannot be read refuses nothing; a lint says so.
    let Some((low, high)) = validation.bounds() else { return true };
    let size = match value {
        Value::Number(n) => *n,
        Value::Text(text) => text.parse::<f64>().unwrap_or(text.chars().count() as f64),
        _ => return true,
    };
    low.is_none_or(|low| size >= low) && high.is_none_or(|high| size <= high)
}
