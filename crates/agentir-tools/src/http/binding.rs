//! What a tool says about how it is called by HTTP, read once and checked.

use super::auth::Auth;
use crate::settings::{Setting, duration, setting_text};
use agentir_ir::{Data, Tool};
use serde_json::{Map, Value as Json};
use std::time::Duration;

/// Between two tries, if the tool does not say it.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// More tries are not made, whatever the tool says.
const MAX_RETRIES: u32 = 10;

/// Fields of the platform that cannot be done here: a tool that has one would behave otherwise.
const UNSUPPORTED_FIELDS: &[(&str, &str)] = &[
    ("soap_version", "SOAP"),
    ("soap_action", "SOAP"),
    ("soap_operation", "SOAP"),
    ("wsdl_url", "SOAP"),
    ("request_variants", "request variants"),
    ("tls_options", "TLS options"),
    ("tls_profile", "TLS profiles"),
];

/// A tool of type `http`.
#[derive(Clone, Debug)]
pub(super) struct HttpBinding {
    pub(super) method: String,
    /// The address, with its placeholders.
    pub(super) endpoint: String,
    pub(super) headers: Vec<(String, String)>,
    /// None if the tool says nothing about it.
    pub(super) query: Option<Vec<(String, String)>>,
    pub(super) body: Body,
    pub(super) auth: Auth,
    pub(super) retries: u32,
    pub(super) retry_delay: Duration,
    /// Calls a minute.
    pub(super) rate_limit: Option<u32>,
    pub(super) breaker: Option<Breaker>,
    /// Whether an answer that says of an error is an answer.
    pub(super) errors_are_data: bool,
}

/// What is sent.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// The arguments that stand nowhere else, as JSON; nothing for methods that send nothing.
    Arguments,
    /// This, as it is.
    Fixed(String, ContentType),
    /// The value, with its placeholders filled.
    Template(String, ContentType),
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentType {
    Json,
    Form,
    Xml,
    Text,
}

impl ContentType {
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Form => "application/x-www-form-urlencoded",
            Self::Xml => "application/xml",
            Self::Text => "text/plain; charset=utf-8",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "json" | "application/json" => Self::Json,
            "form"
            | "urlencoded"
            | "form-urlencoded"
            | "x-www-form-urlencoded"
            | "application/x-www-form-urlencoded" => Self::Form,
            "xml" | "text/xml" | "application/xml" => Self::Xml,
            "text" | "raw" | "plain" | "text/plain" => Self::Text,
            _ => return None,
        })
    }

    /// By how it begins.
    fn sniff(body: &str) -> Self {
        match body.trim_start().chars().next() {
            Some('{' | '[' | '"') => Self::Json,
            Some('<') => Self::Xml,
            _ => Self::Text,
        }
    }
}

/// When a service that fails is left alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Breaker {
    /// After so many failures in a row.
    pub(super) threshold: u32,
    /// For so long.
    pub(super) reset: Duration,
}

impl HttpBinding {
    /// Reads the binding of a tool.
    ///
    /// # Errors
    /// In words: what is missing or cannot be done here.
    pub(super) fn new(tool: &Tool, setting: Setting<'_>) -> Result<Self, String> {
        let empty = Map::new();
        let binding = tool.binding.as_ref().map_or(&empty, |b| &b.0);
        let elsewhere = UNSUPPORTED_FIELDS.iter().find(|(field, _)| binding.contains_key(*field));
        let soap = text(binding, "protocol").is_some_and(|p| p.eq_ignore_ascii_case("soap"));
        if let Some(what) = elsewhere.map(|(_, what)| *what).or(soap.then_some("SOAP")) {
            return Err(format!("it needs {what}, which this runtime does not have"));
        }
        let endpoint = text(binding, "endpoint").ok_or("it has no `endpoint`")?;
        if !endpoint.contains("://") && !endpoint.starts_with("{{") {
            return Err(format!(
                "its endpoint `{endpoint}` is not a complete address: write `https://…`, or a `base_url` for \
                 its library"
            ));
        }
        let method = text(binding, "method").unwrap_or("GET").to_ascii_uppercase();
        let (retries, retry_delay) = retries(binding, setting)?;
        Ok(Self {
            endpoint: endpoint.to_owned(),
            headers: pairs(binding.get("headers")),
            query: binding.get("query_params").map(|q| pairs(Some(q))),
            body: body(binding)?,
            auth: Auth::new(
                binding.get("auth"),
                binding.get("auth_config"),
                tool.auth_profile_ref.as_ref().map(|profile| profile.value.as_str()),
            )?,
            retries,
            retry_delay,
            rate_limit: match binding.get("rate_limit") {
                Some(written) => Some(integer(written, "rate_limit", setting)?),
                None => None,
            },
            breaker: breaker(binding, setting)?,
            errors_are_data: text(binding, "on_http_error") == Some("data"),
            method,
        })
    }

