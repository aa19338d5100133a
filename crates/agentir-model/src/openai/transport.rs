//! HTTP requests with retries.

use super::answer::Answered;
use super::key::ApiKey;
use super::{Endpoint, EndpointError, stream};
use agentir_runtime::{Cancellation, ModelError};
use serde_json::Value as Json;
use std::io::{self, Read};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use ureq::http::{Response, Uri};
use ureq::{Agent, Body, Error};

/// The maximum size of an answer as it is transferred, in bytes: a stream has much around each piece.
const MAX_BODY: u64 = 64 << 20;

/// How many parts of an answer may wait to be shown. Whoever shows them slows the service down.
const MAX_WAITING_PARTS: usize = 64;

/// Why an answer that is too long is not read to its end.
pub(super) const TOO_LONG: &str = "it is too long (more than 1 MiB of text)";

/// The number of characters of a service's error message that are shown.
const MAX_SHOWN_CHARS: usize = 300;

/// The maximum delay before a retry, whatever the service asks for.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The time by which a request must be answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }

    /// The remaining time; `None` if the deadline has passed.
    fn left(self) -> Option<Duration> {
        let Some(end) = self.0 else { return Some(MAX_WAIT) };
        end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    fn has_passed(self) -> bool {
        self.left().is_none()
    }
}

/// Reads what a service sends until the deadline or a cancellation, even if there is always more to read.
struct Limited<'t, R> {
    reader: R,
    deadline: Deadline,
    cancellation: &'t Cancellation,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.deadline.has_passed() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        if self.cancellation.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.reader.read(buffer)
    }
}

/// The reason why a request failed.
#[derive(Debug)]
pub(super) enum RequestError {
    Timeout,
    /// Nobody waits for the answer any more.
    Cancelled,
    /// The service returned an error status, with this message.
    Status(u16, String),
    /// The quota is exhausted, which waiting does not change.
    Quota(String),
    /// The connection failed, with this message; the flag tells whether no part of the answer had
    /// arrived.
    Broken(String, bool),
    /// The answer is invalid.
    Malformed(String),
}

impl RequestError {
    /// Whether the service does not support the requested JSON Schema.
    pub(super) fn rejects_schema(&self) -> bool {
        matches!(self, Self::Status(400 | 404 | 415 | 422, words)
            if ["response_format", "json_schema", "schema"].iter().any(|w| words.contains(w)))
    }

    /// Whether the same request may succeed later.
    fn is_transient(&self) -> bool {
        matches!(self, Self::Status(408 | 425 | 429 | 500.., _) | Self::Broken(_, true))
    }
}

impl From<RequestError> for ModelError {
    fn from(refusal: RequestError) -> Self {
        match refusal {
            RequestError::Timeout => Self::Timeout,
            RequestError::Cancelled => Self::Unavailable("the request was cancelled".to_owned()),
            RequestError::Broken(words, _) => Self::Unavailable(words),
            RequestError::Malformed(words) => Self::Malformed(words),
            RequestError::Quota(words) => {
                let words = if words.is_empty() { words } else { format!(": {words}") };
                Self::Unavailable(format!("the quota of the API key is exhausted{words}"))
            }
            RequestError::Status(status, words) => {
                let what = match status {
                    401 | 403 => "the API key is missing, invalid, or lacks permission",
                    404 => "the model or URL does not exist",
                    408 | 504 => "the service timed out",
                    429 => "too many requests",
                    500.. => "the service failed",
                    _ => "the service rejected the request",
                };
                let words = if words.is_empty() { words } else { format!(": {words}") };
                Self::Unavailable(format!("{what} (HTTP {status}){words}"))
            }
        }
    }
}

/// A connection to a service.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    agent: Agent,
    url: String,
    host: String,
    key: Option<ApiKey>,
    retries: u32,
    backoff: Duration,
    cancellation: Cancellation,
}

/// What a thread that sends a request tells.
enum Progress {
    /// A part of an answer that is streamed.
    Part(String),
    /// The end: the answer, or an error with the delay that the service asks for.
    Done(Result<Answered, (RequestError, Option<Duration>)>),
}

