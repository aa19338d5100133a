//! Values behind the names of secrets.

use crate::commands::{is_login, login_in_call};
use crate::extent::{Place, unquoted, value};
use crate::names::{
    before_separator, behind_operator, declared, has_suffix, is_access_token, is_foreign_password,
    is_key_header, is_word_like_name, name_before, name_behind, name_in_pair, without_number,
};
use crate::schemes::{Named, credentials};
use crate::table::{AUTHORIZATION, COOKIE, LIKELY_NAMES, PASS, PASSWORDS, SECRET_NAMES};
use crate::values::{
    has_drawn_word, is_chosen_password, is_drawn, is_letters, is_likely, is_random, is_reference,
};
use crate::{
    MASK, MIN_CODE, Reach, Secret, ends_value, is_code, is_digest, is_drawn_or_encoded,
    prefix_window,
};
use std::ops::Range;

/// What a name is the name of.
#[derive(Debug, Clone, Copy, Default)]
struct Kind {
    /// A key or token.
    key: bool,
    /// A password.
    password: bool,
    /// One of another language.
    foreign: bool,
    /// Something that is likely to be secret.
    likely: bool,
    /// A code in an address.
    code: bool,
    /// A header whose value is a secret.
    header: Option<Named>,
}

/// `name: value`, `name = "value"`, `name == "value"`; `at` is the separator.
pub(super) fn named(line: &str, at: usize, reach: Reach) -> Option<Secret> {
    let bytes = line.as_bytes();
    let is_equals = |at: usize| bytes.get(at) == Some(&b'=');
    // The first byte of an operator has said it.
    if is_equals(at) && at.checked_sub(1).is_some_and(is_equals) {
        return None;
    }
    let before = before_separator(bytes, at);
    // A word of another alphabet is no name here.
    let name = name_before(before).unwrap_or_default();
    let may = reach == Reach::Likely;
    let secret =
        |range: Range<usize>| Secret { what: "a password, key or token".to_owned(), range };
    if may {
        let found = login_in_call(bytes, at).or_else(|| {
            let rest = line.get(at + 1..)?;
            let found = name_behind(before, rest.as_bytes())?;
            let value = rest.get(found.clone())?;
            // What is masked already has its first characters alone.
            let length = value.find(MASK).unwrap_or(value.len());
            let is_secret = !is_reference(value) && length >= 6;
            is_secret.then(|| at + 1 + found.start..at + 1 + found.end)
        });
        if let Some(range) = found {
            return Some(secret(range));
        }
    }
    let kind = kind(bytes, at, before, name, may);
    if !kind.key
        && !kind.password
        && !kind.foreign
        && !kind.likely
        && !kind.code
        && kind.header.is_none()
    {
        return None;
    }
    let after = line.get(at + 1..)?;
    let behind = behind_operator(after.as_bytes()).len();
    let place = Place::of(bytes, at, before, name.len())?;
    let at = line.len() - behind;
    let after = line.get(at..)?;
    if let Some(header) = kind.header
        && let Some((start, value)) = credentials(after, header, place)
    {
        return Some(secret(at + start..at + start + value.len()));
    }
    let after = prefix_window(after);
    let text = after.trim_start();
    // In a text within a text, quotes are escaped.
    let escaped = may && text.starts_with('\\');
    let text = if may { text.trim_start_matches('\\') } else { text };
    let start = at + (after.len() - text.len());
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (skipped, value) = match quote {
        _ if may && !escaped => value(text, place),
        Some(quote) => {
            let text = text.get(1..)?;
            // A text that is cut has no end.
            let end = text.find(quote);
            let whole = end.and_then(|end| text.get(..end));
            (1, whole.or_else(|| may.then(|| unquoted(text, place)))?)
        }
        None if may => (0, unquoted(text, place)),
        None => (0, text.get(..text.find(ends_value).unwrap_or(text.len()))?),
    };
    let start = start + skipped;
    let value = if may { value.trim_end_matches('\\') } else { value };
    // In no quotes, these are marks of a sentence or of a type.
    let word = if quote.is_none() { value.trim_end_matches(['?', '!']) } else { value };
    let likely = kind.likely
        && (quote.is_some()
            || is_drawn(value)
            || !without_number(name).eq_ignore_ascii_case(PASS.as_bytes()));
    let what = if let Some(what) = certain(kind, value, quote.is_some()) {
        what
    } else if likely && (is_likely(word) || is_letters(word))
        || ((kind.password || kind.foreign) && may && quote.is_some() && has_drawn_word(value))
        || (kind.code && value.len() >= MIN_CODE && is_drawn_or_encoded(value))
    {
        "a password, key or token"
    } else {
        return None;
    };
    Some(Secret { what: what.to_owned(), range: start..start + value.len() })
}

/// What a value behind the name of a secret is, if it is sure to be one.
fn certain(kind: Kind, value: &str, quoted: bool) -> Option<&'static str> {
    if kind.password && quoted && is_chosen_password(value) {
        Some("a password")
    } else if kind.key && is_random(value) {
        Some("a key or token")
    } else {
        ((kind.password || kind.foreign) && is_random(value)).then_some("a password")
    }
}

/// What the value of something that has a name is, with article, if it is a secret: a password, key or token by its name,
/// and no placeholder. As in text, where its name stands before it.
#[must_use]
pub fn secret_named(name: &str, value: &str) -> Option<&'static str> {
    // A list of keys has as many.
    let bytes = without_number(name.as_bytes());
    let kind = Kind {
        key: has_suffix(bytes, SECRET_NAMES),
        password: has_suffix(bytes, PASSWORDS),
        foreign: is_foreign_password(bytes),
        ..Kind::default()
    };
    certain(kind, value, true)
}

/// What a name before a separator is the name of.
fn kind(line: &[u8], at: usize, before: &[u8], name: &[u8], may: bool) -> Kind {
    let declared = declared(line, at, before);
    let named_by = |keys| {
        let is_one =
            |name| has_suffix(name, keys) || (may && has_suffix(without_number(name), keys));
        is_one(name) || declared.is_some_and(is_one)
    };
    let (key, password) = (named_by(SECRET_NAMES), named_by(PASSWORDS));
    let foreign = is_foreign_password(before);
    if !may {
        return Kind { key, password, foreign, ..Kind::default() };
    }
    let pair = name_in_pair(before);
    let is_header = |keys| named_by(keys) || pair.is_some_and(|name| has_suffix(name, keys));
    let is_cookie = |name| has_suffix(name, &[COOKIE]);
    let header = if is_header(&[AUTHORIZATION]) {
        Some(Named::Authorization)
    } else if is_cookie(name) || pair.is_some_and(is_cookie) {
        Some(Named::Cookie)
    } else if is_key_header(name) || pair.is_some_and(is_key_header) {
        Some(Named::Key)
    } else {
        None
    };
    let likely = match header {
        // What is in one of these is told by their own rules.
        Some(Named::Authorization | Named::Cookie) => false,
        _ => {
            key || password
                || foreign
                || pair.is_some()
                || (named_by(LIKELY_NAMES) && !is_word_like_name(name))
                || is_access_token(name)
                || is_key_header(name)
                || is_login(line, at)
                || is_digest(line, at)
        }
    };
    Kind { key, password, foreign, likely, code: is_code(line, at), header }
}
