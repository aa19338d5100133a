//! Says whether what a trace did was allowed. It reads the program and the trace, keeps the state that the trace
//! records, and evaluates every guard itself in the state before the guarded action. What the trace says about checks
//! is not read.

use agentir_diagnostics::Span;
use agentir_eval::{State, evaluate, truthy};
use agentir_expr::{Condition, ConditionKind, Expr};
use agentir_ir::{
    Agent, BindingAction, Body, Checkpoint, Constraint, ConstraintKind, Data, Guardrail,
    GuardrailKind, Program, ReasoningZone, Statement, Target,
};
use agentir_runtime::{Event, EventKind, Observer};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

type Variables = BTreeMap<String, Json>;

/// What the trace has recorded so far.
#[derive(Clone, Default)]
struct Recorded {
    /// The active agents with their variables; the last one is in charge.
    frames: Vec<(String, Variables)>,
    shared: Variables,
    system: Variables,
    /// Long-term memory, by path.
    memory: Variables,
    /// The last call node.
    call: Option<Span>,
    /// The messages with which the active agents were entered.
    entered_with: Vec<Option<Json>>,
    /// The message of a delegation that may go on: the trace does not say whether its agent had read it.
    resumed: Option<Json>,
    /// Results that an agent that was entered has forgotten, unless an agent that waits for it has the same tools.
    forgotten: Vec<String>,
    /// Whether a call was made whose result has not come: a call that is not made fails, and is not counted.
    calling: bool,
    /// The result that the last event brought, by the name of its agent, and what was there before.
    returned: Option<(String, Option<Json>)>,
}

pub struct Oracle<'p> {
    program: &'p Program,
    now: Recorded,
    good: Recorded,
    /// What was said in this turn.
    pub said: Vec<String>,
    pub streamed: String,
    pub calls: usize,
    /// Guarded actions that were looked at, so that the test can tell whether it tests anything.
    pub guarded: usize,
    /// What the trace says was refused: only to tell whether anything was.
    pub refused: usize,
    pub problems: Vec<String>,
    pub trace: Vec<String>,
}

/// The value of a condition; an error if it cannot be evaluated.
enum Truth {
    Holds,
    Fails,
    /// The model decides, and the oracle cannot.
    Unknown,
    Broken,
}

impl<'p> Oracle<'p> {
    pub fn new(program: &'p Program, entry: &str) -> Self {
        let mut now = Recorded::default();
        for agent in program.agents() {
            let spaced = agent.metadata.dialect.traits().namespaced_references;
            for variable in agent.memory.session.iter().filter(|v| v.scope == Some("program")) {
                let name = match spaced {
                    true => format!("@variables.{}", variable.name.value),
                    false => variable.name.value.to_string(),
                };
                now.shared.insert(name, variable.initial_value.clone().unwrap_or_default());
            }
        }
        let mut oracle = Self {
            program,
            now,
            good: Recorded::default(),
            said: Vec::new(),
            streamed: String::new(),
            calls: 0,
            guarded: 0,
            refused: 0,
            problems: Vec::new(),
            trace: Vec::new(),
        };
        oracle.push(entry);
        oracle
    }

    pub fn begin_turn(&mut self) {
        self.said.clear();
        self.streamed.clear();
        self.calls = 0;
        self.good = self.now.clone();
    }

    /// A turn that failed has changed nothing.
    pub fn turn_failed(&mut self) {
        self.now = self.good.clone();
    }

    fn push(&mut self, name: &str) {
        let mut variables = Variables::new();
        if let Some(agent) = self.program.agent(name) {
            let tools = agent.tools.iter().map(|tool| format!("last_{}_result", tool.name.value));
            self.now.forgotten.extend(tools);
            for variable in agent.memory.session.iter().filter(|v| v.scope != Some("program")) {
                let initial = variable.initial_value.clone().unwrap_or_default();
                variables.insert(variable.name.value.to_string(), initial);
            }
        }
        self.now.frames.push((name.to_owned(), variables));
        self.now.entered_with.push(self.now.system.get("input").cloned());
    }

    /// An agent is done: what it leaves is readable under its name.
    fn pop(&mut self) {
        let message = self.now.entered_with.pop().flatten();
        let Some((name, variables)) = self.now.frames.pop() else { return };
        if message.as_ref() != self.now.system.get("input") {
            self.now.resumed = message;
        }
        let result = variables.into_iter().filter(|(_, value)| !value.is_null()).collect();
        if let Some((_, variables)) = self.now.frames.last_mut() {
            let before = variables.insert(name.clone(), Json::Object(result));
            self.now.returned = Some((name, before));
        }
    }

