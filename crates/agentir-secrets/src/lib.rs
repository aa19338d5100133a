//! Detects secrets in text.
//!
//! A single pass finds secrets by three criteria: the format of their issuer, their context (`Bearer …`,
//! `://user:password@`), or their name combined with randomness. Placeholders are excluded.
//!
//! A rule searches the text of files, comments included; the import of exports leaves out the
//! secrets that it finds. Whatever is shown passes through a [`Masker`].
//!
//! *Invariant*: a search takes linear time, and nothing here prints a secret.

mod bytes;
mod commands;
mod encodings;
mod extent;
mod headers;
mod issued;
mod issuers;
mod mask;
mod masker;
mod named;
mod names;
mod schemes;
mod table;
mod values;
mod views;

pub use encodings::may_be_told;
pub use issued::Issued;
pub use mask::{MASK, Mask, masks, with_secrets};
pub use masker::{Masker, mask};
pub use named::secret_named;

use bytes::{SCHEMES, SEPARATOR, TOKEN, WORD, is, may_begin};
use commands::{
    after_option, is_login, login_in_call, may_be_stored, option_name, password_option, stored,
};
use extent::{Place, unquoted};
use headers::{cookie_at, cookies};
use issuers::{discord, of_parts, salesforce, telegram};
use named::named;
use names::{
    before_separator, behind_operator, declared, has_suffix, is_foreign_password, is_likely_name,
    name_before, name_behind, name_in_pair,
};
use schemes::after_scheme;
use std::ops::Range;
use table::{ADDRESS_KEYS, FORMATS, PASSWORDS, SECRET_NAMES, WEBHOOKS};
use values::{
    MIN_DIGITS, MIN_RUN_LEN, entropy, is_drawn, is_letters, is_likely, is_placeholder, is_random,
    is_reference,
};

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// A description with article.
    pub what: String,
    /// The bytes of the text.
    pub range: Range<usize>,
}

/// How sure it is to be that something is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Sure enough to report it.
    Certain,
    /// Likely enough not to show it: what stands behind the name of a secret, in whatever notation.
    Likely,
}

/// The secrets of a text, in order and without overlap.
#[must_use]
pub fn secrets(text: &str) -> Vec<Secret> {
    search(text, Reach::Certain)
}

fn search(text: &str, reach: Reach) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut start = 0;
    let has_key = memchr::memmem::find(text.as_bytes(), BEGIN_KEY.as_bytes()).is_some();
    for end in memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).chain([text.len()]) {
        let line = text.get(start..end).unwrap_or_default();
        let likely = || reach == Reach::Likely && may_contain_likely(line.as_bytes());
        if has_key || may_contain_secret(line.as_bytes()) || likely() {
            scan_line(line, start, reach, &mut found);
        }
        start = end;
    }
    found
}

/// The start of private keys.
const BEGIN_KEY: &str = "-----BEGIN ";

/// A cheap prefilter: whether a line may contain a secret other than a private key. Most lines do not.
fn may_contain_secret(line: &[u8]) -> bool {
    // Every run of this length has a byte at one of these positions.
    let mut at = MIN_RUN_LEN - 1;
    while let Some(&byte) = line.get(at) {
        if is(byte, TOKEN) {
            let (before, behind) = line.split_at(at);
            let in_token = |byte: &&u8| is(**byte, TOKEN);
            let behind = behind.iter().take_while(in_token).count();
            let before = before.iter().rev().take_while(in_token).count();
            if before + behind >= MIN_RUN_LEN
                && line.get(at - before..at + behind).is_some_and(may_be_generated)
            {
                return true;
            }
            at += behind;
        }
        at += MIN_RUN_LEN;
    }
    memchr::memchr2_iter(b':', b'=', line).any(|at| {
        let behind = behind_operator(line.get(at + 1..).unwrap_or_default());
        // Passwords chosen by people only count in quotes. A non-ASCII byte may be a space before one.
        let quoted = || matches!(behind.trim_ascii_start(), [b'"' | b'\'' | 0x80.., ..]);
        let named = || {
            let before = before_separator(line, at);
            name_before(before).is_some_and(|name| has_suffix(name, PASSWORDS))
                || declared(line, at, before).is_some_and(|name| has_suffix(name, PASSWORDS))
        };
        behind.starts_with(b"//") || (quoted() && named()) || telegram(line, at).is_some()
    })
}

