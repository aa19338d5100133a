//! Shared parts of the inline lexers.

use super::InlineText;
use crate::rules;
use agentir_diagnostics::{Applicability, Diagnostic};

/// A syntax error found by a lexer or a grammar action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxError<Kind> {
    /// What is wrong.
    pub kind: Kind,
    /// The offset of its first byte in the text.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
}

/// A token with its offsets, as LALRPOP expects it.
pub type TokenResult<Token, Kind> = Result<(u32, Token, u32), SyntaxError<Kind>>;

/// A notation of another language that is accepted with a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignSyntax {
    /// The offset of its first byte in the text.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// The notation to write instead.
    pub replacement: &'static str,
}

impl ForeignSyntax {
    /// The diagnostic; `message` gets the text as written and its replacement.
    pub fn diagnostic(
        &self,
        input: &InlineText<'_>,
        message: impl FnOnce(&str, &str) -> String,
    ) -> Diagnostic {
        let replacement = self.replacement.trim();
        Diagnostic::error(
            rules::INVALID_EXPRESSION,
            input.span_of(self.start, self.end),
            message(input.slice(self.start, self.end), replacement),
        )
        .help(format!("write `{replacement}`"))
        .replace(self.replacement, Applicability::Safe)
    }
}

/// The effect of a token on the nesting depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NestingEffect {
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// A prefix operator.
    Prefix,
    /// Anything else.
    Flat,
}

/// Counts nested brackets and consecutive prefix operators, so that parsers never see deeply nested
/// input.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nesting {
    /// The number of open brackets.
    pub brackets: u16,
    prefixes: u16,
}

impl Nesting {
    /// Counts a token. Returns false if the nesting is too deep.
    pub fn count(&mut self, token: NestingEffect) -> bool {
        self.prefixes =
            if token == NestingEffect::Prefix { self.prefixes.saturating_add(1) } else { 0 };
        match token {
            NestingEffect::Open => self.brackets = self.brackets.saturating_add(1),
            NestingEffect::Close => self.brackets = self.brackets.saturating_sub(1),
            NestingEffect::Prefix | NestingEffect::Flat => {}
        }
        self.brackets.max(self.prefixes) <= agentir_expr::MAX_DEPTH
    }
}

/// The next word in `text`, and its end.
pub fn next_word(text: &str, is_part: impl Fn(char) -> bool) -> Option<(&str, usize)> {
    let start = text.len() - text.trim_start().len();
    let word = text.get(start..)?.split(|c| !is_part(c)).next()?;
    (!word.is_empty()).then_some((word, start + word.len()))
}
