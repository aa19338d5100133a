//! Reads inline collections as if their entries were on separate lines.

use super::Reader;
use crate::inline::{self, Flow, FlowKind};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_syntax::inline::{InlineText, Origin};
use agentir_syntax::outline::{Entry, EntryKind, Key, Scalar, Style};
use agentir_syntax::text::offset;
use smol_str::SmolStr;

impl<'t, 's: 't> Reader<'t, 's, '_> {
    pub(super) fn flow(&mut self, value: &Scalar<'s>) -> Flow<'s> {
        let origin = Origin { file: value.span.file, base: value.span.start, shifts: &[] };
        inline::flow_collection(InlineText { text: value.raw, origin }, self.problems)
    }

    /// The entries of `[a, b]` and `{a: b}`.
    pub(super) fn inline_entries(&mut self, value: &Scalar<'s>) -> Option<&'t [Entry<'s>]> {
        if !is_inline(value, '[', ']') && !is_inline(value, '{', '}') {
            return None;
        }
        let flow = self.flow(value);
        let entries = match flow.kind {
            FlowKind::Scalar(_) => return None,
            _ => flow_entries(flow),
        };
        let holder = self.arena.alloc(Entry {
            start: value.span.start,
            end: value.span.end,
            empty: None,
            kind: EntryKind::Item { entries },
        });
        Some(holder.children())
    }
}

/// Whether a text is exactly a collection; `{a} -> b` is not.
pub(super) fn is_inline(value: &Scalar<'_>, open: char, close: char) -> bool {
    value.style == Style::Bare
        && value.raw.starts_with(open)
        && value.raw.ends_with(close)
        && !value.raw.starts_with("{{")
}

/// Whether a value begins with a bracket that the rest of it does not close. Brackets in quotes do not count.
pub(super) fn is_unclosed(value: &Scalar<'_>, open: char, close: char) -> bool {
    value.style == Style::Bare
        && value.raw.starts_with(open)
        && !value.raw.starts_with("{{")
        && depth(value.raw, open, close) > 0
}

/// How many brackets are open at the end of a text.
pub(super) fn depth(text: &str, open: char, close: char) -> usize {
    let mut quoted = false;
    text.chars().fold(0, |depth: usize, c| {
        quoted ^= c == '"';
        match c {
            c if !quoted && c == open => depth + 1,
            c if !quoted && c == close => depth.saturating_sub(1),
            _ => depth,
        }
    })
}

pub(super) fn flow_names(flow: &Flow<'_>, names: &mut Vec<Spanned<Name>>) {
    match &flow.kind {
        FlowKind::Scalar(text) => {
            let text = text.trim_matches(['"', '\'']);
            if !text.is_empty() {
                names.push(Spanned::new(SmolStr::new(text), flow.span));
            }
        }
        FlowKind::List(items) => items.iter().for_each(|i| flow_names(i, names)),
        FlowKind::Map(entries) => {
            names.extend(
                entries.iter().map(|e| Spanned::new(SmolStr::new(e.key.value), e.key.span)),
            );
        }
    }
}

pub(super) fn flow_entries(flow: Flow<'_>) -> Vec<Entry<'_>> {
    match flow.kind {
        FlowKind::Scalar(text) => {
            let text = flow_scalar(text, flow.span);
            let (start, end) = (text.span.start, text.span.end);
            vec![Entry {
                start,
                end,
                empty: None,
                kind: EntryKind::Line { text, children: Vec::new() },
            }]
        }
        FlowKind::List(items) => items
            .into_iter()
            .map(|item| Entry {
                start: item.span.start,
                end: item.span.end,
                empty: None,
                kind: EntryKind::Item { entries: flow_entries(item) },
            })
            .collect(),
        FlowKind::Map(entries) => entries
            .into_iter()
            .map(|e| {
                let key = Key {
                    text: e.key.value,
                    span: e.key.span,
                    line_length: offset(e.key.value.len()),
                };
                let end = e.value.as_ref().map_or(e.key.span.end, |v| v.span.end);
                let (value, children) = match e.value {
                    Some(Flow { kind: FlowKind::Scalar(text), span }) => {
                        (Some(flow_scalar(text, span)), Vec::new())
                    }
                    Some(nested) => (None, flow_entries(nested)),
                    None => (None, Vec::new()),
                };
                Entry {
                    start: e.key.span.start,
                    end,
                    empty: None,
                    kind: EntryKind::Pair { key, value, children },
                }
            })
            .collect(),
    }
}

pub(super) fn flow_scalar(raw: &str, span: Span) -> Scalar<'_> {
    let style = match raw.as_bytes() {
        [b'"', .., b'"'] => Style::Double,
        [b'\'', .., b'\''] => Style::Single,
        _ => Style::Bare,
    };
    Scalar { raw, span, style, decoded: None }
}
