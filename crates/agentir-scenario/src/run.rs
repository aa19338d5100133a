//! The test runner.

use crate::coverage::Coverage;
use crate::file::{
    ExpectedCall, ModelMode, Scenario, ScenarioError, Test, TextMatch, Turn, now, pattern,
};
use agentir_model::{Offline, Script, Scripted};
use agentir_runtime::{
    AgentMessage, Clock, Escalation, Event, EventKind, Host, Human, HumanReply, Input, Machine,
    Model, Observer, Session,
};
use agentir_tools::{RecordedCall, StubFile, Stubs, Toolbox};
use jiff::Zoned;
use rayon::prelude::*;
use serde_json::Value as Json;
use std::collections::VecDeque;

/// The result of a test.
#[derive(Clone, Debug)]
pub struct TestOutcome {
    /// The name of the test.
    pub name: String,
    /// The unmet expectations; empty if the test passed.
    pub failures: Vec<Failure>,
    /// The transcript of the conversation.
    pub transcript: String,
    /// The duration of the test.
    pub time: std::time::Duration,
    /// The coverage of the conversation.
    pub coverage: Coverage,
}

/// An unmet expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The number of the turn, starting at 1.
    pub turn: usize,
    /// The kind of expectation: `says`, `calls`, `state`, `agent`, `step`, `status`.
    pub what: &'static str,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub found: String,
    /// The expectation within the turn; `None` if the file does not contain it.
    pub(crate) expectation: Option<Expectation>,
    /// The expectation that would match the actual value; `None` if it has to be removed.
    pub(crate) replacement: Option<Json>,
}

/// An expectation of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expectation {
    /// An item of a list: `says`, `calls`.
    Item(&'static str, usize),
    /// A variable.
    Variable(String),
    /// A field: `agent`, `step`, `status`.
    Field(&'static str),
}

/// Runs all tests of a file in parallel and returns the results in order.
///
/// # Errors
/// Returns a [`ScenarioError`] if the program or the file cannot be run.
pub fn run(machine: &Machine<'_>, scenario: &Scenario) -> Result<Vec<TestOutcome>, ScenarioError> {
    // Errors that concern all tests are reported once.
    machine.session(scenario.entry.as_deref()).map_err(|e| ScenarioError(e.to_string()))?;
    scenario.tests.par_iter().map(|test| run_test(machine, scenario, test)).collect()
}

/// A clock with a fixed time and a fixed random number.
#[derive(Clone, Debug)]
pub struct FixedClock(Zoned);

impl FixedClock {
    /// Creates a clock that shows a time as in RFC 3339.
    ///
    /// # Errors
    /// Returns a [`ScenarioError`] if the time is invalid.
    pub fn at(moment: &str) -> Result<Self, ScenarioError> {
        now(moment).map(Self)
    }

    /// The time shown.
    #[must_use]
    pub const fn moment(&self) -> &Zoned {
        &self.0
    }
}

impl Clock for FixedClock {
    fn now(&self) -> i64 {
        self.0.timestamp().as_millisecond()
    }
    fn random(&self) -> u64 {
        0x9E37_79B9_7F4A_7C15
    }
    fn sleep(&self, _: u64) {}
}

#[derive(Default)]
struct Recorder {
    path: Vec<usize>,
    lines: Vec<String>,
}

impl Observer for Recorder {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Node { node, .. } => self.path.push(*node),
            EventKind::Say { text } => self.lines.push(format!("{}: {text}", event.agent)),
            EventKind::Call { tool, arguments } => {
                self.lines.push(format!("  calls {tool} {}", Json::Object(arguments.clone())));
            }
            EventKind::Reuse { tool, arguments } => self.lines.push(format!(
                "  uses the result that it has of {tool} {}",
                Json::Object(arguments.clone())
            )),
            EventKind::Transfer { how, from, to } => {
                self.lines.push(format!("  {how} {from} -> {to}"))
            }
            EventKind::Error { kind, message } => self.lines.push(format!("  {kind}: {message}")),
            _ => {}
        }
    }
}

struct ScriptedHumans(VecDeque<HumanReply>);

impl Human for ScriptedHumans {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        self.0.pop_front().unwrap_or_default()
    }
}

