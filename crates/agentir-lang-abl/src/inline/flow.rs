//! Parses inline collections: `[a, b]`, `{a: b, c}`. The grammar is `grammars/abl/flow.lalrpop`.

use super::context::Context;
use super::errors::INVALID_VALUE;
use super::grammar::flow::ValueParser;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_syntax::inline::{ExprBuilder, InlineText};
use agentir_syntax::text::offset;
use lalrpop_util::ParseError;
use memchr::memmem;

/// The maximum nesting depth of collections.
const MAX_DEPTH: usize = 64;

/// A scalar or a collection.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow<'a> {
    /// The kind.
    pub kind: FlowKind<'a>,
    /// The location in the source.
    pub span: Span,
}

/// The kinds of [`Flow`].
#[derive(Clone, Debug, PartialEq)]
pub enum FlowKind<'a> {
    /// A scalar as written, with quotes.
    Scalar(&'a str),
    /// `[a, b]`.
    List(Vec<Flow<'a>>),
    /// `{a, b: c}`.
    Map(Vec<FlowEntry<'a>>),
}

/// An entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowEntry<'a> {
    /// The key, without quotes.
    pub key: Spanned<&'a str>,
    /// The value, if written.
    pub value: Option<Flow<'a>>,
}

/// A value that may be a collection. An invalid one is a single scalar.
pub fn flow_collection<'a>(input: InlineText<'a>, problems: &mut Vec<Diagnostic>) -> Flow<'a> {
    let range = input.trimmed();
    let text = input.text.get(range.clone()).unwrap_or_default();
    let span = input.origin.span(range.clone());
    let plain = Flow { kind: FlowKind::Scalar(text), span };
    if !text.starts_with(['[', '{']) {
        return plain;
    }
    let context = Context { input };
    let mut lexer = Lexer::new(text, range.start);
    match ValueParser::new().parse(&context, lexer.by_ref()) {
        Ok(flow) => {
            if let Some(at) = lexer.unclosed {
                let at = at as usize;
                let open = input.text.get(at..=at).unwrap_or_default();
                problems.push(Diagnostic::error(
                    INVALID_VALUE,
                    input.origin.span(at..at + 1),
                    format!("`{open}` is never closed"),
                ));
            }
            flow
        }
        Err(error) => {
            problems.push(problem(input, &error));
            plain
        }
    }
}

