//! The lines of `.abl` text.

use super::{LineKind, Lines, Sheet};
use crate::outline::{self, Entry, EntryKind, Key, Scalar, Style};
use crate::text::Tabs;
use agentir_diagnostics::FileId;

/// How much deeper what is below an entry stands.
const STEP: u32 = 2;

pub(super) fn lines(file: FileId, text: &str) -> Lines {
    let outline = outline::parse(file, text, &mut Vec::new());
    let mut sheet = Sheet::new(file, text, Tabs::Stops(4));
    entries(&mut sheet, &outline.entries, 0, false);
    for comment in outline.comments {
        sheet.comment(comment);
    }
    sheet.finish()
}

/// Entries at a column; the first of them may stand behind a dash.
fn entries(sheet: &mut Sheet<'_>, entries: &[Entry<'_>], column: u32, mut behind_dash: bool) {
    for entry in entries {
        self::entry(sheet, entry, column, std::mem::take(&mut behind_dash));
    }
}

fn entry(sheet: &mut Sheet<'_>, entry: &Entry<'_>, column: u32, behind_dash: bool) {
    match &entry.kind {
        EntryKind::Item { entries } => {
            let Some(dash) = dash_before(sheet, entry.start) else { return };
            sheet.entry(dash, column);
            let same_line = entries
                .first()
                .is_some_and(|first| sheet.line_of(start_of(sheet, first)) == sheet.line_of(dash));
            if same_line {
                sheet.gap(dash + 1, entry.start, 1);
            }
            self::entries(sheet, entries, column + 2, same_line);
        }
        EntryKind::Pair { key, value, children } => {
            sheet.entry(entry.start, column);
            colon(sheet, key, value.as_ref(), behind_dash);
            if let Some(value) = value {
                self::value(sheet, value, entry.start, column);
            }
            entries(sheet, children, column + STEP, false);
        }
        EntryKind::Line { text, children } => {
            sheet.entry(entry.start, column);
            value(sheet, text, entry.start, column);
            entries(sheet, children, column + STEP, false);
        }
    }
}

/// Where an entry begins, its dash included.
fn start_of(sheet: &Sheet<'_>, entry: &Entry<'_>) -> u32 {
    match entry.kind {
        EntryKind::Item { .. } => dash_before(sheet, entry.start).unwrap_or(entry.start),
        _ => entry.start,
    }
}

/// The dash of an item whose content begins at `start`.
fn dash_before(sheet: &Sheet<'_>, start: u32) -> Option<u32> {
    let before = sheet.slice(0, start).trim_end_matches([' ', '\t']);
    before.strip_suffix('-').map(|b| crate::text::offset(b.len()))
}

/// The white space around a colon. Behind a dash the colon may turn out to be prose, which keeps its
/// white space.
fn colon(sheet: &mut Sheet<'_>, key: &Key<'_>, value: Option<&Scalar<'_>>, behind_dash: bool) {
    let colon = sheet.behind_white(key.span.end);
    if sheet.byte(colon) != Some(b':') {
        return;
    }
    let block = value.is_some_and(|v| matches!(v.style, Style::Block(_)));
    if !behind_dash || block {
        sheet.gap(key.span.end, colon, 0);
        sheet.gap_behind(colon);
    }
}

/// The lines of a value below the one it begins on.
fn value(sheet: &mut Sheet<'_>, value: &Scalar<'_>, at: u32, column: u32) {
    let Style::Block(indent) = value.style else {
        sheet.go_on(at, value.span.end, column);
        return;
    };
    if value.raw.is_empty() {
        return;
    }
    for line in sheet.line_of(value.span.start)..=sheet.line_of(value.span.end - 1) {
        sheet.text_line(line, indent, column + STEP, column, LineKind::Text);
    }
}
