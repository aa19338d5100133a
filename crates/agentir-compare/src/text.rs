//! Normalized text, for comparison and display.

use crate::normalized::strip_markers;
use agentir_ir_json::{Json, Mode, to_value};
use serde_json::Value;

/// A string without the markers of one language, on one line.
pub(crate) fn normalize(text: &str) -> String {
    strip_markers(text.to_owned()).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A normalized string in quotes, truncated after `MAX_LEN` characters.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_LEN: usize = 80;
    let text = normalize(text);
    match text.char_indices().nth(MAX_LEN) {
        Some((end, _)) => format!("“{}…”", text.get(..end).unwrap_or_default()),
        None => format!("“{text}”"),
    }
}

/// The JSON of a part of the IR as a string, without the markers of one language. Line breaks and empty values count:
/// they can be noticed.
pub(crate) fn normalized_json(part: &impl Json) -> String {
    clean(to_value(part, Mode::Plain)).to_string()
}

fn clean(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(strip_markers(text)),
        Value::Array(items) => items.into_iter().map(clean).collect(),
        Value::Object(fields) => fields.into_iter().map(|(k, v)| (k, clean(v))).collect(),
        other => other,
    }
}
