//! Collecting fields (ABL, current specification, 3.6 and 3.14.2).

use super::fields::{FieldLayers, as_written, looked_up};
use super::inferences::Settled;
use super::scope::name_of_variable;
use super::{Next, NodeResult, Run, index, leads_onward};
use crate::json::{from_json, to_json};
use crate::model::{Answer, FieldSpec, FieldType, ModelTask, Role};
use crate::session::{Inference, RuntimeError};
use agentir_eval::Value;
use agentir_flow::cfg::{AgentCfg, Cfg, EdgeKind, NodeKind, Origin};
use agentir_ir::{
    Activation, BindingAction, Collect, ConstraintFailure, Gather, GatherField, Statement,
    ToolBinding, Validation,
};
use petgraph::graph::{EdgeIndex, NodeIndex};
use rustc_hash::FxHashSet;
use serde_json::{Map, Value as Json};
use smol_str::SmolStr;

/// How often the user is asked again after a rejected value, unless the field defines it.
const MAX_RETRIES: u32 = 3;

/// The fields to collect at a node.
#[derive(Clone, Copy)]
struct CollectRequest<'p> {
    gather: &'p Gather,
    /// A subset of the fields; all of them if empty.
    only: &'p [agentir_diagnostics::Spanned<agentir_expr::Name>],
    collect: Option<&'p Collect>,
    /// Whether fields are asked for whatever they say about that.
    forced: bool,
}

impl<'p> CollectRequest<'p> {
    /// The fields of an agent.
    const fn of_agent(gather: &'p Gather) -> Self {
        Self { gather, only: &[], collect: None, forced: false }
    }
}

/// A field, and the strategy of the step that collects it.
pub(super) type DeclaredField<'p> = (&'p GatherField, Option<&'static str>);

/// The fields that an agent and its steps collect; of several with one name, the agent's own, or else the first.
pub(super) fn declared_fields<'p>(cfg: &Cfg<'p>, part: &AgentCfg<'p>) -> Vec<DeclaredField<'p>> {
    let mut fields: Vec<DeclaredField<'_>> =
        part.agent.gather.fields.iter().map(|field| (field, None)).collect();
    let mut names: FxHashSet<&str> = fields.iter().map(|(f, _)| f.name.value.as_str()).collect();
    for node in part.nodes().filter_map(|at| cfg.node(at)) {
        let Origin::Statement(Statement::Collect(collect)) = node.origin else { continue };
        for field in &collect.gather.fields {
            if names.insert(field.name.value.as_str()) {
                fields.push((field, field.strategy.or(collect.gather.strategy)));
            }
        }
    }
    fields
}

