//! Inline languages: the small languages inside a document (expressions, templates, signatures, …), and the
//! infrastructure that the front ends share for parsing them.
//!
//! Each front end has a lexer, a grammar (`grammars/*/inline.lalrpop`) and error messages of its own. Shared
//! are the mapping of offsets to the file ([`InlineText`], [`Origin`]), the nesting limit (`Nesting`),
//! building expressions (`ExprBuilder`), escapes (`unescaped`), error reporting (`ParseFailure`), and what may follow a
//! text (`following`).
//!
//! The token enums and layout loops of the languages are separate on purpose: they look alike, but
//! each line of them states something about one language.
//!
//! *Invariant*: an inline parser knows nothing about the surrounding document; the caller selects the entry
//! point.

mod builder;
mod errors;
pub mod following;
mod lexing;
mod literal;

pub use builder::{Error, ExprBuilder, InlineLanguage, syntax_error, unboxed};
pub use errors::{Expected, Explain, Notation, ParseFailure};
pub use lexing::{ForeignSyntax, Nesting, NestingEffect, SyntaxError, TokenResult, next_word};
pub use literal::{unescaped, unescaped_leniently, whole_number};

use crate::text::offset;
use agentir_diagnostics::{FileId, Span};
use std::ops::Range;

/// Maps offsets in an inline text to its file. The text may be shorter than its source, where escapes were
/// resolved and indentation was removed.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The file.
    pub file: FileId,
    /// The offset in the file at which the text starts.
    pub base: u32,
    /// Offsets in the text, ascending, and the total number of bytes that the file is ahead from there on.
    pub shifts: &'a [(u32, u32)],
}

impl Origin<'_> {
    /// The offset in the file of a byte of the text.
    #[must_use]
    pub fn offset(&self, at: usize) -> u32 {
        let at = offset(at);
        let passed = self.shifts.partition_point(|(from, _)| *from <= at);
        let ahead = match passed.checked_sub(1).and_then(|i| self.shifts.get(i)) {
            Some((_, ahead)) => *ahead,
            None => 0,
        };
        self.base.saturating_add(at).saturating_add(ahead)
    }

    /// The span in the file of a part of the text.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, self.offset(range.start), self.offset(range.end))
    }
}

/// An inline text and its origin.
#[derive(Clone, Copy, Debug)]
pub struct InlineText<'a> {
    /// The text, unescaped and without enclosing quotes.
    pub text: &'a str,
    /// The mapping to the file.
    pub origin: Origin<'a>,
}

impl<'a> InlineText<'a> {
    /// A text that occurs unchanged in the file, at offset `base`.
    #[must_use]
    pub const fn verbatim(text: &'a str, file: FileId, base: u32) -> Self {
        Self { text, origin: Origin { file, base, shifts: &[] } }
    }

    /// The span of the whole text.
    #[must_use]
    pub fn span(&self) -> Span {
        self.origin.span(0..self.text.len())
    }

    /// The shifts of the origin, relative to the start of the text in the file.
    pub fn shifts(&self) -> Box<[(u32, u32)]> {
        let lead = self.origin.offset(0).saturating_sub(self.origin.base);
        let all = self.origin.shifts.iter();
        all.map(|(from, ahead)| (*from, ahead.saturating_sub(lead))).collect()
    }

    /// The span of a part, by the offsets of its tokens.
    pub fn span_of(&self, start: u32, end: u32) -> Span {
        self.origin.span(start as usize..end as usize)
    }

    /// A part of the text, by the offsets of its tokens.
    pub fn slice(&self, start: u32, end: u32) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The range of the text without leading and trailing white space.
    pub fn trimmed(&self) -> Range<usize> {
        let start = self.text.len() - self.text.trim_start().len();
        start..start + self.text.trim().len()
    }
}
