//! What folds, and what is selected around a position.

use crate::snapshot::Snapshot;
use agentir_diagnostics::{FileId, SourceFile, Span};
use agentir_syntax::line_layout::{Line, LineKind, LineLayout};

/// Lines that can be folded into their first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fold {
    /// From the content of the first line to the end of the last one.
    pub span: Span,
    /// What it is.
    pub kind: FoldKind,
}

/// What is folded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    /// An entry with what is below it.
    Entry,
    /// Comments.
    Comments,
}

impl Snapshot {
    /// The line layout of a file, if its language has one.
    pub(super) fn layout(&self, file: FileId) -> Option<(LineLayout, &SourceFile)> {
        let source = self.sources().get(file).filter(|_| self.is_text(file))?;
        let notation = self.detected(file)?.kind.notation?;
        Some((notation.layout(file, &source.text), source))
    }

    /// What can be folded in a file, by position.
    #[must_use]
    pub fn folds(&self, file: FileId) -> Vec<Fold> {
        let Some((layout, _)) = self.layout(file) else { return Vec::new() };
        let mut folds: Vec<Fold> = blocks(&layout.lines)
            .into_iter()
            .filter(|(first, last)| last > first)
            .filter_map(|(first, last)| {
                let (first, last) = (layout.lines.get(first)?, layout.lines.get(last)?);
                let span = Span::new(file, first.content, last.span.end);
                Some(Fold { span, kind: FoldKind::Entry })
            })
            .collect();
        let runs = layout
            .lines
            .chunk_by(|a, b| a.kind == LineKind::Comment && b.kind == LineKind::Comment);
        for run in runs.filter(|run| run.len() > 1) {
            if let [first, .., last] = run
                && first.kind == LineKind::Comment
            {
                let span = Span::new(file, first.content, last.span.end);
                folds.push(Fold { span, kind: FoldKind::Comments });
            }
        }
        folds.sort_by_key(|fold| (fold.span.start, fold.span.end));
        folds
    }

    /// What is around an offset, from the inside out: the word, the path, the value, the line, the entries around it, the
    /// file. Each contains the one before and is larger.
    #[must_use]
    pub fn selections(&self, file: FileId, offset: u32) -> Vec<Span> {
        let Some(source) = self.sources().get(file) else { return Vec::new() };
        let text = &*source.text;
        let offset = offset.min(size(text.len()));
        let mut spans = Vec::new();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        spans.extend(run_around(file, text, offset, word));
        spans.extend(run_around(file, text, offset, |c| word(c) || matches!(c, '.' | '@')));
        let line = source.line_range(source.line_index(offset as usize));
        let written = text.get(line.clone()).unwrap_or_default();
        let content = line.start + written.len() - written.trim_start().len();
        let end = line.start + written.trim_end().len();
        if let Some(colon) = written.find(": ") {
            let value = line.start + colon + 1;
            let rest = text.get(value..end).unwrap_or_default();
            let start = end - rest.trim_start().len();
            // Within quotes first.
            let inner = rest.trim_start();
            if inner.len() > 1 && inner.starts_with(['"', '\'']) && inner.ends_with(['"', '\'']) {
                spans.push(Span::new(file, size(start + 1), size(end - 1)));
            }
            spans.push(Span::new(file, size(start), size(end)));
        }
        spans.push(Span::new(file, size(content), size(end.max(content))));
        if let Some((layout, _)) = self.layout(file) {
            let here = layout.line_of(offset);
            let around = blocks(&layout.lines).into_iter().rev();
            for (first, last) in around.filter(|(first, last)| *first <= here && here <= *last) {
                if let (Some(first), Some(last)) = (layout.lines.get(first), layout.lines.get(last))
                {
                    spans.push(Span::new(file, first.content, last.span.end));
                }
            }
        }
        spans.push(Span::new(file, 0, size(text.len())));
        let mut chain: Vec<Span> = Vec::new();
        for span in spans.into_iter().filter(|span| span.start <= offset && offset <= span.end) {
            let inner = chain.last().copied();
            let grows = inner.is_none_or(|inner| {
                span.start <= inner.start && inner.end <= span.end && span != inner
            });
            if grows && span.start < span.end {
                chain.push(span);
            }
        }
        chain
    }
}

fn size(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The characters of a kind around an offset.
fn run_around(file: FileId, text: &str, offset: u32, is: impl Fn(char) -> bool) -> Option<Span> {
    let (before, after) = text.split_at_checked(offset as usize)?;
    let start = before.trim_end_matches(&is).len();
    let end = offset as usize + after.len() - after.trim_start_matches(&is).len();
    (start < end).then(|| Span::new(file, size(start), size(end)))
}

/// The first and the last line of each entry with what is below it, in order.
fn blocks(lines: &[Line]) -> Vec<(usize, usize)> {
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    // The entries that are open, as their columns and positions among the blocks.
    let mut open: Vec<(u32, usize)> = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        match line.kind {
            LineKind::Entry => {
                while open.last().is_some_and(|(column, _)| *column >= line.column) {
                    open.pop();
                }
                open.push((line.column, blocks.len()));
                blocks.push((index, index));
            }
            LineKind::Text | LineKind::KeptText | LineKind::Continuation => {}
            LineKind::Blank | LineKind::Comment | LineKind::Verbatim => continue,
        }
        for (_, block) in &open {
            if let Some((_, last)) = blocks.get_mut(*block) {
                *last = index;
            }
        }
    }
    blocks
}
