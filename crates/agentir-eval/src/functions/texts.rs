//! Functions of texts and lists.

use super::{Call, Result};
use crate::coerce::text;
use crate::compare::contains;
use crate::error::EvalError;
use crate::pattern::pattern;
use crate::value::{MAX_TEXT, Value};
use smol_str::SmolStr;

/// A position in something of this length: negative ones count as 0, as in JavaScript's `substring`.
fn position(n: f64, length: usize) -> usize {
    (n.max(0.0) as usize).min(length)
}

/// The characters from `start` up to `end`; empty if the end is not after the start.
pub(super) fn substring(whole: &str, start: f64, end: Option<f64>) -> Result<Value> {
    let length = whole.chars().count();
    let start = position(start, length);
    let end = end.map_or(length, |end| position(end, length));
    let part: SmolStr = whole.chars().skip(start).take(end.saturating_sub(start)).collect();
    Ok(Value::Text(part))
}

/// Negative positions count from the end, as in JavaScript's `slice`.
pub(super) fn slice(call: &Call<'_, '_>) -> Result<Value> {
    let length = crate::eval::length(call.arg(0)).unwrap_or_default();
    let at = |n: f64| if n < 0.0 { n + length as f64 } else { n };
    let start = at(call.optional_number(1)?.unwrap_or(0.0));
    let end = call.optional_number(2)?.map(at);
    match call.arg(0) {
        Value::List(list) => {
            let start = position(start, length);
            let end = end.map_or(length, |end| position(end, length)).max(start);
            Value::list(list.items().get(start..end).unwrap_or_default().to_vec())
        }
        _ => substring(&call.text(0), start, end),
    }
}

pub(super) fn replace(whole: &str, find: &str, by: &str) -> Result<Value> {
    if find.is_empty() {
        return Ok(Value::text(whole));
    }
    let count = whole.matches(find).count();
    fits(whole.len().saturating_add(count.saturating_mul(by.len())))?;
    Value::made_text(whole.replace(find, by))
}

/// Refuses what would be far too long before memory is taken for it; a character has up to 4 bytes.
fn fits(bytes: usize) -> Result<()> {
    if bytes > 8 * MAX_TEXT { Err(EvalError::TooLarge) } else { Ok(()) }
}

/// An empty delimiter splits into characters.
pub(super) fn split(whole: &str, delimiter: &str) -> Result<Value> {
    Value::list(if delimiter.is_empty() {
        whole.chars().map(|c| Value::text(c.encode_utf8(&mut [0; 4]) as &str)).collect()
    } else {
        whole.split(delimiter).map(Value::text).collect()
    })
}

pub(super) fn join(call: &Call<'_, '_>, at: usize, delimiter: &str) -> Result<Value> {
    let Value::List(list) = call.arg(at) else { return Ok(Value::text("")) };
    let mut joined = String::new();
    for (i, item) in list.items().iter().enumerate() {
        if i > 0 {
            joined.push_str(delimiter);
        }
        if !item.is_unset() {
            joined.push_str(&text(item, call.on.semantics));
        }
        fits(joined.len())?;
    }
    Value::made_text(joined)
}

pub(super) fn repeat(whole: &str, count: f64) -> Result<Value> {
    let count = count.clamp(0.0, 1e9) as usize;
    fits(whole.len().saturating_mul(count))?;
    Value::made_text(whole.repeat(count))
}

/// Filled up with a text that is repeated and cut, as in JavaScript; blanks if none is given.
pub(super) fn pad(call: &Call<'_, '_>, start: bool) -> Result<Value> {
    let whole = call.text(0);
    let length = call.number(1)?.clamp(0.0, 1e9) as usize;
    fits(length)?;
    let by = call.optional_text(2).unwrap_or_else(|| " ".into());
    let lacking = length.saturating_sub(whole.chars().count());
    if by.is_empty() || lacking == 0 {
        return Ok(Value::Text(whole));
    }
    let filling: String = by.chars().cycle().take(lacking).collect();
    let (a, b) =
        if start { (filling.as_str(), whole.as_str()) } else { (whole.as_str(), filling.as_str()) };
    Value::made_text([a, b].concat())
}

/// The first position of a part, counted in characters or items; -1 if there is none.
pub(super) fn index_of(call: &Call<'_, '_>) -> Result<Value> {
    let at = match call.arg(0) {
        Value::List(list) => list
            .items()
            .iter()
            .position(|item| crate::compare::same(item, call.arg(1), call.on.semantics)),
        whole if contains(whole, call.arg(1), call.on.semantics) => {
            let whole = call.text(0);
            whole
                .find(call.text(1).as_str())
                .and_then(|at| whole.get(..at))
                .map(|s| s.chars().count())
        }
        _ => None,
    };
    Value::number(at.map_or(-1.0, |at| at as f64))
}

/// An invalid pattern gives the text back (newest documentation); `$1` to `$9` are groups.
pub(super) fn regex_replace(call: &Call<'_, '_>) -> Result<Value> {
    let whole = call.text(0);
    let Ok(pattern) = pattern(&call.text(1)) else { return Ok(Value::Text(whole)) };
    let by = call.text(2);
    let count = pattern.find_iter(&whole).count();
    let longest = by.len().saturating_add(whole.len().saturating_mul(by.matches('$').count()));
    fits(whole.len().saturating_add(count.saturating_mul(longest)))?;
    Value::made_text(pattern.replace_all(&whole, groups(&by).as_str()).into_owned())
}

/// `$1x` is group 1 and `x`, where the crate would read a group called `1x`.
fn groups(by: &str) -> String {
    let mut made = String::with_capacity(by.len());
    let mut chars = by.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('$', Some(digit @ '1'..='9')) => {
                made.extend(['$', '{', *digit, '}']);
                chars.next();
            }
            ('$', _) => made.push_str("$$"),
            _ => made.push(c),
        }
    }
    made
}

/// Null if the pattern is invalid, nothing matches or the group does not exist.
pub(super) fn regex_extract(call: &Call<'_, '_>) -> Result<Value> {
    let Ok(pattern) = pattern(&call.text(1)) else { return Ok(Value::Null) };
    let group = call.optional_number(2)?.unwrap_or(0.0).clamp(0.0, 1000.0) as usize;
    let whole = call.text(0);
    let found = pattern.captures(&whole).and_then(|found| found.get(group));
    Ok(found.map_or(Value::Null, |m| Value::text(m.as_str())))
}
