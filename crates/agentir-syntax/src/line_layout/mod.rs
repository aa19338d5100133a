//! Line layout: the kind of each line of a document, and its column in canonical layout.
//!
//! Every byte of a document belongs to a line, so moving lines loses nothing, including comments, texts
//! and lines that could not be parsed. The formatter and the transfer of comments build on this.
//!
//! The canonical indentation is that of the language, two columns in YAML. A dash is indented like the fields
//! around it; the content after a dash is two columns further right.

mod yaml;

pub use yaml::YAML;

use crate::text::{Tabs, offset};
use agentir_diagnostics::{FileId, Span};

/// The notation of a document, as far as it matters for lines.
#[derive(Debug, Clone, Copy)]
pub struct Notation(pub fn(FileId, &str) -> LineLayout);

impl Notation {
    /// Computes the line layout of a document. Never fails; malformed parts keep their layout. Check the front end's
    /// diagnostics before relying on the columns.
    #[must_use]
    pub fn layout(self, file: FileId, text: &str) -> LineLayout {
        (self.0)(file, text)
    }
}

/// The line layout of a document.
#[derive(Debug)]
pub struct LineLayout {
    /// The lines, in order. Together they are the whole text.
    pub lines: Vec<Line>,
    /// White space inside lines that differs from canonical layout, in order.
    pub gaps: Vec<Gap>,
}

/// A line.
#[derive(Debug, Clone)]
pub struct Line {
    /// The line without its line ending.
    pub span: Span,
    /// The kind.
    pub kind: LineKind,
    /// The start of the content, after the indentation; the layout does not change what follows.
    pub content: u32,
    /// The canonical column of `content`, from 0.
    pub column: u32,
    /// The comment that the line consists of or ends with.
    pub comment: Option<Span>,
    /// Whether trailing white space belongs to a text.
    pub keeps_trailing_space: bool,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// An empty line.
    Blank,
    /// Only a comment.
    Comment,
    /// The start of an entry: a field, an item, a statement.
    Entry,
    /// A continuation of the entry above, inside brackets or quotes.
    Continuation,
    /// A line of a block text; white space in it is significant.
    Text,
    /// Like `Text`, and empty lines below would belong to the text (`|+`).
    KeptText,
    /// Left unchanged: a YAML marker.
    Verbatim,
}

/// White space inside a line, and its canonical width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The white space; may be empty.
    pub span: Span,
    /// The number of spaces.
    pub width: u32,
}

impl LineLayout {
    /// The index of the line that contains a byte.
    #[must_use]
    pub fn line_of(&self, offset: u32) -> usize {
        self.lines.partition_point(|l| l.span.start <= offset).saturating_sub(1)
    }

    /// The comments, in order.
    pub fn comments(&self) -> impl Iterator<Item = Span> {
        self.lines.iter().filter_map(|l| l.comment)
    }
}

/// An actual column, and the canonical one.
type Level = (u32, u32);

/// Builds a line layout.
#[derive(Debug)]
pub struct LayoutBuilder<'s> {
    /// The file.
    pub file: FileId,
    /// Its text.
    pub text: &'s str,
    tabs: Tabs,
    /// The lines so far.
    pub lines: Vec<Line>,
    gaps: Vec<Gap>,
    /// The levels each line opens: one, plus one for each dash.
    levels: Vec<Vec<Level>>,
    /// For each text line: the canonical column that only lines of the text exceed.
    text_edges: Vec<Option<u32>>,
}

