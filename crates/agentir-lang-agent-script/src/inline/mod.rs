//! Parses Agent Script's inline languages: the text after a key or a keyword.

mod context;
mod errors;
mod following;
mod lexer;

pub(crate) use context::{Parsed, escape};
pub(crate) use errors::AgentScript;
pub(crate) use lexer::EntryPoint;

use super::outline::Text;
use super::tree::Argument;
use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Name, Path, Segment};
use agentir_syntax::inline::InlineText;
use agentir_syntax::text::offset;
use context::Context;
use errors::ParseFailure;
use lexer::Lexer;
pub(crate) use lexer::is_word;
use smol_str::SmolStr;

agentir_syntax::grammars!(inline);

/// The file being read, and its diagnostics.
pub(crate) struct Reading<'p> {
    pub file: FileId,
    pub problems: &'p mut Vec<Diagnostic>,
}

impl Reading<'_> {
    /// Parses `text` with an entry point.
    pub(crate) fn attempt<'a>(
        &mut self,
        text: &'a str,
        start: u32,
        entry_point: EntryPoint,
    ) -> Result<Parsed, Box<ParseFailure<'a>>> {
        if let Some(parsed) = plain_assignment(self.file, text, start, entry_point) {
            return Ok(parsed);
        }
        let input = InlineText::verbatim(text, self.file, start);
        let mut lexer = Lexer::new(text, entry_point);
        match grammar::inline::InlineParser::new().parse(&Context { input }, lexer.by_ref()) {
            Ok(parsed) => {
                self.problems.extend(
                    lexer.foreign_syntax.iter().map(|form| errors::foreign_syntax(form, &input)),
                );
                Ok(parsed)
            }
            Err(error) => {
                let range = 0..text.len();
                Err(Box::new(ParseFailure { input, range, entry_point, error, last: lexer.last }))
            }
        }
    }

    /// Parses `text` with an entry point and reports errors.
    pub(crate) fn parse(
        &mut self,
        text: &str,
        start: u32,
        entry_point: EntryPoint,
    ) -> Option<Parsed> {
        match self.attempt(text, start, entry_point) {
            Ok(parsed) => Some(parsed),
            Err(failure) => {
                self.problems.extend(failure.diagnostic());
                None
            }
        }
    }

    /// An expression. Most are a single reference or constant and need no parser.
    pub(crate) fn expr(&mut self, text: &str, start: u32, entry_point: EntryPoint) -> Option<Expr> {
        if let Some(expr) = plain(self.file, text, start) {
            return Some(expr);
        }
        match self.parse(text, start, entry_point)? {
            Parsed::Value(expr) => Some(*expr),
            _ => None,
        }
    }

    /// The value after a key, as an expression.
    pub(crate) fn value(&mut self, text: &Text<'_>) -> Option<Expr> {
        self.expr(text.raw, text.start, EntryPoint::Value)
    }
}

/// The diagnostic of an unknown escape.
pub(crate) fn bad_escape(span: Span, rest: Option<&str>) -> Diagnostic {
    errors::bad_escape(span, rest.and_then(|r| r.get(..2)).unwrap_or("\\"))
}

/// The expression, if `text` is a single reference or constant.
pub(crate) fn plain(file: FileId, text: &str, start: u32) -> Option<Expr> {
    let trimmed = text.trim_start();
    let start = start + offset(text.len() - trimmed.len());
    let text = trimmed.trim_end();
    let span = Span::new(file, start, start + offset(text.len()));
    match text.as_bytes().first()? {
        b'@' => plain_reference(text.get(1..)?, span),
        b'"' => {
            let inner = text.get(1..)?.strip_suffix('"')?;
            let plain = memchr::memchr3(b'"', b'\\', b'\n', inner.as_bytes()).is_none();
            plain.then(|| Expr::literal(Literal::String(SmolStr::new(inner)), span))
        }
        b'T' if text == "True" => Some(Expr::literal(Literal::Bool(true), span)),
        b'F' if text == "False" => Some(Expr::literal(Literal::Bool(false), span)),
        b'N' if text == "None" => Some(Expr::literal(Literal::Null, span)),
        _ => None,
    }
}

/// The assignment, if a single reference or constant is assigned, or is the only argument. Most are, and
/// need no parser.
fn plain_assignment(
    file: FileId,
    text: &str,
    start: u32,
    entry_point: EntryPoint,
) -> Option<Parsed> {
    if !matches!(entry_point, EntryPoint::Set | EntryPoint::With) {
        return None;
    }
    let sign = memchr::memchr(b'=', text.as_bytes())?;
    let (left, right) = (text.get(..sign)?, text.get(sign + 1..)?);
    let value = plain(file, right, start + offset(left.len() + 1))?;
    if entry_point == EntryPoint::Set {
        let target = plain(file, left, start)?;
        let ExprKind::Path(path) = target.kind else { return None };
        return Some(Parsed::Set(Spanned::new(path, target.span).into(), value.into()));
    }
    let name = left.trim_start();
    let start = start + offset(left.len() - name.len());
    let name = plain_name(file, name.trim_end(), start)?;
    let span = name.span.to(value.span);
    Some(Parsed::With(vec![Argument { name, value, span }]))
}

/// An ASCII name.
fn plain_name(file: FileId, text: &str, start: u32) -> Option<Spanned<Name>> {
    let first = text.bytes().next()?;
    let plain = (first.is_ascii_alphabetic() || first == b'_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let span = Span::new(file, start, start + offset(text.len()));
    plain.then(|| Spanned::new(Name::new(text), span))
}

/// `namespace.member.member` in ASCII.
fn plain_reference(text: &str, span: Span) -> Option<Expr> {
    let mut at = 0;
    // Names are short, so inspecting each byte is fastest.
    let mut names = text.as_bytes().split(|byte| *byte == b'.').map(|name| {
        let from = at;
        at += name.len() + 1;
        plain_name(span.file, text.get(from..from + name.len())?, span.start + 1 + offset(from))
    });
    let namespace = Some(names.next()??);
    let root = names.next()??;
    let segments = names.map(|name| name.map(Segment::Field)).collect::<Option<Vec<_>>>()?;
    Some(Expr::path(Path { namespace, root, segments }, span))
}
