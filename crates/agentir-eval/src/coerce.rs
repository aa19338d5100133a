//! What a value is where a truth value, a number or a text is asked for.

use crate::error::EvalError;
use crate::value::Value;
use agentir_expr::dialect::{Semantics, Unset};
use smol_str::{SmolStr, ToSmolStr};

/// Whether a value counts as true.
#[must_use]
pub fn truthy(value: &Value, semantics: &Semantics) -> bool {
    match value {
        Value::Undefined | Value::Null => false,
        Value::Bool(b) => *b,
        Value::Number(n) => *n != 0.0,
        Value::Text(text) => {
            let falsy = semantics.false_text_is_falsy && text == "false";
            !text.is_empty() && !falsy
        }
        Value::Date(_) => true,
        Value::List(list) => !list.items().is_empty(),
        Value::Object(object) => !object.fields().is_empty(),
    }
}

/// The number that a text says: decimal, with an exponent perhaps, white space around it ignored.
/// Blank texts, `Infinity` and hexadecimal numbers are none.
#[must_use]
pub fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return None;
    }
    let written = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    // Adding zero turns negative zero into zero.
    text.parse().ok().filter(|n: &f64| written && n.is_finite()).map(|n| n + 0.0)
}

/// The number a value is taken for in arithmetic, in functions of numbers and, in ABL, in `<`; none
/// if it is taken for none.
///
/// # Errors
/// [`EvalError::NotANumber`] for what is unset, where the dialect says that it is an error.
pub fn number(value: &Value, semantics: &Semantics) -> Result<Option<f64>, EvalError> {
    Ok(match value {
        Value::Undefined | Value::Null => match semantics.unset_number {
            Unset::Nothing => Some(0.0),
            Unset::Error => return Err(EvalError::NotANumber(value.kind())),
        },
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::Number(n) => Some(*n),
        Value::Text(text) => parse_number(text),
        Value::List(list) => Some(list.items().len() as f64),
        Value::Date(_) | Value::Object(_) => None,
    })
}

/// What stands in a text for a value.
#[must_use]
pub fn text(value: &Value, semantics: &Semantics) -> SmolStr {
    match value {
        Value::Undefined | Value::Null => SmolStr::new_static(semantics.unset_text),
        Value::Bool(b) => {
            SmolStr::new_static(if *b { semantics.true_text } else { semantics.false_text })
        }
        Value::Text(text) => text.clone(),
        value => value.to_smolstr(),
    }
}
