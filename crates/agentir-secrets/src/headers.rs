//! The header `Cookie`: pairs of names and secrets.

use crate::extent::{Place, header};
use crate::names::{before_separator, name_before, name_in_pair};
use crate::table::COOKIE_ATTRIBUTES;
use crate::values::{is_letters, is_likely, is_reference, is_wordy};
use crate::{MASK, Secret};
use std::ops::Range;

/// Where the values of headers with cookies are on a line, in order.
pub(super) fn cookie_headers(line: &str) -> Vec<Header> {
    let bytes = line.as_bytes();
    let mut all: Vec<Header> = Vec::new();
    for at in memchr::memchr2_iter(b'k', b'K', bytes) {
        let name = at.checked_sub(2).and_then(|start| bytes.get(start..at + 3));
        let is_inside = all.last().is_some_and(|last| at < last.place.end);
        if !is_inside && matches!(name, Some(b"ookie" | b"OOKIE")) {
            all.extend(cookies_behind(line, at + 3));
        }
    }
    all
}

/// The value of a header with cookies.
#[derive(Debug)]
pub(super) struct Header {
    /// From its separator to its end.
    place: Range<usize>,
    /// Whether all of it is the value: it is in quotes, or alone on its line. Else it may be a part of a sentence.
    is_whole: bool,
}

/// The value of such a header whose name ends here. In a pair (`"key": "Cookie", "value": "…"`) it is behind another name.
fn cookies_behind(line: &str, end: usize) -> Option<Header> {
    let bytes = line.as_bytes();
    let near = bytes.get(end..)?.iter().take(MAX_PAIR).enumerate();
    let mut separators =
        near.filter(|(_, byte)| matches!(byte, b':' | b'=')).map(|(at, _)| end + at);
    let is_own = |at: usize| {
        let between = bytes.get(end..at).unwrap_or_default();
        between.len() < MAX_MARKS && between.iter().all(|byte| b"2s \t\"'\\])".contains(byte))
    };
    let at = separators.find(|at| is_own(*at) || in_pair(bytes, *at))?;
    let before = before_separator(bytes, at);
    let name = name_before(before).unwrap_or_default();
    let before = before.get(..before.len() - name.len())?;
    let place = Place { separator: *bytes.get(at)?, before };
    let value = header(line.get(at + 1..)?, place)?;
    Some(Header { place: at..at + 1 + value.start + value.text.len(), is_whole: value.is_whole })
}

/// Whether a separator is that of the value in a pair that begins with the name of a secret.
fn in_pair(line: &[u8], at: usize) -> bool {
    name_in_pair(before_separator(line, at)).is_some()
}

/// How far a separator is from the name before it.
const MAX_MARKS: usize = 5;

/// How far the separator of a value is from the name in the same pair.
const MAX_PAIR: usize = 48;

/// The value of a cookie; `at` is the separator. Whatever stands before the next one is a part of it.
pub(super) fn in_cookie(line: &str, at: usize, headers: &[Header]) -> Option<Secret> {
    if line.as_bytes().get(at) != Some(&b'=') {
        return None;
    }
    let after = headers.partition_point(|header| header.place.start < at);
    let header = headers.get(after.checked_sub(1)?).filter(|header| at < header.place.end)?;
    let before = line.get(at.saturating_sub(MAX_ATTRIBUTE)..at).unwrap_or_default();
    let name = before.rsplit([';', ' ', ':', '"', '\'']).next().unwrap_or_default();
    if COOKIE_ATTRIBUTES.iter().any(|attribute| name.eq_ignore_ascii_case(attribute)) {
        return None;
    }
    let rest = line.get(at + 1..header.place.end)?;
    let whole = rest.get(..rest.find(';').unwrap_or(rest.len()))?;
    let (start, value) = cookie(whole, header.is_whole)?;
    let start = at + 1 + start;
    Some(Secret { what: "a cookie".to_owned(), range: start..start + value.len() })
}

