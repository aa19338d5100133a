//! What a conversation needs from outside: a model, tools, people, a clock. Everything that touches
//! the world implements these; the runtime itself does not.

use crate::model::Model;
use crate::trace::Event;
use agentir_ir::{Remote, Tool};
use serde_json::{Map, Value as Json};
use std::fmt;

/// How large the arguments of a call may be, in bytes of JSON (ABL, current specification, 7.11).
pub const MAX_ARGUMENTS: usize = 512 * 1024;

/// A call of a tool, or a message to an agent that runs elsewhere.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    /// The agent that calls.
    pub agent: &'a str,
    /// The tool's name, or that of the agent elsewhere.
    pub name: &'a str,
    /// Its declaration, where there is one.
    pub tool: Option<&'a Tool>,
    /// How an agent elsewhere is reached; none if it is a tool that is called.
    pub remote: Option<&'a Remote>,
    /// Its arguments, by name.
    pub arguments: Map<String, Json>,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u64,
}

/// Why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It took too long: `tool_timeout`.
    Timeout,
    /// The tool says that it failed: `tool_error`.
    Error,
    /// What the tool is reached by failed: `api_error`.
    Api,
    /// Nobody knows how to call it, or it is not allowed: `tool_error` as well.
    Refused,
}

impl FailureKind {
    /// The kind of error that handlers know it by (ABL, current specification, 3.13).
    #[must_use]
    pub const fn error(self) -> &'static str {
        match self {
            Self::Timeout => "tool_timeout",
            Self::Error | Self::Refused => "tool_error",
            Self::Api => "api_error",
        }
    }
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// Why.
    pub kind: FailureKind,
    /// In words.
    pub message: String,
    /// What the tool said about it, if it said anything.
    pub data: Json,
}

impl ToolFailure {
    /// A failure of which nothing is known but these words.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), data: Json::Null }
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What calls tools.
pub trait Tools {
    /// Calls a tool and waits for its result.
    ///
    /// # Errors
    /// [`ToolFailure`]; the runtime then does what the agent says about errors.
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure>;
}

/// A conversation that a person is to take over.
#[derive(Clone, Debug)]
pub struct Escalation<'a> {
    /// The agent that gives it away.
    pub agent: &'a str,
    /// Why.
    pub reason: Option<String>,
    /// `low`, `medium`, `high`, `critical`.
    pub priority: Option<String>,
    /// What the person is told.
    pub context: Map<String, Json>,
}

/// What a person did.
#[derive(Clone, Debug, Default)]
pub struct HumanReply {
    /// What they said to the user.
    pub messages: Vec<String>,
    /// What agents read as `human.…`: `resolved`, `handed_back`, … None while they are not done.
    pub outcome: Option<Map<String, Json>>,
}

/// Who takes over from an agent.
pub trait Human {
    /// Gives a conversation to a person.
    fn take_over(&mut self, escalation: &Escalation<'_>) -> HumanReply;
}

/// Nobody is there: the conversation is handed over and stays so.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHuman;

impl Human for NoHuman {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        HumanReply::default()
    }
}

/// Time and chance.
pub trait Clock {
    /// Milliseconds since the beginning of 1970.
    fn now(&self) -> i64;
    /// A random number.
    fn random(&self) -> u64;
    /// Waits, before something is tried again. Tests need not.
    fn sleep(&self, milliseconds: u64);
}

/// Who is told what happens, step by step.
pub trait Observer {
    /// Something happened. Sensitive values are masked already.
    fn event(&mut self, event: &Event);
    /// The agent says a part of an answer that is not complete yet.
    fn partial(&mut self, _text: &str) {}
}

/// Nobody is told.
impl Observer for () {
    fn event(&mut self, _: &Event) {}
}

/// Everything from outside that a conversation needs.
pub struct Host<'h> {
    /// Answers for a language model.
    pub model: &'h mut dyn Model,
    /// Calls tools.
    pub tools: &'h mut dyn Tools,
    /// Takes over.
    pub human: &'h mut dyn Human,
    /// Knows the time.
    pub clock: &'h dyn Clock,
    /// Is told what happens.
    pub observer: &'h mut dyn Observer,
}
