//! Text edits at spans of the IR.

use crate::check::File;
use agentir_diagnostics::{Edit, Span};

/// Applies edits, which must not overlap.
#[must_use]
pub fn apply(files: &[File], edits: &[Edit]) -> Vec<File> {
    let mut files = files.to_vec();
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|e| std::cmp::Reverse((e.span.file, e.span.start)));
    for edit in edits {
        files[edit.span.file.0 as usize].text.replace_range(edit.span.range(), &edit.text);
    }
    files
}

/// The source text of a span.
#[must_use]
pub fn slice(files: &[File], span: Span) -> &str {
    files.get(span.file.0 as usize).and_then(|f| f.text.get(span.range())).unwrap_or_default()
}

/// An edit that replaces a span.
#[must_use]
pub fn replace(span: Span, text: impl Into<String>) -> Edit {
    Edit { span, text: text.into() }
}

/// An item of a list in ABL: the line on which something begins, with the lines below it that are
/// indented more than its dash.
#[must_use]
pub fn item(files: &[File], inside: Span) -> Option<Span> {
    let text = &files.get(inside.file.0 as usize)?.text;
    let start = text[..inside.start as usize].rfind('\n').map_or(0, |at| at + 1);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text[start..].split_inclusive('\n');
    let first = lines.next()?;
    if !first.trim_start().starts_with("- ") {
        return None;
    }
    let deeper = |line: &&str| line.trim().is_empty() || indent(line) > indent(first);
    let mut end = start + first.len();
    let mut blank = 0;
    for line in lines.take_while(deeper) {
        blank = if line.trim().is_empty() { blank + line.len() } else { 0 };
        end += line.len();
    }
    let place = |at: usize| u32::try_from(at).ok();
    Some(Span::new(inside.file, place(start)?, place(end - blank)?))
}

/// A section or field that is a key on a line of its own: that line, with the lines below it that are
/// indented more, or as much and begin with a dash.
#[must_use]
pub fn block(files: &[File], file: u32, key_line: usize) -> Option<Span> {
    let text = &files.get(file as usize)?.text;
    let mut at = 0;
    let mut lines = text.split_inclusive('\n');
    for line in lines.by_ref().take(key_line) {
        at += line.len();
    }
    let first = lines.next()?;
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut end = at + first.len();
    let mut blank = 0;
    for line in lines {
        let inside = indent(line) > indent(first)
            || (indent(line) == indent(first) && line.trim_start().starts_with("- "));
        if line.trim().is_empty() {
            blank += line.len();
        } else if inside {
            end += blank + line.len();
            blank = 0;
        } else {
            break;
        }
    }
    let place = |at: usize| u32::try_from(at).ok();
    Some(Span::new(agentir_diagnostics::FileId(file), place(at)?, place(end)?))
}

/// The line of a span, from 0.
#[must_use]
pub fn line(files: &[File], span: Span) -> usize {
    let text = files.get(span.file.0 as usize).map_or("", |f| &f.text);
    text[..span.start as usize].matches('\n').count()
}
