//! The built-in functions and methods (current specification, section 8). Which there are, and what
//! they take, says the table in `agentir-expr`; here is what they give.

mod format;
mod texts;

use crate::coerce::{number, text, truthy};
use crate::compare::{contains, equal};
use crate::date::Date;
use crate::error::EvalError;
use crate::eval::{Evaluator, length};
use crate::pattern::pattern;
use crate::value::Value;
use agentir_expr::{BinaryOp, Name};
use std::collections::BTreeMap;

type Result<T> = std::result::Result<T, EvalError>;

/// What a function is given.
struct Call<'a, 'b> {
    on: &'a Evaluator<'b>,
    name: &'a Name,
    args: &'a [Value],
}

type Body = fn(&Call<'_, '_>) -> Result<Value>;

/// Functions by their name in the table. The detectors of guardrails (`contains_pii` and its kin)
/// and `MATCH_SCORE` with its kin are the platform's; what they give for a text is not specified,
/// so they have no row here.
#[rustfmt::skip]
static BODIES: &[(&str, Body)] = &[
    ("ADD", |c| Value::number(c.number(0)? + c.number(1)?)),
    ("SUB", |c| Value::number(c.number(0)? - c.number(1)?)),
    ("MUL", |c| Value::number(c.number(0)? * c.number(1)?)),
    ("DIV", |c| match (c.number(0)?, c.number(1)?) {
        (_, 0.0) => Ok(Value::Null),
        (a, b) => Value::number(a / b),
    }),
    ("ROUND", |c| Value::number(round(c.number(0)?, c.optional_number(1)?.unwrap_or(0.0)))),
    ("ABS", |c| Value::number(c.number(0)?.abs())),
    ("MIN", |c| Value::number(c.number(0)?.min(c.number(1)?))),
    ("MAX", |c| Value::number(c.number(0)?.max(c.number(1)?))),
    ("AVG", average),
    ("UPPER", |c| Value::made_text(c.text(0).to_uppercase())),
    ("LOWER", |c| Value::made_text(c.text(0).to_lowercase())),
    ("TRIM", |c| Ok(Value::text(c.text(0).trim()))),
    ("SUBSTRING", |c| texts::substring(&c.text(0), c.number(1)?, c.optional_number(2)?)),
    ("REPLACE", |c| texts::replace(&c.text(0), &c.text(1), &c.text(2))),
    ("SPLIT", |c| texts::split(&c.text(0), &c.text(1))),
    ("JOIN", |c| texts::join(c, 0, &c.text(1))),
    ("PAD_START", |c| texts::pad(c, true)),
    ("PAD_END", |c| texts::pad(c, false)),
    ("REPEAT", |c| texts::repeat(&c.text(0), c.number(1)?)),
    ("MASK", |c| format::mask(c)),
    ("FORMAT_CURRENCY", |c| format::currency(c)),
    ("FORMAT_DATE", |c| format::date(c)),
    ("ORDINAL", |c| format::ordinal(c.number(0)?)),
    ("IS_ARRAY", |c| Ok(Value::Bool(matches!(c.arg(0), Value::List(_))))),
    ("IS_NUMBER", |c| Ok(Value::Bool(matches!(c.arg(0), Value::Number(_))))),
    ("IS_STRING", |c| Ok(Value::Bool(matches!(c.arg(0), Value::Text(_))))),
    ("TO_NUMBER", to_number),
    ("TO_STRING", |c| Value::made_text(c.text(0))),
    ("LENGTH", |c| Value::number(length(c.arg(0)).filter(|_| !matches!(c.arg(0), Value::Object(_))).unwrap_or(0) as f64)),
    ("ARRAY_FIND", |c| Ok(c.find()?.map_or(Value::Null, |(_, item)| item))),
    ("ARRAY_FIND_INDEX", |c| Value::number(c.find()?.map_or(-1.0, |(at, _)| at as f64))),
    ("OBJECT_KEYS", |c| Value::list(c.fields(0).map(|(name, _)| Value::Text(name.clone())).collect())),
    ("OBJECT_VALUES", |c| Value::list(c.fields(0).map(|(_, value)| value.clone()).collect())),
    ("OBJECT_MERGE", |c| Value::object(
        (0..c.args.len()).flat_map(|i| c.fields(i)).map(|(n, v)| (n.clone(), v.clone())).collect::<BTreeMap<_, _>>(),
    )),
    ("COALESCE", |c| Ok(c.args.iter().find(|v| !v.is_unset()).cloned().unwrap_or(Value::Null))),
    ("NOW", |c| Ok(Value::text(Date::from_milliseconds(c.now()?).ok_or(EvalError::Environment)?.in_zone(None).timestamp().to_string()))),
    ("NOW_MS", |c| Value::number(c.now()? as f64)),
    ("UNIQUE_ID", unique_id),
    ("FIRST_NON_EMPTY", |c| Ok(c.args.iter().find(|v| !v.is_unset() && length(v) != Some(0)).cloned().unwrap_or(Value::Null))),
    ("IF", |c| Ok(c.arg(if truthy(c.arg(0), c.on.semantics) { 1 } else { 2 }).clone())),
    ("REGEX_REPLACE", texts::regex_replace),
    ("REGEX_EXTRACT", texts::regex_extract),
    ("len", |c| count(c.arg(0), c.name)),
    ("matches_pattern", |c| Ok(Value::Bool(pattern(&c.text(1))?.is_match(&c.text(0))))),
    ("not_matches_pattern", |c| Ok(Value::Bool(!pattern(&c.text(1))?.is_match(&c.text(0))))),
    ("word_count", |c| Value::number(c.text(0).split_whitespace().count() as f64)),
    ("size", |c| count(c.arg(0), c.name)),
    ("has", |c| Ok(Value::Bool(!c.arg(0).is_unset()))),
    ("int", |c| Value::number(c.number(0)?.trunc())),
    ("double", |c| Value::number(c.number(0)?)),
    ("string", |c| Value::made_text(c.text(0))),
    ("bool", |c| Ok(Value::Bool(truthy(c.arg(0), c.on.semantics)))),
];

