//! The formatter: canonical indentation, spacing and empty lines.
//!
//! Columns come from the notation of the language. This module decides the rest:
//!
//! - one empty line between sections longer than a line; never two in a row, none at either end;
//! - two spaces before a trailing comment, more where comments on successive lines were aligned;
//! - no trailing white space;
//! - the first line's line ending everywhere.
//!
//! Text blocks keep every byte after their indentation.

use crate::RewriteError;
use crate::round_trip::{changed_comment, differences, read};
use agentir_diagnostics::{FileId, Span};
use agentir_syntax::Detected;
use agentir_syntax::line_layout::{Gap, Line, LineKind};
use agentir_syntax::migrate::Difference;
use similar::TextDiff;
use std::ops::Range;

/// Formats a document. The result has the same meaning and the same comments, and formatting it again
/// changes nothing. A file that is not laid out in lines of ours is returned unchanged.
///
/// # Errors
/// If the document has errors that make its structure doubtful, or the result would differ in meaning.
pub fn format(language: Detected, file: FileId, text: &str) -> Result<String, RewriteError> {
    laid_out(language, file, text, &|formatted| formatted)
}

/// Formats the lines that a span touches, and leaves all others as they are. The result has the same meaning and the same
/// comments.
///
/// # Errors
/// Those of [`format()`]; also if the lines of the span cannot be laid out without others.
pub fn format_range(language: Detected, span: Span, text: &str) -> Result<String, RewriteError> {
    let line_of = |at: u32| {
        let before = text.get(..text.floor_char_boundary(at as usize)).unwrap_or_default();
        before.matches('\n').count()
    };
    let wanted = line_of(span.start)..line_of(span.end.max(span.start)) + 1;
    laid_out(language, span.file, text, &|formatted| within(text, &formatted, &wanted))
}

/// A text with the lines of another one where some of its lines differ.
fn within(text: &str, formatted: &str, wanted: &Range<usize>) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (text.split_inclusive('\n').collect(), formatted.split_inclusive('\n').collect());
    let diff = TextDiff::from_slices(&old, &new);
    let mut out = String::with_capacity(text.len());
    for op in diff.ops() {
        let (before, after) = (op.old_range(), op.new_range());
        // Lines that are added stand before the one that they are added at.
        let end = before.end.max(before.start + 1);
        let touches = before.start < wanted.end && wanted.start < end;
        let lines = if touches { new.get(after) } else { old.get(before) };
        lines.into_iter().flatten().for_each(|line| out.push_str(line));
    }
    out
}

/// Formats as much of a text as `choose` takes.
fn laid_out(
    language: Detected,
    file: FileId,
    text: &str,
    choose: &dyn Fn(String) -> String,
) -> Result<String, RewriteError> {
    let Some(notation) = language.kind.notation else { return Ok(text.to_owned()) };
    let before = read(language, file, text, None);
    let broken = before.structure_errors();
    if !broken.is_empty() {
        return Err(RewriteError::InvalidStructure(broken));
    }
    let old = notation.layout(file, text);
    let formatted = choose(render(text, &old.lines, &old.gaps));
    if formatted == text {
        return Ok(formatted);
    }
    let after = read(language, file, &formatted, None);
    let found = differences(&before, &after);
    if let Some(difference) = found.into_iter().find(|d| !is_source(d)) {
        return Err(RewriteError::MeaningChanged(difference.path));
    }
    if let Some(comment) =
        changed_comment((&old, text), (&notation.layout(file, &formatted), &formatted))
    {
        return Err(RewriteError::MeaningChanged(comment));
    }
    Ok(formatted)
}

/// Whether two values are raw source kept in `extensions` and differ only in white space.
fn is_source(difference: &Difference<'_>) -> bool {
    let words = |value: &serde_json::Value| {
        value.as_str().map(|text| text.split_whitespace().collect::<String>())
    };
    difference.path.contains("extensions.")
        && words(difference.left).is_some_and(|left| words(difference.right) == Some(left))
}

/// An output line.
struct OutputLine {
    kind: LineKind,
    column: u32,
    text: String,
    /// The trailing comment, and its column.
    comment: Option<(String, usize)>,
    /// Whether it starts a section: it begins at the left margin, without a dash.
    starts_section: bool,
}

