//! Values as JSON.

use crate::date::Date;
use crate::value::Value;
use serde_json::{Number, Value as Json};

impl Value {
    /// The value as JSON: undefined is null, a date is its text.
    #[must_use]
    pub fn to_json(&self) -> Json {
        self.to_json_with(&|date| Json::String(date.to_string()))
    }

    /// The value as JSON, in which `date` writes dates. Undefined is null.
    ///
    /// Recursive; values are at most [`MAX_VALUE_DEPTH`](crate::MAX_VALUE_DEPTH) deep.
    #[must_use]
    pub fn to_json_with(&self, date: &dyn Fn(&Date) -> Json) -> Json {
        match self {
            Self::Undefined | Self::Null => Json::Null,
            Self::Bool(b) => Json::Bool(*b),
            Self::Number(n) => number(*n),
            Self::Text(text) => Json::String(text.to_string()),
            Self::Date(at) => date(at),
            Self::List(list) => list.items().iter().map(|item| item.to_json_with(date)).collect(),
            Self::Object(object) => object
                .fields()
                .iter()
                .filter(|(_, value)| **value != Self::Undefined)
                .map(|(name, value)| (name.to_string(), value.to_json_with(date)))
                .collect(),
        }
    }
}

/// Whole numbers stay whole.
fn number(n: f64) -> Json {
    // Exact up to 2^53, as in the languages themselves.
    if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 {
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
        return Json::Number((n as i64).into());
    }
    Number::from_f64(n).map_or(Json::Null, Json::Number)
}
