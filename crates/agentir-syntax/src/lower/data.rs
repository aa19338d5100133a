//! Converts outline entries to free-form data.

use agentir_diagnostics::FileId;
use agentir_ir::Data;
use agentir_syntax::abl::inline::{Flow, FlowKind, flow_collection};
use agentir_syntax::inline::InlineText;
use agentir_syntax::outline::{Entry, EntryKind, Scalar, Style};
use serde_json::{Map, Value};

/// The value of a key: what is written after it and nested in it.
pub(crate) fn of_value(entry: &Entry<'_>) -> Data {
    match &entry.kind {
        EntryKind::Pair { value, children, .. } => match (value, children.as_slice()) {
            (None, children) => of_entries(children),
            (Some(value), []) => of_scalar(value),
            (Some(value), children) => {
                let mut map = Map::new();
                map.insert("value".to_owned(), of_scalar(value));
                map.insert("below".to_owned(), of_entries(children));
                Value::Object(map)
            }
        },
        _ => of_entry(entry),
    }
}

/// An entry with its key.
pub(crate) fn of_entry(entry: &Entry<'_>) -> Data {
    of_entries(std::slice::from_ref(entry))
}

/// The entries of one block: a list of items, a map of pairs, or a single text.
pub(crate) fn of_entries(entries: &[Entry<'_>]) -> Data {
    if entries.is_empty() {
        return Value::Null;
    }
    if entries.iter().all(|e| matches!(e.kind, EntryKind::Item { .. })) {
        return Value::Array(entries.iter().map(|e| of_entries(e.children())).collect());
    }
    if let [Entry { kind: EntryKind::Line { text, children }, .. }] = entries {
        return match of_entries(children) {
            Value::Null => of_scalar(text),
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
        return Value::Array(entries.iter().map(of_entry).collect());
    }
    let mut map = Map::new();
    for entry in entries {
        match &entry.kind {
            EntryKind::Pair { key, .. } => insert(&mut map, key.text, of_value(entry)),
            EntryKind::Line { text, children } => {
                insert(&mut map, &text.value(), of_entries(children));
            }
            EntryKind::Item { entries } => insert(&mut map, "item", of_entries(entries)),
        }
    }
    Value::Object(map)
}

/// Inserts a value; a duplicate key gets a suffix, so that both are preserved.
fn insert(map: &mut Map<String, Value>, key: &str, value: Value) {
    let free = agentir_ir::free_key(key, |taken| map.contains_key(taken));
    map.insert(free, value);
}

/// Infers the type of a scalar: number, boolean, list, map or string.
pub(crate) fn of_scalar(scalar: &Scalar<'_>) -> Data {
    if scalar.style != Style::Bare || scalar.decoded.is_some() {
        return Value::String(scalar.value().into_owned());
    }
    of_bare(scalar.raw)
}

fn of_bare(raw: &str) -> Data {
    if raw.starts_with(['[', '{']) && !raw.starts_with("{{") && raw.ends_with([']', '}']) {
        let mut problems = Vec::new();
        let flow = flow_collection(InlineText::verbatim(raw, FileId(0), 0), &mut problems);
        // `{a} to {b}` is a string with two placeholders, not a map.
        if problems.is_empty() {
            return of_flow(&flow);
        }
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

fn of_flow(flow: &Flow<'_>) -> Data {
    match &flow.kind {
        FlowKind::Scalar(raw) => match raw.as_bytes() {
            [b'"', .., b'"'] | [b'\'', .., b'\''] => {
                let style = if raw.starts_with('"') { Style::Double } else { Style::Single };
                let scalar = Scalar { raw, span: flow.span, style, decoded: None };
                Value::String(scalar.value().into_owned())
            }
            _ => of_bare(raw),
        },
        FlowKind::List(items) => Value::Array(items.iter().map(of_flow).collect()),
        FlowKind::Map(entries) => {
            let mut map = Map::new();
            for entry in entries {
                let value = entry.value.as_ref().map_or(Value::Null, of_flow);
                insert(&mut map, entry.key.value, value);
            }
            Value::Object(map)
        }
    }
}
