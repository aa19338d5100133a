//! Constraints and guardrails (ABL, current specification, 3.8 and 3.9).

use super::authorization::arguments_read;
use super::detectors::redact_personal_data;
use super::refusals::{BLOCKED, Consequence, Guarded};
use super::shown::change_shown;
use super::verdicts::Verdict;
use super::{Next, NodeResult, Run, STAGE_REFUSED, leads_onward};
use crate::host::{FailureKind, ToolFailure};
use crate::json::from_json;
use crate::model::Role;
use crate::session::{ReturnPoint, RuntimeError};
use crate::trace::EventKind;
use agentir_eval::{State, Value};
use agentir_expr::{Expr, ExprKind, Name, Visit};
use agentir_flow::cfg::{EdgeKind, Origin, Test};
use agentir_ir::{Agent, Constraint, Data, Guardrail, GuardrailKind, Node, Target, WriteUse};
use petgraph::graph::{EdgeIndex, NodeIndex};
use regex::Regex;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value as Json};

/// How often a guardrail makes the model answer again, unless it says so (ABL, `max_reasks`).
const MAX_REASKS: f64 = 2.0;

/// What a constraint saw when it failed that led to another step.
#[derive(Clone, PartialEq)]
pub(super) struct FailedCheck {
    own: State,
    shared: State,
    memory: State,
    input_unread: bool,
}

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn check(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        match element {
            Origin::Constraint(constraint) => self.constraint(at, constraint),
            Origin::Guardrail(rail) => self.guardrail(at, rail),
            _ => match self.pick_edge(at, |edge, _| leads_onward(edge.kind))? {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.take_violation_edge(at),
            },
        }
    }

    /// Takes the edge for a failed check.
    fn take_violation_edge(&mut self, at: NodeIndex) -> NodeResult {
        for (id, to, edge) in self.outgoing_edges(at) {
            if matches!(
                edge.kind,
                EdgeKind::Error | EdgeKind::Jump | EdgeKind::Retry | EdgeKind::Return
            ) && !self.is_error_hub(to)
                && self.can_take(id, to, &edge)
                && self.guard_holds(edge.guard)?
            {
                return Ok(Next::Take(id));
            }
        }
        Err(RuntimeError::new("validation_error", "a check failed"))
    }

    fn constraint(&mut self, at: NodeIndex, constraint: &'p Constraint) -> NodeResult {
        let guarded = self.guarded();
        // What is said about a failed check or an error is no result.
        let spared = matches!(guarded, Guarded::Answers(_))
            && self.progress.unchecked.iter().all(|message| message.notice);
        // A constraint of every turn does not apply before there is something to check. Before a call or an answer,
        // what is missing is a value like any other.
        let of_any_call =
            self.is_before_every_call(constraint) && matches!(guarded, Guarded::Call(_));
        let waits = constraint.is_of_every_turn()
            && !of_any_call
            && !self.has_asked_for(constraint)
            && constraint.condition.expr().is_some_and(|e| self.reads_unknown(e));
        if (spared
            || waits
            || self.leaves_to_answer(constraint, guarded)
            || self.has_its_answer(constraint))
            && let Some(edge) = self.passing_edge(at)
        {
            return Ok(Next::Take(edge));
        }
        let (problem, seen) =
            match self.strictly(|run| run.edge_for_guarded(at, constraint, guarded)) {
                Ok(Ok(edge)) => {
                    self.forget_question(constraint);
                    return Ok(Next::Take(edge));
                }
                Ok(Err(seen)) => (None, seen),
                Err(problem) => (Some(problem), self.values_seen_by(constraint)),
            };
        // A rule of every turn that refuses nothing has said so already, if it was about the same values.
        let goes_on = !constraint.refuses()
            && (constraint.is_of_every_turn() || self.is_before_every_call(constraint));
        if goes_on {
            let noted = (constraint.span, seen);
            if self.progress.noted_failures.contains(&noted)
                && let Some(edge) = self.passing_edge(at)
            {
                return Ok(Next::Take(edge));
            }
            self.progress.noted_failures.push(noted);
        }
        let rule = constraint.condition.text.value.to_string();
        let failures =
            self.session.variable("constraint_failures").and_then(|n| n.as_f64()).unwrap_or(0.0);
        self.session.set_system("constraint_failures", &Json::from(failures + 1.0));
        let warns = constraint.severity == Some("warning");
        let action = match &constraint.on_fail {
            _ if problem.is_some() && !warns => "block".to_owned(),
            Some(failure) => format!("{:?}", failure.kind).to_lowercase(),
            None if warns => "warn".to_owned(),
            None => "block".to_owned(),
        };
        if warns {
            let mut warnings = match self.session.variable("_constraint_warnings") {
                Some(Json::Array(all)) => all,
                _ => Vec::new(),
            };
            warnings.push(Json::from(rule.as_str()));
            self.session.set_system("_constraint_warnings", &Json::Array(warnings));
        }
        if let Some(problem) = &problem {
            self.report_broken(&format!("the constraint `{rule}`"), problem);
        }
        self.emit(EventKind::Violation { rule, action });
        if warns {
            return self.failure_edge(at, constraint);
        }
        if problem.is_some() {
            return self.block(at);
        }
        if self.record_failure(at, constraint) {
            self.refuse(at, None)?;
            return self.stop_turn();
        }
        match guarded {
            // `THEN: continue` of a constraint of every turn goes on with the turn, and so with the call, which waits for what
            // the constraint asks for.
            Guarded::Call(checkpoint) if goes_on => {
                if constraint.on_fail.as_ref().is_some_and(|f| !f.collect_fields.is_empty()) {
                    self.refuse_call(checkpoint, Consequence::Collect);
                }
            }
            _ => self.refuse(at, constraint.on_fail.as_ref())?,
        }
        self.failure_edge(at, constraint)
    }

    /// The values of the variables that a constraint reads.
    fn values_seen_by(&self, constraint: &Constraint) -> Vec<Value> {
        let mut read = Vec::new();
        for condition in [Some(&constraint.condition), constraint.applies_when.as_ref()] {
            let Some(expr) = condition.and_then(agentir_expr::Condition::expr) else { continue };
            expr.paths(&mut |path| {
                read.push(self.value(&Expr::path(path.clone(), expr.span)).unwrap_or_default());
            });
        }
        read
    }

    /// Records that a constraint has failed that leads to a step. Whether it has failed before in this turn, and nothing has
    /// changed since: it would go on like that, so the next message is awaited, as after the last `RETRY`.
    fn record_failure(&mut self, at: NodeIndex, constraint: &Constraint) -> bool {
        let failure = constraint.on_fail.as_ref();
        let mut jumps = failure.into_iter().flat_map(|f| f.then_step.iter().chain(&f.then_action));
        if !jumps.any(|jump| matches!(jump.target, Target::Step(_) | Target::Backtrack(_))) {
            return false;
        }
        let state = FailedCheck {
            own: self.frame().variables.clone(),
            shared: self.session.shared.clone(),
            memory: self.session.memory.clone(),
            input_unread: self.progress.input_unread,
        };
        self.progress
            .failed_constraints
            .insert(at, state.clone())
            .is_some_and(|before| before == state)
    }

    /// The edge by which a constraint passes, or the values for which it fails. Before a call it has to hold for the variables
    /// and for the values that the call carries under their names.
    fn edge_for_guarded(
        &mut self,
        at: NodeIndex,
        constraint: &'p Constraint,
        guarded: Guarded,
    ) -> Result<Result<EdgeIndex, Vec<Value>>, RuntimeError> {
        let Some(edge) = self.constraint_edge(at, constraint)? else {
            return Ok(Err(self.values_seen_by(constraint)));
        };
        let Guarded::Call(checkpoint) = guarded else { return Ok(Ok(edge)) };
        let arguments = self.guarded_arguments(checkpoint).unwrap_or_default();
        let read = arguments_read(constraint, &arguments);
        if read.is_empty() {
            return Ok(Ok(edge));
        }
        self.with_arguments(&read, |run| {
            let edge = run.constraint_edge(at, constraint)?;
            Ok(edge.ok_or_else(|| run.values_seen_by(constraint)))
        })
    }

    /// The edge for a passed check, regardless of its guard.
    pub(super) fn passing_edge(&mut self, at: NodeIndex) -> Option<EdgeIndex> {
        let edges = self.outgoing_edges(at);
        let on = edges
            .into_iter()
            .find(|(id, to, edge)| leads_onward(edge.kind) && self.can_take(*id, *to, edge));
        on.map(|(edge, ..)| edge)
    }

    /// Whether a condition compares a value that is missing because its tool has not been called or
    /// its field has not been collected. `IS SET` and comparisons with null test for exactly that,
    /// so they do not count.
    fn reads_unknown(&self, condition: &Expr) -> bool {
        let mut unknown = false;
        let runtime = self.dialect().runtime();
        let learned = self.session.agent().and_then(|agent| self.machine.learned.get(agent));
        condition.visit(&mut |e| {
            match &e.kind {
                ExprKind::IsSet { .. } => return Visit::Skip,
                ExprKind::Binary { left, right, .. }
                    if [left, right].iter().any(|side| is_null_literal(side)) =>
                {
                    return Visit::Skip;
                }
                ExprKind::Path(path) => {
                    let named = path.root.value.as_str();
                    let pending = self.tool(named).is_some()
                        || runtime.tool_of_result(named).is_some()
                        || learned.is_some_and(|learned| learned.contains(named));
                    unknown |= pending && self.variable(named).is_none();
                }
                _ => {}
            }
            Visit::Children
        });
        unknown
    }

    fn guardrail(&mut self, at: NodeIndex, rail: &'p Guardrail) -> NodeResult {
        if self.defer_guardrail(rail)
            && let Some(edge) = self.passing_edge(at)
        {
            return Ok(Next::Take(edge));
        }
        let content = match rail.kind {
            GuardrailKind::Input => self.input.as_ref().map(|i| i.text.clone()),
            GuardrailKind::Output => {
                let text = self.unchecked_text();
                (!text.is_empty()).then_some(text)
            }
            GuardrailKind::ToolInput => self.tool_input(),
            // Tool results are checked when they arrive.
            GuardrailKind::ToolOutput => None,
            GuardrailKind::Handoff => Some(Json::Object(self.handed_over()?).to_string()),
        };
        let verdict = match &content {
            None => Verdict::Passes,
            Some(_) if rail.kind == GuardrailKind::Output => self.answer_verdict(rail),
            Some(content) => {
                match self.screened(rail).filter(|_| rail.kind == GuardrailKind::Input) {
                    Some(verdict) => verdict,
                    None => self.guardrail_verdict(rail, content),
                }
            }
        };
        if verdict == Verdict::Passes {
            return match self.passing_edge(at) {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        }
        let action = rail.action_type();
        let broken = verdict == Verdict::Broken && self.must_refuse(rail);
        self.emit(EventKind::Violation {
            rule: rail.name.value.to_string(),
            action: if broken { "block" } else { action }.to_owned(),
        });
        if broken {
            self.refuse_by_guardrail();
            return self.block(at);
        }
        let goes_on = match action {
            // The arguments are changed when the call is made.
            "redact" | "filter" | "fix" if rail.kind == GuardrailKind::ToolInput => true,
            "redact" | "filter" | "fix" => self.filter_until_it_passes(rail),
            "reask" => self.reask(rail),
            "block" | "escalate" => {
                self.refuse_by_guardrail();
                true
            }
            "warn" => true,
            _ => false,
        };
        if !goes_on {
            self.refuse_by_guardrail();
            let text = self.guardrail_message(rail);
            self.tell(&text);
            return self.stop_turn();
        }
        let ways = self
            .outgoing_edges(at)
            .into_iter()
            .find(|(_, _, edge)| matches!(edge.kind, EdgeKind::Error | EdgeKind::Retry));
        match ways {
            Some((edge, ..)) => Ok(Next::Take(edge)),
            None => match self.passing_edge(at) {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            },
        }
    }

    /// Makes the model answer again, a limited number of times; whether it does. Nobody can answer again for the
    /// author.
    fn reask(&mut self, rail: &'p Guardrail) -> bool {
        let limit = match &rail.action {
            Data::Object(fields) => fields.get("max_reasks").and_then(Data::as_f64),
            _ => None,
        };
        let Guarded::Answers(node) = self.guarded() else { return false };
        let flow = self.agent().is_ok_and(|agent| agent.flow.is_some());
        let led = self.is_led_by_model(node);
        self.progress.reasks += 1;
        if f64::from(self.progress.reasks) > limit.unwrap_or(MAX_REASKS) || (flow && !led) {
            return false;
        }
        self.discard_unchecked();
        let message = self.guardrail_message(rail);
        self.frame().notes.push(message);
        self.abandon();
        if led {
            // The step that the model leads waits for the user; instead, it goes on.
            self.answer_again();
        }
        true
    }

    /// Filters what a guardrail found; whether the rest passes. A filter without a pattern removes personal data, which
    /// may not be what was found.
    pub(super) fn filter_until_it_passes(&mut self, rail: &'p Guardrail) -> bool {
        self.filter_content(rail);
        if rail.check.is_none() {
            return rail.kind != GuardrailKind::Output || !self.unchecked_text().trim().is_empty();
        }
        match rail.kind {
            GuardrailKind::Input => {
                let content = self.input.as_ref().map(|i| i.text.clone());
                content.is_none_or(|content| self.guardrail_passes(rail, &content))
            }
            // Of an answer, something has to remain.
            GuardrailKind::Output => {
                !self.unchecked_text().trim().is_empty()
                    && self.answer_verdict(rail) == Verdict::Passes
            }
            _ => false,
        }
    }

    /// Evaluates a guardrail on what is about to be said: its own check on all of it, and on each message, button, and so
    /// on; the model is asked about all of it at once.
    pub(super) fn answer_verdict(&mut self, rail: &'p Guardrail) -> Verdict {
        let all = self.unchecked_text();
        let parts = self.unchecked_texts();
        let parts = if parts.len() > 1 { parts } else { Vec::new() };
        let parts: Vec<String> = parts.into_iter().map(str::to_owned).collect();
        let contents: Vec<&str> = std::iter::once(&all).chain(&parts).map(String::as_str).collect();
        self.verdict_of(rail, &contents)
    }

    /// Evaluates a guardrail; that it cannot be evaluated is said to the developer.
    pub(super) fn guardrail_verdict(&mut self, rail: &'p Guardrail, content: &str) -> Verdict {
        self.verdict_of(rail, &[content])
    }

    /// Evaluates a guardrail on the first of some contents, which has all of it, and its own check on all of them.
    fn verdict_of(&mut self, rail: &'p Guardrail, contents: &[&str]) -> Verdict {
        match self.guardrail_triggers(rail, contents) {
            Ok(false) => Verdict::Passes,
            Ok(true) => Verdict::Fails,
            Err(problem) => {
                self.report_broken(&format!("the guardrail `{}`", rail.name.value), &problem);
                Verdict::Broken
            }
        }
    }

    /// Applies the output guardrails to a tool result. Filters change its strings; a blocking
    /// guardrail turns the call into a failure.
    pub(super) fn apply_output_guardrails(
        &mut self,
        mut result: Json,
    ) -> Result<Json, ToolFailure> {
        let Ok(agent) = self.agent() else { return Ok(result) };
        let all = &agent.constraints.guardrails;
        let mut rails: Vec<_> =
            all.iter().filter(|g| g.kind == GuardrailKind::ToolOutput).collect();
        // Lower priorities run first (current specification, 3.9).
        rails.sort_by(|a, b| a.priority.0.total_cmp(&b.priority.0));
        for rail in rails {
            let content = content_of(&result);
            let failed = |message| ToolFailure::new(FailureKind::Error, message);
            let verdict = self.guardrail_verdict(rail, &content);
            if verdict == Verdict::Passes {
                continue;
            }
            let action = rail.action_type();
            let (rule, shown) = (rail.name.value.to_string(), action.to_owned());
            self.emit(EventKind::Violation { rule, action: shown });
            match action {
                _ if !self.must_refuse(rail) => {}
                _ if verdict == Verdict::Broken => return Err(failed(BLOCKED.to_owned())),
                "redact" | "filter" | "fix" => {
                    filter_strings(rail, &mut result);
                    if rail.check.is_some() && !self.guardrail_passes(rail, &content_of(&result)) {
                        return Err(failed(self.guardrail_message(rail)));
                    }
                }
                _ => return Err(failed(self.guardrail_message(rail))),
            }
        }
        Ok(result)
    }

    /// Applies the same guardrails to what a tool returned with a failure, and to its message.
    pub(super) fn apply_guardrails_to_failure(&mut self, failure: ToolFailure) -> ToolFailure {
        let ToolFailure { kind, message, data, for_developers } = failure;
        match self.apply_output_guardrails(serde_json::json!({ "error": message, "data": data })) {
            Ok(mut checked) => {
                let text = checked.get("error").and_then(Json::as_str).unwrap_or_default();
                let message = text.to_owned();
                let data = checked.get_mut("data").map(Json::take).unwrap_or_default();
                ToolFailure { kind, message, data, for_developers }
            }
            Err(refused) => ToolFailure { kind, ..refused },
        }
    }

    /// Whether a guardrail is triggered, by its own check or by asking the model. The first content is what the model is
    /// asked about.
    fn guardrail_triggers(
        &mut self,
        rail: &'p Guardrail,
        contents: &[&str],
    ) -> Result<bool, RuntimeError> {
        if let Some(check) = &rail.check {
            for content in contents {
                if self.finds(rail, check, content)? {
                    return Ok(true);
                }
            }
        } else if rail.tier == "local" {
            return Err(super::check_error(
                &rail.name.value,
                "its check is not a valid expression",
            ));
        }
        let content = contents.first().copied().unwrap_or_default();
        // Each of the tiers may find something.
        if let Some(question) = &rail.llm_check {
            let statement = self.render(question);
            if statement.trim().is_empty() {
                return Err(super::check_error(&rail.name.value, "it asks the model nothing"));
            }
            if self.judge_once(&statement, content.to_owned())? {
                return Ok(true);
            }
        }
        // Platform classifiers are replaced by a judgement of the model.
        let Some(category) = rail.category.as_ref().or(rail.provider.as_ref()) else {
            return Ok(false);
        };
        if category.trim().is_empty() {
            return Err(super::check_error(&rail.name.value, "it has no category"));
        }
        let statement = format!("The text is to be kept out because of {category}.");
        self.judge_once(&statement, content.to_owned())
    }

    /// Whether the check of a guardrail finds something in a content.
    fn finds(
        &mut self,
        rail: &'p Guardrail,
        check: &'p Expr,
        content: &str,
    ) -> Result<bool, RuntimeError> {
        let text = Value::text(content);
        let mark = self.locals.len();
        // Who reads a part of it means the arguments or the result, not their text.
        // A message of the user stays a text, whatever it looks like.
        let of_values = !matches!(rail.kind, GuardrailKind::Input | GuardrailKind::Output);
        let parts = if of_values { parts_read(check) } else { Vec::new() };
        let whole = (!parts.is_empty())
            .then(|| from_json(&serde_json::from_str(content).ok()?).ok())
            .flatten();
        let runtime = self.dialect().runtime();
        let of_handoff = match rail.kind {
            GuardrailKind::Handoff => runtime.handed_over,
            _ => &[],
        };
        for name in runtime.checked.iter().chain(of_handoff) {
            let value = whole.clone().filter(|_| parts.iter().any(|part| part == name));
            self.locals.push(((*name).into(), value.unwrap_or_else(|| text.clone())));
        }
        let found = self.test(&Test::Expr(check));
        self.locals.truncate(mark);
        found
    }

    /// Applies a filter to the input or to what is about to be said.
    fn filter_content(&mut self, rail: &Guardrail) {
        let pattern = rail.check.as_ref().and_then(pattern_of);
        let action = rail.action_type();
        let filter = |text: &str| filtered_text(text, pattern.as_ref(), action);
        match rail.kind {
            GuardrailKind::Input => {
                let Some(input) = &mut self.input else { return };
                if let Some((_, Some(value))) = &mut input.action {
                    *value = filter(value);
                }
                let before = std::mem::take(&mut input.text);
                input.text = filter(&before);
                let text = input.text.clone();
                self.session.set_system("input", &Json::from(text.as_str()));
                self.session.set_system("recent_input", &Json::from(text.as_str()));
                let mut messages = self.frame().messages.iter_mut().rev();
                if let Some(message) = messages.find(|m| m.role == Role::User && m.text == before) {
                    message.text = text;
                }
            }
            _ => {
                for index in 0..self.progress.unchecked.len() {
                    let Some(unchecked) = self.progress.unchecked.get_mut(index) else { break };
                    let message = &mut unchecked.message;
                    let before = message.words().to_owned();
                    message.text = filter(&message.text);
                    message.beside = filter(&message.beside);
                    if let Some(actions) = &mut message.actions {
                        change_shown(actions, &filter);
                    }
                    let text = message.words().to_owned();
                    let mut messages = self.frame().messages.iter_mut().rev();
                    if let Some(message) =
                        messages.find(|m| m.role == Role::Assistant && m.text == before)
                    {
                        message.text = text;
                    }
                }
            }
        }
    }

    pub(super) fn guardrail_message(&self, rail: &Guardrail) -> String {
        let own = match &rail.action {
            Data::Object(fields) => {
                fields.get("message").or(fields.get("msg")).and_then(Data::as_str)
            }
            _ => None,
        };
        own.map_or_else(|| "I cannot help with that.".to_owned(), str::to_owned)
    }

    /// The arguments of the call that is checked, as JSON: whoever makes it.
    fn tool_input(&mut self) -> Option<String> {
        let Guarded::Call(checkpoint) = self.guarded() else { return None };
        serde_json::to_string(&self.guarded_arguments(checkpoint)?).ok()
    }

    /// The arguments of the call that follows a checkpoint.
    fn guarded_arguments(&mut self, checkpoint: NodeIndex) -> Option<Map<String, Json>> {
        let (call, element) = self.call_after(checkpoint)?;
        // Arguments without a value fail the call itself.
        let (tool, mut arguments) = self.planned_call(&element).ok().flatten()?;
        self.enforce_immutable_params(call, tool, &mut arguments);
        Some(arguments)
    }

    /// Runs the checks one after the other; each of them returns here.
    pub(super) fn checkpoint(&mut self, at: NodeIndex, stage: u32) -> NodeResult {
        if stage == STAGE_REFUSED {
            return self.pass_over_call(at);
        }
        if stage == 0 && self.progress.handed_back && self.progress.entered_by.is_none() {
            // A person has seen this message; the next one is checked again.
            self.frame()
                .return_points
                .push(ReturnPoint { node: super::index(at.index()), stage: 0 });
            return self.stop_turn();
        }
        // What was refused before is checked again. The message may be about something else, or have the values that
        // were missing.
        if stage == 0 && self.progress.entered_by.is_none() && self.progress.input_unread {
            if let Some(edge) = self.interruption_edge(at)? {
                return Ok(Next::Take(edge));
            }
            self.consume_input();
            self.extract_agent_fields()?;
        }
        let checks: Vec<_> = self
            .outgoing_edges(at)
            .into_iter()
            .filter(|(.., edge)| edge.kind == EdgeKind::Checkpoint)
            .map(|(edge, ..)| edge)
            .collect();
        let Some(next) = checks.get(stage as usize) else { return self.leave(at) };
        self.frame()
            .return_points
            .push(ReturnPoint { node: super::index(at.index()), stage: stage + 1 });
        Ok(Next::Take(*next))
    }
}

