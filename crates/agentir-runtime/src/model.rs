//! What the runtime asks a model, and what models answer.
//!
//! A language model is asked for four things only. Whoever answers (a service, a file with answers,
//! rules of thumb) implements [`Model`]; the runtime never knows which it is.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fmt;
use std::ops::AddAssign;

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The author of the agent.
    System,
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// A tool, in answer to a call.
    Tool,
}

/// A part of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What.
    pub text: String,
    /// The calls that the assistant makes with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolUse>,
    /// The call that a tool answers.
    #[serde(default, rename = "answers", skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}

impl Message {
    /// A message without calls.
    #[must_use]
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), calls: Vec::new(), tool_use_id: None }
    }
}

/// A tool that a model wants to be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// What tells this call from others of the same turn.
    pub id: String,
    /// The name under which it was offered.
    pub name: String,
    /// Its arguments, by name.
    pub arguments: serde_json::Map<String, Json>,
}

/// What happens when the model picks something it is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A tool is called, and its result goes back to the model.
    Call,
    /// Fields get values from what the user said.
    Collect,
    /// Another agent takes over.
    Handoff,
    /// Another agent is asked and comes back.
    Delegate,
    /// A person takes over.
    Escalate,
    /// The agent is done.
    Complete,
    /// Control goes back to the agent that handed over.
    Return,
}

/// Something the model may pick instead of answering.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    /// The name it is offered under, unique in a request.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What happens when it is picked.
    pub purpose: Purpose,
    /// What it takes.
    pub parameters: Vec<FieldSpec>,
}

/// The type of a value, as far as a model must know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldType {
    /// Any text.
    Text,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
    /// A day, as `2026-03-15`.
    Date,
    /// A time of day, as `14:30`.
    Time,
    /// A day and a time, as in RFC 3339.
    DateTime,
    /// An address for mail.
    Email,
    /// A telephone number, in E.164 form.
    Phone,
    /// An amount of money.
    Currency,
    /// A list.
    List,
    /// An object.
    Object,
}

/// A value that is looked for: a field to collect, a parameter to fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldSpec {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: FieldType,
    /// What it is.
    #[serde(default)]
    pub description: String,
    /// How the user is asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The values it takes, each with other words for it; empty if any.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub values: IndexMap<String, Vec<String>>,
    /// A regular expression that finds it, and the group that is the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<(String, usize)>,
    /// Hints of the author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Whether it must be there.
    pub required: bool,
}

/// How a model is to be used, where the author says so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSettings {
    /// The model's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How free it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// How long an answer may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How long an answer may take, in milliseconds.
    pub timeout_ms: u64,
}

/// One of several things that may be meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// What the answer calls it; unique in a request.
    pub name: String,
    /// What it is, in words.
    #[serde(default)]
    pub description: String,
    /// How users say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Words any of which shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
}

/// A question to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    /// The agent that asks.
    pub agent: String,
    /// The step in which it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// How the model is to be used.
    pub settings: ModelSettings,
    /// What is asked.
    #[serde(rename = "ask")]
    pub task: ModelTask,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelTask {
    /// Lead the conversation: answer the user, or pick something that is offered.
    Converse {
        /// What the author tells the model.
        system: String,
        /// The conversation.
        messages: Vec<Message>,
        /// What may be picked.
        tools: Vec<ToolSpec>,
        /// What the agent still has to ask the user for, in its order. The instructions say it, too.
        missing: Vec<FieldSpec>,
        /// What is known already, by name.
        known: serde_json::Map<String, Json>,
    },
    /// Which values does the user give?
    Extract {
        /// What the user said.
        message: String,
        /// The conversation before.
        context: Vec<Message>,
        /// The values that are looked for.
        fields: Vec<FieldSpec>,
        /// The field that the user was just asked for.
        asked: Option<String>,
    },
    /// Which of these is meant? None may be.
    Choose {
        /// What the choice is for, in words.
        purpose: String,
        /// What the user said.
        message: String,
        /// The conversation before.
        context: Vec<Message>,
        /// What it may be, in the order in which the author wrote it.
        candidates: Vec<Candidate>,
        /// Whether several may be.
        several: bool,
    },
    /// Does this hold?
    Judge {
        /// What, in the author's words.
        statement: String,
        /// The text it is about: what the user said, or what the agent is about to say.
        text: String,
        /// The conversation before.
        context: Vec<Message>,
    },
}

impl ModelTask {
    /// Its name, as in JSON.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Converse { .. } => "converse",
            Self::Extract { .. } => "extract",
            Self::Choose { .. } => "choose",
            Self::Judge { .. } => "judge",
        }
    }
}

/// What a model answers. Each question has its own form of answer; another one is an error of the
/// model's ([`ModelError::Malformed`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// To [`ModelTask::Converse`]: something is said, tools are called, or both.
    Message {
        /// What is said; may be empty with calls.
        #[serde(default)]
        text: String,
        /// What is called.
        #[serde(default)]
        calls: Vec<ToolUse>,
    },
    /// To [`ModelTask::Extract`]: the values that were found, by field.
    Values(serde_json::Map<String, Json>),
    /// To [`ModelTask::Choose`]: what is meant, with how sure the model is (0 to 1), the surest first.
    Choice(Vec<(String, f64)>),
    /// To [`ModelTask::Judge`].
    Verdict(bool),
}

/// What an answer cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
    }
}

/// An answer, and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResponse {
    /// The answer.
    pub answer: Answer,
    /// What it cost.
    pub usage: Usage,
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// It took too long.
    Timeout,
    /// It could not be reached, or refused; in words.
    Unavailable(String),
    /// Its answer is none to the question; in words.
    Malformed(String),
    /// There is no answer to this question in the script; in words.
    Unscripted(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the model took too long"),
            Self::Unavailable(why) => write!(f, "the model could not be reached: {why}"),
            Self::Malformed(why) => write!(f, "the model's answer makes no sense: {why}"),
            Self::Unscripted(why) => write!(f, "the script has no answer: {why}"),
        }
    }
}

impl std::error::Error for ModelError {}

/// Something that answers questions as a language model does.
pub trait Model {
    /// Answers a question. `partial` gets parts of what is said as soon as they are known, where the
    /// model gives them; together they are the text of the answer.
    ///
    /// # Errors
    /// [`ModelError`]; the runtime then does what the agent says about errors.
    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError>;
}
