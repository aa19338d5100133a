//! Model requests, and nodes at which the model leads the conversation.

use super::prompt::{Prompt, PromptParts};
use super::{Next, NodeResult, Run, leads_onward};
use crate::model::{
    Answer, Candidate, Message, ModelError, ModelRequest, ModelSettings, ModelTask, Purpose, Role,
    ToolSpec, ToolUse,
};
use crate::session::RuntimeError;
use crate::trace::EventKind;
use agentir_flow::cfg::{Edge, EdgeKind, NodeKind, Origin, iterations};
use agentir_ir::{NumberOrText, ReasoningZone, Response};
use petgraph::graph::{EdgeIndex, NodeIndex};
use serde_json::{Map, Value as Json};

/// The tool by which a model ends its part of a step.
pub(super) const DONE_TOOL: &str = "__done__";

/// The tool by which an agent returns control before it is done (ABL, current specification, 3.10).
pub(super) const RETURN_TOOL: &str = "__return_to_parent__";

impl<'p> Run<'_, 'p, '_> {
    /// Sends a task to the model and returns its answer.
    pub(super) fn ask_model(&mut self, task: ModelTask) -> Result<Answer, RuntimeError> {
        if let Some(answer) = self.answer_ahead(&task) {
            return answer;
        }
        let agent = self.agent()?;
        let number = |n: &Option<NumberOrText>| match n {
            Some(NumberOrText::Number(n)) => Some(n.0),
            _ => None,
        };
        let timeout = match &agent.execution.timeouts.llm_timeout_ms {
            NumberOrText::Number(n) => n.0,
            NumberOrText::Text(_) => 30_000.0,
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let settings = ModelSettings {
            model: agent.execution.model.as_ref().map(|m| m.value.to_string()),
            temperature: number(&agent.execution.temperature),
            max_tokens: number(&agent.execution.max_tokens).map(|n| n.clamp(1.0, 1e9) as u64),
            timeout_ms: timeout.clamp(1.0, 3_600_000.0) as u64,
        };
        let kind = task.kind();
        let node = self.frame().node;
        let step = self
            .machine
            .cfg
            .node(NodeIndex::new(node as usize))
            .and_then(|n| n.step)
            .map(|s| s.name.value.to_string());
        let request =
            ModelRequest { agent: agent.metadata.name.value.to_string(), step, settings, task };
        // What a check may still refuse or change is not streamed.
        let streams = self.answer_checks().is_none()
            && self.may_answer()
            && self.progress.unchecked.is_empty()
            && !self.may_roll_back()
            && matches!(request.task, ModelTask::Converse { .. });
        self.show_messages();
        let observer = &mut *self.host.observer;
        let reply = self.host.model.respond(&request, &mut |part| {
            if streams {
                observer.partial(part);
            }
        });
        match reply {
            Ok(reply) => {
                self.session.usage += reply.usage;
                self.session.model_calls += 1;
                let answer = self.summary(&reply.answer);
                self.emit(EventKind::Model { task: kind, answer, usage: reply.usage });
                Ok(reply.answer)
            }
            Err(error) => {
                let kind = match error {
                    ModelError::Timeout => "model_timeout",
                    _ => "model_error",
                };
                Err(RuntimeError::new(kind, error.to_string()))
            }
        }
    }

    /// A summary of an answer for traces.
    fn summary(&self, answer: &Answer) -> String {
        match answer {
            Answer::Message { text, calls } if calls.is_empty() => text.clone(),
            Answer::Message { text, calls } => {
                let names: Vec<&str> = calls.iter().map(|c| c.name.as_str()).collect();
                format!("{text}[{}]", names.join(", "))
            }
            Answer::Values(values) => {
                let shown: Map<String, Json> = values
                    .iter()
                    .map(|(name, value)| (name.clone(), self.masked(name, value)))
                    .collect();
                Json::Object(shown).to_string()
            }
            Answer::Choice(choice) => {
                let names: Vec<&str> = choice.iter().map(|(name, _)| name.as_str()).collect();
                names.join(", ")
            }
            Answer::Verdict(holds) => holds.to_string(),
            Answer::Several(answers) => {
                answers.iter().map(|answer| self.summary(answer)).collect::<Vec<_>>().join("; ")
            }
            Answer::Summary(text) => text.clone(),
        }
    }

    /// Whether a natural-language statement holds for the user's message.
    pub(super) fn judge_user(&mut self, statement: &str) -> Result<bool, RuntimeError> {
        let text = self.input.as_ref().map(|i| i.text.clone()).unwrap_or_default();
        self.judge(statement, text)
    }

    /// Whether a statement holds for a text; it does not if that cannot be told.
    pub(super) fn judge(&mut self, statement: &str, text: String) -> Result<bool, RuntimeError> {
        self.judge_or(statement, text, false)
    }

    /// Whether a statement holds for a text, and what counts if that cannot be told.
    pub(super) fn judge_or(
        &mut self,
        statement: &str,
        text: String,
        in_doubt: bool,
    ) -> Result<bool, RuntimeError> {
        let context = self.recent_messages(&text);
        let statement = statement.to_owned();
        let task = ModelTask::Judge { statement, text, context, in_doubt };
        match self.ask_model(task)? {
            Answer::Verdict(holds) => Ok(holds),
            other => Err(unexpected_answer("judge", &other)),
        }
    }

    /// Like [`Self::judge`], but asks about the same text only once in a turn.
    pub(super) fn judge_once(
        &mut self,
        statement: &str,
        text: String,
    ) -> Result<bool, RuntimeError> {
        let key = (statement.to_owned(), text);
        if let Some(known) = self.judged.get(&key) {
            return Ok(*known);
        }
        let holds = self.judge(statement, key.1.clone())?;
        self.judged.insert(key, holds);
        Ok(holds)
    }

    /// Asks the model which candidates the user means; may be empty.
    pub(super) fn choose_among(
        &mut self,
        purpose: &str,
        candidates: Vec<Candidate>,
        several: bool,
    ) -> Result<Vec<String>, RuntimeError> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let message = self.input.as_ref().map(|i| i.text.clone()).unwrap_or_default();
        let context = self.recent_messages(&message);
        let known: Vec<String> = candidates.iter().map(|c| c.name.clone()).collect();
        let task = ModelTask::Choose {
            purpose: purpose.to_owned(),
            message,
            context,
            candidates,
            several,
        };
        match self.ask_model(task)? {
            Answer::Choice(choice) => {
                let mut names: Vec<String> = choice
                    .into_iter()
                    .map(|(name, _)| name)
                    .filter(|n| known.contains(n))
                    .collect();
                if !several {
                    names.truncate(1);
                }
                Ok(names)
            }
            other => Err(unexpected_answer("choose", &other)),
        }
    }

