//! Documents as lines: what each line is and where it would stand in the canonical layout.
//!
//! An outline says what is inside what; this says which line says it. Every byte of a document
//! belongs to a line, so whoever writes the lines anew loses nothing: comments, texts and lines that
//! nobody understands are among them. Formatting, and putting comments where they belong, start here.
//!
//! The canonical layout indents by two columns, Agent Script by four, and a dash by as many as the
//! fields around it would have; what stands behind a dash is two columns right of it.

mod abl;
mod agent_script;
mod yaml;

use crate::text::{Tabs, offset};
use agentir_diagnostics::{FileId, Span};

/// A way of writing documents, as far as lines are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `.abl` text.
    Abl,
    /// YAML: ABL's and ADL's.
    Yaml,
    /// Agent Script.
    AgentScript,
}

/// A document as lines.
#[derive(Debug)]
pub struct LineLayout {
    /// The lines, in order. Together they are the whole text.
    pub lines: Vec<Line>,
    /// White space inside lines that the canonical layout has otherwise, in order.
    pub gaps: Vec<Gap>,
}

/// One line.
#[derive(Debug, Clone)]
pub struct Line {
    /// The line, without what ends it.
    pub span: Span,
    /// What it is.
    pub kind: LineKind,
    /// Where that begins which the layout must not touch: behind the indentation.
    pub content: u32,
    /// The column, from 0, at which `content` stands in the canonical layout.
    pub column: u32,
    /// The comment that the line is, or ends with.
    pub comment: Option<Span>,
    /// Whether white space at its end is part of a text.
    pub keeps_end: bool,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Nothing.
    Blank,
    /// A comment and nothing else.
    Comment,
    /// The begin of an entry: a field, an item, a statement.
    Entry,
    /// More of the entry above it, between brackets or quotes.
    Continuation,
    /// A line of a block of text; white space in and behind it is the author's.
    Text,
    /// Such a line, and empty lines below it would belong to the text (`|+`).
    KeptText,
    /// Nothing that is laid out: a marker of YAML.
    Verbatim,
}

/// White space inside a line, and how much of it there should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The white space; may be empty.
    pub span: Span,
    /// How many spaces.
    pub width: u32,
}

/// The lines of a document. Never fails; what cannot be read well is laid out as it was read, so
/// whoever wants to trust the columns looks at the problems of the front end first.
#[must_use]
pub fn line_layout(notation: Notation, file: FileId, text: &str) -> LineLayout {
    match notation {
        Notation::Abl => abl::line_layout(file, text),
        Notation::Yaml => yaml::line_layout(file, text),
        Notation::AgentScript => agent_script::line_layout(file, text),
    }
}

impl LineLayout {
    /// The index of the line that holds a byte.
    #[must_use]
    pub fn line_of(&self, offset: u32) -> usize {
        self.lines.partition_point(|l| l.span.start <= offset).saturating_sub(1)
    }

    /// The comments, in order.
    pub fn comments(&self) -> impl Iterator<Item = Span> {
        self.lines.iter().filter_map(|l| l.comment)
    }
}

/// A column as written, and the one that takes its place.
type Level = (u32, u32);

/// Lines that are being sorted out.
struct LayoutBuilder<'s> {
    file: FileId,
    text: &'s str,
    tabs: Tabs,
    lines: Vec<Line>,
    gaps: Vec<Gap>,
    /// What each line opens: one level, and one for each dash.
    levels: Vec<Vec<Level>>,
    /// For each line of text: the canonical column that only lines of the text are right of.
    edges: Vec<Option<u32>>,
}

