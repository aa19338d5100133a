//! Normalized text, for comparison and display.

use agentir_ir_json::{Json, MARKED, Mode, PLACED, TEXT, to_value};
use serde_json::Value;
use std::collections::BTreeMap;

/// A string on one line.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A string on one line in quotes, truncated after `MAX_LEN` characters.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_LEN: usize = 80;
    let text = on_one_line(text);
    match text.char_indices().nth(MAX_LEN) {
        Some((end, _)) => format!("“{}…”", text.get(..end).unwrap_or_default()),
        None => format!("“{text}”"),
    }
}

/// The JSON of a part of the IR as a string, in the notation that all languages share and without empty values, which only
/// some languages write. Keys have no order. Line breaks count, and so does what is empty in free-form data: they can be noticed.
pub(crate) fn normalized_json(part: &impl Json) -> String {
    clean(to_value(part, Mode::WithSpans)).map_or_else(String::new, |value| value.to_string())
}

fn clean(value: Value) -> Option<Value> {
    Some(match value {
        Value::Null => return None,
        Value::Array(items) => {
            let items: Vec<_> = items.into_iter().filter_map(clean).collect();
            if items.is_empty() {
                return None;
            }
            Value::Array(items)
        }
        Value::Object(mut fields) => {
            let [value_key, span_key] = PLACED;
            if let (true, Some(value)) = (fields.contains_key(span_key), fields.remove(value_key)) {
                return clean(value);
            }
            if let (1, Some(data)) = (fields.len(), fields.get_mut(MARKED)) {
                return Some(clean_data(data.take()));
            }
            if let (1, Some(text)) = (fields.len(), fields.get_mut(TEXT)) {
                return text.get_mut(0).map(Value::take);
            }
            let fields = fields.into_iter().filter_map(|(k, v)| Some((k, clean(v)?)));
            let fields: BTreeMap<_, _> = fields.collect();
            if fields.is_empty() {
                return None;
            }
            Value::Object(fields.into_iter().collect())
        }
        other => other,
    })
}

/// Free-form data, of which nothing is left out.
fn clean_data(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(clean_data).collect(),
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> =
                fields.into_iter().map(|(k, v)| (k, clean_data(v))).collect();
            Value::Object(fields.into_iter().collect())
        }
        other => other,
    }
}
