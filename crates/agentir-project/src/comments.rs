//! The comments of files, for suppressions.

use agentir_diagnostics::{FileId, SourceFile, Span};
use agentir_lint::Comment;
use agentir_syntax::Languages;
use agentir_syntax::line_layout::LineKind;

/// Returns the comments of a file, in order.
pub(crate) fn comments(languages: Languages, id: FileId, file: &SourceFile) -> Vec<Comment> {
    let text = &*file.text;
    // A manifest is not a file of any language.
    if file.name.ends_with(".json") {
        return Vec::new();
    }
    let kind = languages.detect(&file.name, text).kind;
    if let Some(comments) = kind.comments {
        return outside_of_lines(comments, id, text);
    }
    let Some(notation) = kind.notation else { return Vec::new() };
    let lines = notation.layout(id, text).lines;
    let is_content = |kind: LineKind| !matches!(kind, LineKind::Blank | LineKind::Comment);
    let first = lines.iter().position(|l| is_content(l.kind) && l.kind != LineKind::Verbatim);
    let first = first.unwrap_or(lines.len());
    let mut comments = Vec::new();
    let mut next_content = None;
    for (index, line) in lines.iter().enumerate().rev() {
        if is_content(line.kind) {
            next_content = Some(index);
        }
        if let Some(span) = line.comment {
            comments.push(Comment {
                span,
                at_top: index < first,
                alone: line.kind == LineKind::Comment,
                about: next_content.unwrap_or(index),
            });
        }
    }
    comments.reverse();
    comments
}

/// The comments of a file without a line layout, in order.
fn outside_of_lines(
    comments: fn(FileId, &str) -> Vec<Span>,
    id: FileId,
    text: &str,
) -> Vec<Comment> {
    // A file without a suppression is not parsed again.
    if !text.contains(agentir_lint::SUPPRESSION_MARKER) {
        return Vec::new();
    }
    let starts: Vec<usize> =
        std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let line_of = |span: &Span| starts.partition_point(|start| *start <= span.start as usize) - 1;
    let spans = comments(id, text);
    let is_alone = |span: &Span| {
        let start = starts.get(line_of(span)).copied().unwrap_or_default();
        text.get(start..span.start as usize).is_some_and(|before| before.trim().is_empty())
    };
    let alone: Vec<usize> = spans.iter().filter(|span| is_alone(span)).map(line_of).collect();
    let content: Vec<usize> = text
        .lines()
        .enumerate()
        .filter(|(line, written)| !written.trim().is_empty() && alone.binary_search(line).is_err())
        .map(|(line, _)| line)
        .collect();
    let first = content.first().copied().unwrap_or(usize::MAX);
    let comment = |span: Span| {
        let line = line_of(&span);
        let about = content.get(content.partition_point(|at| *at < line)).copied();
        Comment { span, at_top: line < first, alone: is_alone(&span), about: about.unwrap_or(line) }
    };
    spans.into_iter().map(comment).collect()
}
