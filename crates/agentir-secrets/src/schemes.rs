//! What follows an authentication scheme: `Bearer …`, `Basic …`, and the values of the header `Authorization`.

use crate::bytes::SCHEMES;
use crate::table::{AUTH_SCHEMES, Alphabet};
use crate::values::{is_drawn, is_letters, is_likely, is_placeholder, is_random};
use crate::{Reach, Secret, ends_value};
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
            return Some(Secret { what: (*what).to_owned(), range: start..start + length });
        }
    }
    None
}

/// What is secret in the value of the header `Authorization`, and where: what follows its scheme, if it has one.
pub(super) fn credentials(after: &str) -> Option<(usize, &str)> {
    let skip = |text: &'_ str| {
        text.len() - text.trim_start_matches([' ', '\t', '"', '\'', '`', '\\']).len()
    };
    let word = |text: &'_ str| text.find(|c| ends_value(c) || c == '\\').unwrap_or(text.len());
    let start = skip(after);
    let value = after.get(start..)?;
    let first = value.get(..word(value))?;
    let is_scheme =
        first.len() <= 20 && first.bytes().all(|c| c.is_ascii_alphabetic() || c == b'-');
    let behind = value.get(first.len()..)?;
    if !is_scheme || !behind.starts_with(' ') {
        return (is_drawn(first) || is_letters(first)).then_some((start, first));
    }
    let skipped = skip(behind);
    let second = behind.get(skipped..)?;
    let second = second.get(..word(second))?;
    let known = AUTH_SCHEMES.iter().any(|scheme| first.eq_ignore_ascii_case(scheme));
    let is_secret = is_drawn(second)
        || is_letters(second)
        || (known && (is_likely(second) || is_credential(first, second)));
    is_secret.then_some((start + first.len() + skipped, second))
}

/// The minimum length of what follows a scheme and is no word.
const MIN_CREDENTIAL: usize = 8;

/// Whether what follows a scheme is a credential rather than the next word of a sentence. `basic` is a word, too.
fn is_credential(scheme: &str, value: &str) -> bool {
    if scheme.eq_ignore_ascii_case("basic") && is_login(value) {
        return true;
    }
    let value = value.trim_end_matches(['.', '-', '/', '=']);
    // `username="…"` is a parameter of a scheme.
    value.len() >= MIN_CREDENTIAL
        && !value.contains('=')
        && !is_placeholder(value)
        && (is_letters(value) || !is_words(value))
}

/// Whether a text is words, joined by hyphens and the like: `self-service`, `Room/Suite`, `configuration-v2`. A number
/// may follow them.
fn is_words(text: &str) -> bool {
    let mut digits = 0;
    for (at, part) in text.split(['-', '_', '.', '/']).enumerate() {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let here = part.len() - word.len();
        let counts = here == 0 || (at > 0 && (word.is_empty() || here == 1));
        if !is_word(word) || !counts || (digits > 0 && !word.is_empty()) {
            return false;
        }
        digits += here;
    }
    digits <= MAX_DIGITS
}

/// The number of digits of a year, or of a version.
const MAX_DIGITS: usize = 4;

/// The length of an abbreviation.
const MAX_ABBREVIATION: usize = 4;

/// Whether a text is lower-case letters, a capitalised word, or an abbreviation in capitals.
fn is_word(text: &str) -> bool {
    let rest = text.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or(text);
    let is_short =
        text.len() <= MAX_ABBREVIATION && text.bytes().all(|byte| byte.is_ascii_uppercase());
    is_short || rest.bytes().all(|byte| byte.is_ascii_lowercase())
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
        ] {
            assert_eq!(mask(plain), plain);
        }
    }
}
