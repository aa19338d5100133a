//! Tools of type `http`, called as they are declared.
//!
//! Settings, secrets and logins come from the environment. A call ends at its time limit, whatever is
//! tried again within it; redirects are not followed, so a login goes only where the author wrote it.
//! Messages about failures contain the address as declared, with unfilled placeholders and without
//! secrets.

mod auth;
mod binding;
mod limits;

use crate::environment::{EnvVars, Secrets};
use crate::hosts::{CheckedResolver, Hosts, NotPermitted};
use crate::template::{self, Encoding, Values};
use crate::{MAX_ANSWER_BYTES, MAX_TIMEOUT};
use agentir_runtime::{Cancellation, FailureKind, ToolCall, ToolFailure, Tools};
use agentir_secrets::Issued;
use auth::{AuthRequirement, Credentials, Grant};
use binding::{Body, ContentType, HttpBinding};
use limits::Limits;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::io::Read as _;
use std::time::{Duration, Instant};
use ureq::http::{self, HeaderName, HeaderValue, Method, Uri};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, AsSendBody};

/// The header that tells a service that a request is the same as an earlier one, as many services know it
/// (draft-ietf-httpapi-idempotency-key-header).
const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

/// A token is refreshed this long before it expires.
const TOKEN_REFRESH_MARGIN: Duration = Duration::from_secs(30);

/// How long a token holds that does not say it.
const DEFAULT_TOKEN_LIFETIME: Duration = Duration::from_secs(300);

/// Between two tries at most.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);
/// Why a call is refused whose host is the value of a variable, which is not shown.
const HIDDEN_HOST: &str = "the host that it calls comes from a variable of the environment, whose value is not shown; to \
                           allow that, run with --allow-host and the host that the variable names";

/// Calls tools by HTTP.
#[derive(Debug)]
pub struct Http {
    agent: Agent,
    env: EnvVars,
    hosts: Hosts,
    limits: Limits,
    tokens: HashMap<Grant, Token>,
    issued: Issued,
    cancellation: Cancellation,
}

struct Token {
    text: String,
    until: Instant,
}

/// Never shows the token.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token").field("until", &self.until).finish_non_exhaustive()
    }
}

/// An answer as it came.
struct Response {
    status: u16,
    retry_after: Option<Duration>,
    json: bool,
    body: String,
}

/// Why there is none.
enum CallError {
    /// Time is over.
    Timeout,
    /// Nobody waits for it any more.
    Cancelled,
    /// Trying again may help.
    Network(String),
    /// It will not.
    Final(FailureKind, String),
}

