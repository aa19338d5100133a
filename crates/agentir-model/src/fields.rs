//! Validation and JSON Schemas of field values.

use agentir_runtime::{FieldSpec, FieldType, is_email};
use serde_json::{Map, Value as Json, json};

/// Checks that a value has the type of a field and is one of its allowed values. The pattern is not
/// checked: it locates the value within a text.
///
/// # Errors
/// If it has not.
pub fn fits(field: &FieldSpec, value: &Json) -> Result<(), FieldError> {
    if !field.values.is_empty() {
        let known = |value: &Json| value.as_str().is_some_and(|v| field.values.contains_key(v));
        let all = match value {
            Json::Array(items) if field.ty == FieldType::List => items.iter().all(known),
            // Allowed values may also be numbers and booleans.
            Json::Number(_) | Json::Bool(_) => field.values.contains_key(&value.to_string()),
            value => known(value),
        };
        if !all {
            let listed: Vec<&str> = field.values.keys().map(String::as_str).collect();
            let (field, values) = (field.name.clone(), listed.join(", "));
            return Err(FieldError::NotListed { field, values });
        }
        return Ok(());
    }
    let (good, expected) = match field.ty {
        FieldType::Text => (value.is_string(), "a string"),
        FieldType::Number => (value.is_number(), "a number"),
        FieldType::Currency => (value.is_number(), "an amount, as a number"),
        FieldType::Boolean => (value.is_boolean(), "true or false"),
        FieldType::Date => (
            text(value, |t| t.parse::<jiff::civil::Date>().is_ok() && t.len() == 10),
            "a date such as `2026-03-15`",
        ),
        FieldType::Time => (
            text(value, |t| t.len() == 5 && t.parse::<jiff::civil::Time>().is_ok()),
            "a time of day such as `14:30`",
        ),
        FieldType::DateTime => (
            text(value, |t| t.parse::<jiff::Timestamp>().is_ok()),
            "a date and time such as `2026-03-15T14:30:00Z`",
        ),
        FieldType::Email => (text(value, is_email), "an e-mail address"),
        FieldType::Phone => (text(value, is_e164), "a telephone number such as `+14155550123`"),
        FieldType::List => (value.is_array(), "a list"),
        FieldType::Object => (value.is_object(), "an object"),
    };
    if good { Ok(()) } else { Err(FieldError::Type { field: field.name.clone(), expected }) }
}

/// Why a value is not one of a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// It is not one of the allowed values.
    #[error("`{field}` must be one of {values}")]
    NotListed {
        /// The field's name.
        field: String,
        /// The allowed values.
        values: String,
    },
    /// It has another type.
    #[error("`{field}` is not {expected}")]
    Type {
        /// The field's name.
        field: String,
        /// What it has to be, with an article.
        expected: &'static str,
    },
}

fn text(value: &Json, test: impl Fn(&str) -> bool) -> bool {
    value.as_str().is_some_and(test)
}

/// A plus sign and at most 15 digits (ITU-T E.164).
fn is_e164(text: &str) -> bool {
    text.strip_prefix('+').is_some_and(|digits| {
        (4..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

/// The JSON Schema of a field; its description includes everything a model has to know.
#[must_use]
pub fn schema_of(field: &FieldSpec) -> Map<String, Json> {
    let form = match field.ty {
        FieldType::Text => json!({"type": "string"}),
        FieldType::Number | FieldType::Currency => json!({"type": "number"}),
        FieldType::Boolean => json!({"type": "boolean"}),
        FieldType::Date
        | FieldType::Time
        | FieldType::DateTime
        | FieldType::Email
        | FieldType::Phone => {
            json!({"type": "string"})
        }
        FieldType::List => {
            json!({"type": "array", "items": {"type": ["string", "number", "boolean"]}})
        }
        FieldType::Object => json!({"type": "object"}),
    };
    let mut schema = if let Json::Object(form) = form { form } else { Map::new() };
    if !field.values.is_empty() {
        let listed: Json = field.values.keys().map(|v| Json::String(v.clone())).collect();
        if field.ty == FieldType::List {
            schema.insert("items".into(), json!({"type": "string", "enum": listed}));
        } else {
            schema.insert("type".into(), "string".into());
            schema.insert("enum".into(), listed);
        }
    }
    let mut words: Vec<String> = Vec::new();
    if !field.description.is_empty() {
        words.push(field.description.clone());
    }
    if let Some(prompt) = field.prompt.as_ref().filter(|prompt| !prompt.trim().is_empty()) {
        words.push(format!("the answer to \u{201c}{}\u{201d}", prompt.trim()));
    }
    let written = match field.ty {
        FieldType::Date => "written as 2026-03-15",
        FieldType::Time => "written as 14:30",
        FieldType::DateTime => "written as 2026-03-15T14:30:00Z",
        FieldType::Phone => "written as +14155550123",
        FieldType::Currency => "the amount alone",
        _ => "",
    };
    if !written.is_empty() {
        words.push(written.to_owned());
    }
    for (value, others) in field.values.iter().filter(|(_, others)| !others.is_empty()) {
        words.push(format!("{value} is also called {}", others.join(", ")));
    }
    if let Some((pattern, _)) = &field.pattern {
        words.push(format!("it matches {pattern}"));
    }
    words.extend(field.format.as_ref().map(|format| format!("it has to match {format}")));
    words.extend(field.rule.clone());
    words.extend(field.hints.iter().cloned());
    if !words.is_empty() {
        schema.insert("description".into(), words.join("; ").into());
    }
    schema
}
