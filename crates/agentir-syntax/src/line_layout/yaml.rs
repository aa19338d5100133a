//! The line layout of YAML, from parser events.

use super::{LayoutBuilder, LineKind, LineLayout, Notation};
use crate::outline::MAX_NESTING;
use crate::text::{CharOffsets, Tabs, offset};
use agentir_diagnostics::FileId;
use saphyr_parser::{Event, Parser, ScalarStyle};

/// The indentation per level.
const STEP: u32 = 2;

/// An event as far as it matters for the layout, with its bytes.
#[derive(Debug, Clone, Copy)]
struct Mark {
    kind: MarkKind,
    start: u32,
    end: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkKind {
    /// A scalar or an alias.
    Scalar,
    /// A block scalar (`|` or `>`).
    Block,
    Sequence,
    Mapping,
    End,
}

/// The notation.
pub const YAML: Notation = Notation(line_layout);

fn line_layout(file: FileId, text: &str) -> LineLayout {
    let mut builder = LayoutBuilder::new(file, text, Tabs::Width(1));
    let marks = marks(text);
    let mut walk = Walk { marks: &marks, at: 0, builder: &mut builder, done: 0 };
    while walk.at < marks.len() {
        walk.node(0, None, MAX_NESTING);
    }
    comments(&mut builder, &marks);
    builder.finish()
}

fn marks(text: &str) -> Vec<Mark> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut characters = CharOffsets::new(text);
    let mut marks = Vec::new();
    for event in Parser::new_from_str(body) {
        // Errors are reported when the document is read.
        let Ok((event, span)) = event else { break };
        let kind = match event {
            Event::Scalar(_, ScalarStyle::Literal | ScalarStyle::Folded, ..) => MarkKind::Block,
            Event::Scalar(..) | Event::Alias(_) => MarkKind::Scalar,
            Event::SequenceStart(..) => MarkKind::Sequence,
            Event::MappingStart(..) => MarkKind::Mapping,
            Event::SequenceEnd | Event::MappingEnd => MarkKind::End,
            _ => continue,
        };
        let start = characters.offset(span.start.index());
        let mut end = characters.offset(span.end.index()).max(start);
        if kind == MarkKind::Scalar {
            let written = text.get(start as usize..end as usize).unwrap_or_default();
            end = start + offset(written.trim_end().len());
        }
        marks.push(Mark { kind, start, end });
    }
    marks
}

struct Walk<'m, 'l, 's> {
    marks: &'m [Mark],
    at: usize,
    builder: &'l mut LayoutBuilder<'s>,
    /// The position up to which the text has been read; dashes are searched after it.
    done: u32,
}