/// The same for what is likely to be a secret.
fn may_contain_likely(line: &[u8]) -> bool {
    memchr::memmem::find(line, IS.as_bytes()).is_some()
        || may_be_stored(line)
        || memchr::memchr_iter(b' ', line).any(|at| ends_scheme(line, at))
        || memchr::memchr2_iter(b':', b'=', line).any(|at| {
            let before = before_separator(line, at);
            name_before(before).is_some_and(is_likely_name)
                || declared(line, at, before).is_some_and(is_likely_name)
                || is_foreign_password(before)
                || is_login(line, at)
                || is_code(line, at)
                || is_digest(line, at)
                || name_in_pair(before).is_some()
                || name_behind(before, line.get(at + 1..).unwrap_or_default()).is_some()
                || login_in_call(line, at).is_some()
        })
        || memchr::memchr_iter(b'-', line)
            .any(|at| option_name(line, at).is_some() || password_option(line, at).is_some())
        || memchr::memchr_iter(b'_', line).any(|at| {
            let next = |more: usize| line.get(at + more).copied();
            next(1).is_some_and(|first| may_begin(first, next(2)))
        })
}

/// Whether a blank ends the name of a scheme.
fn ends_scheme(line: &[u8], at: usize) -> bool {
    SCHEMES.iter().any(|(scheme, _)| {
        let start = (at + 1).checked_sub(scheme.len());
        let name = start.and_then(|start| line.get(start..=at));
        name.is_some_and(|name| name.eq_ignore_ascii_case(scheme.as_bytes()))
    })
}

/// Whether a separator is that of the answer to a challenge, `response=…` (RFC 7616, section 3.4).
fn is_digest(line: &[u8], at: usize) -> bool {
    let after = line.get(at + 1..).unwrap_or_default().iter().copied();
    let digits = after.skip_while(|byte| b" \"'\\".contains(byte)).take(MIN_DIGEST);
    name_before(before_separator(line, at)).is_some_and(|name| has_suffix(name, &["response"]))
        && digits.filter(u8::is_ascii_hexdigit).count() == MIN_DIGEST
}

/// The number of hexadecimal digits of the shortest such answer: MD5.
const MIN_DIGEST: usize = 32;

/// What stands between the name of a secret and the secret where people write to people.
const IS: &str = " is";

/// Whether a separator is that of a code in an address, `?code=…`: Azure Functions are called with one.
fn is_code(line: &[u8], at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    line.get(at) == Some(&b'=') && (before.ends_with(b"?code") || before.ends_with(b"&code"))
}

/// Whether a run may be generated: it contains digits or the prefix of a known format. Most long runs are
/// names with underscores and dots.
fn may_be_generated(run: &[u8]) -> bool {
    let mut inside = false;
    let mut digits = 0;
    run.iter().enumerate().any(|(at, byte)| {
        // Names are put together with underscores, also from tokens.
        let begins = !std::mem::replace(&mut inside, is(*byte, WORD) && *byte != b'_') && inside;
        digits += usize::from(byte.is_ascii_digit());
        digits >= MIN_DIGITS
            || (begins && may_begin(*byte, run.get(at + 1).copied()))
            // As client secrets of Entra ID.
            || (*byte == b'~' && run.get(..at).is_some_and(|before| before.ends_with(b"Q")))
    })
}