fn problem(input: InlineText<'_>, error: &ParseError<u32, Token<'_>, SyntaxError>) -> Diagnostic {
    let at = |start: u32, end: u32| input.span_of(start, end);
    match error {
        ParseError::User { error: SyntaxError::TooDeep(start) } => Diagnostic::error(
            INVALID_VALUE,
            at(*start, start + 1),
            format!("lists and maps may be nested at most {MAX_DEPTH} levels deep"),
        ),
        ParseError::User { error: SyntaxError::UnclosedQuote(start) } => Diagnostic::error(
            INVALID_VALUE,
            at(*start, start + 1),
            "this string has no closing quote",
        ),
        ParseError::UnrecognizedToken { token: (start, _, end), .. }
        | ParseError::ExtraToken { token: (start, _, end) } => {
            let found = input.slice(*start, *end);
            Diagnostic::error(INVALID_VALUE, at(*start, *end), format!("unexpected `{found}`"))
                .help("a list is written `[a, b]` and a map `{a: b}`; put other strings in quotes")
        }
        ParseError::UnrecognizedEof { location, .. } | ParseError::InvalidToken { location } => {
            let message = "this list or map is incomplete";
            Diagnostic::error(INVALID_VALUE, at(*location, *location), message)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Scalar(&'a str),
    Quoted(&'a str),
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Colon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxError {
    TooDeep(u32),
    UnclosedQuote(u32),
}

/// An unquoted text as a key.
pub(crate) fn key<'a>(ctx: &Context<'a>, start: u32, text: &'a str, end: u32) -> Spanned<&'a str> {
    Spanned::new(text, ctx.span(start, end))
}

/// A quoted text as a key.
pub(crate) fn quoted<'a>(
    ctx: &Context<'a>,
    start: u32,
    text: &'a str,
    end: u32,
) -> Spanned<&'a str> {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    Spanned::new(inner, ctx.span(start + 1, end.saturating_sub(1)))
}

/// Lexes a collection. Written by hand, since the end of an unquoted text depends on what follows.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
    base: usize,
    /// The open brackets and their offsets.
    open: Vec<(Token<'a>, u32)>,
    /// The outermost bracket that was closed implicitly at the end.
    unclosed: Option<u32>,
    after_quoted: bool,
    no_more_placeholders: bool,
}

impl<'a> Lexer<'a> {
    const fn new(text: &'a str, base: usize) -> Self {
        Self {
            text,
            at: 0,
            base,
            open: Vec::new(),
            unclosed: None,
            after_quoted: false,
            no_more_placeholders: false,
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn token(&mut self) -> Option<Result<Token<'a>, SyntaxError>> {
        let at = offset(self.base + self.at);
        let token = match self.byte(self.at) {
            Some(b'"') => {
                return Some(self.double_quoted().ok_or(SyntaxError::UnclosedQuote(at)));
            }
            Some(b'\'') if let Some(token) = self.single_quoted() => return Some(Ok(token)),
            Some(b'[') => Token::LeftBracket,
            Some(b'{') if self.hole_length(self.at).is_none() => Token::LeftBrace,
            Some(b']') => Token::RightBracket,
            Some(b'}') => Token::RightBrace,
            Some(b',') => Token::Comma,
            Some(b':') if self.after_quoted || self.ends_key(self.at) => Token::Colon,
            Some(_) => return Some(Ok(self.scalar())),
            None => return self.missing_bracket().map(Ok),
        };
        self.at += 1;
        match token {
            Token::LeftBracket | Token::LeftBrace => {
                self.open.push((token, at));
                if self.open.len() > MAX_DEPTH {
                    return Some(Err(SyntaxError::TooDeep(at)));
                }
            }
            Token::RightBracket | Token::RightBrace => {
                self.open.pop();
            }
            _ => {}
        }
        Some(Ok(token))
    }

    fn missing_bracket(&mut self) -> Option<Token<'a>> {
        let (open, at) = self.open.pop()?;
        self.unclosed = Some(at);
        Some(if open == Token::LeftBracket { Token::RightBracket } else { Token::RightBrace })
    }

    fn double_quoted(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        let mut escaped = false;
        let length = self.text.as_bytes().get(start + 1..)?.iter().position(|&b| {
            let closes = b == b'"' && !escaped;
            escaped = b == b'\\' && !escaped;
            closes
        })?;
        self.at = start + length + 2;
        Some(Token::Quoted(self.slice(start, self.at)))
    }

    /// `'text'`, unless the apostrophe only starts a word.
    fn single_quoted(&mut self) -> Option<Token<'a>> {
        let rest = self.text.get(self.at + 1..)?;
        let length = memchr::memchr(b'\'', rest.as_bytes())?;
        let after = rest.get(length + 1..)?.trim_start();
        if !(after.is_empty() || after.starts_with([',', ']', '}', ':'])) {
            return None;
        }
        let start = self.at;
        self.at += length + 2;
        Some(Token::Quoted(self.slice(start, self.at)))
    }

    /// Whether the colon at `at` ends a key: nothing that continues a text follows.
    fn ends_key(&self, at: usize) -> bool {
        self.byte(at + 1).is_none_or(|b| {
            b.is_ascii_whitespace() || matches!(b, b',' | b']' | b'}' | b'[' | b'{' | b'"')
        })
    }

    /// The length of the placeholder `{{…}}` at `at`, if there is one.
    fn hole_length(&mut self, at: usize) -> Option<usize> {
        let rest = self.text.get(at..)?;
        if self.no_more_placeholders || !rest.starts_with("{{") {
            return None;
        }
        let end = memmem::find(rest.as_bytes(), b"}}");
        self.no_more_placeholders = end.is_none();
        end.map(|end| end + 2)
    }

    /// The length of the arguments at `at`, for a text such as `min(1, 2)`.
    fn arguments_length(&self, at: usize) -> Option<usize> {
        const MAX_DISTANCE: usize = 256;
        let called = at.checked_sub(1).and_then(|i| self.byte(i))?;
        if !(called.is_ascii_alphanumeric() || called == b'_') {
            return None;
        }
        let mut depth = 0usize;
        for (i, b) in self.text.as_bytes().get(at..)?.iter().take(MAX_DISTANCE).enumerate() {
            match b {
                b'(' => depth += 1,
                b')' if depth <= 1 => return Some(i + 1),
                b')' => depth -= 1,
                b'[' | b']' | b'{' | b'}' | b'\n' => return None,
                _ => {}
            }
        }
        None
    }

    fn scalar(&mut self) -> Token<'a> {
        let start = self.at;
        while let Some(byte) = self.byte(self.at) {
            let length = match byte {
                // A type: `Hotel[]`.
                b'[' if self.at > start && self.byte(self.at + 1) == Some(b']') => 2,
                b',' | b'[' | b']' | b'}' | b'"' => break,
                b'{' => match self.hole_length(self.at) {
                    Some(length) => length,
                    None => break,
                },
                b'(' => self.arguments_length(self.at).unwrap_or(1),
                b':' if self.ends_key(self.at) => break,
                _ => 1,
            };
            self.at += length;
        }
        Token::Scalar(self.slice(start, self.at).trim_end())
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Result<(u32, Token<'a>, u32), SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.byte(self.at).is_some_and(|b| b.is_ascii_whitespace()) {
            self.at += 1;
        }
        let start = self.at;
        let token = match self.token()? {
            Ok(token) => token,
            Err(error) => return Some(Err(error)),
        };
        self.after_quoted = matches!(token, Token::Quoted(_));
        let end = match token {
            Token::Scalar(text) => start + text.len(),
            _ => self.at,
        };
        Some(Ok((offset(self.base + start), token, offset(self.base + end))))
    }
}
