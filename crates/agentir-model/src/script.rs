//! A model that answers from a file, for tests.
//!
//! A script is YAML: a list of entries, each with what it is for and one answer.
//!
//! ```
//! # use agentir_model::Script;
//! let script = Script::parse(r#"
//! answers:
//!   - message: cheap hotel              # a pattern on what the user said last
//!     values: { budget: 80 }            # answers "which values does the user give?"
//!   - agent: Hotel_Search
//!     say: Let me look.
//!     calls:
//!       - { name: search_hotels, arguments: { budget: 80 } }
//!   - agent: Hotel_Search
//!     say: I found the Harbour Inn.
//!   - statement: wants a person         # a pattern on what is to be judged
//!     holds: false
//!     times: always
//!   - choose: [Booking]                 # which intent, which agent
//!     offers: [Booking, Cancelling]     # only where both may be chosen
//!   - ask: converse
//!     fail: timeout                     # how an agent copes with errors
//! "#).unwrap();
//! assert_eq!(script.entries().len(), 6);
//! ```
//!
//! Of all entries that fit a question and are not used up, the first answers. An entry answers once
//! unless it says how many `times`. So entries for the same thing answer in their order.

use crate::tokens::Tokens;
use agentir_runtime::{
    Answer, Message, Model, ModelError, ModelRequest, ModelResponse, ModelTask, Role, ToolUse,
};
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use std::fmt;
use std::sync::Arc;

/// How large the program of a pattern may get, in bytes.
const MAX_REGEX_SIZE: usize = 1 << 20;

/// How much of a text a message shows, in characters.
const MAX_SHOWN_CHARS: usize = 120;

/// A file with answers.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    /// The answers. The first that fits a question and is not used up is given.
    answers: Vec<ScriptEntry>,
}

/// An answer, and the questions it is for. What is left out fits any question. The kind of question
/// follows from the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptEntry {
    /// The kind of question. It follows from the answer, but for `fail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Kind>,
    /// The agent that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The step in which it asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// A regular expression that is found in what the user said last (or, for a judgement, in the
    /// text that is judged). Upper and lower case are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A regular expression that is found in what is to be judged, in the purpose of a choice, or in
    /// the instructions of what is to be written. Upper and lower case are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// The names of candidates, tools or fields, all of which the question must have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<String>,
    /// How often this answers: a number, or `always`. Once if it is left out.
    #[serde(skip_serializing_if = "Times::is_once")]
    pub times: Times,
    /// What the agent says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// The tools that the model calls, after what it says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// The values that the user gives, by field; `{}` if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Map<String, Json>>,
    /// The names of the candidates that are meant, the surest first; `[]` if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choose: Option<Vec<String>>,
    /// How sure the choice is, from 0 to 1. 1 if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Whether the statement holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// How the model fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail: Option<FailureMode>,
}

/// A kind of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Lead the conversation.
    Converse,
    /// Which values does the user give?
    Extract,
    /// Which of these is meant?
    Choose,
    /// Does this hold?
    Judge,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Converse => "converse",
            Self::Extract => "extract",
            Self::Choose => "choose",
            Self::Judge => "judge",
        }
    }
}

/// A tool that is called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name under which it is offered.
    pub name: String,
    /// Its arguments, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Json>,
}

/// How often an entry answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`times` is a number, or `always`")]
pub enum Times {
    /// So often.
    Count(u32),
    /// Every time.
    Word(Always),
}

/// The word for "every time".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Always {
    /// Every time.
    Always,
}

impl Default for Times {
    fn default() -> Self {
        Self::Count(1)
    }
}

impl Times {
    fn is_once(&self) -> bool {
        *self == Self::default()
    }
}

/// How a model fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// It takes too long.
    Timeout,
    /// It cannot be reached.
    Unavailable,
    /// Its answer makes no sense.
    Malformed,
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The entry, from 1; none if the file cannot be read at all.
    pub entry: Option<usize>,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry {
            Some(entry) => write!(f, "entry {entry} of the script: {}", self.message),
            None => write!(f, "the script cannot be read: {}", self.message),
        }
    }
}

impl std::error::Error for ScriptError {}

/// The JSON Schema of a script.
#[must_use]
pub fn script_schema() -> Json {
    let mut schema = schemars::schema_for!(File).to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("title".into(), "Answers of a scripted model".into());
    }
    schema
}

