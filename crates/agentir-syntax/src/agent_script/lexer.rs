//! Text to tokens of `agent_script_leaf.lalrpop`.
//!
//! A logos lexer cuts; [`Lexer`] decides which words are keywords, which depends on the goal (`to`
//! and `when` are names except in the clauses that they belong to), joins `is not`, and counts what
//! nests, so that the parser never sees an input that is deep enough to matter.

use super::layout::offset;
use logos::Logos;

/// How many brackets may lie inside each other, and how many prefix operators may follow each other.
const MAX_NESTING: u16 = agentir_expr::MAX_DEPTH;

/// What a leaf is read as. The first token the parser gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Goal {
    /// An expression, or `...`.
    Value,
    /// The inside of `{!…}`.
    Hole,
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
    Goal(Goal),
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
#[logos(subpattern word = r"[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*")]
enum Raw {
    #[regex(r"(?&word)")]
    Word,
    #[regex(r"@(?&word)(\.(?&word))+")]
    Reference,
    #[regex(r"@(?&word)?")]
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
    /// Something is assigned to, or gone to, that is no reference.
    NoReference,
    /// Only lists have a type of their elements.
    NotGeneric,
}

/// A form of another language that is understood all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slip {
    pub start: u32,
    pub end: u32,
    pub meant: &'static str,
}

/// The tokens of one leaf, its goal first.
pub(crate) struct Lexer<'a> {
    raw: logos::Lexer<'a, Raw>,
    /// Where the text begins in its file.
    base: u32,
    goal: Goal,
    started: bool,
    /// The `=` of an assignment was given.
    assigned: bool,
    previous: Token<'a>,
    nesting: u16,
    prefixes: u16,
    /// Forms of other languages that were taken for ours.
    pub slips: Vec<Slip>,
    /// Places of the last token given and of the one before it, to say where an error is.
    pub last: [(u32, u32); 2],
}

