//! Text to tokens.
//!
//! A logos lexer cuts the text into words, literals and symbols. Around it, [`Lexer`] knows two
//! things that cutting needs: whether a value or an operator is expected next, and what the leaf is
//! read as. From these follow its *modes*:
//!
//! - *expression*: word operators (`IN`, `contains`, `IS SET`) are operators where an operator may
//!   stand and names where a value may; `/` begins a regular expression where a value may stand;
//!   after `.` and before `:` in an object every word is a name.
//! - *names*: in actions, chains, routing rules and the names of tools, a word may contain `-` and
//!   `.`, as steps and agents do.
//! - *target*: behind the `->` of `STORE`, a word may end in `*`.
//!
//! Brackets and prefix operators are counted here, so that the parser never sees an input that is
//! deep enough to matter.

use super::ast::{ActionKind, ConstraintKind, Direction};
use super::token::{EntryPoint, Token};
use agentir_syntax::inline::{ForeignSyntax, Nesting, NestingEffect, TokenResult, next_word};
use agentir_syntax::text::offset;
use agentir_syntax::words;
use logos::Logos;

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"\s+")]
enum Raw {
    #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*", |lexer| words::extend(lexer, is_word_part))]
    #[regex(r"[^\x00-\x7F]", |lexer| words::begin(lexer, is_word_part), priority = 0)]
    Word,
    #[regex(r"@[A-Za-z_][A-Za-z0-9_]*")]
    AtWord,
    #[regex(r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")]
    Number,
    #[regex(r#""([^"\\]|\\(?s:.))*""#)]
    #[regex(r"'([^'\\]|\\(?s:.))*'")]
    String,
    #[token("\"")]
    #[token("'")]
    OpenQuote,
    #[token("==")]
    Equal,
    #[token("===")]
    StrictEqual,
    #[token("!=")]
    NotEqual,
    #[token("!==")]
    #[token("<>")]
    #[token("≠")]
    OtherNotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token("=<")]
    #[token("≤")]
    OtherLessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("=>")]
    #[token("≥")]
    OtherGreaterEqual,
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
    #[token("->")]
    #[token("→")]
    Arrow,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("?")]
    Question,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token(",")]
    Comma,
    #[token("|")]
    Pipe,
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

/// Whether a word may go on with this character.
fn is_word_part(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

/// Why reading stopped.
pub(crate) type SyntaxError = agentir_syntax::inline::SyntaxError<SyntaxErrorKind>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxErrorKind {
    TooDeep,
    Character,
    UnclosedString,
    UnclosedRegex,
    RegexFlag,
    NumberTooLarge,
    Subscript,
    AtWord,
    ActionDetail,
}

/// Which words are what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Expression,
    Names,
    Target,
}

/// The tokens of one leaf, its goal first.
pub(crate) struct Lexer<'a> {
    raw: logos::Lexer<'a, Raw>,
    /// Where the text begins in the leaf.
    base: u32,
    entry_point: EntryPoint,
    mode: Mode,
    started: bool,
    /// Nothing but the goal was given so far.
    first: bool,
    /// The `=` or `:` of an assignment was given.
    assigned: bool,
    previous: Token<'a>,
    nesting: Nesting,
    /// Operators of other languages that were taken for ours.
    pub foreign_syntax: Vec<ForeignSyntax>,
    /// Places of the last token given and of the one before it, to say where an error is.
    pub last: [(u32, u32); 2],
}

/// The words that are not names where a value may stand.
fn constant_or_operator(word: &str) -> Option<Token<'static>> {
    Some(match word.len() {
        2 if word.eq_ignore_ascii_case("or") => Token::Or,
        3 if word.eq_ignore_ascii_case("and") => Token::And,
        3 if word.eq_ignore_ascii_case("not") => Token::Not,
        4 if word.eq_ignore_ascii_case("true") => Token::True,
        4 if word.eq_ignore_ascii_case("null") => Token::Null,
        5 if word.eq_ignore_ascii_case("false") => Token::False,
        7 if word.eq_ignore_ascii_case("implies") => Token::Implies,
        9 if word == "undefined" => Token::Undefined,
        _ => return None,
    })
}

