//! The expression tree.

use crate::template::Template;
use agentir_diagnostics::{Span, Spanned};
use smol_str::SmolStr;

/// An identifier. Up to 23 bytes live inline, so most names cost no allocation.
pub type Name = SmolStr;

/// How many levels of an expression may lie inside each other. Every walk over a tree is recursive
/// and relies on this bound; trees can only be built through constructors that keep it.
pub const MAX_DEPTH: u16 = 200;

/// The tree would be deeper than [`MAX_DEPTH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depth;

/// An expression and where it was written. Equality ignores the place.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it was written.
    pub span: Span,
    depth: u16,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// The forms of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// A variable or a part of one: `user.intent`, `items[0].id`, `@variables.total`.
    Path(Path),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{a, b: c}`; `a` alone stands for `a: a`.
    Object(Vec<ObjectEntry>),
    /// A built-in function: `UPPER(name)`.
    Call {
        /// The function's name as written.
        function: Spanned<Name>,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// `receiver.method(args)`, such as `input.contains("x")`.
    Method {
        /// What the method is called on.
        receiver: Box<Expr>,
        /// Its name as written.
        method: Spanned<Name>,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// A part whose name or number is itself computed: `items[@variables.i]`. Agent Script only;
    /// constant subscripts are [`Segment`]s.
    Subscript {
        /// The value.
        base: Box<Expr>,
        /// Which part of it.
        index: Box<Expr>,
    },
    /// A member of something that is not itself a path: `f(x).total`, `(a)[0]`.
    Member {
        /// The value.
        base: Box<Expr>,
        /// Which part of it.
        segment: Segment,
    },
    /// An operator with one operand.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// An operator with two operands.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// A conjunction of two or more; chains are flat, so `a AND b AND c` is one node.
    And(Vec<Expr>),
    /// A disjunction of two or more, flat as well.
    Or(Vec<Expr>),
    /// `x IS SET`, `x IS NOT SET`: neither null nor undefined (the empty string is set).
    IsSet {
        /// What is tested.
        operand: Box<Expr>,
        /// `IS NOT SET`.
        negated: bool,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// Decides.
        condition: Box<Expr>,
        /// The value if it holds.
        then: Box<Expr>,
        /// The value if not.
        otherwise: Box<Expr>,
    },
    /// `*list`, whose items become items of the list or arguments of the call around it. Agent
    /// Script only.
    Spread(Box<Expr>),
    /// `...`: the model fills the value in. Agent Script only.
    Ellipsis,
    /// A string with placeholders, where the language fills strings in: `"Order {{order.id}}"` as an
    /// argument of a call.
    Template(Box<Template>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `undefined`.
    Undefined,
    /// `true`, `false`.
    Bool(bool),
    /// A number. ABL has one numeric type, a double.
    Number(f64),
    /// A string, unescaped.
    String(SmolStr),
    /// `/pattern/`.
    Regex(SmolStr),
    /// `2026-01-31`, `2026-01-31T08:30:00Z`, as written. Agent Script only.
    Date(SmolStr),
}

/// A variable or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The namespace of `@namespace.member` references; `None` in ABL and ADL.
    pub namespace: Option<Spanned<Name>>,
    /// The first name.
    pub root: Spanned<Name>,
    /// What follows it.
    pub segments: Vec<Segment>,
}

impl Path {
    /// A bare variable.
    #[must_use]
    pub const fn variable(root: Spanned<Name>) -> Self {
        Self { namespace: None, root, segments: Vec::new() }
    }

    /// The path that a name with dots stands for: `user.email`, `@variables.total`. All parts have the span of the
    /// whole.
    #[must_use]
    pub fn dotted(name: &str, span: Span) -> Self {
        let part = |text: &str| Spanned::new(Name::new(text), span);
        let (namespace, rest) = match name.strip_prefix('@').and_then(|n| n.split_once('.')) {
            Some((namespace, rest)) => (Some(part(namespace)), rest),
            None => (None, name),
        };
        let mut parts = rest.split('.');
        let root = part(parts.next().unwrap_or_default());
        Self { namespace, root, segments: parts.map(|name| Segment::Field(part(name))).collect() }
    }

    /// The field after the root, if the path has one: `status` in `order.status`.
    #[must_use]
    pub fn first_field(&self) -> Option<&Spanned<Name>> {
        match self.segments.first() {
            Some(Segment::Field(name)) => Some(name),
            _ => None,
        }
    }
}

/// A step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// `.name`.
    Field(Spanned<Name>),
    /// `[0]`.
    Index(u32),
    /// `.*`, in the targets of `STORE` only.
    Any,
}

/// A field of an object literal.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectEntry {
    /// The field's name.
    pub key: Spanned<Name>,
    /// Its value; `None` for the shorthand `{a}`, which takes the variable of that name.
    pub value: Option<Expr>,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `NOT a`, `!a`.
    Not,
    /// `-a`.
    Negate,
    /// `+a`. Agent Script only.
    Plus,
    /// `a is_number`.
    IsNumber,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `a IMPLIES b`, constraints only.
    Implies,
    /// `==`: null equals undefined, numeric strings equal their number.
    Equal,
    /// `!=`: also true when either side is null or undefined, so it is not the negation of `==`.
    NotEqual,
    /// `==` as Python has it: no conversion between texts and numbers, `None` equals only itself.
    StrictEqual,
    /// `!=` as Python has it: the negation of [`StrictEqual`](Self::StrictEqual).
    StrictNotEqual,
    /// `a is b`, mostly `a is None`: the same type and the same value.
    Is,
    /// `a is not b`: the negation of [`Is`](Self::Is).
    IsNot,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `a IN list`
    In,
    /// `a NOT IN list`
    NotIn,
    /// `a matches pattern`; sets `match`.
    Matches,
    /// `a contains b`, also the method.
    Contains,
    /// `a startsWith b`
    StartsWith,
    /// `a endsWith b`
    EndsWith,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}

impl BinaryOp {
    /// Whether it computes a value: `+`, `-`, `*`, `/`, `%`.
    #[must_use]
    pub fn is_arithmetic(self) -> bool {
        matches!(self, Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder)
    }

    /// Whether it asks if two values are the same, in any of the languages' ways.
    #[must_use]
    pub fn is_equality(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::StrictEqual
                | Self::StrictNotEqual
                | Self::Is
                | Self::IsNot
        )
    }

    /// Whether it asks which of two values comes first: `<`, `<=`, `>`, `>=`.
    #[must_use]
    pub fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual)
    }
}

/// An argument of a tool call: `order_id`, `id = order_id`, `id: order_id`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The parameter it is for, if written; else it is for the parameter at its position.
    pub name: Option<Spanned<Name>>,
    /// The value.
    pub value: Expr,
}

impl Expr {
    /// A node that has `children`; fails where the tree would be too deep to walk.
    ///
    /// # Errors
    /// [`Depth`] if a child is already [`MAX_DEPTH`] levels deep.
    pub fn new(kind: ExprKind, span: Span) -> Result<Self, Depth> {
        let mut below = 0;
        kind.for_each_child(&mut |child| below = below.max(child.depth));
        Self::above(kind, span, below)
    }

    /// A node whose deepest child is `below` levels deep.
    fn above(kind: ExprKind, span: Span, below: u16) -> Result<Self, Depth> {
        if below >= MAX_DEPTH {
            return Err(Depth);
        }
        Ok(Self { kind, span, depth: below + 1 })
    }

    /// A constant.
    #[must_use]
    pub const fn literal(literal: Literal, span: Span) -> Self {
        Self { kind: ExprKind::Literal(literal), span, depth: 1 }
    }

    /// A path.
    #[must_use]
    pub const fn path(path: Path, span: Span) -> Self {
        Self { kind: ExprKind::Path(path), span, depth: 1 }
    }

    /// `left AND right`, joining chains.
    ///
    /// # Errors
    /// [`Depth`], as [`Expr::new`].
    pub fn and(left: Self, right: Self) -> Result<Self, Depth> {
        let span = left.span.to(right.span);
        // Not through `new`, which would look at all parts for each one added.
        let (parts, below) = match left {
            Self { kind: ExprKind::And(mut parts), depth, .. } => {
                let below = right.depth.max(depth - 1);
                parts.push(right);
                (parts, below)
            }
            left => {
                let below = left.depth.max(right.depth);
                (vec![left, right], below)
            }
        };
        Self::above(ExprKind::And(parts), span, below)
    }

    /// `left OR right`, joining chains.
    ///
    /// # Errors
    /// [`Depth`], as [`Expr::new`].
    pub fn or(left: Self, right: Self) -> Result<Self, Depth> {
        let span = left.span.to(right.span);
        // Not through `new`, which would look at all parts for each one added.
        let (parts, below) = match left {
            Self { kind: ExprKind::Or(mut parts), depth, .. } => {
                let below = right.depth.max(depth - 1);
                parts.push(right);
                (parts, below)
            }
            left => {
                let below = left.depth.max(right.depth);
                (vec![left, right], below)
            }
        };
        Self::above(ExprKind::Or(parts), span, below)
    }

    /// The path, if the expression is nothing else.
    #[must_use]
    pub const fn as_path(&self) -> Option<&Path> {
        match &self.kind {
            ExprKind::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Calls `visit` on this node and all below it, parents first.
    pub fn visit<'a>(&'a self, visit: &mut dyn FnMut(&'a Self) -> Visit) {
        if visit(self) == Visit::Children {
            self.kind.for_each_child(&mut |child| child.visit(visit));
        }
    }

    /// A text that stands where a condition is meant: the whole, or an operand of `AND`, `OR`, `NOT`, `IMPLIES`. It is the
    /// same in every state: `"a == 1"` is no comparison.
    #[must_use]
    pub fn text_as_condition(&self) -> Option<&Self> {
        match &self.kind {
            ExprKind::Literal(Literal::String(_)) => Some(self),
            ExprKind::And(all) | ExprKind::Or(all) => all.iter().find_map(Self::text_as_condition),
            ExprKind::Unary { op: UnaryOp::Not, operand } => operand.text_as_condition(),
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                left.text_as_condition().or_else(|| right.text_as_condition())
            }
            _ => None,
        }
    }

    /// Calls `found` with every path in the expression, shorthand object fields included.
    pub fn paths(&self, found: &mut dyn FnMut(&Path)) {
        self.visit(&mut |e| {
            match &e.kind {
                ExprKind::Path(path) => found(path),
                ExprKind::Object(entries) => {
                    for entry in entries.iter().filter(|e| e.value.is_none()) {
                        found(&Path::variable(entry.key.clone()));
                    }
                }
                _ => {}
            }
            Visit::Children
        });
    }
}

impl Expr {
    /// The same expression with other children.
    ///
    /// # Errors
    /// [`Depth`] if one of them is too deep.
    pub fn with_children(mut self, change: &mut dyn FnMut(&mut Self)) -> Result<Self, Depth> {
        self.kind.for_each_child_mut(change);
        Self::new(self.kind, self.span)
    }
}

impl Expr {
    /// The same expression over variables that are called otherwise. Objects' shorthand fields keep
    /// their names.
    #[must_use]
    pub fn renamed(mut self, name: &impl Fn(&Path) -> Path) -> Self {
        self.rename(name);
        self
    }

    fn rename(&mut self, name: &impl Fn(&Path) -> Path) {
        if let ExprKind::Path(path) = &mut self.kind {
            *path = name(path);
        }
        self.kind.for_each_child_mut(&mut |child| child.rename(name));
    }
}

impl Expr {
    /// The same expression with paths in place of the constants for which there is one.
    #[must_use]
    pub fn with_paths(mut self, path: &impl Fn(&Literal) -> Option<Path>) -> Self {
        self.replace_literals(path);
        self
    }

    fn replace_literals(&mut self, path: &impl Fn(&Literal) -> Option<Path>) {
        if let ExprKind::Literal(literal) = &self.kind
            && let Some(path) = path(literal)
        {
            self.kind = ExprKind::Path(path);
        }
        self.kind.for_each_child_mut(&mut |child| child.replace_literals(path));
    }

    /// The same expression with other spans.
    #[must_use]
    pub fn relocated(mut self, span: &impl Fn(Span) -> Span) -> Self {
        self.relocate(span);
        self
    }

    fn relocate(&mut self, span: &impl Fn(Span) -> Span) {
        self.span = span(self.span);
        let name = |name: &mut Spanned<Name>| name.span = span(name.span);
        let segment = |segment: &mut Segment| {
            if let Segment::Field(field) = segment {
                name(field);
            }
        };
        match &mut self.kind {
            ExprKind::Path(path) => {
                path.namespace.iter_mut().for_each(name);
                name(&mut path.root);
                path.segments.iter_mut().for_each(segment);
            }
            ExprKind::Object(entries) => entries.iter_mut().for_each(|entry| name(&mut entry.key)),
            ExprKind::Call { function, .. } => name(function),
            ExprKind::Method { method, .. } => name(method),
            ExprKind::Member { segment: member, .. } => segment(member),
            _ => {}
        }
        self.kind.for_each_child_mut(&mut |child| child.relocate(span));
    }
}

/// Whether [`Expr::visit`] goes below a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// Goes on with the node's children.
    Children,
    /// Leaves them out.
    Skip,
}

impl ExprKind {
    /// Calls `found` with each child, in the order they were written.
    fn for_each_child<'a>(&'a self, found: &mut impl FnMut(&'a Expr)) {
        match self {
            Self::Literal(_) | Self::Path(_) | Self::Ellipsis => {}
            Self::Template(template) => template.exprs(found),
            Self::List(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Call { args: items, .. } => {
                items.iter().for_each(found);
            }
            Self::Object(entries) => {
                entries.iter().filter_map(|e| e.value.as_ref()).for_each(found)
            }
            Self::Method { receiver, args, .. } => {
                found(receiver);
                args.iter().for_each(found);
            }
            Self::Member { base: e, .. }
            | Self::Spread(e)
            | Self::Unary { operand: e, .. }
            | Self::IsSet { operand: e, .. } => found(e),
            Self::Binary { left, right, .. } | Self::Subscript { base: left, index: right } => {
                found(left);
                found(right);
            }
            Self::Conditional { condition, then, otherwise } => {
                found(condition);
                found(then);
                found(otherwise);
            }
        }
    }

    /// Calls `found` with each child, in the order they were written.
    fn for_each_child_mut(&mut self, found: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Literal(_) | Self::Path(_) | Self::Ellipsis => {}
            Self::Template(template) => template.exprs_mut(found),
            Self::List(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Call { args: items, .. } => items.iter_mut().for_each(found),
            Self::Object(entries) => {
                entries.iter_mut().filter_map(|e| e.value.as_mut()).for_each(found);
            }
            Self::Method { receiver, args, .. } => {
                found(receiver);
                args.iter_mut().for_each(found);
            }
            Self::Member { base: e, .. }
            | Self::Spread(e)
            | Self::Unary { operand: e, .. }
            | Self::IsSet { operand: e, .. } => found(e),
            Self::Binary { left, right, .. } | Self::Subscript { base: left, index: right } => {
                found(left);
                found(right);
            }
            Self::Conditional { condition, then, otherwise } => {
                found(condition);
                found(then);
                found(otherwise);
            }
        }
    }
}

/// Something that is decided at run time, as written. In JSON it is its text.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The text as the author wrote it, without quotes around the whole.
    pub text: Spanned<SmolStr>,
    /// What it says.
    pub kind: ConditionKind,
}

impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (ConditionKind::Expr(a), ConditionKind::Expr(b)) => a == b,
            (ConditionKind::Expr(_), _) | (_, ConditionKind::Expr(_)) => false,
            _ => self.text == other.text,
        }
    }
}

/// The kinds of condition.
#[derive(Clone, Debug)]
pub enum ConditionKind {
    /// An expression, evaluated.
    Expr(Expr),
    /// Words for the model to judge.
    Natural,
    /// Meant as an expression, but broken; a diagnostic was given. Treated as unknown.
    Invalid,
}

impl Condition {
    /// Whether it is the constant `true`.
    #[must_use]
    pub fn always_holds(&self) -> bool {
        let constant = self.expr().map(|expr| &expr.kind);
        matches!(constant, Some(ExprKind::Literal(Literal::Bool(true))))
    }

    /// The words of a text, for the model to judge.
    #[must_use]
    pub fn words(text: &crate::Template) -> Self {
        Self { text: text.text.clone(), kind: ConditionKind::Natural }
    }

    /// The expression, if it is one.
    #[must_use]
    pub const fn expr(&self) -> Option<&Expr> {
        match &self.kind {
            ConditionKind::Expr(e) => Some(e),
            _ => None,
        }
    }

    /// Where it was written.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.text.span
    }
}
