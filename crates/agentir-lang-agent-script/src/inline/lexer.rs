//! Text to tokens of `grammars/agent-script/inline.lalrpop`.
//!
//! A logos lexer cuts; [`Lexer`] decides which words are keywords, which depends on the goal (`to`
//! and `when` are names except in the clauses that they belong to), joins `is not`, and counts what
//! nests, so that the parser never sees an input that is deep enough to matter.

use agentir_syntax::inline::{ForeignSyntax, Nesting, NestingEffect, TokenResult, next_word};
use agentir_syntax::text::offset;
use agentir_syntax::words;
use logos::Logos;

/// What a leaf is read as. The first token the parser gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum EntryPoint {
    /// An expression, or `...`.
    Value,
    /// The inside of `{!…}`.
    Placeholder,
    /// What stands behind `if`, with its colon.
    Condition,
    Set,
    With,
    Run,
    Transition,
    To,
    Available,
    Collect,
    Ask,
    Declaration,
    Binding,
}

/// A token. `Copy`, and borrowing from the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    EntryPoint(EntryPoint),
    /// `@namespace.member`, with all further members.
    Reference(&'a str),
    Word(&'a str),
    Number(f64),
    Date(&'a str),
    /// With its quotes.
    String(&'a str),
    True,
    False,
    None,
    And,
    Or,
    Not,
    Is,
    IsNot,
    If,
    Else,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Colon,
    Dot,
    Ellipsis,
    Comma,
    Assign,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    To,
    When,
    For,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"\s+")]
#[logos(skip r"\\[ \t]*\r?\n")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
enum Raw {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", |lexer| words::extend(lexer, is_word_part))]
    #[regex(r"[^\x00-\x7F]", |lexer| words::begin(lexer, is_word_part), priority = 0)]
    Word,
    /// With at least one member.
    Reference,
    #[token("@", reference)]
    BareReference,
    #[regex(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")]
    Number,
    #[regex(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    )]
    Date,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    String,
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#)]
    OpenString,
    #[regex(r"'[^'\n]*'")]
    SingleQuoted,
    #[token("'")]
    SingleQuote,
    #[token("==")]
    Equal,
    #[token("===")]
    StrictEqual,
    #[token("!=")]
    NotEqual,
    #[token("!==")]
    #[token("<>")]
    OtherNotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("=")]
    Assign,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token("!")]
    Not,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("...")]
    Ellipsis,
    #[token(",")]
    Comma,
    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,
}

/// Whether a text is one word.
pub(crate) fn is_word(text: &str) -> bool {
    let mut raw = Raw::lexer(text);
    raw.next() == Some(Ok(Raw::Word)) && raw.span() == (0..text.len())
}

/// Whether a word may go on with this character.
fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length in bytes of the word that `text` begins with, or zero.
fn word_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        words::prefix(text, is_word_part)
    } else {
        0
    }
}

/// Completes `@` by the word after it and the members of that word.
fn reference(lexer: &mut logos::Lexer<'_, Raw>) -> Raw {
    let rest = lexer.remainder();
    let namespace = word_length(rest);
    let mut end = namespace;
    while let Some(member) = rest.get(end..).and_then(|rest| rest.strip_prefix('.')) {
        let length = word_length(member);
        if end == 0 || length == 0 {
            break;
        }
        end += 1 + length;
    }
    lexer.bump(end);
    if end > namespace { Raw::Reference } else { Raw::BareReference }
}

/// Why reading stopped.
pub(crate) type SyntaxError = agentir_syntax::inline::SyntaxError<SyntaxErrorKind>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxErrorKind {
    TooDeep,
    Character,
    /// Reported by the layout pass already.
    UnclosedString,
    SingleQuotes,
    Escape,
    NumberTooLarge,
    /// `@name` without a member.
    BareReference,
    /// An operator of Python that Agent Script does not have.
    NoOperator,
    /// Something is called that is not a name.
    NotCallable,
    /// Something is assigned to, or gone to, that is not a reference.
    NoReference,
    /// Only lists have a type of their elements.
    NotGeneric,
}