impl Http {
    /// Calls these hosts with the settings of an environment.
    #[must_use]
    pub fn new(env: EnvVars, hosts: Hosts) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("agentir/", env!("CARGO_PKG_VERSION")))
            .build();
        let resolver = CheckedResolver { hosts: hosts.clone(), names: DefaultResolver::default() };
        Self {
            agent: Agent::with_parts(config, DefaultConnector::default(), resolver),
            env,
            hosts,
            limits: Limits::default(),
            tokens: HashMap::new(),
            issued: Issued::default(),
            cancellation: Cancellation::default(),
        }
    }

    /// Gives up a call when it is cancelled.
    #[must_use]
    pub fn cancellation(mut self, by: Cancellation) -> Self {
        self.cancellation = by;
        self
    }

    /// Adds the access tokens that services give to these, before anybody is answered with one.
    #[must_use]
    pub fn issued(mut self, issued: Issued) -> Self {
        self.issued = issued;
        self
    }

    /// The settings of the environment.
    pub(crate) const fn env(&self) -> &EnvVars {
        &self.env
    }

    fn run(&mut self, call: &ToolCall<'_>, secrets: &mut Secrets) -> Result<Json, ToolFailure> {
        let name = call.name;
        let refused = |why: String| {
            ToolFailure::new(FailureKind::Refused, format!("`{name}` cannot be called: {why}"))
        };
        let Some(tool) = call.tool else {
            return Err(refused("it is not declared".to_owned()));
        };
        let env = self.env.clone();
        let values = Values { arguments: &call.arguments, session: &call.session, env: &env };
        let no_arguments = Map::new();
        let fixed = Values { arguments: &no_arguments, ..values };
        let setting = |text: &str| fixed.fill(text, Encoding::Plain, &mut Secrets::default());
        HttpBinding::new(tool, &setting).map_err(refused).and_then(|binding| {
            let timeout = crate::call_timeout(call);
            let end = Instant::now() + timeout;
            let body = request_body(&binding, values, secrets).map_err(refused)?;
            let url = url(&binding, values, secrets).map_err(refused)?;
            self.hosts.check(&url).map_err(|why| {
                let is_hidden = secrets.redact(&why) != why;
                refused(if is_hidden { HIDDEN_HOST.to_owned() } else { why })
            })?;
            let headers =
                headers(&binding, values, &call.idempotency_key, secrets).map_err(refused)?;
            let ready = PreparedRequest { binding: &binding, url, headers, body, end };
            let timed_out = || {
                let words = format!("`{name}` did not answer within {} ms", timeout.as_millis());
                ToolFailure::new(FailureKind::Timeout, words)
            };
            let at = format!("{} {}", binding.method, binding.endpoint);
            let key = format!("{at} {name}");
            self.limits.acquire(&key, &binding).map_err(|why| {
                ToolFailure::new(FailureKind::Api, format!("`{name}` was not called: {why}"))
            })?;
            let outcome = self.send_with_retries(&ready, values, secrets);
            // What the caller did wrong says nothing about the service.
            let healthy = match &outcome {
                Ok(answer) => answer.status < 500 && answer.status != 429,
                Err(CallError::Final(kind, _)) => *kind == FailureKind::Refused,
                Err(_) => false,
            };
            self.limits.record(&key, &binding, healthy);
            match outcome {
                Ok(answer) => result_of(&binding, name, &at, &answer),
                Err(CallError::Timeout) => Err(timed_out()),
                Err(CallError::Cancelled) => Err(crate::cancelled(call)),
                Err(CallError::Network(why)) => Err(ToolFailure::new(
                    FailureKind::Api,
                    format!("`{name}` could not reach {at}: {why}"),
                )),
                Err(CallError::Final(FailureKind::Refused, why)) => Err(refused(why)),
                Err(CallError::Final(kind, why)) => {
                    Err(ToolFailure::new(kind, format!("`{name}` ({at}): {why}")))
                }
            }
        })
    }

    /// Sends a request until it is answered, as often as the tool allows.
    fn send_with_retries(
        &mut self,
        ready: &PreparedRequest<'_>,
        values: Values<'_>,
        secrets: &mut Secrets,
    ) -> Result<Response, CallError> {
        let mut delay = ready.binding.retry_delay;
        let mut renewed = false;
        let mut tries = 0;
        loop {
            let host = ready.url.host().unwrap_or_default();
            let needs = ready.binding.auth.needs(host, values, secrets);
            let needs = needs.map_err(|why| CallError::Final(FailureKind::Refused, why))?;
            let (login, grant) = match needs {
                AuthRequirement::Ready(login) => (Ok(login), None),
                AuthRequirement::Token(grant) => {
                    let token = self.token(&grant, ready.end, secrets);
                    (token.map(|token| auth::bearer(&token)), Some(grant))
                }
            };
            let outcome = login.and_then(|login| self.send_once(ready, &login));
            let wait = match &outcome {
                // The token may have been taken back.
                Ok(Response { status: 401, .. }) if !renewed && grant.is_some() => {
                    renewed = true;
                    grant.map(|grant| self.tokens.remove(&grant));
                    continue;
                }
                Ok(answer) if matches!(answer.status, 408 | 429 | 500 | 502 | 503 | 504) => {
                    answer.retry_after.unwrap_or(delay)
                }
                Err(CallError::Network(_)) => delay,
                _ => return outcome,
            };
            let left = ready.end.saturating_duration_since(Instant::now());
            if tries >= ready.binding.retries || wait >= left {
                return outcome;
            }
            tries += 1;
            if !self.cancellation.sleep(wait) {
                return Err(CallError::Cancelled);
            }
            delay = (delay * 2).min(MAX_RETRY_DELAY);
        }
    }

    /// Sends a request once.
    fn send_once(
        &self,
        ready: &PreparedRequest<'_>,
        login: &Credentials,
    ) -> Result<Response, CallError> {
        let wrong = |why: String| CallError::Final(FailureKind::Refused, why);
        let mut url = ready.url.clone();
        if let Some((name, value)) = &login.query {
            let mark = if url.query().is_some() { '&' } else { '?' };
            let longer = format!(
                "{url}{mark}{}={}",
                template::percent_encoded(name),
                template::percent_encoded(value)
            );
            url = longer.parse().map_err(|_| wrong("its address is not valid".to_owned()))?;
        }
        let mut builder = http::Request::builder().method(ready.method()?).uri(url);
        for (name, value) in ready.headers.iter().chain(&login.header) {
            let (name, value) = header(name, value).map_err(wrong)?;
            builder = builder.header(name, value);
        }
        let left = ready.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CallError::Timeout);
        }
        let agent = self.agent.clone();
        let body = ready.body.clone();
        let sent = self.cancellation.run(move || {
            let response = match &body {
                Some(body) => send(&agent, builder.body(body.as_str()), left),
                None => send(&agent, builder.body(()), left),
            };
            response.and_then(read_response)
        });
        sent.unwrap_or(Err(CallError::Cancelled))
    }

    /// A token, fetched if there is none that holds.
    fn token(
        &mut self,
        grant: &Grant,
        end: Instant,
        secrets: &mut Secrets,
    ) -> Result<String, CallError> {
        if let Some(token) = self.tokens.get(grant)
            && Instant::now() < token.until
        {
            secrets.add(&token.text);
            return Ok(token.text.clone());
        }
        let failed = |why: &str| {
            CallError::Final(FailureKind::Api, format!("the service that gives tokens {why}"))
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(CallError::Timeout);
        }
        let mut form = vec![
            ("grant_type", "client_credentials"),
            ("client_id", &grant.id),
            ("client_secret", &grant.secret),
        ];
        form.extend(grant.scope.as_deref().map(|scope| ("scope", scope)));
        let refused = |why: String| CallError::Final(FailureKind::Refused, why);
        let url: Uri = grant.url.parse().map_err(|_| {
            refused("the address of the service that gives tokens is not valid".to_owned())
        })?;
        self.hosts.check(&url).map_err(refused)?;
        let request = self.agent.post(&url).config().timeout_global(Some(left)).build();
        let form: Vec<(&str, String)> =
            form.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        let answer = self.cancellation.run(move || {
            request.send_form(form).map_err(|e| call_error(&e)).and_then(read_response)
        });
        let answer = answer.unwrap_or(Err(CallError::Cancelled)).map_err(|error| match error {
            CallError::Network(why) => failed(&format!("cannot be reached: {why}")),
            other => other,
        })?;
        if !(200..300).contains(&answer.status) {
            return Err(failed(&format!("answered {}", answer.status)));
        }
        let json: Json = serde_json::from_str(&answer.body).unwrap_or_default();
        let Some(text) = json.get("access_token").and_then(Json::as_str) else {
            return Err(failed("gave none"));
        };
        secrets.add(text);
        self.issued.add(text);
        let holds = json.get("expires_in").and_then(Json::as_u64).map(Duration::from_secs);
        let holds = holds
            .unwrap_or(DEFAULT_TOKEN_LIFETIME)
            .min(MAX_TIMEOUT)
            .saturating_sub(TOKEN_REFRESH_MARGIN);
        let token = Token { text: text.to_owned(), until: Instant::now() + holds };
        self.tokens.insert(grant.clone(), token);
        Ok(text.to_owned())
    }
}

