//! Conversion between expression values and JSON, for tools, models and stored sessions.

use agentir_eval::{Date, EvalError, Value};
use agentir_expr::Name;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The key that marks a date in stored sessions, as JSON has no date type. Tools receive dates as
/// strings.
const DATE: &str = "$date";

/// Converts a value for tools and models: undefined becomes null, a date becomes a string.
#[must_use]
pub fn to_json(value: &Value) -> Json {
    value.to_json()
}

/// Converts a value received from outside.
///
/// # Errors
/// Returns [`EvalError::TooDeep`] or [`EvalError::TooLarge`] if the value exceeds the limits of the
/// evaluator.
pub fn from_json(json: &Json) -> Result<Value, EvalError> {
    value(json, 0)
}

/// Like [`to_json`], but dates are marked so that they can be read back as dates.
pub(crate) fn to_stored_json(value: &Value) -> Json {
    let marked = |date: &Date| Map::from_iter([(DATE.to_owned(), date.to_string().into())]);
    value.to_json_with(&|date| Json::Object(marked(date)))
}

/// Recursive; values nested deeper than [`agentir_eval::MAX_VALUE_DEPTH`] are rejected.
fn value(json: &Json, depth: u16) -> Result<Value, EvalError> {
    if depth > agentir_eval::MAX_VALUE_DEPTH {
        return Err(EvalError::TooDeep);
    }
    match json {
        Json::Null => Ok(Value::Null),
        Json::Bool(b) => Ok(Value::Bool(*b)),
        Json::Number(n) => Value::number(n.as_f64().ok_or(EvalError::Overflow)?),
        Json::String(text) => Ok(Value::text(text.as_str())),
        Json::Array(items) => {
            Value::list(items.iter().map(|i| value(i, depth + 1)).collect::<Result<_, _>>()?)
        }
        Json::Object(fields) => {
            if let (1, Some(Json::String(text))) = (fields.len(), fields.get(DATE)) {
                return Ok(Date::parse(text).map_or(Value::text(text.as_str()), Value::Date));
            }
            let fields = fields
                .iter()
                .map(|(name, json)| Ok((Name::new(name), value(json, depth + 1)?)))
                .collect::<Result<BTreeMap<_, _>, EvalError>>()?;
            Value::object(fields)
        }
    }
}

/// Serialisation of [`agentir_eval::State`] in stored sessions.
pub(crate) mod state {
    use super::{from_json, to_stored_json};
    use agentir_eval::{State, Value};
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value as Json};

    pub(crate) fn serialize<S: Serializer>(
        state: &State,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let set = state.variables().filter(|(_, value)| **value != Value::Undefined);
        serializer.collect_map(set.map(|(name, value)| (name, to_stored_json(value))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<State, D::Error> {
        let mut state = State::new();
        for (name, json) in Map::<String, Json>::deserialize(from)? {
            state.set(name, from_json(&json).map_err(|e| D::Error::custom(e.to_string()))?);
        }
        Ok(state)
    }
}
