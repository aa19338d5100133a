//! A scripted model, for tests.
//!
//! A script is YAML: a list of entries, each with conditions and one answer.
//!
//! ```
//! # use agentir_model::Script;
//! let script = Script::parse(r#"
//! answers:
//!   - message: cheap hotel              # a pattern for the user's last message
//!     values: { budget: 80 }            # answers an extraction
//!   - agent: Hotel_Search
//!     say: Let me look.
//!     calls:
//!       - { name: search_hotels, arguments: { budget: 80 } }
//!   - agent: Hotel_Search
//!     say: I found the Harbour Inn.
//!   - statement: wants a person         # a pattern for the statement to judge
//!     holds: false
//!     times: always
//!   - choose: [Booking]                 # an intent or an agent
//!     offers: [Booking, Cancelling]     # only if both are candidates
//!   - ask: converse
//!     fail: timeout                     # to test error handling
//! "#).unwrap();
//! assert_eq!(script.entries().len(), 6);
//! ```
//!
//! The first entry that matches a request and is not used up answers it. An entry answers once
//! unless it defines how many `times`, so entries with the same conditions answer in order.

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

/// The maximum size of a compiled pattern, in bytes.
const MAX_REGEX_SIZE: usize = 1 << 20;

/// The number of characters of a text that a message quotes.
const MAX_SHOWN_CHARS: usize = 120;

/// A script file.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct File {
    /// The answers. The first one that matches a request and is not used up is given.
    answers: Vec<ScriptEntry>,
}

/// An answer and the conditions under which it is given. Omitted conditions match any request. The
/// kind of request follows from the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScriptEntry {
    /// The kind of request. It follows from the answer, except for `fail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Kind>,
    /// The requesting agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The step in which the request is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// A regular expression that matches the user's last message (for judgements, the text to
    /// judge). Case-insensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// A regular expression that matches the statement to judge or the purpose of a choice.
    /// Case-insensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// Names of candidates, tools or fields, all of which the request must contain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<String>,
    /// How often this entry answers: a number, or `always`. The default is once.
    #[serde(skip_serializing_if = "Times::is_once")]
    pub times: Times,
    /// The message of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    /// The tools that the model calls, after its message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// The extracted values, by field; `{}` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Map<String, Json>>,
    /// The names of the chosen candidates, by descending confidence; `[]` if none is chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choose: Option<Vec<String>>,
    /// The confidence of the choice, from 0 to 1. The default is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The result of a judgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// The way in which the model fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail: Option<FailureMode>,
}

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Continue the conversation.
    Converse,
    /// Extract values from a message.
    Extract,
    /// Choose among candidates.
    Choose,
    /// Judge a statement.
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

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The name under which the tool is exposed.
    pub name: String,
    /// The arguments, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Json>,
}

/// How often an entry answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`times` is a number, or `always`")]
pub enum Times {
    /// A number of times.
    Count(u32),
    /// Always.
    Word(Always),
}

/// The keyword `always`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Always {
    /// Always.
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

/// A way in which a model fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// The model times out.
    Timeout,
    /// The model cannot be reached.
    Unavailable,
    /// The model returns an invalid answer.
    Malformed,
}

/// An error in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The number of the entry, starting at 1; `None` if the file cannot be read.
    pub entry: Option<usize>,
    /// A message for people.
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

/// The JSON Schema of a script file.
#[must_use]
pub fn script_schema() -> Json {
    let mut schema = schemars::schema_for!(File).to_value();
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("title".into(), "Answers of a scripted model".into());
    }
    schema
}

