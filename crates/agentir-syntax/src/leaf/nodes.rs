//! What the actions of leaf grammars share: places, and nodes that are checked for depth.

use super::{Fault, Leaf};
use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Expr, ExprKind, UnaryOp};
use lalrpop_util::ParseError;

/// A leaf language, as far as building its tree can go wrong.
pub(crate) trait Language: Sized + 'static {
    /// The tokens of its grammar.
    type Token<'a>;
    /// What its lexer and the actions of its grammar refuse.
    type Kind: Copy;
    /// What nests too deep.
    const TOO_DEEP: Self::Kind;
}

/// Why a parser stopped.
pub(crate) type Error<'a, L> =
    ParseError<u32, <L as Language>::Token<'a>, Fault<<L as Language>::Kind>>;

type Result<'a, L, T> = std::result::Result<T, Error<'a, L>>;

/// The items of a list out of the boxes they came in: what LALRPOP hands over is boxed where it is
/// larger than a few words (see the head of `abl_leaf.lalrpop`).
pub(crate) fn unboxed<T>(items: Vec<Box<T>>) -> Vec<T> {
    items.into_iter().map(|item| *item).collect()
}

/// An error of a grammar's action.
pub(crate) const fn fault<'a, L: Language>(kind: L::Kind, start: u32, end: u32) -> Error<'a, L> {
    ParseError::User { error: Fault { kind, start, end } }
}

/// Builds the nodes of expressions. The context of each leaf grammar is one.
pub(crate) trait Nodes<'a> {
    /// The language that is read.
    type Language: Language;

    /// The leaf that is read.
    fn leaf(&self) -> Leaf<'a>;

    /// A place in the file.
    fn span(&self, start: u32, end: u32) -> Span {
        self.leaf().place(start, end)
    }

    /// A part of the text.
    fn slice(&self, start: u32, end: u32) -> &'a str {
        self.leaf().slice(start, end)
    }

    /// A node, unless it is too deep.
    fn node(&self, start: u32, end: u32, kind: ExprKind) -> Result<'a, Self::Language, Box<Expr>> {
        match Expr::new(kind, self.span(start, end)) {
            Ok(expr) => Ok(Box::new(expr)),
            Err(_) => Err(fault::<Self::Language>(Self::Language::TOO_DEEP, start, end)),
        }
    }

    /// `-x`, `not x`.
    fn unary(
        &self,
        start: u32,
        end: u32,
        op: UnaryOp,
        operand: Box<Expr>,
    ) -> Result<'a, Self::Language, Box<Expr>> {
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
    ) -> Result<'a, Self::Language, Box<Expr>> {
        self.node(start, end, ExprKind::Binary { op, left, right })
    }

    /// `(x)`, which is `x` with a wider place.
    fn parenthesized(&self, start: u32, end: u32, mut inner: Box<Expr>) -> Box<Expr> {
        inner.span = self.span(start, end);
        inner
    }
}
