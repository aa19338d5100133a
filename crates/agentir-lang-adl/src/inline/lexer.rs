//! Text to tokens, for `grammars/adl/inline.lalrpop`.
//!
//! A logos lexer cuts the text. [`Lexer`] gives the goal first, counts brackets so that the parser
//! never recurses deep, and hands over the message of a `return` as one token: it is prose.

use agentir_syntax::inline::{ForeignSyntax, Nesting, NestingEffect, TokenResult};
use agentir_syntax::text::offset;
use agentir_syntax::words;
use logos::Logos;
use std::ops::Range;

/// What a string is read as. The first token the parser gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryPoint {
    Condition,
    Path,
    /// A path, or `ref` and a path.
    Reference,
    Return,
}

/// What the user does in a condition about the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `the user claims`: they say something like the examples.
    Claims,
    /// `the user clicks`: they press a button of this name; MICA only.
    Clicks,
}

/// A token. `Copy`, and borrowing from the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'a> {
    EntryPoint(EntryPoint),
    Word(&'a str),
    Number(f64),
    /// With its quotes.
    String(&'a str),
    /// With its `r` and its quotes.
    Raw(&'a str),
    Verb(Verb),
    Text(&'a str),
    Match,
    None,
    True,
    False,
    And,
    Or,
    Not,
    Ref,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Minus,
    LeftParen,
    RightParen,
    Dot,
    Comma,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"\s+")]
enum Raw {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", |lexer| words::extend(lexer, is_word_part))]
    // Without the marks that begin a `SmartString`: an error after one of them goes on to the end.
    #[regex(r"[^\x00-\x7F“”„‘’]", |lexer| words::begin(lexer, is_word_part), priority = 0)]
    Word,
    #[regex(r"(?i:the)[ \t]+(?i:user)[ \t]+(?i:claims)", priority = 20)]
    Claims,
    #[regex(r"(?i:the)[ \t]+(?i:user)[ \t]+(?i:clicks)", priority = 20)]
    Clicks,
    #[regex(r"re\.match", priority = 20)]
    Match,
    #[regex(r"[0-9]+(\.[0-9]+)?")]
    Number,
    #[regex(r#""([^"\\]|\\(?s:.))*""#)]
    #[regex(r"'([^'\\]|\\(?s:.))*'")]
    String,
    #[regex(r#"r"([^"\\]|\\(?s:.))*""#, priority = 20)]
    #[regex(r"r'([^'\\]|\\(?s:.))*'", priority = 20)]
    Verbatim,
    // Quotes and marks that editors and input methods put in place of the plain ones.
    #[regex("[“”„][^“”„]*[“”]")]
    #[regex("[‘’][^‘’]*[‘’]")]
    SmartString,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token("≤")]
    OtherLessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("≥")]
    OtherGreaterEqual,
    #[token("=")]
    Assign,
    #[token("&&")]
    OtherAnd,
    #[token("||")]
    OtherOr,
    #[token("!")]
    OtherNot,
    #[token("-")]
    Minus,
    #[token("(")]
    LeftParen,
    #[token("（")]
    WideLeftParen,
    #[token(")")]
    RightParen,
    #[token("）")]
    WideRightParen,
    #[token(".")]
    Dot,
    #[token(",")]
    Comma,
    #[token("，")]
    WideComma,
}

/// Whether conditions or references have this word for themselves.
pub(crate) fn is_word_of_conditions(word: &str) -> bool {
    [EntryPoint::Condition, EntryPoint::Reference].into_iter().any(|entry_point| {
        let token = Lexer::new(word, 0, entry_point).nth(1);
        !matches!(token, Some(Ok((_, Token::Word(_), _))))
    })
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

/// Why reading stopped.
pub(crate) type SyntaxError = agentir_syntax::inline::SyntaxError<SyntaxErrorKind>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxErrorKind {
    TooDeep,
    Character,
    SingleEquals,
}

pub(crate) struct Lexer<'a> {
    text: &'a str,
    base: u32,
    tokens: logos::SpannedIter<'a, Raw>,
    entry_point: EntryPoint,
    given: usize,
    nesting: Nesting,
    /// Operators of other languages that were understood all the same.
    pub foreign: Vec<ForeignSyntax>,
    /// Typographic signs that were taken for plain ones.
    pub typographic: Vec<ForeignSyntax>,
    /// Whether an operator of the language was seen, so that the text was meant as an expression.
    pub operators: bool,
}

impl<'a> Lexer<'a> {
    /// A lexer of `text`, which stands at offset `base` of its leaf.
    pub(crate) fn new(text: &'a str, base: u32, entry_point: EntryPoint) -> Self {
        Self {
            text,
            base,
            tokens: Raw::lexer(text).spanned(),
            entry_point,
            given: 0,
            nesting: Nesting::default(),
            foreign: Vec::new(),
            typographic: Vec::new(),
            operators: false,
        }
    }

    fn at(&self, range: &Range<usize>) -> (u32, u32) {
        (self.base.saturating_add(offset(range.start)), self.base.saturating_add(offset(range.end)))
    }

    fn foreign_syntax(&self, range: &Range<usize>, replacement: &'static str) -> ForeignSyntax {
        let (start, end) = self.at(range);
        ForeignSyntax { start, end, replacement }
    }

