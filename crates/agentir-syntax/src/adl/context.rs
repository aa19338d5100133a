//! What the actions of `adl_leaf.lalrpop` need.

use super::lexer::{Fault, FaultKind, Token, Verb};
use crate::leaf::Leaf;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Path, UnaryOp};
use lalrpop_util::ParseError;
use smol_str::SmolStr;
use std::cell::RefCell;

/// A string read as one of the goals.
#[derive(Debug)]
pub(crate) enum Parsed {
    Intent(Intent),
    Expr(Box<Expr>),
    Path(Spanned<Path>),
    /// Whether `ref` stands before the path.
    Reference(bool, Spanned<Path>),
    Return((Spanned<Name>, Option<Spanned<Name>>)),
}

/// `the user claims "…", "…"`.
#[derive(Debug)]
pub(crate) struct Intent {
    pub verb: Verb,
    pub examples: Vec<Spanned<Name>>,
    /// What is joined to it by `and` or `or`.
    pub rest: Option<Box<Expr>>,
}

pub(crate) type Error<'a> = ParseError<u32, Token<'a>, Fault>;
type Result<'a, T> = std::result::Result<T, Error<'a>>;

/// A pattern of `re.match`.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub text: Spanned<SmolStr>,
    /// Whether it is written as `r"…"`.
    pub raw: bool,
}

/// The string that is being read.
pub(crate) struct Context<'a> {
    pub leaf: Leaf<'a>,
    /// The patterns in it, for whoever checks them.
    pub patterns: RefCell<Vec<Pattern>>,
}

const fn too_deep<'a>(start: u32, end: u32) -> Error<'a> {
    ParseError::User { error: Fault { kind: FaultKind::TooDeep, start, end } }
}

impl<'a> Context<'a> {
    pub(crate) fn span(&self, start: u32, end: u32) -> Span {
        self.leaf.origin.span(start as usize..end as usize)
    }

    pub(crate) fn slice(&self, start: u32, end: u32) -> &'a str {
        self.leaf.text.get(start as usize..end as usize).unwrap_or_default()
    }

    fn node(&self, start: u32, end: u32, kind: ExprKind) -> Result<'a, Box<Expr>> {
        match Expr::new(kind, self.span(start, end)) {
            Ok(expr) => Ok(Box::new(expr)),
            Err(_) => Err(too_deep(start, end)),
        }
    }

    pub(crate) fn negated(
        &self,
        start: u32,
        end: u32,
        operand: Box<Expr>,
    ) -> Result<'a, Box<Expr>> {
        self.node(start, end, ExprKind::Unary { op: UnaryOp::Not, operand })
    }

    pub(crate) fn binary(
        &self,
        start: u32,
        end: u32,
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    ) -> Result<'a, Box<Expr>> {
        self.node(start, end, ExprKind::Binary { op, left, right })
    }

    /// `==` and `!=`. A comparison with `None` asks whether there is a value; any other `!=` is the
    /// negation of `==`, also where a side has no value.
    pub(crate) fn equal(
        &self,
        start: u32,
        end: u32,
        left: Box<Expr>,
        right: Box<Expr>,
        negated: bool,
    ) -> Result<'a, Box<Expr>> {
        let none = |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::Null));
        if none(&right) || none(&left) {
            let operand = if none(&right) { left } else { right };
            // `x != None` is `x IS SET`.
            return self.node(start, end, ExprKind::IsSet { operand, negated: !negated });
        }
        let equal = self.binary(start, end, BinaryOp::Equal, left, right)?;
        if negated { self.negated(start, end, equal) } else { Ok(equal) }
    }

    pub(crate) fn and(&self, left: Expr, right: Expr) -> Result<'a, Box<Expr>> {
        Expr::and(left, right).map(Box::new).map_err(|_| too_deep(0, 0))
    }

    pub(crate) fn or(&self, left: Expr, right: Expr) -> Result<'a, Box<Expr>> {
        Expr::or(left, right).map(Box::new).map_err(|_| too_deep(0, 0))
    }

    pub(crate) fn parenthesized(&self, start: u32, end: u32, mut inner: Box<Expr>) -> Box<Expr> {
        inner.span = self.span(start, end);
        inner
    }

    /// `re.match(pattern, value)`: the pattern must fit from the start of the value.
    pub(crate) fn matches(
        &self,
        start: u32,
        end: u32,
        pattern: Spanned<(&'a str, bool)>,
        operand: Box<Expr>,
    ) -> Result<'a, Box<Expr>> {
        let (literal, raw) = pattern.value;
        let quoted = if raw { literal.get(1..).unwrap_or_default() } else { literal };
        // Python keeps escapes it does not know, and patterns use no others than `\\`.
        let text = strip(quoted);
        let anchored = if text.starts_with('^') {
            SmolStr::new(text)
        } else {
            SmolStr::from_iter(["^(?:", text, ")"])
        };
        let regex = Expr::literal(Literal::Regex(anchored), pattern.span);
        self.patterns
            .borrow_mut()
            .push(Pattern { text: Spanned::new(SmolStr::new(text), pattern.span), raw });
        self.binary(start, end, BinaryOp::Matches, operand, Box::new(regex))
    }

    /// The text of a string literal, in plain or typographic quotes.
    pub(crate) fn unquoted(&self, literal: &str) -> SmolStr {
        let inner = strip(literal);
        if !inner.contains('\\') {
            return SmolStr::new(inner);
        }
        let mut text = String::with_capacity(inner.len());
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            match (c, chars.clone().next()) {
                ('\\', Some(quoted @ ('"' | '\'' | '\\'))) => {
                    text.push(quoted);
                    chars.next();
                }
                _ => text.push(c),
            }
        }
        text.into()
    }
}

/// A literal without its first and last character.
fn strip(literal: &str) -> &str {
    let mut chars = literal.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}
