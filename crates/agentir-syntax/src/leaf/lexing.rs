//! What the lexers of leaves share.

use super::Leaf;
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic};

/// Why reading stopped, in the terms of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault<Kind> {
    pub kind: Kind,
    pub start: u32,
    pub end: u32,
}

/// A token between its offsets, as LALRPOP takes it.
pub(crate) type Located<Token, Kind> = Result<(u32, Token, u32), Fault<Kind>>;

/// A form of another language that is understood all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slip {
    pub start: u32,
    pub end: u32,
    /// What to write in its place.
    pub meant: &'static str,
}

impl Slip {
    /// The finding; `message` gets what is written and what is meant.
    pub(crate) fn diagnostic(
        &self,
        leaf: &Leaf<'_>,
        message: impl FnOnce(&str, &str) -> String,
    ) -> Diagnostic {
        let meant = self.meant.trim();
        Diagnostic::error(
            rules::INVALID_EXPRESSION,
            leaf.place(self.start, self.end),
            message(leaf.slice(self.start, self.end), meant),
        )
        .help(format!("write `{meant}`"))
        .replace(self.meant, Applicability::Safe)
    }
}

/// What a token does to how deep what follows it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nest {
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// A prefix operator.
    Prefix,
    /// Anything else.
    Flat,
}

/// Counts brackets inside each other and prefix operators behind each other, so that no parser sees
/// an input that is deep enough to matter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nesting {
    /// How many brackets are open.
    pub brackets: u16,
    prefixes: u16,
}

impl Nesting {
    /// Counts a token. Gives false where it is too deep to be read.
    pub(crate) fn count(&mut self, token: Nest) -> bool {
        self.prefixes = if token == Nest::Prefix { self.prefixes.saturating_add(1) } else { 0 };
        match token {
            Nest::Open => self.brackets = self.brackets.saturating_add(1),
            Nest::Close => self.brackets = self.brackets.saturating_sub(1),
            Nest::Prefix | Nest::Flat => {}
        }
        self.brackets.max(self.prefixes) <= agentir_expr::MAX_DEPTH
    }
}

/// The word that comes next in `text`, and where it ends.
pub(crate) fn next_word(text: &str, is_part: impl Fn(char) -> bool) -> Option<(&str, usize)> {
    let start = text.len() - text.trim_start().len();
    let word = text.get(start..)?.split(|c| !is_part(c)).next()?;
    (!word.is_empty()).then_some((word, start + word.len()))
}