fn render(text: &str, lines: &[Line], gaps: &[Gap]) -> String {
    let mut gaps = gaps.iter().peekable();
    let mut rows: Vec<OutputLine> = Vec::with_capacity(lines.len());
    for line in lines {
        let row = output_line(text, line, &mut gaps);
        // At most one empty line in a row, and none at the start.
        let empty = row.kind == LineKind::Blank;
        if empty && rows.last().is_none_or(|before| before.kind == LineKind::Blank) {
            continue;
        }
        rows.push(row);
    }
    while rows.last().is_some_and(|row| row.kind == LineKind::Blank) {
        rows.pop();
    }
    align(&mut rows);
    let separate = sections_to_separate(&rows);
    let ending =
        if text.find('\n').is_some_and(|n| text.get(..n).is_some_and(|l| l.ends_with('\r'))) {
            "\r\n"
        } else {
            "\n"
        };
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    if text.starts_with('\u{feff}') {
        out.push('\u{feff}');
    }
    for (row, separate) in rows.iter().zip(separate) {
        if separate {
            out.push_str(ending);
        }
        if !row.text.is_empty() {
            out.extend(std::iter::repeat_n(' ', row.column as usize));
            out.push_str(&row.text);
        }
        if let Some((comment, column)) = &row.comment {
            let width = row.column as usize + row.text.chars().count();
            out.extend(std::iter::repeat_n(' ', column.saturating_sub(width)));
            out.push_str(comment);
        }
        out.push_str(ending);
    }
    out
}

fn output_line<'g>(
    text: &str,
    line: &Line,
    gaps: &mut std::iter::Peekable<impl Iterator<Item = &'g Gap>>,
) -> OutputLine {
    let slice = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or_default();
    let whole = slice(line.content, line.span.end);
    let mut row = OutputLine {
        kind: line.kind,
        column: line.column,
        text: String::new(),
        comment: None,
        starts_section: false,
    };
    match line.kind {
        LineKind::Blank => {}
        LineKind::Verbatim => row.text.push_str(slice(line.span.start, line.span.end).trim_end()),
        LineKind::Text | LineKind::KeptText => row.text.push_str(whole),
        LineKind::Comment => row.text.push_str(whole.trim_end()),
        LineKind::Entry | LineKind::Continuation => {
            // A comment at the start of the content is not a trailing comment.
            let comment = line.comment.filter(|c| c.start > line.content);
            let end = comment.map_or(line.span.end, |c| c.start);
            let mut at = line.content;
            while gaps.next_if(|gap| gap.span.start < at).is_some() {}
            while let Some(gap) = gaps.next_if(|gap| gap.span.start < end) {
                row.text.push_str(slice(at, gap.span.start));
                row.text.extend(std::iter::repeat_n(' ', gap.width as usize));
                at = gap.span.end;
            }
            row.text.push_str(slice(at, end));
            if !line.keeps_trailing_space {
                row.text.truncate(row.text.trim_end().len());
            }
            row.starts_section =
                line.kind == LineKind::Entry && line.column == 0 && !row.text.starts_with('-');
            row.comment = comment.map(|comment| {
                let before = slice(line.span.start, comment.start);
                (slice(comment.start, line.span.end).trim_end().to_owned(), before.chars().count())
            });
        }
    }
    row
}

/// Sets the columns of trailing comments; comments that were aligned stay aligned.
fn align(rows: &mut [OutputLine]) {
    let together = |a: &OutputLine, b: &OutputLine| match (&a.comment, &b.comment) {
        (Some((_, a)), Some((_, b))) => a == b,
        _ => false,
    };
    for run in rows.chunk_by_mut(together) {
        let widths = run.iter().map(|row| row.column as usize + row.text.chars().count());
        let column = widths.max().unwrap_or(0) + 2;
        for (_, at) in run.iter_mut().filter_map(|row| row.comment.as_mut()) {
            *at = column;
        }
    }
}

/// Marks the lines that need an empty line before them: sections (with the comments above them) where
/// they or their predecessors are longer than a line.
fn sections_to_separate(rows: &[OutputLine]) -> Vec<bool> {
    let mut separate = vec![false; rows.len()];
    let sections: Vec<usize> =
        (0..rows.len()).filter(|&i| rows.get(i).is_some_and(|r| r.starts_section)).collect();
    // Whether a section has more than its first line.
    let long = |at: usize, next: usize| {
        let below = rows.get(at + 1..next).unwrap_or_default();
        below.iter().any(|row| !matches!(row.kind, LineKind::Blank | LineKind::Comment))
    };
    let end = |n: usize| sections.get(n + 1).copied().unwrap_or(rows.len());
    for (n, &here) in sections.iter().enumerate().skip(1) {
        let Some(&before) = sections.get(n - 1) else { continue };
        if !long(before, here) && !long(here, end(n)) {
            continue;
        }
        let mut at = here;
        while at > before + 1
            && rows.get(at - 1).is_some_and(|r| r.kind == LineKind::Comment && r.column == 0)
        {
            at -= 1;
        }
        let above = rows.get(at - 1).map(|r| r.kind);
        if !matches!(above, Some(LineKind::Blank | LineKind::KeptText | LineKind::Verbatim))
            && let Some(separate) = separate.get_mut(at)
        {
            *separate = true;
        }
    }
    separate
}