/// What is secret in the value of one cookie, and where: all of it, or, in a sentence, its words up to the last that is no
/// word of the sentence.
pub(super) fn cookie(text: &str, is_whole: bool) -> Option<(usize, &str)> {
    let around = |c: char| c.is_whitespace() || c == MASK || "\"'`\\".contains(c);
    let value = text.trim_start_matches(around);
    let start = text.len() - value.len();
    let value = value.trim_end_matches(around);
    let is_secret = |word: &str| {
        let word = word.split(MASK).next().unwrap_or_default();
        let is_word = is_wordy(word) && word.len() < MIN_WORD;
        word.len() >= MIN_VALUE && !is_word && !is_reference(word)
    };
    if is_whole {
        return value.split_whitespace().any(is_secret).then_some((start, value));
    }
    let mut found = None;
    let mut at = 0;
    for (number, word) in value.split_whitespace().enumerate() {
        at += value.get(at..)?.find(word)? + word.len();
        let is_one = is_secret(word)
            && (number == 0 || is_letters(word) || (word.len() >= MIN_LATER && is_likely(word)));
        if is_one {
            found = value.get(..at);
        }
    }
    Some((start, found?))
}

/// The minimum length of a cookie that is not shown.
const MIN_VALUE: usize = 6;

/// The minimum length of one behind other words, which may be those of a sentence.
const MIN_LATER: usize = 12;

/// The length from which on words are no setting, such as a language.
const MIN_WORD: usize = 20;

/// Longer than the name of an attribute.
const MAX_ATTRIBUTE: usize = 16;

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests end by panicking")]
mod tests {
    use crate::mask;

    /// Letters and digits, with as few digits as they may have.
    const VALUES: &[&str] = &[
        "keIpDHahvYFevPUaKRIr",
        "CGp7cM7lmeqfXvWfvPfB",
        "idQfscYstYISZkhfUPe7tbXU",
        "OmI93QQlxmMmtsTpTLeA",
    ];

    #[test]
    fn values_of_headers_are_not_shown_whatever_they_look_like() {
        for value in VALUES {
            for text in [
                "Authorization: {}",
                "Authorization: \"{}\"",
                "    Authorization: \"Bearer {}\"",
                "Proxy-Authorization: {}",
                "{\"Authorization\": \"{}\"}",
                "{\"Authorization\": \"ApiKey {}\"}",
                "{'X-Api-Key': '{}'}",
                "X-Api-Key: {}",
                "X-Auth-Token: {}",
                "Cookie: session={}",
                "Cookie: {}",
                "\"Cookie\": \"sid={}\"",
                "Set-Cookie: sid={}; Path=/; Max-Age=31536000; SameSite=Strict",
                "{\"key\": \"Authorization\", \"value\": \"{}\"}",
                "{'value': '{}', 'key': 'Authorization'}",
                "{\"value\": \"{}\", \"name\": \"X-Api-Key\"}",
            ] {
                let shown = text.replace("{}", &format!("{}…", &value[..4]));
                assert_eq!(mask(&text.replace("{}", value)), shown, "{text}");
            }
        }
        assert_eq!(mask("\"Authorization\": \"kqhtzlmwvbnp\""), "\"Authorization\": \"kqht…\"");
        assert_eq!(mask("Authorization: Bearer xK9$mQ2vL7&W4z"), "Authorization: Bearer xK9$…");
    }

    /// What headers with a secret have, but for what stands around it: `{}` is the secret.
    const FORMS: &[(&str, &[&str])] = &[
        (
            "Authorization",
            &[
                "{}",
                "Bearer {}",
                "ApiKey-v1 {}",
                "Custom {}",
                "Custom a b {}",
                "aaaa bbbb {}",
                "v2 {}",
                "Digest username=bob, realm=x, nonce=abc, response={}",
                "AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host;x-date, Signature={}",
                "OAuth oauth_token=x, oauth_signature={}",
                "Token token={}, nonce=x",
                "Bearer {{user}} {}",
            ],
        ),
        ("Proxy-Authorization", &["Basic {}", "NTLM {}", "x1 y2 {}"]),
        ("Cookie", &["{}", "a={}", "lang=en; a={}", "a=b, {}", "a=b c {}; d=e", "lang=en; {}"]),
        ("Set-Cookie", &["z={}", "z={}; Path=/; HttpOnly", "z=a {}; Max-Age=3600"]),
        ("X-Api-Key", &["{}", "key {}", "a b {}"]),
        ("Ocp-Apim-Subscription-Key", &["{}"]),
    ];

