//! Converts outline entries to free-form data.

use crate::outline::{Empty, Entry, EntryKind, Scalar, Style};
use agentir_ir::Data;
use serde_json::{Map, Value};

/// Reads a collection written on one line, `[a, b]` or `{a: b}`; `None` if the text is not one.
pub type FlowReader = fn(&str) -> Option<Data>;

/// For outlines in which collections on one line are entries already, as in YAML.
pub const NO_FLOW: FlowReader = |_| None;

/// The value of a key: what is written after it and nested in it.
#[must_use]
pub fn of_value(entry: &Entry<'_>, flow: FlowReader) -> Data {
    if let Some(empty) = entry.empty {
        return match empty {
            Empty::List => Value::Array(Vec::new()),
            Empty::Map => Value::Object(Map::new()),
        };
    }
    match &entry.kind {
        EntryKind::Pair { value, children, .. } => match (value, children.as_slice()) {
            (None, children) => of_entries(children, flow),
            (Some(value), []) => of_scalar(value, flow),
            (Some(value), children) => {
                let mut map = Map::new();
                map.insert("value".to_owned(), of_scalar(value, flow));
                map.insert("below".to_owned(), of_entries(children, flow));
                Value::Object(map)
            }
        },
        _ => of_entry(entry, flow),
    }
}

/// An entry with its key.
#[must_use]
pub fn of_entry(entry: &Entry<'_>, flow: FlowReader) -> Data {
    of_entries(std::slice::from_ref(entry), flow)
}

/// The entries of one block: a list of items, a map of pairs, or a single text.
#[must_use]
pub fn of_entries(entries: &[Entry<'_>], flow: FlowReader) -> Data {
    if entries.is_empty() {
        return Value::Null;
    }
    if entries.iter().all(|e| matches!(e.kind, EntryKind::Item { .. })) {
        let item = |e: &Entry<'_>| match e.empty {
            Some(_) => of_value(e, flow),
            None => of_entries(e.children(), flow),
        };
        return Value::Array(entries.iter().map(item).collect());
    }
    if let [Entry { kind: EntryKind::Line { text, children }, .. }] = entries {
        return match of_entries(children, flow) {
            Value::Null => of_scalar(text, flow),
            below => {
                let mut map = Map::new();
                map.insert(text.value().into_owned(), below);
                Value::Object(map)
            }
        };
    }
    if entries
        .iter()
        .all(|e| matches!(&e.kind, EntryKind::Line { children, .. } if children.is_empty()))
    {
        return Value::Array(entries.iter().map(|entry| of_entry(entry, flow)).collect());
    }
    let mut map = Map::new();
    for entry in entries {
        match &entry.kind {
            EntryKind::Pair { key, .. } => insert(&mut map, key.text, of_value(entry, flow)),
            EntryKind::Line { text, children } => {
                insert(&mut map, &text.value(), of_entries(children, flow));
            }
            EntryKind::Item { entries } => insert(&mut map, "item", of_entries(entries, flow)),
        }
    }
    Value::Object(map)
}

/// Inserts a value; a duplicate key gets a suffix, so that both are preserved.
pub fn insert(map: &mut Map<String, Value>, key: &str, value: Value) {
    let free = agentir_ir::free_key(key, |taken| map.contains_key(taken));
    map.insert(free, value);
}

/// Infers the type of a scalar: number, boolean, list, map or string.
#[must_use]
pub fn of_scalar(scalar: &Scalar<'_>, flow: FlowReader) -> Data {
    if scalar.style != Style::Bare || scalar.decoded.is_some() {
        return Value::String(scalar.value().into_owned());
    }
    of_bare(scalar.raw, flow)
}

/// Infers the type of a text without quotes.
#[must_use]
pub fn of_bare(raw: &str, flow: FlowReader) -> Data {
    if raw.starts_with(['[', '{'])
        && !raw.starts_with("{{")
        && raw.ends_with([']', '}'])
        && let Some(collection) = flow(raw)
    {
        return collection;
    }
    match raw {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" | "~" => Value::Null,
        _ => number(raw).unwrap_or_else(|| Value::String(raw.to_owned())),
    }
}

/// A number in JSON notation; anything else that resembles one (`007`, `1_000`) stays a string.
fn number(raw: &str) -> Option<Value> {
    if !raw.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return None;
    }
    serde_json::from_str::<serde_json::Number>(raw).ok().map(Value::Number)
}
