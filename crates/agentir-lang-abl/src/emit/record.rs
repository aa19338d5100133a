//! Maps parts of the IR to records by the schema tables: which IR field is which ABL field, and how
//! values of each kind are written.

use super::tree::{Entry, Key, Scalar, data, names};
use crate::dialect::ABL;
use crate::inline;
use crate::schema::{FieldDef, FieldType, Naming, RecordType};
use agentir_diagnostics::FileId;
use agentir_expr::ConditionKind;
use agentir_ir_json::{Json, Mode, to_value};
use agentir_syntax::emit::readable_words;
use agentir_syntax::inline::InlineText;
use serde_json::{Map, Value};

/// IR fields with another name in ABL.
const RENAMED: &[(&str, &str)] = &[
    ("voice_config", "voice"),
    ("voice_instructions", "voice instructions"),
    ("llmCheck", "llm_check"),
    ("severityActions", "severity_actions"),
    ("streamingInterval", "streaming_interval"),
    ("experienceMode", "experience_mode"),
    ("retry_delay_ms", "retry_delay"),
    ("retry_max_delay_ms", "retry_max_delay"),
    ("max_file_size_bytes", "max_file_size"),
    ("on_failure", "on_fail"),
    ("auth_profile_ref", "auth_profile"),
    ("connection_mode", "connection"),
    ("consent_mode", "consent"),
    ("jit_auth", "auth_jit"),
    ("tool_type", "type"),
    ("validation", "validate"),
    ("response_rules", "response"),
    ("conversation_behavior", "conversation"),
    ("condition", "if"),
    ("value_expr", "value"),
];

/// Descriptive records, whose keys are lower case in `.abl`. Keys of behaviour are upper case.
const LOWER: &[&str] = &[
    "execution",
    "models",
    "model",
    "timeouts",
    "tools",
    "tool",
    "tool library",
    "parameters",
    "parameter",
    "return type",
    "hints",
    "confirmation",
    "result handling",
    "context access",
    "gather",
    "gather field",
    "validation",
    "activation",
    "mask configuration",
    "semantics",
    "memory",
    "persistent memory",
    "store",
    "lookup table",
    "guardrail",
    "guardrail action",
    "escalate",
    "flow",
    "hooks",
    "multi-intent handling",
    "nlu",
    "intents",
    "intent",
    "attachment",
    "destination",
    "state variable",
    "policy rules",
    "policy rule",
    "communication",
    "gather overrides",
    "flow modifications",
    "routing constraints",
    "remote agent",
];

/// Whether `.abl` writes the keys of a record type in upper case.
pub(super) fn is_upper(ty: &RecordType) -> bool {
    !LOWER.contains(&ty.name)
}

/// The record type of a field or of its items.
pub(super) fn inner(ty: &'static RecordType, field: &str) -> Option<&'static RecordType> {
    record_of(ty.field(field)?.field_type)
}

fn record_of(field_type: FieldType) -> Option<&'static RecordType> {
    match field_type {
        FieldType::Record(ty) => Some(ty),
        FieldType::OneOf(all) => all.iter().find_map(|s| record_of(*s)),
        _ => None,
    }
}

/// The fields of a part of the IR that `ty` has rows for, in table order, then the part's extensions.
pub(super) fn record(ty: &'static RecordType, json: &Map<String, Value>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for def in ty.fields {
        let value = json.iter().find(|(key, _)| {
            let renamed = RENAMED.iter().find(|(ir, _)| ir == key).map(|(_, abl)| *abl);
            let own = def.matches(key);
            own || renamed.is_some_and(|name| def.name == name && ty.field(key).is_none())
        });
        if let Some((_, value)) = value {
            entries.extend(field(ty, def, value));
        }
    }
    entries.extend(extensions(ty, json.get("extensions")));
    entries
}

/// Like [`record`], for any part of the IR.
pub(super) fn record_of_ir(ty: &'static RecordType, part: &impl Json) -> Vec<Entry> {
    match to_value(part, Mode::Plain) {
        Value::Object(json) => record(ty, &json),
        _ => Vec::new(),
    }
}