/// Methods by their name in the table; the receiver is argument 0.
#[rustfmt::skip]
static METHOD_BODIES: &[(&str, Body)] = &[
    ("contains", |c| Ok(Value::Bool(contains(c.arg(0), c.arg(1), c.on.semantics)))),
    ("includes", |c| Ok(Value::Bool(contains(c.arg(0), c.arg(1), c.on.semantics)))),
    ("startsWith", |c| Ok(Value::Bool(c.on.ends(BinaryOp::StartsWith, c.arg(0), c.arg(1))))),
    ("endsWith", |c| Ok(Value::Bool(c.on.ends(BinaryOp::EndsWith, c.arg(0), c.arg(1))))),
    ("matches", |c| c.on.matches(c.arg(0), c.arg(1)).map(Value::Bool)),
    ("indexOf", texts::index_of),
    ("toLowerCase", |c| Value::made_text(c.text(0).to_lowercase())),
    ("toUpperCase", |c| Value::made_text(c.text(0).to_uppercase())),
    ("lowerAscii", |c| Value::made_text(c.text(0).to_ascii_lowercase())),
    ("upperAscii", |c| Value::made_text(c.text(0).to_ascii_uppercase())),
    ("trim", |c| Ok(Value::text(c.text(0).trim()))),
    ("length", |c| count(c.arg(0), c.name)),
    ("size", |c| count(c.arg(0), c.name)),
    ("replace", |c| texts::replace(&c.text(0), &c.text(1), &c.text(2))),
    ("split", |c| texts::split(&c.text(0), &c.text(1))),
    ("join", |c| texts::join(c, 0, c.optional_text(1).as_deref().unwrap_or(","))),
    ("substring", |c| texts::substring(&c.text(0), c.number(1)?, c.optional_number(2)?)),
    ("slice", texts::slice),
    ("toString", |c| Value::made_text(c.text(0))),
    ("toFixed", |c| format::fixed(c.number(0)?, c.optional_number(1)?.unwrap_or(0.0))),
];

fn body(table: &'static [(&str, Body)], name: &str) -> Option<Body> {
    table.iter().find(|(n, _)| *n == name).map(|(_, body)| *body)
}

/// Whether the value of this function is known for given arguments and the same every time.
#[must_use]
pub fn is_evaluated(function: &str) -> bool {
    agentir_expr::function(function)
        .is_some_and(|f| f.effect == agentir_expr::Effect::Pure && body(BODIES, f.name).is_some())
}

/// Whether the value of this method is known; all known ones are the same every time.
#[must_use]
pub fn is_evaluated_method(method: &str) -> bool {
    body(METHOD_BODIES, method).is_some()
}

pub(crate) fn call(on: &Evaluator<'_>, name: &Name, args: &[Value]) -> Result<Value> {
    let unknown = || EvalError::UnknownFunction(name.clone());
    let function = agentir_expr::function(name).ok_or_else(unknown)?;
    let Some(body) = body(BODIES, function.name) else {
        return on.state.platform(function.name, args).ok_or_else(unknown);
    };
    run(body, function.parameters, &Call { on, name, args }, 0)
}

pub(crate) fn method(
    on: &Evaluator<'_>,
    name: &Name,
    receiver: &Value,
    args: &[Value],
) -> Result<Value> {
    let method = agentir_expr::methods().iter().find(|m| m.name == name.as_str());
    let (Some(method), Some(body)) = (method, body(METHOD_BODIES, name)) else {
        return Err(EvalError::UnknownFunction(name.clone()));
    };
    let mut all = Vec::with_capacity(args.len() + 1);
    all.push(receiver.clone());
    all.extend_from_slice(args);
    run(body, method.parameters, &Call { on, name, args: &all }, 1)
}

/// Runs a body if the number of arguments is right; `extra` come before the parameters.
fn run(
    body: Body,
    parameters: &[agentir_expr::Parameter],
    call: &Call<'_, '_>,
    extra: usize,
) -> Result<Value> {
    let least = parameters.iter().filter(|p| !p.optional).count() + extra;
    let many = parameters.iter().any(|p| p.variadic);
    if call.args.len() < least || (!many && call.args.len() > parameters.len() + extra) {
        return Err(EvalError::Arguments(call.name.clone()));
    }
    body(call)
}

