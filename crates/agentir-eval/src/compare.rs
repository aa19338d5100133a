//! Comparisons and tests of two values.

use crate::coerce::{number, parse_number, text};
use crate::date::Date;
use crate::error::EvalError;
use crate::value::Value;
use agentir_expr::dialect::{Equality, Ordering, Semantics};
use std::cmp;

/// `==` of ABL and ADL: null is undefined, a number equals the text that says it, everything else
/// is equal to its own kind only.
#[must_use]
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (a, b) if a.is_unset() || b.is_unset() => a.is_unset() && b.is_unset(),
        (Value::Number(n), Value::Text(t)) | (Value::Text(t), Value::Number(n)) => {
            parse_number(t) == Some(*n)
        }
        (Value::List(a), Value::List(b)) => {
            a.items().len() == b.items().len()
                && a.items().iter().zip(b.items()).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.fields().len() == b.fields().len()
                && a.fields().iter().zip(b.fields()).all(|((m, a), (n, b))| m == n && equal(a, b))
        }
        (a, b) => a == b,
    }
}

/// `==` of Agent Script, which is Python's: no conversions, but truth values are the numbers 0 and 1.
#[must_use]
pub fn strictly_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (a, b) if a.is_unset() || b.is_unset() => a.is_unset() && b.is_unset(),
        (Value::Number(n), Value::Bool(t)) | (Value::Bool(t), Value::Number(n)) => {
            *n == f64::from(u8::from(*t))
        }
        (Value::List(a), Value::List(b)) => {
            a.items().len() == b.items().len()
                && a.items().iter().zip(b.items()).all(|(a, b)| strictly_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.fields().len() == b.fields().len()
                && a.fields()
                    .iter()
                    .zip(b.fields())
                    .all(|((m, a), (n, b))| m == n && strictly_equal(a, b))
        }
        (a, b) => a == b,
    }
}

/// `is` of Agent Script: the same kind and the same value, null and undefined being one.
pub(crate) fn is(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(_), Value::Bool(_)) | (Value::Bool(_), Value::Number(_)) => false,
        (a, b) => strictly_equal(a, b),
    }
}

/// The `==` that a dialect's own tests of membership use.
pub(crate) fn same(a: &Value, b: &Value, semantics: &Semantics) -> bool {
    match semantics.equality {
        Equality::Strict => strictly_equal(a, b),
        Equality::Converting => equal(a, b),
    }
}

/// The order of two values; `None` if one of them is unset and no number takes its place, which is not an error.
///
/// # Errors
/// [`EvalError::NoOrder`] if two values that are set have no order. Where the dialect compares as
/// numbers, these are values that are not both numbers, nor both dates; where it compares within a
/// type, values of two types.
pub fn order(
    a: &Value,
    b: &Value,
    semantics: &Semantics,
) -> Result<Option<cmp::Ordering>, EvalError> {
    match semantics.ordering {
        Ordering::AsNumbers => {
            if let Some((a, b)) = number(a, semantics)?.zip(number(b, semantics)?) {
                return Ok(a.partial_cmp(&b));
            }
            if let Some((a, b)) = date(a).zip(date(b)) {
                return Ok(Some(a.cmp(&b)));
            }
            // What is unset comes neither before nor after anything. A text that is no number has no place among
            // numbers; a guard must not take that for "no".
            match a.is_unset() || b.is_unset() {
                true => Ok(None),
                false => Err(EvalError::NoOrder(a.kind(), b.kind())),
            }
        }
        Ordering::ByType => match (a, b) {
            (Value::Text(a), Value::Text(b)) => Ok(Some(a.cmp(b))),
            (Value::Date(a), Value::Date(b)) => Ok(Some(a.cmp(b))),
            (Value::Number(_) | Value::Bool(_), Value::Number(_) | Value::Bool(_)) => {
                let (a, b) = (number(a, semantics)?, number(b, semantics)?);
                Ok(a.zip(b).and_then(|(a, b)| a.partial_cmp(&b)))
            }
            _ => Err(EvalError::NoOrder(a.kind(), b.kind())),
        },
    }
}

/// The date that a value is or says.
fn date(value: &Value) -> Option<Date> {
    match value {
        Value::Date(date) => Some(*date),
        Value::Text(text) => Date::parse(text),
        _ => None,
    }
}

/// `item IN collection`: an item of a list, a part of a text, the name of a field. What is unset or
/// no collection has nothing in it.
#[must_use]
pub fn is_in(item: &Value, collection: &Value, semantics: &Semantics) -> bool {
    match (collection, item) {
        (Value::List(list), _) => list.items().iter().any(|i| same(i, item, semantics)),
        (Value::Text(whole), Value::Text(part)) => whole.contains(part.as_str()),
        (Value::Object(object), Value::Text(name)) => object.fields().contains_key(name),
        _ => false,
    }
}

/// `whole contains part`: a part of a text, an item of a list. Numbers and truth values count as
/// their text; what is unset neither contains nor is contained.
#[must_use]
pub fn contains(whole: &Value, part: &Value, semantics: &Semantics) -> bool {
    match whole {
        Value::List(list) => list.items().iter().any(|item| same(item, part, semantics)),
        _ => scalar_texts(whole, part, semantics).is_some_and(|(w, p)| w.contains(p.as_str())),
    }
}

/// The texts of two scalars, if both are set.
pub(crate) fn scalar_texts(
    a: &Value,
    b: &Value,
    semantics: &Semantics,
) -> Option<(smol_str::SmolStr, smol_str::SmolStr)> {
    Some((scalar_text(a, semantics)?, scalar_text(b, semantics)?))
}

pub(crate) fn scalar_text(value: &Value, semantics: &Semantics) -> Option<smol_str::SmolStr> {
    match value {
        Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::Date(_) => {
            Some(text(value, semantics))
        }
        _ => None,
    }
}
