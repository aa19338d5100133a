//! Requests to a language model and its responses.
//!
//! The runtime gives a model few tasks. Every backend (a service, a script, the offline
//! model) implements [`Model`]; the runtime does not know which one it talks to.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::fmt;
use std::ops::AddAssign;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The author of the agent, through instructions.
    System,
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// A tool, with the result of a call.
    Tool,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The text.
    pub text: String,
    /// The tool calls that the assistant makes in this message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolUse>,
    /// The call whose result this message holds.
    #[serde(default, rename = "answers", skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
}

impl Message {
    /// A message without tool calls.
    #[must_use]
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), calls: Vec::new(), tool_use_id: None }
    }
}

/// A tool call requested by a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// The id of the call, unique within a turn.
    pub id: String,
    /// The name under which the tool was exposed.
    pub name: String,
    /// The arguments, by name.
    pub arguments: serde_json::Map<String, Json>,
}

/// The effect of calling a tool that is exposed to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Calls a tool, whose result goes back to the model.
    Call,
    /// Fills fields with values from the conversation.
    Collect,
    /// Hands the conversation over to another agent.
    Handoff,
    /// Delegates to another agent, which returns.
    Delegate,
    /// Escalates to a person.
    Escalate,
    /// Completes the agent.
    Complete,
    /// Returns control to the agent that handed over.
    Return,
}

/// A tool exposed to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    /// The name, unique within a request.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The effect of calling it.
    pub purpose: Purpose,
    /// The parameters.
    pub parameters: Vec<FieldSpec>,
    /// What the call needs that is not given by the model: variables that the author passes on and that have no value
    /// yet, or are zero. Until they have one, the call is made without these arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaits: Vec<FieldSpec>,
    /// The variables whose values the author passes on, with or without a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passes: Vec<String>,
    /// Whether calling it changes anything, as far as its declaration says. What has to be confirmed does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<bool>,
}

impl ToolSpec {
    /// A tool without parameters.
    pub fn new(name: impl Into<String>, description: impl Into<String>, purpose: Purpose) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            purpose,
            parameters: Vec::new(),
            awaits: Vec::new(),
            passes: Vec::new(),
            side_effects: None,
        }
    }
}

/// The type of a value, as far as a model has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldType {
    /// A string.
    Text,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
    /// A date, such as `2026-03-15`.
    Date,
    /// A time of day, such as `14:30`.
    Time,
    /// A date and a time, as in RFC 3339.
    DateTime,
    /// An e-mail address.
    Email,
    /// A telephone number in E.164 format.
    Phone,
    /// An amount of money.
    Currency,
    /// A list.
    List,
    /// An object.
    Object,
}

/// A value to extract: a field to collect, or a parameter to fill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldSpec {
    /// The name.
    pub name: String,
    /// The type.
    #[serde(rename = "type")]
    pub ty: FieldType,
    /// The description.
    #[serde(default)]
    pub description: String,
    /// The prompt that asks the user for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The allowed values, each with its synonyms; empty if any value is allowed.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub values: IndexMap<String, Vec<String>>,
    /// A regular expression that matches the value, and the number of the group that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<(String, usize)>,
    /// A regular expression that valid values match. Like `rule`, it is checked afterwards: a value that breaks it is
    /// still a value, so that the user can be told what is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What values are valid, in words: `from 1 to 9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Extraction hints from the author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// Whether a value is required.
    pub required: bool,
}

/// Whether a text is an email address.
#[must_use]
pub fn is_email(text: &str) -> bool {
    let mut parts = text.split('@');
    let (Some(name), Some(host), None) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    !name.is_empty()
        && host.contains('.')
        && host.split('.').all(|label| !label.is_empty())
        && !text.contains(char::is_whitespace)
}

/// Settings for a model request, as far as the author specifies them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSettings {
    /// The name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// The maximum length of the answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// The time limit for an answer, in milliseconds.
    pub timeout_ms: u64,
}

/// One of several alternatives to choose from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The name used in the answer, unique within a request.
    pub name: String,
    /// The description.
    #[serde(default)]
    pub description: String,
    /// Examples of what users say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Keywords, each of which indicates this candidate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keywords: Vec<String>,
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    /// The requesting agent.
    pub agent: String,
    /// The step in which the request is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The model settings.
    pub settings: ModelSettings,
    /// The task.
    #[serde(rename = "ask")]
    pub task: ModelTask,
}

