//! Writes a document tree in either notation: indentation, dashes, quotes and block texts.

use super::tree::{Entry, Key, Notation, Scalar};
use std::fmt::Write;

/// Writes a document.
pub(super) fn write(notation: Notation, entries: &[Entry]) -> String {
    let mut writer = Writer { notation, out: String::new() };
    writer.entries(entries, 0, None);
    writer.out
}

struct Writer {
    notation: Notation,
    out: String,
}

impl Writer {
    /// Entries at a column; the first follows `lead`, if any.
    fn entries(&mut self, entries: &[Entry], indent: usize, lead: Option<&str>) {
        let mut lead = lead;
        let spaces = " ".repeat(indent);
        for entry in entries {
            if matches!(entry, Entry::Gap) {
                self.out.push('\n');
                continue;
            }
            self.entry(entry, indent, lead.take().unwrap_or(&spaces));
        }
    }

    fn entry(&mut self, entry: &Entry, indent: usize, lead: &str) {
        match entry {
            Entry::Gap => {}
            Entry::Field { key, value, children } => {
                let _ = write!(self.out, "{lead}{}:", self.key(key));
                if let Some(value) = value {
                    self.out.push(' ');
                    match value {
                        // Entries below a block would be lines of its text.
                        Scalar::Text(text)
                            if self.notation == Notation::Abl && !children.is_empty() =>
                        {
                            self.out.push_str(&quoted_sparingly(text));
                        }
                        value => self.scalar(value, indent),
                    }
                }
                self.out.push('\n');
                // Nested entries go below the value in `.abl`, next to it in YAML.
                let deeper = value.is_none() || self.notation == Notation::Abl;
                self.entries(children, if deeper { indent + 2 } else { indent }, None);
            }
            Entry::Item(entries) if entries.is_empty() => {
                let _ = writeln!(self.out, "{lead}-");
            }
            Entry::Item(entries) => {
                self.entries(entries, indent + 2, Some(&format!("{lead}- ")));
            }
            Entry::Line { key, text, children } => {
                self.out.push_str(lead);
                if self.notation == Notation::Yaml && !children.is_empty() {
                    let _ = write!(self.out, "{key}: ");
                }
                self.scalar(text, indent);
                self.out.push('\n');
                let deeper = self.notation == Notation::Abl;
                self.entries(children, if deeper { indent + 2 } else { indent }, None);
            }
            Entry::Pairs { assign, pairs } => self.pairs(*assign, pairs, indent),
        }
    }

    fn pairs(&mut self, assign: bool, pairs: &[(String, String)], indent: usize) {
        let spaces = " ".repeat(indent);
        let once = |name: &str| pairs.iter().filter(|(n, _)| n == name).count() == 1;
        let map = self.notation == Notation::Yaml
            && pairs.iter().all(|(n, v)| is_plain_key(n) && once(n) && is_expression_of_yaml(v));
        for (name, value) in pairs {
            let _ = match self.notation {
                Notation::Abl if assign => writeln!(self.out, "{spaces}{name} = {value}"),
                Notation::Abl => writeln!(self.out, "{spaces}{}: {value}", key_of_abl(name)),
                Notation::Yaml if map => writeln!(self.out, "{spaces}{name}: {value}"),
                Notation::Yaml => {
                    writeln!(self.out, "{spaces}- {}", quoted(&format!("{name} = {value}")))
                }
            };
        }
    }

    fn key(&self, key: &Key) -> String {
        match self.notation {
            Notation::Abl if key.upper => key.text.to_uppercase(),
            Notation::Abl => key_of_abl(&key.text),
            Notation::Yaml if is_plain_key(&key.text) => key.text.clone(),
            Notation::Yaml => quoted(&key.text),
        }
    }

