//! Error messages for inline text that cannot be parsed.

use super::{Error, InlineLanguage, InlineText, SyntaxError};
use crate::text::{alternatives, offset};
use agentir_diagnostics::{Diagnostic, RuleName};
use lalrpop_util::ParseError;
use std::ops::Range;

/// The language-specific parts of error messages.
pub trait Explain: InlineLanguage {
    /// The entry points of the grammar.
    type EntryPoint: Copy;
    /// The notation.
    const NOTATION: Notation;

    /// The rule that reports a text that cannot be parsed with this entry point.
    fn rule(entry_point: Self::EntryPoint) -> RuleName;

    /// An example of a valid text, as a help.
    fn example(entry_point: Self::EntryPoint) -> Option<&'static str>;

    /// The message of a syntax error; `None` if it was reported before.
    fn syntax_error(
        failure: &ParseFailure<'_, Self>,
        error: SyntaxError<Self::Kind>,
    ) -> Option<Diagnostic>;

    /// The message of a mistake at a token that has one likely cause.
    fn likely(_failure: &ParseFailure<'_, Self>, _start: u32, _end: u32) -> Option<Diagnostic> {
        None
    }

    /// The message of a bracket before `start` that should have been closed by now.
    fn left_open(
        _failure: &ParseFailure<'_, Self>,
        _start: u32,
        _found: &str,
    ) -> Option<Diagnostic> {
        None
    }

    /// The message of a token where only an operator is possible.
    fn no_operator(failure: &ParseFailure<'_, Self>, start: u32, end: u32) -> Diagnostic;

    /// The message of an empty text.
    fn missing(entry_point: Self::EntryPoint, expected: Expected) -> String;
}

/// The notation of a language, as far as error messages need it.
pub struct Notation {
    /// Terminals that are expected together only where a value is possible.
    pub value: [&'static str; 2],
    /// A terminal that is expected only where an operator is possible.
    pub operator: &'static str,
    /// Descriptions of terminals without a fixed spelling.
    pub terminals: &'static [(&'static str, &'static str)],
    /// The quotes of strings.
    pub quotes: &'static [char],
    /// Whether strings end with their line.
    pub texts_on_one_line: bool,
    /// The start of a comment.
    pub comment: Option<char>,
    /// Whether a help says how to close a bracket.
    pub helps_closing: bool,
}

/// The number of alternatives that a message lists.
const MAX_ALTERNATIVES: usize = 6;

/// What was expected at the position of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// A value.
    Value,
    /// A name.
    Name,
    /// An operator, or the end.
    Operator,
    /// One of a few symbols, as prose.
    Symbols(String),
}

impl Notation {
    fn expected(&self, terminals: &[String]) -> Expected {
        let has = |terminal: &str| terminals.iter().any(|t| t == terminal);
        if self.value.iter().all(|value| has(value)) {
            return Expected::Value;
        }
        // Where nothing fits, the text could have ended.
        if has(self.operator) || terminals.is_empty() {
            return Expected::Operator;
        }
        if has("WORD") {
            return Expected::Name;
        }
        let mut words: Vec<String> = terminals.iter().map(|t| self.description(t)).collect();
        words.dedup();
        if words.len() > MAX_ALTERNATIVES {
            words.truncate(MAX_ALTERNATIVES - 1);
            words.push("another token".to_owned());
        }
        Expected::Symbols(alternatives(&words))
    }

    /// The description of a terminal.
    fn description(&self, terminal: &str) -> String {
        match self.terminals.iter().find(|(name, _)| *name == terminal) {
            Some((_, words)) => (*words).to_owned(),
            None => format!("`{}`", terminal.trim_matches('"')),
        }
    }
}

/// A failed parse. It becomes a diagnostic only if the text was clearly meant to be parsed this way:
/// natural language fails to parse as an expression, too.
pub struct ParseFailure<'a, L: Explain> {
    /// The text.
    pub input: InlineText<'a>,
    /// The part that was parsed.
    pub range: Range<usize>,
    /// The entry point that it was parsed with.
    pub entry_point: L::EntryPoint,
    /// Why the parser stopped.
    pub error: Error<'a, L>,
    /// The offsets of the last two tokens that the parser read.
    pub last: [(u32, u32); 2],
}