/// Entries that were read and checked. Cheap to copy: all conversations of a test run share one.
#[derive(Clone, Debug)]
pub struct Script {
    entries: Arc<[CompiledEntry]>,
}

#[derive(Debug)]
struct CompiledEntry {
    entry: ScriptEntry,
    kind: Option<Kind>,
    message: Option<Regex>,
    statement: Option<Regex>,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// [`ScriptError`], if it is no YAML, has fields that no script has, or an entry makes no sense.
    pub fn parse(yaml: &str) -> Result<Self, ScriptError> {
        let file: File = serde_saphyr::from_str(yaml).map_err(|e| ScriptError {
            entry: None,
            message: e.to_string().trim_start_matches("error: ").to_owned(),
        })?;
        Self::new(file.answers)
    }

    /// A script of these entries.
    ///
    /// # Errors
    /// [`ScriptError`], if one has not exactly one answer, a pattern that is none, or a kind that its
    /// answer does not fit.
    pub fn new(entries: Vec<ScriptEntry>) -> Result<Self, ScriptError> {
        let checked = entries.into_iter().enumerate().map(|(index, entry)| {
            compile(entry).map_err(|message| ScriptError { entry: Some(index + 1), message })
        });
        Ok(Self { entries: checked.collect::<Result<_, _>>()? })
    }

    /// The entries, in their order.
    #[must_use]
    pub fn entries(&self) -> Vec<&ScriptEntry> {
        self.entries.iter().map(|checked| &checked.entry).collect()
    }
}

fn compile(entry: ScriptEntry) -> Result<CompiledEntry, String> {
    let speaks = entry.say.is_some() || !entry.calls.is_empty();
    let answers = [
        (if entry.say.is_some() { "say" } else { "calls" }, speaks.then_some(Some(Kind::Converse))),
        ("values", entry.values.as_ref().map(|_| Some(Kind::Extract))),
        ("choose", entry.choose.as_ref().map(|_| Some(Kind::Choose))),
        ("holds", entry.holds.map(|_| Some(Kind::Judge))),
        ("fail", entry.fail.map(|_| None)),
    ];
    let given: Vec<_> = answers.iter().filter_map(|(name, kind)| Some((name, (*kind)?))).collect();
    let kind = match given.as_slice() {
        [] => {
            return Err("it has no answer: write one of `say`, `calls`, `values`, `choose`, \
                        `holds`, `fail`"
                .to_owned());
        }
        [(_, kind)] => *kind,
        [(one, _), (other, _), ..] => {
            return Err(format!("it has both `{one}` and `{other}`: make two entries of it"));
        }
    };
    let kind = match (entry.ask, kind) {
        (Some(asked), Some(kind)) if asked != kind => {
            return Err(format!(
                "it is for `ask: {}`, but its answer is one to `{}`",
                asked.name(),
                kind.name()
            ));
        }
        (asked, kind) => kind.or(asked),
    };
    if let Some(confidence) = entry.confidence {
        if entry.choose.is_none() {
            return Err("`confidence` is for entries with `choose`".to_owned());
        }
        if !(0.0..=1.0).contains(&confidence) {
            return Err(format!("`confidence` is from 0 to 1, not {confidence}"));
        }
    }
    let message = entry.message.as_deref().map(|p| pattern("message", p)).transpose()?;
    let statement = entry.statement.as_deref().map(|p| pattern("statement", p)).transpose()?;
    Ok(CompiledEntry { entry, kind, message, statement })
}

fn pattern(field: &str, pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(MAX_REGEX_SIZE)
        .build()
        .map_err(|e| format!("`{field}` is no regular expression: {e}"))
}

/// Answers from a script.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Script,
    /// How often each entry answered.
    used: Vec<u32>,
    calls: u64,
    tokens: Tokens,
}

impl Scripted {
    /// A model that answers from the beginning of a script.
    #[must_use]
    pub fn new(script: &Script) -> Self {
        Self {
            used: vec![0; script.entries.len()],
            script: script.clone(),
            calls: 0,
            tokens: Tokens::default(),
        }
    }

    /// The entries that did not answer as often as they could, with their number from 1; those that
    /// always answer if they never did.
    #[must_use]
    pub fn unused(&self) -> Vec<(usize, &ScriptEntry)> {
        let all = self.script.entries.iter().zip(&self.used).enumerate();
        all.filter(|(_, (checked, used))| match checked.entry.times {
            Times::Count(count) => **used < count,
            Times::Word(Always::Always) => **used == 0,
        })
        .map(|(index, (checked, _))| (index + 1, &checked.entry))
        .collect()
    }

