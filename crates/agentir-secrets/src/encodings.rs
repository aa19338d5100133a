//! The forms in which a value may come back from a service that it was sent to. All of them are computed beforehand and
//! found as they are: a form that is not in these tables is not found.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The minimum length of a secret that is recognised without what stands around it. Passwords in addresses may
/// be shorter, and are then words like others.
pub(super) const MIN_KNOWN: usize = 6;

/// Whether a value can be told from other texts when it is masked wherever it stands: it has six characters or more, and
/// is no word that programs write, such as `false`.
#[must_use]
pub fn may_be_told(value: &str) -> bool {
    value.len() >= MIN_KNOWN && !COMMON.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Values of settings that programs write as well.
const COMMON: &[&str] = &["development", "localhost", "production", "staging", "undefined"];

/// A form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// What is looked for.
    pub(super) text: Box<str>,
    /// Whether it is found within a word as well: no word looks like it.
    pub(super) in_words: bool,
}

/// The length of values from which on only the forms of JSON's first level and of addresses are looked for, in bytes.
const MAX_ENCODED: usize = 4096;

/// How often JSON may be a text in JSON; showing a value as JSON adds a level.
const MAX_LEVELS: usize = 4;

/// The minimum length of a form that is found within words.
const MIN_IN_WORDS: usize = 7;

/// What a writer of JSON escapes beside what it has to (RFC 8259, section 7).
#[derive(Clone, Copy)]
struct JsonStyle {
    /// `/`, as PHP does.
    slash: bool,
    /// What is not ASCII, as Python and PHP do.
    ascii: bool,
    /// `&`, `<` and `>`, as Go does.
    markup: bool,
}

const JSON: [JsonStyle; 5] = [
    JsonStyle { slash: false, ascii: false, markup: false },
    JsonStyle { slash: true, ascii: false, markup: false },
    JsonStyle { slash: false, ascii: true, markup: false },
    JsonStyle { slash: true, ascii: true, markup: false },
    JsonStyle { slash: false, ascii: false, markup: true },
];

/// What writers of addresses leave as it is, beside letters and digits (RFC 3986, section 2), and whether a blank is `+`.
const ADDRESSES: [(&str, bool); 9] = [
    ("-._~", false),
    ("-._~/", false),
    // `encodeURIComponent` and `encodeURI` of ECMAScript.
    ("-_.!~*'()", false),
    ("-_.!~*'();/?:@&=+$,#", false),
    // The characters of a path and of a query.
    ("-._~!$&'()*+,;=:@", false),
    ("-._~!$&'()*+,;=:@/?", false),
    // Forms.
    ("*-._", true),
    ("-._~", true),
    // A blank alone.
    ("-._~!$&'()*+,;=:@/?#[]\"<>\\^`{|}", false),
];

/// What writers of HTML and XML write for characters.
const MARKUP: [&[(char, &str)]; 9] = [
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#039;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#x27;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&apos;")],
    &[('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&#34;"), ('\'', "&#39;")],
    &[
        ('&', "&amp;"),
        ('<', "&lt;"),
        ('>', "&gt;"),
        ('"', "&quot;"),
        ('\'', "&#x27;"),
        ('/', "&#x2F;"),
    ],
    &[
        ('&', "&amp;"),
        ('<', "&lt;"),
        ('>', "&gt;"),
        ('"', "&quot;"),
        ('\'', "&#39;"),
        ('/', "&#x2F;"),
        ('`', "&#x60;"),
        ('=', "&#x3D;"),
    ],
];

/// All forms of a value, without repetitions: as it is, in lower and in upper case, and each of these as JSON, addresses,
/// HTML and Base64 have it.
pub(super) fn forms(value: &str) -> Vec<Form> {
    let mut all = BTreeMap::new();
    let mut add = |text: String, in_words: bool| {
        let found = all.entry(text).or_insert(false);
        *found |= in_words;
    };
    if value.len() > MAX_ENCODED {
        for style in JSON {
            add(in_json(value, style), false);
        }
        add(in_address(value, "-._~", false, true), false);
        add(value.to_owned(), false);
    } else {
        for value in [value.to_owned(), value.to_lowercase(), value.to_uppercase()] {
            encoded(&value, &mut add);
            add(value, false);
        }
    }
    all.into_iter().map(|(text, in_words)| Form { text: text.into(), in_words }).collect()
}

fn encoded(value: &str, add: &mut impl FnMut(String, bool)) {
    for style in JSON {
        let mut text = value.to_owned();
        for _ in 0..MAX_LEVELS {
            let next = in_json(&text, style);
            if next == text {
                break;
            }
            add(next.clone(), false);
            text = next;
        }
    }
    for upper in [false, true] {
        for (kept, plus) in ADDRESSES {
            add_shown(in_address(value, kept, plus, upper), add);
        }
        add(bytes(value, upper), true);
    }
    for table in MARKUP {
        add_shown(in_markup(value, table), add);
    }
    let numbers = |write: fn(u32) -> String| value.chars().map(|c| write(u32::from(c))).collect();
    add(numbers(|code| format!("&#{code};")), true);
    add(numbers(|code| format!("&#x{code:x};")), true);
    add(numbers(|code| format!("&#x{code:X};")), true);
    for before in 0..3 {
        for core in in_base64(value, before) {
            add(core, true);
        }
    }
}