impl<'s> LayoutBuilder<'s> {
    fn new(file: FileId, text: &'s str, tabs: Tabs) -> Self {
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
                keeps_end: false,
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
            edges: vec![None; count],
        }
    }

    fn line_of(&self, at: u32) -> usize {
        self.lines.partition_point(|l| l.span.start <= at).saturating_sub(1)
    }

    fn slice(&self, start: u32, end: u32) -> &'s str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    fn byte(&self, at: u32) -> Option<u8> {
        self.text.as_bytes().get(at as usize).copied()
    }

    /// Where white space that begins at `at` ends.
    fn behind_white(&self, mut at: u32) -> u32 {
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        at
    }

    /// Whether a line ends at `at`, or a comment begins there.
    fn nothing_at(&self, at: u32) -> bool {
        matches!(self.byte(at), None | Some(b'\n' | b'\r' | b'#'))
    }

    /// The column of a byte, as the layout of this language counts.
    fn column_of(&self, at: u32) -> u32 {
        let line = self.lines.get(self.line_of(at));
        let start = line.map_or(0, |l| l.span.start);
        self.slice(start, at)
            .bytes()
            .fold(0, |column, byte| self.tabs.behind(column, byte).unwrap_or(column + 1))
    }

    /// The indentation of a line, in bytes.
    fn indentation(&self, line: usize) -> u32 {
        let Some(line) = self.lines.get(line) else { return 0 };
        self.behind_white(line.span.start).min(line.span.end) - line.span.start
    }

    /// An entry begins at `at`, at this column of the canonical layout.
    fn entry(&mut self, at: u32, column: u32) {
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

    /// What begins at `at` in the canonical column `column` goes on to `end`, on lines of its own.
    fn go_on(&mut self, at: u32, end: u32, column: u32) {
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

    /// A line of a text: its first `strip` bytes of white space are indentation. `edge` is the column
    /// that only lines of the text are right of.
    fn text_line(&mut self, index: usize, strip: u32, column: u32, edge: u32, kind: LineKind) {
        let strip = self.indentation(index).min(strip);
        if let Some(line) = self.lines.get_mut(index) {
            (line.kind, line.column, line.keeps_end) = (kind, column, true);
            line.content = line.span.start + strip;
        }
        if let Some(line) = self.edges.get_mut(index) {
            *line = Some(edge);
        }
    }

    fn gap(&mut self, start: u32, end: u32, width: u32) {
        if end - start != width || self.slice(start, end).contains('\t') {
            self.gaps.push(Gap { span: Span::new(self.file, start, end), width });
        }
    }

    /// One space behind a colon at `colon`, if there is something behind it.
    fn gap_behind(&mut self, colon: u32) {
        let next = self.behind_white(colon + 1);
        if !self.nothing_at(next) {
            self.gap(colon + 1, next, 1);
        }
    }

    fn comment(&mut self, comment: Span) {
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

    /// Gives every comment line its column, and every line that nobody knows its own.
    fn finish(mut self) -> LineLayout {
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
                    edge = self.edges.get(index).copied().flatten();
                }
                LineKind::Continuation | LineKind::Verbatim => {}
            }
        }
        self.gaps.sort_by_key(|gap| gap.span.start);
        LineLayout { lines: self.lines, gaps: self.gaps }
    }

    /// For each line what the next entry below it opens first.
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

/// The canonical column of a comment in column `here`: that of the deepest block it may belong to and
/// is not left of. It may belong to what follows, and to what is open and ends before that.
fn column_of_comment(next: Option<Level>, here: u32, open: &[Level]) -> u32 {
    // Where it stands right above something, it is about that.
    if let Some(next) = next.filter(|next| next.0 == here) {
        return next.1;
    }
    let least = next.map_or(0, |next| next.1);
    let fits = |level: &&Level| level.1 >= least && level.0 <= here;
    // A dash may stand below its key: then the key is meant.
    let deepest = open
        .iter()
        .chain(&next)
        .filter(fits)
        .max_by_key(|level| (level.0, std::cmp::Reverse(level.1)));
    deepest.map_or(least, |level| level.1)
}

#[cfg(test)]
mod tests {
    use super::{LineKind, Notation, line_layout};
    use agentir_diagnostics::FileId;

    /// Each line as its kind, its canonical column and what it keeps.
    fn shown(notation: Notation, text: &str) -> Vec<(LineKind, u32, &str)> {
        line_layout(notation, FileId(0), text)
            .lines
            .iter()
            .map(|l| {
                (l.kind, l.column, text.get(l.content as usize..l.span.end as usize).unwrap_or(""))
            })
            .collect()
    }

    #[test]
    fn every_line_is_something() {
        use LineKind::{Blank, Comment, Continuation, Entry, Text};
        let text = "A: x\nB: |\n   t\n\n     u\n# c\nC:\n - y: [1,\n     2]\n     # d\n - z\n";
        assert_eq!(
            shown(Notation::Abl, text),
            [
                (Entry, 0, "A: x"),
                (Entry, 0, "B: |"),
                (Text, 2, "t"),
                (Text, 2, ""),
                (Text, 2, "  u"),
                (Comment, 0, "# c"),
                (Entry, 0, "C:"),
                (Entry, 2, "- y: [1,"),
                (Continuation, 6, "2]"),
                (Comment, 4, "# d"),
                (Entry, 2, "- z"),
                (Blank, 0, ""),
            ]
        );
    }
}
