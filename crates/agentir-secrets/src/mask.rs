//! Texts as they may be shown: of a secret its first characters, and a mark for the rest.

use crate::table::{Alphabet, KEY_HEADERS};
use crate::values::is_told_apart;
use crate::views::{MAX_DEPTH, views};
use crate::{BEGIN_KEY, Reach, search};
use std::ops::Range;

/// What stands for the part of a secret that is not shown.
pub const MASK: char = '…';

/// The number of characters of a secret that are shown.
pub(crate) const HEAD: usize = 4;
/// The length in characters from which on some of a secret is shown.
pub(crate) const MIN_SHOWN: usize = 12;

/// What ends a private key.
const END_KEY: &str = "-----END ";
/// A private key is not longer. RSA keys of 16384 bits are less than half as long.
const MAX_KEY: usize = 32 << 10;
/// The minimum length of a line of a private key, but for its last one.
const MIN_KEY_LINE: usize = 16;

/// A secret in a text and the part of it that is not shown. It is on one line: a private key has a mask for each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// The bytes of the secret.
    pub secret: Range<usize>,
    /// The bytes that are not shown, which end where the secret ends.
    pub hidden: Range<usize>,
    /// Whether it is looked for elsewhere: it is no word that others use.
    pub searched: bool,
}

impl Mask {
    /// The mask of a secret at some bytes of a text.
    pub(crate) fn new(text: &str, secret: Range<usize>) -> Self {
        let inside = text.get(secret.clone()).unwrap_or_default();
        let head = if inside.chars().nth(MIN_SHOWN - 1).is_some() {
            inside.chars().take(HEAD).map(char::len_utf8).sum()
        } else {
            0
        };
        Self { hidden: secret.start + head..secret.end, secret, searched: true }
    }
}

/// The masks of a text, in order and without overlap.
#[must_use]
pub fn masks(text: &str) -> Vec<Mask> {
    let mut all = plain(text);
    if behind_escapes(text, MAX_DEPTH, &mut all) {
        all = merged(all);
    }
    all
}