/// A task for a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ModelTask {
    /// Continue the conversation: answer the user, or call an exposed tool.
    Converse {
        /// The system prompt: who the agent is, and what does not change while it talks, so that services can cache it
        /// together with the messages.
        system: String,
        /// What is true at the moment: instructions that depend on the state, known values, what is still to be asked
        /// for. Services get it after the messages.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        situation: String,
        /// The latest messages. A message of the system at the beginning summarises what came before them.
        messages: Vec<Message>,
        /// The exposed tools.
        tools: Vec<ToolSpec>,
        /// The instructions of the author that hold at the moment, which are also part of the system prompt and the
        /// situation.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        instructions: Vec<String>,
        /// The fields that the agent still has to collect, in order. The situation also lists
        /// them.
        missing: Vec<FieldSpec>,
        /// Other fields without a value, which are filled if the conversation gives them. The situation also lists them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        optional: Vec<FieldSpec>,
        /// The values known so far, by name.
        known: serde_json::Map<String, Json>,
        /// The agents that the user's next message may be routed to. The system prompt also lists them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        agents: Vec<Candidate>,
        /// What the agent says right after the answer, because it is done. The situation also says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        closing: Option<String>,
    },
    /// Extract the values that the user provides.
    Extract {
        /// The user's message.
        message: String,
        /// The preceding conversation.
        context: Vec<Message>,
        /// The values to extract.
        fields: Vec<FieldSpec>,
        /// The field that the user was just asked for.
        asked: Option<String>,
        /// The values that are known so far, by field.
        #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
        known: serde_json::Map<String, Json>,
    },
    /// Choose among candidates; the answer may be empty.
    Choose {
        /// A description of what is being decided.
        purpose: String,
        /// The user's message.
        message: String,
        /// The preceding conversation.
        context: Vec<Message>,
        /// The candidates, in source order.
        candidates: Vec<Candidate>,
        /// Whether several candidates may be chosen.
        several: bool,
    },
    /// Judge whether a statement holds.
    Judge {
        /// The statement, as written by the author.
        statement: String,
        /// The text to judge: the user's message, or what the agent is about to say.
        text: String,
        /// The preceding conversation.
        context: Vec<Message>,
        /// Whether it holds if that cannot be told.
        #[serde(default)]
        in_doubt: bool,
    },
    /// Answer several questions about the same message, each of which is one of the three above. They do not depend on
    /// each other.
    Several {
        /// The questions.
        questions: Vec<ModelTask>,
    },
    /// Summarise the beginning of a conversation that has become too long to be sent.
    Summarize {
        /// The summary of what came before these messages.
        before: String,
        /// The messages.
        messages: Vec<Message>,
    },
}

impl ModelTask {
    /// The purpose of [`ModelTask::Choose`] where an agent only routes messages: the candidates are agents.
    pub const ROUTING: &str = "Who is to look after what the user wants?";
    /// The statement about an answer to a request for confirmation.
    pub const AGREEMENT: &str = "the user agrees";

    /// The purpose of [`ModelTask::Choose`] where an agent can look after the user itself, or hand over.
    pub const HANDING_OVER: &str =
        "Does the user want one of these instead of the agent that they talk to?";

    /// The name of the task, as in JSON.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Converse { .. } => "converse",
            Self::Extract { .. } => "extract",
            Self::Choose { .. } => "choose",
            Self::Judge { .. } => "judge",
            Self::Several { .. } => "several",
            Self::Summarize { .. } => "summarize",
        }
    }
}

/// A model's answer. Each task has its own form of answer; any other is a
/// [`ModelError::Malformed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Answers [`ModelTask::Converse`]: a message, tool calls, or both.
    Message {
        /// The text; may be empty if there are calls.
        #[serde(default)]
        text: String,
        /// The tool calls.
        #[serde(default)]
        calls: Vec<ToolUse>,
    },
    /// Answers [`ModelTask::Extract`]: the extracted values, by field.
    Values(serde_json::Map<String, Json>),
    /// Answers [`ModelTask::Choose`]: the chosen candidates with a confidence from 0 to 1, highest
    /// first.
    Choice(Vec<(String, f64)>),
    /// Answers [`ModelTask::Judge`].
    Verdict(bool),
    /// Answers [`ModelTask::Several`]: an answer to each question, in order.
    Several(Vec<Answer>),
    /// Answers [`ModelTask::Summarize`].
    Summary(String),
}

/// The tokens used by a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens of the request.
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

/// A model's answer and its token usage.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelResponse {
    /// The answer.
    pub answer: Answer,
    /// The token usage.
    pub usage: Usage,
}

/// The reason why a model did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelError {
    /// The model exceeded the time limit.
    Timeout,
    /// The model could not be reached, or refused the request.
    Unavailable(String),
    /// The model refused to answer.
    Refused(String),
    /// The answer does not have the form that the task requires.
    Malformed(String),
    /// The script has no answer to this request.
    Unscripted(String),
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the model timed out"),
            Self::Unavailable(why) => write!(f, "the model could not be reached: {why}"),
            Self::Refused(why) => write!(f, "the model refused to answer: {why}"),
            Self::Malformed(why) => write!(f, "the model returned an invalid answer: {why}"),
            Self::Unscripted(why) => write!(f, "the script has no answer: {why}"),
        }
    }
}

impl std::error::Error for ModelError {}

/// A language model, or something that answers like one.
pub trait Model {
    /// Whether to send independent questions about a message together ([`ModelTask::Several`]). It saves round trips,
    /// but also asks what might turn out not to matter.
    fn combines_questions(&self) -> bool {
        false
    }

    /// Whether it writes summaries ([`ModelTask::Summarize`]). Otherwise the runtime shortens what it does not send.
    fn summarizes(&self) -> bool {
        false
    }

    /// Answers a request. Models that stream call `partial` with each part of the text as it
    /// arrives; the parts together are the text of the answer.
    ///
    /// # Errors
    /// Returns a [`ModelError`], which the runtime passes to the agent's error handling.
    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError>;
}