impl<'s> LayoutBuilder<'s> {
    /// A layout in which all lines are blank.
    #[must_use]
    pub fn new(file: FileId, text: &'s str, tabs: Tabs) -> Self {
        let mut lines = Vec::new();
        let mut at = 0;
        let mark = '\u{feff}';
        for line in text.split('\n') {
            let shown = line.strip_suffix('\r').unwrap_or(line);
            let skip = if at == 0 && shown.starts_with(mark) { mark.len_utf8() } else { 0 };
            let start = offset(at + skip);
            lines.push(Line {
                span: Span::new(file, start, offset(at + shown.len())),
                kind: LineKind::Blank,
                content: start,
                column: 0,
                comment: None,
                keeps_trailing_space: false,
            });
            at += line.len() + 1;
        }
        let count = lines.len();
        Self {
            file,
            text,
            tabs,
            lines,
            gaps: Vec::new(),
            levels: vec![Vec::new(); count],
            text_edges: vec![None; count],
        }
    }

    /// The index of the line that contains a byte.
    #[must_use]
    pub fn line_of(&self, at: u32) -> usize {
        self.lines.partition_point(|l| l.span.start <= at).saturating_sub(1)
    }

    /// A part of the text.
    #[must_use]
    pub fn slice(&self, start: u32, end: u32) -> &'s str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// A byte of the text.
    #[must_use]
    pub fn byte(&self, at: u32) -> Option<u8> {
        self.text.as_bytes().get(at as usize).copied()
    }

    /// The end of white space at `at`.
    pub fn skip_white_space(&self, mut at: u32) -> u32 {
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    }

    /// Whether a line ends at `at`, or a comment starts there.
    pub fn is_line_end_at(&self, at: u32) -> bool {
        matches!(self.byte(at), None | Some(b'\n' | b'\r' | b'#'))
    }

    /// The column of a byte, with the language's tab width.
    pub fn column_of(&self, at: u32) -> u32 {
        let line = self.lines.get(self.line_of(at));
        let start = line.map_or(0, |l| l.span.start);
        self.slice(start, at)
            .bytes()
            .fold(0, |column, byte| self.tabs.column_after(column, byte).unwrap_or(column + 1))
    }

    /// The indentation of a line, in bytes.
    pub fn indentation(&self, line: usize) -> u32 {
        let Some(line) = self.lines.get(line) else { return 0 };
        self.skip_white_space(line.span.start).min(line.span.end) - line.span.start
    }

    /// Records an entry at `at` with this canonical column.
    pub fn entry(&mut self, at: u32, column: u32) {
        let here = self.column_of(at);
        let index = self.line_of(at);
        if let Some(levels) = self.levels.get_mut(index) {
            levels.push((here, column));
        }
        let indentation = self.indentation(index);
        if let Some(line) = self.lines.get_mut(index)
            && line.kind == LineKind::Blank
        {
            (line.kind, line.column) = (LineKind::Entry, column);
            line.content = line.span.start + indentation;
        }
    }

    /// Records the continuation lines of what starts at `at` with canonical column `column`, up to `end`.
    pub fn add_continuation(&mut self, at: u32, end: u32, column: u32) {
        let was = self.column_of(at);
        for index in self.line_of(at) + 1..=self.line_of(end.saturating_sub(1).max(at)) {
            let indentation = self.indentation(index);
            let Some(line) = self.lines.get(index) else { continue };
            let content = line.span.start + indentation;
            if content >= line.span.end || line.kind != LineKind::Blank {
                continue;
            }
            let closes = matches!(self.byte(content), Some(b']' | b'}' | b')'));
            let right = self.column_of(content).saturating_sub(was).max(u32::from(!closes));
            if let Some(line) = self.lines.get_mut(index) {
                line.kind = LineKind::Continuation;
                (line.content, line.column) = (content, column + right);
            }
        }
    }

    /// Records a text line whose first `strip` bytes of white space are indentation. Only lines of the text
    /// exceed the column `edge`.
    pub fn text_line(&mut self, index: usize, strip: u32, column: u32, edge: u32, kind: LineKind) {
        let strip = self.indentation(index).min(strip);
        if let Some(line) = self.lines.get_mut(index) {
            (line.kind, line.column, line.keeps_trailing_space) = (kind, column, true);
            line.content = line.span.start + strip;
        }
        if let Some(line) = self.text_edges.get_mut(index) {
            *line = Some(edge);
        }
    }