    /// The names of the arguments that stand in the address, the query, a header or the body.
    pub(super) fn referenced_arguments(&self) -> impl Iterator<Item = &str> {
        let query = self.query.iter().flatten();
        let texts = query.chain(&self.headers).map(|(_, text)| (text.as_str(), false));
        let texts = texts.chain([(self.endpoint.as_str(), true)]);
        texts.flat_map(|(text, single)| crate::template::argument_names(text, single))
    }
}

fn text<'a>(binding: &'a Map<String, Data>, field: &str) -> Option<&'a str> {
    binding.get(field)?.as_str()
}

/// Names with texts; a list of such is one as well.
fn pairs(data: Option<&Data>) -> Vec<(String, String)> {
    match data {
        Some(Json::Object(fields)) => fields
            .iter()
            .map(|(name, value)| (name.clone(), crate::template::value_text(value)))
            .collect(),
        Some(Json::Array(items)) => items.iter().flat_map(|item| pairs(Some(item))).collect(),
        _ => Vec::new(),
    }
}

fn body(binding: &Map<String, Data>) -> Result<Body, String> {
    let named = ["body_type", "body_mode"].into_iter().find_map(|field| text(binding, field));
    let kind = match named {
        Some(name) => Some(ContentType::from_name(name).ok_or_else(|| {
            format!("its body type `{name}` is not known: json, form, xml and text are")
        })?),
        None => {
            let headers = pairs(binding.get("headers"));
            let content =
                headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            content.and_then(|(_, value)| ContentType::from_name(value.split(';').next()?.trim()))
        }
    };
    let of = |text: &str| kind.unwrap_or_else(|| ContentType::sniff(text));
    Ok(match (binding.get("body_template"), binding.get("body")) {
        (Some(template), _) => {
            let template = crate::template::value_text(template);
            let kind = of(&template);
            Body::Template(template, kind)
        }
        (None, Some(fixed)) => {
            let fixed = crate::template::value_text(fixed);
            let kind = of(&fixed);
            Body::Fixed(fixed, kind)
        }
        (None, None) => Body::Arguments,
    })
}

/// `retry: 2`, `retry: {count, delay_ms}`, `retry_policy: {…}`.
fn retries(binding: &Map<String, Data>, setting: Setting<'_>) -> Result<(u32, Duration), String> {
    let mut count = 0;
    let mut delay = RETRY_DELAY;
    for field in ["retry", "retry_policy"] {
        match binding.get(field) {
            Some(Json::Object(policy)) => {
                let of = |names: &[&str]| names.iter().find_map(|name| policy.get(*name));
                if let Some(written) = of(&["count", "max_retries", "retries"]) {
                    count = integer(written, field, setting)?;
                } else if let Some(written) = of(&["max_attempts", "attempts"]) {
                    count = integer(written, field, setting)?.saturating_sub(1);
                }
                if let Some(written) = of(&["delay_ms", "delay", "backoff_ms"]) {
                    delay = duration(written, field, setting)?;
                }
            }
            Some(Json::Bool(again)) => count = u32::from(*again),
            Some(written) => count = integer(written, field, setting)?,
            None => {}
        }
    }
    if let Some(written) = binding.get("retry_delay") {
        delay = duration(written, "retry_delay", setting)?;
    }
    Ok((count.min(MAX_RETRIES), delay))
}

fn breaker(binding: &Map<String, Data>, setting: Setting<'_>) -> Result<Option<Breaker>, String> {
    let Some(Json::Object(fields)) = binding.get("circuit_breaker") else { return Ok(None) };
    let of = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
    let threshold = match of(&["threshold", "failure_threshold"]) {
        Some(written) => integer(written, "circuit_breaker", setting)?.max(1),
        None => 5,
    };
    let reset = match of(&["resetMs", "reset_ms", "reset"]) {
        Some(written) => duration(written, "circuit_breaker", setting)?,
        None => Duration::from_secs(30),
    };
    Ok(Some(Breaker { threshold, reset }))
}

fn integer(written: &Data, field: &str, setting: Setting<'_>) -> Result<u32, String> {
    let text = setting_text(written, setting)?;
    text.trim().parse().map_err(|_| format!("its `{field}` needs a whole number"))
}