    /// What `return` says behind its first comma.
    fn message(&mut self) -> Option<(u32, Token<'a>, u32)> {
        let end = self.tokens.span().end;
        let rest = self.text.get(end..)?;
        let text = rest.trim();
        let start = end + (rest.len() - rest.trim_start().len());
        self.tokens = Raw::lexer("").spanned();
        let (l, r) = self.at(&(start..start + text.len()));
        (!text.is_empty()).then_some((l, Token::Text(text), r))
    }

    fn word(&self, text: &'a str) -> Token<'a> {
        match (self.entry_point, text) {
            (EntryPoint::Condition, "and") => Token::And,
            (EntryPoint::Condition, "or") => Token::Or,
            (EntryPoint::Condition, "not") => Token::Not,
            (EntryPoint::Condition, "None") => Token::None,
            (EntryPoint::Condition, "True") => Token::True,
            (EntryPoint::Condition, "False") => Token::False,
            (EntryPoint::Reference, "ref") if self.given == 1 => Token::Ref,
            _ => Token::Word(text),
        }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = TokenResult<Token<'a>, SyntaxErrorKind>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.given == 0 {
            self.given = 1;
            return Some(Ok((self.base, Token::EntryPoint(self.entry_point), self.base)));
        }
        if self.entry_point == EntryPoint::Return && self.given == 3 {
            self.given += 1;
            return self.message().map(Ok);
        }
        let (raw, range) = self.tokens.next()?;
        let (start, end) = self.at(&range);
        let error = |kind| Some(Err(SyntaxError { kind, start, end }));
        let text = self.text.get(range.clone()).unwrap_or_default();
        let Ok(raw) = raw else { return error(SyntaxErrorKind::Character) };
        let token = match raw {
            Raw::Word => self.word(text),
            Raw::Claims => Token::Verb(Verb::Claims),
            Raw::Clicks => Token::Verb(Verb::Clicks),
            Raw::Match => {
                self.operators = true;
                Token::Match
            }
            Raw::Number => match text.parse() {
                Ok(number) => Token::Number(number),
                Err(_) => return error(SyntaxErrorKind::Character),
            },
            Raw::String => Token::String(text),
            Raw::SmartString => {
                self.typographic.push(self.foreign_syntax(&range, "\""));
                Token::String(text)
            }
            Raw::Verbatim => Token::Raw(text),
            Raw::Equal => Token::Equal,
            Raw::NotEqual => Token::NotEqual,
            Raw::Less => Token::Less,
            Raw::LessEqual => Token::LessEqual,
            Raw::Greater => Token::Greater,
            Raw::GreaterEqual => Token::GreaterEqual,
            Raw::OtherLessEqual => {
                self.typographic.push(self.foreign_syntax(&range, "<="));
                Token::LessEqual
            }
            Raw::OtherGreaterEqual => {
                self.typographic.push(self.foreign_syntax(&range, ">="));
                Token::GreaterEqual
            }
            Raw::Assign => {
                self.operators = true;
                return error(SyntaxErrorKind::SingleEquals);
            }
            Raw::OtherAnd => {
                self.foreign.push(self.foreign_syntax(&range, "and"));
                Token::And
            }
            Raw::OtherOr => {
                self.foreign.push(self.foreign_syntax(&range, "or"));
                Token::Or
            }
            Raw::OtherNot => Token::Not,
            Raw::Minus => Token::Minus,
            Raw::LeftParen => Token::LeftParen,
            Raw::WideLeftParen => {
                self.typographic.push(self.foreign_syntax(&range, "("));
                Token::LeftParen
            }
            Raw::RightParen => Token::RightParen,
            Raw::WideRightParen => {
                self.typographic.push(self.foreign_syntax(&range, ")"));
                Token::RightParen
            }
            Raw::Dot => Token::Dot,
            Raw::Comma => Token::Comma,
            Raw::WideComma => {
                self.typographic.push(self.foreign_syntax(&range, ","));
                Token::Comma
            }
        };
        let nest = match token {
            Token::LeftParen => NestingEffect::Open,
            Token::RightParen => NestingEffect::Close,
            Token::Not => NestingEffect::Prefix,
            _ => NestingEffect::Flat,
        };
        if !self.nesting.count(nest) {
            return error(SyntaxErrorKind::TooDeep);
        }
        self.operators |= matches!(
            token,
            Token::Equal
                | Token::NotEqual
                | Token::Less
                | Token::LessEqual
                | Token::Greater
                | Token::GreaterEqual
        );
        self.given += 1;
        Some(Ok((start, token, end)))
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

    /// Words, other tokens, errors.
    static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"\s+",
            r"|([\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*)",
            r"|([0-9]+(?:\.[0-9]+)?|[-.,()≤≥（），]|[“”„][^“”„]*[“”]|[‘’][^‘’]*[‘’])",
            r"|([“”„][^“”„]*„?|[‘’][^‘’]*|(?s:.))",
        ))
        .unwrap()
    });

    proptest! {
        #[test]
        fn words_end_where_unicode_says(text in text("[-.,()@$^~]")) {
            let tokens = Raw::lexer(&text).spanned().map(|(raw, span)| match raw {
                Ok(Raw::Word) => (1, span),
                Ok(_) => (2, span),
                Err(()) => (3, span),
            });
            prop_assert_eq!(tokens.collect::<Vec<_>>(), reference(&REFERENCE, &text));
        }
    }
}
