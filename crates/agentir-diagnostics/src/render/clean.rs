//! Makes text that others wrote safe to show: a file must not be able to move the cursor, recolour
//! the terminal, reorder what is read on it, or give commands to what reads a log.

use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The number of characters of a text that are shown: a message that quotes a whole file helps nobody, and many
/// messages that do fill a disk.
pub(crate) const LONGEST_MESSAGE: usize = 2000;

/// Cuts a text that is too long to be shown.
pub(crate) fn cut(text: &mut String) {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
        text.truncate(end);
        text.push('…');
    }
}

/// What to show for a character; `None` for itself.
pub(crate) fn stand_in(c: char) -> Option<char> {
    match c {
        // The control pictures stand in the order of the characters they picture.
        '\0'..='\u{1F}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7F}' => Some('\u{2421}'),
        // Controls, characters no one sees, those that reorder their neighbours, those that some take
        // to end a line, and those that XML cannot say.
        '\u{80}'..='\u{9F}'
        | '\u{61C}'
        | '\u{200B}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFFE}'
        | '\u{FFFF}'
        | '\u{E0000}'..='\u{E007F}' => Some('\u{FFFD}'),
        _ => None,
    }
}

/// A text of documents on one line, safe to show: a message, a name. It is cut if it is very long.
#[must_use]
pub fn one_line(message: &str) -> Cow<'_, str> {
    let is_clean = message.chars().all(|c| stand_in(c).is_none());
    if message.len() <= LONGEST_MESSAGE && is_clean && !has_command(message) {
        return Cow::Borrowed(message);
    }
    let mut clean: String = message
        .chars()
        .filter(|&c| c != '\r')
        .map(|c| if matches!(c, '\n' | '\t') { ' ' } else { stand_in(c).unwrap_or(c) })
        .take(LONGEST_MESSAGE)
        .collect();
    if message.chars().nth(LONGEST_MESSAGE).is_some() {
        clean.push('…');
    }
    Cow::Owned(without_commands(&clean).into_owned())
}

/// A text of documents, safe to show, with its lines and tabs.
#[must_use]
pub fn clean_lines(text: &str) -> Cow<'_, str> {
    let is_clean = |c| matches!(c, '\n' | '\t') || stand_in(c).is_none();
    if text.chars().all(is_clean) {
        return without_commands(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\t' => clean.push(c),
            c => clean.push(stand_in(c).unwrap_or(c)),
        }
    }
    Cow::Owned(without_commands(&clean).into_owned())
}

/// JSON, the same value, with escapes for the characters that [`one_line`] replaces, and without commands.
#[must_use]
pub fn escape_json(json: &str) -> Cow<'_, str> {
    let escaped = |c| c >= '\u{7F}' && stand_in(c).is_some();
    if !json.contains(escaped) && !json.contains("##") {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    // Outside of texts JSON has none of these characters.
    for (at, c) in json.char_indices() {
        let is_command = || c == '#' && json.get(at..).is_some_and(|rest| rest.starts_with("##"));
        if escaped(c) || is_command() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to memory does not fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Writes a value as JSON for people and programs, [escaped](escape_json), all of it, line by line: what takes a gigabyte
/// to write does not take one to be written.
pub fn write_json_lines(value: &impl Serialize, out: impl Write) -> io::Result<()> {
    let mut lines = JsonLines { line: Vec::new(), out };
    serde_json::to_writer_pretty(&mut lines, value)?;
    lines.write_all(b"\n")
}

/// Writes lines of JSON, in which no text reaches over several.
struct JsonLines<W> {
    line: Vec<u8>,
    out: W,
}

impl<W: Write> Write for JsonLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if bytes.last() == Some(&b'\n') {
            let line = String::from_utf8_lossy(&self.line);
            self.out.write_all(escape_json(&line).as_bytes())?;
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a text may contain a command.
fn has_command(text: &str) -> bool {
    text.contains("##") || text.lines().any(|line| line.trim_start().starts_with("::"))
}

/// A text without the commands of CI systems, which read them from logs: `::error::` at the start of a line (GitHub),
/// and [marks](marked_commands) anywhere in it.
fn without_commands(text: &str) -> Cow<'_, str> {
    if !has_command(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for line in text.split_inclusive('\n') {
        let content = line.trim_start();
        let (space, _) = line.split_at(line.len() - content.len());
        out.push_str(space);
        match content.strip_prefix("::") {
            Some(command) => {
                out.push_str(": :");
                out.push_str(command);
            }
            None => out.push_str(content),
        }
    }
    match marked_commands(&out) {
        Cow::Owned(clean) => Cow::Owned(clean),
        Cow::Borrowed(_) => Cow::Owned(out),
    }
}

/// A text without `##[error]`, `##vso[…]`, `##teamcity[…]`, which Azure Pipelines and others read anywhere in a
/// line. Each character has one that stands for it.
pub(super) fn marked_commands(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut at = 0;
    for (mark, _) in text.match_indices('#') {
        let behind = text.get(mark + 1..).unwrap_or_default();
        let name = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
        let is_last = behind.get(name..).is_some_and(|behind| behind.starts_with('['));
        if is_last && text.get(..mark).is_some_and(|before| before.ends_with('#')) {
            out.push_str(text.get(at..mark).unwrap_or_default());
            out.push('\u{FFFD}');
            at = mark + 1;
        }
    }
    if at == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{clean_lines, escape_json, one_line};

    #[test]
    fn messages_cannot_drive_the_terminal() {
        assert_eq!(one_line("say `hällo`"), "say `hällo`");
        assert_eq!(one_line("a\r\nb\tc"), "a b c");
        assert_eq!(one_line("\u{1B}[2J\u{202E}x\u{7F}"), "␛[2J\u{FFFD}x␡");
        assert_eq!(one_line(&"x".repeat(1 << 20)).chars().count(), 2001);
    }

    #[test]
    fn lines_stay_and_give_no_commands() {
        assert_eq!(clean_lines("a\r\n\tb\rc\u{2028}d"), "a\n\tb␍c\u{FFFD}d");
        assert_eq!(
            clean_lines("::error::x\n \t::warning::y\na::b"),
            ": :error::x\n \t: :warning::y\na::b"
        );
        assert_eq!(
            clean_lines("x ##[error]y ##vso[task]"),
            "x #\u{FFFD}[error]y #\u{FFFD}vso[task]"
        );
        assert_eq!(clean_lines("## Title\n###[x"), "## Title\n##\u{FFFD}[x");
        assert_eq!(one_line("::x"), ": :x");
        // What another tool takes for a space does not hide a command.
        assert_eq!(clean_lines("\u{3000}::x"), "\u{3000}: :x");
    }

    #[test]
    fn json_keeps_its_value() {
        let value = "a\u{1B}\u{7F}\u{9B}\u{202E}\u{2028}\u{E0041}##[x]ä";
        let json = serde_json::to_string(value).unwrap_or_default();
        let escaped = escape_json(&json);
        assert_eq!(escaped, r#""a\u001b\u007f\u009b\u202e\u2028\udb40\udc41\u0023#[x]ä""#);
        assert_eq!(serde_json::from_str::<String>(&escaped).ok().as_deref(), Some(value));
    }
}