impl Transport {
    pub(super) fn new(endpoint: &Endpoint) -> Result<Self, EndpointError> {
        let base = endpoint.base_url.trim().trim_end_matches('/');
        let address = || EndpointError::InvalidUrl(base.to_owned());
        let uri: Uri = base.parse().map_err(|_| address())?;
        let host = uri.host().filter(|h| !h.is_empty()).ok_or_else(address)?.to_owned();
        let user = uri.authority().is_some_and(|a| a.as_str().contains('@'));
        if user || uri.query().is_some() || !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(address());
        }
        let here = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]" | "::1");
        if endpoint.key.is_some() && uri.scheme_str() == Some("http") && !here {
            return Err(EndpointError::UnencryptedKey(base.to_owned()));
        }
        let agent = Agent::config_builder()
            // Error statuses are handled here, and redirects are not followed.
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("agentir/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Ok(Self {
            agent,
            url: format!("{base}/chat/completions"),
            host,
            key: endpoint.key.clone(),
            retries: endpoint.retries,
            backoff: endpoint.backoff,
            cancellation: Cancellation::default(),
        })
    }

    /// Gives up requests when they are cancelled.
    pub(super) fn set_cancellation(&mut self, by: Cancellation) {
        self.cancellation = by;
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Removes the key from a text.
    pub(super) fn redact(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text))
    }

    /// Sends a request, with retries if the service is busy or cannot be reached.
    pub(super) fn post(
        &self,
        body: &Json,
        deadline: Deadline,
        partial: &mut dyn FnMut(&str),
    ) -> Result<Answered, RequestError> {
        let body = body.to_string();
        let mut wait = self.backoff;
        let mut left = self.retries;
        loop {
            let (refusal, asked) = match self.send_in_thread(&body, deadline, partial) {
                Ok(answered) => return Ok(answered),
                Err(failed) => failed,
            };
            if left == 0 || !refusal.is_transient() {
                return Err(refusal);
            }
            let pause = asked.unwrap_or(wait);
            // Waiting beyond the deadline would only hide the reason.
            if pause > MAX_WAIT || deadline.left().is_none_or(|time| time <= pause) {
                return Err(refusal);
            }
            if !self.cancellation.sleep(pause) {
                return Err(RequestError::Cancelled);
            }
            wait = wait.saturating_mul(2);
            left -= 1;
        }
    }

    /// Sends a request once, in a thread of its own, which is left alone if the request is cancelled.
    fn send_in_thread(
        &self,
        body: &str,
        deadline: Deadline,
        partial: &mut dyn FnMut(&str),
    ) -> Result<Answered, (RequestError, Option<Duration>)> {
        let (tell, progress) = mpsc::sync_channel(MAX_WAITING_PARTS);
        let transport = self.clone();
        let body = body.to_owned();
        std::thread::spawn(move || {
            let result = transport.send_once(&body, deadline, &mut |part| {
                let _ = tell.send(Progress::Part(part.to_owned()));
            });
            let _ = tell.send(Progress::Done(result));
        });
        loop {
            match self.cancellation.receive_until(&progress, deadline.0) {
                Some(Progress::Part(part)) => partial(&part),
                Some(Progress::Done(result)) => return result,
                None if deadline.has_passed() => return Err((RequestError::Timeout, None)),
                None if self.cancellation.is_cancelled() => {
                    return Err((RequestError::Cancelled, None));
                }
                None => {
                    let words = "the request ended without an answer".to_owned();
                    return Err((RequestError::Broken(words, false), None));
                }
            }
        }
    }

    /// Sends a request once. An error may include the delay that the service asks for.
    fn send_once(
        &self,
        body: &str,
        deadline: Deadline,
        partial: &mut dyn FnMut(&str),
    ) -> Result<Answered, (RequestError, Option<Duration>)> {
        let Some(time) = deadline.left() else { return Err((RequestError::Timeout, None)) };
        let request = self.agent.post(&self.url).config().timeout_global(Some(time)).build();
        let mut request = request
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", key.header());
        }
        let mut response =
            request.send(body).map_err(|error| (self.request_error(&error, true), None))?;
        let status = response.status().as_u16();
        if !(200..300).contains(&status) {
            let wait = retry_after(&response);
            let (words, quota) = self.error_message(&mut response);
            let error = match quota {
                true => RequestError::Quota(words),
                false => RequestError::Status(status, words),
            };
            return Err((error, wait));
        }
        let streams = response
            .headers()
            .get("content-type")
            .and_then(|kind| kind.to_str().ok())
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        let reader = response.body_mut().with_config().limit(MAX_BODY).reader();
        let reader = Limited { reader, deadline, cancellation: &self.cancellation };
        let read = if streams { stream::read(reader, partial) } else { read_body(reader) };
        read.map_err(|failed| {
            let refusal = match failed {
                BodyError::Io(error) => self.connection_error(&error, false),
                BodyError::Cut => RequestError::Broken(
                    "the connection was closed before the answer was complete".to_owned(),
                    false,
                ),
                BodyError::Service(words) => {
                    RequestError::Broken(short(&self.redact(&words)), false)
                }
                BodyError::Malformed(words) => RequestError::Malformed(short(&self.redact(&words))),
            };
            (refusal, None)
        })
    }

    /// The error message of a service, and whether it says that the quota is exhausted.
    fn error_message(&self, response: &mut Response<Body>) -> (String, bool) {
        let body = response.body_mut().with_config().limit(64 << 10).read_to_string();
        let body = body.unwrap_or_default();
        let json = serde_json::from_str::<Json>(&body).ok();
        let error = json.as_ref().map(|json| json.get("error").unwrap_or(json));
        let is = |name: &str| {
            error.and_then(|e| e.get(name)).and_then(Json::as_str) == Some("insufficient_quota")
        };
        let quota = is("code") || is("type");
        let message = error.and_then(|error| {
            let detail = json.as_ref().and_then(|json| json.get("detail"));
            let message = error.get("message").or(detail).unwrap_or(error);
            message.as_str()
        });
        (self.shown(message.unwrap_or(&body)), quota)
    }

    /// What a service says, without the key, in one line.
    pub(super) fn shown(&self, text: &str) -> String {
        short(&self.redact(text))
    }

    fn request_error(&self, error: &Error, before: bool) -> RequestError {
        match error {
            Error::Timeout(_) => RequestError::Timeout,
            Error::Io(error) => self.connection_error(error, before),
            other => RequestError::Broken(short(&self.redact(&other.to_string())), before),
        }
    }

    fn connection_error(&self, error: &io::Error, before: bool) -> RequestError {
        if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) {
            return RequestError::Timeout;
        }
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            Some(Error::Timeout(_)) => RequestError::Timeout,
            Some(Error::BodyExceedsLimit(_)) => RequestError::Malformed(TOO_LONG.to_owned()),
            _ => RequestError::Broken(short(&self.redact(&error.to_string())), before),
        }
    }
}

