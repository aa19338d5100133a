//! Reads leaves: what stands behind a key or a keyword.

use super::context::{Context, Error, Parsed};
use super::lexer::{Goal, Lexer};
use super::outline::Text;
use super::problems::{self, Failure};
use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::{Expr, Literal, Name, Path, Segment};
use smol_str::SmolStr;

#[allow(
    clippy::all,
    clippy::nursery,
    clippy::panic,
    clippy::pedantic,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    missing_docs,
    unused_imports,
    reason = "generated"
)]
mod grammar {
    lalrpop_util::lalrpop_mod!(pub(crate) agent_script_leaf);
}

/// A file that is being read, and where its problems go.
pub(crate) struct Reading<'p> {
    pub file: FileId,
    pub problems: &'p mut Vec<Diagnostic>,
}

impl Reading<'_> {
    /// Reads `text` as `goal`, or gives the reason why that fails.
    pub(crate) fn attempt<'a>(
        &mut self,
        text: &'a str,
        start: u32,
        goal: Goal,
    ) -> Result<Parsed, Box<Failure<'a>>> {
        let context = Context::new(self.file);
        let mut lexer = Lexer::new(text, start, goal);
        let result: Result<Parsed, Error<'a>> =
            grammar::agent_script_leaf::LeafParser::new().parse(&context, lexer.by_ref());
        match result {
            Ok(parsed) => {
                for slip in &lexer.slips {
                    self.problems.push(problems::slip(self.file, text, start, *slip));
                }
                Ok(parsed)
            }
            Err(error) => Err(Box::new(Failure {
                file: self.file,
                text,
                start,
                goal,
                error,
                last: lexer.last,
            })),
        }
    }

    /// Reads `text` as `goal` and reports what is wrong with it.
    pub(crate) fn leaf(&mut self, text: &str, start: u32, goal: Goal) -> Option<Parsed> {
        match self.attempt(text, start, goal) {
            Ok(parsed) => Some(parsed),
            Err(failure) => {
                self.problems.extend(failure.diagnostic());
                None
            }
        }
    }

    /// An expression. Most are one reference or one constant, and need no parser.
    pub(crate) fn expr(&mut self, text: &str, start: u32, goal: Goal) -> Option<Expr> {
        if let Some(expr) = plain(self.file, text, start) {
            return Some(expr);
        }
        match self.leaf(text, start, goal)? {
            Parsed::Value(expr) => Some(*expr),
            _ => None,
        }
    }

    /// What stands behind a key, as an expression.
    pub(crate) fn value(&mut self, text: &Text<'_>) -> Option<Expr> {
        self.expr(text.raw, text.start, Goal::Value)
    }
}

/// A problem with an escape that does not exist.
pub(crate) fn bad_escape(span: Span, rest: Option<&str>) -> Diagnostic {
    problems::bad_escape(span, rest.and_then(|r| r.get(..2)).unwrap_or("\\"))
}

/// The expression that `text` is, if it is a single reference or constant.
pub(crate) fn plain(file: FileId, text: &str, start: u32) -> Option<Expr> {
    let trimmed = text.trim_start();
    let start = start + super::layout::offset(text.len() - trimmed.len());
    let text = trimmed.trim_end();
    let span = Span::new(file, start, start + super::layout::offset(text.len()));
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

/// `namespace.member.member`, in letters of ASCII.
fn plain_reference(text: &str, span: Span) -> Option<Expr> {
    let mut at = span.start + 1;
    let mut name = |text: &str| {
        let first = text.bytes().next()?;
        let plain = (first.is_ascii_alphabetic() || first == b'_')
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let start = at;
        at = start + super::layout::offset(text.len()) + 1;
        plain.then(|| Spanned::new(Name::new(text), Span::new(span.file, start, at - 1)))
    };
    let mut names = text.split('.');
    let namespace = Some(name(names.next()?)?);
    let root = name(names.next()?)?;
    let segments = names.map(|n| name(n).map(Segment::Field)).collect::<Option<Vec<_>>>()?;
    Some(Expr::path(Path { namespace, root, segments }, span))
}
