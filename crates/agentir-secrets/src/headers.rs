//! The header `Cookie`: pairs of names and secrets.

use crate::extent::{Place, header};
use crate::names::{before_separator, name_before, name_in_pair};
use crate::table::COOKIE_ATTRIBUTES;
use crate::values::{is_letters, is_likely, is_reference, is_wordy};
use crate::{MASK, Secret, ends_value, is_drawn_or_encoded, prefix_window};
use std::ops::Range;

/// A cookie of a line.
#[derive(Debug)]
pub(super) struct Cookie {
    /// The separator between its name and its value.
    separator: usize,
    value: Range<usize>,
}

/// The secret cookie whose separator is here.
pub(super) fn cookie_at(at: usize, cookies: &[Cookie]) -> Option<Secret> {
    let found = cookies.binary_search_by_key(&at, |cookie| cookie.separator).ok()?;
    let range = cookies.get(found)?.value.clone();
    Some(Secret { what: "a cookie".to_owned(), range })
}

/// The secret cookies of a line, in order.
pub(super) fn cookies(line: &str) -> Vec<Cookie> {
    let bytes = line.as_bytes();
    let mut all = Vec::new();
    // The end of what was looked at, and whether a header was met.
    let (mut done, mut is_behind) = (0, false);
    for at in memchr::memchr2_iter(b'k', b'K', bytes) {
        let name = at.checked_sub(2).and_then(|start| bytes.get(start..at + 3));
        if at < done || !matches!(name, Some(b"ookie" | b"OOKIE")) {
            continue;
        }
        let Some((value, is_whole)) = cookies_behind(line, at + 3) else { continue };
        if is_behind {
            drawn(line, done..value.start, &mut all);
        }
        done = value.end;
        is_behind = true;
        in_header(line, value, is_whole, &mut all);
    }
    if is_behind {
        drawn(line, done..line.len(), &mut all);
    }
    all
}

/// Adds the secret cookies of a header. Whatever stands before the next cookie is a part of it.
fn in_header(line: &str, header: Range<usize>, is_whole: bool, all: &mut Vec<Cookie>) {
    let mut start = header.start;
    for part in line.get(header).unwrap_or_default().split(';') {
        // All of the part is looked at once; then what follows its other separators, which may be in the name.
        let mut is_first = true;
        for at in memchr::memchr_iter(b'=', part.as_bytes()) {
            if is_attribute(part, at) {
                continue;
            }
            let rest = part.get(at + 1..).unwrap_or_default();
            let word = prefix_window(rest).split_whitespace().next().unwrap_or_default();
            let found = match cookie(word, true) {
                _ if is_first => cookie(rest, is_whole),
                Some(_) if is_whole => cookie(rest, true),
                of_word => of_word,
            };
            is_first = false;
            if let Some((skipped, value)) = found {
                let from = start + at + 1 + skipped;
                all.push(Cookie { separator: start + at, value: from..from + value.len() });
                if is_whole {
                    break;
                }
            }
        }
        start += part.len() + 1;
    }
}

/// Whether what stands before a separator is an attribute of a cookie.
fn is_attribute(part: &str, at: usize) -> bool {
    let before = part.as_bytes().get(at.saturating_sub(MAX_ATTRIBUTE)..at).unwrap_or_default();
    let name = before.rsplit(|byte| b"; :\"'".contains(byte)).next().unwrap_or_default();
    COOKIE_ATTRIBUTES.iter().any(|attribute| name.eq_ignore_ascii_case(attribute.as_bytes()))
}

/// Adds what looks generated between headers and behind them: where a header ends in a sentence, nobody says.
fn drawn(line: &str, place: Range<usize>, all: &mut Vec<Cookie>) {
    let text = line.get(place.clone()).unwrap_or_default();
    for at in memchr::memchr_iter(b'=', text.as_bytes()) {
        let rest = prefix_window(text.get(at + 1..).unwrap_or_default());
        let value = rest.get(..rest.find(ends_value).unwrap_or(rest.len())).unwrap_or_default();
        if is_drawn_or_encoded(value) {
            let separator = place.start + at;
            all.push(Cookie { separator, value: separator + 1..separator + 1 + value.len() });
        }
    }
}

/// Where the value of such a header is whose name ends here, and whether all of it is the value: it is in quotes, or alone on
/// its line; else it may be a part of a sentence. In a pair (`"key": "Cookie", "value": "…"`) it is behind another name.
fn cookies_behind(line: &str, end: usize) -> Option<(Range<usize>, bool)> {
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
    let place = Place::of(bytes, at, before, name.len())?;
    // What one header has no other one of the line has, so that it may be as long as the line.
    let value = header(line.get(at + 1..)?, place, usize::MAX)?;
    let start = at + 1 + value.start;
    Some((start..start + value.text.len(), value.is_whole))
}

/// Whether a separator is that of the value in a pair that begins with the name of a secret.
fn in_pair(line: &[u8], at: usize) -> bool {
    name_in_pair(before_separator(line, at)).is_some()
}

/// How far a separator is from the name before it.
const MAX_MARKS: usize = 5;

