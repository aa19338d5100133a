//! What is said about a leaf that cannot be read.

use super::{Error, Fault, Language, Leaf};
use crate::text::offset;
use agentir_diagnostics::{Diagnostic, RuleName};
use lalrpop_util::ParseError;
use std::ops::Range;

/// What a language says about its leaves where they are wrong.
pub(crate) trait Explain: Language {
    /// What a leaf can be read as.
    type Goal: Copy;
    /// How it is written.
    const NOTATION: Notation;

    /// The rule that is broken by a leaf that cannot be read as `goal`.
    fn rule(goal: Self::Goal) -> RuleName;

    /// What the leaf should look like, as a help.
    fn example(goal: Self::Goal) -> Option<&'static str>;

    /// What to say about a fault; nothing if it was reported before.
    fn fault(failure: &Failure<'_, Self>, fault: Fault<Self::Kind>) -> Option<Diagnostic>;

    /// A mistake at a token that has one likely cause.
    fn likely(_failure: &Failure<'_, Self>, _start: u32, _end: u32) -> Option<Diagnostic> {
        None
    }

    /// Whether a bracket before `start` should have been closed by now, where no bracket is.
    fn left_open(_failure: &Failure<'_, Self>, _start: u32, _found: &str) -> Option<Diagnostic> {
        None
    }

    /// What to say about a token where only an operator could stand.
    fn no_operator(failure: &Failure<'_, Self>, start: u32, end: u32) -> Diagnostic;

    /// What is missing where the leaf has nothing in it.
    fn missing(goal: Self::Goal, expected: Expected) -> String;
}

/// How a language is written, as far as errors have to know it.
pub(crate) struct Notation {
    /// Terminals that the grammar expects together only where a value may stand.
    pub value: [&'static str; 2],
    /// A terminal that it expects only where an operator may stand.
    pub operator: &'static str,
    /// How people call the terminals that have no spelling of their own.
    pub terminals: &'static [(&'static str, &'static str)],
    /// What texts stand in.
    pub quotes: &'static [char],
    /// Texts end with their line.
    pub texts_on_one_line: bool,
    /// What begins a comment.
    pub comment: Option<char>,
    /// A help says how to close a bracket.
    pub helps_closing: bool,
}

/// What could have stood at the place of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expected {
    Value,
    Name,
    Operator,
    /// One of a few symbols, in words.
    Symbols(String),
}

impl Notation {
    fn expected(&self, terminals: &[String]) -> Expected {
        let has = |terminal: &str| terminals.iter().any(|t| t == terminal);
        if self.value.iter().all(|value| has(value)) {
            return Expected::Value;
        }
        // Where nothing fits, the leaf could have ended.
        if has(self.operator) || terminals.is_empty() {
            return Expected::Operator;
        }
        if has("WORD") {
            return Expected::Name;
        }
        let mut words: Vec<String> = terminals.iter().map(|t| self.in_words(t)).collect();
        words.dedup();
        let more = words.len() > 4;
        words.truncate(4);
        Expected::Symbols(match words.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) if !more => format!("{} or {last}", rest.join(", ")),
            _ => words.join(", "),
        })
    }

    /// The grammar's name of a terminal as people say it.
    fn in_words(&self, terminal: &str) -> String {
        match self.terminals.iter().find(|(name, _)| *name == terminal) {
            Some((_, words)) => (*words).to_owned(),
            None => format!("`{}`", terminal.trim_matches('"')),
        }
    }
}

/// A leaf that could not be read. Turned into a diagnostic only when it is clear that it was meant
/// to be read as such: words for the model fail as expressions too.
pub(crate) struct Failure<'a, L: Explain> {
    pub leaf: Leaf<'a>,
    /// The part of it that was read.
    pub range: Range<usize>,
    pub goal: L::Goal,
    pub error: Error<'a, L>,
    /// The places of the last two tokens the parser saw.
    pub last: [(u32, u32); 2],
}

impl<L: Explain> Failure<'_, L> {
    pub(crate) fn slice(&self, start: u32, end: u32) -> &str {
        self.leaf.slice(start, end)
    }

    pub(crate) fn error(&self, start: u32, end: u32, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(L::rule(self.goal), self.leaf.place(start, end), message)
    }

    /// The token before the one that does not fit.
    pub(crate) fn before(&self) -> &str {
        let [(start, end), _] = self.last;
        self.slice(start, end)
    }

    /// The finding; none where it was reported before.
    pub(crate) fn diagnostic(&self) -> Option<Diagnostic> {
        let diagnostic = match &self.error {
            ParseError::User { error } => return L::fault(self, *error),
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
                self.error(*location, *location, "this cannot be read")
            }
        };
        Some(match (diagnostic.help.is_none(), L::example(self.goal)) {
            (true, Some(example)) => diagnostic.help(example),
            _ => diagnostic,
        })
    }

    /// A token that cannot stand where it does.
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

    /// A bracket that closes none, or another one than the one that is open.
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
                    .label(self.leaf.place(at, at + 1), "opened here"),
            ),
            None => Some(self.error(start, end, format!("`{found}` closes nothing"))),
        }
    }

    /// The bracket at `at`, without one that closes it.
    pub(crate) fn never_closed(&self, at: u32, open: char) -> Diagnostic {
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

    /// A leaf that ends too early.
    fn cut_off(&self, expected: Expected) -> Diagnostic {
        let end = offset(self.range.end);
        let [_, (last_start, last_end)] = self.last;
        if last_start == last_end {
            let what = L::missing(self.goal, expected);
            return self.error(last_start, end, format!("expected {what}, found nothing"));
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

    /// The innermost bracket that is open at `end`, texts and comments considered.
    pub(crate) fn open_bracket(&self, end: u32) -> Option<(u32, char)> {
        let notation = L::NOTATION;
        let text = self.leaf.text.get(self.range.start..end as usize)?;
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