    /// Runs a model-led node: executes pending tool calls first, then asks the model.
    pub(super) fn choose(&mut self, at: NodeIndex, element: &Origin<'p>) -> NodeResult {
        let zone = match element {
            Origin::Zone(zone) => Some(*zone),
            _ => None,
        };
        let in_step = self.node(at)?.step.is_some();
        if let Some(zone) = zone.filter(|_| in_step && self.progress.input_unread) {
            self.consume_input();
            self.extract_exit_variables(zone)?;
        }
        if in_step
            && let Some(zone) = zone
            && let Some(when) = &zone.exit_when
            && self.condition(when)?
        {
            self.frame().pending.clear();
            if let Some(edge) = self
                .pick_edge(at, |edge, _| leads_onward(edge.kind) && edge.kind != EdgeKind::Return)?
            {
                return Ok(Next::Take(edge));
            }
        }
        // Fields are filled from the user's message before the model answers.
        if self.progress.input_unread {
            self.consume_input();
            if let Some(edge) = self.collect_edge(at)? {
                return Ok(Next::Take(edge));
            }
        }
        if !self.frame().pending.is_empty() {
            return self.next_tool_use(at);
        }
        if self.frame().answer.is_some() || self.progress.answered {
            self.progress.answered = false;
            return self.choose_to_speak(at);
        }
        if let Some(answer) = self.fixed_answer()? {
            self.frame().answer = Some(answer);
            return self.choose_to_speak(at);
        }
        let requests = self.frame().iterations;
        if requests == 0 {
            self.frame().choices = 0;
        }
        self.check_rounds(requests)?;
        self.frame().iterations += 1;
        let task = self.converse_task(at, zone, in_step)?;
        let answers = self.may_answer();
        // Who may neither answer nor do anything is not asked.
        if !answers && matches!(&task, ModelTask::Converse { tools, .. } if tools.is_empty()) {
            self.withhold_answer();
            return self.choose_to_speak(at);
        }
        match self.ask_model(task)? {
            Answer::Message { calls, .. } if !answers && calls.is_empty() => {
                self.withhold_answer();
                self.choose_to_speak(at)
            }
            Answer::Message { text, calls } => {
                let text = if answers { text } else { String::new() };
                let mut message = Message::new(Role::Assistant, text.as_str());
                message.calls.clone_from(&calls);
                let frame = self.frame();
                if calls.is_empty() {
                    frame.answer = Some(text);
                    return self.choose_to_speak(at);
                }
                // `pending` is a stack, so the first call goes last.
                frame.pending = calls.into_iter().rev().collect();
                if !text.trim().is_empty() {
                    self.say(&text, None);
                    // The message with the calls includes the text.
                    self.frame().messages.pop();
                }
                self.frame().messages.push(message);
                self.next_tool_use(at)
            }
            other => Err(unexpected_answer("converse", &other)),
        }
    }

