//! Reads leaves: what stands behind a key or a keyword.

mod context;
mod lexer;
mod problems;

pub(crate) use context::{Parsed, escape};
pub(crate) use lexer::Goal;

use super::outline::Text;
use super::tree::Argument;
use crate::leaf::Leaf;
use crate::text::offset;
use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Name, Path, Segment};
use context::Context;
use lexer::Lexer;
use problems::Failure;
use smol_str::SmolStr;

grammars!(agent_script_leaf);

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
        if let Some(parsed) = plain_assignment(self.file, text, start, goal) {
            return Ok(parsed);
        }
        let leaf = Leaf::verbatim(text, self.file, start);
        let mut lexer = Lexer::new(text, goal);
        match grammar::agent_script_leaf::LeafParser::new().parse(&Context { leaf }, lexer.by_ref())
        {
            Ok(parsed) => {
                self.problems.extend(lexer.slips.iter().map(|slip| problems::slip(slip, &leaf)));
                Ok(parsed)
            }
            Err(error) => {
                let range = 0..text.len();
                Err(Box::new(Failure { leaf, range, goal, error, last: lexer.last }))
            }
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

/// What `text` assigns, if a single reference or constant is set, or given as the only argument. Most
/// assignments are such, and need no parser.
fn plain_assignment(file: FileId, text: &str, start: u32, goal: Goal) -> Option<Parsed> {
    if !matches!(goal, Goal::Set | Goal::With) {
        return None;
    }
    let sign = memchr::memchr(b'=', text.as_bytes())?;
    let (left, right) = (text.get(..sign)?, text.get(sign + 1..)?);
    let value = plain(file, right, start + offset(left.len() + 1))?;
    if goal == Goal::Set {
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

/// A name in letters of ASCII.
fn plain_name(file: FileId, text: &str, start: u32) -> Option<Spanned<Name>> {
    let first = text.bytes().next()?;
    let plain = (first.is_ascii_alphabetic() || first == b'_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let span = Span::new(file, start, start + offset(text.len()));
    plain.then(|| Spanned::new(Name::new(text), span))
}

/// `namespace.member.member`, in letters of ASCII.
fn plain_reference(text: &str, span: Span) -> Option<Expr> {
    let mut at = 0;
    // Names are short: nothing is faster than to look at each byte.
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
