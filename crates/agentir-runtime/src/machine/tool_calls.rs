//! Tool calls (ABL, current specification, 3.5, 3.14.6, 3.14.9).

use super::refusals::BLOCKED;
use super::{Next, NodeResult, Run, leads_onward};
use crate::host::{FailureKind, MAX_ARGUMENTS, ToolCall, ToolFailure};
use crate::json::{from_json, to_json};
use crate::model::Message;
use crate::session::{CompletedCall, ReturnPoint, RuntimeError, Session};
use crate::trace::EventKind;
use agentir_eval::Value;
use agentir_expr::{Expr, ExprKind, Visit};
use agentir_flow::cfg::{Edge, EdgeKind, NodeKind, Origin};
use agentir_ir::{
    BindingAction, Body, Call, ErrorHandler, FilledBy, InputBinding, NumberOrText, Program,
    Statement, Tool, ToolBinding,
};
use petgraph::graph::NodeIndex;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;

/// The length of an idempotency key, in hexadecimal digits: 128 bits.
const IDEMPOTENCY_KEY_CHARS: usize = 32;

/// A tool and the arguments of a call.
pub(super) type PlannedCall<'p> = (&'p str, Map<String, Json>);

impl<'p> Run<'_, 'p, '_> {
    pub(super) fn call(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        self.take_up_failed_use(at);
        let Some((tool, mut arguments)) = self.planned_call(element)? else {
            return self.leave(at);
        };
        if let Some(question) = self.machine.confirmations.get(&at) {
            match self.confirmed_call(at, element)? {
                Some(confirmed) => arguments = confirmed,
                None => {
                    let node = super::index(question.index());
                    return Ok(Next::ReturnTo(ReturnPoint { node, stage: 0 }));
                }
            }
        }
        if !self.is_still_available(element)? {
            self.answer_tool_use(&serde_json::json!({ "error": "this may not be done any more" }));
            return match self.choice_before(at) {
                Some(choice) => {
                    Ok(Next::ReturnTo(ReturnPoint { node: super::index(choice.index()), stage: 0 }))
                }
                None => self.stop_turn(),
            };
        }
        match element {
            Origin::Statement(Statement::Call(call)) => self.call_statement(at, call, arguments),
            _ => self.call_for_model(at, tool, arguments),
        }
    }