/// The extensions, as they were written.
pub(super) fn extensions(ty: &'static RecordType, extensions: Option<&Value>) -> Vec<Entry> {
    let Some(Value::Object(extensions)) = extensions.and_then(|k| k.get(ABL.id())) else {
        return Vec::new();
    };
    extensions.iter().map(|(key, value)| extension(ty, key, value)).collect()
}

/// One value of the extensions.
pub(super) fn extension(ty: &'static RecordType, key: &str, value: &Value) -> Entry {
    let name = match ty.field(key) {
        Some(def) => Key { text: def.name.to_owned(), upper: is_upper(ty) },
        None => Key::own(key),
    };
    let inside = value.as_object().filter(|o| o.len() == 1).and_then(|o| o.get(ABL.id()));
    match inside.and_then(Value::as_object) {
        // The rest of a record whose other fields are in the IR.
        Some(inside) => {
            let children: Vec<Entry> = inside.iter().map(|(k, v)| data(Key::own(k), v)).collect();
            if key == "item" || key.starts_with("item#") {
                Entry::Item(children)
            } else {
                Entry::Field { key: name, value: None, children }
            }
        }
        None => data(name, value),
    }
}

/// A field, unless its value is empty.
pub(super) fn field(ty: &'static RecordType, def: &FieldDef, value: &Value) -> Option<Entry> {
    let key = Key { text: def.name.to_owned(), upper: is_upper(ty) };
    written(key, def.field_type, value)
}

fn scalar(key: Key, value: Scalar) -> Option<Entry> {
    Some(Entry::Field { key, value: Some(value), children: Vec::new() })
}

/// A value in the form of its field.
pub(super) fn written(key: Key, field_type: FieldType, value: &Value) -> Option<Entry> {
    match (field_type, value) {
        // The author wrote null: a variable initialised with it has a value.
        (FieldType::Data, Value::Null) => return scalar(key, Scalar::Word("null".to_owned())),
        (_, Value::Null) => return None,
        _ => {}
    }
    if let FieldType::OneOf(all) = field_type {
        let fits = |field_type: &&FieldType| match (value, field_type) {
            (Value::Object(_), FieldType::Record(_) | FieldType::Condition | FieldType::Rule)
            | (Value::Object(_), FieldType::Store | FieldType::Bindings | FieldType::Arguments)
            | (
                Value::Array(_),
                FieldType::Templates | FieldType::Names | FieldType::Chain | FieldType::Assignments,
            )
            | (Value::Bool(_), FieldType::Bool)
            | (Value::Number(_), FieldType::Number)
            | (_, FieldType::Data) => true,
            (Value::Array(_), FieldType::Record(ty)) => ty.items.is_some(),
            (Value::String(text), FieldType::Enum(words)) => {
                words.iter().any(|w| w.eq_ignore_ascii_case(text))
            }
            (Value::String(text), FieldType::Number) => text.parse::<f64>().is_ok(),
            (Value::String(_), FieldType::Record(_) | FieldType::Bool) => false,
            (Value::String(_), _) => true,
            _ => false,
        };
        let field_type = all.iter().find(fits).copied()?;
        return written(key, field_type, value);
    }
    match (field_type, value) {
        (FieldType::Data, value) => Some(data(key, value)),
        (FieldType::Record(ty), Value::Object(json)) => {
            let children = record(ty, json);
            (!children.is_empty()).then_some(Entry::Field { key, value: None, children })
        }
        (FieldType::Record(ty), Value::Array(all)) => {
            let children = items(ty.items?, all);
            (!children.is_empty()).then_some(Entry::Field { key, value: None, children })
        }
        (FieldType::Assignments, Value::Array(all)) => {
            let pairs: Vec<_> = all
                .iter()
                .filter_map(|set| Some((text(set, "variable")?, text(set, "expression")?)))
                .collect();
            if pairs.is_empty() {
                return None;
            }
            Some(Entry::Field {
                key,
                value: None,
                children: vec![Entry::Pairs { assign: true, pairs }],
            })
        }
        (FieldType::Bindings | FieldType::Arguments, Value::Object(map)) if !map.is_empty() => {
            let pairs = map
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect();
            let children = vec![Entry::Pairs { assign: false, pairs }];
            Some(Entry::Field { key, value: None, children })
        }
        (FieldType::Store, Value::Object(_)) => {
            let from = text(value, "value")?;
            let stored = match text(value, "target") {
                Some(target) => format!("{from} -> {target}"),
                None => from,
            };
            scalar(key, Scalar::Code(stored))
        }
        (FieldType::Templates, Value::Array(all)) if !all.is_empty() => {
            let item = |v: &Value| Some(Entry::Item(vec![Entry::line(Scalar::Text(string(v)?))]));
            Some(Entry::Field { key, value: None, children: all.iter().filter_map(item).collect() })
        }
        (FieldType::Names | FieldType::Choices(_) | FieldType::Chain, Value::Array(all))
            if !all.is_empty() =>
        {
            let all: Vec<String> =
                all.iter().filter_map(|v| text(v, "name").or_else(|| string(v))).collect();
            scalar(key, names(all.iter().map(String::as_str)))
        }
        (FieldType::Condition | FieldType::Rule, Value::Object(_)) => {
            scalar(key, Scalar::Text(words(&text(value, "natural")?)))
        }
        (_, Value::Array(_) | Value::Object(_)) => None,
        (_, Value::Bool(_) | Value::Number(_)) => scalar(key, Scalar::Word(value.to_string())),
        (field_type, Value::String(text)) => scalar(key, of_text(field_type, text)),
        (_, Value::Null) => None,
    }
}