impl Walk<'_, '_, '_> {
    fn next(&mut self) -> Option<Mark> {
        let mark = self.marks.get(self.at).copied()?;
        self.at += 1;
        Some(mark)
    }

    /// A node. `owner` is the start and the canonical column of the entry it belongs to. A collection is at
    /// `column`.
    fn node(&mut self, column: u32, owner: Option<(u32, u32)>, depth: usize) {
        let Some(mark) = self.next() else { return };
        match mark.kind {
            MarkKind::End => {}
            MarkKind::Scalar => {
                let (start, column) = owner.unwrap_or((mark.start, column));
                if owner.is_none() && mark.end > mark.start {
                    self.builder.entry(mark.start, column);
                }
                // An empty node has the position at which the parser noticed that it is empty.
                if mark.end > mark.start {
                    self.builder.add_continuation(start, mark.end, column);
                    self.done = self.done.max(mark.end);
                }
            }
            MarkKind::Block => self.block(mark, owner),
            MarkKind::Sequence | MarkKind::Mapping
                if depth == 0 || matches!(self.builder.byte(mark.start), Some(b'[' | b'{')) =>
            {
                let end = self.skip(mark);
                let (start, column) = owner.unwrap_or((mark.start, column));
                if owner.is_none() {
                    self.builder.entry(mark.start, column);
                }
                self.builder.add_continuation(start, end, column);
                self.done = self.done.max(end);
            }
            MarkKind::Sequence => {
                while self.marks.get(self.at).is_some_and(|m| m.kind != MarkKind::End) {
                    self.item(column, depth - 1);
                }
                self.at += 1;
            }
            MarkKind::Mapping => {
                while self.marks.get(self.at).is_some_and(|m| m.kind != MarkKind::End) {
                    self.field(column, depth - 1);
                }
                self.at += 1;
            }
        }
    }

    /// Skips a collection that starts with `open`; returns its end.
    fn skip(&mut self, open: Mark) -> u32 {
        let mut depth = 1u32;
        let mut end = open.end;
        while depth > 0
            && let Some(mark) = self.next()
        {
            match mark.kind {
                MarkKind::Sequence | MarkKind::Mapping => depth += 1,
                MarkKind::End => depth -= 1,
                _ => {}
            }
            end = end.max(mark.end);
        }
        end
    }

    /// `- …`
    fn item(&mut self, column: u32, depth: usize) {
        let Some(dash) = self.dash() else {
            // A dash is missing: leave the node where it is.
            self.node(column, None, depth);
            return;
        };
        self.builder.entry(dash, column);
        let behind = self.builder.skip_white_space(dash + 1);
        if !self.builder.is_line_end_at(behind) {
            self.builder.gap(dash + 1, behind, 1);
        }
        self.done = dash + 1;
        self.node(column + 2, Some((dash, column)), depth);
    }

    /// The next dash after what was read, skipping white space and comments.
    fn dash(&self) -> Option<u32> {
        let mut at = self.done;
        loop {
            match self.builder.byte(at)? {
                b' ' | b'\t' | b'\r' | b'\n' => at += 1,
                b'#' => {
                    let rest = self.builder.text.get(at as usize..)?;
                    at += offset(rest.find('\n')?);
                }
                // The start of the document, or the anchor of the sequence.
                b'-' if self.builder.slice(at, at + 3) == "---" => at += 3,
                b'&' | b'!' => {
                    let rest = self.builder.text.get(at as usize..)?;
                    at += offset(rest.find([' ', '\t', '\r', '\n'])?);
                }
                b'-' => return Some(at),
                _ => return None,
            }
        }
    }

    /// `key: …`
    fn field(&mut self, column: u32, depth: usize) {
        let Some(key) = self.marks.get(self.at).copied() else { return };
        if matches!(key.kind, MarkKind::Sequence | MarkKind::Mapping) {
            // Collections as keys are not supported.
            self.at += 1;
            self.skip(key);
            self.node(column, None, depth);
            return;
        }
        self.at += 1;
        self.builder.entry(key.start, column);
        self.done = self.done.max(key.end);
        let colon = self.builder.skip_white_space(key.end);
        if self.builder.byte(colon) == Some(b':') {
            self.builder.gap(key.end, colon, 0);
            self.builder.gap_after(colon);
            self.done = self.done.max(colon + 1);
        }
        self.node(column + STEP, Some((key.start, column)), depth);
    }

    /// A block scalar.
    fn block(&mut self, mark: Mark, owner: Option<(u32, u32)>) {
        self.done = self.done.max(mark.end);
        let first = self.builder.line_of(mark.start);
        // The header is on the last line before the text that is not empty.
        let Some(header) = (0..first).rev().find(|&i| !self.is_empty(i)) else { return };
        let strip = self.builder.indentation(first);
        let written = self.builder.lines.get(header).map(|l| l.span);
        let written = written.map_or("", |s| self.builder.slice(s.start, s.end));
        let Some(indicators) = written.rfind(['|', '>']).and_then(|at| written.get(at + 1..))
        else {
            return;
        };
        let indicators = indicators.split([' ', '\t']).next().unwrap_or_default();
        let keeps = indicators.contains('+');
        let told = indicators.chars().find_map(|c| c.to_digit(10));
        let edge = owner.map_or(0, |(_, column)| column);
        let column = match (told, owner) {
            (Some(told), _) => edge + told,
            (None, Some(_)) => edge + STEP,
            (None, None) => strip,
        };
        // An indentation indicator counts from the parent.
        let strip = match (told, owner) {
            (Some(told), Some((start, _))) => self.builder.column_of(start) + told,
            _ => strip,
        };
        let mut last = first;
        let mut index = first;
        while index < self.builder.lines.len() {
            if !self.is_empty(index) {
                if self.builder.indentation(index) < strip {
                    break;
                }
                last = index;
            } else if keeps {
                last = index;
            }
            index += 1;
        }
        // After the last line break there is no further line.
        if last + 1 == self.builder.lines.len() && self.is_empty(last) && last > first {
            last -= 1;
        }
        let kind = if keeps { LineKind::KeptText } else { LineKind::Text };
        for index in header + 1..=last {
            self.builder.text_line(index, strip, column, edge, kind);
        }
    }

    fn is_empty(&self, line: usize) -> bool {
        self.builder.lines.get(line).is_none_or(|l| {
            self.builder.slice(l.span.start, l.span.end).trim_matches([' ', '\t']).is_empty()
        })
    }
}

/// Finds comments: ` #` after the last node of a line, or at its start.
fn comments(builder: &mut LayoutBuilder<'_>, marks: &[Mark]) {
    // The end of the nodes on each line.
    let mut reach: Vec<u32> = builder.lines.iter().map(|l| l.span.start).collect();
    // Collections end with a bracket or nothing, neither of which hides a comment.
    for mark in marks.iter().filter(|m| m.kind == MarkKind::Scalar) {
        let last = builder.line_of(mark.end);
        for index in builder.line_of(mark.start)..=last {
            let end = builder.lines.get(index).map_or(0, |l| l.span.end);
            if let Some(reach) = reach.get_mut(index) {
                *reach = (*reach).max(mark.end.min(end));
            }
        }
    }
    for (index, reach) in reach.into_iter().enumerate() {
        let Some(line) = builder.lines.get(index).cloned() else { continue };
        if matches!(line.kind, LineKind::Text | LineKind::KeptText) {
            continue;
        }
        let rest = builder.slice(reach, line.span.end);
        let at = rest.match_indices('#').map(|(at, _)| at).find(|&at| {
            let before = reach + offset(at);
            before == line.span.start || matches!(builder.byte(before - 1), Some(b' ' | b'\t'))
        });
        if let Some(at) = at {
            let end = reach + offset(rest.trim_end().len());
            builder.comment(agentir_diagnostics::Span::new(builder.file, reach + offset(at), end));
        }
    }
}