impl Call<'_, '_> {
    fn arg(&self, at: usize) -> &Value {
        self.args.get(at).unwrap_or(&Value::Undefined)
    }

    /// Functions of numbers take numeric texts in every dialect (section 8.1).
    fn number(&self, at: usize) -> Result<f64> {
        let value = self.arg(at);
        number(value, self.on.semantics)?.ok_or(EvalError::NotANumber(value.kind()))
    }

    fn optional_number(&self, at: usize) -> Result<Option<f64>> {
        if self.arg(at).is_unset() { Ok(None) } else { self.number(at).map(Some) }
    }

    /// Functions of texts take what is unset for the empty text (section 8.2).
    fn text(&self, at: usize) -> smol_str::SmolStr {
        let value = self.arg(at);
        if value.is_unset() { "".into() } else { text(value, self.on.semantics) }
    }

    fn optional_text(&self, at: usize) -> Option<smol_str::SmolStr> {
        (!self.arg(at).is_unset()).then(|| self.text(at))
    }

    fn fields(&self, at: usize) -> impl Iterator<Item = (&Name, &Value)> {
        let fields = match self.arg(at) {
            Value::Object(object) => Some(object.fields().iter()),
            _ => None,
        };
        fields.into_iter().flatten()
    }

    fn now(&self) -> Result<i64> {
        self.on.state.now().ok_or(EvalError::Environment)
    }

    /// The first item of list 0 whose field 1 has value 2, with its index.
    fn find(&self) -> Result<Option<(usize, Value)>> {
        let Value::List(list) = self.arg(0) else { return Ok(None) };
        let field = self.text(1);
        let fits = |item: &Value| match item {
            Value::Object(object) => {
                object.fields().get(&field).is_some_and(|v| equal(v, self.arg(2)))
            }
            _ => false,
        };
        Ok(list.items().iter().enumerate().find(|(_, i)| fits(i)).map(|(at, i)| (at, i.clone())))
    }
}

/// Half is rounded away from zero; the specifications leave it open.
fn round(n: f64, decimals: f64) -> f64 {
    let places = decimals.clamp(0.0, 20.0).trunc() as i32;
    let scale = 10f64.powi(places);
    let scaled = (n * scale).round() / scale;
    // Numbers too large to be scaled have no decimals to round.
    if scaled.is_finite() { scaled } else { n }
}

fn average(call: &Call<'_, '_>) -> Result<Value> {
    let values = match call.args {
        [Value::List(list)] => list.items(),
        args => args,
    };
    if values.is_empty() {
        return Ok(Value::Null);
    }
    let mut sum = 0.0;
    for value in values {
        sum += number(value, call.on.semantics)?.ok_or(EvalError::NotANumber(value.kind()))?;
    }
    Value::number(sum / values.len() as f64)
}

/// Unset values are not numbers here, unlike in arithmetic.
fn to_number(call: &Call<'_, '_>) -> Result<Value> {
    match call.arg(0) {
        value @ (Value::Bool(_) | Value::Number(_) | Value::Text(_)) => {
            number(value, call.on.semantics)?.map_or(Ok(Value::Null), Value::number)
        }
        _ => Ok(Value::Null),
    }
}

/// How many items or characters; what has none is an error where the dialect knows errors, else 0.
fn count(value: &Value, name: &Name) -> Result<Value> {
    match length(value) {
        Some(length) => Value::number(length as f64),
        None => Err(EvalError::Arguments(name.clone())),
    }
}

fn unique_id(call: &Call<'_, '_>) -> Result<Value> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let length = call.optional_number(0)?.unwrap_or(6.0).clamp(0.0, 256.0) as usize;
    let mut id = String::with_capacity(length);
    for _ in 0..length {
        let random = call.on.state.random().ok_or(EvalError::Environment)?;
        let at = usize::try_from(random % LETTERS.len() as u64).unwrap_or_default();
        id.extend(LETTERS.get(at).map(|b| char::from(*b)));
    }
    Ok(Value::text(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything in the tables is either evaluated or known to be the platform's.
    #[test]
    fn every_function_of_the_table_is_here_or_is_the_platforms() {
        let missing: Vec<_> = agentir_expr::functions()
            .iter()
            .map(|f| f.name)
            .filter(|name| body(BODIES, name).is_none())
            .collect();
        assert_eq!(
            missing,
            [
                "MATCH_SCORE",
                "MATCHES",
                "MATCH_RESULT",
                "contains_pii",
                "detect_pii",
                "redact_pii",
                "sentence_count",
                "contains_url",
                "contains_email",
                "contains_code",
                "pii_equal",
            ]
        );
        assert!(BODIES.iter().all(|(name, _)| agentir_expr::function(name).is_some()));
        assert!(agentir_expr::methods().iter().all(|m| is_evaluated_method(m.name)));
        assert_eq!(METHOD_BODIES.len(), agentir_expr::methods().len());
    }
}
