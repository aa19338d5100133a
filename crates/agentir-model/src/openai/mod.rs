//! Services that implement OpenAI's chat completions API: OpenAI's own, other vendors', or local
//! ones.
//!
//! A request is sent as a [`Chat`]. The answer is validated; an invalid answer is sent back once
//! with the validation error, after which it becomes an error. All attempts together respect the
//! time limit of the request.

mod answer;
mod form;
mod key;
mod stream;
mod transport;

pub use key::ApiKey;

use crate::chat::Chat;
use crate::tokens::Tokens;
use agentir_runtime::{
    Answer, Cancellation, FieldSpec, FieldType, Model, ModelError, ModelRequest, ModelResponse,
    ModelTask, Usage,
};
use answer::{Answered, Cut};
use serde_json::{Map, Value as Json, json};
use std::fmt;
use std::time::Duration;
use transport::{Deadline, Transport};

/// The time limit if the request does not define one.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The location of a service and how to use it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The base URL to which `/chat/completions` is appended, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The model, which overrides the one that an agent names.
    pub model: Option<String>,
    /// The API key; `None` for services without authentication.
    pub key: Option<ApiKey>,
    /// Whether answers are streamed.
    pub stream: bool,
    /// The number of retries if the service is busy or cannot be reached.
    pub retries: u32,
    /// The delay before the first retry; it doubles with each further one. `Retry-After` takes
    /// precedence.
    pub backoff: Duration,
}

impl Endpoint {
    /// The base URL of OpenAI's own service.
    pub const OPENAI: &'static str = "https://api.openai.com/v1";

    /// A service without a key, with streaming and two retries.
    #[must_use]
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: None,
            key: None,
            stream: true,
            retries: 2,
            backoff: Duration::from_millis(500),
        }
    }
}

/// The reason why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointError {
    /// The URL is invalid.
    InvalidUrl(String),
    /// The key would be sent without encryption.
    UnencryptedKey(String),
    /// The environment variable does not contain a key.
    MissingKey(String),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUrl(url) => write!(
                f,
                "`{url}` is not a valid URL of a model service; use one such as `{}` or `http://localhost:11434/v1`",
                Endpoint::OPENAI
            ),
            Self::UnencryptedKey(url) => {
                write!(
                    f,
                    "the API key would be sent unencrypted to `{url}`; use `https`, or omit the key"
                )
            }
            Self::MissingKey(variable) => write!(
                f,
                "the environment variable `{variable}` does not contain a valid API key; set it, or name another variable"
            ),
        }
    }
}

impl std::error::Error for EndpointError {}

/// A model that calls a service.
pub struct OpenAi {
    endpoint: Endpoint,
    transport: Transport,
    clock: Option<Clock>,
    /// Whether the service supports JSON Schemas for answers; unknown until it rejects one.
    supports_schemas: bool,
}

/// Provides the current time.
type Clock = Box<dyn Fn() -> jiff::Zoned>;

impl OpenAi {
    /// Creates a model for an endpoint, without sending anything.
    ///
    /// # Errors
    /// Returns an [`EndpointError`] if the URL is invalid, or if the key would be sent unencrypted
    /// to another machine.
    pub fn new(endpoint: Endpoint) -> Result<Self, EndpointError> {
        let transport = Transport::new(&endpoint)?;
        Ok(Self { endpoint, transport, clock: None, supports_schemas: true })
    }

