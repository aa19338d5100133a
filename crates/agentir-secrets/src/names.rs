//! Names of secrets, and what stands between them and their values.

use crate::bytes::{WORD, is};
use crate::table::{
    ACCESS_TOKEN, AUTHORIZATION, COOKIE, FOREIGN_PASSWORDS, KEY_HEADER_ENDS, LIKELY_NAMES,
    PASSWORDS, SECRET_NAMES, STAGES, WORDS_LIKE_NAMES,
};
use std::ops::Range;

/// Whether a name is one of secrets, sure or likely.
pub(super) fn is_likely_name(name: &[u8]) -> bool {
    ([SECRET_NAMES, PASSWORDS, LIKELY_NAMES, &[AUTHORIZATION, COOKIE]]
        .iter()
        .any(|keys| has_suffix(name, keys) || has_suffix(without_number(name), keys))
        || is_access_token(name)
        || is_key_header(name))
        && !is_word_like_name(name)
}

/// Whether a name is that of a personal access token: its last word says so.
pub(super) fn is_access_token(name: &[u8]) -> bool {
    let name = without_number(name);
    let Some((before, word)) =
        name.split_at_checked(name.len() - name.len().min(ACCESS_TOKEN.len()))
    else {
        return false;
    };
    word.eq_ignore_ascii_case(ACCESS_TOKEN.as_bytes())
        && before.last().is_none_or(|last| matches!(last, b'_' | b'-'))
}

/// Whether a name is that of a header with a secret: `X-Api-Key`, `Ocp-Apim-Subscription-Key`.
pub(super) fn is_key_header(name: &[u8]) -> bool {
    let is_extension = name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(b"x-"));
    let ends = if is_extension { KEY_HEADER_ENDS } else { SECRET_NAMES };
    name.contains(&b'-') && has_suffix(name, ends)
}

/// Whether a name is no name of a secret, but ends like one: `bypass`.
pub(super) fn is_word_like_name(name: &[u8]) -> bool {
    has_suffix(without_number(name), WORDS_LIKE_NAMES)
}

/// A name without what tells it from others of its kind: `password_2`, `DB_PASSWORD_PROD`, `passwords`.
pub(super) fn without_number(name: &[u8]) -> &[u8] {
    fn without(name: &[u8], is_end: fn(&u8) -> bool) -> &[u8] {
        let end = name.iter().rposition(|byte| !is_end(byte)).map_or(0, |last| last + 1);
        name.get(..end).unwrap_or_default()
    }
    let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    let name = without(name, is_number);
    let before = without(name, u8::is_ascii_alphabetic);
    let word = name.get(before.len()..).unwrap_or_default();
    let is_stage = matches!(before.last(), Some(b'_' | b'-'))
        && STAGES.iter().any(|stage| word.eq_ignore_ascii_case(stage.as_bytes()));
    match if is_stage { without(before, is_number) } else { name } {
        [one @ .., before, b's' | b'S'] if !matches!(before, b's' | b'S') => {
            name.get(..=one.len()).unwrap_or_default()
        }
        one => one,
    }
}

/// What follows a separator, without the rest of an operator: of `==`, `=>`, `:=`.
pub(super) fn behind_operator(behind: &[u8]) -> &[u8] {
    let rest = behind.iter().take(MAX_OPERATOR);
    let rest = rest.take_while(|byte| matches!(byte, b'=' | b'>')).count();
    behind.get(rest..).unwrap_or_default()
}

/// Longer than any operator.
const MAX_OPERATOR: usize = 8;

/// How far before a separator its name may begin.
pub(super) const REACH: usize = 128;

/// The text before a separator, or before the operator that it is the end of (`==`, `!=`), as far as a name may extend.
pub(super) fn before_separator(line: &[u8], at: usize) -> &[u8] {
    let mut before = line.get(at.saturating_sub(REACH)..at).unwrap_or_default();
    if line.get(at) == Some(&b'=') {
        let end = before.iter().rposition(|byte| !matches!(byte, b'=' | b'!'));
        before = before.get(..end.map_or(0, |last| last + 1)).unwrap_or_default();
    }
    let before = before.trim_ascii_end();
    // `headers["X-Api-Key"] = …`
    let before = before.strip_suffix(b"]").unwrap_or(before);
    let unquoted = before.strip_suffix(b"\"").or(before.strip_suffix(b"'"));
    unquoted.map_or(before, |name| name.strip_suffix(b"\\").unwrap_or(name))
}

/// The name at the end of the text before a separator.
pub(super) fn name_before(before: &[u8]) -> Option<&[u8]> {
    let in_name = |byte: &&u8| is(**byte, WORD) || **byte == b'-';
    let length = before.iter().rev().take(64).take_while(in_name).count();
    before.get(before.len() - length..).filter(|name| !name.is_empty())
}

