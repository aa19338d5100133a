//! Normalized texts, for comparison and display.

use crate::meaning::neutral;
use serde::Serialize;
use serde_json::Value;

/// A text without the marks of one language, on one line.
pub(crate) fn plain(text: &str) -> String {
    neutral(text.to_owned()).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as it is quoted in a sentence, cut where it gets long.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 80;
    let text = plain(text);
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("“{}…”", text.get(..at).unwrap_or_default()),
        None => format!("“{text}”"),
    }
}

/// All that a part of the IR says, as text that is equal where it says the same.
pub(crate) fn all_of(part: &impl Serialize) -> String {
    let value = serde_json::to_value(part).unwrap_or_default();
    cleaned(value).map_or_else(String::new, |value| value.to_string())
}

/// Without the marks of one language and without what is empty.
fn cleaned(value: Value) -> Option<Value> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => Value::String(plain(&text)),
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(cleaned).collect();
            if items.is_empty() {
                return None;
            }
            Value::Array(items)
        }
        Value::Object(fields) => {
            let fields: serde_json::Map<_, _> =
                fields.into_iter().filter_map(|(k, v)| Some((k, cleaned(v)?))).collect();
            if fields.is_empty() {
                return None;
            }
            Value::Object(fields)
        }
        other => other,
    })
}
