//! Writes `agents.yml`: block collections with two-column indentation, long texts as blocks, and quotes
//! for words that YAML 1.1, which MICA reads, would give another type.

use crate::schema;
use agentir_ir::Data;

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Yaml {
    /// A string that is quoted only if necessary.
    Text(String),
    /// A string that is always quoted: messages, and constants that could be names of arguments.
    Quoted(String),
    /// A scalar of another type: a number, `True`, `null`.
    Raw(String),
    Map(Vec<(String, Self)>),
    List(Vec<Self>),
    /// A comment as a list item.
    Comment(String),
}

impl Yaml {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A map with one key.
    pub(super) fn pair(key: &str, value: Self) -> Self {
        Self::Map(vec![(key.to_owned(), value)])
    }

    /// Whether it is a map with only this key.
    pub(super) fn is_pair(&self, key: &str) -> bool {
        matches!(self, Self::Map(pairs) if matches!(pairs.as_slice(), [(only, _)] if only == key))
    }

    pub(super) fn names<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self::List(names.map(Self::text).collect())
    }

    /// Free-form data.
    pub(super) fn data(data: &Data) -> Self {
        match data {
            Data::Null => Self::Raw("null".to_owned()),
            Data::Bool(value) => Self::Raw(value.to_string()),
            Data::Number(number) => Self::Raw(number.to_string()),
            Data::String(text) => Self::text(text.as_str()),
            Data::Array(items) => Self::List(items.iter().map(Self::data).collect()),
            Data::Object(map) => {
                Self::Map(map.iter().map(|(k, v)| (k.clone(), Self::data(v))).collect())
            }
        }
    }
}

/// The agents as top-level keys, with empty lines between them and before each subflow.
pub(super) fn file(entries: &[(String, Yaml)]) -> String {
    let mut out = String::new();
    for (key, value) in entries {
        if !out.is_empty() {
            out.push('\n');
        }
        let Yaml::Map(fields) = value else {
            pair(&mut out, 0, key, value);
            continue;
        };
        out.push_str(&self::key(key));
        out.push_str(":\n");
        for (key, value) in fields {
            if matches!(value, Yaml::List(_)) && schema::by_key(key).is_none() {
                out.push('\n');
            }
            indent(&mut out, 2);
            pair(&mut out, 2, key, value);
        }
    }
    out
}

/// Settings as top-level keys, with empty lines around those with several lines.
pub(super) fn settings(entries: &[(String, Yaml)]) -> String {
    let mut out = String::new();
    let mut above = false;
    for (key, value) in entries {
        let nested = matches!(value, Yaml::Map(_) | Yaml::List(_));
        if (nested || above) && !out.is_empty() {
            out.push('\n');
        }
        pair(&mut out, 0, key, value);
        above = nested;
    }
    out
}

fn key(key: &str) -> String {
    if is_plain(key) && !key.contains(':') { key.to_owned() } else { quoted(key) }
}

fn indent(out: &mut String, columns: usize) {
    out.extend(std::iter::repeat_n(' ', columns));
}

/// `key: value`, at the current position of the line.
fn pair(out: &mut String, column: usize, key: &str, value: &Yaml) {
    out.push_str(&self::key(key));
    out.push(':');
    match value {
        Yaml::Map(pairs) if !pairs.is_empty() => {
            out.push('\n');
            indent(out, column + 2);
            map(out, column + 2, pairs);
        }
        Yaml::List(items) if !items.is_empty() => {
            out.push('\n');
            list(out, column + 2, items);
        }
        value => {
            out.push(' ');
            scalar(out, column, value);
        }
    }
}

fn map(out: &mut String, column: usize, pairs: &[(String, Yaml)]) {
    for (i, (key, value)) in pairs.iter().enumerate() {
        if i > 0 {
            indent(out, column);
        }
        pair(out, column, key, value);
    }
}

fn list(out: &mut String, column: usize, items: &[Yaml]) {
    for item in items {
        indent(out, column);
        match item {
            Yaml::Comment(text) => {
                out.push_str("# ");
                out.push_str(&text.split_whitespace().collect::<Vec<_>>().join(" "));
                out.push('\n');
            }
            Yaml::Map(pairs) if !pairs.is_empty() => {
                out.push_str("- ");
                map(out, column + 2, pairs);
            }
            Yaml::List(items) if !items.is_empty() => {
                out.push_str("-\n");
                list(out, column + 2, items);
            }
            item => {
                out.push_str("- ");
                scalar(out, column, item);
            }
        }
    }
}

