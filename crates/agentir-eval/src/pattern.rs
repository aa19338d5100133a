//! Regular expressions.

use crate::error::EvalError;
use crate::value::Value;
use regex::{Regex, RegexBuilder};
use rustc_hash::FxHashMap;
use smol_str::{SmolStr, format_smolstr};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A compiled pattern. It matches anywhere in a text unless it is anchored, in time linear in the
/// text; what needs backtracking (look-around, back-references) is not supported.
pub type Pattern = Regex;

/// Compiled patterns take at most so many bytes.
const PATTERN_SIZE: usize = 1 << 20;

/// So many compiled patterns are kept. Who needs more at once compiles them again and again.
pub const KEPT_PATTERNS: usize = 256;

thread_local! {
    static COMPILED: RefCell<FxHashMap<SmolStr, Result<Pattern, EvalError>>> = RefCell::default();
}

/// The pattern with `\\d`, `\\w`, `\\b` and their opposites written out as ASCII, which they are in
/// JavaScript and RE2 (Python's are wider; no source says more).
#[must_use]
pub fn portable(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            made.push(c);
            continue;
        }
        match chars.next() {
            Some('d') => made.push_str("[0-9]"),
            Some('D') => made.push_str("[^0-9]"),
            Some('w') => made.push_str("[0-9A-Za-z_]"),
            Some('W') => made.push_str("[^0-9A-Za-z_]"),
            Some('b') => made.push_str("(?-u:\\b)"),
            // JavaScript escapes the slash that would end a literal.
            Some('/') => made.push('/'),
            Some(c) => made.extend(['\\', c]),
            None => made.push('\\'),
        }
    }
    made
}

/// The compiled form of a pattern. Those used lately are kept.
///
/// # Errors
/// [`EvalError::Pattern`] if it is none, or too large a one.
pub fn pattern(text: &str) -> Result<Pattern, EvalError> {
    COMPILED.with_borrow_mut(|compiled| {
        if let Some(found) = compiled.get(text) {
            return found.clone();
        }
        let new = RegexBuilder::new(&portable(text))
            .size_limit(PATTERN_SIZE)
            .dfa_size_limit(PATTERN_SIZE)
            .build()
            .map_err(|e| {
                let message = e.to_string();
                let last = message.lines().last().unwrap_or_default();
                EvalError::Pattern(last.trim_start_matches("error: ").to_owned())
            });
        if compiled.len() >= KEPT_PATTERNS {
            compiled.clear();
        }
        compiled.insert(text.into(), new.clone());
        new
    })
}

/// What `text matches pattern` puts into `match`: the whole as `0`, groups by number and by name
/// (current specification 8.8); none if it does not match.
///
/// # Errors
/// [`EvalError::Pattern`] as [`pattern`]; [`EvalError::TooLarge`].
pub fn captures(text: &str, by: &str) -> Result<Option<Value>, EvalError> {
    let pattern = pattern(by)?;
    let Some(found) = pattern.captures(text) else { return Ok(None) };
    let value = |m: Option<regex::Match<'_>>| m.map_or(Value::Null, |m| Value::text(m.as_str()));
    let numbered = found.iter().enumerate().map(|(i, m)| (format_smolstr!("{i}"), value(m)));
    let named =
        pattern.capture_names().flatten().map(|name| (SmolStr::new(name), value(found.name(name))));
    Value::object(numbered.chain(named).collect::<BTreeMap<_, _>>()).map(Some)
}