impl Tools for Http {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let mut secrets = Secrets::default();
        self.run(call, &mut secrets).map_err(|failure| ToolFailure {
            message: secrets.redact(&failure.message),
            data: redacted(failure.data, &secrets),
            ..failure
        })
    }
}

/// A request with everything but its login.
struct PreparedRequest<'r> {
    binding: &'r HttpBinding,
    url: Uri,
    headers: Vec<(String, String)>,
    body: Option<String>,
    end: Instant,
}

impl PreparedRequest<'_> {
    fn method(&self) -> Result<Method, CallError> {
        let method = &self.binding.method;
        method.parse().map_err(|_| {
            CallError::Final(FailureKind::Refused, format!("`{method}` is not an HTTP method"))
        })
    }
}

fn send<B: AsSendBody>(
    agent: &Agent,
    request: http::Result<http::Request<B>>,
    left: Duration,
) -> Result<http::Response<ureq::Body>, CallError> {
    let wrong = |e: http::Error| CallError::Final(FailureKind::Refused, e.to_string());
    let request = agent.configure_request(request.map_err(wrong)?);
    let request = request.timeout_global(Some(left)).allow_non_standard_methods(true).build();
    agent.run(request).map_err(|e| call_error(&e))
}

/// Whether a method sends a body.
fn has_body(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

/// The arguments that stand nowhere else.
fn unreferenced_arguments<'v>(
    binding: &HttpBinding,
    values: Values<'v>,
) -> impl Iterator<Item = (&'v String, &'v Json)> {
    let used: Vec<String> = binding.referenced_arguments().map(str::to_owned).collect();
    let unreferenced_arguments = values.arguments.iter().filter(|(_, value)| !value.is_null());
    unreferenced_arguments.filter(move |(name, _)| !used.contains(name))
}