/// How far the separator of a value is from the name in the same pair.
const MAX_PAIR: usize = 48;

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
        (
            "Cookie",
            &[
                "a=b; b={}; c={}",
                "a=b;b={};c=d",
                "{long}; a={}",
                "a=b; {long}; b={}",
                "lang=en; theme=dark; a={}; b={}",
            ],
        ),
        ("Set-Cookie", &["z={}", "z={}; Path=/; HttpOnly", "z=a {}; Max-Age=3600"]),
        ("X-Api-Key", &["{}", "key {}", "a b {}"]),
        ("Ocp-Apim-Subscription-Key", &["{}"]),
    ];

    /// How headers are written, `{n}` and `{v}` for the name and the value.
    const NOTATIONS: &[(&str, &str, &str)] = &[
        ("headers:", "\n  {n}: {v}", "\nnext: 1"),
        ("headers:", "\n  \"{n}\": '{v}' # by hand", "\nnext: 1"),
        ("headers:", "\n  - \"{n}: {v}\"", "\nnext: 1"),
        ("[", "\"{n}: {v}\"", ", \"https://h.example\"]"),
        ("{\"headers\": [", "{ \"header\" : \"{n}\" , \"value\" : \"{v}\" }", "]}"),
        ("curl", " --header='{n}: {v}'", " -d 'a=b'"),
        ("curl", " -H'{n}: {v}'", " | jq '.a'"),
        ("", "\n{n}: {v}\r", "\n\r\nbody"),
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
            // Longer than what is inspected elsewhere, and than servers take.
            let long = "lang=en; ".repeat(1_000);
            let long = long.trim_end_matches("; ");
            let mut text = before.to_owned();
            for (number, (form, value, secret)) in headers.iter().enumerate() {
                let (name, values) = FORMS[*form];
                let value = values[value % values.len()].replace("{}", secret);
                let value = value.replace("{long}", long);
                if number > 0 && before.ends_with(['{', '[']) {
                    text.push_str(", ");
                }
                text.push_str(&one.replace("{n}", name).replace("{v}", &value));
            }
            text.push_str(behind);
            let masked = mask(&text);
            for (_, _, secret) in &headers {
                prop_assert_hidden(secret, &masked)?;
            }
            proptest::prop_assert_eq!(&mask(&masked), &masked);
        }
    }

    /// Where secrets stand in addresses.
    const ADDRESSES: &[&str] = &[
        "https://bob:{}@h.example/p",
        "https://{}@h.example/p",
        "postgres://bob:{}@h.example:5432/db?sslmode=require",
        "https://h.example/p?token={}",
        "https://h.example/p?a=b&api_key={}&c=d",
        "https://h.example/p?a=b&sig={}#top",
        "https://h.example/p?a=b&password={}",
        "https://h.example/p?access_token={}&x=1",
    ];

    proptest::proptest! {
        #[test]
        fn what_is_secret_in_an_address_is_not_shown(
            address in proptest::sample::select(ADDRESSES),
            around in proptest::sample::select(&["{}", "\"{}\"", "'{}'", "<{}>", "url: {}", "[x]({})", "GET {} HTTP/1.1"][..]),
            secret in "[B-DF-HJ-NP-TV-W][b-d]q[0-9][B-DF-HJ-NP-TV-Wb-df-hj-np-tv-w0-9]{14,24}[0-9][b-d][0-9]",
        ) {
            let text = around.replace("{}", &address.replace("{}", &secret));
            let masked = mask(&text);
            prop_assert_hidden(&secret, &masked)?;
        }
    }

    /// Fails if six characters in a row of a secret are shown.
    fn prop_assert_hidden(
        secret: &str,
        masked: &str,
    ) -> Result<(), proptest::test_runner::TestCaseError> {
        let parts = (0..secret.len() - 5).map(|at| &secret[at..at + 6]);
        let shown: Vec<&str> = parts.filter(|part| masked.contains(*part)).collect();
        proptest::prop_assert!(shown.is_empty(), "{}\n{:?}", masked, shown);
        Ok(())
    }

    #[test]
    fn a_header_goes_to_the_end_of_its_quotation_or_line() {
        let long = "lang=en; ".repeat(1_000);
        for (text, shown) in [
            (
                "-H 'Cookie: a=\"b\"; c=Zk7qVx2m; d=e' -d 'f=Zk7qVx2m'",
                "-H 'Cookie: a=\"b\"; c=…; d=e' -d 'f=Zk7qVx2m'",
            ),
            ("Cookie: \"a\"; c=Zk7qVx2m", "Cookie: \"a\"; c=…"),
            (
                "[\"Cookie: a=b; c=Zk7qVx2m\", \"x=Zk7qVx2m\"]",
                "[\"Cookie: a=b; c=…\", \"x=Zk7qVx2m\"]",
            ),
            (
                "\"Authorization: Custom Zk7qVx2m\", \"Zk7qVx2m\"",
                "\"Authorization: Custom …\", \"Zk7qVx2m\"",
            ),
            ("\"Cookie\": \"a=b; c=Zk7qVx2m", "\"Cookie\": \"a=b; c=…"),
            (
                "say the Cookie: a=b, \"x\" – session=keIpDHahvYFevPUaKRIr",
                "say the Cookie: a=b, \"x\" – session=keIp…",
            ),
        ] {
            assert_eq!(mask(text), shown);
        }
        for (before, behind) in [("Cookie: ", ""), ("\"Cookie\": \"", "\""), ("x Cookie: ", " y")] {
            let text = format!("{before}{long}c=Zk7qVx2m; d=e{behind}");
            assert_eq!(mask(&text), text.replace("Zk7qVx2m", "…"));
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