/// Adds a form, and what it is where a value that contains it is shown as JSON, also in another one.
fn add_shown(form: String, add: &mut impl FnMut(String, bool)) {
    let [style, ..] = JSON;
    let shown = in_json(&form, style);
    if shown != form {
        add(in_json(&shown, style), false);
        add(shown, false);
    }
    add(form, false);
}

/// A text as JSON has it, without the quotes.
fn in_json(text: &str, style: JsonStyle) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '/' if style.slash => out.push_str("\\/"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            _ if c < ' '
                || (style.markup && matches!(c, '&' | '<' | '>'))
                || (style.ascii && !c.is_ascii()) =>
            {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(c),
        }
    }
    out
}

/// A text as an address has it.
fn in_address(text: &str, kept: &str, plus: bool, upper: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || kept.contains(c) {
            out.push(c);
        } else if plus && c == ' ' {
            out.push('+');
        } else {
            out.push_str(&bytes(c.encode_utf8(&mut [0; 4]), upper));
        }
    }
    out
}

/// All bytes of a text as an address may have them.
fn bytes(text: &str, upper: bool) -> String {
    let mut out = String::with_capacity(3 * text.len());
    for byte in text.bytes() {
        let _ = if upper { write!(out, "%{byte:02X}") } else { write!(out, "%{byte:02x}") };
    }
    out
}

fn in_markup(text: &str, table: &[(char, &str)]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match table.iter().find(|(known, _)| *known == c) {
            Some((_, written)) => out.push_str(written),
            None => out.push(c),
        }
    }
    out
}

/// What Base64 (RFC 4648, sections 4 and 5) has for a value in whatever text, behind a multiple of three bytes and `before`
/// more: the characters that depend on the value alone.
fn in_base64(value: &str, before: usize) -> Vec<String> {
    let mut text = vec![0; before];
    text.extend_from_slice(value.as_bytes());
    let start = (before * 8).div_ceil(6);
    let end = text.len() * 8 / 6;
    let core = |all: String| all.get(start..end).map(str::to_owned);
    let all = [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)];
    all.into_iter().filter_map(core).filter(|core| core.len() >= MIN_IN_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(value: &str, text: &str) -> bool {
        forms(value).iter().any(|form| text.contains(&*form.text))
    }

    #[test]
    fn a_value_is_found_as_writers_encode_it() {
        let value = "Ab\"1 2\\c/dEé<F>34&gh'9=q";
        for text in [
            value.to_uppercase(),
            value.to_lowercase(),
            r#"Ab\"1 2\\c/dEé<F>34&gh'9=q"#.to_owned(),
            r#"Ab\\\"1 2\\\\c/dEé<F>34&gh'9=q"#.to_owned(),
            r#"Ab\\\\\\\"1 2\\\\\\\\c/dEé<F>34&gh'9=q"#.to_owned(),
            r#"Ab\"1 2\\c\/dE\u00e9<F>34&gh'9=q"#.to_owned(),
            r#"Ab\"1 2\\c/dEé\u003cF\u003e34\u0026gh'9=q"#.to_owned(),
            "Ab%221%202%5Cc%2FdE%C3%A9%3CF%3E34%26gh%279%3Dq".to_owned(),
            "Ab%221%202%5cc/dE%c3%a9%3cF%3e34%26gh%279%3dq".to_owned(),
            "Ab%221+2%5Cc%2FdE%C3%A9%3CF%3E34%26gh%279%3Dq".to_owned(),
            "Ab&quot;1 2\\c/dEé&lt;F&gt;34&amp;gh&#39;9=q".to_owned(),
            r#"Ab&quot;1 2\\c/dEé&lt;F&gt;34&amp;gh&#39;9=q"#.to_owned(),
            "Ab&#34;1 2\\c/dEé&lt;F&gt;34&amp;gh&#39;9=q".to_owned(),
            value.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            value.chars().map(|c| format!("&#{};", u32::from(c))).collect(),
        ] {
            assert!(finds(value, &text), "{text}");
        }
        for around in ["", "u:", "us:", "user:"] {
            for text in [format!("{around}{value}"), format!("{around}{value}:more")] {
                let (plain, address) =
                    (STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text));
                assert!(finds(value, &plain) && finds(value, &address), "{text}");
            }
        }
    }

    #[test]
    fn the_forms_of_a_value_are_bounded() {
        assert!(forms("Ab\"1 2\\c/dEé<F>34&gh'9=q").len() <= 300);
        assert!(forms("zq7Xk4supersecretvalue9").len() <= 40);
        assert!(forms(&"\\".repeat(MAX_ENCODED + 1)).len() <= 8);
        assert!(!finds("abcdef", "abcdefg".get(1..).unwrap_or_default()));
    }
}