fn run_test(
    machine: &Machine<'_>,
    scenario: &Scenario,
    test: &Test,
) -> Result<TestOutcome, ScenarioError> {
    let begin = std::time::Instant::now();
    let inside = |message: String| ScenarioError(format!("test `{}`: {message}", test.name));
    let clock = FixedClock::at(scenario.now.as_deref().unwrap_or("2026-03-02T10:00:00Z"))?;
    let mut file = StubFile { tools: scenario.tools.clone() };
    file.tools.extend(test.tools.clone());
    let stubs = Stubs::new(file).map_err(|e| inside(e.to_string()))?;
    let mut tools = Toolbox::new(machine.program()).stubs(stubs);
    let answers: Vec<_> = test.answers.iter().chain(&scenario.answers).cloned().collect();
    let mode = scenario.model.unwrap_or(if answers.is_empty() {
        ModelMode::Offline
    } else {
        ModelMode::Scripted
    });
    let extractor = Offline::at(clock.0.clone());
    let (mut scripted, mut offline);
    let model: &mut dyn Model = match mode {
        ModelMode::Scripted => {
            let script = Script::new(answers).map_err(|e| inside(e.to_string()))?;
            scripted = Scripted::new(&script);
            &mut scripted
        }
        ModelMode::Offline => {
            offline = extractor.clone();
            &mut offline
        }
    };
    let mut human = ScriptedHumans(
        test.humans
            .iter()
            .map(|p| HumanReply { messages: p.says.clone(), outcome: p.outcome.clone() })
            .collect(),
    );
    let mut session =
        machine.session(scenario.entry.as_deref()).map_err(|e| ScenarioError(e.to_string()))?;
    if let Some(channel) = &scenario.channel {
        session.set_system("channel", &Json::from(channel.as_str()));
    }
    session.set_orchestration(scenario.orchestration);
    for (path, value) in scenario.memory.iter().chain(&test.memory) {
        session.set_memory(path, value);
    }
    let mut outcome = TestOutcome {
        name: test.name.clone(),
        failures: Vec::new(),
        transcript: String::new(),
        time: std::time::Duration::ZERO,
        coverage: Coverage::default(),
    };
    let silent = test.turns.first().is_some_and(|t| t.user.is_none() && t.press.is_none());
    // The opening turn runs even if nothing is expected of it.
    let opening = Turn::default();
    let begins = (!silent).then_some(&opening);
    for (n, turn) in begins.into_iter().chain(&test.turns).enumerate() {
        let input = input(turn);
        if let Some(input) = &input {
            let pressed = input.action.as_ref().map(|(id, value)| value.as_ref().unwrap_or(id));
            let said = pressed.filter(|_| input.text.is_empty()).unwrap_or(&input.text);
            outcome.transcript.push_str(&format!("> {said}\n"));
        }
        let mut recorder = Recorder::default();
        let before = tools.calls().len();
        let mut host = Host {
            model: &mut *model,
            extractor: &extractor,
            tools: &mut tools,
            human: &mut human,
            clock: &clock,
            observer: &mut recorder,
        };
        let result = machine
            .turn(&mut session, input.as_ref(), &mut host)
            .map_err(|e| inside(e.to_string()))?;
        for line in &recorder.lines {
            outcome.transcript.push_str(line);
            outcome.transcript.push('\n');
        }
        outcome.coverage.add(&recorder.path);
        let calls = tools.calls().get(before..).unwrap_or_default();
        let number = if silent { n + 1 } else { n };
        let state = State { session: &session, step: machine.current_step(&session) };
        let mut failures =
            compare(turn, &result.messages, calls, &state, result.status.name(), number);
        // Who expects the words about an error, or how the turn ends, expects the error.
        let expected = turn.status.is_some() || turn.says.is_some();
        if let Some(error) = result.error.as_ref().filter(|_| !expected) {
            failures.push(Failure {
                turn: number,
                what: "status",
                expected: "no error".to_owned(),
                found: error.clone(),
                expectation: None,
                replacement: None,
            });
        }
        outcome.failures.extend(failures);
        if !outcome.failures.is_empty() {
            // Later failures would only be consequences.
            break;
        }
    }
    outcome.time = begin.elapsed();
    Ok(outcome)
}

fn input(turn: &Turn) -> Option<Input> {
    let text = turn.user.clone();
    match &turn.press {
        Some(press) => {
            let pressed = Input::press(&press.id, press.value.clone());
            Some(Input { text: text.unwrap_or_default(), ..pressed })
        }
        None => text.map(Input::text),
    }
}

struct State<'s> {
    session: &'s Session,
    step: Option<&'s str>,
}

impl State<'_> {
    /// The value of a variable, or of a field within it.
    fn value(&self, path: &str) -> Json {
        if let Some(value) = self.session.variable(path) {
            return value;
        }
        if let Some(value) = self.session.memory().remove(path) {
            return value;
        }
        let mut parts = path.split('.');
        let root = parts.next().unwrap_or_default();
        let mut value = self.session.variable(root).unwrap_or(Json::Null);
        for part in parts {
            let item = part.parse().ok().and_then(|at: usize| value.get(at));
            value = value.get(part).or(item).cloned().unwrap_or(Json::Null);
        }
        value
    }
}