fn scan_line(line: &str, offset: usize, reach: Reach, found: &mut Vec<Secret>) {
    let first = found.len();
    let mut at = 0;
    let bytes = line.as_bytes();
    let cookies = if reach == Reach::Likely { cookies(line) } else { Vec::new() };
    // The end of the current word.
    let word_end = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        at + rest.iter().take_while(|byte| is(**byte, WORD)).count()
    };
    while let Some(&byte) = bytes.get(at) {
        let hit = if is(byte, WORD) {
            if may_begin(byte, bytes.get(at + 1).copied()) {
                by_format(line, at)
                    .or_else(|| discord(line, at))
                    .or_else(|| salesforce(line, at))
                    .or_else(|| after_scheme(line, at, reach))
            } else {
                None
            }
            .or_else(|| of_parts(line, at))
            .or_else(|| if reach == Reach::Likely { within(line, at, word_end(at)) } else { None })
        } else if is(byte, SEPARATOR) {
            match byte {
                b':' if line.get(at..).is_some_and(|r| r.starts_with("://")) => {
                    in_url(line, at + 3, reach)
                }
                b'-' if line.get(at..).is_some_and(|r| r.starts_with(BEGIN_KEY)) => {
                    private_key(line, at)
                }
                b'-' if reach == Reach::Likely => after_option(line, at),
                b'-' => None,
                _ => telegram(bytes, at)
                    .map(|range| Secret { what: "a Telegram bot token".to_owned(), range })
                    .or_else(|| cookie_at(at, &cookies))
                    .or_else(|| named(line, at, reach)),
            }
        } else {
            at += 1;
            continue;
        };
        match hit {
            Some(Secret { what, mut range }) => {
                if range.len() >= WINDOW / 2 {
                    // It may be longer than what was looked at.
                    let rest = bytes.get(range.end..).unwrap_or_default();
                    range.end += rest.iter().take_while(|byte| is(**byte, TOKEN)).count();
                }
                at = range.end.max(at + 1);
                // A secret found by its name may also have a known format.
                let what = by_format(line, range.start).map_or(what, |known| known.what);
                found.push(Secret { what, range: range.start + offset..range.end + offset });
                // A prefix inside a word does not start a secret.
                if at.checked_sub(1).and_then(|i| bytes.get(i)).is_some_and(|b| is(*b, WORD)) {
                    at = word_end(at);
                }
            }
            None => at = word_end(at).max(at + 1),
        }
    }
    if reach == Reach::Likely {
        let before = found.len();
        said(line, offset, found);
        listed(line, offset, found);
        stored(line, offset, found);
        if found.len() > before {
            found.get_mut(first..).unwrap_or_default().sort_by_key(|one| one.range.start);
        }
    }
}

/// `the password is …`.
fn said(line: &str, offset: usize, found: &mut Vec<Secret>) {
    for at in memchr::memmem::find_iter(line.as_bytes(), IS) {
        let before = line.as_bytes().get(at.saturating_sub(128)..at).unwrap_or_default();
        // A name of two words: `API key`.
        let tail: Vec<u8> = before.iter().rev().take(64).copied().collect();
        let tail: Vec<u8> = tail.into_iter().rev().filter(|byte| *byte != b' ').collect();
        if !is_likely_name(&tail) {
            continue;
        }
        let after = prefix_window(line.get(at + IS.len()..).unwrap_or_default());
        if !after.starts_with([' ', ':']) {
            continue;
        }
        let value = after.trim_start_matches([' ', '"', '\'', '`', ':']);
        let start = at + IS.len() + (after.len() - value.len());
        let value = unquoted(value, Place::WORD);
        // A sentence may end behind it, and it may end with such a mark.
        let word = value.trim_end_matches(['.', '!', '?', ')']);
        let value = value.trim_end_matches('.');
        let range = offset + start..offset + start + value.len();
        if is_likely(word) || is_letters(word) {
            found.push(Secret { what: "a password, key or token".to_owned(), range });
        }
    }
}

/// `passwords: [one, another]`, on one line.
fn listed(line: &str, offset: usize, found: &mut Vec<Secret>) {
    let mut done = 0;
    for at in memchr::memchr_iter(b'[', line.as_bytes()) {
        let before = line.as_bytes().get(done..at).unwrap_or_default().trim_ascii_end();
        let Some(separator) = before.len().checked_sub(1).map(|last| done + last) else { continue };
        let is_separator = matches!(before.last(), Some(b':' | b'='));
        let name = name_before(before_separator(line.as_bytes(), separator));
        if at < done || !is_separator || !name.is_some_and(is_likely_name) {
            continue;
        }
        let list = line.get(at + 1..).unwrap_or_default();
        let list = list.get(..list.find(']').unwrap_or(list.len())).unwrap_or_default();
        let mut start = at + 1;
        for item in list.split(',') {
            let around = |c: char| c.is_whitespace() || "\"'`\\".contains(c);
            let value = item.trim_start_matches(around);
            let from = start + (item.len() - value.len());
            let value = value.trim_end_matches(around);
            if is_likely(value) || is_letters(value) {
                let range = offset + from..offset + from + value.len();
                found.push(Secret { what: "a password, key or token".to_owned(), range });
            }
            start += item.len() + 1;
        }
        done = start;
    }
}