/// The name in `name: type = value`; `at` is the last separator.
pub(super) fn declared<'l>(line: &[u8], at: usize, before: &'l [u8]) -> Option<&'l [u8]> {
    if line.get(at) != Some(&b'=') {
        return None;
    }
    let colon = memchr::memchr(b':', before)?;
    // A text is no type: in `"a": "b=…"` the separator is within the value.
    let has_text = before.get(colon..)?.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    (!has_text).then(|| before.get(..colon).map(<[u8]>::trim_ascii))?
}

/// The name in a pair, `"key": "Authorization", "value": "…"`, if it is that of a secret; `before` ends with what `value`
/// ends with. The type of the value may stand between them.
pub(super) fn name_in_pair<'l>(before: &'l [u8]) -> Option<&'l [u8]> {
    let quotes = |text: &'_ [u8]| {
        let blank = |byte: &&u8| b" \t\"'\\,".contains(*byte);
        text.len() - text.iter().rev().take_while(blank).count()
    };
    let word = |text: &'_ [u8]| {
        let inside = |byte: &&u8| is(**byte, WORD) || **byte == b'-';
        text.len() - text.iter().rev().take(64).take_while(inside).count()
    };
    // What stands before a member, its key, and its value, which is a word.
    let member = |text: &'l [u8]| {
        let (rest, value) = text.split_at(word(text));
        let rest = rest.get(..quotes(rest))?.strip_suffix(b":")?;
        let rest = rest.get(..quotes(rest))?;
        let (rest, key) = rest.split_at(word(rest));
        Some((rest.get(..quotes(rest))?, key, value))
    };
    let (rest, value) = before.split_at(word(before));
    if !is_key(value, NAMES_OF_VALUES) {
        return None;
    }
    let (rest, mut key, mut name) = member(rest.get(..quotes(rest))?)?;
    if key.eq_ignore_ascii_case(b"type") {
        (_, key, name) = member(rest)?;
    }
    (is_key(key, NAMES_OF_NAMES) && is_likely_name(name)).then_some(name)
}

/// Whether a key is one of these.
fn is_key(key: &[u8], keys: &[&str]) -> bool {
    keys.iter().any(|of| key.eq_ignore_ascii_case(of.as_bytes()))
}

/// What says in a pair what its value is the value of.
const NAMES_OF_NAMES: &[&str] = &["key", "name", "header", "variable"];

/// What says in a pair that it is the value: of a header, of a variable, of a parameter.
const NAMES_OF_VALUES: &[&str] =
    &["value", "expression", "default", "default_value", "initial_value"];

/// The name in a pair that begins with its value, `"value": "…", "key": "Authorization"`, if it is that of a secret;
/// `rest` is what follows the separator behind `value`.
pub(super) fn name_behind(before: &[u8], rest: &[u8]) -> Option<Range<usize>> {
    if !name_before(before).is_some_and(|name| is_key(name, NAMES_OF_VALUES)) {
        return None;
    }
    let skip = |at: usize| {
        let blank = |byte: &&u8| b" \t\"'\\".contains(*byte);
        at + rest.get(at..).unwrap_or_default().iter().take_while(blank).count()
    };
    let word = |at: usize| {
        let inside = |byte: &&u8| is(**byte, WORD) || **byte == b'-';
        at + rest.get(at..).unwrap_or_default().iter().take(64).take_while(inside).count()
    };
    let start = skip(0);
    // The quotes around the value are those before it.
    let quote = rest.get(..start)?.last().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let end = start + memchr::memchr(*quote, rest.get(start..)?)?;
    let comma = skip(end);
    let key = skip(comma + 1);
    let key_end = word(key);
    let colon = skip(key_end);
    let name = skip(colon + 1);
    let is_pair = rest.get(comma) == Some(&b',')
        && rest.get(colon) == Some(&b':')
        && rest.get(key..key_end).is_some_and(|key| is_key(key, NAMES_OF_NAMES));
    let name = rest.get(name..word(name))?;
    let value = rest.get(start..end)?;
    let value =
        start..start + value.len() - value.iter().rev().take_while(|b| **b == b'\\').count();
    (is_pair && is_likely_name(name)).then_some(value)
}

/// Whether a normalised name (lower case, without `_` and `-`) ends with one of these.
pub(super) fn has_suffix(name: &[u8], keys: &[&str]) -> bool {
    let plain = name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric());
    let Some(last) = plain.clone().next().map(u8::to_ascii_lowercase) else { return false };
    keys.iter().filter(|key| key.as_bytes().last() == Some(&last)).any(|key| {
        let mut plain = plain.clone();
        key.bytes().rev().all(|k| plain.next().is_some_and(|b| b.to_ascii_lowercase() == k))
    })
}

/// Whether a text ends with a word for passwords of a language other than English.
pub(super) fn is_foreign_password(before: &[u8]) -> bool {
    FOREIGN_PASSWORDS.iter().any(|word| {
        let start = before.len().checked_sub(word.len());
        let end = start.and_then(|start| before.get(start..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
    })
}