fn request_body(
    binding: &HttpBinding,
    values: Values<'_>,
    secrets: &mut Secrets,
) -> Result<Option<String>, String> {
    match &binding.body {
        Body::Fixed(text, _) => Ok(Some(text.clone())),
        Body::Template(template, kind) => {
            let place = match kind {
                ContentType::Json => Encoding::Json,
                ContentType::Form => Encoding::Form,
                ContentType::Xml => Encoding::Xml,
                ContentType::Text => Encoding::Plain,
            };
            let body = values.fill(template, place, secrets)?;
            if *kind == ContentType::Json
                && let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(&body)
            {
                return Err(format!("its body is no JSON with these arguments: {e}"));
            }
            Ok(Some(body))
        }
        Body::Arguments if has_body(&binding.method) => {
            let fields =
                unreferenced_arguments(binding, values).map(|(n, v)| (n.clone(), v.clone()));
            Ok(Some(Json::Object(fields.collect()).to_string()))
        }
        Body::Arguments => Ok(None),
    }
}

/// Where the request goes. If the tool says nothing about a query, arguments that stand nowhere are
/// one, where nothing is sent.
fn url(binding: &HttpBinding, values: Values<'_>, secrets: &mut Secrets) -> Result<Uri, String> {
    let mut url = values.fill(&binding.endpoint, Encoding::Url, secrets)?;
    let mut query = Vec::new();
    match &binding.query {
        Some(pairs) => {
            for (name, written) in pairs {
                let value = values.fill(written, Encoding::Plain, secrets)?;
                // What has no value is not sent; what the author left empty is.
                if !value.is_empty() || written.is_empty() {
                    query.push((name.clone(), value));
                }
            }
        }
        None if !has_body(&binding.method) && matches!(binding.body, Body::Arguments) => {
            query.extend(
                unreferenced_arguments(binding, values)
                    .map(|(n, v)| (n.clone(), template::value_text(v))),
            );
        }
        None => {}
    }
    for (name, value) in query {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(&format!(
            "{}={}",
            template::percent_encoded(&name),
            template::percent_encoded(&value)
        ));
    }
    // What the environment says is not repeated.
    let wrong = || format!("`{}` is not a valid address with these values", binding.endpoint);
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    match uri.scheme_str() {
        Some("http" | "https") if uri.host().is_some_and(|host| !host.is_empty()) => Ok(uri),
        _ => Err(wrong()),
    }
}

fn headers(
    binding: &HttpBinding,
    values: Values<'_>,
    idempotency_key: &str,
    secrets: &mut Secrets,
) -> Result<Vec<(String, String)>, String> {
    let mut headers = Vec::new();
    for (name, written) in &binding.headers {
        let value = values.fill(written, Encoding::Plain, secrets)?;
        // Checked here, so that a call with a login fails before the login is made.
        header(name, &value)?;
        headers.push((name.clone(), value));
    }
    let kind = match &binding.body {
        Body::Fixed(_, kind) | Body::Template(_, kind) => Some(*kind),
        Body::Arguments => has_body(&binding.method).then_some(ContentType::Json),
    };
    let has = |wanted: &str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let (typed, accepts) = (has("content-type"), has("accept"));
    // Other methods are idempotent, or change nothing (RFC 9110, 9.2).
    let repeatable = !matches!(binding.method.as_str(), "POST" | "PATCH");
    if !repeatable && !idempotency_key.is_empty() && !has(IDEMPOTENCY_KEY) {
        headers.push((IDEMPOTENCY_KEY.to_owned(), idempotency_key.to_owned()));
    }
    if let (Some(kind), false) = (kind, typed) {
        headers.push(("Content-Type".to_owned(), kind.media_type().to_owned()));
    }
    if !accepts {
        headers.push((
            "Accept".to_owned(),
            "application/json, text/plain;q=0.9, */*;q=0.5".to_owned(),
        ));
    }
    Ok(headers)
}

