//! What kind of test an atom is, which decides what reasoning about it is complete.

use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Path, UnaryOp, Visit};

/// The kind of test that an atom with one variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// It depends on the kind of value only: `IS SET`, `IS_NUMBER(x)`.
    Kind,
    /// It compares with constants: `==`, `IN [..]`; or it is the variable alone.
    Equality,
    /// It compares with constants by order.
    Order,
    /// It compares a length with constants.
    Length,
    /// It looks into a text or a list: `contains`, `matches`.
    Content,
    /// Anything else.
    Irregular,
}

/// The shape of an atom.
pub(crate) fn shape(expr: &Expr) -> Shape {
    match &expr.kind {
        ExprKind::Path(path) if is_length(path) => Shape::Length,
        ExprKind::Path(_) => Shape::Equality,
        ExprKind::IsSet { operand, .. } if variable(operand) => Shape::Kind,
        ExprKind::Unary { op: UnaryOp::IsNumber, operand } if variable(operand) => Shape::Order,
        ExprKind::Call { function, args } => match (bare(&function.value), args.as_slice()) {
            ("IS_ARRAY" | "IS_NUMBER" | "IS_STRING", [arg]) if variable(arg) => Shape::Kind,
            ("LENGTH" | "len" | "size", [arg]) if variable(arg) => Shape::Length,
            _ => Shape::Irregular,
        },
        ExprKind::Method { receiver, method, args } if variable(receiver) => {
            match (method.value.as_str(), args.as_slice()) {
                ("contains" | "includes" | "startsWith" | "endsWith" | "matches", [arg])
                    if constant(arg) =>
                {
                    Shape::Content
                }
                ("length" | "size", []) => Shape::Length,
                _ => Shape::Irregular,
            }
        }
        ExprKind::Binary { op, left, right } => binary(*op, left, right),
        _ => Shape::Irregular,
    }
}

fn binary(op: BinaryOp, left: &Expr, right: &Expr) -> Shape {
    use BinaryOp::{
        Contains, EndsWith, Equal, Greater, GreaterEqual, In, Is, IsNot, Less, LessEqual, Matches,
        NotEqual, NotIn, StartsWith, StrictEqual, StrictNotEqual,
    };
    let sides = [(left, right), (right, left)];
    let length = |(a, b): &(&Expr, &Expr)| measured(a) && constant(b);
    let plain = |(a, b): &(&Expr, &Expr)| variable(a) && constant(b);
    match op {
        Less | LessEqual | Greater | GreaterEqual if sides.iter().any(plain) => Shape::Order,
        Equal | NotEqual | StrictEqual | StrictNotEqual | Is | IsNot if sides.iter().any(plain) => {
            Shape::Equality
        }
        Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | StrictEqual
        | StrictNotEqual
            if sides.iter().any(length) =>
        {
            Shape::Length
        }
        In | NotIn if variable(left) && constants(right) => Shape::Equality,
        In | NotIn if variable(right) && constant(left) => Shape::Content,
        Contains | StartsWith | EndsWith | Matches if variable(left) && constant(right) => {
            Shape::Content
        }
        _ => Shape::Irregular,
    }
}

/// Whether a text could be a part of a number that is written out.
pub(crate) fn in_numbers(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'.'))
}

/// Whether it tests a regular expression.
pub(crate) fn is_match(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary { op, .. } => *op == BinaryOp::Matches,
        ExprKind::Method { method, .. } => method.value == "matches",
        _ => false,
    }
}

/// A name of a function without its prefix.
pub(crate) fn bare(function: &Name) -> &str {
    function.strip_prefix("abl.").unwrap_or(function)
}

/// Whether a path ends in `.length`, which texts and lists have.
pub(crate) fn is_length(path: &Path) -> bool {
    matches!(path.segments.last(), Some(agentir_expr::Segment::Field(name)) if name.value == "length")
}

pub(crate) fn variable(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Path(path) if !is_length(path))
}

/// Whether the expression is the length of a variable.
pub(crate) fn measured(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Path(_) | ExprKind::Call { .. } | ExprKind::Method { .. })
        && shape(expr) == Shape::Length
}

pub(crate) fn constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary { op: UnaryOp::Negate, operand } => {
            matches!(operand.kind, ExprKind::Literal(Literal::Number(_)))
        }
        _ => false,
    }
}

fn constants(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::List(items) if items.iter().all(constant))
}

/// Calls `found` with each constant in an expression.
pub(crate) fn literals<'a>(expr: &'a Expr, found: &mut impl FnMut(&'a Literal, bool)) {
    expr.visit(&mut |e| match &e.kind {
        ExprKind::Unary { op: UnaryOp::Negate, operand } if constant(e) => {
            if let ExprKind::Literal(literal) = &operand.kind {
                found(literal, true);
            }
            Visit::Skip
        }
        ExprKind::Literal(literal) => {
            found(literal, false);
            Visit::Children
        }
        _ => Visit::Children,
    });
}