    /// An agent is done, and goes back to another one. Agents in between had handed over: nothing is left of them.
    fn returns_to(&mut self, to: &str) {
        let now = &mut self.now;
        let Some(place) = now.frames.iter().rposition(|(name, _)| name == to) else { return };
        if place + 1 >= now.frames.len() {
            return;
        }
        let (frame, entered) = (now.frames.pop(), now.entered_with.pop());
        now.frames.truncate(place + 1);
        now.entered_with.truncate(place + 1);
        now.frames.extend(frame);
        now.entered_with.extend(entered);
        self.pop();
    }

    /// The agent that has just returned had failed: there is no result.
    fn take_back_result(&mut self, returned: Option<(String, Option<Json>)>) {
        let Some((name, before)) = returned else { return };
        let Some((_, variables)) = self.now.frames.last_mut() else { return };
        match before {
            Some(before) => variables.insert(name, before),
            None => variables.remove(&name),
        };
    }

    fn agent(&self) -> Option<&'p Agent> {
        self.program.agent(&self.now.frames.last()?.0)
    }

    fn set(&mut self, name: &str, value: Json) {
        // `session.x` is `x` (Cur. 3.5).
        let name = name.strip_prefix("session.").unwrap_or(name);
        if name.starts_with('@') {
            self.now.shared.insert(name.to_owned(), value);
        } else if let Some((_, variables)) = self.now.frames.last_mut() {
            variables.insert(name.to_owned(), value);
        }
    }

    fn state(&self, content: Option<&str>) -> State {
        let mut state = State::new();
        let empty = Variables::new();
        let frame = self.now.frames.last().map_or(&empty, |(_, variables)| variables);
        for layer in [&self.now.system, &self.now.shared, frame] {
            for (name, value) in layer {
                let set = !value.is_null() || state.get(name).is_none();
                if set && let Ok(value) = agentir_runtime::from_json(value) {
                    state.set(name.as_str(), value);
                }
            }
        }
        let all = |state: &State| {
            let all = state.variables().map(|(n, v)| (n.clone(), v.clone()));
            agentir_eval::Value::object(all.collect()).unwrap_or_default()
        };
        let session = all(&state);
        state.set("session", session);
        for (path, value) in &self.now.memory {
            let path = agentir_expr::Path::dotted(path, Span::default());
            if let Ok(value) = agentir_runtime::from_json(value) {
                state.set_path(&path, value).unwrap();
            }
        }
        for name in ["content", "input", "output", "response", "tool_input", "tool_output", "text"]
        {
            if let Some(content) = content {
                state.set(name, agentir_eval::Value::text(content));
            }
        }
        state
    }

    fn truth_of(&self, expr: &Expr, content: Option<&str>) -> Truth {
        let Some(agent) = self.agent() else { return Truth::Unknown };
        let dialect = agent.metadata.dialect;
        match evaluate(expr, &self.state(content), dialect) {
            Ok(value) if truthy(&value, dialect.semantics()) => Truth::Holds,
            Ok(_) => Truth::Fails,
            Err(_) => Truth::Broken,
        }
    }

    fn truth(&self, condition: &Condition) -> Truth {
        match &condition.kind {
            ConditionKind::Expr(expr) => self.truth_of(expr, None),
            ConditionKind::Natural => Truth::Unknown,
            ConditionKind::Invalid => Truth::Broken,
        }
    }

    /// Whether a constraint allows what it guards, in one of the states that the trace leaves open.
    fn allows(&self, constraint: &Constraint) -> bool {
        let mut states = vec![self.now.clone()];
        if let Some(message) = &self.now.resumed {
            let mut now = self.now.clone();
            now.system.insert("input".to_owned(), message.clone());
            states.push(now);
        }
        if !self.now.forgotten.is_empty() {
            for mut now in states.clone() {
                now.system.retain(|name, _| !self.now.forgotten.contains(name));
                states.push(now);
            }
        }
        let mut others = states.into_iter();
        others.any(|now| Self { now, ..Self::new(self.program, "") }.allows_now(constraint))
    }

    fn allows_now(&self, constraint: &Constraint) -> bool {
        let goes_on = constraint.on_fail.as_ref().is_some_and(|failure| {
            let mut jumps = failure.then_step.iter().chain(&failure.then_action);
            failure.target.is_none() && jumps.any(|jump| jump.target == Target::Continue)
        });
        // What goes on behind a refused call or answer goes on without it.
        let goes_on = goes_on && constraint.checkpoint.is_none();
        if constraint.severity == Some("warning") || goes_on {
            return true;
        }
        if let Some(when) = &constraint.applies_when {
            match self.truth(when) {
                Truth::Fails | Truth::Unknown => return true,
                Truth::Broken => return false,
                Truth::Holds => {}
            }
        }
        match (self.truth(&constraint.condition), constraint.kind) {
            (Truth::Unknown, _) => true,
            (Truth::Broken, _) => false,
            (Truth::Holds, kind) => kind != Some(ConstraintKind::Restrict),
            (Truth::Fails, kind) => kind == Some(ConstraintKind::Restrict),
        }
    }

    /// Whether a guardrail lets a content pass.
    fn passes(&self, rail: &Guardrail, content: &str) -> bool {
        if action(rail) == "warn" {
            return true;
        }
        match &rail.check {
            Some(check) => matches!(self.truth_of(check, Some(content)), Truth::Fails),
            // A check that could not be read.
            None => rail.check_span.is_none(),
        }
    }

    fn problem(&mut self, text: String) {
        self.problems.push(text);
    }

    fn call(&mut self, tool: &str, arguments: &Map<String, Json>) {
        self.calls += 1;
        let Some(agent) = self.agent() else { return };
        for constraint in &agent.constraints.constraints {
            let guards = match &constraint.checkpoint {
                Some(Checkpoint::ToolCall { target }) => {
                    target.value == tool || target.value == "actt"
                }
                None => !self.is_in_hook(agent) && self.is_known(constraint, tool),
                Some(Checkpoint::Other { .. }) => true,
                Some(Checkpoint::Response) => false,
            };
            if guards {
                self.guarded += 1;
                let by_arguments = constraint.checkpoint.is_none()
                    || self.with_arguments(arguments).allows(constraint);
                if !self.allows(constraint) || !by_arguments {
                    let rule = &constraint.condition.text.value;
                    self.problem(format!("`{tool}` was called, but `{rule}` does not allow it"));
                }
            }
        }
        let content = serde_json::to_string(arguments).unwrap();
        let rails = agent.constraints.guardrails.iter();
        for rail in rails.filter(|rail| rail.kind == GuardrailKind::ToolInput) {
            self.guarded += 1;
            if !self.passes(rail, &content) {
                self.problem(format!(
                    "`{tool}` was called with {content}, against `{}`",
                    rail.name.value
                ));
            }
        }
        // Guards of the two languages whose calls have conditions.
        for guard in self.guards_of_call(agent) {
            self.guarded += 1;
            if !matches!(self.truth(guard), Truth::Holds | Truth::Unknown) {
                let text = &guard.text.value;
                self.problem(format!("`{tool}` was called while `{text}` does not hold"));
            }
        }
    }

    /// Whether the call that was entered last is in a hook or in what happens before the first turn: rules of the turn
    /// are not about these.
    fn is_in_hook(&self, agent: &Agent) -> bool {
        let hooks = &agent.hooks;
        let hooks =
            [&hooks.before_turn, &hooks.after_turn, &hooks.before_agent, &hooks.after_agent];
        let bodies = hooks.into_iter().flatten().map(|hook| &hook.body).chain([&agent.on_start]);
        let call = |s: &Statement| matches!(s, Statement::Call(c) if Some(c.span) == self.now.call);
        bodies.flat_map(|body| &body.0).any(call)
    }

    /// Whether a constraint is decided by values that are there: nothing is concluded from what is not known yet. What a
    /// tool returns is not known while its call is tried again.
    fn is_known(&self, constraint: &Constraint, tool: &str) -> bool {
        let state = self.state(None);
        let mut known = true;
        let own = [tool.to_owned(), format!("last_{tool}_result")];
        for condition in [Some(&constraint.condition), constraint.applies_when.as_ref()] {
            let Some(expr) = condition.and_then(Condition::expr) else { continue };
            expr.paths(&mut |path| {
                let name = path.root.value.as_str();
                known &= state.get(name).is_some_and(|v| *v != agentir_eval::Value::Null)
                    && own.iter().all(|own| own != name);
            });
        }
        known && matches!(self.truth(&constraint.condition), Truth::Holds | Truth::Fails)
    }

    /// What would be recorded if the variables had the values that a call carries under their names.
    fn with_arguments(&self, arguments: &Map<String, Json>) -> Self {
        let mut other = Self { now: self.now.clone(), ..Self::new(self.program, "") };
        for (name, value) in arguments {
            other.set(name, value.clone());
        }
        other
    }

    /// The conditions of the call that was entered last: where it is offered, or the branch it is in.
    fn guards_of_call(&self, agent: &'p Agent) -> Vec<&'p Condition> {
        let Some(span) = self.now.call else { return Vec::new() };
        let zones = agent.reasoning.iter();
        let bindings = zones.flat_map(|zone: &ReasoningZone| &zone.bindings);
        let offered =
            bindings.filter(|b| b.span == span && matches!(b.action, BindingAction::Call { .. }));
        let mut guards: Vec<&Condition> =
            offered.filter_map(|b| b.available_when.as_ref()).collect();
        for step in agent.flow.iter().flat_map(|flow| flow.definitions.values()) {
            branches_of(&step.body, span, &mut guards);
        }
        guards
    }

    fn say(&mut self, text: &str) {
        let Some(agent) = self.agent() else { return };
        self.said.push(text.to_owned());
        let ours =
            ["Sorry, ", "Shall I do this?", "I cannot help"].iter().any(|t| text.starts_with(t));
        if !text.contains("notice:") && !ours {
            for constraint in &agent.constraints.constraints {
                if matches!(constraint.checkpoint, Some(Checkpoint::Response)) {
                    self.guarded += 1;
                    if !self.allows(constraint) {
                        let rule = &constraint.condition.text.value;
                        self.problem(format!("`{text}` was said, but `{rule}` does not allow it"));
                    }
                }
            }
        }
        if text != "notice: rail." && !ours {
            let rails = agent.constraints.guardrails.iter();
            for rail in rails.filter(|rail| rail.kind == GuardrailKind::Output) {
                self.guarded += 1;
                if !self.passes(rail, text) {
                    self.problem(format!("`{text}` was said, against `{}`", rail.name.value));
                }
            }
        }
    }
}

