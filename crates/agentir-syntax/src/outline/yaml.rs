//! Reads YAML into an [`Outline`], from the events of `saphyr-parser`.

use super::{
    Empty, Entry, EntryKind, Key, MAX_NESTING, Outline, Scalar, Style, nested_too_deep, yaml_errors,
};
use crate::rules;
use crate::stray::without_conflicts;
use crate::text::{CharOffsets, offset};
use agentir_diagnostics::{Diagnostic, FileId, Span};
use saphyr_parser::{Event, Parser, ScalarStyle, Span as YamlSpan};

/// Parses YAML text. Never fails: after a syntax error, the entries before it are kept, and the outline says where it
/// stopped.
pub fn parse_yaml<'s>(file: FileId, text: &'s str, problems: &mut Vec<Diagnostic>) -> Outline<'s> {
    let before = problems.len();
    let outline = parse(file, text, text, problems);
    if outline.stopped.is_some() {
        let mut markers = Vec::new();
        if let Some(readable) = without_conflicts(file, text, &mut markers) {
            problems.truncate(before);
            problems.append(&mut markers);
            return parse(file, text, &readable, problems);
        }
    }
    outline
}

/// Parses `readable`, which is `text` but for what is blank in it.
fn parse<'s>(
    file: FileId,
    text: &'s str,
    readable: &str,
    problems: &mut Vec<Diagnostic>,
) -> Outline<'s> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut builder = Builder {
        file,
        text: body,
        base: text.len() - body.len(),
        characters: CharOffsets::new(text),
        stack: vec![Open::root()],
        too_deep: 0,
        problems,
    };
    let mut documents = 0;
    let mut stopped = None;
    let readable = readable.strip_prefix('\u{feff}').unwrap_or(readable);
    for event in Parser::new_from_str(readable) {
        match event {
            Ok((Event::DocumentStart(_), span)) => {
                documents += 1;
                if documents > 1 {
                    let at = builder.span(span);
                    builder.problems.push(
                        Diagnostic::error(rules::SYNTAX, at, "a second YAML document starts here")
                            .help("move each agent to a separate file"),
                    );
                    break;
                }
            }
            Ok((event, span)) => builder.event(event, span),
            Err(error) => {
                let at = builder.offset(error.marker().index());
                // Nesting too deep may have been reported before the parser gave up.
                let finding = yaml_errors::diagnostic(file, text, at, &error);
                stopped = Some(finding.primary.span);
                if finding.rule != rules::NESTING || builder.too_deep == 0 {
                    builder.problems.push(finding);
                }
                break;
            }
        }
    }
    while builder.stack.len() > 1 {
        builder.close(offset(text.len()));
    }
    let entries = builder.stack.pop().map(|root| root.entries).unwrap_or_default();
    Outline { file, text, entries, comments: Vec::new(), stopped }
}

/// An open collection.
struct Open<'s> {
    start: u32,
    mapping: bool,
    /// The key of the next value.
    key: Option<Key<'s>>,
    entries: Vec<Entry<'s>>,
}

impl Open<'_> {
    const fn root() -> Self {
        Self { start: 0, mapping: false, key: None, entries: Vec::new() }
    }
}

struct Builder<'s, 'p> {
    file: FileId,
    text: &'s str,
    base: usize,
    characters: CharOffsets<'s>,
    stack: Vec<Open<'s>>,
    /// The number of open collections beyond the nesting limit, which are dropped.
    too_deep: usize,
    problems: &'p mut Vec<Diagnostic>,
}

