//! The outline of a document, before anything is known about what it means.

use super::layout;
use crate::text::offset;
use agentir_diagnostics::{Diagnostic, FileId, Span};

/// A piece of the text and where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'s> {
    /// As written, without white space and comment at its end. May go over several lines where
    /// brackets or `\` continue one.
    pub raw: &'s str,
    /// Where it begins.
    pub start: u32,
    /// Whether it is one text in double quotes and nothing else.
    pub quoted: bool,
}

impl Text<'_> {
    pub(crate) fn end(&self) -> u32 {
        self.start + offset(self.raw.len())
    }

    pub(crate) fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end())
    }
}

/// `key`, `type name`, `"quoted key"`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'s> {
    /// The first word, or all of a quoted key without its quotes.
    pub name: &'s str,
    pub start: u32,
    pub end: u32,
    /// What stands between the first word and the colon: the name of a named block.
    pub instance: Option<Text<'s>>,
    /// Where the colon is.
    pub colon: u32,
}

impl Key<'_> {
    /// Where the first word is.
    pub(crate) const fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }

    /// Where all words before the colon are.
    pub(crate) fn whole(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.instance.map_or(self.end, |i| i.end()))
    }
}

/// What stands behind a colon.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inline<'s> {
    Nothing,
    Text(Text<'s>),
    Template(RawTemplate<'s>),
    /// `->`, and what (wrongly) stands behind it.
    Arrow(u32, Option<Text<'s>>),
}

/// Text behind `|`, with the lines below that belong to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawTemplate<'s> {
    /// Everything behind the bar.
    pub raw: &'s str,
    /// Where the bar is.
    pub pipe: u32,
    /// The column of the bar.
    pub pipe_column: u32,
    /// The column of the line (or key) that the bar stands on: lines at it or left of it are not
    /// part of the text.
    pub base: u32,
}

/// The words that begin statements and clauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Set,
    Run,
    With,
    To,
    Transition,
    /// `available`, with `when` still to come.
    Available,
    Collect,
    /// `ask`, with `for` still to come.
    Ask,
    /// `else`, `else if` without an `if` before.
    StrayElse,
}

/// One line with what is indented below it, one item of a sequence, or a whole condition.
#[derive(Debug)]
pub(crate) struct Entry<'s> {
    pub start: u32,
    /// One past the last byte of the last line below it.
    pub end: u32,
    pub kind: EntryKind<'s>,
    pub children: Vec<Entry<'s>>,
}

#[derive(Debug)]
pub(crate) enum EntryKind<'s> {
    Pair { key: Key<'s>, value: Inline<'s> },
    Statement { word: Word, text: Text<'s> },
    Template(RawTemplate<'s>),
    Line(Text<'s>),
    Item,
    Conditional(Vec<Branch<'s>>),
}

#[derive(Debug)]
pub(crate) struct Branch<'s> {
    pub start: u32,
    pub end: u32,
    pub kind: BranchKind,
    /// The condition with its colon; the colon alone behind `else`.
    pub text: Text<'s>,
    pub body: Vec<Entry<'s>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchKind {
    If,
    ElseIf,
    Else,
}

impl Entry<'_> {
    pub(crate) const fn span(&self, file: FileId) -> Span {
        Span::new(file, self.start, self.end)
    }
}

/// A document as an outline.
#[derive(Debug)]
pub(crate) struct Outline<'s> {
    pub entries: Vec<Entry<'s>>,
    pub comments: Vec<Span>,
    /// The first `{{…}}` outside of texts, and how many there are.
    pub placeholders: Option<(Span, u32)>,
}

/// Reads the outline. Never fails: what cannot be placed is reported and kept as a line.
pub(crate) fn parse<'s>(
    file: FileId,
    text: &'s str,
    problems: &mut Vec<Diagnostic>,
) -> Outline<'s> {
    let laid_out = layout::tokens(file, text, problems);
    let entries = match grammar::agent_script::EntriesParser::new().parse(laid_out.tokens) {
        Ok(entries) => entries,
        // The layout pass only gives sentences of the grammar; see the grammar's head.
        Err(error) => {
            debug_assert!(false, "unbalanced layout: {error:?}");
            Vec::new()
        }
    };
    Outline { entries, comments: laid_out.comments, placeholders: laid_out.placeholders }
}

grammars!(agent_script);