/// A secret with a known format.
fn by_format(line: &str, at: usize) -> Option<Secret> {
    let rest = line.get(at..)?;
    let first = rest.as_bytes().first()?;
    for format in FORMATS.iter().filter(|format| format.prefix.as_bytes().first() == Some(first)) {
        let Some(body) = rest.strip_prefix(format.prefix) else { continue };
        // What is longer looks the same, and may have other such beginnings within it.
        let near = body.bytes().take(format.max_len.saturating_add(1).min(2 * WINDOW));
        let length = near.take_while(|c| format.alphabet.has(*c)).count();
        if (format.min_len..=format.max_len).contains(&length)
            && let Some(body) = body.get(..length)
            && !is_placeholder(body)
            && entropy(body) > 3.0
            && (length >= SURE_LENGTH || !is_words(body))
        {
            let range = at..at + format.prefix.len() + length;
            return Some(Secret { what: format.what.to_owned(), range });
        }
    }
    None
}

/// A secret with a known format in a word, behind an underscore: in a name that was made of several texts.
fn within(line: &str, start: usize, end: usize) -> Option<Secret> {
    let word = line.as_bytes().get(start..end)?;
    memchr::memchr_iter(b'_', word).find_map(|at| {
        let next = |more: usize| word.get(at + more).copied();
        let may = next(1).is_some_and(|first| may_begin(first, next(2)));
        if may { by_format(line, start + at + 1) } else { None }
    })
}

/// What is behind the prefix of a format and as long as this is no name.
const SURE_LENGTH: usize = 40;

