//! What data says that AgentIR keeps as it is: which keys there are, and which values they have.
//!
//! Languages have fields of these names, and AgentIR's JSON has them as keys. All readers ask these tables, so that what
//! one of them accepts every other one does.

use crate::limits::range_of;
use agentir_ir::Data;

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A text, or what can be written as one.
    Text,
    /// A number, a duration, or a reference to configuration. [`crate::limits`] says which numbers make sense.
    Number,
    /// How often something is tried again: a number, whether it is, or an object that says more.
    Retry,
    /// One of these words, in any case.
    Word(&'static [&'static str]),
    /// Names.
    Names,
    /// Texts by their names.
    Pairs,
    /// Anything.
    Any,
}

/// The keys of an object with the forms of their values.
pub type Keys = &'static [(&'static str, Form)];

/// How the implementation of a tool is reached, for all types of tools (§3.5), in the order in which they are written.
pub static BINDING: Keys = &[
    ("endpoint", Form::Text),
    ("method", Form::Word(&["get", "post", "put", "patch", "delete", "head"])),
    ("protocol", Form::Text),
    ("auth", Form::Any),
    ("auth_config", Form::Any),
    ("timeout", Form::Number),
    ("retry", Form::Retry),
    ("retry_delay", Form::Number),
    ("retry_policy", Form::Any),
    ("headers", Form::Pairs),
    ("query_params", Form::Pairs),
    ("body_type", Form::Text),
    ("body_mode", Form::Text),
    ("body", Form::Any),
    ("body_template", Form::Any),
    ("body_schema", Form::Any),
    ("request_variants", Form::Any),
    ("rate_limit", Form::Number),
    ("circuit_breaker", Form::Any),
    ("tls_options", Form::Any),
    ("tls_profile", Form::Text),
    ("on_http_error", Form::Word(&["error", "data"])),
    ("soap_version", Form::Text),
    ("soap_action", Form::Text),
    ("soap_operation", Form::Text),
    ("wsdl_url", Form::Text),
    ("server", Form::Text),
    ("tool", Form::Text),
    ("runtime", Form::Text),
    ("code", Form::Text),
    ("memory_mb", Form::Number),
    ("function", Form::Text),
    ("workflow_id", Form::Text),
    ("workflow_version", Form::Text),
    ("trigger_id", Form::Text),
    ("mode", Form::Text),
    ("param_mapping", Form::Any),
    ("connector", Form::Text),
    ("action", Form::Text),
    ("index_id", Form::Text),
    ("tenant_id", Form::Text),
    ("kb_name", Form::Text),
    ("search_instructions", Form::Text),
    ("callback_url_field", Form::Text),
    ("timeout_seconds", Form::Number),
    ("table", Form::Any),
    ("operations", Form::Names),
    ("schema_version", Form::Text),
];

/// What an action of Agent Script is implemented by: `target: "flow://…"`.
pub static TARGET: (&str, Form) = ("target", Form::Text);

/// How much of the conversation the next agent sees (§3.10), if it is not `{last_n: …}`.
pub static HISTORY: &[&str] = &["none", "full", "summary_only", "auto"];

/// The keys of `{last_n: …}`.
pub static LAST_MESSAGES: Keys = &[("last_n", Form::Number)];

/// How urgent it is that a person takes over (§3.12), if it is no number.
pub static PRIORITIES: &[&str] = &["low", "medium", "high", "critical"];

/// What may be done with a path of the memory.
pub static ACCESS: &[&str] = &["read", "write", "readwrite"];

/// How an agent sounds (§3.13.3).
pub static VOICE: Keys = &[
    ("provider", Form::Text),
    ("voice_id", Form::Text),
    ("speed", Form::Number),
    ("ssml", Form::Text),
    ("instructions", Form::Text),
    ("plain_text", Form::Text),
];

/// What the responses of a channel must keep to (§3.13.2).
pub static RESPONSE_RULES: Keys = &[
    ("max_buttons", Form::Number),
    ("fallback_format", Form::Text),
    ("max_response_length", Form::Number),
    ("media_types", Form::Names),
];

/// Where an escalation is routed to.
pub static ESCALATION_ROUTING: Keys = &[
    ("connection", Form::Any),
    ("queue", Form::Any),
    ("skills", Form::Any),
    ("skill_tags", Form::Any),
    ("priority", Form::Any),
    ("priority_boost", Form::Any),
    ("post_agent", Form::Any),
    ("voice", Form::Any),
    ("named_agents", Form::Any),
    ("named_agent_options", Form::Any),
    ("agent_matching_conditions", Form::Any),
    ("sub_type", Form::Any),
    ("provider_config", Form::Any),
    ("metadata", Form::Any),
    ("flow_policy", Form::Any),
    ("flow_policy_ref", Form::Any),
];

impl Form {
    /// What a key must have instead of a value; none if the value is of the form.
    #[must_use]
    pub fn expected(self, key: &str, value: &Data) -> Option<String> {
        let is_setting = value.as_str().is_some_and(|text| text.contains("{{"));
        match self {
            _ if is_setting => None,
            Self::Any => None,
            Self::Text => match value {
                Data::String(_) | Data::Number(_) | Data::Bool(_) => None,
                Data::Null | Data::Array(_) | Data::Object(_) => Some("a string".to_owned()),
            },
            Self::Number => number(key, value),
            Self::Retry => match value {
                Data::Bool(_) | Data::Object(_) => None,
                value => number(key, value),
            },
            Self::Word(words) => {
                let is_word = |text: &str| words.iter().any(|word| word.eq_ignore_ascii_case(text));
                let wrong = !value.as_str().is_some_and(is_word);
                wrong.then(|| {
                    let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                    format!("one of {}", all.join(", "))
                })
            }
            Self::Names => {
                let wrong = !matches!(value, Data::String(_) | Data::Array(_));
                wrong.then(|| "an array of names".to_owned())
            }
            Self::Pairs => match value {
                Data::Object(_) => None,
                Data::Array(items) if items.iter().all(Data::is_object) => None,
                _ => Some("an object of names and texts".to_owned()),
            },
        }
    }
}

/// What a number must be that is none.
fn number(key: &str, value: &Data) -> Option<String> {
    let range = range_of(key);
    let is_number =
        |number: f64| number.is_finite() && range.is_none_or(|range| range.contains(number));
    let right = match value {
        Data::Number(number) => number.as_f64().is_some_and(is_number),
        Data::String(text) => {
            text.parse().map_or_else(|_| is_duration(text) || text == "null", is_number)
        }
        _ => false,
    };
    (!right).then(|| range.map_or_else(|| "a number".to_owned(), |range| range.to_string()))
}

/// Whether a text is a duration: a number with its unit.
#[must_use]
pub fn is_duration(text: &str) -> bool {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(digits.len()..).unwrap_or_default();
    matches!(unit, "ms" | "s" | "m" | "h" | "d")
        && digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.parse::<f64>().is_ok()
}

/// The units of times that are written for people: how long something is remembered.
const UNITS: &[&str] = &[
    "", "ms", "s", "sec", "seconds", "m", "min", "minutes", "h", "hour", "hours", "d", "day",
    "days", "w", "week", "weeks",
];

/// What to write for a time.
pub const TIME_HELP: &str = "write a number with its unit, such as `30m`, `12h` or `90d`";

/// Whether a text says how long something is remembered, or configuration does.
#[must_use]
pub fn is_time(text: &str) -> bool {
    let text = text.trim();
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = text.strip_suffix(unit).unwrap_or_default();
    text.contains("{{") || (number.parse::<f64>().is_ok() && UNITS.contains(&unit.trim()))
}