fn of_text(field_type: FieldType, text: &str) -> Scalar {
    match field_type {
        FieldType::Text if is_name(text) => Scalar::Code(text.to_owned()),
        FieldType::Text | FieldType::Template | FieldType::Templates => {
            Scalar::Text(text.to_owned())
        }
        FieldType::Condition | FieldType::Rule => condition(text),
        FieldType::Number | FieldType::Bool if text.contains("{{") => Scalar::Text(text.to_owned()),
        FieldType::Enum(words) => {
            let word = words.iter().find(|w| w.eq_ignore_ascii_case(text));
            Scalar::Code(word.map_or_else(|| text.to_owned(), |w| (*w).to_owned()))
        }
        FieldType::Names => names([text]),
        FieldType::Action => match text.split_once(" with REASON: ") {
            Some((target, reason)) => Scalar::Jump {
                target: target.to_owned(),
                reason: serde_json::from_str(reason).ok(),
            },
            None => Scalar::Jump { target: text.to_owned(), reason: None },
        },
        _ => Scalar::Code(text.to_owned()),
    }
}

/// Whether a text is read as words without quotes around it.
pub(super) fn is_words(text: &str) -> bool {
    let input = InlineText::verbatim(text, FileId(0), 0);
    let read = inline::condition(input, false, &mut Vec::new());
    matches!(read.kind, ConditionKind::Natural)
}

/// Words for the model, so that they are read as such: whatever could be an expression is one.
pub(super) fn words(text: &str) -> String {
    let is_read = |text: &str| {
        let read =
            inline::condition(InlineText::verbatim(text, FileId(0), 0), true, &mut Vec::new());
        matches!(read.kind, ConditionKind::Natural)
    };
    readable_words(text, is_read)
}

/// A condition; natural language is quoted so that it is read as such.
fn condition(text: &str) -> Scalar {
    match agentir_ir_json::is_expression(text) {
        true => Scalar::Code(text.to_owned()),
        // Words that ABL would read as an expression, too.
        false => Scalar::Text(words(text)),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic())
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':'))
        && !text.ends_with(':')
        && !matches!(text, "true" | "false" | "null")
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn text(value: &Value, key: &str) -> Option<String> {
    string(value.get(key)?)
}

/// The items of a record, as a list or by name.
pub(super) fn items(ty: &'static RecordType, all: &[Value]) -> Vec<Entry> {
    all.iter().filter_map(|item| self::item(ty, item)).collect()
}

/// One item.
pub(super) fn item(ty: &'static RecordType, item: &Value) -> Option<Entry> {
    let json = item.as_object()?;
    let entries = record(ty, json);
    if ty.naming == Naming::Keyed && ty.name_field == Some("name") {
        return Some(Entry::named(&text(item, "name")?, entries));
    }
    Some(Entry::Item(entries))
}