    /// Tells the model the current date and time whenever it leads the conversation or dates have to be extracted, so
    /// that it can resolve "tomorrow".
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> jiff::Zoned + 'static) -> Self {
        Self { clock: Some(Box::new(clock)), ..self }
    }

    /// Gives up a request when it is cancelled.
    #[must_use]
    pub fn with_cancellation(mut self, by: Cancellation) -> Self {
        self.transport.set_cancellation(by);
        self
    }

    fn model<'r>(&'r self, request: &'r ModelRequest) -> Result<&'r str, ModelError> {
        let named = self.endpoint.model.as_deref().or(request.settings.model.as_deref());
        named.ok_or_else(|| {
            ModelError::Unavailable(format!(
                "neither the agent `{}` nor the command line names a model",
                request.agent
            ))
        })
    }

    /// The body of a request.
    fn body(&self, request: &ModelRequest, chat: &Chat, streams: bool) -> Result<Json, ModelError> {
        let mut body = Map::new();
        body.insert("model".into(), self.model(request)?.into());
        body.insert("messages".into(), chat.messages.clone().into());
        if !chat.tools.is_empty() {
            body.insert("tools".into(), chat.tools.clone().into());
        }
        if let Some(form) = &chat.form
            && self.supports_schemas
        {
            let format = json!({"type": "json_schema", "json_schema": form});
            body.insert("response_format".into(), format);
        }
        if let Some(temperature) = request.settings.temperature {
            body.insert("temperature".into(), temperature.into());
        }
        if let Some(most) = request.settings.max_tokens {
            // Only OpenAI itself requires the newer name.
            let own = self.transport.host() == "api.openai.com";
            let name = if own { "max_completion_tokens" } else { "max_tokens" };
            body.insert(name.into(), most.into());
        }
        if streams {
            body.insert("stream".into(), true.into());
            body.insert("stream_options".into(), json!({"include_usage": true}));
        }
        Ok(Json::Object(body))
    }

    /// Sends a chat. If the service rejects the JSON Schema, it is described in the prompt instead.
    fn send(
        &mut self,
        request: &ModelRequest,
        chat: &mut Chat,
        deadline: Deadline,
        partial: &mut dyn FnMut(&str),
    ) -> Result<Answered, ModelError> {
        let streams = self.endpoint.stream && matches!(request.task, ModelTask::Converse { .. });
        loop {
            if !self.supports_schemas {
                describe_schema(chat);
            }
            let body = self.body(request, chat, streams)?;
            match self.transport.post(&body, deadline, partial) {
                Err(refusal)
                    if refusal.rejects_schema() && chat.form.is_some() && self.supports_schemas =>
                {
                    self.supports_schemas = false;
                }
                other => return other.map_err(Into::into),
            }
        }
    }
}

impl Model for OpenAi {
    fn combines_questions(&self) -> bool {
        true
    }

    fn summarizes(&self) -> bool {
        true
    }

    fn respond(
        &mut self,
        request: &ModelRequest,
        partial: &mut dyn FnMut(&str),
    ) -> Result<ModelResponse, ModelError> {
        let timeout = match request.settings.timeout_ms {
            0 => DEFAULT_TIMEOUT,
            ms => Duration::from_millis(ms),
        };
        let deadline = Deadline::after(timeout);
        let tokens = Tokens::of_model(self.model(request)?);
        let mut chat = Chat::of(&request.task);
        if let Some(clock) = self.clock.as_ref().filter(|_| needs_current_date(&request.task)) {
            chat.append(&clock().strftime("Now it is %A, %-d %B %Y, %H:%M (%Q).").to_string());
        }
        let mut usage = Usage::default();
        let mut retried = false;
        loop {
            let mut streamed = false;
            let answered = self.send(request, &mut chat, deadline, &mut |part| {
                streamed = true;
                partial(part);
            })?;
            usage += answered.usage.unwrap_or_else(|| Usage {
                input_tokens: tokens.chat(&chat),
                output_tokens: answered.tokens(tokens),
            });
            if !answered.refusal.is_empty() {
                return Err(ModelError::Refused(self.transport.shown(&answered.refusal)));
            }
            if answered.cut == Some(Cut::Filter) {
                let why = "the content filter of the service stopped the answer";
                return Err(ModelError::Refused(why.to_owned()));
            }
            match answered.read(&request.task, &chat) {
                Ok(answer) => {
                    // Not every service streams, and a second answer has not been shown.
                    if let Answer::Message { text, .. } = &answer
                        && !streamed
                        && !text.is_empty()
                    {
                        partial(text);
                    }
                    return Ok(ModelResponse { answer, usage });
                }
                // Text that was already streamed cannot be withdrawn.
                Err(why) if retried || streamed => {
                    return Err(ModelError::Malformed(self.transport.redact(&why)));
                }
                Err(why) => {
                    retried = true;
                    chat.messages.push(json!({"role": "assistant", "content": answered.raw()}));
                    let again = format!("That does not answer the question: {why}. Answer again.");
                    chat.messages.push(json!({"role": "user", "content": again}));
                }
            }
        }
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// Whether a task involves dates or times.
fn needs_current_date(task: &ModelTask) -> bool {
    let timed = |field: &FieldSpec| {
        matches!(field.ty, FieldType::Date | FieldType::DateTime | FieldType::Time)
    };
    match task {
        ModelTask::Extract { fields, .. } => fields.iter().any(timed),
        // Users ask what day it is, or whether it is still open.
        ModelTask::Converse { .. } => true,
        ModelTask::Several { questions } => questions.iter().any(needs_current_date),
        ModelTask::Choose { .. } | ModelTask::Judge { .. } | ModelTask::Summarize { .. } => false,
    }
}

/// Describes the schema of the answer in the prompt, once.
fn describe_schema(chat: &mut Chat) {
    let schema = chat.form.as_ref().and_then(|form| form.get("schema"));
    if let Some(schema) = schema.map(ToString::to_string) {
        chat.instruct(&format!("Answer with nothing but JSON of this schema: {schema}"));
    }
}
