//! Writes lines of Agent Script: indentation, quoted strings and block texts.

use agentir_expr::Template;

/// The number of spaces per level.
const STEP: usize = 4;

/// Writes lines at the current level.
#[derive(Default)]
pub(super) struct Writer {
    out: String,
    level: usize,
}

impl Writer {
    /// Writes a line.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        let text = text.as_ref();
        if !text.is_empty() {
            self.out.push_str(&" ".repeat(self.level * STEP));
            self.out.push_str(text);
        }
        self.out.push('\n');
    }

    /// Writes a header line, and what `body` writes below it.
    pub(super) fn block(&mut self, head: impl AsRef<str>, body: impl FnOnce(&mut Self)) {
        self.line(head);
        self.level += 1;
        body(self);
        self.level -= 1;
    }

    /// Like `block`, but writes nothing if `body` writes nothing.
    pub(super) fn block_if_any(&mut self, head: impl AsRef<str>, body: impl FnOnce(&mut Self)) {
        let before = self.out.len();
        self.line(head);
        let start = self.out.len();
        self.level += 1;
        body(self);
        self.level -= 1;
        if self.out.len() == start {
            self.out.truncate(before);
        }
    }

    /// Writes `key: text`, quoted if it fits on a line, as a block otherwise.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        // Quotes inside a placeholder cannot be escaped.
        let holes_with_quotes = text.contains("{!") && text.contains(['"', '\\']);
        if text.contains('\n') || holes_with_quotes {
            self.bar(&format!("{key}: "), text);
        } else {
            self.line(format!("{key}: {}", quoted(text)));
        }
    }

    /// Writes a text that may have placeholders. The vendor's compiler fills those of block texts and leaves those in
    /// quotes alone, although the specification calls the two notations equivalent (part I, 6.1); so a text in quotes
    /// stays one.
    pub(super) fn template(&mut self, key: &str, text: &Template) {
        let value = &text.text.value;
        if value.contains("{!") && !value.contains('\n') && !was_quoted(text) {
            self.bar(&format!("{key}: "), value);
        } else {
            self.text(key, value);
        }
    }

    /// Writes `| text`, with further lines below the first.
    pub(super) fn bar(&mut self, before: &str, text: &str) {
        let text = text.trim_end();
        // After a bar at the start of a line, the text's column is that of the bar. After a key the column
        // would be arbitrary, so the text starts on the next line.
        let inline = before.is_empty() && !text.starts_with(['\n', ' ', '\t']);
        let mut lines = text.split('\n');
        let below = if inline {
            match lines.next().unwrap_or_default() {
                "" => self.line("|"),
                first => self.line(format!("| {first}")),
            }
            self.level * STEP + 2
        } else {
            self.line(format!("{before}|"));
            (self.level + 1) * STEP
        };
        for line in lines {
            if line.trim().is_empty() {
                self.out.push('\n');
            } else {
                self.out.push_str(&" ".repeat(below));
                self.out.push_str(line);
                self.out.push('\n');
            }
        }
    }

    /// Writes source lines unchanged.
    pub(super) fn raw(&mut self, text: &str) {
        for line in text.lines() {
            self.line(line.trim_end());
        }
    }

    /// Writes an empty line between two parts.
    pub(super) fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// The text written.
    pub(super) fn finish(self) -> String {
        self.out
    }
}

/// Whether a text was read from between quotes: they are part of where it is written, and only they and escapes come
/// between its characters.
fn was_quoted(text: &Template) -> bool {
    let (span, length) = (text.text.span, text.text.value.len());
    let written = span.end.saturating_sub(span.start) as usize;
    match (text.shifts.first(), text.shifts.last()) {
        (Some((0, 1)), Some((_, ahead))) => written == length + 1 + *ahead as usize,
        _ => false,
    }
}

/// A double-quoted string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A name, quoted unless it is a word.
pub(super) fn name(text: &str) -> String {
    let mut chars = text.chars();
    let word = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if word { text.to_owned() } else { quoted(text) }
}
