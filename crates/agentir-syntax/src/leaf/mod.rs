//! Leaves: the texts inside a document that are small languages of their own, and what the front
//! ends share in reading them.
//!
//! Each front end has a lexer, a grammar (`grammars/*_leaf.lalrpop`) and words for what cannot be
//! read. What does not differ between languages is here: places ([`Leaf`], [`Origin`]), counting
//! what nests ([`Nesting`]), building expressions ([`Nodes`]), escapes ([`unescaped`]), and telling
//! what is wrong ([`Failure`]).
//!
//! *Invariant*: a leaf knows nothing of what is around it; which leaf stands where is decided by
//! the caller.

mod failure;
mod lexing;
mod literal;
mod nodes;

pub(crate) use failure::{Expected, Explain, Failure, Notation};
pub(crate) use lexing::{Fault, Located, Nest, Nesting, Slip, next_word};
pub(crate) use literal::{unescaped, unescaped_leniently, whole_number};
pub(crate) use nodes::{Error, Language, Nodes, fault, unboxed};

use crate::text::offset;
use agentir_diagnostics::{FileId, Span};
use std::ops::Range;

/// Maps offsets in a leaf's text to its file. The text may be shorter than what was written, where
/// escapes were resolved and indentation was removed.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The file.
    pub file: FileId,
    /// Where the text begins in it.
    pub base: u32,
    /// Offsets in the text, ascending, and by how many bytes in all the file is ahead from there on.
    pub shifts: &'a [(u32, u32)],
}

impl Origin<'_> {
    /// The offset in the file of the byte `at` of the text.
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

    /// The place in the file of a part of the text.
    #[must_use]
    pub fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.file, self.offset(range.start), self.offset(range.end))
    }
}

/// A text to be read, and where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a> {
    /// The text, unescaped and without quotes around the whole.
    pub text: &'a str,
    /// Where it came from.
    pub origin: Origin<'a>,
}

impl<'a> Leaf<'a> {
    /// A text that stands in the file as it is, at offset `base`.
    #[must_use]
    pub const fn verbatim(text: &'a str, file: FileId, base: u32) -> Self {
        Self { text, origin: Origin { file, base, shifts: &[] } }
    }

    /// The place of the whole.
    #[must_use]
    pub fn span(&self) -> Span {
        self.origin.span(0..self.text.len())
    }

    /// Where the file is ahead of the text, counted from where the text begins in the file.
    pub(crate) fn shifts(&self) -> Box<[(u32, u32)]> {
        let lead = self.origin.offset(0).saturating_sub(self.origin.base);
        let all = self.origin.shifts.iter();
        all.map(|(from, ahead)| (*from, ahead.saturating_sub(lead))).collect()
    }

    /// The place of a part, by the offsets of its tokens.
    pub(crate) fn place(&self, start: u32, end: u32) -> Span {
        self.origin.span(start as usize..end as usize)
    }

    /// A part of the text, by the offsets of its tokens.
    pub(crate) fn slice(&self, start: u32, end: u32) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The range of the text without white space at its ends.
    pub(crate) fn trimmed(&self) -> Range<usize> {
        let start = self.text.len() - self.text.trim_start().len();
        start..start + self.text.trim().len()
    }
}