/// The tokens of one leaf, its goal first.
pub(crate) struct Lexer<'a> {
    raw: logos::Lexer<'a, Raw>,
    entry_point: EntryPoint,
    started: bool,
    /// The `=` of an assignment was given.
    assigned: bool,
    previous: Token<'a>,
    nesting: Nesting,
    /// Forms of other languages that were taken for ours.
    pub foreign_syntax: Vec<ForeignSyntax>,
    /// Places of the last token given and of the one before it, to say where an error is.
    pub last: [(u32, u32); 2],
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, entry_point: EntryPoint) -> Self {
        Self {
            raw: Raw::lexer(text),
            entry_point,
            started: false,
            assigned: false,
            previous: Token::EntryPoint(entry_point),
            nesting: Nesting::default(),
            foreign_syntax: Vec::new(),
            last: [(0, 0); 2],
        }
    }

    fn token(&mut self, raw: Raw) -> Result<Token<'a>, SyntaxErrorKind> {
        Ok(match raw {
            Raw::Word => return self.word(),
            Raw::Reference => Token::Reference(self.raw.slice()),
            Raw::BareReference => return Err(SyntaxErrorKind::BareReference),
            Raw::Number => match self.raw.slice().parse::<f64>() {
                Ok(number) if number.is_finite() => Token::Number(number),
                _ => return Err(SyntaxErrorKind::NumberTooLarge),
            },
            Raw::Date => Token::Date(self.raw.slice()),
            Raw::String => Token::String(self.raw.slice()),
            Raw::OpenString => return Err(SyntaxErrorKind::UnclosedString),
            Raw::SingleQuoted | Raw::SingleQuote => return Err(SyntaxErrorKind::SingleQuotes),
            Raw::Equal => Token::Equal,
            Raw::StrictEqual => self.foreign_syntax("==", Token::Equal),
            Raw::NotEqual => Token::NotEqual,
            Raw::OtherNotEqual => self.foreign_syntax("!=", Token::NotEqual),
            Raw::Less => Token::Less,
            Raw::LessEqual => Token::LessEqual,
            Raw::Greater => Token::Greater,
            Raw::GreaterEqual => Token::GreaterEqual,
            Raw::Assign => match self.entry_point {
                // Only the first one assigns, but every argument of `with` has its own.
                EntryPoint::Set | EntryPoint::Declaration
                    if !std::mem::replace(&mut self.assigned, true) =>
                {
                    Token::Assign
                }
                EntryPoint::With if self.nesting.brackets == 0 => Token::Assign,
                _ => self.foreign_syntax("==", Token::Equal),
            },
            Raw::And => self.foreign_syntax("and", Token::And),
            Raw::Or => self.foreign_syntax("or", Token::Or),
            Raw::Not => self.foreign_syntax("not ", Token::Not),
            Raw::Plus => Token::Plus,
            Raw::Minus => Token::Minus,
            Raw::Star => Token::Star,
            Raw::Slash => Token::Slash,
            Raw::Percent => return Err(SyntaxErrorKind::NoOperator),
            Raw::Colon => Token::Colon,
            Raw::Dot => Token::Dot,
            Raw::Ellipsis => Token::Ellipsis,
            Raw::Comma => Token::Comma,
            Raw::LeftParen => Token::LeftParen,
            Raw::RightParen => Token::RightParen,
            Raw::LeftBracket => Token::LeftBracket,
            Raw::RightBracket => Token::RightBracket,
            Raw::LeftBrace => Token::LeftBrace,
            Raw::RightBrace => Token::RightBrace,
        })
    }

    fn foreign_syntax(&mut self, replacement: &'static str, token: Token<'a>) -> Token<'a> {
        let span = self.raw.span();
        let (start, end) = (offset(span.start), offset(span.end));
        self.foreign_syntax.push(ForeignSyntax { start, end, replacement });
        token
    }

    fn word(&mut self) -> Result<Token<'a>, SyntaxErrorKind> {
        let word = self.raw.slice();
        // A member, or the name of a field or an argument.
        let named = self.previous == Token::Dot
            || (matches!(
                self.previous,
                Token::LeftBrace | Token::Comma | Token::EntryPoint(EntryPoint::With)
            ) && self.raw.remainder().trim_start().starts_with(if self.nesting.brackets > 0 {
                ':'
            } else {
                '='
            }));
        if named {
            return Ok(Token::Word(word));
        }
        Ok(match word {
            "and" => Token::And,
            "or" => Token::Or,
            "not" => match self.peek_word() {
                Some(("in", _)) if self.previous.ends_value() => {
                    return Err(SyntaxErrorKind::NoOperator);
                }
                _ => Token::Not,
            },
            "is" => match self.peek_word() {
                Some(("not", end)) => {
                    self.raw.bump(end);
                    Token::IsNot
                }
                _ => Token::Is,
            },
            "in" if self.previous.ends_value() => return Err(SyntaxErrorKind::NoOperator),
            "if" => Token::If,
            "else" => Token::Else,
            "True" => Token::True,
            "False" => Token::False,
            "None" => Token::None,
            "true" | "TRUE" => self.foreign_syntax("True", Token::True),
            "false" | "FALSE" => self.foreign_syntax("False", Token::False),
            "none" | "null" | "NULL" | "undefined" => self.foreign_syntax("None", Token::None),
            "to" if self.nesting.brackets == 0
                && matches!(
                    self.entry_point,
                    EntryPoint::Transition | EntryPoint::To | EntryPoint::Binding
                ) =>
            {
                Token::To
            }
            "when"
                if self.entry_point == EntryPoint::Available
                    && matches!(self.previous, Token::EntryPoint(_)) =>
            {
                Token::When
            }
            "for"
                if self.entry_point == EntryPoint::Ask
                    && matches!(self.previous, Token::EntryPoint(_)) =>
            {
                Token::For
            }
            _ => Token::Word(word),
        })
    }

    /// The word that comes next, and where it ends.
    fn peek_word(&self) -> Option<(&'a str, usize)> {
        next_word(self.raw.remainder(), is_word_part)
    }

    /// Counts what nests.
    fn count(&mut self, token: Token<'a>) -> Result<Token<'a>, SyntaxErrorKind> {
        let nest = match token {
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace => NestingEffect::Open,
            Token::RightParen | Token::RightBracket | Token::RightBrace => NestingEffect::Close,
            Token::Not | Token::Minus | Token::Plus => NestingEffect::Prefix,
            _ => NestingEffect::Flat,
        };
        if self.nesting.count(nest) { Ok(token) } else { Err(SyntaxErrorKind::TooDeep) }
    }
}