    fn scalar(&mut self, scalar: &Scalar, indent: usize) {
        let text = match scalar {
            Scalar::Word(text) => {
                self.out.push_str(text);
                return;
            }
            Scalar::Jump { target, reason: None } => {
                self.out.push_str(target);
                return;
            }
            Scalar::Jump { target, reason: Some(reason) } => {
                let reason = quoted(reason);
                // What is said is not a detail of the action, but what it is about.
                let says = target == agentir_ir::Target::Respond.to_string().as_str();
                let safe = !reason.contains(": ") && !reason.contains(" #");
                let _ = match self.notation {
                    Notation::Abl if !says => {
                        write!(self.out, "{target} with REASON: {reason}")
                    }
                    Notation::Abl => write!(self.out, "{target} {reason}"),
                    Notation::Yaml if safe => write!(self.out, "{target} {reason}"),
                    Notation::Yaml => {
                        write!(self.out, "{}", quoted(&format!("{target} {reason}")))
                    }
                };
                return;
            }
            Scalar::Code(text) => {
                let plain = match self.notation {
                    Notation::Abl => is_plain_in_abl(text),
                    Notation::Yaml => is_plain_in_yaml(text),
                };
                if plain {
                    self.out.push_str(text);
                    return;
                }
                text
            }
            Scalar::Text(text) if is_block(text) => {
                self.out.push('|');
                for line in text.split('\n') {
                    self.out.push('\n');
                    if !line.is_empty() {
                        let _ = write!(self.out, "{}{line}", " ".repeat(indent + 2));
                    }
                }
                return;
            }
            Scalar::Text(text) => text,
        };
        let written = match self.notation {
            // Patterns are easier to read with unescaped backslashes.
            Notation::Abl => quoted_sparingly(text),
            Notation::Yaml => quoted(text),
        };
        self.out.push_str(&written);
    }
}

/// A double-quoted string, with only the escapes that JSON and YAML share.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A double-quoted string in which literal backslashes are not escaped.
fn quoted_sparingly(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => {
                let escape = match chars.peek() {
                    Some('\\' | '"' | '/' | 'n' | 't' | 'r' | 'u' | '\n' | '\r' | '\t') | None => {
                        "\\\\"
                    }
                    Some(_) => "\\",
                };
                out.push_str(escape);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether a text can be written as a block after `|` without change.
fn is_block(text: &str) -> bool {
    text.contains('\n')
        && !text.contains(['\r', '\u{feff}', '\u{85}', '\u{2028}', '\u{2029}'])
        && !text.starts_with(char::is_whitespace)
        && !text.ends_with(char::is_whitespace)
        && text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control())
        && !text.split('\n').any(|line| line.starts_with('\t'))
}

fn key_of_abl(name: &str) -> String {
    // `name?` is an optional field.
    let mut chars = name.strip_suffix('?').unwrap_or(name).chars();
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || c >= '\u{80}';
    let plain = chars.next().is_some_and(|c| letter(c) || c == '@')
        && chars.all(|c| letter(c) || matches!(c, '.' | '*' | '/' | '-'));
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace(['"', ':'], "'")) }
}

fn is_plain_key(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ' | '$'))
        && !name.ends_with(' ')
        && !is_word_of_yaml(name)
}

/// Whether an unquoted value is read unchanged in `.abl`.
fn is_plain_in_abl(text: &str) -> bool {
    let mut in_string = None;
    let mut before = ' ';
    let mut escaped = false;
    for c in text.chars() {
        match in_string {
            Some(quote) => {
                if c == quote && !escaped {
                    in_string = None;
                }
                escaped = c == '\\' && !escaped;
            }
            None if matches!(c, '"' | '\'') && !before.is_alphanumeric() => in_string = Some(c),
            None if c == '#' && before.is_whitespace() => return false,
            None => {}
        }
        if c == '\n' || c == '\r' {
            return false;
        }
        before = c;
    }
    in_string.is_none() && text.trim() == text && !text.is_empty() && !matches!(text, "|" | ">")
}

/// Whether an unquoted value is read unchanged in YAML.
fn is_plain_in_yaml(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '('))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with([':', ' '])
        && !text.chars().any(char::is_control)
        && !is_word_of_yaml(text)
}

/// An expression must not be quoted: it would be read as a string.
fn is_expression_of_yaml(text: &str) -> bool {
    let number = text.parse::<f64>().is_ok();
    let string = text.len() > 1
        && text.starts_with('"')
        && serde_json::from_str::<String>(text).is_ok_and(|inner| !inner.contains('\\'));
    number || string || matches!(text, "true" | "false") || is_plain_in_yaml(text)
}

/// Words that YAML 1.1 reads as another type.
fn is_word_of_yaml(text: &str) -> bool {
    const WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off", "true", "false", "null", "~"];
    WORDS.iter().any(|w| w.eq_ignore_ascii_case(text))
}
