//! The place that is asked about, and copies of the text with a marker in it.

use crate::text::offset;
use agentir_diagnostics::{FileId, Span};
use std::ops::Range;

/// The word that stands at the cursor in marked copies. Nobody writes it.
pub const MARKER: &str = "zqcursorqz";

/// An offset in a text, with the word at it.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    /// The text.
    pub text: &'t str,
    /// The line, without its end.
    line: Range<usize>,
    /// The word.
    word: Range<usize>,
    /// Whether the offset is in the white space that a line with more in it begins with.
    before_line: bool,
}

/// A copy of a text with the marker at the cursor.
#[derive(Debug)]
pub struct Marked {
    /// The copy.
    pub text: String,
    /// The offset of the marker.
    pub at: u32,
    /// Whether the marker is written as a key.
    pub as_key: bool,
    replaced: Range<usize>,
    inserted: usize,
}

impl Marked {
    /// Whether a span holds the marker.
    #[must_use]
    pub const fn is_in(&self, span: Span) -> bool {
        span.start <= self.at && self.at < span.end
    }

    /// A span of the copy, in the text.
    #[must_use]
    pub fn original(&self, span: Span) -> Span {
        let map = |at: u32| {
            let at = at as usize;
            if at <= self.replaced.start {
                at
            } else if at >= self.replaced.start + self.inserted {
                at - self.inserted + self.replaced.len()
            } else {
                self.replaced.end
            }
        };
        Span::new(span.file, offset(map(span.start)), offset(map(span.end)))
    }
}

impl<'t> Cursor<'t> {
    /// The cursor at an offset; `None` if that is outside of the text, or within a character.
    #[must_use]
    pub fn new(text: &'t str, offset: u32) -> Option<Self> {
        let offset = usize::try_from(offset).ok()?;
        let (before, after) = text.split_at_checked(offset)?;
        let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let start = before.rfind('\n').map_or(mark.min(offset), |at| at + 1);
        let end = offset + after.find(['\n', '\r']).unwrap_or(after.len());
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let head: usize =
            before.chars().rev().take_while(|c| is_word(*c)).map(char::len_utf8).sum();
        let tail: usize = after.chars().take_while(|c| is_word(*c)).map(char::len_utf8).sum();
        let word = offset - head..offset + tail;
        let blank = |text: &str| text.chars().all(|c| c == ' ' || c == '\t');
        let before_line = word.is_empty()
            && text.get(start..offset).is_some_and(blank)
            && text
                .get(offset..end)
                .is_some_and(|rest| !blank(rest) && rest.starts_with([' ', '\t']));
        Some(Self { text, line: start..end, word, before_line })
    }

    /// The span of the word.
    #[must_use]
    pub fn word(&self, file: FileId) -> Span {
        Span::new(file, offset(self.word.start), offset(self.word.end))
    }

    /// The word.
    #[must_use]
    pub fn word_text(&self) -> &'t str {
        self.text.get(self.word.clone()).unwrap_or_default()
    }

    /// The line up to the word.
    #[must_use]
    pub fn before(&self) -> &'t str {
        self.text.get(self.line.start..self.word.start).unwrap_or_default()
    }

    /// The line behind the word.
    #[must_use]
    pub fn after(&self) -> &'t str {
        self.text.get(self.word.end..self.line.end).unwrap_or_default()
    }

    /// The text between an offset and the word.
    #[must_use]
    pub fn since(&self, start: u32) -> &'t str {
        self.text.get(start as usize..self.word.start).unwrap_or_default()
    }

    /// The line up to the word, without white space and the dashes of list items.
    #[must_use]
    pub fn content_before(&self) -> &'t str {
        without_dashes(self.before())
    }

    /// Whether a dash stands before the word, and nothing else.
    #[must_use]
    pub fn is_first_of_item(&self) -> bool {
        self.before().trim().ends_with('-') && self.content_before().is_empty()
    }

    /// Whether a colon follows, so that a key is written here without one.
    #[must_use]
    pub fn has_colon(&self) -> bool {
        !self.before_line && self.after().trim_start().starts_with(':')
    }

    /// The same with another word, such as one with spaces in it, which begins where a part of the line does.
    #[must_use]
    pub fn with_word(mut self, word: Range<usize>) -> Self {
        if self.line.start <= word.start && word.end <= self.line.end && word.start <= word.end {
            self.word = word;
        }
        self
    }

    /// The copies to read, the first that tells what the marker is counts: of the whole text, if it can be read; with
    /// the rest of the line left out and its brackets and quotes closed; of the lines alone that the line is nested in
    /// and beside, so that errors elsewhere are none here.
    pub fn marked(&self) -> impl Iterator<Item = Marked> {
        let as_key = self.content_before().is_empty();
        let first = (self.insertion(as_key, false), None);
        let others = [Some(true), Some(false)];
        let rest = others.into_iter().map(move |siblings| (self.insertion(as_key, true), siblings));
        let closed = (self.insertion(as_key, true), None);
        [first, closed].into_iter().chain(rest).map(move |((replaced, inserted), siblings)| {
            let start = replaced.start;
            let at = start + inserted.find(MARKER).unwrap_or(0);
            let head = self.text.get(..start).unwrap_or_default();
            let tail = self.text.get(replaced.end..).unwrap_or_default();
            let text = format!("{head}{inserted}{tail}");
            let text = match siblings {
                Some(siblings) => around(&text, at, siblings),
                None => text,
            };
            Marked { text, at: offset(at), as_key, replaced, inserted: inserted.len() }
        })
    }

    /// What of the text is replaced, and by what.
    fn insertion(&self, as_key: bool, closed: bool) -> (Range<usize>, String) {
        let before = self.before();
        if self.before_line {
            let line = self.text.get(self.line.clone()).unwrap_or_default();
            let indent = line.get(..line.len() - line.trim_start().len()).unwrap_or_default();
            let start = self.line.start;
            return (start..start, format!("{indent}{MARKER}:\n"));
        }
        let pad = if before.ends_with([':', '-']) { " " } else { "" };
        let after = self.after().trim();
        let Range { start, end } = self.word.clone();
        if as_key {
            return match after.chars().next() {
                Some(':') if !closed => (start..end, format!("{pad}{MARKER}")),
                Some(_) if !closed => (start..end, format!("{pad}{MARKER}:")),
                _ => (start..self.line.end, format!("{pad}{MARKER}:")),
            };
        }
        if closed {
            return (start..self.line.end, format!("{pad}{MARKER}{}", closers(before)));
        }
        (start..end, format!("{pad}{MARKER}"))
    }
}