fn scalar(out: &mut String, column: usize, value: &Yaml) {
    match value {
        Yaml::Map(_) => out.push_str("{}"),
        Yaml::List(_) => out.push_str("[]"),
        Yaml::Raw(text) => out.push_str(text),
        Yaml::Text(text) | Yaml::Quoted(text) if is_block(text) => {
            out.push('|');
            if text.starts_with([' ', '\n']) {
                out.push('2');
            }
            for line in text.trim_end_matches('\n').split('\n') {
                out.push('\n');
                if !line.is_empty() {
                    indent(out, column + 2);
                    out.push_str(line);
                }
            }
        }
        Yaml::Text(text) if is_plain(text) => out.push_str(text),
        Yaml::Text(text) if text.contains('"') && is_single_quotable(text) => {
            out.push('\'');
            out.push_str(text);
            out.push('\'');
        }
        Yaml::Text(text) | Yaml::Quoted(text) | Yaml::Comment(text) => out.push_str(&quoted(text)),
    }
    out.push('\n');
}

/// Whether a text can be written as a block after `|`.
fn is_block(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
        && !text.chars().any(|c| c != '\n' && unprintable(c))
        && !text.starts_with('\t')
}

fn unprintable(c: char) -> bool {
    (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Whether a text can be single-quoted; single quotes have no escapes.
fn is_single_quotable(text: &str) -> bool {
    !text.contains(['\'', '\\', '\n', '\t']) && !text.chars().any(unprintable)
}

/// Whether YAML 1.1 reads an unquoted text as this string.
pub(super) fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let indicator = "-?:,[]{}#&*!|>'\"%@`".contains(first);
    let dash = matches!(first, '-' | '?' | ':')
        && text.chars().nth(1).is_some_and(|c| !c.is_whitespace() && c != ':');
    (!indicator || dash)
        && text.trim() == text
        && !text.contains(['\n', '\t'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.chars().any(unprintable)
        && !is_other_type(text)
}

/// Whether YAML 1.1 reads a word as a boolean, null, number or date.
fn is_other_type(text: &str) -> bool {
    const WORDS: &[&str] = &["y", "yes", "n", "no", "true", "false", "on", "off", "null", "~"];
    if WORDS.iter().any(|w| w.eq_ignore_ascii_case(text))
        || matches!(text, "<<" | "=" | "---" | "...")
    {
        return true;
    }
    let rest = text.trim_start_matches(['+', '-']);
    // Numbers, also with `_`, in other bases, in base 60 (`12:30`), and dates.
    let number = rest.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && !rest.contains(' ')
        && rest.chars().all(|c| c.is_ascii_hexdigit() || "._:+-xXoOTZ".contains(c));
    let date = rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.chars().all(|c| c.is_ascii_digit() || " .:+-TZt".contains(c));
    let special = [".inf", ".nan"].iter().any(|w| w.eq_ignore_ascii_case(rest));
    number || date || special
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if unprintable(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::{Yaml, file, is_plain};

    #[test]
    fn words_that_yaml_takes_for_something_else_are_quoted() {
        for text in [
            "yes",
            "No",
            "on",
            "null",
            "1e3",
            "12:30",
            "2024-01-02",
            "0x1F",
            ".5",
            "",
            "- a",
            "a: b",
            "a #b",
            "*a",
            "@a",
            "a:",
        ] {
            assert!(!is_plain(text), "{text}");
        }
        for text in ["yesterday", "a-b", "1st place", "-x", "a:b", "it's", "re.match(\"x\", y)"] {
            assert!(is_plain(text), "{text}");
        }
    }

    #[test]
    fn texts_are_laid_out_as_authors_do() {
        let steps = Yaml::List(vec![
            Yaml::text("user"),
            Yaml::Comment("left\nout".to_owned()),
            Yaml::Map(vec![
                ("if".to_owned(), Yaml::text("\"a\" == b")),
                (
                    "then".to_owned(),
                    Yaml::List(vec![Yaml::pair("bot", Yaml::Quoted("so: \"x\"".to_owned()))]),
                ),
            ]),
        ]);
        let agent = Yaml::Map(vec![
            ("prompt".to_owned(), Yaml::text("One.\n\n  Two.\n")),
            ("steps".to_owned(), steps),
        ]);
        assert_eq!(
            file(&[("on".to_owned(), agent)]),
            "\"on\":\n  prompt: |\n    One.\n\n      Two.\n  steps:\n    - user\n    # left out\n    - if: '\"a\" == b'\n      then:\n        - bot: \"so: \\\"x\\\"\"\n"
        );
    }
}
