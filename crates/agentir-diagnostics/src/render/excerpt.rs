//! Copies of source text that are fit to print.
//!
//! ariadne prints whole lines as they are and numbers them from the start of the text. So a copy has
//! the lines of its file under their numbers, without secrets and characters that must not reach a
//! terminal. A line that is too long is cut, or blank where it has no label.

use super::clean::{LONGEST_MESSAGE, marked_commands, stand_in};
use crate::lines::BYTE_ORDER_MARK;
use crate::source::SourceFile;
use ariadne::Source;
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

/// Lines of more characters than this are cut: they would wrap, and a wrapped line tears what is
/// underlined from its underline.
const MAX_LINE_LENGTH: usize = 160;
/// How many characters of a cut line are shown, and how many of these before a label.
const SHOWN: usize = 100;
const CONTEXT: usize = 50;

/// A copy of a file's lines, and what is left of those that are cut.
pub(crate) struct Excerpt {
    /// The copy.
    pub source: Rc<Source<String>>,
    /// The line of the file, counted from 0, that the copy begins with.
    pub first: usize,
    /// Lines, counted from 0, and the bytes of the file that are shown of them.
    cuts: Vec<(usize, Range<usize>)>,
}

impl Excerpt {
    /// A copy without the text of long lines.
    pub(crate) fn whole(file: &SourceFile) -> Rc<Source<String>> {
        let mut text = String::with_capacity(file.text.len());
        for line in 0..file.line_starts().len() {
            if !is_long(file, line) {
                push_clean(file, content(file, line), &mut text);
            }
            text.push('\n');
        }
        Rc::new(Source::from(text))
    }

    /// A copy, made by [`Self::whole`], none of whose long lines has a label.
    pub(crate) const fn of(source: Rc<Source<String>>) -> Self {
        Self { source, first: 0, cuts: Vec::new() }
    }

    /// A copy of some lines, in their order, from shortly before a given byte on. It begins with the first of them, so
    /// that it costs what is shown and not what stands before it.
    pub(crate) fn cut(file: &SourceFile, lines: &[(usize, usize)]) -> Self {
        let first = lines.first().map_or(0, |(line, _)| *line);
        let (mut text, mut next) = (String::new(), first);
        let cut = |&(line, at): &(usize, usize)| {
            let LinePart { bytes, cut_before, cut_behind } = shown_of(file, line, at);
            text.extend(std::iter::repeat_n('\n', line - next));
            text.extend(cut_before.then_some('…'));
            push_clean(file, bytes.clone(), &mut text);
            text.push_str(if cut_behind { "…\n" } else { "\n" });
            next = line + 1;
            (line, bytes)
        };
        let cuts = lines.iter().map(cut).collect();
        Self { source: Rc::new(Source::from(text)), first, cuts }
    }

    /// Where an offset in a line of the file is in the copy, in characters. Offsets that are not
    /// shown are where the line was cut.
    pub(crate) fn position(&self, file: &SourceFile, line: usize, offset: usize) -> usize {
        let content = content(file, line);
        let cut = self.cuts.iter().find(|(of, _)| *of == line);
        let shown = cut.map_or_else(|| content.clone(), |(_, shown)| shown.clone());
        let before = shown.start..offset.clamp(shown.start, shown.end);
        let before = file.masked(before).chars().count();
        let column = usize::from(shown.start > content.start) + before;
        let line = line.checked_sub(self.first).and_then(|line| self.source.line(line));
        line.map_or(self.source.len(), |line| line.offset() + column)
    }
}

/// The bytes of a line, counted from 0, without what ends it and without a byte order mark.
pub(crate) fn content(file: &SourceFile, line: usize) -> Range<usize> {
    let range = file.line_range(line);
    let mark = range.start == 0 && file.text.starts_with(BYTE_ORDER_MARK);
    if mark { BYTE_ORDER_MARK.len_utf8()..range.end } else { range }
}

/// Whether a line, counted from 0, has to be cut.
pub(crate) fn is_long(file: &SourceFile, line: usize) -> bool {
    let text = file.text.get(content(file, line)).unwrap_or_default();
    text.chars().nth(MAX_LINE_LENGTH).is_some()
}

/// What is shown of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePart {
    /// The bytes of the file.
    pub bytes: Range<usize>,
    /// Whether more of the line stands before them.
    pub cut_before: bool,
    /// Whether more of the line stands behind them.
    pub cut_behind: bool,
}

/// What is shown of a line, counted from 0: all of it but a byte order mark, or of a line that is too long those around a byte.
/// A report that repeated a long line for each finding in it would grow with the square of its length.
#[must_use]
pub fn shown_of(file: &SourceFile, line: usize, at: usize) -> LinePart {
    let content = content(file, line);
    let bytes = if is_long(file, line) { window(file, &content, at) } else { content.clone() };
    LinePart { cut_before: content.start < bytes.start, cut_behind: bytes.end < content.end, bytes }
}

/// What is shown of a long line, if a label starts at a byte.
fn window(file: &SourceFile, content: &Range<usize>, at: usize) -> Range<usize> {
    let text = |range| file.text.get(range).unwrap_or_default();
    let at = at.clamp(content.start, content.end);
    let before = text(content.start..at).char_indices().rev().take(CONTEXT).last();
    let start = before.map_or(at, |(index, _)| content.start + index);
    let shown = text(start..content.end).chars().take(SHOWN);
    start..start + shown.map(char::len_utf8).sum::<usize>()
}

/// Appends bytes of a line, safe to show.
fn push_clean(file: &SourceFile, bytes: Range<usize>, to: &mut String) {
    let clean = |c| if c == '\t' { c } else { stand_in(c).unwrap_or(c) };
    to.extend(marked_commands(&file.masked(bytes)).chars().map(clean));
}

impl SourceFile {
    /// Some bytes of the text as they may be [shown](Self::masked); of a long text only the start.
    #[must_use]
    pub fn quoted(&self, range: Range<usize>) -> Cow<'_, str> {
        let text = self.text.get(range.clone()).unwrap_or_default();
        match text.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => {
                Cow::Owned(self.masked(range.start..range.start + end).into_owned() + "…")
            }
            None => self.masked(range),
        }
    }
}
