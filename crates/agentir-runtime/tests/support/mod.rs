//! Runs conversations with a scripted model and scripted tools.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, dead_code)]

use agentir::languages;
use agentir_ir::Program;
use agentir_project::read_program;
use agentir_runtime::{
    AgentMessage, Answer, Clock, Escalation, Event, EventKind, Extractor, FieldSpec, Host, Human,
    HumanReply, Input, Machine, Message, Model, ModelError, ModelRequest, ModelResponse, ModelTask,
    Observer, Session, ToolCall, ToolFailure, Tools, Usage,
};
use serde_json::{Map, Value as Json};
use std::collections::VecDeque;
use std::fmt::Write as _;

/// Reads a document as a program.
pub fn program(path: &str, text: &str) -> Program {
    read([(path, text)])
}

/// Reads documents as one program.
fn read<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Program {
    let mut loaded = read_program(languages(), files, agentir::ReadOptions::default());
    Program { complete: true, ..loaded.programs.remove(0).program }
}

/// Reads several documents as one program whose entry agent is the first one.
pub fn together(files: &[(&str, &str)]) -> Program {
    let mut program = read(files.iter().copied());
    let first = program.agents().next().map(|agent| agent.metadata.name.value.clone());
    program.entry_agent = first.map(|name| agentir_diagnostics::Spanned {
        value: name,
        span: agentir_diagnostics::Span::default(),
    });
    program
}

/// Loads the program of a folder below `corpus/`.
#[allow(dead_code)]
pub fn folder(path: &str, entry: Option<&str>) -> Program {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(path);
    let mut files = Vec::new();
    let mut open = vec![root];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e != "json" && e != "txt")
                && !path.to_str().unwrap().ends_with(".test.yaml")
            {
                files.push(path);
            }
        }
    }
    files.sort();
    let texts: Vec<(String, String)> = files
        .iter()
        .map(|file| (file.display().to_string(), std::fs::read_to_string(file).unwrap()))
        .collect();
    let mut program = read(texts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    program.entry_agent = entry.map(|name| agentir_diagnostics::Spanned {
        value: name.into(),
        span: agentir_diagnostics::Span::default(),
    });
    program
}

/// An answer in which the model calls a tool.
#[allow(dead_code)]
pub fn calls(name: &str, arguments: Json) -> Answer {
    let Json::Object(arguments) = arguments else { panic!("arguments have names") };
    let call = agentir_runtime::ToolUse { id: "c".to_owned(), name: name.to_owned(), arguments };
    Answer::Message { text: String::new(), calls: vec![call] }
}

/// An answer in which the model sends a message.
#[allow(dead_code)]
pub fn says(text: &str) -> Answer {
    Answer::Message { text: text.to_owned(), calls: Vec::new() }
}

type Call<'c> = Box<dyn FnMut(&str, &Map<String, Json>) -> Result<Json, ToolFailure> + 'c>;

/// A model that extracts the requested values verbatim, chooses the candidates that the message
/// names, and otherwise answers from a script.
#[derive(Default)]
pub struct Told {
    pub answers: VecDeque<Answer>,
    pub holds: Vec<&'static str>,
    pub system: Vec<String>,
    /// The texts about which it was asked whether a statement holds, with the statements.
    pub judged: Vec<(String, String)>,
    /// The fields of each request for values.
    pub extracted: Vec<Vec<String>>,
    /// The tools that it was offered in each request.
    pub tools: Vec<Vec<agentir_runtime::ToolSpec>>,
    /// The messages that the model saw in each request, one line per message.
    pub messages: Vec<Vec<String>>,
}

impl Model for Told {
    fn respond(
        &mut self,
        request: &ModelRequest,
        _: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let answer = match &request.task {
            ModelTask::Extract { message, fields, asked, .. } => {
                self.extracted.push(fields.iter().map(|field| field.name.clone()).collect());
                Answer::Values(Patterns.extract(message, fields, asked.as_deref()))
            }
            ModelTask::Choose { message, candidates, .. } => {
                let message = message.to_lowercase();
                let named = candidates.iter().filter(|c| {
                    message.contains(&c.name.to_lowercase())
                        || c.keywords.iter().any(|k| message.contains(&k.to_lowercase()))
                });
                Answer::Choice(named.map(|c| (c.name.clone(), 1.0)).collect())
            }
            ModelTask::Judge { statement, text, .. } => {
                self.judged.push((statement.clone(), text.clone()));
                let agrees = statement == "the user agrees" && text == "yes";
                Answer::Verdict(agrees || self.holds.iter().any(|h| statement.contains(h)))
            }
            ModelTask::Several { .. } | ModelTask::Summarize { .. } => {
                return Err(ModelError::Unavailable("it answers single questions".to_owned()));
            }
            ModelTask::Converse { system, situation, messages, tools, .. } => {
                self.tools.push(tools.clone());
                self.system.push(format!("{system}{situation}"));
                self.messages.push(messages.iter().map(line).collect());
                self.answers.pop_front().ok_or_else(|| {
                    ModelError::Unscripted(format!("{} asks to converse", request.agent))
                })?
            }
        };
        Ok(ModelResponse { answer, usage: Usage::default() })
    }
}