impl<L: Explain> ParseFailure<'_, L> {
    /// A part of the text.
    #[must_use]
    pub fn slice(&self, start: u32, end: u32) -> &str {
        self.input.slice(start, end)
    }

    /// An error at a part of the text.
    pub fn error(&self, start: u32, end: u32, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(L::rule(self.entry_point), self.input.span_of(start, end), message)
    }

    /// The token before the unexpected one.
    pub fn before(&self) -> &str {
        let [(start, end), _] = self.last;
        self.slice(start, end)
    }

    /// The diagnostic; `None` if the error was reported before.
    pub fn diagnostic(&self) -> Option<Diagnostic> {
        let diagnostic = match &self.error {
            ParseError::User { error } => return L::syntax_error(self, *error),
            ParseError::UnrecognizedToken { token: (start, _, end), expected } => {
                if let Some(diagnostic) = L::likely(self, *start, *end) {
                    return Some(diagnostic);
                }
                self.unexpected(*start, *end, &L::NOTATION.expected(expected))
            }
            ParseError::ExtraToken { token: (start, _, end) } => {
                self.unexpected(*start, *end, &Expected::Operator)
            }
            ParseError::UnrecognizedEof { expected, .. } => {
                self.cut_off(L::NOTATION.expected(expected))
            }
            ParseError::InvalidToken { location } => {
                self.error(*location, *location, "this cannot be parsed")
            }
        };
        Some(match (diagnostic.help.is_none(), L::example(self.entry_point)) {
            (true, Some(example)) => diagnostic.help(example),
            _ => diagnostic,
        })
    }

    /// An unexpected token.
    fn unexpected(&self, start: u32, end: u32, expected: &Expected) -> Diagnostic {
        let found = self.slice(start, end);
        let what = match expected {
            Expected::Value => "a value",
            Expected::Name => "a name",
            Expected::Operator | Expected::Symbols(_)
                if let Some(diagnostic) = self.wrong_bracket(start, end, found) =>
            {
                return diagnostic;
            }
            Expected::Operator => return L::no_operator(self, start, end),
            Expected::Symbols(words) => words,
        };
        let before = self.before();
        let after = if before.is_empty() { String::new() } else { format!(" after `{before}`") };
        self.error(start, end, format!("expected {what}{after}, found `{found}`"))
    }

    /// A closing bracket without a matching opening one.
    fn wrong_bracket(&self, start: u32, end: u32, found: &str) -> Option<Diagnostic> {
        let opening = match found {
            ")" => '(',
            "]" => '[',
            "}" => '{',
            _ => return L::left_open(self, start, found),
        };
        match self.open_bracket(start) {
            Some((_, open)) if open == opening => None,
            Some((at, open)) => Some(
                self.error(start, end, format!("`{found}` does not close `{open}`"))
                    .label(self.input.span_of(at, at + 1), "opened here"),
            ),
            None => {
                Some(self.error(start, end, format!("`{found}` has no matching opening bracket")))
            }
        }
    }

    /// An opening bracket without a closing one.
    pub fn never_closed(&self, at: u32, open: char) -> Diagnostic {
        let diagnostic = self.error(at, at + 1, format!("`{open}` is never closed"));
        let close = match open {
            '(' => ')',
            '[' => ']',
            _ => '}',
        };
        if L::NOTATION.helps_closing {
            diagnostic.help(format!("add `{close}`"))
        } else {
            diagnostic
        }
    }

    /// An unexpected end of the text.
    fn cut_off(&self, expected: Expected) -> Diagnostic {
        let end = offset(self.range.end);
        let [_, (last_start, last_end)] = self.last;
        if last_start == last_end {
            let what = L::missing(self.entry_point, expected);
            return self.error(last_start, end, format!("expected {what}"));
        }
        if expected != Expected::Value
            && let Some((at, open)) = self.open_bracket(end)
        {
            return self.never_closed(at, open);
        }
        let what = match &expected {
            Expected::Value => "a value",
            Expected::Name => "a name",
            Expected::Operator => "more",
            Expected::Symbols(words) => words,
        };
        let last = self.slice(last_start, last_end);
        self.error(last_start, last_end, format!("expected {what} after `{last}`"))
    }

    /// The innermost open bracket at `end`, ignoring strings and comments.
    pub fn open_bracket(&self, end: u32) -> Option<(u32, char)> {
        let notation = L::NOTATION;
        let text = self.input.text.get(self.range.start..end as usize)?;
        let mut open: Vec<(u32, char)> = Vec::new();
        let (mut quote, mut escaped, mut comment) = (None, false, false);
        for (i, c) in text.char_indices() {
            match c {
                _ if std::mem::take(&mut escaped) => {}
                '\n' if notation.texts_on_one_line => (quote, comment) = (None, false),
                _ if comment => {}
                '\\' if quote.is_some() => escaped = true,
                _ if quote == Some(c) => quote = None,
                _ if quote.is_some() => {}
                _ if notation.quotes.contains(&c) => quote = Some(c),
                _ if notation.comment == Some(c) => comment = true,
                '(' | '[' | '{' => open.push((offset(self.range.start + i), c)),
                ')' | ']' | '}' => {
                    open.pop();
                }
                _ => {}
            }
        }
        open.pop()
    }
}