    fn answer(&mut self, entry: &ScriptEntry) -> Result<Answer, ModelError> {
        if let Some(fail) = entry.fail {
            let why = "the script says so".to_owned();
            return Err(match fail {
                FailureMode::Timeout => ModelError::Timeout,
                FailureMode::Unavailable => ModelError::Unavailable(why),
                FailureMode::Malformed => ModelError::Malformed(why),
            });
        }
        if let Some(values) = &entry.values {
            return Ok(Answer::Values(values.clone()));
        }
        if let Some(names) = &entry.choose {
            let confidence = entry.confidence.unwrap_or(1.0);
            return Ok(Answer::Choice(names.iter().map(|n| (n.clone(), confidence)).collect()));
        }
        if let Some(holds) = entry.holds {
            return Ok(Answer::Verdict(holds));
        }
        let calls = entry.calls.iter().map(|call| {
            self.calls += 1;
            ToolUse {
                id: format!("call_{}", self.calls),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            }
        });
        let calls = calls.collect();
        Ok(Answer::Message { text: entry.say.clone().unwrap_or_default(), calls })
    }
}

impl Model for Scripted {
    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let script = self.script.clone();
        let fitting = script.entries.iter().enumerate().find(|(index, checked)| {
            let used = self.used.get(*index).copied().unwrap_or(u32::MAX);
            let left = match checked.entry.times {
                Times::Count(count) => used < count,
                Times::Word(Always::Always) => true,
            };
            left && checked.fits(request)
        });
        let Some((index, checked)) = fitting else {
            return Err(ModelError::Unscripted(self.unscripted(request)));
        };
        if let Some(used) = self.used.get_mut(index) {
            *used = used.saturating_add(1);
        }
        let answer = self.answer(&checked.entry)?;
        check_names(&request.task, &answer).map_err(|why| {
            ModelError::Unscripted(format!("entry {} of the script: {why}", index + 1))
        })?;
        if let Answer::Message { text, .. } = &answer
            && !text.is_empty()
        {
            partial(text);
        }
        let usage = self.tokens.usage(&request.task, &answer);
        Ok(ModelResponse { answer, usage })
    }
}

impl CompiledEntry {
    /// Whether this is an answer to a question, if it is not used up.
    fn fits(&self, request: &ModelRequest) -> bool {
        let entry = &self.entry;
        let text = message_text(&request.task);
        let allowed_names = allowed_names(&request.task);
        self.kind.is_none_or(|kind| kind.name() == request.task.kind())
            && entry.agent.as_ref().is_none_or(|agent| *agent == request.agent)
            && entry.step.as_ref().is_none_or(|step| request.step.as_ref() == Some(step))
            && self.message.as_ref().is_none_or(|p| p.is_match(text))
            && self.statement.as_ref().is_none_or(|p| p.is_match(statement(&request.task)))
            && entry.offers.iter().all(|name| allowed_names.contains(&name.as_str()))
    }
}

/// What the user said last, or the text that is judged.
fn message_text(task: &ModelTask) -> &str {
    match task {
        ModelTask::Converse { messages, .. } => last_user_message(messages),
        ModelTask::Extract { message, .. } | ModelTask::Choose { message, .. } => message,
        ModelTask::Judge { text, .. } => text,
    }
}

/// What an entry's `statement` looks at.
fn statement(task: &ModelTask) -> &str {
    match task {
        ModelTask::Judge { statement, .. } => statement,
        ModelTask::Choose { purpose, .. } => purpose,
        ModelTask::Converse { .. } | ModelTask::Extract { .. } => "",
    }
}

/// The names that an answer may have.
fn allowed_names(task: &ModelTask) -> Vec<&str> {
    match task {
        ModelTask::Converse { tools, .. } => tools.iter().map(|tool| tool.name.as_str()).collect(),
        ModelTask::Extract { fields, .. } => {
            fields.iter().map(|field| field.name.as_str()).collect()
        }
        ModelTask::Choose { candidates, .. } => {
            candidates.iter().map(|c| c.name.as_str()).collect()
        }
        ModelTask::Judge { .. } => Vec::new(),
    }
}

