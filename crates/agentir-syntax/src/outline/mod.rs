//! The outline of a document: keys, texts and lists by indentation, before anything is known about
//! what they mean. ABL's `.abl` text and its YAML form both become an [`Outline`]; from there on
//! they are one language.

pub(crate) mod layout;
mod scalar;
mod yaml;

use crate::rules;
use agentir_diagnostics::{Diagnostic, FileId, Span};
pub(crate) use scalar::find_lines;
pub use scalar::{Scalar, Style};
use std::convert::Infallible;
pub use yaml::parse_yaml;

/// How deep an outline may nest. Deeper lines count as siblings, with a diagnostic, so that every
/// walk over an outline may recurse.
pub const MAX_NESTING: usize = 64;

/// Something lies deeper than [`MAX_NESTING`].
pub(crate) fn nested_too_deep(span: Span) -> Diagnostic {
    let message = format!("nested more than {MAX_NESTING} levels deep");
    Diagnostic::error(rules::NESTING, span, message)
}

/// What a layout pass does with lines that are nested too deep.
pub(crate) const DEEPER_LINES: &str = "deeper lines are read as if they were at this level";

/// A line that stands left of the block above, which begins at column `inner`, and right of what
/// that belongs to, at column `outer`.
pub(crate) fn between_levels(span: Span, inner: u32, outer: u32) -> Diagnostic {
    Diagnostic::warning(
        rules::INDENTATION,
        span,
        "this line is indented less than the lines above it, but more than what they belong to",
    )
    .help(format!("indent it by {inner} to go on with the block above, or by {outer} to leave it"))
}

/// Where the last of the tokens ends: what closes there ends with it, not with the line we are at.
pub(crate) fn last_end<T>(tokens: &[Result<(u32, T, u32), Infallible>]) -> Option<u32> {
    tokens.last().map(|token| match token {
        Ok((_, _, end)) => *end,
        Err(never) => match *never {},
    })
}

/// A document as an outline.
#[derive(Debug, Default)]
pub struct Outline<'s> {
    /// The file.
    pub file: FileId,
    /// Its text.
    pub text: &'s str,
    /// The entries at the left margin.
    pub entries: Vec<Entry<'s>>,
    /// All comments, in order, from `#` or `//` to the end of the line.
    pub comments: Vec<Span>,
}

impl<'s> Outline<'s> {
    /// The whole line from the key on, for the places where the colon turns out to be prose.
    #[must_use]
    pub fn line(&self, key: &Key<'_>) -> Scalar<'s> {
        let start = key.span.start;
        let span = Span::new(self.file, start, start + key.line_length);
        Scalar::bare(self.text.get(span.range()).unwrap_or_default(), span)
    }
}

/// One line of an outline with what is indented below it, or one item of a list.
#[derive(Debug, Clone)]
pub struct Entry<'s> {
    /// The first byte.
    pub start: u32,
    /// One past the last byte of the last line below it.
    pub end: u32,
    /// What it is.
    pub kind: EntryKind<'s>,
}

/// The forms of an entry.
#[derive(Debug, Clone)]
pub enum EntryKind<'s> {
    /// `key: value`.
    Pair {
        /// The key.
        key: Key<'s>,
        /// What stands behind the colon on the same line, or the block text it introduces.
        value: Option<Scalar<'s>>,
        /// What is indented below.
        children: Vec<Entry<'s>>,
    },
    /// A line that is no pair.
    Line {
        /// The line.
        text: Scalar<'s>,
        /// What is indented below.
        children: Vec<Entry<'s>>,
    },
    /// `- …`.
    Item {
        /// What stands behind the dash and the lines aligned with it; empty for a bare dash.
        entries: Vec<Entry<'s>>,
    },
}

/// A key with its place.
#[derive(Debug, Clone, Copy)]
pub struct Key<'s> {
    /// The key without quotes and colon.
    pub text: &'s str,
    /// Where.
    pub span: Span,
    /// How many bytes the line has from the key on; see [`Outline::line`].
    pub line_length: u32,
}

impl Entry<'_> {
    /// Where the entry is, with all that is below it.
    #[must_use]
    pub const fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }

    /// What is indented below it; the entries of an item.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        match &self.kind {
            EntryKind::Pair { children, .. } | EntryKind::Line { children, .. } => children,
            EntryKind::Item { entries } => entries,
        }
    }
}

/// Reads `.abl` text. Never fails: what cannot be placed is reported and kept as a line.
pub fn parse<'s>(file: FileId, text: &'s str, problems: &mut Vec<Diagnostic>) -> Outline<'s> {
    let (tokens, comments) = layout::tokens(file, text, problems);
    let entries = match grammar::abl_outline::EntriesParser::new().parse(tokens) {
        Ok(entries) => entries,
        // The layout pass only gives sentences of the grammar; see the grammar's head.
        Err(error) => {
            debug_assert!(false, "unbalanced layout: {error:?}");
            Vec::new()
        }
    };
    Outline { file, text, entries, comments }
}

/// How many tokens there are, for measuring the lexer alone.
#[doc(hidden)]
#[must_use]
pub fn count_tokens(text: &str) -> usize {
    layout::tokens(FileId(0), text, &mut Vec::new()).0.len()
}

grammars!(abl_outline);