    /// Records white space, and its canonical width.
    pub fn gap(&mut self, start: u32, end: u32, width: u32) {
        if end - start != width || self.slice(start, end).contains('\t') {
            self.gaps.push(Gap { span: Span::new(self.file, start, end), width });
        }
    }

    /// One space after a colon, unless nothing follows it.
    pub fn gap_after(&mut self, colon: u32) {
        let next = self.skip_white_space(colon + 1);
        if !self.is_line_end_at(next) {
            self.gap(colon + 1, next, 1);
        }
    }

    /// Records a comment.
    pub fn comment(&mut self, comment: Span) {
        let index = self.line_of(comment.start);
        let alone = self.lines.get(index).is_some_and(|l| {
            l.kind == LineKind::Blank && l.span.start + self.indentation(index) == comment.start
        });
        let Some(line) = self.lines.get_mut(index) else { return };
        line.comment = Some(comment);
        if alone {
            (line.kind, line.content) = (LineKind::Comment, comment.start);
        }
    }

    /// Sets the columns of comment lines, and marks unknown lines as verbatim.
    pub fn finish(mut self) -> LineLayout {
        let following = self.following();
        let mut open: Vec<Level> = Vec::new();
        let mut edge = None;
        for index in 0..self.lines.len() {
            let Some(line) = self.lines.get(index) else { break };
            match line.kind {
                LineKind::Comment => {
                    let here = self.column_of(line.content);
                    let column =
                        column_of_comment(following.get(index).copied().flatten(), here, &open);
                    let column = edge.map_or(column, |edge| column.min(edge));
                    if let Some(line) = self.lines.get_mut(index) {
                        line.column = column;
                    }
                }
                LineKind::Blank => {
                    if let Some(line) = self.lines.get_mut(index)
                        && !self
                            .text
                            .get(line.span.range())
                            .is_some_and(|l| l.trim_matches([' ', '\t', '\r']).is_empty())
                    {
                        line.kind = LineKind::Verbatim;
                    }
                }
                LineKind::Entry => {
                    edge = None;
                    for level in self.levels.get(index).into_iter().flatten() {
                        while open.last().is_some_and(|top| top.1 >= level.1) {
                            open.pop();
                        }
                        open.push(*level);
                    }
                }
                LineKind::Text | LineKind::KeptText => {
                    edge = self.text_edges.get(index).copied().flatten();
                }
                LineKind::Continuation | LineKind::Verbatim => {}
            }
        }
        self.gaps.sort_by_key(|gap| gap.span.start);
        LineLayout { lines: self.lines, gaps: self.gaps }
    }

    /// For each line, the first level that the next entry opens.
    fn following(&self) -> Vec<Option<Level>> {
        let mut following = vec![None; self.lines.len()];
        let mut next = None;
        for ((line, levels), here) in self.lines.iter().zip(&self.levels).zip(&mut following).rev()
        {
            *here = next;
            if line.kind == LineKind::Entry {
                next = levels.first().copied();
            }
        }
        following
    }
}

/// The canonical column of a comment in column `here`: that of the deepest block it can belong to. It can
/// belong to the next entry, or to a block that is open and ends before that.
fn column_of_comment(next: Option<Level>, here: u32, open: &[Level]) -> u32 {
    // A comment aligned with the next entry belongs to it.
    if let Some(next) = next.filter(|next| next.0 == here) {
        return next.1;
    }
    let least = next.map_or(0, |next| next.1);
    let fits = |level: &&Level| level.1 >= least && level.0 <= here;
    // A dash may be aligned with its key: then the comment belongs to the key.
    let deepest = open
        .iter()
        .chain(&next)
        .filter(fits)
        .max_by_key(|level| (level.0, std::cmp::Reverse(level.1)));
    deepest.map_or(least, |level| level.1)
}
