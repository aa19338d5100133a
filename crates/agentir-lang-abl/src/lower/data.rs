//! Converts outline entries to free-form data.

use crate::inline::{Flow, FlowKind, flow_collection};
use agentir_diagnostics::FileId;
use agentir_ir::Data;
use agentir_syntax::inline::InlineText;
use agentir_syntax::lower::data;
use agentir_syntax::outline::{Entry, Scalar, Style};
use serde_json::{Map, Value};

/// The value of a key: what is written after it and nested in it.
pub(crate) fn of_value(entry: &Entry<'_>) -> Data {
    data::of_value(entry, flow)
}

/// An entry with its key.
pub(crate) fn of_entry(entry: &Entry<'_>) -> Data {
    data::of_entry(entry, flow)
}

/// A collection on one line.
fn flow(raw: &str) -> Option<Data> {
    let mut problems = Vec::new();
    let flow = flow_collection(InlineText::verbatim(raw, FileId(0), 0), &mut problems);
    // `{a} to {b}` is a string with two placeholders, not a map.
    problems.is_empty().then(|| of_flow(&flow))
}

fn of_flow(flow: &Flow<'_>) -> Data {
    match &flow.kind {
        FlowKind::Scalar(raw) => match raw.as_bytes() {
            [b'"', .., b'"'] | [b'\'', .., b'\''] => {
                let style = if raw.starts_with('"') { Style::Double } else { Style::Single };
                let scalar = Scalar { raw, span: flow.span, style, decoded: None };
                Value::String(scalar.value().into_owned())
            }
            _ => data::of_bare(raw, self::flow),
        },
        FlowKind::List(items) => Value::Array(items.iter().map(of_flow).collect()),
        FlowKind::Map(entries) => {
            let mut map = Map::new();
            for entry in entries {
                let value = entry.value.as_ref().map_or(Value::Null, of_flow);
                data::insert(&mut map, entry.key.value, value);
            }
            Value::Object(map)
        }
    }
}
