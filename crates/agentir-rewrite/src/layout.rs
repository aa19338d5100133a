//! The canonical layout: indentation, white space between words of the layout, empty lines.
//!
//! What is decided here, beside the columns (`agentir_syntax::lines`): one empty line between
//! sections that are longer than a line, never two, none at either end; two spaces before a comment
//! behind something, more where comments on successive lines were aligned; no white space at the end
//! of a line; the line ending of the first line everywhere. Texts keep every byte behind their
//! indentation.

use crate::Refusal;
use crate::same::{Difference, differences, lost_comment, read};
use agentir_diagnostics::FileId;
use agentir_lower::Language;
use agentir_syntax::lines::{Gap, Line, LineKind, lines};

/// A document in canonical layout. It means the same and has the same comments; formatting it again
/// changes nothing. What is not laid out (Python) is given back as it is.
///
/// # Errors
/// If the document has errors that make its structure doubtful.
pub fn format(language: Language, file: FileId, text: &str) -> Result<String, Refusal> {
    let Some(notation) = language.notation() else { return Ok(text.to_owned()) };
    let before = read(language, file, text, None);
    let broken = before.broken();
    if !broken.is_empty() {
        return Err(Refusal::Broken(broken));
    }
    let old = lines(notation, file, text);
    let formatted = write(text, &old.lines, &old.gaps);
    if formatted == text {
        return Ok(formatted);
    }
    let after = read(language, file, &formatted, None);
    let found = differences(&before, &after);
    if let Some(difference) = found.into_iter().find(|d| !is_source(d)) {
        return Err(Refusal::Differs(difference.path));
    }
    if let Some(comment) =
        lost_comment((&old, text), (&lines(notation, file, &formatted), &formatted))
    {
        return Err(Refusal::Differs(comment));
    }
    Ok(formatted)
}

/// Whether two values are parts of the source that nobody reads, and differ only in their layout.
fn is_source(difference: &Difference<'_>) -> bool {
    let words = |value: &serde_json::Value| {
        value.as_str().map(|text| text.split_whitespace().collect::<String>())
    };
    difference.path.contains("extensions.")
        && words(difference.left).is_some_and(|left| words(difference.right) == Some(left))
}

/// A line as it will be.
struct Row {
    kind: LineKind,
    column: u32,
    text: String,
    /// The comment behind the text, and the column at which it was written.
    comment: Option<(String, usize)>,
    /// Begins at the left margin, and no dash.
    heads: bool,
}

fn write(text: &str, lines: &[Line], gaps: &[Gap]) -> String {
    let mut gaps = gaps.iter().peekable();
    let mut rows: Vec<Row> = Vec::with_capacity(lines.len());
    for line in lines {
        let row = row(text, line, &mut gaps);
        // One empty line is enough, and none at the beginning.
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
    let apart = apart(&rows);
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
    for (row, apart) in rows.iter().zip(apart) {
        if apart {
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

fn row<'g>(
    text: &str,
    line: &Line,
    gaps: &mut std::iter::Peekable<impl Iterator<Item = &'g Gap>>,
) -> Row {
    let slice = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or_default();
    let whole = slice(line.content, line.span.end);
    let mut row = Row {
        kind: line.kind,
        column: line.column,
        text: String::new(),
        comment: None,
        heads: false,
    };
    match line.kind {
        LineKind::Blank => {}
        LineKind::Verbatim => row.text.push_str(slice(line.span.start, line.span.end).trim_end()),
        LineKind::Text | LineKind::KeptText => row.text.push_str(whole),
        LineKind::Comment => row.text.push_str(whole.trim_end()),
        LineKind::Entry | LineKind::Continuation => {
            // What stands behind nothing else is no comment behind something.
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
            if !line.keeps_end {
                row.text.truncate(row.text.trim_end().len());
            }
            row.heads =
                line.kind == LineKind::Entry && line.column == 0 && !row.text.starts_with('-');
            row.comment = comment.map(|comment| {
                let before = slice(line.span.start, comment.start);
                (slice(comment.start, line.span.end).trim_end().to_owned(), before.chars().count())
            });
        }
    }
    row
}

/// Decides the columns of comments that stand behind something: those that stood below each other
/// still do.
fn align(rows: &mut [Row]) {
    let together = |a: &Row, b: &Row| match (&a.comment, &b.comment) {
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

/// Before which lines an empty one is missing: before a section, with the comments above it, if it or
/// the one before it is longer than a line.
fn apart(rows: &[Row]) -> Vec<bool> {
    let mut apart = vec![false; rows.len()];
    let heads: Vec<usize> =
        (0..rows.len()).filter(|&i| rows.get(i).is_some_and(|r| r.heads)).collect();
    // Whether a section has more than its first line.
    let long = |at: usize, next: usize| {
        let below = rows.get(at + 1..next).unwrap_or_default();
        below.iter().any(|row| !matches!(row.kind, LineKind::Blank | LineKind::Comment))
    };
    let end = |n: usize| heads.get(n + 1).copied().unwrap_or(rows.len());
    for (n, &here) in heads.iter().enumerate().skip(1) {
        let Some(&before) = heads.get(n - 1) else { continue };
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
            && let Some(apart) = apart.get_mut(at)
        {
            *apart = true;
        }
    }
    apart
}
