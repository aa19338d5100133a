//! The line layout of `.abl` text.

use agentir_diagnostics::FileId;
use agentir_syntax::line_layout::{LayoutBuilder, LineKind, LineLayout, Notation};
use agentir_syntax::outline::{Entry, EntryKind, Key, Scalar, Style};
use agentir_syntax::text::Tabs;

/// The indentation per level.
const STEP: u32 = 2;

/// The notation.
pub(crate) const NOTATION: Notation = Notation(line_layout);

fn line_layout(file: FileId, text: &str) -> LineLayout {
    let outline = crate::outline::parse(file, text, &mut Vec::new());
    let mut builder = LayoutBuilder::new(file, text, Tabs::Stops(4));
    entries(&mut builder, &outline.entries, 0, false);
    for comment in outline.comments {
        builder.comment(comment);
    }
    builder.finish()
}

/// Entries at a column; the first of them may follow a dash.
fn entries(
    builder: &mut LayoutBuilder<'_>,
    entries: &[Entry<'_>],
    column: u32,
    mut after_dash: bool,
) {
    for entry in entries {
        self::entry(builder, entry, column, std::mem::take(&mut after_dash));
    }
}

fn entry(builder: &mut LayoutBuilder<'_>, entry: &Entry<'_>, column: u32, after_dash: bool) {
    match &entry.kind {
        EntryKind::Item { entries } => {
            let Some(dash) = dash_before(builder, entry.start) else { return };
            builder.entry(dash, column);
            let same_line = entries.first().is_some_and(|first| {
                builder.line_of(start_of(builder, first)) == builder.line_of(dash)
            });
            if same_line {
                builder.gap(dash + 1, entry.start, 1);
            }
            self::entries(builder, entries, column + 2, same_line);
        }
        EntryKind::Pair { key, value, children } => {
            builder.entry(entry.start, column);
            colon(builder, key, value.as_ref(), after_dash);
            if let Some(value) = value {
                self::value(builder, value, entry.start, column);
            }
            entries(builder, children, column + STEP, false);
        }
        EntryKind::Line { text, children } => {
            builder.entry(entry.start, column);
            value(builder, text, entry.start, column);
            entries(builder, children, column + STEP, false);
        }
    }
}

/// The start of an entry, including its dash.
fn start_of(builder: &LayoutBuilder<'_>, entry: &Entry<'_>) -> u32 {
    match entry.kind {
        EntryKind::Item { .. } => dash_before(builder, entry.start).unwrap_or(entry.start),
        _ => entry.start,
    }
}

/// The dash of an item whose content starts at `start`.
fn dash_before(builder: &LayoutBuilder<'_>, start: u32) -> Option<u32> {
    let before = builder.slice(0, start).trim_end_matches([' ', '\t']);
    before.strip_suffix('-').map(|b| agentir_syntax::text::offset(b.len()))
}

/// The white space around a colon. After a dash the colon may turn out to be prose, which keeps its white
/// space.
fn colon(
    builder: &mut LayoutBuilder<'_>,
    key: &Key<'_>,
    value: Option<&Scalar<'_>>,
    after_dash: bool,
) {
    let colon = builder.skip_white_space(key.span.end);
    if builder.byte(colon) != Some(b':') {
        return;
    }
    let block = value.is_some_and(|v| matches!(v.style, Style::Block(_)));
    if !after_dash || block {
        builder.gap(key.span.end, colon, 0);
        builder.gap_after(colon);
    }
}

/// The further lines of a value.
fn value(builder: &mut LayoutBuilder<'_>, value: &Scalar<'_>, at: u32, column: u32) {
    let Style::Block(indent) = value.style else {
        builder.add_continuation(at, value.span.end, column);
        return;
    };
    if value.raw.is_empty() {
        return;
    }
    for line in builder.line_of(value.span.start)..=builder.line_of(value.span.end - 1) {
        builder.text_line(line, indent, column + STEP, column, LineKind::Text);
    }
}

#[cfg(test)]
mod tests {
    use super::{LineKind, NOTATION};
    use agentir_syntax::line_layout::Notation;

    use agentir_diagnostics::FileId;

    /// Each line as its kind, canonical column and content.
    fn summary(notation: Notation, text: &str) -> Vec<(LineKind, u32, &str)> {
        notation
            .layout(FileId(0), text)
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
            summary(NOTATION, text),
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
