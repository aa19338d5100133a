//! The outline of a document: keys, texts and lists nested by indentation, without meaning. A language with a
//! layout of its own and a YAML form makes an [`Outline`] of both, and handles them alike from there.
//!
//! For YAML, `saphyr-parser` provides events with positions. Flow collections (`[a, b]`, `{a: b}`)
//! are read as if their items were on lines of their own, so schema tables never mention them.
//! After this stage the two notations differ only in the case of keywords.

mod scalar;
mod yaml;
mod yaml_errors;

use crate::rules;
use agentir_diagnostics::{Diagnostic, FileId, Span};
use lalrpop_util::ParseError;
pub use scalar::find_lines;
pub use scalar::{Scalar, Style, yaml_1_1_bool};
use std::convert::Infallible;
pub use yaml::parse_yaml;

/// The maximum nesting depth of an outline. Deeper lines become siblings, with a diagnostic, so that
/// recursion over an outline is safe.
pub const MAX_NESTING: usize = 64;

/// Nesting deeper than [`MAX_NESTING`].
pub fn nested_too_deep(span: Span) -> Diagnostic {
    let message = format!("this is nested more than {MAX_NESTING} levels deep");
    Diagnostic::error(rules::NESTING, span, message)
}

/// The note on how lines beyond the limit are handled.
pub const DEEPER_LINES: &str = "deeper lines are read as if they were at this level";

/// A line between two levels: left of the block above (column `inner`) and right of that block's parent
/// (column `outer`).
pub fn between_levels(span: Span, inner: u32, outer: u32) -> Diagnostic {
    Diagnostic::warning(
        rules::INDENTATION,
        span,
        "this line is indented less than the lines above it, but more than their parent",
    )
    .help(format!("indent it by {inner} to continue the block above, or by {outer} to end it"))
}

/// The end of the last token; a block closes there, not on the current line.
pub fn last_end<T>(tokens: &[Result<(u32, T, u32), Infallible>]) -> Option<u32> {
    tokens.last().map(|token| match token {
        Ok((_, _, end)) => *end,
        Err(never) => match *never {},
    })
}

/// An outline that is no sentence of its grammar. A layout pass produces none, whatever the text (a law in the
/// tests of each language); should it do so, nothing of the file is read, and this says so.
pub fn invalid_layout<T, E>(file: FileId, error: &ParseError<u32, T, E>) -> Diagnostic {
    let (start, end) = match error {
        ParseError::InvalidToken { location } | ParseError::UnrecognizedEof { location, .. } => {
            (*location, *location)
        }
        ParseError::UnrecognizedToken { token: (start, _, end), .. }
        | ParseError::ExtraToken { token: (start, _, end) } => (*start, *end),
        ParseError::User { .. } => (0, 0),
    };
    let message = "the nesting of the lines cannot be read here";
    Diagnostic::error(rules::SYNTAX, Span::new(file, start, end), message)
        .note("nothing of this file is checked")
        .help("indent this line like the one above it, or by two columns more")
}

/// The outline of a document.
#[derive(Debug, Default)]
pub struct Outline<'s> {
    /// The file.
    pub file: FileId,
    /// Its text.
    pub text: &'s str,
    /// The top-level entries.
    pub entries: Vec<Entry<'s>>,
    /// All comments, in order, from `#` or `//` to the end of the line.
    pub comments: Vec<Span>,
    /// Where an error ended the reading, so that entries after it are missing.
    pub stopped: Option<Span>,
}

impl<'s> Outline<'s> {
    /// The whole line from the key on, for keys whose colon turns out to be prose.
    #[must_use]
    pub fn line(&self, key: &Key<'_>) -> Scalar<'s> {
        let start = key.span.start;
        let span = Span::new(self.file, start, start + key.line_length);
        Scalar::bare(self.text.get(span.range()).unwrap_or_default(), span)
    }
}

/// A line of an outline with its nested entries, or a list item.
#[derive(Debug, Clone)]
pub struct Entry<'s> {
    /// The first byte.
    pub start: u32,
    /// One past the last byte of the last nested line.
    pub end: u32,
    /// The collection without items that is its value: `[]`, `{}`. Else nothing is written there.
    pub empty: Option<Empty>,
    /// The kind.
    pub kind: EntryKind<'s>,
}

/// A collection without items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Empty {
    /// `[]`.
    List,
    /// `{}`.
    Map,
}

/// The kinds of entry.
#[derive(Debug, Clone)]
pub enum EntryKind<'s> {
    /// `key: value`.
    Pair {
        /// The key.
        key: Key<'s>,
        /// The rest of the line after the colon, or the block text it introduces.
        value: Option<Scalar<'s>>,
        /// The nested entries.
        children: Vec<Entry<'s>>,
    },
    /// A line without a key.
    Line {
        /// The line.
        text: Scalar<'s>,
        /// The nested entries.
        children: Vec<Entry<'s>>,
    },
    /// `- …`.
    Item {
        /// The content after the dash and the lines aligned with it; empty for a bare dash.
        entries: Vec<Entry<'s>>,
    },
}

/// A key and its span.
#[derive(Debug, Clone, Copy)]
pub struct Key<'s> {
    /// The key without quotes and colon.
    pub text: &'s str,
    /// The span.
    pub span: Span,
    /// The length of the line from the key on, in bytes; see [`Outline::line`].
    pub line_length: u32,
}

impl Entry<'_> {
    /// The span of the entry, including nested entries.
    #[must_use]
    pub const fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }

    /// The nested entries; the entries of an item.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        match &self.kind {
            EntryKind::Pair { children, .. } | EntryKind::Line { children, .. } => children,
            EntryKind::Item { entries } => entries,
        }
    }
}