/// A line without white space and the dashes that it begins with.
#[must_use]
pub fn without_dashes(line: &str) -> &str {
    let mut line = line.trim_start();
    while let Some(rest) =
        line.strip_prefix('-').filter(|r| r.is_empty() || r.starts_with([' ', '\t']))
    {
        line = rest.trim_start();
    }
    line
}

/// What closes the quotes and brackets that are open at the end of a line.
fn closers(line: &str) -> String {
    let mut open: Vec<char> = Vec::new();
    for c in line.chars() {
        match (open.last(), c) {
            (Some('"'), '"') | (Some('\''), '\'') => {
                open.pop();
            }
            (Some('"' | '\''), '{') => open.push('{'),
            (Some('"' | '\''), _) => {}
            // An apostrophe within a word is none.
            (_, '"') => open.push('"'),
            (_, '[' | '(' | '{') => open.push(c),
            (Some('['), ']') | (Some('('), ')') | (Some('{'), '}') => {
                open.pop();
            }
            _ => {}
        }
    }
    let close = |c: &char| match c {
        '[' => ']',
        '(' => ')',
        '{' => '}',
        quote => *quote,
    };
    open.iter().rev().map(close).collect()
}

/// A text in which only the line at an offset is left, with those that it is nested in, those beside it if they are
/// wanted, and the lines at the margin. Everything else is blank, so that offsets stay.
fn around(text: &str, at: usize, siblings: bool) -> String {
    let mut lines: Vec<(Range<usize>, usize, usize)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end();
        let indent = body.len() - body.trim_start_matches([' ', '\t', '\u{feff}']).len();
        let content = body.len() - without_dashes(body.trim_start_matches('\u{feff}')).len();
        lines.push((
            start..start + line.len(),
            if body.is_empty() { usize::MAX } else { indent },
            content,
        ));
        start += line.len();
    }
    let Some(own) = lines.iter().position(|(range, ..)| range.contains(&at)) else {
        return text.to_owned();
    };
    let mut keep = vec![false; lines.len()];
    let mut mark = |line: usize| {
        if let Some(kept) = keep.get_mut(line) {
            *kept = true;
        }
    };
    mark(own);
    let (mut indent, content) =
        lines.get(own).map_or((0, 0), |(_, indent, content)| (*indent, *content));
    let column = content;
    let mut level = true;
    for (index, (_, other, inner)) in lines.iter().enumerate().take(own).rev() {
        if *other == usize::MAX {
            continue;
        }
        if *other < indent {
            indent = *other;
            // The line of the dash of the own item holds its first entry.
            level = level && *inner == column;
            mark(index);
        } else if *other == indent
            && (indent == 0 || (level && siblings))
            && *inner == column.min(*inner)
        {
            mark(index);
        }
    }
    let own_indent = lines.get(own).map_or(0, |(_, indent, _)| *indent);
    let mut inside = true;
    for (index, (_, other, _)) in lines.iter().enumerate().skip(own + 1) {
        if *other == usize::MAX {
            continue;
        }
        inside &= *other >= own_indent;
        if *other == 0 || (inside && siblings && *other == column) {
            mark(index);
        }
    }
    let mut out = String::with_capacity(text.len());
    for ((range, ..), kept) in lines.into_iter().zip(keep) {
        let line = text.get(range).unwrap_or_default();
        if kept {
            out.push_str(&line.replace('\t', " "));
        } else {
            out.extend(line.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }));
        }
    }
    out
}