fn compare(
    turn: &Turn,
    messages: &[AgentMessage],
    calls: &[RecordedCall],
    state: &State<'_>,
    status: &str,
    number: usize,
) -> Vec<Failure> {
    let mut failures = Vec::new();
    let mut fail = |what,
                    expectation,
                    expected: String,
                    found: String,
                    replacement: Option<Json>| {
        let expectation = Some(expectation);
        failures.push(Failure { turn: number, what, expected, found, expectation, replacement });
    };
    if let Some(expected) = &turn.says {
        for (n, text) in expected.iter().enumerate() {
            let expectation = Expectation::Item("says", n);
            match messages.get(n) {
                Some(message) if text_matches(text, message.words()) => {}
                Some(message) => {
                    let replacement = Json::from(message.words().trim());
                    fail(
                        "says",
                        expectation,
                        describe_text(text),
                        message.words().to_owned(),
                        Some(replacement),
                    );
                }
                None => fail("says", expectation, describe_text(text), "nothing".to_owned(), None),
            }
        }
        for (n, more) in messages.iter().enumerate().skip(expected.len()) {
            let (found, replacement) = (more.words().to_owned(), Json::from(more.words().trim()));
            let expectation = Expectation::Item("says", n);
            fail("says", expectation, "nothing more".to_owned(), found, Some(replacement));
        }
    }
    if let Some(expected) = &turn.calls {
        for (n, call) in expected.iter().enumerate() {
            let expectation = Expectation::Item("calls", n);
            match calls.get(n) {
                Some(made) if call_matches(call, made) => {}
                Some(made) => {
                    let replacement = replacement_call(call, made);
                    fail(
                        "calls",
                        expectation,
                        describe_expected_call(call),
                        describe_call(made),
                        Some(replacement),
                    );
                }
                None => fail(
                    "calls",
                    expectation,
                    describe_expected_call(call),
                    "no call".to_owned(),
                    None,
                ),
            }
        }
        for (n, more) in calls.iter().enumerate().skip(expected.len()) {
            let replacement = Json::from(more.tool.as_str());
            let expectation = Expectation::Item("calls", n);
            let expected = "no more calls".to_owned();
            fail("calls", expectation, expected, describe_call(more), Some(replacement));
        }
    }
    for (path, matcher) in &turn.state {
        let value = state.value(path);
        if !matcher.holds(&value) {
            let (expected, found) = (format!("{path}: {matcher}"), format!("{path}: {value}"));
            // A missing value has a matcher of its own.
            let replacement = match value {
                Json::Null => serde_json::json!({ "any": false }),
                value => value,
            };
            fail("state", Expectation::Variable(path.clone()), expected, found, Some(replacement));
        }
    }
    let agent = state.session.agent().unwrap_or("nobody");
    let step = state.step.unwrap_or("no step");
    for (what, expected, found) in [
        ("agent", &turn.agent, agent),
        ("step", &turn.step, step),
        ("status", &turn.status, status),
    ] {
        if let Some(expected) = expected.as_deref().filter(|e| *e != found) {
            let replacement = Some(Json::from(found));
            fail(
                what,
                Expectation::Field(what),
                expected.to_owned(),
                found.to_owned(),
                replacement,
            );
        }
    }
    failures
}

/// The actual call, with as much detail as the expected one.
fn replacement_call(expected: &ExpectedCall, made: &RecordedCall) -> Json {
    match expected {
        ExpectedCall::Tool(_) => Json::from(made.tool.as_str()),
        ExpectedCall::With(tools) => {
            let arguments = match tools.get(&made.tool) {
                Some(named) => named
                    .keys()
                    .map(|n| (n.clone(), made.arguments.get(n).cloned().unwrap_or_default()))
                    .collect(),
                None => made.arguments.clone(),
            };
            serde_json::json!({ made.tool.as_str(): arguments })
        }
    }
}

fn text_matches(expected: &TextMatch, text: &str) -> bool {
    match expected {
        TextMatch::Exact(exact) => exact.trim() == text.trim(),
        TextMatch::Contains { contains } => text.to_lowercase().contains(&contains.to_lowercase()),
        // Patterns were validated when the file was parsed.
        TextMatch::Matches { matches } => pattern(matches).is_ok_and(|p| p.is_match(text)),
    }
}

fn describe_text(expected: &TextMatch) -> String {
    match expected {
        TextMatch::Exact(exact) => exact.clone(),
        TextMatch::Contains { contains } => format!("text containing `{contains}`"),
        TextMatch::Matches { matches } => format!("text matching /{matches}/"),
    }
}

fn call_matches(expected: &ExpectedCall, made: &RecordedCall) -> bool {
    match expected {
        ExpectedCall::Tool(name) => made.tool == *name,
        ExpectedCall::With(tools) => tools.iter().any(|(name, arguments)| {
            made.tool == *name
                && arguments
                    .iter()
                    .all(|(n, m)| m.holds(made.arguments.get(n).unwrap_or(&Json::Null)))
        }),
    }
}

fn describe_expected_call(expected: &ExpectedCall) -> String {
    match expected {
        ExpectedCall::Tool(name) => name.clone(),
        ExpectedCall::With(tools) => {
            let all = tools.iter().map(|(name, arguments)| {
                let all: Vec<String> = arguments.iter().map(|(n, m)| format!("{n}: {m}")).collect();
                format!("{name} with {}", all.join(", "))
            });
            all.collect::<Vec<_>>().join(" or ")
        }
    }
}

fn describe_call(made: &RecordedCall) -> String {
    format!("{} {}", made.tool, Json::Object(made.arguments.clone()))
}
