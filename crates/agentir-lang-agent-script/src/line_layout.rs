//! The line layout of Agent Script.

use crate::layout::TABS;
use crate::outline::{Entry, EntryKind, Inline, RawTemplate, parse};
use crate::template::without;
use agentir_diagnostics::FileId;
use agentir_syntax::line_layout::{LayoutBuilder, LineKind, LineLayout, Notation};
use agentir_syntax::text::offset;

/// The indentation per level.
const STEP: u32 = 4;

/// The notation.
pub(crate) const NOTATION: Notation = Notation(line_layout);

fn line_layout(file: FileId, text: &str) -> LineLayout {
    let outline = parse(file, text, &mut Vec::new());
    let mut builder = LayoutBuilder::new(file, text, TABS);
    entries(&mut builder, &outline.entries, 0);
    for comment in outline.comments {
        builder.comment(comment);
    }
    builder.finish()
}

fn entries(builder: &mut LayoutBuilder<'_>, entries: &[Entry<'_>], column: u32) {
    for entry in entries {
        self::entry(builder, entry, column);
    }
}

fn entry(builder: &mut LayoutBuilder<'_>, entry: &Entry<'_>, column: u32) {
    builder.entry(entry.start, column);
    match &entry.kind {
        EntryKind::Pair { key, value } => {
            builder.gap(key.instance.map_or(key.end, |i| i.end()), key.colon, 0);
            if let Some(instance) = key.instance {
                builder.gap(key.end, instance.start, 1);
            }
            builder.gap_after(key.colon);
            match value {
                Inline::Template(raw) => {
                    // The distance of the bar from the start of the line, with canonical gaps.
                    let name = key.end - entry.start;
                    let instance = key.instance.map_or(0, |i| 1 + offset(i.raw.len()));
                    let pipe = column + name + instance + 2;
                    template(builder, raw, pipe, column);
                }
                Inline::Text(text) => builder.add_continuation(entry.start, text.end(), column),
                Inline::Arrow(_, Some(text)) => {
                    builder.add_continuation(entry.start, text.end(), column)
                }
                Inline::Arrow(_, None) | Inline::Nothing => {}
            }
            entries(builder, &entry.children, column + STEP);
        }
        EntryKind::Statement { text, .. } | EntryKind::Line(text) => {
            builder.add_continuation(entry.start, text.end(), column);
            entries(builder, &entry.children, column + STEP);
        }
        EntryKind::Template(raw) => {
            template(builder, raw, column, column);
            entries(builder, &entry.children, column + STEP);
        }
        EntryKind::Item => {
            if let Some(first) = entry.children.first()
                && builder.line_of(first.start) == builder.line_of(entry.start)
            {
                builder.gap(entry.start + 1, first.start, 1);
            }
            // The content of an item is two columns right of its dash.
            entries(builder, &entry.children, column + 2);
        }
        EntryKind::Conditional(branches) => {
            for branch in branches {
                builder.entry(branch.start, column);
                builder.add_continuation(branch.start, branch.text.end(), column);
                entries(builder, &branch.body, column + STEP);
            }
        }
    }
}

/// A block text whose bar moves to `pipe`, on a line that moves to `base`. The runtime strips indentation
/// relative to the bar, so lines that keep some of their indentation keep the same amount.
fn template(builder: &mut LayoutBuilder<'_>, raw: &RawTemplate<'_>, pipe: u32, base: u32) {
    let start = raw.pipe + 1;
    let end = start + offset(raw.raw.len());
    let text = builder.skip_white_space(start);
    let (first_line, rest) = raw.raw.split_once('\n').unwrap_or((raw.raw, ""));
    let bare = first_line.trim().is_empty();
    if !bare {
        builder.gap(start, text, 1);
    }
    if start + offset(first_line.len()) < end {
        let index = builder.line_of(start);
        if let Some(line) = builder.lines.get_mut(index) {
            line.keeps_trailing_space = !bare;
        }
    }
    let filled = rest
        .lines()
        .map(|l| TABS.indented(l))
        .filter(|(column, text)| !text.trim().is_empty() && *column > raw.base);
    // The number of columns that the runtime strips from each line, before and after.
    let (was, becomes) = if bare {
        (filled.map(|(column, _)| column).min().unwrap_or(0), base + STEP)
    } else {
        let was = match TABS.indented(first_line) {
            (0, _) => raw.pipe_column,
            (white, _) => raw.pipe_column + 1 + white,
        };
        (was, pipe + 2)
    };
    for index in
        builder.line_of(raw.pipe) + 1..=builder.line_of(end.saturating_sub(1).max(raw.pipe))
    {
        let Some(line) = builder.lines.get(index) else { continue };
        let whole = builder.slice(line.span.start, line.span.end);
        let (column, shown) = TABS.indented(whole);
        let (strip, to) = if shown.trim().is_empty() {
            // White space on an otherwise empty line is dropped.
            (offset(whole.len()), 0)
        } else if column <= raw.base {
            // A comment between the lines.
            continue;
        } else if column >= was {
            (offset(whole.len() - without(whole, was).len()), becomes)
        } else {
            // All of its indentation is stripped, so its position is cosmetic.
            let to = base + (column - raw.base);
            (offset(whole.len() - shown.len()), to.min(becomes))
        };
        builder.text_line(index, strip, to, base, LineKind::Text);
    }
}
