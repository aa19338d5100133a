//! What the actions of `agent_script_leaf.lalrpop` need: places, unescaped texts, and nodes that are
//! checked for depth.

use super::lexer::{Fault, FaultKind, Token};
use super::tree::{Argument, Declared, Target};
use agentir_diagnostics::{FileId, Span, Spanned};
use agentir_expr::{
    BinaryOp, Expr, ExprKind, Literal, Name, Path, Segment, TypeExpr, TypeKind, UnaryOp,
};
use lalrpop_util::ParseError;
use smol_str::SmolStr;

/// A leaf read as one of the goals.
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
pub(crate) type Error<'a> = ParseError<u32, Token<'a>, Fault>;
type Result<'a, T> = std::result::Result<T, Error<'a>>;

/// The items of a list out of the boxes they came in.
pub(crate) fn unboxed<T>(items: Vec<Box<T>>) -> Vec<T> {
    items.into_iter().map(|item| *item).collect()
}

const fn fault<'a>(kind: FaultKind, start: u32, end: u32) -> Error<'a> {
    ParseError::User { error: Fault { kind, start, end } }
}

/// The file that is being read.
pub(crate) struct Context<'a> {
    pub file: FileId,
    _text: std::marker::PhantomData<&'a str>,
}

impl<'a> Context<'a> {
    pub(crate) const fn new(file: FileId) -> Self {
        Self { file, _text: std::marker::PhantomData }
    }

    pub(crate) const fn span(&self, start: u32, end: u32) -> Span {
        Span::new(self.file, start, end)
    }

    pub(crate) fn node(&self, start: u32, end: u32, kind: ExprKind) -> Result<'a, Box<Expr>> {
        match Expr::new(kind, self.span(start, end)) {
            Ok(expr) => Ok(Box::new(expr)),
            Err(_) => Err(fault(FaultKind::TooDeep, start, end)),
        }
    }

    pub(crate) fn unary(
        &self,
        start: u32,
        end: u32,
        op: UnaryOp,
        operand: Box<Expr>,
    ) -> Result<'a, Box<Expr>> {
        self.node(start, end, ExprKind::Unary { op, operand })
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

    pub(crate) fn parenthesized(&self, start: u32, end: u32, mut inner: Box<Expr>) -> Box<Expr> {
        inner.span = self.span(start, end);
        inner
    }

    /// `@namespace.member.member`, which the lexer has checked.
    pub(crate) fn reference(&self, start: u32, end: u32, text: &str) -> Box<Expr> {
        let mut at = start + 1;
        let mut names = text.get(1..).unwrap_or_default().split('.').map(|name| {
            let from = at;
            let to = from.saturating_add(super::layout::offset(name.len()));
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

    /// `base.name`, `base[0]`: part of the path that the base is.
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
        let span = index.span;
        match &index.kind {
            ExprKind::Literal(Literal::Number(n))
                if n.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(n) =>
            {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "checked above"
                )]
                let index = *n as u32;
                self.member(start, end, base, Segment::Index(index))
            }
            ExprKind::Literal(Literal::String(name)) => {
                let name = Spanned::new(name.clone(), span);
                self.member(start, end, base, Segment::Field(name))
            }
            _ => self.node(start, end, ExprKind::Subscript { base, index }),
        }
    }

    /// `len(x)`, `a2a.message(x)`. What is called has to be a name.
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
            _ => return Err(fault(FaultKind::NotCallable, start, callee_end)),
        };
        self.node(start, end, ExprKind::Call { function, args })
    }

    /// What can be set or gone to.
    pub(crate) fn target(&self, start: u32, end: u32, e: Box<Expr>) -> Result<'a, Box<Target>> {
        let span = e.span;
        match e.kind {
            ExprKind::Path(path) => Ok(Spanned::new(path, span).into()),
            _ => Err(fault(FaultKind::NoReference, start, end)),
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
            return Err(fault(FaultKind::NotGeneric, start, end));
        }
        Ok(TypeExpr { kind: TypeKind::Array(element), span: self.span(start, end) }.into())
    }

    /// The text of a string literal. Only `\" \' \\ \n \r \t \0` are escapes (specification part I,
    /// 3; the list is the official tools').
    pub(crate) fn unquoted(&self, start: u32, literal: &str) -> Result<'a, SmolStr> {
        let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
        unescaped(inner).map_err(|at| {
            let at = start + 1 + at;
            fault(FaultKind::Escape, at, at + 2)
        })
    }
}

/// Resolves escapes; gives the offset of the first one that does not exist.
pub(crate) fn unescaped(inner: &str) -> std::result::Result<SmolStr, u32> {
    let Some(first) = memchr::memchr(b'\\', inner.as_bytes()) else {
        return Ok(SmolStr::new(inner));
    };
    let mut text = String::with_capacity(inner.len());
    text.push_str(inner.get(..first).unwrap_or_default());
    let mut chars = inner.get(first..).unwrap_or_default().char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        text.push(match chars.next() {
            Some((_, c @ ('"' | '\'' | '\\'))) => c,
            Some((_, 'n')) => '\n',
            Some((_, 'r')) => '\r',
            Some((_, 't')) => '\t',
            Some((_, '0')) => '\0',
            _ => return Err(super::layout::offset(first + at)),
        });
    }
    Ok(text.into())
}