fn action(rail: &Guardrail) -> &str {
    let own = match &rail.action {
        Data::Object(fields) => fields.get("type").and_then(Data::as_str),
        other => other.as_str(),
    };
    own.unwrap_or("block")
}

/// The conditions around the call at a span.
fn branches_of<'p>(body: &'p Body, span: Span, guards: &mut Vec<&'p Condition>) {
    for statement in &body.0 {
        let (Statement::If { branches } | Statement::Await { branches }) = statement else {
            continue;
        };
        for branch in branches {
            let inside =
                branch.body.0.iter().any(|s| matches!(s, Statement::Call(c) if c.span == span));
            if inside && let Some(condition) = &branch.condition {
                // Conditions on the message are about what was said before.
                if !condition.text.value.contains("input") {
                    guards.push(condition);
                }
            }
            branches_of(&branch.body, span, guards);
        }
    }
}

impl Observer for Oracle<'_> {
    fn event(&mut self, event: &Event) {
        if let Ok(line) = serde_json::to_string(event) {
            self.trace.push(line);
        }
        let returned = self.now.returned.take();
        match &event.kind {
            EventKind::Error { kind, .. } if kind == "handoff_error" => {
                self.take_back_result(returned);
            }
            EventKind::Remember { path, value } => {
                self.now.memory.insert(path.clone(), value.clone());
            }
            EventKind::Input { text } => {
                self.now.resumed = None;
                self.now.system.insert("input".to_owned(), Json::from(text.as_str()));
            }
            EventKind::Node { kind, span, .. } if *kind == "call" => self.now.call = Some(*span),
            EventKind::Set { variable, value } => self.set(variable, value.clone()),
            EventKind::Clear { variable } => self.set(variable, Json::Null),
            EventKind::Call { tool, arguments } | EventKind::Reuse { tool, arguments } => {
                self.call(tool, arguments);
                self.now.calling = true;
            }
            EventKind::Result { tool, result, error } => {
                if std::mem::take(&mut self.now.calling) {
                    let failures = self.now.system.get("tool_failures").and_then(Json::as_f64);
                    let failures = failures.filter(|_| error.is_some()).unwrap_or(0.0);
                    let failures = failures + f64::from(u8::from(error.is_some()));
                    self.now.system.insert("tool_failures".to_owned(), Json::from(failures));
                }
                let value = match (result, error) {
                    (Some(result), _) => result.clone(),
                    (None, error) => serde_json::json!({ "error": error }),
                };
                self.set(tool, value.clone());
                self.set("result", value.clone());
                let name = format!("last_{tool}_result");
                self.now.forgotten.retain(|forgotten| *forgotten != name);
                self.now.system.insert(name, value);
            }
            EventKind::Transfer { how: "return", to, .. } => {
                self.returns_to(to);
            }
            EventKind::Transfer { to, .. } => {
                let to = to.clone();
                self.push(&to);
            }
            EventKind::Say { text } => self.say(text),
            EventKind::Violation { .. } => self.refused += 1,
            _ => {}
        }
    }

    fn partial(&mut self, text: &str) {
        self.streamed.push_str(text);
    }
}