type Located<'a> = Result<(u32, Token<'a>, u32), Fault>;

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, base: u32, goal: Goal) -> Self {
        Self {
            raw: Raw::lexer(text),
            base,
            goal,
            started: false,
            assigned: false,
            previous: Token::Goal(goal),
            nesting: 0,
            prefixes: 0,
            slips: Vec::new(),
            last: [(base, base); 2],
        }
    }

    fn token(&mut self, raw: Raw) -> Result<Token<'a>, FaultKind> {
        Ok(match raw {
            Raw::Word => return self.word(),
            Raw::Reference => Token::Reference(self.raw.slice()),
            Raw::BareReference => return Err(FaultKind::BareReference),
            Raw::Number => match self.raw.slice().parse::<f64>() {
                Ok(number) if number.is_finite() => Token::Number(number),
                _ => return Err(FaultKind::NumberTooLarge),
            },
            Raw::Date => Token::Date(self.raw.slice()),
            Raw::String => Token::String(self.raw.slice()),
            Raw::OpenString => return Err(FaultKind::UnclosedString),
            Raw::SingleQuoted | Raw::SingleQuote => return Err(FaultKind::SingleQuotes),
            Raw::Equal => Token::Equal,
            Raw::StrictEqual => self.slip("==", Token::Equal),
            Raw::NotEqual => Token::NotEqual,
            Raw::OtherNotEqual => self.slip("!=", Token::NotEqual),
            Raw::Less => Token::Less,
            Raw::LessEqual => Token::LessEqual,
            Raw::Greater => Token::Greater,
            Raw::GreaterEqual => Token::GreaterEqual,
            Raw::Assign => match self.goal {
                // Only the first one assigns, but every argument of `with` has its own.
                Goal::Set | Goal::Declaration if !std::mem::replace(&mut self.assigned, true) => {
                    Token::Assign
                }
                Goal::With if self.nesting == 0 => Token::Assign,
                _ => self.slip("==", Token::Equal),
            },
            Raw::And => self.slip("and", Token::And),
            Raw::Or => self.slip("or", Token::Or),
            Raw::Not => self.slip("not ", Token::Not),
            Raw::Plus => Token::Plus,
            Raw::Minus => Token::Minus,
            Raw::Star => Token::Star,
            Raw::Slash => Token::Slash,
            Raw::Percent => return Err(FaultKind::NoOperator),
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

    fn slip(&mut self, meant: &'static str, token: Token<'a>) -> Token<'a> {
        let span = self.raw.span();
        let (start, end) = (self.offset(span.start), self.offset(span.end));
        self.slips.push(Slip { start, end, meant });
        token
    }

    fn offset(&self, at: usize) -> u32 {
        self.base.saturating_add(offset(at))
    }

    fn word(&mut self) -> Result<Token<'a>, FaultKind> {
        let word = self.raw.slice();
        // A member, or the name of a field or an argument.
        let named = self.previous == Token::Dot
            || (matches!(self.previous, Token::LeftBrace | Token::Comma | Token::Goal(Goal::With))
                && self.raw.remainder().trim_start().starts_with(if self.nesting > 0 {
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
                Some(("in", _)) if self.previous.ends_value() => return Err(FaultKind::NoOperator),
                _ => Token::Not,
            },
            "is" => match self.peek_word() {
                Some(("not", end)) => {
                    self.raw.bump(end);
                    Token::IsNot
                }
                _ => Token::Is,
            },
            "in" if self.previous.ends_value() => return Err(FaultKind::NoOperator),
            "if" => Token::If,
            "else" => Token::Else,
            "True" => Token::True,
            "False" => Token::False,
            "None" => Token::None,
            "true" | "TRUE" => self.slip("True", Token::True),
            "false" | "FALSE" => self.slip("False", Token::False),
            "none" | "null" | "NULL" | "undefined" => self.slip("None", Token::None),
            "to" if self.nesting == 0
                && matches!(self.goal, Goal::Transition | Goal::To | Goal::Binding) =>
            {
                Token::To
            }
            "when" if self.goal == Goal::Available && matches!(self.previous, Token::Goal(_)) => {
                Token::When
            }
            "for" if self.goal == Goal::Ask && matches!(self.previous, Token::Goal(_)) => {
                Token::For
            }
            _ => Token::Word(word),
        })
    }

    /// The word that comes next, and where it ends.
    fn peek_word(&self) -> Option<(&'a str, usize)> {
        let rest = self.raw.remainder();
        let start = rest.len() - rest.trim_start().len();
        let word = rest.get(start..)?.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()?;
        (!word.is_empty()).then_some((word, start + word.len()))
    }

    /// Counts what nests.
    fn count(&mut self, token: Token<'a>) -> Result<Token<'a>, FaultKind> {
        match token {
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace => {
                self.nesting += 1;
                self.prefixes = 0;
            }
            Token::RightParen | Token::RightBracket | Token::RightBrace => {
                self.nesting = self.nesting.saturating_sub(1);
                self.prefixes = 0;
            }
            Token::Not | Token::Minus | Token::Plus => self.prefixes += 1,
            _ => self.prefixes = 0,
        }
        if self.nesting > MAX_NESTING || self.prefixes > MAX_NESTING {
            return Err(FaultKind::TooDeep);
        }
        Ok(token)
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
    type Item = Located<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if !std::mem::replace(&mut self.started, true) {
            return Some(Ok((self.base, Token::Goal(self.goal), self.base)));
        }
        let raw = self.raw.next()?;
        let start = self.offset(self.raw.span().start);
        let token = raw.map_err(|()| FaultKind::Character).and_then(|raw| self.token(raw));
        let end = self.offset(self.raw.span().end);
        match token.and_then(|token| self.count(token)) {
            Ok(token) => {
                self.previous = token;
                let [_, last] = self.last;
                self.last = [last, (start, end)];
                Some(Ok((start, token, end)))
            }
            Err(kind) => Some(Err(Fault { kind, start, end })),
        }
    }
}
