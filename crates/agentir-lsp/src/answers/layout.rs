//! Folding, selection ranges and formatting.

use super::{Answer, Failure, Question};
use crate::view::View;
use agentir::diagnostics::{Edit, FileId, Span};
use agentir::{FoldKind, FormatError, RewriteError};
use gen_lsp_types::{
    DocumentFormattingParams, DocumentFormattingRequest, DocumentRangeFormattingParams,
    DocumentRangeFormattingRequest, FoldingRange, FoldingRangeKind, FoldingRangeParams,
    FoldingRangeRequest, SelectionRange, SelectionRangeParams, SelectionRangeRequest, TextEdit,
    Uri,
};
use similar::{DiffTag, TextDiff};

/// What can be folded in a document.
pub(crate) fn folding(
    question: &Question,
    params: FoldingRangeParams,
) -> Answer<FoldingRangeRequest> {
    let view = &question.view;
    let Some((file, source)) = view.file(&params.text_document.uri) else { return Ok(None) };
    let folds = view.snapshot.folds(file).into_iter().map(|fold| {
        let range = view.range(source, fold.span);
        let lines_only = view.client.folds_lines_only;
        FoldingRange {
            start_line: range.start.line,
            // After the first line, so that it stays.
            start_character: None,
            end_line: range.end.line,
            end_character: (!lines_only).then_some(range.end.character),
            kind: (fold.kind == FoldKind::Comments).then_some(FoldingRangeKind::Comment),
            collapsed_text: None,
        }
    });
    Ok(Some(folds.filter(|fold| fold.end_line > fold.start_line).collect()))
}

/// What is around positions, from the inside out.
pub(crate) fn selection(
    question: &Question,
    params: SelectionRangeParams,
) -> Answer<SelectionRangeRequest> {
    let view = &question.view;
    let Some((file, source)) = view.file(&params.text_document.uri) else { return Ok(None) };
    let around = |position| {
        let spans = view.snapshot.selections(file, view.offset(source, position));
        let outside_in = spans.into_iter().rev();
        let chain = outside_in.fold(None, |parent: Option<Box<SelectionRange>>, span| {
            Some(Box::new(SelectionRange { range: view.range(source, span), parent }))
        });
        // Each position has an answer.
        chain.map_or_else(
            || SelectionRange {
                range: gen_lsp_types::Range { start: position, end: position },
                parent: None,
            },
            |chain| *chain,
        )
    };
    Ok(Some(params.positions.into_iter().map(around).collect()))
}

/// A document in canonical layout.
pub(crate) fn format(
    question: &Question,
    params: DocumentFormattingParams,
) -> Answer<DocumentFormattingRequest> {
    formatted(question, &params.text_document.uri, |view, file| view.snapshot.format(file))
}

/// Some lines of a document in canonical layout.
pub(crate) fn format_range(
    question: &Question,
    params: DocumentRangeFormattingParams,
) -> Answer<DocumentRangeFormattingRequest> {
    formatted(question, &params.text_document.uri, |view, file| {
        let source = view.snapshot.sources().get(file).ok_or(FormatError::NotFound)?;
        view.snapshot.format_range(view.span(file, source, params.range))
    })
}

fn formatted(
    question: &Question,
    uri: &Uri,
    format: impl FnOnce(&View, FileId) -> Result<String, FormatError>,
) -> Result<Option<Vec<TextEdit>>, Failure> {
    let view = &question.view;
    let Some((file, source)) = view.file(uri) else { return Ok(None) };
    match format(view, file) {
        Ok(new) => {
            let edits = edits(file, &source.text, &new);
            let text_edit =
                |edit: Edit| TextEdit { range: view.range(source, edit.span), new_text: edit.text };
            Ok(Some(edits.into_iter().map(text_edit).collect()))
        }
        // Findings say what is wrong with it; editors format at every save.
        Err(
            FormatError::NotFound
            | FormatError::NotText
            | FormatError::Refused(RewriteError::InvalidStructure(_)),
        ) => Ok(None),
        Err(error @ FormatError::Refused(_)) => Err(Failure::Refused(error.to_string())),
    }
}

/// The edits of lines that make a text of another one.
pub(super) fn edits(file: FileId, old: &str, new: &str) -> Vec<Edit> {
    if old == new {
        return Vec::new();
    }
    let starts = |text: &str| -> Vec<usize> {
        let ends = text.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        });
        std::iter::once(0).chain(ends).collect()
    };
    let (old_starts, new_starts) = (starts(old), starts(new));
    let size = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let at = |starts: &[usize], line: usize| starts.get(line).copied().unwrap_or_default();
    TextDiff::from_lines(old, new)
        .ops()
        .iter()
        .filter(|op| op.tag() != DiffTag::Equal)
        .map(|op| {
            let (before, after) = (op.old_range(), op.new_range());
            let span = Span::new(
                file,
                size(at(&old_starts, before.start)),
                size(at(&old_starts, before.end)),
            );
            let text = new.get(at(&new_starts, after.start)..at(&new_starts, after.end));
            Edit { span, text: text.unwrap_or_default().to_owned() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::edits;
    use agentir::diagnostics::FileId;

    #[test]
    fn edits_make_one_text_of_another() {
        let texts =
            ["", "a", "a\n", "a\nb", "b\r\na\r\n", "a\n\n\nb\n", "x\na\ny\nb\nz", "ä\n😀\n"];
        for old in texts {
            for new in texts {
                let mut made = old.to_owned();
                for edit in edits(FileId(0), old, new).into_iter().rev() {
                    made.replace_range(edit.span.range(), &edit.text);
                }
                assert_eq!(made, new, "{old:?}");
            }
        }
    }
}
