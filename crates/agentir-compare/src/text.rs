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

/// The normalized JSON of a part of the IR, as a string.
pub(crate) fn normalized_json(part: &impl Json) -> String {
    let value = to_value(part, Mode::Plain);
    clean(value).map_or_else(String::new, |value| value.to_string())
}

/// Normalizes strings and removes empty values.
fn clean(value: Value) -> Option<Value> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => Value::String(normalize(&text)),
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(clean).collect();
            if items.is_empty() {
                return None;
            }
            Value::Array(items)
        }
        Value::Object(fields) => {
            let fields: serde_json::Map<_, _> =
                fields.into_iter().filter_map(|(k, v)| Some((k, clean(v)?))).collect();
            if fields.is_empty() {
                return None;
            }
            Value::Object(fields)
        }
        other => other,
    })
}
