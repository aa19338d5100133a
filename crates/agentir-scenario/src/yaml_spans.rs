//! Source ranges of the values in a YAML file.

use saphyr_parser::{Event, Parser, ScalarStyle};
use std::ops::Range;

/// A value and its range in bytes, without a comment after it.
#[derive(Debug)]
pub(crate) struct YamlNode {
    pub(crate) range: Range<usize>,
    pub(crate) value: YamlValue,
}

/// The structure of a value.
#[derive(Debug)]
pub(crate) enum YamlValue {
    /// A scalar.
    Scalar,
    /// A list.
    List {
        /// Whether it is in flow style.
        flow: bool,
        /// The items.
        items: Vec<YamlNode>,
    },
    /// A mapping.
    Map(Vec<(String, YamlNode)>),
    /// An alias of another value.
    Alias,
}

/// A segment of a path to a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathSegment<'n> {
    Key(&'n str),
    Index(usize),
}

impl YamlNode {
    /// Parses the first document of a file; `None` for invalid YAML.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(text.len());
        // The open collections, each with the key of the next value if it is a mapping.
        let mut open: Vec<(Self, Option<String>)> = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = event.ok()?;
            let range = byte(span.start.index())..byte(span.end.index());
            let done = match event {
                Event::Scalar(value, style, ..) => {
                    let names = open.last_mut().and_then(|(node, name)| {
                        (matches!(node.value, YamlValue::Map(_)) && name.is_none()).then_some(name)
                    });
                    if let Some(name) = names {
                        *name = Some(value.into_owned());
                        continue;
                    }
                    let written = text.get(range.clone())?;
                    let end = range.start
                        + match style {
                            // The range of the parser includes what follows the closing quote.
                            ScalarStyle::SingleQuoted => quoted(written, '\'', None)?,
                            ScalarStyle::DoubleQuoted => quoted(written, '"', Some('\\'))?,
                            _ => written.trim_end().len(),
                        };
                    Self { range: range.start..end, value: YamlValue::Scalar }
                }
                Event::Alias(_) => Self { range, value: YamlValue::Alias },
                Event::SequenceStart(..) => {
                    let flow = text.get(range.start..)?.starts_with('[');
                    let value = YamlValue::List { flow, items: Vec::new() };
                    open.push((Self { range, value }, None));
                    continue;
                }
                Event::MappingStart(..) => {
                    open.push((Self { range, value: YamlValue::Map(Vec::new()) }, None));
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let (mut node, _) = open.pop()?;
                    node.close(range.end, text);
                    node
                }
                _ => continue,
            };
            match open.last_mut() {
                None => return Some(done),
                Some((Self { value: YamlValue::List { items, .. }, .. }, _)) => items.push(done),
                Some((Self { value: YamlValue::Map(entries), .. }, name)) => {
                    entries.push((name.take()?, done));
                }
                Some(_) => return None,
            }
        }
        None
    }

    /// Sets the end of a collection: its bracket in flow style, else the end of its last value.
    fn close(&mut self, end: usize, text: &str) {
        let last = match &self.value {
            YamlValue::List { items, .. } => items.last().map(|last| last.range.end),
            YamlValue::Map(entries) => entries.last().map(|(_, last)| last.range.end),
            YamlValue::Scalar | YamlValue::Alias => None,
        };
        let bracket = text.get(..end).is_some_and(|t| t.ends_with([']', '}']));
        let opens = text.get(self.range.start..).is_some_and(|t| t.starts_with(['[', '{']));
        self.range.end = match last {
            Some(last) if !(opens && bracket) => last,
            _ => end,
        };
    }

    /// The value at a path.
    pub(crate) fn find(&self, path: &[PathSegment<'_>]) -> Option<&Self> {
        path.iter().try_fold(self, |node, segment| match (&node.value, segment) {
            (YamlValue::Map(entries), PathSegment::Key(name)) => {
                entries.iter().find(|(n, _)| n == name).map(|(_, node)| node)
            }
            (YamlValue::List { items, .. }, PathSegment::Index(at)) => items.get(*at),
            _ => None,
        })
    }
}

/// The length of a quoted string, including the quotes. A quote within it is doubled or escaped.
fn quoted(text: &str, quote: char, escape: Option<char>) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if Some(c) == escape {
            chars.next();
        } else if c == quote {
            if escape.is_none() && chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
            } else {
                return Some(at + c.len_utf8());
            }
        }
    }
    None
}