/// Extracts what a message says as `name=value`, or as a whole for the requested field.
pub struct Patterns;

impl Extractor for Patterns {
    fn extract(
        &self,
        message: &str,
        fields: &[FieldSpec],
        asked: Option<&str>,
    ) -> Map<String, Json> {
        let mut values = Map::new();
        for field in fields {
            if asked == Some(&field.name) && !message.is_empty() {
                // Listed values are found whatever their case.
                let listed = field.values.keys().find(|one| one.eq_ignore_ascii_case(message));
                let value = listed.map_or(message, String::as_str);
                values.insert(field.name.clone(), Json::from(value));
            }
            if let Some((_, value)) = message.split_once(&format!("{}=", field.name)) {
                let value = value.split_whitespace().next().unwrap_or_default();
                values.insert(field.name.clone(), Json::from(value));
            }
        }
        values
    }
}

struct Stub<'c>(Call<'c>);

impl Tools for Stub<'_> {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        (self.0)(call.name, &call.arguments)
    }
}

/// A message in one line.
fn line(message: &Message) -> String {
    let calls: Vec<&str> = message.calls.iter().map(|call| call.name.as_str()).collect();
    let who = format!("{:?}", message.role).to_lowercase();
    match calls.as_slice() {
        [] => format!("{who}: {}", message.text),
        calls => format!("{who}: {}[{}]", message.text, calls.join(", ")),
    }
}

/// People with scripted outcomes, who record the context that they receive.
#[derive(Default)]
pub struct People {
    pub replies: VecDeque<HumanReply>,
    pub told: Vec<Json>,
}

impl Human for People {
    fn take_over(&mut self, escalation: &Escalation<'_>) -> HumanReply {
        self.told.push(Json::Object(escalation.context.clone()));
        self.replies.pop_front().unwrap_or_default()
    }
}

/// A clock that only advances between turns, as its random numbers do.
struct At(i64);

impl Clock for At {
    fn now(&self) -> i64 {
        self.0
    }
    fn random(&self) -> u64 {
        self.0.unsigned_abs()
    }
    fn sleep(&self, _: u64) {}
}

#[derive(Default)]
struct Seen(Vec<Event>);

impl Observer for Seen {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }
}

/// A conversation and its transcript.
pub struct Talk<'p, 'c> {
    pub machine: Machine<'p>,
    pub session: Session,
    pub model: Told,
    pub people: People,
    /// Milliseconds since the Unix epoch.
    pub now: i64,
    tools: Stub<'c>,
    pub script: String,
    pub events: Vec<Event>,
    /// What the agents said, with everything beside it.
    pub said: Vec<AgentMessage>,
}

impl<'p, 'c> Talk<'p, 'c> {
    pub fn new(
        program: &'p Program,
        tools: impl FnMut(&str, &Map<String, Json>) -> Result<Json, ToolFailure> + 'c,
    ) -> Self {
        let machine = Machine::new(program);
        let session = machine.session(None).unwrap();
        Self {
            machine,
            session,
            model: Told::default(),
            people: People::default(),
            now: 1_780_000_000_000,
            tools: Stub(Box::new(tools)),
            script: String::new(),
            events: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Runs one turn. The session is serialised and deserialised before every turn.
    pub fn turn(&mut self, message: Option<&str>) -> &mut Self {
        self.take(message, message.map(Input::text).as_ref())
    }

    /// Presses a button, or chooses from a menu.
    pub fn press(&mut self, id: &str, value: Option<&str>) -> &mut Self {
        self.take(Some(id), Some(&Input::press(id, value.map(str::to_owned))))
    }

    fn take(&mut self, message: Option<&str>, input: Option<&Input>) -> &mut Self {
        let stored = serde_json::to_string(&self.session).unwrap();
        self.session = serde_json::from_str(&stored).unwrap();
        let mut seen = Seen::default();
        let mut host = Host {
            model: &mut self.model,
            extractor: &Patterns,
            tools: &mut self.tools,
            human: &mut self.people,
            clock: &At(self.now),
            observer: &mut seen,
        };
        let turn = self.machine.turn(&mut self.session, input, &mut host).unwrap();
        if let Some(message) = message {
            let _ = writeln!(self.script, "> {message}");
        }
        for event in &seen.0 {
            let line = match &event.kind {
                EventKind::Say { text } => format!("{}: {text}", event.agent),
                EventKind::Call { tool, arguments } => {
                    format!("  {tool}({})", Json::Object(arguments.clone()))
                }
                EventKind::Transfer { how, from, to } => format!("  {how}: {from} -> {to}"),
                EventKind::Error { kind, message } => format!("  {kind}: {message}"),
                EventKind::Violation { rule, action } => format!("  {action}: {rule}"),
                EventKind::Escalated { reason } => format!("  escalated: {reason:?}"),
                _ => continue,
            };
            let _ = writeln!(self.script, "{line}");
        }
        let _ = writeln!(self.script, "  [{}]", turn.status.name());
        if let Some(error) = turn.error {
            let _ = writeln!(self.script, "  error: {error}");
        }
        self.events.extend(seen.0);
        self.said.extend(turn.messages);
        self
    }

    pub fn say(&mut self, message: &str) -> &mut Self {
        self.turn(Some(message))
    }
}
