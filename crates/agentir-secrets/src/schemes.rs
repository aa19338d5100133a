//! What follows an authentication scheme: `Bearer …`, `Basic …`, and the values of the header `Authorization`.

use crate::bytes::SCHEMES;
use crate::extent::{HeaderValue, Place, header, unquoted};
use crate::headers::cookie;
use crate::table::{AUTH_SCHEMES, Alphabet, NO_CREDENTIALS};
use crate::values::{
    is_drawn, is_letters, is_likely, is_placeholder, is_random, is_reference, is_words, is_wordy,
};
use crate::{MASK, Reach, Secret, WINDOW, prefix_window};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// `Bearer …`, `Basic …`.
pub(super) fn after_scheme(line: &str, at: usize, reach: Reach) -> Option<Secret> {
    let rest = line.get(at..)?;
    for (scheme, what) in SCHEMES {
        let Some((name, body)) = rest.split_at_checked(scheme.len()) else { continue };
        if !name.eq_ignore_ascii_case(scheme) {
            continue;
        }
        let length = body
            .bytes()
            .take_while(|c| Alphabet::Base64.has(*c) || matches!(c, b'.' | b'~'))
            .count();
        let value = body.get(..length)?;
        if (is_random(value) && !is_words(value))
            || (reach == Reach::Likely && is_credential(scheme.trim_end(), value))
        {
            let start = at + scheme.len();
            // What has other characters is masked with them.
            let rest = if reach == Reach::Likely {
                unquoted(prefix_window(body), Place::WORD).len()
            } else {
                0
            };
            let range = start..start + length.max(rest);
            return Some(Secret { what: (*what).to_owned(), range });
        }
    }
    None
}

/// The kinds of headers whose values are secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// `Authorization`, `Proxy-Authorization`: a scheme and a secret, or a secret.
    Authorization,
    /// `Cookie`, `Set-Cookie`, without names of the cookies.
    Cookie,
    /// `X-Api-Key` and the like.
    Key,
}

/// What is secret in the value of a header, and where: all that follows its scheme, if it has one. Whatever it looks like,
/// but for words and what stands for it.
pub(super) fn credentials<'t>(
    after: &'t str,
    name: Named,
    place: Place<'_>,
) -> Option<(usize, &'t str)> {
    // Each header of a line is looked at by itself.
    let value = header(after, place, WINDOW)?;
    if name == Named::Cookie && value.text.contains('=') {
        return without_names(&value);
    }
    let text = value.text;
    let first = text.split(char::is_whitespace).next()?;
    let behind = text
        .get(first.len()..)?
        .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '\\'));
    let scheme = scheme(first).filter(|is_known| {
        !behind.is_empty() && (name == Named::Authorization || (*is_known && name == Named::Key))
    });
    let is_known = scheme == Some(true);
    let rest = if scheme.is_some() { behind } else { text };
    let rest_start = value.start + (text.len() - rest.len());
    let rest = rest.trim_end_matches([' ', '\t', '\\']);
    let is_one_word = !rest.contains(char::is_whitespace);
    if scheme.is_none() && is_one_word {
        return is_alone(rest, value.is_quoted).then_some((rest_start, rest));
    }
    let is_secret = |number: usize, word: &str| {
        let least = match (number, scheme) {
            (0, None | Some(true)) => MIN_CREDENTIAL,
            _ if value.is_quoted || is_known => MIN_CREDENTIAL,
            _ => MIN_UNKNOWN,
        };
        is_drawn(word)
            || is_letters(word)
            || (is_likely(word) && (value.is_quoted || is_known))
            || (is_known && number == 0 && is_credential(first, word))
            || (word.len() >= least && !is_words(word) && !is_wordy(word) && !is_reference(word))
    };
    // Where the secret words are in the rest.
    let mut found: Option<(usize, usize)> = None;
    let mut at = 0;
    for (number, word) in words(rest).into_iter().enumerate() {
        let start = at + rest.get(at..)?.find(word)?;
        at = start + word.len();
        // What is masked already is no secret, and a mark of a list belongs to none.
        let judged = word.split(MASK).next().unwrap_or_default();
        let judged = judged.trim_end_matches(['\\', '"', '\'', ',', ';']);
        if is_secret(number, judged) {
            let end = start + word.trim_end_matches(['\\', ',', ';']).len();
            found = Some((found.map_or(start, |(start, _)| start), end));
        }
    }
    let (from, to) = found?;
    // In a sentence, what stands around them is a part of it.
    match value.is_whole {
        true => Some((rest_start, rest)),
        false => Some((rest_start + from, rest.get(from..to)?)),
    }
}

/// The words of a text; `{{ … }}` is one, with the blanks within it.
fn words(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let hole = rest.starts_with("{{").then(|| prefix_window(rest).find("}}")).flatten();
        let from = hole.unwrap_or_default();
        let behind = rest.get(from..).unwrap_or_default();
        let end = from + behind.find(char::is_whitespace).unwrap_or(behind.len());
        let (word, next) = rest.split_at(end);
        all.push(word);
        rest = next.trim_start();
    }
    all
}

