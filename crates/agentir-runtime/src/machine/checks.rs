//! Constraints and guardrails (ABL, current specification, 3.8 and 3.9).

use super::detectors::redact_personal_data;
use super::{Next, NodeResult, Run, leads_onward};
use crate::host::{FailureKind, ToolFailure};
use crate::session::{ReturnPoint, RuntimeError};
use crate::trace::EventKind;
use agentir_eval::Value;
use agentir_expr::{Expr, ExprKind, Visit};
use agentir_flow::cfg::{EdgeKind, Origin, Test};
use agentir_ir::{Constraint, Data, Guardrail, GuardrailKind};
use petgraph::graph::{EdgeIndex, NodeIndex};
use regex::Regex;
use serde_json::Value as Json;

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
        // A constraint on values that are not known yet does not apply.
        if constraint.condition.expr().is_some_and(|e| self.reads_unknown(e))
            && let Some(edge) = self.passing_edge(at)
        {
            return Ok(Next::Take(edge));
        }
        let passes = self.pick_edge(at, |edge, _| leads_onward(edge.kind))?;
        if let Some(edge) = passes {
            return Ok(Next::Take(edge));
        }
        let failures =
            self.session.variable("constraint_failures").and_then(|n| n.as_f64()).unwrap_or(0.0);
        self.session.set_system("constraint_failures", &Json::from(failures + 1.0));
        let rule = constraint.condition.text.value.to_string();
        let action = match &constraint.on_fail {
            Some(failure) => format!("{:?}", failure.kind).to_lowercase(),
            None if constraint.severity == Some("warning") => "warn".to_owned(),
            None => "block".to_owned(),
        };
        if constraint.severity == Some("warning") {
            let mut warnings = match self.session.variable("_constraint_warnings") {
                Some(Json::Array(all)) => all,
                _ => Vec::new(),
            };
            warnings.push(Json::from(rule.as_str()));
            self.session.set_system("_constraint_warnings", &Json::Array(warnings));
        }
        self.emit(EventKind::Violation { rule, action });
        self.take_violation_edge(at)
    }

    /// The edge for a passed check, regardless of its guard.
    fn passing_edge(&mut self, at: NodeIndex) -> Option<EdgeIndex> {
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
                        || self
                            .agent()
                            .is_ok_and(|a| a.gather.fields.iter().any(|f| f.name.value == named));
                    unknown |= pending && self.variable(named).is_none();
                }
                _ => {}
            }
            Visit::Children
        });
        unknown
    }

    fn guardrail(&mut self, at: NodeIndex, rail: &'p Guardrail) -> NodeResult {
        if self.defer_guardrail(rail, action_of(rail) == "block")
            && let Some(edge) = self.passing_edge(at)
        {
            return Ok(Next::Take(edge));
        }
        let content = match rail.kind {
            GuardrailKind::Input => self.input.as_ref().map(|i| i.text.clone()),
            GuardrailKind::Output => {
                let texts: Vec<&str> =
                    self.progress.messages.iter().map(|s| s.text.as_str()).collect();
                (!texts.is_empty()).then(|| texts.join("\n"))
            }
            GuardrailKind::ToolInput => self.tool_input(),
            // Tool results are checked when they arrive.
            GuardrailKind::ToolOutput => None,
            GuardrailKind::Handoff => Some(Json::Object(self.known_values()?).to_string()),
        };
        let hit = match &content {
            None => false,
            Some(content) => self.guardrail_triggers(rail, content)?,
        };
        if !hit {
            return match self.passing_edge(at) {
                Some(edge) => Ok(Next::Take(edge)),
                None => self.leave(at),
            };
        }
        let action = action_of(rail).to_owned();
        self.emit(EventKind::Violation {
            rule: rail.name.value.to_string(),
            action: action.clone(),
        });
        if matches!(action.as_str(), "redact" | "filter" | "fix") {
            self.filter_content(rail, &action);
        }
        // A message that requires review by a person is not sent.
        if action == "escalate" && rail.kind == GuardrailKind::Output {
            self.progress.messages.clear();
        }
        if action == "reask" {
            let message = self.guardrail_message(rail);
            self.progress.messages.clear();
            self.frame().notes.push(message);
        }
        let ways = self
            .outgoing_edges(at)
            .into_iter()
            .find(|(_, _, edge)| matches!(edge.kind, EdgeKind::Error | EdgeKind::Retry));
        match ways {
            Some((edge, ..)) => Ok(Next::Take(edge)),
            None => self.leave(at),
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
            let content = match &result {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            };
            let failed = |message| ToolFailure::new(FailureKind::Error, message);
            if !self
                .guardrail_triggers(rail, &content)
                .map_err(|problem| failed(problem.message))?
            {
                continue;
            }
            let action = action_of(rail);
            let (rule, shown) = (rail.name.value.to_string(), action.to_owned());
            self.emit(EventKind::Violation { rule, action: shown });
            match action {
                "redact" | "filter" | "fix" => {
                    let pattern = rail.check.as_ref().and_then(pattern_of);
                    map_strings(&mut result, &|text| filtered_text(text, pattern.as_ref(), action));
                }
                "block" | "escalate" | "reask" => return Err(failed(self.guardrail_message(rail))),
                _ => {}
            }
        }
        Ok(result)
    }

    /// Whether a guardrail is triggered, by its own check or by asking the model.
    fn guardrail_triggers(
        &mut self,
        rail: &'p Guardrail,
        content: &str,
    ) -> Result<bool, RuntimeError> {
        if let Some(check) = &rail.check {
            let text = Value::text(content);
            let mark = self.locals.len();
            for name in
                ["content", "input", "output", "response", "tool_input", "tool_output", "text"]
            {
                self.locals.push((name.into(), text.clone()));
            }
            let found = self.test(&Test::Expr(check));
            self.locals.truncate(mark);
            return found;
        }
        if let Some(question) = &rail.llm_check {
            let statement = self.render(question);
            return self.judge(&statement, content.to_owned());
        }
        // Platform classifiers are replaced by a judgement of the model.
        let Some(category) = rail.category.as_ref().or(rail.provider.as_ref()) else {
            return Ok(false);
        };
        let statement = format!("The text is to be kept out because of {category}.");
        self.judge(&statement, content.to_owned())
    }

    /// Applies a filter to the input or to the pending messages.
    fn filter_content(&mut self, rail: &Guardrail, action: &str) {
        let pattern = rail.check.as_ref().and_then(pattern_of);
        let filter = |text: &str| filtered_text(text, pattern.as_ref(), action);
        match rail.kind {
            GuardrailKind::Input => {
                if let Some(input) = &mut self.input {
                    input.text = filter(&input.text);
                    let text = input.text.clone();
                    self.session.set_system("input", &Json::from(text.as_str()));
                    if let Some(message) = self.frame().messages.last_mut() {
                        message.text = text;
                    }
                }
            }
            _ => {
                for message in &mut self.progress.messages {
                    message.text = filter(&message.text);
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
        let description = rail.description.as_ref().map(|d| self.render(d));
        own.map(str::to_owned)
            .or(description)
            .unwrap_or_else(|| "I cannot help with that.".to_owned())
    }

    /// The arguments of the next tool call, as JSON.
    fn tool_input(&mut self) -> Option<String> {
        let pick = self.frame().pending.last()?;
        serde_json::to_string(&pick.arguments).ok()
    }

    /// Runs the checks one after the other; each of them returns here.
    pub(super) fn checkpoint(&mut self, at: NodeIndex, stage: u32) -> NodeResult {
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

/// Removes or redacts what a guardrail found: matches of its pattern, or else personal data.
fn filtered_text(text: &str, pattern: Option<&Regex>, action: &str) -> String {
    let with = if action == "redact" { "[REDACTED]" } else { "" };
    match pattern {
        Some(pattern) => pattern.replace_all(text, with).into_owned(),
        None => redact_personal_data(text, with),
    }
}

/// Applies a function to all strings of a value. Recursive; the JSON parser limits the depth.
fn map_strings(value: &mut Json, change: &impl Fn(&str) -> String) {
    match value {
        Json::String(text) => *text = change(text),
        Json::Array(items) => items.iter_mut().for_each(|item| map_strings(item, change)),
        Json::Object(fields) => fields.values_mut().for_each(|value| map_strings(value, change)),
        _ => {}
    }
}

fn is_null_literal(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Literal(agentir_expr::Literal::Null | agentir_expr::Literal::Undefined)
    )
}

fn action_of(rail: &Guardrail) -> &str {
    match &rail.action {
        Data::Object(fields) => fields.get("type").and_then(Data::as_str),
        other => other.as_str(),
    }
    .unwrap_or("warn")
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