/// Whether expressions have this word for themselves, so that no variable can be called so.
#[must_use]
pub fn is_word_of_expressions(word: &str) -> bool {
    constant_or_operator(word).is_some()
}

/// Whether a text is one word of expressions.
pub(crate) fn is_word(text: &str) -> bool {
    let mut raw = Raw::lexer(text);
    raw.next() == Some(Ok(Raw::Word)) && raw.span() == (0..text.len())
}

/// Whether a text is one name where names may have dashes and dots inside.
pub(crate) fn is_dashed_name(text: &str) -> bool {
    is_one_name(text, EntryPoint::Call)
}

/// Whether `THEN` would take a text for the name of a step.
pub(crate) fn is_step_name(text: &str) -> bool {
    is_one_name(text, EntryPoint::Action)
}

fn is_one_name(text: &str, entry_point: EntryPoint) -> bool {
    let token = Lexer::new(text, 0, entry_point).nth(1);
    matches!(token, Some(Ok((0, Token::Word(word), _))) if word.len() == text.len())
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, base: u32, entry_point: EntryPoint) -> Self {
        let mode = match entry_point {
            EntryPoint::Action
            | EntryPoint::Call
            | EntryPoint::Chain
            | EntryPoint::RoutingRule
            | EntryPoint::RouteAction
            | EntryPoint::Protocol
            | EntryPoint::Signature => Mode::Names,
            _ => Mode::Expression,
        };
        Self {
            raw: Raw::lexer(text),
            base,
            entry_point,
            mode,
            started: false,
            first: true,
            assigned: false,
            previous: Token::EntryPoint(entry_point),
            nesting: Nesting::default(),
            foreign_syntax: Vec::new(),
            last: [(base, base); 2],
        }
    }

    fn offset(&self, at: usize) -> u32 {
        self.base.saturating_add(offset(at))
    }

    fn token(&mut self, raw: Raw) -> Result<Token<'a>, SyntaxErrorKind> {
        let value_may_end = self.previous.ends_value();
        Ok(match raw {
            Raw::Word => self.word(value_may_end),
            // `@index`, `@key`, … of a template's `{{#each}}`.
            Raw::AtWord if self.entry_point == EntryPoint::Placeholder => {
                Token::Word(self.raw.slice())
            }
            Raw::AtWord => return Err(SyntaxErrorKind::AtWord),
            Raw::Number => self.number()?,
            Raw::String => Token::String(self.raw.slice()),
            Raw::OpenQuote => {
                self.raw.bump(self.raw.remainder().len());
                return Err(SyntaxErrorKind::UnclosedString);
            }
            Raw::Equal => Token::Equal,
            Raw::StrictEqual => self.foreign_syntax("==", Token::Equal),
            Raw::NotEqual => Token::NotEqual,
            Raw::OtherNotEqual => self.foreign_syntax("!=", Token::NotEqual),
            Raw::Less => Token::Less,
            Raw::LessEqual => Token::LessEqual,
            Raw::OtherLessEqual => self.foreign_syntax("<=", Token::LessEqual),
            Raw::Greater => Token::Greater,
            Raw::GreaterEqual => Token::GreaterEqual,
            Raw::OtherGreaterEqual => self.foreign_syntax(">=", Token::GreaterEqual),
            Raw::Assign => match self.entry_point {
                EntryPoint::Signature | EntryPoint::Call => Token::Assign,
                // Only the first one assigns.
                EntryPoint::Assignment if !std::mem::replace(&mut self.assigned, true) => {
                    Token::Assign
                }
                _ => self.foreign_syntax("==", Token::Equal),
            },
            Raw::And => Token::And,
            Raw::Or => Token::Or,
            Raw::Not => Token::Not,
            Raw::Plus => Token::Plus,
            // `-5` is a number where a value is expected.
            Raw::Minus
                if !value_may_end
                    && self.raw.remainder().as_bytes().first().is_some_and(u8::is_ascii_digit) =>
            {
                self.raw.next();
                self.number().map(|token| match token {
                    Token::Number(n) => Token::Number(-n),
                    token => token,
                })?
            }
            Raw::Minus => Token::Minus,
            Raw::Arrow => {
                if self.entry_point == EntryPoint::Store {
                    self.mode = Mode::Target;
                }
                Token::Arrow
            }
            Raw::Star => Token::Star,
            Raw::Slash if !value_may_end && self.mode == Mode::Expression => self.regex()?,
            Raw::Slash => Token::Slash,
            Raw::Percent => Token::Percent,
            Raw::Question => Token::Question,
            Raw::Colon => {
                self.assigned = true;
                Token::Colon
            }
            Raw::Dot => Token::Dot,
            Raw::Comma => Token::Comma,
            Raw::Pipe => Token::Pipe,
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
        let (start, end) = (self.offset(span.start), self.offset(span.end));
        self.foreign_syntax.push(ForeignSyntax { start, end, replacement });
        token
    }

    fn number(&self) -> Result<Token<'a>, SyntaxErrorKind> {
        match self.raw.slice().trim_start_matches('-').parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Token::Number(number)),
            _ => Err(SyntaxErrorKind::NumberTooLarge),
        }
    }

    /// The rest of a regular expression, up to the slash that ends it and its flags.
    fn regex(&mut self) -> Result<Token<'a>, SyntaxErrorKind> {
        let rest = self.raw.remainder().as_bytes();
        let (mut escaped, mut class) = (false, false);
        let end = rest.iter().position(|&b| {
            let ends = b == b'\n' || (b == b'/' && !escaped && !class);
            if !escaped {
                match b {
                    b'[' => class = true,
                    b']' => class = false,
                    _ => {}
                }
            }
            escaped = b == b'\\' && !escaped;
            ends
        });
        match end.filter(|&end| end > 0 && rest.get(end) == Some(&b'/')) {
            Some(end) => {
                let after = rest.get(end + 1..).unwrap_or_default();
                let flags = after.iter().take_while(|b| b.is_ascii_alphabetic()).count();
                self.raw.bump(end + 1 + flags);
                Ok(Token::Regex(self.raw.slice()))
            }
            None => Err(SyntaxErrorKind::UnclosedRegex),
        }
    }

    fn word(&mut self, value_may_end: bool) -> Token<'a> {
        if self.previous == Token::Dot {
            if self.mode == Mode::Target {
                self.extend_over_stars();
            }
            return Token::Word(self.raw.slice());
        }
        if std::mem::take(&mut self.first)
            && let Some(keyword) = self.first_word()
        {
            return keyword;
        }
        match self.mode {
            Mode::Names => {
                self.extend_name();
                let word = self.raw.slice();
                if matches!(self.entry_point, EntryPoint::Call | EntryPoint::Signature) {
                    // Only the name of the tool may be one of these.
                    self.mode = Mode::Expression;
                }
                self.word_of_names(word).unwrap_or(Token::Word(word))
            }
            Mode::Target => {
                self.extend_over_stars();
                Token::Word(self.raw.slice())
            }
            Mode::Expression if value_may_end => self.infix_word(),
            Mode::Expression => self.operand_word(),
        }
    }

    /// A word where a value may stand.
    fn operand_word(&self) -> Token<'a> {
        let word = self.raw.slice();
        let Some(token) = constant_or_operator(word) else { return Token::Word(word) };
        // The name of a field or of an argument.
        let named = matches!(self.previous, Token::LeftBrace | Token::LeftParen | Token::Comma)
            && self.raw.remainder().trim_start().starts_with(':');
        if named { Token::Word(word) } else { token }
    }

    /// A word behind a value.
    fn infix_word(&mut self) -> Token<'a> {
        let word = self.raw.slice();
        let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
        match word.len() {
            2 if is("or") => Token::Or,
            2 if is("in") => Token::In,
            2 if is("is") => self.is_set(word),
            2 if is("as") && self.entry_point == EntryPoint::Transform => Token::As,
            3 if is("and") => Token::And,
            3 if is("not") => match self.peek_word(0) {
                Some((next, end)) if next.eq_ignore_ascii_case("in") => {
                    self.raw.bump(end);
                    Token::NotIn
                }
                _ => Token::Not,
            },
            3 if is("asc") && self.entry_point == EntryPoint::Sort => {
                Token::Direction(Direction::Ascending)
            }
            4 if is("desc") && self.entry_point == EntryPoint::Sort => {
                Token::Direction(Direction::Descending)
            }
            4 if is("into") && self.entry_point == EntryPoint::Transform => Token::Into,
            6 if is("before")
                && self.entry_point == EntryPoint::Constraint
                && self.nesting.brackets == 0 =>
            {
                self.mode = Mode::Names;
                Token::Before
            }
            7 if is("implies") => Token::Implies,
            7 if is("matches") => Token::Matches,
            8 if is("contains") => Token::Contains,
            8 if is("endsWith") => Token::EndsWith,
            9 if is("is_number") => Token::IsNumber,
            10 if is("startsWith") => Token::StartsWith,
            _ => Token::Word(word),
        }
    }

    /// `IS SET`, `IS NOT SET`.
    fn is_set(&mut self, word: &'a str) -> Token<'a> {
        match self.peek_word(0) {
            Some((set, end)) if set.eq_ignore_ascii_case("set") => {
                self.raw.bump(end);
                Token::IsSet
            }
            Some((not, end)) if not.eq_ignore_ascii_case("not") => match self.peek_word(end) {
                Some((set, end)) if set.eq_ignore_ascii_case("set") => {
                    self.raw.bump(end);
                    Token::IsNotSet
                }
                _ => Token::Word(word),
            },
            _ => Token::Word(word),
        }
    }

    /// The word that comes next in the rest after `from`, and where it ends.
    fn peek_word(&self, from: usize) -> Option<(&'a str, usize)> {
        let rest = self.raw.remainder().get(from..)?;
        let (word, end) = next_word(rest, is_word_part)?;
        Some((word, from + end))
    }

    /// The keywords that begin a leaf of some goals.
    fn first_word(&mut self) -> Option<Token<'a>> {
        let word = self.raw.slice();
        let find = |table: &[(&str, Token<'a>)]| {
            table.iter().find(|(w, _)| w.eq_ignore_ascii_case(word)).map(|(_, token)| *token)
        };
        let token = match self.entry_point {
            EntryPoint::Constraint => ConstraintKind::from_word(word).map(Token::Constraint),
            EntryPoint::RoutingRule => {
                find(&[("INTENT", Token::Intent), ("DEFAULT", Token::Default)])
            }
            EntryPoint::RouteAction => find(ROUTE_WORDS),
            EntryPoint::Protocol => find(&[("FROM", Token::From)]),
            EntryPoint::Action => return self.action_word(word),
            _ => None,
        };
        if token == Some(Token::RouteToVariable) {
            self.mode = Mode::Expression;
        }
        token
    }

    /// Whether the first word of an action is a keyword or the name of a step.
    fn action_word(&mut self, word: &'a str) -> Option<Token<'a>> {
        let kind = ActionKind::from_word(word)?;
        let rest = self.raw.remainder();
        if rest.starts_with(['-', '.']) && !rest.starts_with("->") {
            return None;
        }
        // In lower case, only two words are never taken for a step when they stand alone.
        let alone = rest.trim_start().is_empty();
        let upper = !word.bytes().any(|b| b.is_ascii_lowercase());
        let reserved = matches!(kind, ActionKind::Complete | ActionKind::Continue);
        (upper || reserved || !alone).then_some(Token::Action(kind))
    }

    /// The keywords inside of actions and protocol heads.
    fn word_of_names(&self, word: &str) -> Option<Token<'a>> {
        match self.entry_point {
            EntryPoint::Action if self.previous != Token::EntryPoint(self.entry_point) => {
                if word.eq_ignore_ascii_case("with") {
                    return Some(Token::With);
                }
                word.eq_ignore_ascii_case("to").then_some(Token::To)
            }
            EntryPoint::Protocol => word.eq_ignore_ascii_case("to").then_some(Token::To),
            _ => None,
        }
    }

    /// Takes `-x`, `.x` and the like into the word.
    fn extend_name(&mut self) {
        loop {
            let rest = self.raw.remainder();
            let joint = rest.bytes().take_while(|b| matches!(b, b'-' | b'.')).count();
            let part = rest
                .get(joint..)
                .unwrap_or_default()
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len() - joint);
            if joint == 0 || part == 0 {
                return;
            }
            self.raw.bump(joint + part);
        }
    }

    fn extend_over_stars(&mut self) {
        let stars = self.raw.remainder().bytes().take_while(|b| *b == b'*').count();
        self.raw.bump(stars);
    }

    /// `.0`, as in `match.0`, is a member; without this, `.0.1` would contain a number.
    fn numbered_member(&mut self) -> Option<Token<'a>> {
        if self.previous != Token::Dot {
            return None;
        }
        let digits = self.raw.remainder().bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return None;
        }
        // Behind the dot there is nothing to skip, so the digits are all that is bumped over.
        let start = self.raw.span().end;
        self.raw.bump(digits);
        Some(Token::Word(self.raw.source().get(start..start + digits)?))
    }

    /// Counts what nests.
    fn count(&mut self, token: Token<'a>) -> Result<Token<'a>, SyntaxErrorKind> {
        let nest = match token {
            Token::LeftParen | Token::LeftBracket | Token::LeftBrace => NestingEffect::Open,
            Token::RightParen | Token::RightBracket | Token::RightBrace => NestingEffect::Close,
            Token::Not | Token::Minus => NestingEffect::Prefix,
            _ => NestingEffect::Flat,
        };
        if self.nesting.count(nest) { Ok(token) } else { Err(SyntaxErrorKind::TooDeep) }
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = TokenResult<Token<'a>, SyntaxErrorKind>;

    fn next(&mut self) -> Option<Self::Item> {
        if !std::mem::replace(&mut self.started, true) {
            return Some(Ok((self.base, Token::EntryPoint(self.entry_point), self.base)));
        }
        let numbered = self.raw.span().end;
        let (start, token) = match self.numbered_member() {
            Some(token) => (numbered, Ok(token)),
            None => {
                let raw = self.raw.next()?;
                let start = self.raw.span().start;
                (
                    start,
                    raw.map_err(|()| SyntaxErrorKind::Character).and_then(|raw| self.token(raw)),
                )
            }
        };
        self.first = false;
        let (start, end) = (self.offset(start), self.offset(self.raw.span().end));
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

/// The keywords that actions of routing rules begin with.
const ROUTE_WORDS: &[(&str, Token<'static>)] = &[
    ("ROUTE_TO", Token::RouteTo),
    ("ROUTE_TO_USER", Token::RouteToUser),
    ("ROUTE_TO_VARIABLE", Token::RouteToVariable),
    ("END_CONVERSATION", Token::EndConversation),
    ("SYSTEM_ACTION", Token::SystemAction),
    ("INTENT_MATCH", Token::IntentMatch),
];

/// The words of [`ROUTE_WORDS`].
pub(crate) fn route_words() -> impl Iterator<Item = &'static str> {
    ROUTE_WORDS.iter().map(|(word, _)| *word)
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
            r"|([\p{Alphabetic}_$][\p{Alphabetic}\p{N}_$]*)",
            r"|(@[A-Za-z_][A-Za-z0-9_]*|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|[-+.,:?()≠≤≥→])",
            r"|(?s:(.))",
        ))
        .unwrap()
    });

    proptest! {
        #[test]
        fn words_end_where_unicode_says(text in text("[-+.,:?()@$^~]")) {
            let tokens = Raw::lexer(&text).spanned().map(|(raw, span)| match raw {
                Ok(Raw::Word) => (1, span),
                Ok(_) => (2, span),
                Err(()) => (3, span),
            });
            prop_assert_eq!(tokens.collect::<Vec<_>>(), reference(&REFERENCE, &text));
        }
    }
}