/// A cookie without a name, and all that follows it, where others have names.
fn without_names<'t>(value: &HeaderValue<'t>) -> Option<(usize, &'t str)> {
    let mut at = 0;
    for part in value.text.split(';') {
        if !part.contains('=')
            && let Some((start, _)) = cookie(part, value.is_whole)
        {
            let rest = value.text.get(at + start..)?;
            return Some((value.start + at + start, rest.trim_end_matches(['\\', ' '])));
        }
        at += part.len() + 1;
    }
    None
}

/// Whether the first word of a value is a scheme, and one that is known. Others are letters, which are no secret.
fn scheme(word: &str) -> Option<bool> {
    if AUTH_SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme)) {
        return Some(true);
    }
    let is_name = word.len() <= 20 && word.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-');
    (is_name && !is_letters(word)).then_some(false)
}

/// Whether what is alone behind the name of a header is a secret.
fn is_alone(value: &str, is_quoted: bool) -> bool {
    let is_word =
        NO_CREDENTIALS.iter().chain(AUTH_SCHEMES).any(|word| value.eq_ignore_ascii_case(word));
    let is_short = value.len() < if is_quoted { MIN_WHOLE } else { MIN_CREDENTIAL };
    let is_name = is_words(value) || is_wordy(value);
    let is_one = value.len() >= MIN_UNKNOWN && value.bytes().all(|c| c.is_ascii_alphanumeric());
    let is_masked = value.contains(MASK);
    is_drawn(value)
        || is_letters(value)
        || (!is_short
            && !is_word
            && !is_masked
            && (!is_name || (is_quoted && is_one))
            && !is_reference(value))
}

/// The minimum length of what is alone in quotes behind the name of a header.
const MIN_WHOLE: usize = 6;

/// The length from which on what follows is no word of a sentence.
const MIN_UNKNOWN: usize = 12;

/// The minimum length of what follows a scheme and is no word.
const MIN_CREDENTIAL: usize = 8;

/// Whether what follows a scheme is a credential rather than the next word of a sentence. `basic` is a word, too; as a
/// scheme it is followed by a login alone.
fn is_credential(scheme: &str, value: &str) -> bool {
    if scheme.eq_ignore_ascii_case("basic") {
        return is_login(value);
    }
    let value = value.trim_end_matches(['.', '-', '/', '=']);
    // `username="…"` is a parameter of a scheme.
    value.len() >= MIN_CREDENTIAL
        && !value.contains('=')
        && !is_placeholder(value)
        && (is_letters(value) || !is_words(value))
}

/// Whether a value is `user:password` in Base64 (RFC 7617, section 2).
fn is_login(value: &str) -> bool {
    let engine = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let value = value.trim_end_matches('=');
    // One that was cut may end within a group.
    let whole = value.len() - usize::from(value.len() % 4 == 1);
    let decoded = value.get(..whole).and_then(|value| engine.decode(value).ok());
    decoded
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .is_some_and(|login| login.contains(':') && !login.chars().any(char::is_control))
}

#[cfg(test)]
mod tests {
    use crate::mask;

    #[test]
    fn what_follows_a_scheme_and_is_no_word_is_not_shown() {
        for (text, secret) in [
            ("Basic {}", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("Bearer {}", "QWxhZGRpbjpvcGVuIHNlc2FtZQ="),
            ("basic {}", "dXNlcjpwYXNzd29yZDEyMw=="),
            ("\"Basic {}\"", "dXNlcjpwYXNzd29yZDEyMw"),
            ("BASIC {}", "YTpiYzEy"),
            ("BaSiC {}", "dTpaazdxVngybQ=="),
            ("Proxy-Authorization: Basic {}", "dTpaazdxVngybQ=="),
            ("\"Proxy-Authorization\": \"Basic {}\"", "dTpaazdxVngybQ=="),
            ("X-Auth: \"Basic {}\"", "dXNlcjpwYXNzd29yZA=="),
            ("Authorization: Bearer {}", "aBcDeFgHiJ"),
            ("bearer {}", "zk7qvx2m"),
            ("Bearer {}", "abcd-1234-efgh-5678"),
            ("Bearer {}", "1f0d6e1c-93c2-4a5b-8f7e-0a1b2c3d4e5f"),
            ("Bearer {}", "mytoken1"),
        ] {
            let masked = mask(&text.replace("{}", secret)).into_owned();
            let head = if secret.len() < 12 { "" } else { &secret[..4] };
            assert_eq!(masked.trim_end_matches('='), text.replace("{}", &format!("{head}…")));
        }
    }

    #[test]
    fn words_that_follow_a_scheme_are_shown() {
        for plain in [
            "basic authentication",
            "Bearer token",
            "the Bearer Authentication scheme",
            "Basic Self-Service plan",
            "a basic HTTP-Authentication",
            "Basic Authentication/Authorization",
            "basic HTTP/1.1 server",
            "bearer of good-news",
            "Bearer your-token-1234567",
            "Bearer {{secrets.token}}",
            "Basic subscription-2024.",
            "Basic information.",
            "basic room/double-bed2",
            "a basic 24h-service",
            "basic COVID-19",
            "basic JavaScript, basic mobileApp",
            "Basic PowerPoint/Excel",
            "basic 2024-11-26",
        ] {
            assert_eq!(mask(plain), plain);
        }
    }
}