/// The names of what an agent learns in the conversation: what it collects, and what its tools and other agents return.
pub(super) fn learned_names(agent: &Agent) -> FxHashSet<&str> {
    let mut learned = FxHashSet::default();
    agent.walk(&mut |node| match node {
        Node::Field(field) => {
            learned.insert(field.name.value.as_str());
        }
        Node::Writes(name, WriteUse::ToolResult | WriteUse::Return) => {
            learned.insert(name.value.as_str());
        }
        _ => {}
    });
    learned
}

/// Applies the filter of a guardrail to all strings of a value.
pub(super) fn filter_strings(rail: &Guardrail, value: &mut Json) {
    let (pattern, action) = (rail.check.as_ref().and_then(pattern_of), rail.action_type());
    map_strings(value, &|text| filtered_text(text, pattern.as_ref(), action));
}

/// What a guardrail looks at in a value.
fn content_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Removes or redacts what a guardrail found: matches of its pattern, or else personal data.
fn filtered_text(text: &str, pattern: Option<&Regex>, action: &str) -> String {
    let with = if action == "redact" { "[REDACTED]" } else { "" };
    match pattern {
        Some(pattern) => pattern.replace_all(text, with).into_owned(),
        None => redact_personal_data(text, with),
    }
}

/// Applies a function to all strings of a value. Recursive; the JSON parser limits the depth.
pub(super) fn map_strings(value: &mut Json, change: &impl Fn(&str) -> String) {
    match value {
        Json::String(text) => *text = change(text),
        Json::Array(items) => items.iter_mut().for_each(|item| map_strings(item, change)),
        Json::Object(fields) => fields.values_mut().for_each(|value| map_strings(value, change)),
        _ => {}
    }
}

pub(super) fn is_null_literal(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Literal(agentir_expr::Literal::Null | agentir_expr::Literal::Undefined)
    )
}

/// The pattern of a check that consists of a single pattern match.
fn pattern_of(check: &Expr) -> Option<Regex> {
    let text = match &check.kind {
        ExprKind::Call { function, args }
            if function.value.rsplit('.').next() == Some("matches_pattern") =>
        {
            args.get(1)
        }
        ExprKind::Binary { op: agentir_expr::BinaryOp::Matches, right, .. } => Some(&**right),
        _ => None,
    }?;
    let ExprKind::Literal(agentir_expr::Literal::String(text) | agentir_expr::Literal::Regex(text)) =
        &text.kind
    else {
        return None;
    };
    agentir_eval::pattern(text).ok()
}

/// The first names of the paths in an expression that go on: `tool_input` in `tool_input.amount`.
fn parts_read(expr: &Expr) -> Vec<Name> {
    let mut found = Vec::new();
    expr.paths(&mut |path| {
        if !path.segments.is_empty() {
            found.push(path.root.value.clone());
        }
    });
    found
}