impl Token<'_> {
    /// Whether a value is complete after this token, so that an operator may follow.
    const fn ends_value(self) -> bool {
        matches!(
            self,
            Token::Reference(_)
                | Token::Word(_)
                | Token::Number(_)
                | Token::Date(_)
                | Token::String(_)
                | Token::True
                | Token::False
                | Token::None
                | Token::RightParen
                | Token::RightBracket
                | Token::RightBrace
        )
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = TokenResult<Token<'a>, SyntaxErrorKind>;

    fn next(&mut self) -> Option<Self::Item> {
        if !std::mem::replace(&mut self.started, true) {
            return Some(Ok((0, Token::EntryPoint(self.entry_point), 0)));
        }
        let raw = self.raw.next()?;
        let start = offset(self.raw.span().start);
        let token = raw.map_err(|()| SyntaxErrorKind::Character).and_then(|raw| self.token(raw));
        let end = offset(self.raw.span().end);
        match token.and_then(|token| self.count(token)) {
            Ok(token) => {
                self.previous = token;
                let [_, last] = self.last;
                self.last = [last, (start, end)];
                Some(Ok((start, token, end)))
            }
            Err(kind) => Some(Err(SyntaxError { kind, start, end })),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests end by panicking")]

    use super::*;
    use agentir_syntax::words::testing::{reference, text};
    use proptest::prelude::*;
    use regex::Regex;
    use std::sync::LazyLock;

    /// References, references without a member, words, other tokens, errors.
    static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = concat!(
            r"\s+",
            r"|(@WORD(?:\.WORD)+)",
            r"|(@(?:WORD)?)",
            r"|(WORD)",
            r"|([0-9]{4}-[0-9]{2}-[0-9]{2}",
            r"|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
            r"|\.\.\.|[-+.,:()])",
            r"|(?s:(.))",
        );
        let word = r"[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*";
        Regex::new(&pattern.replace("WORD", word)).unwrap()
    });

    proptest! {
        #[test]
        fn words_end_where_unicode_says(text in text("[-+.,:()@@@..$^~]")) {
            let tokens = Raw::lexer(&text).spanned().map(|(raw, span)| match raw {
                Ok(Raw::Reference) => (1, span),
                Ok(Raw::BareReference) => (2, span),
                Ok(Raw::Word) => (3, span),
                Ok(_) => (4, span),
                Err(()) => (5, span),
            });
            prop_assert_eq!(tokens.collect::<Vec<_>>(), reference(&REFERENCE, &text));
        }
    }
}
