//! The context of actions in `grammars/agent-script/inline.lalrpop`: spans, unescaped strings, and nodes with a
//! checked depth.

#![expect(
    clippy::boxed_local,
    clippy::vec_box,
    reason = "what LALRPOP hands over is boxed, see the start of the grammar"
)]

use super::super::tree::{Argument, Declared, Target};
use super::errors::AgentScript;
use super::lexer::SyntaxErrorKind;
use agentir_diagnostics::Spanned;
use agentir_expr::{Expr, ExprKind, Literal, Name, Path, Segment, TypeExpr, TypeKind};
use agentir_syntax::inline::{
    ExprBuilder, InlineText, syntax_error, unboxed, unescaped, whole_number,
};
use agentir_syntax::text::offset;
use smol_str::SmolStr;

/// The result of parsing with one of the entry points.
#[derive(Debug)]
pub(crate) enum Parsed {
    Value(Box<Expr>),
    /// A condition, and whether its colon is there.
    Condition(Box<Expr>, bool),
    Set(Box<Target>, Box<Expr>),
    With(Vec<Argument>),
    Targets(Vec<Target>),
    Reference(Box<Target>),
    Declaration(Box<Declared>),
    Binding(Box<Expr>, Vec<Target>),
}

impl Parsed {
    pub(crate) fn list(first: Box<Target>, rest: Vec<Box<Target>>) -> Vec<Target> {
        std::iter::once(*first).chain(unboxed(rest)).collect()
    }

    pub(crate) fn targets(first: Box<Target>, rest: Vec<Box<Target>>) -> Self {
        Self::Targets(Self::list(first, rest))
    }

    pub(crate) fn declaration(
        modifier: Option<Spanned<Name>>,
        ty: Box<TypeExpr>,
        value: Option<Box<Expr>>,
    ) -> Self {
        Self::Declaration(Declared { modifier, ty: *ty, value: value.map(|v| *v) }.into())
    }
}

/// Why the parser stopped.
pub(crate) type Error<'a> = agentir_syntax::inline::Error<'a, AgentScript>;
type Result<'a, T> = std::result::Result<T, Error<'a>>;

/// The text being parsed.
pub(crate) struct Context<'a> {
    pub input: InlineText<'a>,
}

impl<'a> ExprBuilder<'a> for Context<'a> {
    type InlineLanguage = AgentScript;

    fn input(&self) -> InlineText<'a> {
        self.input
    }
}

impl<'a> Context<'a> {
    /// `@namespace.member.member`, which the lexer has validated.
    pub(crate) fn reference(&self, start: u32, end: u32, text: &str) -> Box<Expr> {
        let mut at = start + 1;
        let mut names = text.get(1..).unwrap_or_default().split('.').map(|name| {
            let from = at;
            let to = from.saturating_add(offset(name.len()));
            at = to.saturating_add(1);
            Spanned::new(Name::new(name), self.span(from, to))
        });
        let namespace = names.next();
        let root = names.next().unwrap_or_default();
        let segments = names.map(Segment::Field).collect();
        Expr::path(Path { namespace, root, segments }, self.span(start, end)).into()
    }

    /// A bare name.
    pub(crate) fn word(&self, start: u32, end: u32, name: &str) -> Box<Expr> {
        let span = self.span(start, end);
        Expr::path(Path::variable(Spanned::new(Name::new(name), span)), span).into()
    }

    /// `base.name`, `base[0]`: extends the path of the base.
    pub(crate) fn member(
        &self,
        start: u32,
        end: u32,
        mut base: Box<Expr>,
        segment: Segment,
    ) -> Result<'a, Box<Expr>> {
        if let ExprKind::Path(path) = &mut base.kind {
            path.segments.push(segment);
            base.span = self.span(start, end);
            return Ok(base);
        }
        self.node(start, end, ExprKind::Member { base, segment })
    }

    pub(crate) fn subscript(
        &self,
        start: u32,
        end: u32,
        base: Box<Expr>,
        index: Box<Expr>,
    ) -> Result<'a, Box<Expr>> {
        let segment = match &index.kind {
            ExprKind::Literal(Literal::Number(n)) => whole_number(*n).map(Segment::Index),
            ExprKind::Literal(Literal::String(name)) => {
                Some(Segment::Field(Spanned::new(name.clone(), index.span)))
            }
            _ => None,
        };
        match segment {
            Some(segment) => self.member(start, end, base, segment),
            None => self.node(start, end, ExprKind::Subscript { base, index }),
        }
    }

    /// `len(x)`, `a2a.message(x)`. The callee has to be a name.
    pub(crate) fn call(
        &self,
        start: u32,
        callee_end: u32,
        end: u32,
        callee: Box<Expr>,
        args: Vec<Expr>,
    ) -> Result<'a, Box<Expr>> {
        let span = self.span(start, callee_end);
        let function = match &callee.kind {
            ExprKind::Path(path)
                if path.segments.iter().all(|s| matches!(s, Segment::Field(_))) =>
            {
                if path.namespace.is_none() && path.segments.is_empty() {
                    path.root.clone()
                } else {
                    Spanned::new(SmolStr::from(path.to_string()), span)
                }
            }
            _ => {
                return Err(syntax_error::<AgentScript>(
                    SyntaxErrorKind::NotCallable,
                    start,
                    callee_end,
                ));
            }
        };
        self.node(start, end, ExprKind::Call { function, args })
    }

    /// The target of an assignment or a transition.
    pub(crate) fn target(&self, start: u32, end: u32, e: Box<Expr>) -> Result<'a, Box<Target>> {
        let span = e.span;
        match e.kind {
            ExprKind::Path(path) => Ok(Spanned::new(path, span).into()),
            _ => Err(syntax_error::<AgentScript>(SyntaxErrorKind::NoReference, start, end)),
        }
    }

    pub(crate) fn argument(
        &self,
        start: u32,
        end: u32,
        name: Spanned<Name>,
        value: Box<Expr>,
    ) -> Box<Argument> {
        Argument { name, value: *value, span: self.span(start, end) }.into()
    }

    pub(crate) fn named_type(&self, name: Spanned<Name>) -> Box<TypeExpr> {
        let span = name.span;
        TypeExpr::named(name.value, span).into()
    }

    pub(crate) fn generic_type(
        &self,
        start: u32,
        end: u32,
        name: Spanned<Name>,
        element: Box<TypeExpr>,
    ) -> Result<'a, Box<TypeExpr>> {
        if name.value != "list" || matches!(element.kind, TypeKind::Array(_)) {
            return Err(syntax_error::<AgentScript>(SyntaxErrorKind::NotGeneric, start, end));
        }
        Ok(TypeExpr { kind: TypeKind::Array(element), span: self.span(start, end) }.into())
    }

    /// The value of a string literal.
    pub(crate) fn unquoted(&self, start: u32, literal: &str) -> Result<'a, SmolStr> {
        let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
        unescaped(inner, escape).map_err(|at| {
            let at = start + 1 + at;
            syntax_error::<AgentScript>(SyntaxErrorKind::Escape, at, at + 2)
        })
    }
}

/// The character of an escape. Only `\" \' \\ \n \r \t \0` are escapes (specification part I, 3, and the
/// official tools).
pub(crate) const fn escape(c: char) -> Option<char> {
    Some(match c {
        '"' | '\'' | '\\' => c,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        _ => return None,
    })
}
