//! The comments of files, for suppressions.

use agentir_diagnostics::{FileId, SourceFile};
use agentir_lint::Comment;
use agentir_syntax::line_layout::{LineKind, line_layout};

/// Returns the comments of a file, in order.
pub(crate) fn comments(id: FileId, file: &SourceFile) -> Vec<Comment> {
    let text = &*file.text;
    let notation = match file.name.ends_with(".json") {
        true => None,
        false => agentir_lower::language(&file.name, text).notation(),
    };
    let Some(notation) = notation else { return Vec::new() };
    let lines = line_layout(notation, id, text).lines;
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
