//! Text to tokens, for `adl_leaf.lalrpop`.
//!
//! A logos lexer cuts the text. [`Lexer`] gives the goal first, counts brackets so that the parser
//! never recurses deep, and hands over the message of a `return` as one token: it is prose.

use logos::Logos;
use std::ops::Range;

/// How many brackets and `not`s may lie inside each other.
const MAX_NESTING: u16 = agentir_expr::MAX_DEPTH;

/// What a string is read as. The first token the parser gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
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
    Goal(Goal),
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
    #[regex(r"[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*")]
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

/// Why reading stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub kind: FaultKind,
    pub start: u32,
    pub end: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    TooDeep,
    Character,
    SingleEquals,
}

/// A form that is understood, but not by ADL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slip {
    pub start: u32,
    pub end: u32,
    /// What to write.
    pub meant: &'static str,
    /// Whether it is another language's operator, not a typographic variant.
    pub foreign: bool,
}

pub(crate) struct Lexer<'a> {
    text: &'a str,
    base: u32,
    tokens: logos::SpannedIter<'a, Raw>,
    goal: Goal,
    given: usize,
    depth: u16,
    nots: u16,
    /// Forms that were understood all the same.
    pub slips: Vec<Slip>,
    /// Whether an operator of the language was seen, so that the text was meant as an expression.
    pub operators: bool,
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'a> Lexer<'a> {
    /// A lexer of `text`, which stands at offset `base` of its leaf.
    pub(crate) fn new(text: &'a str, base: u32, goal: Goal) -> Self {
        Self {
            text,
            base,
            tokens: Raw::lexer(text).spanned(),
            goal,
            given: 0,
            depth: 0,
            nots: 0,
            slips: Vec::new(),
            operators: false,
        }
    }

    fn at(&self, range: &Range<usize>) -> (u32, u32) {
        (self.base.saturating_add(offset(range.start)), self.base.saturating_add(offset(range.end)))
    }

    fn slip(&mut self, range: &Range<usize>, meant: &'static str, foreign: bool) {
        let (start, end) = self.at(range);
        self.slips.push(Slip { start, end, meant, foreign });
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
        match (self.goal, text) {
            (Goal::Condition, "and") => Token::And,
            (Goal::Condition, "or") => Token::Or,
            (Goal::Condition, "not") => Token::Not,
            (Goal::Condition, "None") => Token::None,
            (Goal::Condition, "True") => Token::True,
            (Goal::Condition, "False") => Token::False,
            (Goal::Reference, "ref") if self.given == 1 => Token::Ref,
            _ => Token::Word(text),
        }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Result<(u32, Token<'a>, u32), Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.given == 0 {
            self.given = 1;
            return Some(Ok((self.base, Token::Goal(self.goal), self.base)));
        }
        if self.goal == Goal::Return && self.given == 3 {
            self.given += 1;
            return self.message().map(Ok);
        }
        let (raw, range) = self.tokens.next()?;
        let (start, end) = self.at(&range);
        let fault = |kind| Some(Err(Fault { kind, start, end }));
        let text = self.text.get(range.clone()).unwrap_or_default();
        let Ok(raw) = raw else { return fault(FaultKind::Character) };
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
                Err(_) => return fault(FaultKind::Character),
            },
            Raw::String => Token::String(text),
            Raw::SmartString => {
                self.slip(&range, "\"", false);
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
                self.slip(&range, "<=", false);
                Token::LessEqual
            }
            Raw::OtherGreaterEqual => {
                self.slip(&range, ">=", false);
                Token::GreaterEqual
            }
            Raw::Assign => {
                self.operators = true;
                return fault(FaultKind::SingleEquals);
            }
            Raw::OtherAnd => {
                self.slip(&range, "and", true);
                Token::And
            }
            Raw::OtherOr => {
                self.slip(&range, "or", true);
                Token::Or
            }
            Raw::OtherNot => Token::Not,
            Raw::Minus => Token::Minus,
            Raw::LeftParen => Token::LeftParen,
            Raw::WideLeftParen => {
                self.slip(&range, "(", false);
                Token::LeftParen
            }
            Raw::RightParen => Token::RightParen,
            Raw::WideRightParen => {
                self.slip(&range, ")", false);
                Token::RightParen
            }
            Raw::Dot => Token::Dot,
            Raw::Comma => Token::Comma,
            Raw::WideComma => {
                self.slip(&range, ",", false);
                Token::Comma
            }
        };
        match token {
            Token::LeftParen => self.depth += 1,
            Token::RightParen => self.depth = self.depth.saturating_sub(1),
            Token::Not => self.nots += 1,
            Token::Equal
            | Token::NotEqual
            | Token::Less
            | Token::LessEqual
            | Token::Greater
            | Token::GreaterEqual => self.operators = true,
            _ => {}
        }
        if self.depth > MAX_NESTING || self.nots > MAX_NESTING {
            return fault(FaultKind::TooDeep);
        }
        self.given += 1;
        Some(Ok((start, token, end)))
    }
}