impl<'s> Builder<'s, '_> {
    /// The byte offset in the file of a character index.
    fn offset(&mut self, index: usize) -> u32 {
        self.characters.offset(index)
    }

    fn span(&mut self, span: YamlSpan) -> Span {
        let start = self.offset(span.start.index());
        let end = self.offset(span.end.index());
        Span::new(self.file, start, end.max(start))
    }

    fn slice(&self, span: Span) -> &'s str {
        let base = offset(self.base);
        self.text
            .get(
                (span.start.saturating_sub(base)) as usize
                    ..(span.end.saturating_sub(base)) as usize,
            )
            .unwrap_or_default()
    }

    fn event(&mut self, event: Event<'_>, span: YamlSpan) {
        match event {
            Event::Scalar(value, style, ..) => {
                let span = self.span(span);
                let scalar = self.scalar(&value, style, span);
                self.scalar_entry(scalar);
            }
            Event::SequenceStart(..) => self.open(span, false),
            Event::MappingStart(..) => self.open(span, true),
            Event::SequenceEnd | Event::MappingEnd => {
                if self.too_deep > 0 {
                    self.too_deep -= 1;
                } else {
                    let end = self.span(span).end;
                    self.close(end);
                }
            }
            Event::Alias(_) => {
                let span = self.span(span);
                self.problems.push(
                    Diagnostic::error(rules::SYNTAX, span, "YAML aliases are not supported here")
                        .help("repeat the value"),
                );
                let scalar = Scalar::bare(self.slice(span), span);
                self.scalar_entry(scalar);
            }
            _ => {}
        }
    }

    fn scalar(&self, value: &str, style: ScalarStyle, span: Span) -> Scalar<'s> {
        let raw = self.slice(span);
        let trimmed = raw.trim_end();
        let span = Span::new(span.file, span.start, span.start + offset(trimmed.len()));
        let style = match style {
            ScalarStyle::Plain => Style::Bare,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block(0),
        };
        let value = match style {
            Style::Block(_) => value.trim_end_matches('\n'),
            _ => value,
        };
        let mut scalar = Scalar { raw: trimmed, span, style, decoded: None };
        if scalar.value() != value {
            scalar.decoded = Some(value.into());
        }
        scalar
    }

    fn scalar_entry(&mut self, scalar: Scalar<'s>) {
        if self.too_deep > 0 {
            return;
        }
        let Some(top) = self.stack.last_mut() else { return };
        let span = scalar.span;
        if top.mapping && top.key.is_none() {
            let text = match scalar.style {
                Style::Bare => scalar.raw,
                _ => scalar.raw.trim_matches(['"', '\'']),
            };
            top.key = Some(Key { text, span, line_length: span.end - span.start });
            return;
        }
        let empty = scalar.raw.is_empty() && scalar.style == Style::Bare;
        if let Some(key) = top.key.take() {
            let value = if empty { None } else { Some(scalar) };
            top.entries.push(Entry {
                start: key.span.start,
                end: span.end.max(key.span.end),
                empty: None,
                kind: EntryKind::Pair { key, value, children: Vec::new() },
            });
        } else {
            let entries = if empty {
                Vec::new()
            } else {
                vec![Entry {
                    start: span.start,
                    end: span.end,
                    empty: None,
                    kind: EntryKind::Line { text: scalar, children: Vec::new() },
                }]
            };
            // The root is not a list: a lone scalar there is a line.
            if self.stack.len() == 1 {
                if let Some(root) = self.stack.last_mut() {
                    root.entries.extend(entries);
                }
            } else if let Some(top) = self.stack.last_mut() {
                top.entries.push(Entry {
                    start: span.start,
                    end: span.end,
                    empty: None,
                    kind: EntryKind::Item { entries },
                });
            }
        }
    }

    fn open(&mut self, span: YamlSpan, mapping: bool) {
        if self.too_deep > 0 || self.stack.len() > MAX_NESTING {
            if self.too_deep == 0 {
                let at = self.span(span).at_start();
                self.problems.push(nested_too_deep(at).note("its contents were not read"));
            }
            self.too_deep += 1;
            return;
        }
        let start = self.span(span).start;
        self.stack.push(Open { start, mapping, key: None, entries: Vec::new() });
    }

    fn close(&mut self, end: u32) {
        let Some(mut closed) = self.stack.pop() else { return };
        if let Some(key) = closed.key.take() {
            closed.entries.push(Entry {
                start: key.span.start,
                end: key.span.end,
                empty: None,
                kind: EntryKind::Pair { key, value: None, children: Vec::new() },
            });
        }
        let last = closed.entries.last().map_or(end, |e| e.end);
        let empty = closed.entries.is_empty().then_some(match closed.mapping {
            true => Empty::Map,
            false => Empty::List,
        });
        let root = self.stack.len() == 1;
        let Some(parent) = self.stack.last_mut() else { return };
        if let Some(key) = parent.key.take() {
            parent.entries.push(Entry {
                start: key.span.start,
                end: last,
                empty,
                kind: EntryKind::Pair { key, value: None, children: closed.entries },
            });
        } else if root {
            parent.entries.extend(closed.entries);
        } else {
            parent.entries.push(Entry {
                start: closed.start,
                end: last,
                empty,
                kind: EntryKind::Item { entries: closed.entries },
            });
        }
    }
}