    /// The call that a node makes; `None` if it makes none.
    pub(super) fn planned_call(
        &mut self,
        element: &Origin<'p>,
    ) -> Result<Option<PlannedCall<'p>>, RuntimeError> {
        Ok(match element {
            Origin::Statement(Statement::Call(call)) => {
                Some((call.tool.value.as_str(), self.arguments(call)?))
            }
            Origin::ToolBinding(offer) => self.arguments_of_offer(offer)?,
            // A tool that the model called by its own name.
            Origin::Tool(tool) => Some(self.arguments_from_model(&tool.name.value, &[])?),
            Origin::Name(name) => Some(self.arguments_from_model(&name.value, &[])?),
            _ => None,
        })
    }

    /// Executes a call statement. The continuation depends on whether the call succeeds.
    fn call_statement(
        &mut self,
        at: NodeIndex,
        call: &'p Call,
        arguments: Map<String, Json>,
    ) -> NodeResult {
        let name = call.tool.value.as_str();
        let result = self.call_tool(at, name, arguments);
        let variable = call.result.as_ref().map(|r| r.value.as_str());
        match result {
            Ok(result) => {
                self.frame().approved = None;
                self.store_result(name, variable, &result, false)?;
                let edge = self.pick_edge(at, |edge, _| leads_onward(edge.kind))?;
                if let Some(edge) = edge {
                    return Ok(Next::Take(edge));
                }
                self.call_failed(at, call, None)
            }
            Err(failure) => {
                let data = failed_result(&failure);
                self.store_result(name, variable, &data, true)?;
                if self.traits().model_acts_by_tools {
                    self.clear_outputs(&call.on_success, false)?;
                }
                self.call_failed(at, call, Some(failure))
            }
        }
    }

    /// Continues after a failed call: with the consequence that the call declares, else with the
    /// error handler of the step or the agent, else with the next statement.
    fn call_failed(
        &mut self,
        at: NodeIndex,
        call: &Call,
        failure: Option<ToolFailure>,
    ) -> NodeResult {
        if let Some(failure) = failure
            && call.on_failure.is_empty()
            && self.is_handled(at, failure.kind.error())
        {
            return Err(RuntimeError::new(failure.kind.error(), failure.message));
        }
        let edges = self.outgoing_edges(at);
        match edges
            .iter()
            .find(|(_, to, edge)| edge.kind == EdgeKind::Error && !self.is_error_hub(*to))
        {
            Some((edge, ..)) => Ok(Next::Take(*edge)),
            None => self.leave(at),
        }
    }

    /// The call of a tool that the author exposes.
    fn arguments_of_offer(
        &mut self,
        offer: &'p ToolBinding,
    ) -> Result<Option<PlannedCall<'p>>, RuntimeError> {
        let BindingAction::Call { tool } = &offer.action else { return Ok(None) };
        self.arguments_from_model(&tool.value, &offer.with).map(Some)
    }

    /// The arguments of a call by the model: as the model provides them, except for those that the
    /// author fixes; defaults for the rest.
    fn arguments_from_model(
        &mut self,
        tool: &'p str,
        decided: &'p [InputBinding],
    ) -> Result<PlannedCall<'p>, RuntimeError> {
        let mut arguments =
            self.frame().pending.last().map(|p| p.arguments.clone()).unwrap_or_default();
        // What is not the model's to give, it does not give.
        for parameter in self.reserved(tool) {
            arguments.remove(parameter.name.value.as_str());
        }
        for with in decided {
            if let (FilledBy::Value, Some(value)) = (with.filled_by, &with.value) {
                let value = to_json(&self.value(value)?);
                arguments.insert(with.name.value.to_string(), value);
            }
        }
        for parameter in self.tool(tool).into_iter().flat_map(|t| &t.parameters) {
            let given = arguments.get(parameter.name.value.as_str()).is_some_and(|v| !v.is_null());
            if let Some(default) = parameter.default.as_ref().filter(|_| !given) {
                arguments.insert(parameter.name.value.to_string(), default.clone());
            }
        }
        self.fill_reserved(tool, &mut arguments);
        Ok((tool, arguments))
    }

    /// Executes a call by the model. The result goes back to the model in any case; errors also go
    /// to the agent's handlers, if there are any.
    fn call_for_model(
        &mut self,
        at: NodeIndex,
        name: &str,
        arguments: Map<String, Json>,
    ) -> NodeResult {
        match self.call_tool(at, name, arguments) {
            Ok(result) => {
                self.frame().approved = None;
                self.store_result(name, None, &result, false)?;
                let seen = self.seen_by_model(name, &result);
                self.answer_tool_use(&seen);
                self.leave(at)
            }
            Err(failure) => {
                let error = serde_json::json!({ "error": failure.message });
                self.store_result(name, None, &error, true)?;
                let failed = self.frame().pending.last().cloned();
                self.answer_tool_use(&error);
                let kind = failure.kind.error();
                if self.is_handled(at, kind) {
                    self.progress.failed_use = failed.map(|failed| (at, failed));
                    return Err(RuntimeError::new(kind, failure.message));
                }
                let node = self.node(at)?;
                let (Origin::ToolBinding(offer), Some(choice)) =
                    (node.origin, self.choice_before(at))
                else {
                    return self.leave(at);
                };
                self.clear_outputs(&offer.after, false)?;
                // What is written below the action is for when it has been done.
                Ok(Next::ReturnTo(ReturnPoint { node: super::index(choice.index()), stage: 0 }))
            }
        }
    }

    /// Where a node begins that is tried again: a call at the checks before it, because what was done about its failure
    /// may have changed what they read.
    pub(super) fn begin_call_again(&mut self, node: u32) -> u32 {
        let call = NodeIndex::new(node as usize);
        let kind = |at| self.machine.cfg.node(at).map(|node| node.kind);
        if kind(call) != Some(NodeKind::Call) {
            return node;
        }
        let before = self.machine.cfg.predecessors(call);
        let mut checks = before.filter(|(from, _)| kind(*from) == Some(NodeKind::Checkpoint));
        let Some((checks, _)) = checks.next() else { return node };
        self.take_up_failed_use(call);
        super::index(checks.index())
    }

    /// A handler tries a call by the model again: it is the same call, and the model hears of its last result alone.
    fn take_up_failed_use(&mut self, at: NodeIndex) {
        let Some((_, failed)) = self.progress.failed_use.take_if(|(node, _)| *node == at) else {
            return;
        };
        let frame = self.frame();
        let answer = |message: &Message| message.tool_use_id.as_ref() == Some(&failed.id);
        if let Some(last) = frame.messages.iter().rposition(answer) {
            frame.messages.remove(last);
        }
        frame.pending.push(failed);
    }

    /// Takes the value from what an action that failed would have set because of its outputs: no earlier value may stand
    /// for them, and nothing that is computed from their absence. `depends` if it was the outputs that led here.
    fn clear_outputs(&mut self, body: &'p Body, depends: bool) -> Result<(), RuntimeError> {
        for statement in &body.0 {
            match statement {
                Statement::Set(set) if depends || reads_outputs(&set.value) => {
                    self.assign(&set.target, Value::Null)?;
                }
                Statement::If { branches } => {
                    let mut conditions =
                        branches.iter().filter_map(|branch| branch.condition.as_ref()?.expr());
                    let depends = depends || conditions.any(reads_outputs);
                    for branch in branches {
                        self.clear_outputs(&branch.body, depends)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The arguments of a call statement, by position or by name; without any, the variables named
    /// like the parameters; defaults for the rest.
    fn arguments(&self, call: &Call) -> Result<Map<String, Json>, RuntimeError> {
        let tool = self.tool(&call.tool.value);
        let mut arguments = Map::new();
        for (n, argument) in call.with.iter().enumerate() {
            let name = match &argument.name {
                Some(name) => name.value.to_string(),
                None => match tool.and_then(|t| t.parameters.get(n)) {
                    Some(parameter) => parameter.name.value.to_string(),
                    // An undeclared tool has no parameter names; a variable provides its own name.
                    None => argument
                        .value
                        .as_path()
                        .map_or_else(|| format!("arg{n}"), |path| path.root.value.to_string()),
                },
            };
            arguments.insert(name, self.argument(&argument.value)?);
        }
        for parameter in tool.into_iter().flat_map(|t| &t.parameters) {
            let name = parameter.name.value.as_str();
            if arguments.get(name).is_some_and(|v| !v.is_null()) {
                continue;
            }
            if !call.has_arguments
                && !parameter.is_reserved()
                && let Some(value) = self.variable(name)
            {
                arguments.insert(name.to_owned(), to_json(&value));
                continue;
            }
            if let Some(default) = &parameter.default {
                arguments.insert(name.to_owned(), default.clone());
            }
        }
        self.fill_reserved(&call.tool.value, &mut arguments);
        Ok(arguments)
    }

    /// The value of an argument. String literals may contain placeholders (current specification,
    /// 3.14 on `call_with`: `skills: ["{{department}}"]`); values from users are never rendered.
    fn argument(&self, expr: &Expr) -> Result<Json, RuntimeError> {
        Ok(match &expr.kind {
            ExprKind::Template(text) => Json::from(self.render(text)),
            ExprKind::List(items) => {
                items.iter().map(|item| self.argument(item)).collect::<Result<_, _>>()?
            }
            _ => to_json(&self.value(expr)?),
        })
    }

    /// Calls a tool and emits the events.
    fn call_tool(
        &mut self,
        at: NodeIndex,
        name: &str,
        mut arguments: Map<String, Json>,
    ) -> Result<Json, ToolFailure> {
        if let Err(failure) = self.authorize(name, &mut arguments) {
            let error = Some(failure.explanation().to_owned());
            self.emit(EventKind::Result { tool: name.to_owned(), result: None, error });
            return Err(ToolFailure { message: BLOCKED.to_owned(), ..failure });
        }
        let unapproved = self.lacks_approval(at, name);
        if let Some(why) = unapproved.or_else(|| self.unusable_arguments(name, &arguments)) {
            let failure = ToolFailure::new(FailureKind::Refused, why);
            self.host.observer.call_failed(&failure);
            let error = Some(failure.message.clone());
            self.emit(EventKind::Result { tool: name.to_owned(), result: None, error });
            return Err(failure);
        }
        let shown: Map<String, Json> =
            arguments.iter().map(|(n, v)| (n.clone(), self.masked(n, v))).collect();
        let agent = self.session.agent().unwrap_or_default().to_owned();
        let call = self.prepared_call(&agent, name, arguments);
        let made = match self.host.tools.refusal(&call) {
            Some(refusal) => {
                self.host.observer.call_failed(&refusal);
                Err(refusal)
            }
            None => {
                let tool = name.to_owned();
                let stored = self.stored_result(&call);
                self.emit(match &stored {
                    Some(_) => EventKind::Reuse { tool, arguments: shown },
                    None => EventKind::Call { tool, arguments: shown },
                });
                self.call_once(call, stored)
            }
        };
        let result = made.map(|result| match result {
            Json::Array(items)
                if self.traits().results_may_be_steps && items.iter().all(is_function_step) =>
            {
                self.apply_function_steps(&items)
            }
            result => result,
        });
        let result = match result {
            Ok(result) => self.apply_output_guardrails(result),
            Err(failure) => Err(self.apply_guardrails_to_failure(failure)),
        };
        let failures =
            self.session.variable("tool_failures").and_then(|n| n.as_f64()).unwrap_or(0.0);
        match &result {
            Ok(value) => {
                self.session.set_system("tool_failures", &Json::from(0));
                self.emit(EventKind::Result {
                    tool: name.to_owned(),
                    result: Some(self.masked_fields(value)),
                    error: None,
                });
            }
            Err(failure) => {
                self.session.set_system("tool_failures", &Json::from(failures + 1.0));
                self.emit(EventKind::Result {
                    tool: name.to_owned(),
                    result: None,
                    error: Some(failure.explanation().to_owned()),
                });
            }
        }
        result
    }

    /// Applies the result of an ADL function, which may be a list of instructions: send a message,
    /// set an argument of the agent, end the call (MICA, `exec_tool.py`). The result consists of
    /// these values and the final status.
    fn apply_function_steps(&mut self, items: &[Json]) -> Json {
        let mut result = Map::new();
        for item in items {
            if let Some(text) = item.get("bot").and_then(Json::as_str) {
                self.say(text, None);
                // Nothing may come between a call by the model and its result.
                if !self.frame().pending.is_empty() {
                    self.frame().messages.pop();
                }
            }
            if let (Some(name), Some(value)) =
                (item.get("arg").and_then(Json::as_str), item.get("value"))
            {
                let declared = self
                    .agent()
                    .is_ok_and(|a| a.gather.fields.iter().any(|f| f.name.value == name));
                if declared && let Ok(value) = from_json(value) {
                    // A value that exceeds the depth limit is part of the result only.
                    let _ = self.assign_name(name, value);
                }
                result.insert(name.to_owned(), value.clone());
            }
            for name in ["status", "msg"] {
                if let Some(value) = item.get(name) {
                    result.insert(name.to_owned(), value.clone());
                }
            }
        }
        Json::Object(result)
    }

    /// The result that a call has had already, if it is not made again.
    fn stored_result(&mut self, call: &ToolCall<'_>) -> Option<Json> {
        let same = |c: &CompletedCall| {
            c.agent == call.agent && c.tool == call.name && c.arguments == call.arguments
        };
        // A step that begins again has made the call already, and so has a turn that failed afterwards.
        let acts = call.tool.is_none_or(|tool| tool.hints.side_effects != Some(false));
        if let Some(at) = self.progress.reusable_calls.iter().position(|c| acts && same(c)) {
            return Some(self.progress.reusable_calls.remove(at).result);
        }
        let done = self.session.unfinished.iter().position(same)?;
        Some(self.session.unfinished.remove(done).result)
    }

    /// The result of a call, which is made unless it is `stored`.
    fn call_once(&mut self, call: ToolCall<'_>, stored: Option<Json>) -> Result<Json, ToolFailure> {
        let result = match stored {
            Some(result) => result,
            None => self.perform(&call)?,
        };
        let (agent, tool) = (call.agent.to_owned(), call.name.to_owned());
        let arguments = call.arguments;
        self.calls.push(CompletedCall { agent, tool, arguments, result: result.clone() });
        Ok(result)
    }

    fn prepared_call<'c>(
        &self,
        agent: &'c str,
        name: &'c str,
        arguments: Map<String, Json>,
    ) -> ToolCall<'c>
    where
        'p: 'c,
    {
        let tool = self.tool(name);
        let idempotency_key = self.idempotency_key(name, &arguments);
        let (timeout_ms, session) = (self.timeout(tool), self.session_values());
        ToolCall {
            agent,
            name,
            tool,
            remote: None,
            arguments,
            timeout_ms,
            idempotency_key,
            session,
        }
    }

    /// Why a call is not made that needs the user's confirmation and does not have it.
    fn lacks_approval(&mut self, at: NodeIndex, name: &str) -> Option<String> {
        self.tool(name)?.confirmation_required_at()?;
        self.approval_of(at).is_none().then(|| {
            format!(
                "`{name}` is not called: it needs the user's confirmation, and here nobody can be asked"
            )
        })
    }

    /// Why a call with these arguments is not made, if it is not.
    fn unusable_arguments(&mut self, name: &str, arguments: &Map<String, Json>) -> Option<String> {
        let size = serde_json::to_string(arguments).map_or(usize::MAX, |text| text.len());
        if size > MAX_ARGUMENTS {
            return Some(format!(
                "the arguments of `{name}` have {size} bytes; the limit is {MAX_ARGUMENTS}"
            ));
        }
        let tool = self.tool(name)?;
        if let Some(why) = self.missing_reserved(name, arguments) {
            return Some(format!("`{name}` is not called: {why}"));
        }
        let invalid = self.invalid_argument(tool, arguments);
        let why = invalid.unwrap_or_else(|error| Some(error.message))?;
        Some(format!("`{name}` is not called: {why}"))
    }

    /// Makes a call, before which the user sees what was said.
    pub(super) fn perform(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        self.show_messages();
        let result = self.host.tools.call(call);
        match &result {
            Ok(_) => {
                let content = call_content(call.name, &call.arguments);
                *self.calls_done.entry(content).or_default() += 1;
            }
            Err(failure) => self.host.observer.call_failed(failure),
        }
        result
    }

    /// The key of a call: the same if the call is made again in the same turn of the conversation,
    /// unless the first one has succeeded.
    pub(super) fn idempotency_key(&self, name: &str, arguments: &Map<String, Json>) -> String {
        let content = call_content(name, arguments);
        let done = self.calls_done.get(&content).copied().unwrap_or(0);
        let Session { id, turn, .. } = &*self.session;
        let hash = blake3::hash(format!("{id}\n{turn}\n{done}\n{content}").as_bytes());
        hash.to_hex().chars().take(IDEMPOTENCY_KEY_CHARS).collect()
    }

    /// The variables that declarations of tools read as `{{session.x}}` (current specification, 3.5).
    fn session_values(&self) -> Map<String, Json> {
        let value = |path: &String| Some((path.clone(), to_json(&self.variable(path)?)));
        self.machine.session_paths.iter().filter_map(value).collect()
    }

    pub(super) fn timeout(&self, tool: Option<&Tool>) -> u64 {
        let own = tool.and_then(|t| t.hints.timeout.as_ref());
        let general = self.agent().ok().map(|a| &a.execution.timeouts.tool_timeout_ms);
        let ms = own.or(general).map_or(30_000.0, |limit| match limit {
            NumberOrText::Number(n) => n.0,
            NumberOrText::Text(text) => parse_duration_ms(text).unwrap_or(30_000.0),
        });
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        {
            ms.clamp(1.0, 3_600_000.0) as u64
        }
    }

    /// Waits as long as the handler of an error says before what failed is tried again. All such waits of a turn take
    /// no longer than a call may take, whose time limit covers them; after that, nothing is tried again.
    pub(super) fn wait_before_retry(&mut self, handler: &ErrorHandler) {
        let Some(NumberOrText::Number(delay)) = &handler.retry_delay_ms else { return };
        let limit = self.timeout(None);
        let left = limit.saturating_sub(self.waited_ms);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let wait = delay.0.max(0.0) as u64;
        if wait == 0 || left == 0 {
            return;
        }
        self.host.observer.waits(wait, left);
        if wait > left {
            self.waited_ms = limit;
        } else {
            self.waited_ms += wait;
            self.host.clock.sleep(wait);
        }
    }

    /// Whether an edge tries again what failed, and no time is left to wait for that.
    pub(super) fn is_out_of_time(&self, edge: &Edge<'p>) -> bool {
        edge.kind == EdgeKind::Retry
            && matches!(edge.origin, Origin::Handler(handler) if handler.retry_delay_ms.is_some())
            && self.waited_ms >= self.timeout(None)
    }

    /// Masks the sensitive fields of a result for a trace.
    pub(super) fn masked_fields(&self, value: &Json) -> Json {
        match value {
            Json::Object(fields) => {
                fields.iter().map(|(n, v)| (n.clone(), self.masked(n, v))).collect()
            }
            other => other.clone(),
        }
    }

    /// The step begins again: what it has called since it was entered is not called again.
    pub(super) fn keep_calls_of_step(&mut self) {
        let of_step = self.calls.get(self.progress.calls_before_step..);
        self.progress.reusable_calls = of_step.map(<[_]>::to_vec).unwrap_or_default();
    }

    /// Keeps the outputs of an action for its callback, beside those of the actions in whose callbacks it was run.
    pub(super) fn keep_outputs(&mut self, node: u32, outputs: Json) {
        let around = self.callbacks(node);
        let kept = &mut self.frame().outputs;
        kept.resize(around, Json::Null);
        kept.push(outputs);
    }

    /// Stores a result under all names by which it can be read: the given name, the tool's,
    /// `result`, `last_<tool>_result`, `@outputs` (ABL, current specification, 8.8; Agent Script,
    /// 5).
    pub(super) fn store_result(
        &mut self,
        tool: &str,
        variable: Option<&str>,
        result: &Json,
        failed: bool,
    ) -> Result<(), RuntimeError> {
        let value =
            from_json(result).map_err(|e| RuntimeError::new("tool_error", e.to_string()))?;
        let node = self.frame().node;
        self.keep_outputs(node, result.clone());
        if let Some(variable) = variable {
            self.assign_name(variable, value.clone())?;
        }
        self.frame().variables.set("result", value.clone());
        if !self.refuses_owned(tool) {
            self.frame().variables.set(tool, value.clone());
        }
        self.session.system.set(format!("last_{tool}_result"), value);
        let Some(declared) = self.tool(tool) else {
            self.recall(&format!("tool:{tool}:after"));
            return Ok(());
        };
        let sets = if failed { &declared.on_error } else { &declared.on_result };
        for set in sets {
            self.set(set)?;
        }
        self.recall(&format!("tool:{tool}:after"));
        Ok(())
    }
}

/// Whether an expression reads the outputs of an action (AS 5).
fn reads_outputs(expr: &Expr) -> bool {
    let mut reads = false;
    expr.visit(&mut |part| {
        if let ExprKind::Path(path) = &part.kind
            && let Some(space) = &path.namespace
        {
            reads |= matches!(space.value.as_str(), "outputs" | "result");
        }
        Visit::Children
    });
    reads
}

/// What a call consists of, whatever the order of its arguments.
fn call_content(name: &str, arguments: &Map<String, Json>) -> String {
    let sorted: std::collections::BTreeMap<_, _> = arguments.iter().collect();
    serde_json::json!([name, sorted]).to_string()
}

/// The result of a failed call: always the message as `error` (current specification, 3.14.6: `{{result.error}}`). What
/// the tool returned with it is `data`, and none of its fields stands where a result would be: a check that reads one does
/// not pass by a call that failed.
fn failed_result(failure: &ToolFailure) -> Json {
    let mut result = Map::from_iter([("error".to_owned(), Json::from(failure.message.as_str()))]);
    if !failure.data.is_null() {
        result.insert("data".to_owned(), failure.data.clone());
    }
    Json::Object(result)
}

/// The variables that tools of a program read as `{{session.x}}`: in their addresses, headers and
/// bodies, and in what the tools of a library share.
pub(super) fn session_paths(program: &Program) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for binding in program.tools().filter_map(|tool| tool.binding.as_ref()) {
        binding.0.values().for_each(|value| paths_of(value, &mut paths));
    }
    let libraries = program.libraries.iter().map(|library| &library.extensions);
    let shared = libraries.chain(program.agents().map(|agent| &agent.extensions));
    for extension in shared.flat_map(|shared| shared.0.values()).flat_map(|all| all.values()) {
        paths_of(&extension.value, &mut paths);
    }
    paths
}

/// Collects the paths after `session.` in the placeholders of all texts of a value. Recursive; the
/// parser limits the depth.
fn paths_of(value: &Json, paths: &mut BTreeSet<String>) {
    match value {
        Json::String(text) => {
            for rest in text.split("{{").skip(1) {
                let inside = rest.split("}}").next().unwrap_or_default().trim();
                if let Some(path) = inside.strip_prefix("session.") {
                    paths.insert(path.trim().to_owned());
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| paths_of(item, paths)),
        Json::Object(fields) => fields.values().for_each(|value| paths_of(value, paths)),
        _ => {}
    }
}

/// Whether a value is an instruction of an ADL function.
fn is_function_step(item: &Json) -> bool {
    let Json::Object(fields) = item else { return false };
    let only = |names: &[&str]| fields.keys().all(|name| names.contains(&name.as_str()));
    !fields.is_empty() && (only(&["bot"]) || only(&["arg", "value"]) || only(&["status", "msg"]))
}

/// Parses a duration: `500ms`, `15s`, `2m`, `30d`; a bare number is in milliseconds.
pub(super) fn parse_duration_ms(text: &str) -> Option<f64> {
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
    let factor = match unit.trim() {
        "" | "ms" => 1.0,
        "s" | "sec" | "seconds" => 1_000.0,
        "m" | "min" | "minutes" => 60_000.0,
        "h" | "hour" | "hours" => 3_600_000.0,
        "d" | "day" | "days" => 86_400_000.0,
        "w" | "week" | "weeks" => 604_800_000.0,
        _ => return None,
    };
    Some(number * factor)
}