impl<'p> Run<'_, 'p, '_> {
    /// The fields to ask for. What a failed constraint names may be a field of a step.
    fn asked_fields(&self, asking: CollectRequest<'p>) -> Vec<&'p GatherField> {
        if asking.only.is_empty() {
            return asking.gather.fields.iter().collect();
        }
        let named = |name: &str| asking.only.iter().any(|only| only.value == name);
        let declared = self.declared_fields().iter().map(|(field, _)| *field);
        declared.filter(|field| named(&field.name.value)).collect()
    }

    fn declared_fields(&self) -> &[DeclaredField<'p>] {
        let agent = self.session.agent();
        agent.and_then(|agent| self.machine.fields.get(agent)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn collect(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        let agent = self.agent()?;
        let mut first_question = false;
        let asking = match element {
            Origin::Statement(Statement::Collect(collect)) => CollectRequest {
                gather: &collect.gather,
                only: &[],
                collect: Some(collect),
                forced: false,
            },
            Origin::Failure(failure) => {
                // Fields named by `COLLECT` after a failed constraint are collected again even if
                // they have values.
                first_question = self.is_led_by_its_model()
                    || !self.frame().ask_counts.contains_key(&index(at.index()));
                if first_question {
                    for name in &failure.collect_fields {
                        self.clear(&name.value);
                    }
                }
                CollectRequest {
                    gather: &agent.gather,
                    only: &failure.collect_fields,
                    collect: None,
                    forced: true,
                }
            }
            _ => CollectRequest::of_agent(&agent.gather),
        };
        let led_by_model = matches!(element, Origin::Agent(_));
        let mut refused = None;
        if let (Origin::Failure(_), true) = (element, self.is_led_by_its_model()) {
            // The fields of this message have been filled, and the check has refused that.
            let ahead = self.progress.extracted_ahead.as_ref();
            refused = ahead.and_then(|(_, refused)| refused.clone());
        } else if led_by_model || self.progress.input_unread {
            if self.progress.input_unread {
                if let Some(edge) = self.interruption_edge(at)? {
                    return Ok(Next::Take(edge));
                }
                if !led_by_model && self.is_stale_press() {
                    self.refuse_press();
                    return self.ask_for(at, asking, None);
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
                None => self.extract(asking, true)?,
            };
        }
        // If the model leads, it asks the questions; the fields are only filled from the user's
        // messages.
        if led_by_model {
            if let Some(message) = refused {
                self.frame().notes.push(message);
            }
            // Which fields are asked for depends on what was just extracted.
            self.condition_results.clear();
            self.update_all_fields_gathered()?;
            if let Some(question) = self.inference_question() {
                self.frame().answer = Some(question);
            }
            return match self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Return)? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        }
        if let Origin::Failure(failure) = element {
            return self.collect_again(at, asking, failure, refused, first_question);
        }
        self.ask_for(at, asking, refused)
    }

    /// Asks for the fields of a failed constraint, whose check follows.
    fn collect_again(
        &mut self,
        at: NodeIndex,
        asking: CollectRequest<'p>,
        failure: &'p ConstraintFailure,
        refused: Option<String>,
        first_question: bool,
    ) -> NodeResult {
        let missing = self.missing_of(asking)?;
        let filled = failure.collect_fields.iter().any(|name| self.has_value(&name.value));
        let leads = self.is_led_by_its_model();
        if missing.is_empty() {
            self.progress.answered_questions.push(failure.span);
        }
        if missing.is_empty() || !leads {
            // There is nothing to ask for: the check would fail again, and again.
            if missing.is_empty() && first_question && !filled && !self.refuses_nothing(failure) {
                self.wait_at_failure();
                return self.stop_turn();
            }
            let before = std::mem::replace(&mut self.notice, true);
            let next = self.ask_for(at, asking, refused);
            self.notice = before;
            return next;
        }
        // The model leads: it hears the answer, whose values are extracted first.
        *self.frame().ask_counts.entry(index(at.index())).or_default() += 1;
        self.expect_answer_for(missing.first());
        let question = refused.unwrap_or_else(|| self.question(asking, &missing));
        self.say_notice(&question);
        self.stop_turn()
    }

    /// Asks for missing fields, or continues.
    fn ask_for(
        &mut self,
        at: NodeIndex,
        asking: CollectRequest<'p>,
        refused: Option<String>,
    ) -> NodeResult {
        if let Some(question) = self.inference_question() {
            self.say(&question, None);
            return self.end_turn_at(at);
        }
        // Which fields are asked for depends on what was just extracted.
        self.condition_results.clear();
        let complete = match asking.collect.and_then(|c| c.complete_when.as_ref()) {
            Some(when) => self.condition(when)?,
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
            let exhausted = self.pick_edge(at, |edge, _| edge.kind == EdgeKind::Exhausted)?;
            return match failed.map(|(edge, ..)| edge).or(exhausted) {
                Some(edge) => Ok(Next::Take(edge)),
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

    /// If the model leads, what the message says is extracted before the turn is decided by it: a corrected value counts
    /// for the constraints, a first one for escalations, handoffs and delegations. Only done if one of them reads a field.
    pub(super) fn extract_ahead(&mut self) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        let by_tools = self.traits().model_acts_by_tools;
        if agent.flow.is_some() || agent.gather.fields.is_empty() || by_tools {
            return Ok(());
        }
        let constraints: Vec<_> = self
            .constraints_where(agentir_ir::Constraint::is_of_every_turn)
            .into_iter()
            .map(|(constraint, _)| constraint)
            .collect();
        let collects = |c: &&agentir_ir::Constraint| {
            c.on_fail.as_ref().is_some_and(|failure| !failure.collect_fields.is_empty())
        };
        let coordination = &agent.coordination;
        let triggers = coordination.escalation.iter().flat_map(|escalation| &escalation.triggers);
        let conditions = (constraints.iter())
            .flat_map(|c| [Some(&c.condition), c.applies_when.as_ref()])
            .chain(triggers.map(|trigger| trigger.when.as_ref()))
            .chain(coordination.handoffs.iter().map(|handoff| handoff.when.as_ref()))
            .chain(coordination.delegates.iter().map(|delegate| delegate.when.as_ref()))
            .filter_map(|condition| condition?.expr());
        let inputs = coordination.delegates.iter().flat_map(|d| &d.input).map(|(_, value)| value);
        let mut reads = false;
        for expr in conditions.chain(inputs) {
            expr.paths(&mut |path| {
                reads |= agent.gather.fields.iter().any(|f| f.name.value == path.root.value);
            });
        }
        if !reads && !constraints.iter().any(collects) {
            return Ok(());
        }
        let refused = self.extract(CollectRequest::of_agent(&agent.gather), true)?;
        self.condition_results.clear();
        self.progress.extracted_ahead = Some((agent.metadata.name.value.to_string(), refused));
        Ok(())
    }

    fn reset_attempts(&mut self, at: NodeIndex) {
        let frame = self.frame();
        frame.ask_counts.remove(&index(at.index()));
        if !frame.rejections.is_empty() {
            frame.rejections.clear();
            self.publish_rejections();
        }
    }

    /// Sets the variable that conditions read (current specification, 8.8).
    fn publish_rejections(&mut self) {
        let counts = serde_json::json!(self.frame().rejections);
        self.session.set_system("_validation_retries", &counts);
    }

    fn retries_exhausted(&mut self, asking: CollectRequest<'p>) -> bool {
        self.asked_fields(asking).into_iter().any(|field| {
            let fields = self.field_layers(field, &[]);
            let most = fields
                .get(|f| f.validation.as_ref())
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
            && self.asked_fields(asking).len() == missing.len()
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
        let fields = self.asked_fields(asking);
        let overrides = self.gather_overrides()?;
        let mut missing = Vec::new();
        for field in fields {
            if self.has_value(&field.name.value) || !(asking.forced || self.must_ask(field)?) {
                continue;
            }
            let layers = self.field_layers(field, &overrides);
            if let Some(default) = layers.get(|f| f.default.as_ref()).filter(|_| !asking.forced) {
                if let Ok(value) = from_json(default) {
                    self.assign_name(&self.field_variable(&field.name.value), value)?;
                }
                continue;
            }
            missing.push(self.field_spec(agent, &layers));
        }
        Ok(missing)
    }

    pub(super) fn missing_fields(&mut self) -> Result<Vec<FieldSpec>, RuntimeError> {
        let agent = self.agent()?;
        self.missing_of(CollectRequest::of_agent(&agent.gather))
    }

    /// The fields without a value that the agent takes if the user gives them, but does not have to collect.
    pub(super) fn optional_fields(&mut self) -> Result<Vec<FieldSpec>, RuntimeError> {
        let agent = self.agent()?;
        let mut optional = Vec::new();
        let overrides = self.gather_overrides()?;
        for field in &agent.gather.fields {
            let by_user = !matches!(field.satisfied_by, Some("authoritative_tool" | "system"));
            let layers = self.field_layers(field, &overrides);
            if by_user && !self.has_value(&field.name.value) && !self.must_ask(field)? {
                optional.push(self.field_spec(agent, &layers));
            }
        }
        Ok(optional)
    }

    /// Whether a field has to be collected, according to its activation.
    fn must_ask(&mut self, field: &'p GatherField) -> Result<bool, RuntimeError> {
        let fields = self.field_layers(field, &[]);
        if fields.copied(|f| f.prompt_mode) == Some("extract_only")
            || matches!(fields.copied(|f| f.satisfied_by), Some("authoritative_tool" | "system"))
        {
            return Ok(false);
        }
        let needs = |f: &'p GatherField| Some(&f.depends_on).filter(|names| !names.is_empty());
        let needs = fields.get(needs).map_or(&[][..], Vec::as_slice);
        let there = needs.iter().all(|name| self.has_value(&name.value));
        Ok(match fields.get(|f| f.activation.as_ref()) {
            Some(Activation::Optional) => false,
            Some(Activation::Progressive) => there && !needs.is_empty(),
            Some(Activation::When { when }) => there && self.condition(when)?,
            Some(Activation::Required) => there,
            None => (field.required || field.default.is_some()) && there,
        })
    }

    /// Whether a field has a value. Where fields are variables of the program, an empty text is what a variable begins
    /// with, and none.
    pub(super) fn has_value(&self, name: &str) -> bool {
        let empty = |value: &Value| matches!(value, Value::Text(text) if text.is_empty());
        let shared = self.traits().namespaced_references;
        self.variable(&self.field_variable(name)).is_some_and(|value| !(shared && empty(&value)))
    }

    /// The variable that a field fills.
    pub(super) fn field_variable(&self, name: &str) -> SmolStr {
        self.agent().map_or_else(|_| SmolStr::new(name), |agent| name_of_variable(agent, name))
    }

    /// Extracts values from the user's message. Returns the message about a rejected value.
    ///
    /// `confirms`: whether the user can be asked about inferred values next.
    fn extract(
        &mut self,
        asking: CollectRequest<'p>,
        confirms: bool,
    ) -> Result<Option<String>, RuntimeError> {
        let Some(message) = self.input.as_ref().map(|i| i.text.clone()) else { return Ok(None) };
        let agent = self.agent()?;
        let inferred = match self.settle_inferences(&message)? {
            // The answer was only about the inferred values.
            Settled::Answered => return Ok(None),
            Settled::Refused(field) => Some(field),
            Settled::Nothing => None,
        };
        let corrects = asking.collect.is_none_or(|c| c.corrections == Some(true));
        let mut wanted: Vec<&'p GatherField> = Vec::new();
        for field in self.asked_fields(asking) {
            let known = self.has_value(&field.name.value);
            let by_user = !matches!(field.satisfied_by, Some("authoritative_tool" | "system"));
            if by_user && (!known || corrects) {
                wanted.push(field);
            }
        }
        self.take_attachments(&mut wanted)?;
        if wanted.is_empty() {
            return Ok(None);
        }
        let missing = self.missing_of(asking)?;
        // A model-led agent that has not said anything yet has not asked for a field.
        let silent = asking.collect.is_none()
            && !self.traits().arguments_are_variables
            && self.frame().messages.iter().all(|m| m.role != Role::Assistant);
        let asked = inferred
            .or_else(|| self.asked_by_check().filter(|_| asking.collect.is_none()))
            .or_else(|| missing.first().filter(|_| !silent).map(|field| field.name.clone()));
        let overrides = self.gather_overrides()?;
        let wanted: Vec<FieldLayers<'p>> =
            wanted.into_iter().map(|field| self.field_layers(field, &overrides)).collect();
        let specs: Vec<FieldSpec> = wanted.iter().map(|f| self.field_spec(agent, f)).collect();
        let values = self.values_of(asking, &wanted, &specs, &message, asked.as_deref())?;
        let mut refused = None;
        self.progress.rejected = None;
        let nothing_found = values.values().all(Json::is_null);
        for (field, spec) in wanted.iter().zip(&specs) {
            let is_asked = asked.as_ref() == Some(&spec.name);
            let found = values.get(&spec.name).filter(|v| !v.is_null()).cloned();
            // What is not in a table may still be close to one of its values.
            let found = found.or_else(|| {
                let table = self.lookup_table(field).filter(|_| is_asked)?;
                let text = Value::text(message.trim());
                looked_up(table, &text, self.dialect().semantics())
                    .flatten()
                    .map(|value| to_json(&value))
            });
            // Where the model is not asked, the message is the answer to its own question, and the list refuses it.
            let found = found.or_else(|| {
                let listed = !spec.values.is_empty() || self.lookup_table(field).is_some();
                let answers = is_asked && nothing_found && !message.trim().is_empty();
                let by_pattern = self.strategy(asking, field) == Some("pattern");
                (listed && answers && by_pattern).then(|| Json::from(message.trim()))
            });
            let Some(found) = found else { continue };
            let written = self
                .lookup_table(field)
                .zip(found.as_str())
                .and_then(|(table, found)| as_written(table, found, &message));
            let found = written.map_or(found, Json::from);
            // A field without a type accepts any value.
            let declared = field.get(|f| f.ty.as_ref()).is_some()
                || field.get(|f| f.entity_ref.as_ref()).is_some();
            let given = if declared { coerce(&found, spec.ty) } else { Some(found.clone()) };
            let value = given.and_then(|json| from_json(&json).ok()).ok_or_else(|| {
                RuntimeError::new("invalid_input", format!("`{}` has no value", spec.name))
            });
            let valid = match value {
                Ok(value) => {
                    let confirm =
                        confirms && self.needs_confirmation(field, spec, &found, is_asked);
                    self.accept_value(field, spec, value, confirm)?
                }
                Err(_) => Some(format!(
                    "I could not understand that. {}",
                    spec.prompt.clone().unwrap_or_default()
                )),
            };
            if let Some(message) = valid {
                *self.frame().rejections.entry(spec.name.clone()).or_default() += 1;
                self.publish_rejections();
                self.progress.rejected.get_or_insert_with(|| (spec.name.clone(), message.clone()));
                refused = refused.or(Some(message));
            } else {
                self.recall(&format!("entity:{}:extracted", spec.name));
            }
        }
        Ok(refused)
    }

    /// Fills fields of type `attachment` with the files of the message (ABL, current specification,
    /// 3.13.4), and removes them from the fields that text can fill.
    fn take_attachments(&mut self, wanted: &mut Vec<&'p GatherField>) -> Result<(), RuntimeError> {
        let files = self.input.as_mut().map(|input| std::mem::take(&mut input.attachments));
        let mut files = files.unwrap_or_default().into_iter();
        for field in std::mem::take(wanted) {
            let takes_file = field.ty.as_ref().is_some_and(|ty| ty.value == "attachment");
            match takes_file.then(|| files.next()).flatten() {
                Some(file) => {
                    let value = from_json(&file.to_json()).unwrap_or_default();
                    self.assign_name(&self.field_variable(&field.name.value), value)?;
                }
                None => wanted.push(field),
            }
        }
        Ok(())
    }

    /// How the values of a field are found, if its step says so.
    fn strategy(&self, asking: CollectRequest<'p>, field: &FieldLayers<'p>) -> Option<&'p str> {
        let of_step = asking.collect.and_then(|collect| collect.gather.strategy);
        // What a failed constraint asks for again is found as the step finds it.
        let again = (!asking.only.is_empty()).then(|| self.declared_fields());
        let mut declared = again.into_iter().flatten();
        let own = declared.find(|(one, _)| std::ptr::eq(*one, field.own()));
        let own = own.and_then(|(_, strategy)| *strategy);
        asking.collect.and_then(|_| field.own().strategy).or(of_step).or(own)
    }

    /// The values of a message, by the strategy of each field: by patterns alone, by patterns and then
    /// by the model for what they do not find, or by the model. Only a step has a strategy (current
    /// specification, 3.6, "Extraction Strategies").
    fn values_of(
        &mut self,
        asking: CollectRequest<'p>,
        wanted: &[FieldLayers<'p>],
        specs: &[FieldSpec],
        message: &str,
        asked: Option<&str>,
    ) -> Result<Map<String, Json>, RuntimeError> {
        let mut by_pattern = Vec::new();
        let mut by_model = Vec::new();
        for (field, spec) in wanted.iter().zip(specs) {
            match self.strategy(asking, field) {
                Some("pattern") => by_pattern.push(spec.clone()),
                // A plain text has no pattern.
                Some("hybrid")
                    if spec.ty != FieldType::Text
                        || spec.pattern.is_some()
                        || !spec.values.is_empty() =>
                {
                    by_pattern.push(spec.clone());
                    by_model.push(spec.clone());
                }
                _ => by_model.push(spec.clone()),
            }
        }
        let mut values = match by_pattern.as_slice() {
            [] => Map::new(),
            fields => self.host.extractor.extract(message, fields, asked),
        };
        by_model.retain(|spec| values.get(&spec.name).is_none_or(Json::is_null));
        if by_model.is_empty() {
            return Ok(values);
        }
        let context = self.recent_messages(message);
        let mut known = self.known_values()?;
        known.retain(|name, _| specs.iter().any(|field| field.name == *name));
        let asked = asked.filter(|name| by_model.iter().any(|spec| spec.name == *name));
        let task = ModelTask::Extract {
            message: message.to_owned(),
            context,
            fields: by_model,
            asked: asked.map(str::to_owned),
            known,
        };
        match self.ask_model(task)? {
            Answer::Values(more) => values.extend(more),
            _ => return Err(RuntimeError::new("model_error", "the model returned no values")),
        }
        Ok(values)
    }

    /// Assigns a value if it is valid; otherwise returns a message about it. A value that the user has
    /// to confirm is only kept for that.
    fn accept_value(
        &mut self,
        field: &FieldLayers<'p>,
        spec: &FieldSpec,
        value: Value,
        confirm: bool,
    ) -> Result<Option<String>, RuntimeError> {
        let name = spec.name.as_str();
        let validation = field.get(|f| f.validation.as_ref());
        let semantics = self.dialect().semantics();
        let found = match self.lookup_table(field) {
            Some(table) => looked_up(table, &value, semantics),
            None => None,
        };
        let value = match found {
            Some(Some(listed)) => listed,
            None => value,
            Some(None) => {
                let message = validation.and_then(Validation::message);
                return Ok(Some(match message {
                    Some(message) => self.render(message),
                    None => format!(
                        "I do not know `{}`. {}",
                        agentir_eval::text(&value, semantics),
                        question_for(spec)
                    ),
                }));
            }
        };
        let value = as_listed(spec, value);
        let variable = self.field_variable(name);
        if self.is_write_protected(&variable) {
            return Ok(None);
        }
        let shared = self.session.shared.get(&variable).cloned();
        let before = shared.or_else(|| self.frame().variables.get(&variable).cloned());
        self.assign_name(&variable, value.clone())?;
        let valid = self.is_valid(field, spec, &value)?;
        if valid && !confirm {
            return Ok(None);
        }
        self.assign_name(&variable, before.unwrap_or_default())?;
        if valid {
            let turn = self.session.turn;
            let value = to_json(&value);
            self.frame().inferences.insert(name.to_owned(), Inference { value, turn });
            self.show_inferences();
            return Ok(None);
        }
        Ok(Some(match validation.and_then(Validation::message) {
            Some(message) => self.render(message),
            None => format!("That does not fit. {}", question_for(spec)),
        }))
    }

    /// Fills the agent's fields from any user message within a flow (ABL, 3.6: "extracts from user
    /// messages"; ADL, B.3: the arguments of an agent).
    pub(super) fn extract_agent_fields(&mut self) -> Result<(), RuntimeError> {
        let agent = self.agent()?;
        if agent.gather.fields.is_empty() {
            return Ok(());
        }
        self.extract(CollectRequest::of_agent(&agent.gather), false)?;
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
            let given = arguments.get(with.name.value.as_str());
            let value = match &with.value {
                Some(_) if given.is_some() && super::prompt::names_itself(with) => given.cloned(),
                Some(value) => Some(to_json(&self.value(value)?)),
                None => given.cloned(),
            };
            if let Some(value) = value.and_then(|v| from_json(&v).ok()) {
                self.assign_name(&self.field_variable(&with.name.value), value)?;
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

/// The question for a field.
fn question_for(spec: &FieldSpec) -> String {
    spec.prompt.clone().unwrap_or_else(|| format!("Please tell me: {}.", spec.name))
}

/// A value as the field lists it, if it is one of these values, or a synonym of one, but for its case.
fn as_listed(spec: &FieldSpec, value: Value) -> Value {
    let Value::Text(text) = &value else { return value };
    let text = text.trim().to_lowercase();
    let is = |one: &String| one.to_lowercase() == text;
    // What is a value itself does not stand for another one.
    let named = || spec.values.iter().find(|(name, _)| is(name));
    let meant = || spec.values.iter().find(|(_, synonyms)| synonyms.iter().any(is));
    match named().or_else(meant) {
        Some((name, _)) => Value::text(name.as_str()),
        None => value,
    }
}
