//! Classification of atoms, which determines how they can be decided completely.

use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Name, Path, UnaryOp, Visit};

/// The class of an atom over one variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum AtomClass {
    /// A test of the value's type only: `IS SET`, `IS_NUMBER(x)`.
    TypeTest,
    /// A comparison with constants by equality: `==`, `IN [..]`; or the variable alone.
    Equality,
    /// A comparison with constants by order.
    Order,
    /// A comparison of a length with constants.
    Length,
    /// A test of the content of a string or a list: `contains`, `matches`.
    Content,
    /// Anything else.
    Other,
}

/// Returns the class of an atom.
pub(crate) fn classify(expr: &Expr) -> AtomClass {
    match &expr.kind {
        ExprKind::Path(path) if is_length(path) => AtomClass::Length,
        ExprKind::Path(_) => AtomClass::Equality,
        ExprKind::IsSet { operand, .. } if is_variable(operand) => AtomClass::TypeTest,
        ExprKind::Unary { op: UnaryOp::IsNumber, operand } if is_variable(operand) => {
            AtomClass::Order
        }
        ExprKind::Call { function, args } => match (unprefixed(&function.value), args.as_slice()) {
            ("IS_ARRAY" | "IS_NUMBER" | "IS_STRING", [arg]) if is_variable(arg) => {
                AtomClass::TypeTest
            }
            ("LENGTH" | "len" | "size", [arg]) if is_variable(arg) => AtomClass::Length,
            _ => AtomClass::Other,
        },
        ExprKind::Method { receiver, method, args } if is_variable(receiver) => {
            match (method.value.as_str(), args.as_slice()) {
                ("contains" | "includes" | "startsWith" | "endsWith" | "matches", [arg])
                    if is_constant(arg) =>
                {
                    AtomClass::Content
                }
                ("length" | "size", []) => AtomClass::Length,
                _ => AtomClass::Other,
            }
        }
        ExprKind::Binary { op, left, right } => binary(*op, left, right),
        _ => AtomClass::Other,
    }
}

fn binary(op: BinaryOp, left: &Expr, right: &Expr) -> AtomClass {
    use BinaryOp::{
        Contains, EndsWith, Equal, Greater, GreaterEqual, In, Is, IsNot, Less, LessEqual, Matches,
        NotEqual, NotIn, StartsWith, StrictEqual, StrictNotEqual,
    };
    let sides = [(left, right), (right, left)];
    let is_length_test = |(a, b): &(&Expr, &Expr)| is_variable_length(a) && is_constant(b);
    let is_plain_test = |(a, b): &(&Expr, &Expr)| is_variable(a) && is_constant(b);
    match op {
        Less | LessEqual | Greater | GreaterEqual if sides.iter().any(is_plain_test) => {
            AtomClass::Order
        }
        Equal | NotEqual | StrictEqual | StrictNotEqual | Is | IsNot
            if sides.iter().any(is_plain_test) =>
        {
            AtomClass::Equality
        }
        Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | StrictEqual
        | StrictNotEqual
            if sides.iter().any(is_length_test) =>
        {
            AtomClass::Length
        }
        In | NotIn if is_variable(left) && are_constants(right) => AtomClass::Equality,
        In | NotIn if is_variable(right) && is_constant(left) => AtomClass::Content,
        Contains | StartsWith | EndsWith | Matches if is_variable(left) && is_constant(right) => {
            AtomClass::Content
        }
        _ => AtomClass::Other,
    }
}

/// Whether a string may occur in the decimal representation of a number.
pub(crate) fn may_occur_in_number(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'-' | b'.'))
}

/// Whether the expression matches a regular expression.
pub(crate) fn is_match(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Binary { op, .. } => *op == BinaryOp::Matches,
        ExprKind::Method { method, .. } => method.value == "matches",
        _ => false,
    }
}

/// Returns the name of a function without its prefix.
pub(crate) fn unprefixed(function: &Name) -> &str {
    function.strip_prefix("abl.").unwrap_or(function)
}

/// Whether a path ends in `.length`, which strings and lists have.
pub(crate) fn is_length(path: &Path) -> bool {
    matches!(path.segments.last(), Some(agentir_expr::Segment::Field(name)) if name.value == "length")
}

pub(crate) fn is_variable(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Path(path) if !is_length(path))
}

/// Whether the expression is the length of a variable.
pub(crate) fn is_variable_length(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Path(_) | ExprKind::Call { .. } | ExprKind::Method { .. })
        && classify(expr) == AtomClass::Length
}

pub(crate) fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary { op: UnaryOp::Negate, operand } => {
            matches!(operand.kind, ExprKind::Literal(Literal::Number(_)))
        }
        _ => false,
    }
}

fn are_constants(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::List(items) if items.iter().all(is_constant))
}

/// Calls `found` with each literal in an expression, and whether it is negated.
pub(crate) fn literals<'a>(expr: &'a Expr, found: &mut impl FnMut(&'a Literal, bool)) {
    expr.visit(&mut |e| match &e.kind {
        ExprKind::Unary { op: UnaryOp::Negate, operand } if is_constant(e) => {
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