/// The reason why the body of an answer could not be read.
pub(super) enum BodyError {
    Io(io::Error),
    /// The answer is incomplete.
    Cut,
    /// The service reported an error.
    Service(String),
    /// The body is not a chat completion.
    Malformed(String),
}

/// Reads an answer that is not streamed.
fn read_body(mut reader: impl Read) -> Result<Answered, BodyError> {
    let mut body = Vec::new();
    reader.read_to_end(&mut body).map_err(BodyError::Io)?;
    let json: Json = serde_json::from_slice(&body).map_err(|error| {
        BodyError::Malformed(format!("the service did not return valid JSON: {error}"))
    })?;
    let answered = Answered::of(&json).map_err(BodyError::Malformed)?;
    if answered.is_too_long() {
        return Err(BodyError::Malformed(TOO_LONG.to_owned()));
    }
    Ok(answered)
}

/// Parses `Retry-After`: seconds, or a date (RFC 9110, 10.2.3).
fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let text = response.headers().get("retry-after")?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    // A date in the past requires no delay.
    Some(at.duration_since(jiff::Timestamp::now()).unsigned_abs())
        .filter(|_| at > jiff::Timestamp::now())
}

/// A text in one line, truncated.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > MAX_SHOWN_CHARS {
        return line.chars().take(MAX_SHOWN_CHARS).chain(std::iter::once('…')).collect();
    }
    line
}