/// The masks of a text with those of places that are secrets because somebody says so, who knows more than the text. Each
/// line of such a place has a mask.
#[must_use]
pub fn with_secrets(text: &str, found: Vec<Mask>, places: &[Range<usize>]) -> Vec<Mask> {
    let mut all = found;
    for place in places {
        let mut start = place.start;
        for line in text.get(place.clone()).unwrap_or_default().split_inclusive('\n') {
            let around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`');
            let value = line.trim_start_matches(around);
            let from = start + (line.len() - value.len());
            let value = value.trim_end_matches(around);
            if !value.is_empty() {
                // A word may stand elsewhere without being one.
                let searched = is_told_apart(value);
                all.push(Mask { searched, ..Mask::new(text, from..from + value.len()) });
            }
            start += line.len();
        }
    }
    merged(all)
}

/// Adds the masks of what stands behind escapes, also in texts in texts. Returns whether there are any.
fn behind_escapes(text: &str, depth: usize, all: &mut Vec<Mask>) -> bool {
    let before = all.len();
    if let Some(deeper) = depth.checked_sub(1) {
        views(text, &mut |view| {
            let mut found = plain(&view.text);
            behind_escapes(&view.text, deeper, &mut found);
            all.extend(found.into_iter().map(|mask| Mask {
                secret: view.place(mask.secret.start)..view.place(mask.secret.end),
                hidden: view.place(mask.hidden.start)..view.place(mask.hidden.end),
                searched: mask.searched,
            }));
        });
    }
    all.len() > before
}

/// The masks of a text as it is written.
fn plain(text: &str) -> Vec<Mask> {
    let mut all = Vec::new();
    // The ends of the last secret and of the last private key.
    let (mut done, mut key_done, mut overlap) = (0, 0, false);
    let mut ends = memchr::memmem::find_iter(text.as_bytes(), END_KEY).peekable();
    for secret in search(text, Reach::Likely) {
        let range = secret.range;
        if !text.get(range.clone()).is_some_and(|found| found.starts_with(BEGIN_KEY)) {
            // Also within a private key: not all that stands between its lines is masked with it.
            if range.end > done {
                overlap |= range.start < done;
                done = range.end;
                all.push(Mask::new(text, range));
            }
            continue;
        }
        if range.start < key_done {
            continue;
        }
        while ends.next_if(|end| *end < range.end).is_some() {}
        let end = ends.peek().copied().filter(|end| *end - range.end <= MAX_KEY);
        key_done = key(text, range.end, end, &mut all);
    }
    if key_done > 0 || overlap { merged(all) } else { all }
}

/// Masks in order, as one where they overlap.
pub(crate) fn merged(mut all: Vec<Mask>) -> Vec<Mask> {
    all.sort_by_key(|mask| (mask.hidden.start, mask.hidden.end));
    let mut merged: Vec<Mask> = Vec::with_capacity(all.len());
    for mask in all {
        match merged.last_mut() {
            Some(last) if mask.hidden.start < last.hidden.end => {
                last.hidden.end = last.hidden.end.max(mask.hidden.end);
                last.secret.start = last.secret.start.min(mask.secret.start);
                last.secret.end = last.secret.end.max(mask.secret.end);
                last.searched |= mask.searched;
            }
            _ => merged.push(mask),
        }
    }
    merged
}

/// Masks the lines of a private key, from the end of its first line to the start of its last one, if there is one.
/// Returns where it stopped.
fn key(text: &str, start: usize, end: Option<usize>, all: &mut Vec<Mask>) -> usize {
    let mut at = start;
    let rest = text.get(start..end.unwrap_or(text.len())).unwrap_or_default();
    let mut begun = false;
    for (number, line) in rest.split_inclusive('\n').enumerate() {
        let content = line.trim();
        let from = at + (line.len() - line.trim_start().len());
        let range = from..from + content.len();
        if end.is_none() && !is_key_line(content) {
            // The line on which the key begins may contain all of it, or nothing of it. Headers and an empty line
            // may come before it.
            if number > 0 && (begun || !is_key_header(content)) {
                break;
            }
            if number == 0 {
                runs(content, range.start, all);
            }
        } else if !content.is_empty() {
            begun = true;
            all.push(Mask { hidden: range.clone(), secret: range, searched: true });
        }
        at += line.len();
    }
    at
}

/// Whether a line may stand between the first line of a private key and the key: one of its headers, or nothing.
fn is_key_header(line: &str) -> bool {
    let line = line.trim_matches(|c: char| c.is_whitespace() || "#*|>\"'\\,;".contains(c));
    let name = line.split_once(':').map(|(name, _)| name);
    line.is_empty()
        || name.is_some_and(|name| KEY_HEADERS.iter().any(|key| key.eq_ignore_ascii_case(name)))
}

/// Whether a line may belong to a private key: nothing but its characters, within the marks of comments and texts.
fn is_key_line(line: &str) -> bool {
    let line = line.trim_matches(|c: char| c.is_whitespace() || "#*|>\"'\\,;".contains(c));
    let line = line.strip_suffix("\\n").unwrap_or(line);
    line.len() >= MIN_KEY_LINE && line.bytes().all(|byte| Alphabet::Base64.has(byte))
}

/// Masks the long words of a line.
fn runs(line: &str, offset: usize, all: &mut Vec<Mask>) {
    let mut start = 0;
    for (at, byte) in line.bytes().chain([b' ']).enumerate() {
        if Alphabet::Base64.has(byte) {
            continue;
        }
        if at - start >= MIN_KEY_LINE {
            let range = offset + start..offset + at;
            all.push(Mask { hidden: range.clone(), secret: range, searched: true });
        }
        start = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::masker::{Masker, mask};
    use crate::tests::body;
    use std::borrow::Cow;

    fn token() -> String {
        format!("ghp_{}", body(Alphabet::Alnum, 36))
    }

    #[test]
    fn of_a_secret_its_start_is_shown() {
        let token = token();
        assert_eq!(mask(&format!("use {token}, please")), "use ghp_…, please");
        assert_eq!(mask("password: \"tr0ub4dor\""), "password: \"…\"");
        assert_eq!(mask("password: \"tr0ub4dor&3-x\""), "password: \"tr0u…\"");
        assert_eq!(mask("postgres://bot:pa5w@db"), "postgres://bot:…@db");
        assert!(matches!(mask("no secret"), Cow::Borrowed("no secret")));
    }

    #[test]
    fn private_keys_are_masked_on_all_their_lines() {
        let line = body(Alphabet::Alnum, 64);
        let whole = format!(
            "a\n  -----BEGIN RSA PRIVATE KEY-----\n  {line}\n  {line}\n  xyz==\n  -----END RSA PRIVATE KEY-----\nb"
        );
        let masked = "a\n  -----BEGIN RSA PRIVATE KEY-----\n  …\n  …\n  …\n  -----END RSA PRIVATE KEY-----\nb";
        assert_eq!(mask(&whole), masked);
        let cut = format!("-----BEGIN PRIVATE KEY-----\n# {line}\n# {line}\nno key");
        assert_eq!(mask(&cut), "-----BEGIN PRIVATE KEY-----\n…\n…\nno key");
        let in_line =
            format!("k: \"-----BEGIN PRIVATE KEY-----\\n{line}\\n-----END PRIVATE KEY-----\"");
        let masked = "k: \"-----BEGIN PRIVATE KEY-----…-----END PRIVATE KEY-----\"";
        assert_eq!(mask(&in_line), masked);
        let folded = format!("-----BEGIN PRIVATE KEY----- {line} {line} and so on");
        assert_eq!(mask(&folded), "-----BEGIN PRIVATE KEY----- … … and so on");
    }

    #[test]
    fn what_follows_the_first_line_of_a_private_key_is_masked_like_anything_else() {
        let line = body(Alphabet::Alnum, 64);
        for begin in [
            "-----BEGIN PRIVATE KEY-----",
            "# paste the -----BEGIN RSA PRIVATE KEY----- block",
            "key: \"-----BEGIN PRIVATE KEY-----\"",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n",
        ] {
            for (text, masked) in [
                ("user: bob\npassword: \"tr0ub4dor77\"", "user: bob\npassword: \"…\""),
                ("Comment: password: \"tr0ub4dor77\"", "Comment: password: \"…\""),
                ("Authorization: Bearer aB3dEf6hIj9k", "Authorization: Bearer aB3d…"),
                ("\nnote: x\ntoken=tr0ub4dor77", "\nnote: x\ntoken=…"),
            ] {
                assert_eq!(mask(&format!("{begin}\n{text}")), format!("{begin}\n{masked}"));
            }
        }
        // On the first line as well.
        let text = format!("-----BEGIN PRIVATE KEY----- password: \"tr0ub4\" {line}");
        assert_eq!(mask(&text), "-----BEGIN PRIVATE KEY----- password: \"…\" …");
        // Headers (RFC 9580, section 6.2.2; RFC 1421, section 4.6) do not end a key.
        for headers in [
            "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n",
            "Version: Desk 1\nComment: by hand\nHash: SHA256\nCharset: UTF-8\nMessageID: x\n\n",
        ] {
            let text = format!("-----BEGIN RSA PRIVATE KEY-----\n{headers}{line}\n{line}");
            let masked = format!("-----BEGIN RSA PRIVATE KEY-----\n{headers}…\n…");
            assert_eq!(mask(&text), masked);
        }
    }

    #[test]
    fn what_is_known_is_found_without_its_context() {
        let random = body(Alphabet::Alnum, 24);
        let text = format!("api_key: \"{random}\"\npassword: 'tr0ub4dor'");
        let found = masks(&text);
        let masker: Masker = [(text.as_str(), found.as_slice())].into_iter().collect();
        let head = &random[..4];
        assert_eq!(masker.mask(&format!("`{random}` is unused")), format!("`{head}…` is unused"));
        assert_eq!(masker.mask(&format!("cut: {}…", &random[..15])), format!("cut: {head}……"));
        assert_eq!(masker.mask(&format!("cut: {}…", &random[..6])), format!("cut: {head}……"));
        assert_eq!(masker.mask("say tr0ub4dor, not tr0ub4dors"), "say …, not tr0ub4dors");
        assert_eq!(masker.mask(&format!("x{random}{random}")), format!("x{head}…{head}…"));
        assert!(!format!("{masker:?}").contains(&random));
        // A name with a token is made into words.
        let token = token();
        let found = masks(&token);
        let masker: Masker = [(token.as_str(), found.as_slice())].into_iter().collect();
        assert_eq!(masker.mask(&token.replace('_', " ")), format!("ghp {}…", &token[4..8]));
    }

    #[test]
    fn many_keys_take_linear_time() {
        let text = "-----BEGIN PRIVATE KEY-----\n".repeat(50_000);
        assert_eq!(masks(&text), []);
        let text = "-----BEGIN PRIVATE KEY----- x -----END ".repeat(50_000);
        assert_eq!(masks(&text).len(), 50_000);
    }

    /// Starts of what is looked for, each of which hides the next one if its end is missing.
    const HOSTILE: &[&str] = &[
        "Cookie: a=b ",
        "Cookie: a=b; ",
        "Cookie:\"a=b ",
        "cookie='a=b cookie=\"",
        "cookie:\\\"a=",
        "x Cookie: a={{b ",
        "a=b=",
        "=",
        "==x",
        ":=",
        ";a=",
        "Authorization: aa ",
        "Authorization: {{ ",
        "Authorization:\"{{ ",
        "Authorization:\"aa Authorization:'bb ",
        "authorization='' ",
        "authorization:\\",
        "\\",
        "\\\"",
        "{{ ",
        "{{",
        "$(a ",
        "Bearer ",
        "Bearer aaaa",
        "_eyJhbGciOixxx",
        "_EAAaaaaa",
        "00Da ",
        "value:\"",
        "value:'a' , key:",
        "\"value\": \"a\", \"name\": \"Cookie\", ",
        "password:[",
        "password: a,b: ",
        "passwords: [a, ",
        "--token ",
        "mysql -p",
        "://a:b@",
        "machine a login b password ",
        " is ",
        "-----BEGIN ",
        "&amp;a=",
        "%25",
        "\\u0041",
        "\u{ff1a}",
    ];

    /// What may stand before and behind many of them.
    const AROUND: &[(&str, &str)] =
        &[("", ""), ("Cookie: ", ""), ("Authorization: ", "xxx"), ("  \"Cookie\": \"", " example")];

    /// The length of a short text.
    const SHORT: usize = 16 << 10;

    /// Masking eight times as much text takes eight times as long; allows three times that. If time grew with the square
    /// of the length, it would take 64 times as long.
    fn assert_linear(length: usize, text: impl Fn(usize) -> String) {
        let time = |text: &str| {
            let begun = std::time::Instant::now();
            let _masks = masks(text);
            begun.elapsed().as_secs_f64()
        };
        let (few, many) = (time(&text(length)), time(&text(8 * length)));
        let start: String = text(length).chars().take(80).collect();
        assert!(many < 24.0 * few + 0.25, "{start}: {few} s, {many} s");
    }

    #[test]
    fn hostile_texts_take_linear_time() {
        for start in HOSTILE {
            for (before, behind) in AROUND {
                assert_linear(SHORT, |length| {
                    format!("{before}{}{behind}", start.repeat(length / start.len()))
                });
            }
        }
    }

    /// The length of a file, and with eight times as much that of a large one.
    const LONG: usize = 1 << 20;

    #[test]
    fn one_long_header_and_many_take_linear_time() {
        let blanks = " ".repeat(4096);
        for (before, part) in [
            ("Cookie: ", "a=b c=d "),
            ("Cookie: ", "a=example;"),
            ("Authorization: ", "{{ a "),
            ("Authorization: \"", "\\\\\\\\\\\\\\\\ a"),
            ("", &format!("{blanks}Authorization: aa")),
        ] {
            assert_linear(LONG, |length| format!("{before}{}", part.repeat(length / part.len())));
        }
    }

    #[test]
    fn values_are_masked_as_a_whole() {
        let values = ["super secret/value", "yes-no", "8394726155", "true", "12345", "production"];
        let masker = Masker::default().with_values(values);
        for (text, shown) in [
            ("say super secret/value.", "say supe…."),
            ("xsuper secret/valuex", "xsupe…x"),
            ("a?q=super%20secret%2Fvalue&b", "a?q=supe…&b"),
            ("yes-no, yes-now", "…, yes-now"),
            ("8394726155 83947261551", "… 83947261551"),
            // What begins like one is another text.
            ("super secret/other", "super secret/other"),
            ("true 12345 production", "true 12345 production"),
        ] {
            assert_eq!(masker.mask(text), shown);
        }
        let masker = Masker::default().with_values(["two\nlines \"quoted\""]);
        assert_eq!(masker.mask("{\"a\": \"two\\nlines \\\"quoted\\\"\"}"), "{\"a\": \"two\\…\"}");
    }

    #[test]
    fn what_somebody_says_is_a_secret_is_one_wherever_it_stands() {
        let text =
            "\"key\": \"apiSecret\",\n\"value\": \"4XPKgIBn2XtOUMo8\",\n\"title\": \"hello\"";
        let at = |part: &str| {
            let start = text.find(part).unwrap_or_default();
            start..start + part.len()
        };
        let all = with_secrets(text, masks(text), &[at("\"4XPKgIBn2XtOUMo8\""), at("hello")]);
        let masker: Masker = [(text, all.as_slice())].into_iter().collect();
        assert_eq!(masker.mask("say 4XPKgIBn2XtOUMo8, hello"), "say 4XPK…, hello");
        let hidden: Vec<_> = all.iter().map(|mask| &text[mask.hidden.clone()]).collect();
        assert_eq!(hidden, ["gIBn2XtOUMo8", "hello"]);
    }

    proptest::proptest! {
        #[test]
        fn what_is_reported_is_masked(parts in proptest::collection::vec("[a-zA-Z0-9$&<>{}%;,=: \"'\\\\-]{0,9}|password: |token=|Bearer |://u:", 0..12)) {
            let text = parts.concat();
            let masks = masks(&text);
            for secret in crate::secrets(&text) {
                let Mask { hidden, .. } = Mask::new(&text, secret.range);
                let covers = |mask: &Mask| mask.hidden.start <= hidden.start && hidden.end <= mask.hidden.end;
                proptest::prop_assert!(masks.iter().any(covers), "{}", text);
            }
        }

        #[test]
        fn no_secret_survives_its_mask(before in ".{0,20}", behind in ".{0,20}") {
            let token = token();
            let text = format!("{before} {token} {behind}");
            let masked = mask(&text).into_owned();
            proptest::prop_assert!(!masked.contains(&token[8..]));
            let twice = mask(&masked).into_owned();
            proptest::prop_assert_eq!(twice, masked);
        }
    }

    #[test]
    fn of_what_others_find_in_logs_the_start_is_shown() {
        let mixed = body(Alphabet::Alnum, 28);
        let letters = "kQhTzLmWvBnPydRwZa";
        let forty = body(Alphabet::Alnum, 40);
        let guid = "1f0d6e1c-93c2-4a5b-8f7e-0a1b2c3d4e5f";
        for (text, secret) in [
            ("authorization: bearer {}", mixed.as_str()),
            ("AUTHORIZATION: BEARER {}", &mixed),
            ("Authorization: Token {}", &mixed),
            ("Authorization: ApiKey {}", &mixed),
            ("Authorization: Signed {}", &mixed),
            ("Authorization: {}", &forty),
            ("\"Authorization\": \"{}\"", &forty),
            ("\\\"Authorization\\\": \\\"Token {}\\\"", &forty),
            ("Authorization: Token {}", letters),
            ("curl -H 'Authorization: Bot {}' x", &forty),
            ("Cookie: session={}", &forty),
            ("Cookie: a=b; session={}; c=d", &forty),
            ("set-cookie: sid={}; Path=/", &forty),
            ("password: \"{}\"", letters),
            ("password: {}", letters),
            ("jdbc:sqlserver://h;user=sa;password={};", "xlNtencYFJEeAgYzQJ"),
            ("password: \"{}\"", "kqhtzlmwvbnpydrwza"),
            ("client --password {} --user x", "ujLM7uDG3xO2LwSM"),
            ("args: [\"--api-key\", \"{}\"]", &mixed),
            ("client -token '{}'", &mixed),
            ("https://{}@x.example/", &forty),
            ("https://h.azurewebsites.net/api/f?x=1&code={}", &forty),
            ("https://discord.com/api/webhooks/{}", &format!("1234567890123/{forty}")),
            (
                "https://acme.webhook.office.com/webhookb2/{}",
                &format!("{guid}@{guid}/IncomingWebhook/{}/{guid}", body(Alphabet::Hex, 32)),
            ),
            ("12345678:{}", &format!("AA{}", body(Alphabet::Alnum, 33))),
            (
                "https://api.telegram.org/bot1234567890:{}/x",
                &format!("AA{}", body(Alphabet::Alnum, 33)),
            ),
            (
                "x = {}",
                &format!("MTA{}.G{}.{forty}", body(Alphabet::Alnum, 21), body(Alphabet::Alnum, 5))
                    [..70],
            ),
        ] {
            let masked = text.replace("{}", &format!("{}…", &secret[..4]));
            assert_eq!(mask(&text.replace("{}", secret)), masked, "{text}");
        }
    }

    #[test]
    fn what_is_longer_than_what_is_inspected_is_not_shown() {
        let long = body(Alphabet::Alnum, 3000);
        for text in ["token: \"{}\"", "password={};", "Authorization: Token {}", "--token {}"] {
            let masked = text.replace("{}", &format!("{}…", &long[..4]));
            assert_eq!(mask(&text.replace("{}", &long)), masked);
        }
    }

    #[test]
    fn private_keys_of_openpgp_are_masked() {
        let line = body(Alphabet::Alnum, 64);
        let begin = "-----BEGIN PGP PRIVATE KEY BLOCK-----";
        let end = "-----END PGP PRIVATE KEY BLOCK-----";
        let whole = format!("{begin}\n\n{line}\n=abcd\n{end}\nb");
        assert_eq!(mask(&whole), format!("{begin}\n\n…\n…\n{end}\nb"));
        let cut = format!("{begin}\nVersion: x\n\n{line}\n{line}\n\nno key: {line}");
        assert_eq!(mask(&cut), format!("{begin}\nVersion: x\n\n…\n…\n\nno key: {line}"));
    }

    #[test]
    fn words_behind_a_name_of_secrets_are_shown() {
        for plain in [
            "password: \"please enter your password\"",
            "password: resetPasswordConfirmation",
            "token: getUserIDByKey",
            "token: ctx.Variables.AccessToken",
            "authorization: required for all requests",
            "Authorization: Token of the user",
            "authorization = check_authorization",
            "--password string",
            "--token <your token here>",
            "- token is required",
            "Cookie: theme=dark; lang=en",
            "https://user@host.example/path",
            "https://x.example/cb?code=state",
            "https://discord.com/api/webhooks/{id}/{token}",
            "12345678:AAA",
            "secret: not_a_secret_at_all",
            "the basic subscription-2024 plan",
            "Basic configuration-v2",
            "basic room/double-bed2",
            "appId: booking-desk-v2",
        ] {
            assert_eq!(mask(plain), plain);
        }
    }

    #[test]
    fn what_stands_behind_a_name_of_secrets_is_not_shown() {
        let long = crate::tests::body(Alphabet::Alnum, 22) + "7k";
        for (text, is_hidden) in [
            ("Server=db;User Id=sa;Password={};Encrypt=yes", true),
            ("Driver=x;Uid=sa;Pwd={};", true),
            ("host=db user=sa password={} dbname=x", true),
            ("jdbc:mysql://db/x?user=a&password={}&x=1", true),
            ("AccountName=a;AccountKey={}==;X=y", true),
            ("https://a.example/c?sv=2020&sig={}", true),
            ("Authorization: Bearer {}", true),
            ("the cookies of the user, Cookie: session={}", true),
            ("Set-Cookie2 and Cookie: session={}", true),
            ("https://discord.com/api/webhooks/1234567890123/{}?x=${y}", true),
            ("https://discord.com/api/webhooks/1234567890123/{}?sample=your", true),
            ("password: {}", true),
            ("curl -u admin:{} https://h", true),
            ("%7B%22Authorization%22%3A%20%22Bearer%20{}%22%7D", true),
            ("x=a%26password%3D{}%26y", true),
            ("the password is {}", true),
            ("Your API key is: {}.", true),
            ("the token is \"{}\"", true),
            ("100%25 {} of %41%42", false),
            ("the order {} is ready", false),
        ] {
            let text = text.replace("{}", &long);
            assert_eq!(!mask(&text).contains(&long), is_hidden, "{text}");
        }
        assert_eq!(mask("password: Sh0rtPw9x, please"), "password: …, please");
        for plain in [
            "password: string",
            "token = input",
            "password: {{secret}}",
            "pass: 12",
            "the password is changed every 90 days",
            "the token is a text, this is it",
        ] {
            assert_eq!(mask(plain), plain);
        }
    }
}