/// Whether a text may be words of a name: it has neither digits nor capital letters.
fn is_words(body: &str) -> bool {
    !body.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

/// What is secret in an address: the password in `scheme://user:password@host`, a token in the place of the user, and
/// the path of a webhook; `at` is after the slashes.
fn in_url(line: &str, at: usize, reach: Reach) -> Option<Secret> {
    let rest = prefix_window(line.get(at..)?);
    let may = reach == Reach::Likely;
    // A password may have what ends addresses in texts.
    let marks = if may { "\"'`" } else { "\"'`<>,)" };
    let ends = |c: char| c.is_whitespace() || marks.contains(c);
    let whole = rest.get(..rest.find(ends).unwrap_or(rest.len()))?;
    let (host, path) = whole.split_at(whole.find(['/', '?', '#']).unwrap_or(whole.len()));
    let Some((login, _host)) = host.rsplit_once('@') else {
        return webhook(host, path, at + host.len());
    };
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    if is_random(user) || (may && (is_drawn(user) || is_letters(user))) {
        return Some(Secret { what: "a token".to_owned(), range: at..at + login.len() });
    }
    let common = ["password", "pass", "pwd", "secret", "token"];
    let is_word = common.iter().any(|word| password.eq_ignore_ascii_case(word));
    let is_other = if may { is_reference(password) } else { is_placeholder(password) };
    if password.len() < 3 || is_word || is_other {
        return None;
    }
    let start = at + user.len() + 1;
    Some(Secret { what: "a password".to_owned(), range: start..start + password.len() })
}

/// What is secret of the address of a webhook; `at` is where its path begins.
fn webhook(host: &str, path: &str, at: usize) -> Option<Secret> {
    let host = host.split_once(':').map_or(host, |(host, _port)| host);
    let hook = WEBHOOKS.iter().find(|hook| {
        let before =
            host.len().checked_sub(hook.host.len()).and_then(|at| host.split_at_checked(at));
        before.is_some_and(|(before, end)| {
            end.eq_ignore_ascii_case(hook.host) && (before.is_empty() || before.ends_with('.'))
        }) && path.starts_with(hook.path)
    })?;
    let secret = path.get(hook.path.len()..)?;
    // What is asked of it is no part of what identifies it.
    let key = secret.get(..secret.find(['?', '#']).unwrap_or(secret.len()))?;
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    (key.len() >= MIN_RUN_LEN && digits >= MIN_DIGITS && !is_placeholder(key)).then(|| {
        let start = at + hook.path.len();
        Secret { what: hook.what.to_owned(), range: start..start + secret.len() }
    })
}

/// Whether a character ends a value that stands in no quotes.
fn ends_value(c: char) -> bool {
    // What is masked already is no value.
    c.is_whitespace() || c == MASK || ",;&\"'`}])".contains(c)
}

/// Whether a value looks generated, as it is or encoded for addresses.
fn is_drawn_or_encoded(value: &str) -> bool {
    is_drawn(value)
        || is_letters(value)
        || (value.contains('%') && is_drawn(&value.replace('%', "")))
}

fn private_key(line: &str, at: usize) -> Option<Secret> {
    let rest = prefix_window(line.get(at..)?).strip_prefix(BEGIN_KEY)?;
    let (kind, _) = rest.split_once("-----")?;
    let length = BEGIN_KEY.len() + kind.len() + "-----".len();
    // Those of OpenPGP end with `PRIVATE KEY BLOCK` (RFC 9580, section 6.2.1).
    (kind.contains("PRIVATE KEY") && kind.len() < 40)
        .then(|| Secret { what: "a private key".to_owned(), range: at..at + length })
}

/// The start of a text: longer than any secret, short enough to be inspected at every position.
fn prefix_window(text: &str) -> &str {
    text.get(..text.floor_char_boundary(WINDOW)).unwrap_or(text)
}

/// The length of what is inspected at a position.
const WINDOW: usize = 512;

/// The minimum length of a code in an address.
const MIN_CODE: usize = 32;

/// Whether a data value is a credential by its key. In free text the value must also look random; in
/// machine-written data the key alone decides.
#[must_use]
pub fn is_credential(name: &str, value: &str) -> bool {
    let name = name.as_bytes();
    let named = has_suffix(name, SECRET_NAMES) || has_suffix(name, PASSWORDS);
    named && value.len() >= 4 && !value.contains(char::is_whitespace) && !is_placeholder(value)
}

/// Whether the value of a parameter in an address is a credential: by its name, or because it looks generated.
#[must_use]
pub fn is_credential_of_address(name: &str, value: &str) -> bool {
    let key = ADDRESS_KEYS.iter().any(|key| name.eq_ignore_ascii_case(key));
    let named = key && value.len() >= 8 && !is_placeholder(value);
    named || is_credential(name, value) || is_key(value)
}

/// Whether a part of an address looks like a key: longer than words, random, and no identifier in the form of a UUID.
#[must_use]
pub fn is_key(part: &str) -> bool {
    let groups: Vec<usize> = part.split('-').map(str::len).collect();
    let hex = |c: u8| c.is_ascii_hexdigit() || c == b'-';
    let is_uuid = groups == [8, 4, 4, 4, 12] && part.bytes().all(hex);
    part.len() >= 24 && !is_uuid && is_random(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Alphabet;

    /// Generated here, so that scanners find no secret in the repository.
    pub(crate) fn body(alphabet: Alphabet, length: usize) -> String {
        let all: Vec<u8> =
            (b'!'..=b'~').filter(|c| c.is_ascii_alphanumeric() && alphabet.has(*c)).collect();
        let mut state = 20_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(state >> 33).unwrap_or_default() % all.len();
            all.get(at).copied().map(char::from)
        };
        (0..length).filter_map(|_| next()).collect()
    }

    fn found(text: &str) -> Vec<(String, String)> {
        let mut all = Vec::new();
        scan_line(text, 0, Reach::Certain, &mut all);
        assert_eq!(secrets(text), all, "a line was passed over");
        all.into_iter().map(|s| (s.what, text[s.range].to_owned())).collect()
    }

    #[test]
    fn every_form_is_found_where_it_stands_and_says_what_it_is() {
        for format in FORMATS {
            assert!(format.prefix.len() + format.min_len >= MIN_RUN_LEN, "{}", format.prefix);
            let secret = format!("{}{}", format.prefix, body(format.alphabet, format.min_len));
            for text in
                [secret.clone(), format!("  headers: \"{secret}\"\n"), format!("# {secret}")]
            {
                assert_eq!(
                    found(&text),
                    [(format.what.to_owned(), secret.clone())],
                    "{}",
                    format.prefix
                );
            }
            let glued = format!("a{secret}");
            assert_eq!(found(&glued), [], "{}", format.prefix);
        }
    }

    #[test]
    fn secrets_are_found_by_their_place_and_name() {
        let random = body(Alphabet::Alnum, 24);
        for (text, what) in [
            (format!("Authorization: Bearer {random}"), "a bearer token"),
            (format!("Authorization: \"Basic {random}=\""), "a user name and password"),
            (format!("api_key: \"{random}\""), "a key or token"),
            (format!("X-Api-Key: {random}"), "a key or token"),
            (format!("CLIENT_SECRET = '{random}'"), "a key or token"),
            (format!("token: mutable string = \"{random}\""), "a key or token"),
            (format!("{{\"clientSecret\": \"{random}\"}}"), "a key or token"),
            ("postgres://bot:tr0ub4dor@db/x".to_owned(), "a password"),
            ("password: \"tr0ub4dor\"".to_owned(), "a password"),
            ("WHEN: password == \"tr0ub4dor\"".to_owned(), "a password"),
            ("WHEN: password!='tr0ub4dor'".to_owned(), "a password"),
            ("password !== \"tr0ub4dor\"".to_owned(), "a password"),
            ("\"password\" => \"tr0ub4dor\"".to_owned(), "a password"),
            ("password := \"tr0ub4dor\"".to_owned(), "a password"),
            (format!("api_key == \"{random}\""), "a key or token"),
            (format!("api_key != {random}"), "a key or token"),
            ("-----BEGIN RSA PRIVATE KEY-----".to_owned(), "a private key"),
        ] {
            let all = found(&text);
            assert_eq!(all.iter().map(|(w, _)| w.as_str()).collect::<Vec<_>>(), [what], "{text}");
        }
    }

    #[test]
    fn what_stands_for_a_secret_is_none() {
        let random = body(Alphabet::Alnum, 24);
        for text in [
            "api_key: \"{{secrets.WEATHER_KEY_2024}}\"".to_owned(),
            "Authorization: Bearer {{secrets.token}}".to_owned(),
            "token: ${WEATHER_TOKEN_12345678}".to_owned(),
            "api_key: <your-api-key-1234567890>".to_owned(),
            "api_key: \"xxxxxxxxxxxxxxxxxxxxxxxx\"".to_owned(),
            "api_key: \"your_api_key_0123456789\"".to_owned(),
            "password: \"changeme123\"".to_owned(),
            "password: \"What is your password?\"".to_owned(),
            "password: mutable string = \"\"".to_owned(),
            "login(user: string, password: string) -> object".to_owned(),
            "reset_token = result.confirmation_token".to_owned(),
            "https://user:password@host/".to_owned(),
            "https://host/a:b@c".to_owned(),
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            "Basic information about the account".to_owned(),
            format!("order_id: \"{random}\""),
            "max_tokens: 40960000000000000000".to_owned(),
            "-----BEGIN PUBLIC KEY-----".to_owned(),
        ] {
            assert_eq!(found(&text), [], "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_line_with_a_secret_is_passed_over(parts in proptest::collection::vec(0..25_usize, 0..16)) {
            let random = body(Alphabet::Alnum, 24);
            let text: String = parts
                .iter()
                .map(|part| match *part {
                    0 => random.as_str(),
                    1 => "Bearer ",
                    2 => "password",
                    3 => "api_key",
                    4 => ": ",
                    5 => " = ",
                    6 => "\"",
                    7 => "'",
                    8 => "tr0ub4dor",
                    9 => "://bot:",
                    10 => "@",
                    11 => "-",
                    12 => "\u{a0}",
                    13 => " ",
                    14 => "ghp_",
                    15 => "AKIA",
                    16 => BEGIN_KEY,
                    17 => "PRIVATE KEY-----",
                    18 => "client.secret_",
                    19 => "\n",
                    20 => "=",
                    21 => "!",
                    22 => ">",
                    23 => "_2",
                    _ => "sk-ant-",
                })
                .collect();
            let mut all = Vec::new();
            let mut start = 0;
            for line in text.split_inclusive('\n') {
                scan_line(line, start, Reach::Certain, &mut all);
                start += line.len();
            }
            proptest::prop_assert_eq!(secrets(&text), all, "a line was passed over");
        }
    }

    #[test]
    fn a_long_line_takes_linear_time() {
        let text = "token=a:b@://eyJhbGciOi-Bearer-".repeat(50_000);
        assert_eq!(found(&text), []);
        for part in ["tokens:[", "token==", "token != ", "token_2_"] {
            let text = part.repeat(50_000);
            assert!(mask(&text) == text, "{part}");
        }
    }

    #[test]
    fn what_stands_behind_names_of_several_kinds_is_not_shown() {
        for text in [
            "password1: \"{}\"",
            "API_KEY_2={}",
            "DB_PASSWORD_PROD={}",
            "db-password-staging-2: {}",
            "passwords: [\"{}\"]",
            "tokens = [a, '{}', b]",
            "secrets: {}",
            "credentials: {}",
            "token2: mutable string = \"{}\"",
            "SMTP_PASS: {}",
            "dbPass2={}",
            "pass: \"{}\"",
            "authorization == \"Bearer {}\"",
            "passphrase != {}",
        ] {
            let shown = mask(&text.replace("{}", "Zk7qVx2m")).into_owned();
            assert_eq!(shown, text.replace("{}", "…"));
        }
        assert_eq!(mask("password: Zk7qVx2!"), "password: …");
        let list = "passwords: [\"Zk7qVx2m\", \"Xm2nBv9k\"], tokens: [Qw7eRt5z]";
        assert_eq!(mask(list), "passwords: [\"…\", \"…\"], tokens: […]");
        for plain in [
            "password: string?",
            "token: String!",
            "secret: number?",
            "Passwort: vergessen?",
            "Password: required!",
            "PASS: address1",
            "pass: trip_v2",
            "bypass: rule_12",
            "compass: north_2",
            "the compass is north_2",
            "max_tokens: 4096",
            "a_test: abc123x",
            "passwords: [string, number]",
        ] {
            assert_eq!(mask(plain), plain);
        }
    }

    #[test]
    fn punctuation_of_other_writings_separates() {
        let secret = "Qw8rTy2uIop4Asd6Fgh9";
        for text in [
            "密码：{}",
            "パスワード：{} です",
            "password：{}",
            "token＝{}",
            "password=&quot;{}&quot;",
            "&quot;apiKey&quot;: &quot;{}&quot;",
            "headers['X-Api-Key'] = '{}'",
            "pw={}",
            "pw: \"{}\"",
            "foo password={}… and",
        ] {
            let shown = mask(&text.replace("{}", secret)).into_owned();
            assert_eq!(shown, text.replace("{}", "Qw8r…"), "{text}");
        }
        for plain in ["密码：请输入", "name：value", "a &quot;word&quot; b", "list[0] = value12"]
        {
            assert_eq!(mask(plain), plain);
        }
    }

    /// Long texts with escapes are looked at in parts that overlap.
    #[test]
    fn secrets_behind_many_escapes_are_found() {
        for (escape, quote) in [("%41", "%22"), ("\\u0041", "\\\"")] {
            for before in [10, 21_840, 21_846, 65_530, 65_536, 70_000] {
                let text = format!(
                    "{}{quote}password{quote}:{quote}Qw8rTy2uIop4Asd6Fgh9{quote}",
                    escape.repeat(before)
                );
                assert!(!mask(&text).contains("Qw8rT"), "{before}");
            }
        }
    }
}
