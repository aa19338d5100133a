//! Shared grammar actions: spans, and nodes with a checked depth.

use super::{InlineText, SyntaxError};
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use lalrpop_util::ParseError;

/// An inline language.
pub trait InlineLanguage: Sized + 'static {
    /// The tokens of its grammar.
    type Token<'a>;
    /// The kinds of syntax errors found by its lexer and grammar actions.
    type Kind: Copy;
    /// The error for nesting that is too deep.
    const TOO_DEEP: Self::Kind;
}

/// Why a parser stopped.
pub type Error<'a, L> =
    ParseError<u32, <L as InlineLanguage>::Token<'a>, SyntaxError<<L as InlineLanguage>::Kind>>;

type Result<'a, L, T> = std::result::Result<T, Error<'a, L>>;

/// Unboxes the items of a list. LALRPOP's large values are boxed (see the header of
/// `grammars/abl/inline.lalrpop`).
pub fn unboxed<T>(items: Vec<Box<T>>) -> Vec<T> {
    items.into_iter().map(|item| *item).collect()
}

/// An error of a grammar action.
pub const fn syntax_error<'a, L: InlineLanguage>(
    kind: L::Kind,
    start: u32,
    end: u32,
) -> Error<'a, L> {
    ParseError::User { error: SyntaxError { kind, start, end } }
}

/// Builds expression nodes. Implemented by the context of each inline grammar.
pub trait ExprBuilder<'a> {
    /// The language.
    type InlineLanguage: InlineLanguage;

    /// The text being parsed.
    fn input(&self) -> InlineText<'a>;

    /// A span in the file.
    fn span(&self, start: u32, end: u32) -> Span {
        self.input().span_of(start, end)
    }

    /// A part of the text.
    fn slice(&self, start: u32, end: u32) -> &'a str {
        self.input().slice(start, end)
    }

    /// A node, unless it is nested too deeply.
    fn node(
        &self,
        start: u32,
        end: u32,
        kind: ExprKind,
    ) -> Result<'a, Self::InlineLanguage, Box<Expr>> {
        match Expr::new(kind, self.span(start, end)) {
            Ok(expr) => Ok(Box::new(expr)),
            Err(_) => Err(syntax_error::<Self::InlineLanguage>(
                Self::InlineLanguage::TOO_DEEP,
                start,
                end,
            )),
        }
    }

    /// `-x`, `not x`.
    fn unary(
        &self,
        start: u32,
        end: u32,
        op: UnaryOp,
        operand: Box<Expr>,
    ) -> Result<'a, Self::InlineLanguage, Box<Expr>> {
        self.node(start, end, ExprKind::Unary { op, operand })
    }

    /// `x + y`, `x == y`.
    fn binary(
        &self,
        start: u32,
        end: u32,
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    ) -> Result<'a, Self::InlineLanguage, Box<Expr>> {
        self.node(start, end, ExprKind::Binary { op, left, right })
    }

    /// `(x)`: `x` with a wider span.
    fn parenthesized(&self, start: u32, end: u32, mut inner: Box<Expr>) -> Box<Expr> {
        inner.span = self.span(start, end);
        inner
    }
}