    /// How headers are written, `{n}` and `{v}` for the name and the value.
    const NOTATIONS: &[(&str, &str, &str)] = &[
        ("{\"headers\": {", "\"{n}\": \"{v}\"", "}}"),
        ("headers: {", "{n}: '{v}'", "}"),
        ("[", "{\"key\": \"{n}\", \"value\": \"{v}\"}", "]"),
        ("[", "{\"value\": \"{v}\", \"name\": \"{n}\"}", "]"),
        ("[", "{\"variable\": \"{n}\", \"expression\": \"{v}\"}", "]"),
        ("[", "{\"name\":\"{n}\",\"type\":\"string\",\"default\":\"{v}\"}", "]"),
        ("\"{\\\"headers\\\": {", "\\\"{n}\\\": \\\"{v}\\\"", "}}\""),
        ("curl", " -H '{n}: {v}'", " https://h.example"),
        ("curl", " -H \"{n}: {v}\"", " https://h.example"),
        ("", "\n    {n}: {v}", "\nnext: 1"),
        ("", "\n    {n}: \"{v}\"", "\nnext: 1"),
        ("", "headers[\"{n}\"] = \"{v}\"; ", ""),
    ];

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]
        #[test]
        fn no_part_of_what_stands_behind_the_name_of_a_header_is_shown(
            notation in 0..NOTATIONS.len(),
            headers in proptest::collection::vec((0..FORMS.len(), 0..12_usize, "[B-DF-HJ-NP-TV-W][b-d]q[0-9][B-DF-HJ-NP-TV-Wb-df-hj-np-tv-w0-9]{8,24}[0-9][b-d][0-9]"), 1..5),
        ) {
            let (before, one, behind) = NOTATIONS[notation];
            let mut text = before.to_owned();
            for (number, (form, value, secret)) in headers.iter().enumerate() {
                let (name, values) = FORMS[*form];
                let value = values[value % values.len()].replace("{}", secret);
                if number > 0 && before.ends_with(['{', '[']) {
                    text.push_str(", ");
                }
                text.push_str(&one.replace("{n}", name).replace("{v}", &value));
            }
            text.push_str(behind);
            let masked = mask(&text);
            for (_, _, secret) in &headers {
                let parts = (0..secret.len() - 5).map(|at| &secret[at..at + 6]);
                let shown: Vec<&str> = parts.filter(|part| masked.contains(*part)).collect();
                proptest::prop_assert!(shown.is_empty(), "{}\n{}\n{:?}", text, masked, shown);
            }
            proptest::prop_assert_eq!(&mask(&masked), &masked);
        }
    }

    #[test]
    fn words_and_what_stands_for_a_value_are_shown() {
        for plain in [
            "Authorization: \"{{secrets.token}}\"",
            "Authorization: \"Bearer ${TOKEN_1}\"",
            "\"Authorization\": \"Bearer\"",
            "\"Authorization\": \"required\"",
            "\"authorization\": \"string\"",
            "Authorization: Bearer <your-token-1>",
            "authorization: get_authorization(user1)",
            "authorization = request.headers.authorization",
            "Cookie: theme=dark; lang=en-US",
            "\"Cookie\": \"sid={{session.id}}\", \"endpoint\": \"https://h/?format=jsonschema2\"",
            "Cookies: we use them for analytics",
            "X-Api-Key: {{secrets.KEY}}",
            "X-Api-Key: required",
            "partition-key: customerOrderId",
            "{\"value\": \"Confirm the order\", \"key\": \"title\"}",
        ] {
            assert_eq!(mask(plain), plain);
        }
    }
}
