//! Offsets, lines and columns, as all layout passes count them.

use agentir_diagnostics::{FileId, Span};

/// An offset. Files are smaller than four gigabytes.
pub fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The first line of a span of `text`, without white space at its end.
pub fn first_line(text: &str, span: Span) -> Span {
    let spanned = text.get(span.range()).unwrap_or_default();
    let line = spanned.lines().next().unwrap_or_default().trim_end();
    Span::new(span.file, span.start, span.start + offset(line.len()))
}

/// Words as alternatives, for a message: "`a`, `b` or `c`".
pub fn alternatives<S: AsRef<str>>(words: &[S]) -> String {
    joined(words, "or")
}

/// Words as a list, for a message: "`a`, `b` and `c`".
pub fn listed<S: AsRef<str>>(words: &[S]) -> String {
    joined(words, "and")
}

fn joined<S: AsRef<str>>(words: &[S], conjunction: &str) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("{} {conjunction} {last}", rest.join(", "))
        }
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

/// `noun` with its indefinite article, for a message. Plurals have none.
pub fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o']) || noun.starts_with("un");
    // "LLM" is spelled out: "an llm agent".
    match noun {
        _ if noun.ends_with('s') && !noun.ends_with("ss") && !noun.ends_with("sis") => {
            noun.to_owned()
        }
        _ if vowel || noun.starts_with("llm ") || noun.starts_with("nlu") => format!("an {noun}"),
        _ => format!("a {noun}"),
    }
}

/// How tabs are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tabs {
    /// A tab advances to the next multiple of this many columns.
    Stops(u32),
    /// A tab is this many columns wide at any position.
    Width(u32),
}

impl Tabs {
    /// The column after a byte of white space at `column`; `None` for other bytes.
    pub const fn column_after(self, column: u32, byte: u8) -> Option<u32> {
        match (byte, self) {
            (b' ', _) => Some(column.saturating_add(1)),
            (b'\t', Self::Stops(every)) => Some((column / every + 1).saturating_mul(every)),
            (b'\t', Self::Width(width)) => Some(column.saturating_add(width)),
            _ => None,
        }
    }

    /// The column of the first character of a line, and the line from there.
    pub fn indented(self, line: &str) -> (u32, &str) {
        let mut column = 0;
        let mut length = 0;
        for byte in line.bytes() {
            let Some(behind) = self.column_after(column, byte) else { break };
            column = behind;
            length += 1;
        }
        (column, line.get(length..).unwrap_or_default())
    }
}

/// Maps character indices to byte offsets, after a byte order mark. Indices come almost in order, so the
/// distance from one to the next is short.
pub struct CharOffsets<'s> {
    text: &'s str,
    base: usize,
    ascii: bool,
    /// A character index and its offset.
    cursor: (usize, usize),
}

impl<'s> CharOffsets<'s> {
    /// For a text that may begin with a byte order mark.
    #[must_use]
    pub fn new(text: &'s str) -> Self {
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (base, ascii) = (text.len() - body.len(), body.is_ascii());
        Self { text: body, base, ascii, cursor: (0, 0) }
    }

    /// The offset in the file of a character index.
    pub fn offset(&mut self, number: usize) -> u32 {
        if self.ascii {
            return offset(number.min(self.text.len()) + self.base);
        }
        let (chars, mut bytes) = self.cursor;
        if number >= chars {
            let rest = self.text.get(bytes..).unwrap_or_default();
            match rest.char_indices().nth(number - chars) {
                Some((further, _)) => bytes += further,
                None => bytes = self.text.len(),
            }
        } else {
            let before = self.text.get(..bytes).unwrap_or_default();
            bytes = before.char_indices().rev().nth(chars - number - 1).map_or(0, |(b, _)| b);
        }
        self.cursor = (number, bytes);
        offset(bytes + self.base)
    }
}

/// A position that moves through the text of a file.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'s> {
    /// The file.
    pub file: FileId,
    /// Its text.
    pub text: &'s str,
    /// The offset of the next byte.
    pub at: usize,
    /// How tabs are counted.
    pub tabs: Tabs,
}

impl<'s> Cursor<'s> {
    /// The start of a text, after its byte order mark.
    pub fn new(file: FileId, text: &'s str, tabs: Tabs) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { file, text, at, tabs }
    }

    /// Whether there is nothing left.
    #[must_use]
    pub const fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// The text from here on.
    #[must_use]
    pub fn rest(&self) -> &'s str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next byte.
    #[must_use]
    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// A part of the text.
    #[must_use]
    pub fn slice(&self, start: usize, end: usize) -> &'s str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The span of a part of the text.
    #[must_use]
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, offset(start), offset(end))
    }

    /// Skips white space. Returns the column after it, relative to the current position.
    pub fn indentation(&mut self) -> u32 {
        let mut column = 0;
        while let Some(behind) = self.peek().and_then(|b| self.tabs.column_after(column, b)) {
            column = behind;
            self.at += 1;
        }
        column
    }

    /// The end of the line, without its `\n`.
    pub fn line_end(&self) -> usize {
        memchr::memchr(b'\n', self.rest().as_bytes()).map_or(self.text.len(), |n| self.at + n)
    }

    /// Moves to the line after the one that ends at `line_end`.
    pub fn next_line(&mut self, line_end: usize) {
        self.at = (line_end + 1).min(self.text.len());
    }

    /// Whether there is a dash that starts an item.
    pub fn starts_with_dash(&self) -> bool {
        let rest = self.rest().as_bytes();
        rest.first() == Some(&b'-')
            && matches!(rest.get(1), None | Some(b' ' | b'\t' | b'\r' | b'\n'))
    }
}