/// Whether the names of an answer are ones of the question: a test that answers with a name that is
/// not there tests something else than its author thinks.
fn check_names(task: &ModelTask, answer: &Answer) -> Result<(), String> {
    let allowed_names = allowed_names(task);
    let names: Vec<&str> = match answer {
        Answer::Message { calls, .. } => calls.iter().map(|call| call.name.as_str()).collect(),
        Answer::Values(values) => values.keys().map(String::as_str).collect(),
        Answer::Choice(chosen) => chosen.iter().map(|(name, _)| name.as_str()).collect(),
        Answer::Verdict(_) => return Ok(()),
    };
    match names.iter().find(|name| !allowed_names.contains(name)) {
        None => Ok(()),
        Some(name) if allowed_names.is_empty() => {
            Err(format!("`{name}` is answered, nothing is offered"))
        }
        Some(name) => {
            Err(format!("`{name}` is answered, but offered are only {}", allowed_names.join(", ")))
        }
    }
}

impl Scripted {
    /// Says what was asked, and shows the entry that would answer it.
    fn unscripted(&self, request: &ModelRequest) -> String {
        let task = &request.task;
        let what = match task {
            ModelTask::Converse { .. } => "is to lead the conversation".to_owned(),
            ModelTask::Extract { fields, .. } => {
                let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                format!("asks for the values of {}", names.join(", "))
            }
            ModelTask::Choose { purpose, .. } => format!("has to choose ({})", first_line(purpose)),
            ModelTask::Judge { statement, .. } => {
                format!("asks whether “{}” holds", first_line(statement))
            }
        };
        let step = request.step.as_ref().map(|s| format!(" in step `{s}`")).unwrap_or_default();
        let after = match message_text(task) {
            "" => String::new(),
            text => format!(" after “{}”", first_line(text)),
        };
        let spent = self.script.entries.iter().enumerate().find(|(_, c)| c.fits(request));
        let spent = spent.map_or_else(String::new, |(index, _)| {
            format!("; entry {} would fit, but is used up (see `times`)", index + 1)
        });
        let entry = example_entry(request);
        format!(
            "the agent `{}`{step} {what}{after}{spent}. This entry answers it:\n{entry}",
            request.agent
        )
    }
}

/// An entry that answers a question, as YAML. JSON's texts and lists are YAML's.
fn example_entry(request: &ModelRequest) -> String {
    let quoted = |text: &str| Json::String(text.to_owned()).to_string();
    let mut lines = vec![format!("agent: {}", quoted(&request.agent))];
    if let Some(step) = &request.step {
        lines.push(format!("step: {}", quoted(step)));
    }
    let message = message_text(&request.task);
    if !message.is_empty() && message.chars().count() <= MAX_SHOWN_CHARS && !message.contains('\n')
    {
        lines.push(format!("message: {}", quoted(&regex::escape(message))));
    }
    match &request.task {
        ModelTask::Converse { tools, .. } => {
            lines.push("say: \"…\"".to_owned());
            if let Some(tool) = tools.first() {
                let arguments: Map<String, Json> =
                    tool.parameters.iter().map(|p| (p.name.clone(), "…".into())).collect();
                let call = json!({"name": tool.name, "arguments": arguments});
                lines.push(format!("# or, with or without it: calls: [{call}]"));
            }
        }
        ModelTask::Extract { fields, .. } => {
            let values: Map<String, Json> =
                fields.iter().map(|f| (f.name.clone(), "…".into())).collect();
            lines.push(format!("values: {}", Json::Object(values)));
        }
        ModelTask::Choose { candidates, .. } => {
            let names: Vec<&str> = candidates.iter().map(|c| c.name.as_str()).collect();
            lines.push(format!("choose: {}  # or others of these, or none", json!(names)));
        }
        ModelTask::Judge { statement, .. } => {
            let start: String = statement
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .take(MAX_SHOWN_CHARS)
                .collect();
            lines.push(format!("statement: {}", quoted(&regex::escape(&start))));
            lines.push("holds: true  # or false".to_owned());
        }
    }
    format!("  - {}", lines.join("\n    "))
}

/// What the user said last.
fn last_user_message(messages: &[Message]) -> &str {
    messages.iter().rev().find(|m| m.role == Role::User).map_or("", |m| &m.text)
}

/// The beginning of a text, in one line.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() > MAX_SHOWN_CHARS {
        return line.chars().take(MAX_SHOWN_CHARS).chain(std::iter::once('…')).collect();
    }
    line.to_owned()
}
