//! Any service that speaks OpenAI's chat completions: the company's own, others', or a program on
//! this machine.
//!
//! A question is sent as a [`Chat`]. What the service answers is checked; an answer that is none to
//! the question is sent back once with what is wrong about it, and then is an error. All attempts
//! together take no longer than the time-out of the question.

mod answer;
mod form;
mod key;
mod stream;
mod transport;

pub use key::ApiKey;

use crate::chat::Chat;
use crate::tokens::Tokens;
use agentir_runtime::{
    Answer, FieldSpec, FieldType, Model, ModelError, ModelRequest, ModelResponse, ModelTask, Usage,
};
use answer::Answered;
use serde_json::{Map, Value as Json, json};
use std::fmt;
use std::time::Duration;
use transport::{Deadline, Transport};

/// How long an answer may take if the question does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Where a service is and how it is used.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// What `/chat/completions` is added to, as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The model, whichever one an agent names; none takes the agent's.
    pub model: Option<String>,
    /// What shows who asks; none for services that do not want to know.
    pub key: Option<ApiKey>,
    /// Whether answers are shown while they are written.
    pub stream: bool,
    /// How often a question is asked again if the service is busy or cannot be reached.
    pub retries: u32,
    /// How long to wait before the first of these, twice as long before each further one. What the
    /// service asks for (`Retry-After`) counts more.
    pub backoff: Duration,
}

impl Endpoint {
    /// OpenAI's own address, which is what most programs take if nobody says otherwise.
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

/// Why an endpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndpointError {
    /// The address is none.
    InvalidUrl(String),
    /// The key would go over the network for everybody to read.
    UnencryptedKey(String),
    /// The variable that is to hold the key does not, or not as a key.
    MissingKey(String),
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidUrl(url) => write!(
                f,
                "`{url}` is no address of a model service; write one as `{}` or `http://localhost:11434/v1`",
                Endpoint::OPENAI
            ),
            Self::UnencryptedKey(url) => {
                write!(f, "the key would be sent unencrypted to `{url}`; use `https`, or no key")
            }
            Self::MissingKey(variable) => write!(
                f,
                "the environment variable `{variable}` holds no key; set it, or name another one"
            ),
        }
    }
}

impl std::error::Error for EndpointError {}

/// Asks a service.
pub struct OpenAi {
    endpoint: Endpoint,
    transport: Transport,
    clock: Option<Clock>,
    /// Whether the service takes JSON Schemas for answers; known after the first refusal.
    supports_schemas: bool,
}

/// What tells the time.
type Clock = Box<dyn Fn() -> jiff::Zoned>;

impl OpenAi {
    /// A model behind an endpoint. Nothing is sent yet.
    ///
    /// # Errors
    /// [`EndpointError`], if the address is none, or the key would be sent unencrypted to another
    /// machine.
    pub fn new(endpoint: Endpoint) -> Result<Self, EndpointError> {
        let transport = Transport::new(&endpoint)?;
        Ok(Self { endpoint, transport, clock: None, supports_schemas: true })
    }

    /// Tells the model what day it is where days are asked for; it cannot know what "tomorrow" is
    /// otherwise.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> jiff::Zoned + 'static) -> Self {
        Self { clock: Some(Box::new(clock)), ..self }
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
            // The newer name, which only its inventors all know.
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

    /// Sends a chat. A service that refuses the form of the answer is told it in words.
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
            chat.instruct(&clock().strftime("Now it is %A, %-d %B %Y, %H:%M.").to_string());
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
            match answered.read(&request.task, &chat) {
                Ok(answer) => {
                    // Not every service streams, and what was asked for again was not shown.
                    if let Answer::Message { text, .. } = &answer
                        && !streamed
                        && !text.is_empty()
                    {
                        partial(text);
                    }
                    return Ok(ModelResponse { answer, usage });
                }
                // What was shown cannot be taken back.
                Err(why) if retried || streamed => {
                    return Err(ModelError::Malformed(self.transport.redact(&why)));
                }
                Err(why) => {
                    retried = true;
                    chat.messages.push(json!({"role": "assistant", "content": answered.raw()}));
                    let again = format!("That is no answer to the question: {why}. Answer again.");
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

/// Whether days or times are to be found in what the user says.
fn needs_current_date(task: &ModelTask) -> bool {
    let timed = |field: &FieldSpec| {
        matches!(field.ty, FieldType::Date | FieldType::DateTime | FieldType::Time)
    };
    match task {
        ModelTask::Extract { fields, .. } => fields.iter().any(timed),
        ModelTask::Converse { tools, .. } => {
            tools.iter().flat_map(|tool| &tool.parameters).any(timed)
        }
        ModelTask::Choose { .. } | ModelTask::Judge { .. } => false,
    }
}

/// Tells the model the form of the answer in words, once.
fn describe_schema(chat: &mut Chat) {
    let schema = chat.form.as_ref().and_then(|form| form.get("schema"));
    if let Some(schema) = schema.map(ToString::to_string) {
        chat.instruct(&format!("Answer with nothing but JSON of this schema: {schema}"));
    }
}
