//! Emits Agent Script's own data from extensions, by the front end's tables.

use super::expr;
use super::layout::{Writer, name, quoted};
use crate::dialect::AGENT_SCRIPT;
use crate::schema::{FieldDef, FieldType, RecordType};
use agentir_ir::{Data, Extensions};
use serde_json::Map;

/// The Agent Script extensions of an element, by key.
pub(super) fn own_fields(extensions: &Extensions) -> Map<String, Data> {
    let own = extensions.0.get(AGENT_SCRIPT.id());
    own.into_iter()
        .flatten()
        .map(|(key, extension)| (key.clone(), extension.value.clone()))
        .collect()
}

/// The original key: a duplicate key is stored as `key#2`.
fn original_key(key: &str) -> &str {
    key.split_once('#').map_or(key, |(key, _)| key)
}

/// All fields of a record, first those of its table, in its order.
pub(super) fn record(w: &mut Writer, record_type: &'static RecordType, fields: &Map<String, Data>) {
    for def in record_type.fields() {
        for (key, value) in fields.iter().filter(|(key, _)| def.matches(original_key(key))) {
            field(w, def, original_key(key), value);
        }
    }
    unknown_entries(w, record_type, fields);
}

/// Takes the fields with these names.
pub(super) fn take(
    w: &mut Writer,
    record_type: &'static RecordType,
    fields: &mut Map<String, Data>,
    names: &[&str],
) {
    for def in names.iter().filter_map(|name| record_type.field(name)) {
        let keys: Vec<String> =
            fields.keys().filter(|key| def.matches(original_key(key))).cloned().collect();
        for key in keys {
            if let Some(value) = fields.shift_remove(&key) {
                field(w, def, original_key(&key), &value);
            }
        }
    }
}

/// Entries without a row in the table are source text from their key on; anything else is a field of
/// another dialect.
fn unknown_entries(w: &mut Writer, record_type: &'static RecordType, fields: &Map<String, Data>) {
    for (key, value) in
        fields.iter().filter(|(key, _)| record_type.field(original_key(key)).is_none())
    {
        match value {
            Data::String(text) if is_source(original_key(key), text) => w.raw(text),
            value if record_type.open => open(w, original_key(key), value),
            Data::String(text)
                if text.starts_with(original_key(key)) || original_key(key) == "text" =>
            {
                w.raw(text);
            }
            _ => {}
        }
    }
}

/// Whether a text is the source of an entry, from its key on.
fn is_source(key: &str, text: &str) -> bool {
    let rest = text.strip_prefix(key).or_else(|| text.strip_prefix(name(key).as_str()));
    rest.is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(':'))
}

fn field(w: &mut Writer, def: &FieldDef, key: &str, value: &Data) {
    match (def.field_type, value) {
        (FieldType::Block(record_type), Data::Object(fields)) => {
            w.block_if_any(format!("{key}:"), |w| record(w, record_type, fields));
        }
        (FieldType::Named(record_type), Data::Object(fields)) => named(w, record_type, key, fields),
        (FieldType::Named(_), Data::String(record_type)) => {
            w.line(format!("{key} {}:", name(record_type)))
        }
        (FieldType::Collection(record_type), Data::Object(all)) => {
            w.block(format!("{key}:"), |w| {
                for (own, fields) in all {
                    if let Data::Object(fields) = fields {
                        w.block(format!("{}:", name(own)), |w| {
                            record(w, record_type, &without_field(fields, own))
                        });
                    } else {
                        w.line(format!("{}:", name(own)));
                    }
                }
            })
        }
        (FieldType::Values, Data::Array(items)) => w.block(format!("{key}:"), |w| {
            for item in items {
                w.line(format!("- {}", scalar(item)));
            }
        }),
        (FieldType::Quoted | FieldType::QuotedOrNone, Data::String(text)) => {
            w.line(format!("{key}: {}", quoted(text)));
        }
        (FieldType::Text, Data::String(text)) => w.text(key, text),
        // Free-form entries are kept as they are written.
        (FieldType::Open, Data::String(text)) if is_source(key, text) => w.raw(text),
        (FieldType::Reference(_), Data::String(text)) => w.line(format!("{key}: {text}")),
        (
            FieldType::Procedure(_)
            | FieldType::Declarations(_)
            | FieldType::Bindings(_)
            | FieldType::Type(_)
            | FieldType::Items(_),
            Data::String(text),
        ) => w.raw(text),
        (_, value) => open(w, key, value),
    }
}

fn named(w: &mut Writer, record_type: &'static RecordType, key: &str, fields: &Map<String, Data>) {
    // Several are records by name; a single one is the record itself.
    if fields.values().all(|f| f.get("name").is_some()) && !fields.contains_key("name") {
        for fields in fields.values().filter_map(Data::as_object) {
            named(w, record_type, key, fields);
        }
        return;
    }
    let own = fields.get("name").and_then(Data::as_str).unwrap_or_default();
    w.gap();
    w.block(format!("{key} {}:", name(own)), |w| {
        record(w, record_type, &without_field(fields, own))
    });
}

fn without_field(fields: &Map<String, Data>, own: &str) -> Map<String, Data> {
    let mut fields = fields.clone();
    if fields.get("name").and_then(Data::as_str) == Some(own) {
        fields.shift_remove("name");
    }
    fields
}

fn open(w: &mut Writer, key: &str, value: &Data) {
    let key = name(key);
    match value {
        Data::Object(fields) if fields.is_empty() => w.line(format!("{key}:")),
        Data::Object(fields) => w.block(format!("{key}:"), |w| {
            for (key, value) in fields {
                open(w, original_key(key), value);
            }
        }),
        Data::Array(items) if items.iter().any(|i| i.is_object() || i.is_array()) => {
            w.line(format!("{key}: {}", expr::data(value)));
        }
        Data::Array(items) => w.block(format!("{key}:"), |w| {
            for item in items {
                w.line(format!("- {}", scalar(item)));
            }
        }),
        Data::String(text) if text.contains('\n') => w.text(&key, text),
        value => w.line(format!("{key}: {}", scalar(value))),
    }
}

/// A reference is stored as its text.
fn scalar(value: &Data) -> String {
    match value {
        Data::String(text) if text.starts_with('@') => text.clone(),
        Data::String(text) => quoted(text),
        value => expr::data(value),
    }
}