/// A parsed and validated script. Cheap to clone: all conversations of a test run share one.
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
    /// Parses a script.
    ///
    /// # Errors
    /// Returns a [`ScriptError`] for invalid YAML, unknown fields or inconsistent entries.
    pub fn parse(yaml: &str) -> Result<Self, ScriptError> {
        let file: File = serde_saphyr::from_str(yaml).map_err(|e| ScriptError {
            entry: None,
            message: e.without_snippet().to_string().trim_start_matches("error: ").to_owned(),
        })?;
        Self::new(file.answers)
    }

    /// Creates a script from entries.
    ///
    /// # Errors
    /// Returns a [`ScriptError`] if an entry does not have exactly one answer, has an invalid
    /// pattern, or a kind that contradicts its answer.
    pub fn new(entries: Vec<ScriptEntry>) -> Result<Self, ScriptError> {
        let checked = entries.into_iter().enumerate().map(|(index, entry)| {
            compile(entry).map_err(|message| ScriptError { entry: Some(index + 1), message })
        });
        Ok(Self { entries: checked.collect::<Result<_, _>>()? })
    }

    /// The entries, in order.
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
            return Err("it has no answer: add one of `say`, `calls`, `values`, `choose`, \
                        `holds`, `fail`"
                .to_owned());
        }
        [(_, kind)] => *kind,
        [(one, _), (other, _), ..] => {
            return Err(format!("it has both `{one}` and `{other}`: split it into two entries"));
        }
    };
    let kind = match (entry.ask, kind) {
        (Some(asked), Some(kind)) if asked != kind => {
            return Err(format!(
                "it has `ask: {}`, but its answer is for `{}`",
                asked.name(),
                kind.name()
            ));
        }
        (asked, kind) => kind.or(asked),
    };
    if let Some(confidence) = entry.confidence {
        if entry.choose.is_none() {
            return Err("`confidence` requires `choose`".to_owned());
        }
        if !(0.0..=1.0).contains(&confidence) {
            return Err(format!("`confidence` must be between 0 and 1, not {confidence}"));
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
        .map_err(|e| format!("`{field}` is not a valid regular expression: {e}"))
}

/// A model that answers from a script.
#[derive(Clone, Debug)]
pub struct Scripted {
    script: Script,
    /// How often each entry has answered.
    used: Vec<u32>,
    calls: u64,
    tokens: Tokens,
}

impl Scripted {
    /// Creates a model that starts at the beginning of a script.
    #[must_use]
    pub fn new(script: &Script) -> Self {
        Self {
            used: vec![0; script.entries.len()],
            script: script.clone(),
            calls: 0,
            tokens: Tokens::default(),
        }
    }

    /// The entries, with their numbers starting at 1, that answered less often than they could; for
    /// `always`, those that never answered.
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
            let why = "defined by the script".to_owned();
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
    /// Whether this entry matches a request, regardless of how often it was used.
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

/// The user's last message, or the text to judge.
fn message_text(task: &ModelTask) -> &str {
    match task {
        ModelTask::Converse { messages, .. } => last_user_message(messages),
        ModelTask::Extract { message, .. } | ModelTask::Choose { message, .. } => message,
        ModelTask::Judge { text, .. } => text,
        ModelTask::Several { questions } => questions.first().map_or("", message_text),
        ModelTask::Summarize { .. } => "",
    }
}

/// The text that an entry's `statement` is matched against.
fn statement(task: &ModelTask) -> &str {
    match task {
        ModelTask::Judge { statement, .. } => statement,
        ModelTask::Choose { purpose, .. } => purpose,
        _ => "",
    }
}

/// The names that may occur in an answer.
fn allowed_names(task: &ModelTask) -> Vec<&str> {
    match task {
        ModelTask::Converse { tools, .. } => tools.iter().map(|tool| tool.name.as_str()).collect(),
        ModelTask::Extract { fields, .. } => {
            fields.iter().map(|field| field.name.as_str()).collect()
        }
        ModelTask::Choose { candidates, .. } => {
            candidates.iter().map(|c| c.name.as_str()).collect()
        }
        ModelTask::Judge { .. } | ModelTask::Several { .. } | ModelTask::Summarize { .. } => {
            Vec::new()
        }
    }
}

/// Checks that all names of an answer occur in the request. Otherwise the test would not test what
/// its author intended.
fn check_names(task: &ModelTask, answer: &Answer) -> Result<(), String> {
    let allowed_names = allowed_names(task);
    let names: Vec<&str> = match answer {
        Answer::Message { calls, .. } => calls.iter().map(|call| call.name.as_str()).collect(),
        Answer::Values(values) => values.keys().map(String::as_str).collect(),
        Answer::Choice(chosen) => chosen.iter().map(|(name, _)| name.as_str()).collect(),
        Answer::Verdict(_) | Answer::Several(_) | Answer::Summary(_) => return Ok(()),
    };
    match names.iter().find(|name| !allowed_names.contains(name)) {
        None => Ok(()),
        Some(name) if allowed_names.is_empty() => {
            Err(format!("the answer names `{name}`, but the request offers nothing"))
        }
        Some(name) => Err(format!(
            "the answer names `{name}`, but the request offers only {}",
            allowed_names.join(", ")
        )),
    }
}

impl Scripted {
    /// Describes a request without an answer, and an entry that would answer it.
    fn unscripted(&self, request: &ModelRequest) -> String {
        let task = &request.task;
        let what = match task {
            ModelTask::Converse { .. } => "has to continue the conversation".to_owned(),
            ModelTask::Extract { fields, .. } => {
                let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                format!("has to extract {}", names.join(", "))
            }
            ModelTask::Choose { purpose, .. } => format!("has to choose ({})", first_line(purpose)),
            ModelTask::Judge { statement, .. } => {
                format!("has to judge “{}”", first_line(statement))
            }
            ModelTask::Several { .. } => "has to answer several questions".to_owned(),
            ModelTask::Summarize { .. } => "has to summarise the conversation".to_owned(),
        };
        let step = request.step.as_ref().map(|s| format!(" in step `{s}`")).unwrap_or_default();
        let after = match message_text(task) {
            "" => String::new(),
            text => format!(" after “{}”", first_line(text)),
        };
        let spent = self.script.entries.iter().enumerate().find(|(_, c)| c.fits(request));
        let spent = spent.map_or_else(String::new, |(index, _)| {
            format!("; entry {} matches, but is used up (see `times`)", index + 1)
        });
        let entry = example_entry(request);
        format!(
            "the agent `{}`{step} {what}{after}{spent}. This entry would answer it:\n{entry}",
            request.agent
        )
    }
}

/// An entry that answers a request, as YAML. Strings and lists are written as JSON, which is valid
/// YAML.
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
                lines.push(format!("# and, or instead: calls: [{call}]"));
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
        // The runtime sends these only to models that ask for them.
        ModelTask::Several { .. } | ModelTask::Summarize { .. } => {}
    }
    format!("  - {}", lines.join("\n    "))
}

/// The user's last message.
fn last_user_message(messages: &[Message]) -> &str {
    messages.iter().rev().find(|m| m.role == Role::User).map_or("", |m| &m.text)
}

/// The first line of a text, truncated.
fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() > MAX_SHOWN_CHARS {
        return line.chars().take(MAX_SHOWN_CHARS).chain(std::iter::once('…')).collect();
    }
    line.to_owned()
}
