//! The context of actions in `grammars/adl/inline.lalrpop`.

use super::Adl;
use super::lexer::{SyntaxErrorKind, Verb};
use agentir_diagnostics::Spanned;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Path, UnaryOp};
use agentir_syntax::inline::{ExprBuilder, InlineText, syntax_error, unescaped_leniently};
use smol_str::SmolStr;
use std::cell::RefCell;

/// The result of parsing with one of the entry points.
#[derive(Debug)]
pub(crate) enum Parsed {
    Intent(Intent),
    Expr(Box<Expr>),
    Path(Spanned<Path>),
    /// Whether `ref` precedes the path.
    Reference(bool, Spanned<Path>),
    Return((Spanned<Name>, Option<Spanned<Name>>)),
}

/// `the user claims "…", "…"`.
#[derive(Debug)]
pub(crate) struct Intent {
    pub verb: Verb,
    pub examples: Vec<Spanned<Name>>,
    /// The operand joined to it by `and` or `or`.
    pub rest: Option<Box<Expr>>,
}

pub(crate) type Error<'a> = agentir_syntax::inline::Error<'a, Adl>;
type Result<'a, T> = std::result::Result<T, Error<'a>>;

/// A pattern of `re.match`.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub text: Spanned<SmolStr>,
    /// Whether it is written as `r"…"`.
    pub raw: bool,
}

/// The text being parsed.
pub(crate) struct Context<'a> {
    pub input: InlineText<'a>,
    /// The patterns in it, to be checked by the caller.
    pub patterns: RefCell<Vec<Pattern>>,
}

impl<'a> ExprBuilder<'a> for Context<'a> {
    type InlineLanguage = Adl;

    fn input(&self) -> InlineText<'a> {
        self.input
    }
}

impl<'a> Context<'a> {
    /// `==` and `!=`. A comparison with `None` is a test for a value; any other `!=` is the negation of `==`,
    /// also if a side is unset.
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
        if negated { self.unary(start, end, UnaryOp::Not, equal) } else { Ok(equal) }
    }

    pub(crate) fn and(&self, left: Expr, right: Expr) -> Result<'a, Box<Expr>> {
        Expr::and(left, right)
            .map(Box::new)
            .map_err(|_| syntax_error::<Adl>(SyntaxErrorKind::TooDeep, 0, 0))
    }

    pub(crate) fn or(&self, left: Expr, right: Expr) -> Result<'a, Box<Expr>> {
        Expr::or(left, right)
            .map(Box::new)
            .map_err(|_| syntax_error::<Adl>(SyntaxErrorKind::TooDeep, 0, 0))
    }

    /// `re.match(pattern, value)`: the pattern must match at the start of the value.
    pub(crate) fn matches(
        &self,
        start: u32,
        end: u32,
        pattern: Spanned<(&'a str, bool)>,
        operand: Box<Expr>,
    ) -> Result<'a, Box<Expr>> {
        let (literal, raw) = pattern.value;
        let quoted = if raw { literal.get(1..).unwrap_or_default() } else { literal };
        // Python keeps unknown escapes, and patterns use no others than `\\`.
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

    /// The value of a string literal, in plain or typographic quotes.
    pub(crate) fn unquoted(&self, literal: &str) -> SmolStr {
        unescaped_leniently(strip(literal), |c| matches!(c, '"' | '\'' | '\\').then_some(c))
    }
}

/// A literal without its first and last character.
pub(super) fn strip(literal: &str) -> &str {
    let mut chars = literal.chars();
    chars.next();
    chars.next_back();
    chars.as_str()
}