    /// Fails if a turn has had as many requests, or calls that the model chose, as it may have. `agentir cost` relies on
    /// it.
    fn check_rounds(&self, made: u32) -> Result<(), RuntimeError> {
        match iterations(self.agent()?) {
            Some(limit) if made >= limit => Err(RuntimeError::new(
                "loop",
                format!(
                    "the model called tools {limit} times without answering (`max_iterations`)"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Whether what the model says may reach the user: a supervisor with `canRespondDirectly: false` "must always route to
    /// an agent" (supervisor reference, "Behavior settings").
    fn may_answer(&self) -> bool {
        let routing = self.agent().ok().and_then(|agent| agent.routing.as_ref());
        routing.and_then(|routing| routing.direct_response_allowed) != Some(false)
    }

    /// The words of a supervisor that may not answer do not reach the user, who is told that nothing can be done if nobody
    /// else has said anything.
    fn withhold_answer(&mut self) {
        let (rule, action) = ("canRespondDirectly".to_owned(), "block".to_owned());
        self.emit(EventKind::Violation { rule, action });
        if self.progress.messages.is_empty() && self.progress.unchecked.is_empty() {
            self.say_notice(super::refusals::BLOCKED);
        }
    }

    /// Takes the edge that sends the model's answer.
    pub(super) fn choose_to_speak(&mut self, at: NodeIndex) -> NodeResult {
        let say = self.outgoing_edges(at).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Choice
                && self.machine.cfg.node(*to).is_some_and(|n| {
                    n.kind == NodeKind::Say
                        && matches!(n.origin, Origin::Zone(_) | Origin::Agent(_))
                })
        });
        match say {
            Some((edge, ..)) => Ok(Next::Take(edge)),
            None => self.leave(at),
        }
    }

    /// Whether the active agent was delegated to and has to report its own completion, as it has
    /// neither steps nor completion conditions.
    pub(super) fn is_model_led_delegate(&self) -> bool {
        let asked =
            self.session.stack.last().is_some_and(|t| t.delegated && t.returns_to.is_some());
        asked && self.agent().is_ok_and(|a| a.flow.is_none() && a.completion.conditions.is_empty())
    }

    /// Whether another agent consults this one, a knowledge base that does not say when it is done.
    pub(super) fn is_consulted(&self) -> Result<bool, RuntimeError> {
        let returns = self.session.stack.last().is_some_and(|frame| frame.returns_to.is_some());
        let agent = self.agent()?;
        Ok(returns && agent.is_knowledge_base() && agent.completion.conditions.is_empty())
    }

    /// Executes the next pending tool call.
    fn next_tool_use(&mut self, at: NodeIndex) -> NodeResult {
        let Some(pick) = self.frame().pending.last().cloned() else {
            return self.leave(at);
        };
        if pick.name == DONE_TOOL {
            self.answer_tool_use(&Json::from("done"));
            if self.is_model_led_delegate() {
                self.frame().pending.clear();
                return self.exit_agent();
            }
            if let Some(edge) = self
                .pick_edge(at, |edge, _| leads_onward(edge.kind) && edge.kind != EdgeKind::Return)?
            {
                return Ok(Next::Take(edge));
            }
        }
        if pick.name == RETURN_TOOL {
            if let Some(next) = self.decline() {
                return Ok(next);
            }
            self.frame().pending.clear();
            return self.return_control();
        }
        // One answer may choose several calls.
        let choices = self.frame().choices;
        self.check_rounds(choices)?;
        self.frame().choices += 1;
        if let Some(next) = self.pick_sibling(&pick.name) {
            return Ok(next);
        }
        match self.edge_for(at, &pick)? {
            Some(edge) => Ok(Next::Take(edge)),
            None => {
                let error = format!("there is no tool `{}` that may be called now", pick.name);
                self.emit(EventKind::Error {
                    kind: "tool_error".to_owned(),
                    message: error.clone(),
                });
                self.answer_tool_use(&serde_json::json!({ "error": error }));
                Ok(Next::ReturnTo(crate::session::ReturnPoint {
                    node: super::index(at.index()),
                    stage: 0,
                }))
            }
        }
    }

    /// The edge for a tool call, if the tool is exposed.
    fn edge_for(
        &mut self,
        at: NodeIndex,
        pick: &ToolUse,
    ) -> Result<Option<EdgeIndex>, RuntimeError> {
        // A tool that was not offered is not called.
        if self.hidden_tools()?.contains(&pick.name) {
            return Ok(None);
        }
        for (id, to, edge) in self.outgoing_edges(at) {
            if edge.kind != EdgeKind::Choice || !Self::named(&edge, &pick.name) {
                continue;
            }
            if self.can_take(id, to, &edge) && self.is_offered(&edge)? {
                return Ok(Some(id));
            }
        }
        // Several steps may share one node that exposes all tools of an agent.
        let shared = self.outgoing_edges(at).into_iter().find(|(_, to, edge)| {
            edge.kind == EdgeKind::Choice
                && self.machine.cfg.node(*to).is_some_and(|n| n.kind == NodeKind::Choose)
                && self.outgoing_edges(*to).iter().any(|(.., edge)| Self::named(edge, &pick.name))
        });
        if let Some((edge, ..)) = shared {
            let back = crate::session::ReturnPoint { node: super::index(at.index()), stage: 0 };
            self.frame().return_points.push(back);
            return Ok(Some(edge));
        }
        Ok(None)
    }

    /// Whether an edge is exposed to the model under this name.
    fn named(edge: &Edge<'p>, name: &str) -> bool {
        match edge.origin {
            Origin::ToolBinding(offer) => offer.name.value == name,
            Origin::Tool(tool) => tool.name.value == name,
            Origin::Name(named) => named.value == name,
            _ => false,
        }
    }

    /// Adds the result of the current tool call to the messages.
    pub(super) fn answer_tool_use(&mut self, result: &Json) {
        let frame = self.frame();
        let Some(pick) = frame.pending.pop() else { return };
        let mut message = Message::new(Role::Tool, text_of(result));
        // A result belongs beside its call; what a check has said of the call comes after it.
        let made = frame.messages.iter().rposition(|m| m.calls.iter().any(|c| c.id == pick.id));
        let after = made.map_or(frame.messages.len(), |made| made + 1);
        let rest = frame.messages.get(after..).unwrap_or_default();
        let results = rest.iter().take_while(|m| m.role == Role::Tool).count();
        let notices = rest.iter().skip(results).all(|m| m.role == Role::Assistant);
        let at = if notices { after + results } else { frame.messages.len() };
        message.tool_use_id = Some(pick.id);
        frame.messages.insert(at, message);
    }

    /// The predefined answer to a question of the knowledge base.
    fn fixed_answer(&mut self) -> Result<Option<String>, RuntimeError> {
        let agent = self.agent()?;
        let Some(knowledge) = &agent.knowledge else { return Ok(None) };
        if self.input.is_none() || knowledge.questions.is_empty() {
            return Ok(None);
        }
        let candidates = knowledge
            .questions
            .iter()
            .enumerate()
            .filter_map(|(n, q)| {
                Some(Candidate {
                    name: format!("q{}", n + 1),
                    description: self.render(q.question.as_ref()?),
                    examples: Vec::new(),
                    keywords: Vec::new(),
                })
            })
            .collect();
        let chosen =
            self.choose_among("Which of these questions does the user ask?", candidates, false)?;
        let at =
            chosen.first().and_then(|n| n.strip_prefix('q')).and_then(|n| n.parse::<usize>().ok());
        let question = at.and_then(|n| knowledge.questions.get(n.checked_sub(1)?));
        Ok(question.and_then(|q| q.answer.as_ref()).map(|a| self.render(a)))
    }

    /// What the agent says once it has answered, because a completion condition holds already that needs no model.
    fn closing_text(&mut self) -> Option<String> {
        let agent = self.agent().ok()?;
        if agent.flow.is_some() {
            return None;
        }
        let done = agent.completion.conditions.iter().find(|done| {
            let expr = done.when.as_ref().and_then(|when| when.expr());
            expr.is_some_and(|expr| {
                let outcome = agentir_eval::outcome(expr, &self.scope(), self.dialect());
                outcome == agentir_eval::Outcome::True
            })
        })?;
        let text = match (&done.respond, &done.respond_template) {
            (Some(text), _) => self.render(text),
            (None, Some(name)) => {
                let response = Response { template: Some(name.clone()), ..Response::default() };
                self.response_text(&response, 0)
            }
            (None, None) => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// Builds the task for a model that leads the conversation.
    fn converse_task(
        &mut self,
        at: NodeIndex,
        zone: Option<&'p ReasoningZone>,
        in_step: bool,
    ) -> Result<ModelTask, RuntimeError> {
        let mut tools = Vec::new();
        for (id, to, edge) in self.outgoing_edges(at) {
            if edge.kind == EdgeKind::Choice && self.can_take(id, to, &edge) {
                let toolbox = self.machine.cfg.node(to).is_some_and(|n| n.kind == NodeKind::Choose);
                if toolbox {
                    for (_, _, edge) in self.outgoing_edges(to) {
                        tools.extend(self.offered(&edge));
                    }
                } else if self.is_offered(&edge)? {
                    tools.extend(self.offered(&edge));
                }
            }
        }
        let hidden = self.hidden_tools()?;
        tools.retain(|t| !hidden.contains(&t.name));
        let mut seen = std::collections::HashSet::new();
        tools.retain(|t| seen.insert(t.name.clone()));
        if in_step && zone.is_some_and(|z| z.exit_when.is_none()) {
            let reached = "What this part of the conversation is for has been reached.";
            tools.push(ToolSpec::new(DONE_TOOL, reached, Purpose::Complete));
        }
        if self.is_model_led_delegate() {
            let done = "What this agent was asked for is done.";
            tools.push(ToolSpec::new(DONE_TOOL, done, Purpose::Complete));
        }
        let siblings = self.offer_siblings(&mut tools);
        let frame = self.frame();
        let returns = frame.returns_to.is_some() || frame.routed_by.is_some();
        if !siblings && returns && !frame.delegated {
            let cannot = "The user wants something that this agent cannot do.";
            tools.push(ToolSpec::new(RETURN_TOOL, cannot, Purpose::Return));
        }
        let messages = self.history()?;
        let mut missing = if in_step { Vec::new() } else { self.missing_fields()? };
        let optional = if in_step { Vec::new() } else { self.optional_fields()? };
        // After a rejected value, the prompt says what was wrong with it.
        if let Some((field, message)) = self.progress.rejected.take()
            && let Some(field) = missing.iter_mut().find(|m| m.name == field)
        {
            field.prompt = Some(message);
        }
        self.expect_answer_for(missing.first());
        let known = self.known_values()?;
        let agents = if zone.is_none() { self.routed_agents()? } else { Vec::new() };
        let closing = if in_step { None } else { self.closing_text() };
        let parts = PromptParts {
            tools: !tools.is_empty(),
            agents: &agents,
            missing: &missing,
            optional: &optional,
            known: &known,
            closing: closing.as_deref(),
        };
        let Prompt { system, situation, instructions } = self.prompt(zone, &parts)?;
        self.check_rendered()?;
        let system = self.with_guardrails(system);
        Ok(ModelTask::Converse {
            system,
            situation,
            instructions,
            messages,
            tools,
            missing,
            optional,
            known,
            agents,
            closing,
        })
    }
}

fn text_of(json: &Json) -> String {
    match json {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn unexpected_answer(task: &str, answer: &Answer) -> RuntimeError {
    let form = match answer {
        Answer::Message { .. } => "a message",
        Answer::Values(_) => "values",
        Answer::Choice(_) => "a choice",
        Answer::Verdict(_) => "a verdict",
        Answer::Several(_) => "several answers",
        Answer::Summary(_) => "a summary",
    };
    RuntimeError::new("model_error", format!("the model answered a `{task}` request with {form}"))
}