/// A header; its value cannot begin another one.
fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed = HeaderName::from_bytes(name.as_bytes());
    let name = parsed.map_err(|_| format!("`{name}` is not a valid header name"))?;
    let value = HeaderValue::from_str(value).map_err(|_| {
        format!("the value of its header `{name}` has line ends or other signs of control")
    })?;
    Ok((name, value))
}

fn read_response(mut response: http::Response<ureq::Body>) -> Result<Response, CallError> {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let retry_after = header("retry-after").and_then(|s| s.trim().parse().ok());
    let json = header("content-type").is_some_and(|kind| kind.contains("json"));
    let status = response.status().as_u16();
    // The limit of the library counts what is sent, which may be compressed.
    let limit = MAX_ANSWER_BYTES as u64;
    let mut body = Vec::new();
    let mut unpacked = response.body_mut().with_config().limit(limit).reader().take(limit + 1);
    unpacked.read_to_end(&mut body).map_err(|e| call_error(&ureq::Error::from(e)))?;
    if body.len() > MAX_ANSWER_BYTES {
        return Err(call_error(&ureq::Error::BodyExceedsLimit(limit)));
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    let retry_after = retry_after.map(Duration::from_secs);
    Ok(Response { status, retry_after, json, body })
}

fn call_error(e: &ureq::Error) -> CallError {
    match e {
        ureq::Error::Timeout(_) => CallError::Timeout,
        ureq::Error::HostNotFound => CallError::Network("there is no host of this name".to_owned()),
        ureq::Error::ConnectionFailed => CallError::Network("the connection failed".to_owned()),
        ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::TimedOut => CallError::Timeout,
        ureq::Error::Io(e) if e.get_ref().is_some_and(|e| e.is::<NotPermitted>()) => {
            CallError::Final(FailureKind::Refused, e.to_string())
        }
        ureq::Error::Io(e) => CallError::Network(e.to_string()),
        ureq::Error::BodyExceedsLimit(_) => CallError::Final(
            FailureKind::Api,
            format!("the answer has more than {} MB", MAX_ANSWER_BYTES >> 20),
        ),
        ureq::Error::Protocol(e) => CallError::Network(format!("the answer is no HTTP ({e})")),
        // It may have the address with all that was filled in.
        ureq::Error::BadUri(_) => {
            CallError::Final(FailureKind::Refused, "its address is not valid".to_owned())
        }
        other => CallError::Final(FailureKind::Api, other.to_string()),
    }
}

/// What a tool gives, by the answer.
fn result_of(
    binding: &HttpBinding,
    name: &str,
    at: &str,
    answer: &Response,
) -> Result<Json, ToolFailure> {
    let body = match serde_json::from_str::<Json>(&answer.body) {
        Ok(json) => json,
        Err(_) if answer.body.trim().is_empty() => Json::Null,
        Err(e) if answer.json && answer.status < 300 => {
            let why = format!("`{name}` ({at}): the answer says that it is JSON and is not: {e}");
            return Err(ToolFailure::new(FailureKind::Api, why));
        }
        Err(_) => Json::from(answer.body.as_str()),
    };
    let status = answer.status;
    if (200..300).contains(&status) {
        return Ok(body);
    }
    let data = json!({ "status": status, "body": body });
    if binding.errors_are_data {
        return Ok(data);
    }
    let words = http::StatusCode::from_u16(status).ok();
    let words = words.and_then(|s| s.canonical_reason()).map_or(String::new(), |r| format!(" {r}"));
    let more = if (300..400).contains(&status) { ", and redirects are not followed" } else { "" };
    let message = format!("`{name}` ({at}) answered {status}{words}{more}");
    Err(ToolFailure { data, ..ToolFailure::new(FailureKind::Api, message) })
}

/// Data without secrets: services repeat what they were sent. Recursive; JSON is read to a depth.
fn redacted(data: Json, secrets: &Secrets) -> Json {
    match data {
        Json::String(text) => secrets.redact(&text).into(),
        Json::Array(items) => items.into_iter().map(|item| redacted(item, secrets)).collect(),
        Json::Object(fields) => {
            fields.into_iter().map(|(n, v)| (secrets.redact(&n), redacted(v, secrets))).collect()
        }
        other => other,
    }
}
