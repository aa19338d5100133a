//! Canonical ABL text of an expression.
//!
//! Parentheses are written only where the tree would otherwise be read differently, so for every
//! tree that ABL's grammar can produce, parsing its text gives the same tree. What only Agent Script
//! has is written as Agent Script writes it.

use crate::expr::{BinaryOp, Expr, ExprKind, Literal, ObjectEntry, Path, Segment, UnaryOp};
use crate::functions::FUNCTION_NAMESPACE;
use std::fmt::{self, Display, Formatter, Write};

/// How tightly a form binds, loosest first; the levels of the grammar in `grammars/abl/inline.lalrpop`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Conditional,
    Implies,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Sign,
    Postfix,
}

impl Level {
    fn of(expr: &Expr) -> Self {
        match &expr.kind {
            ExprKind::Conditional { .. } => Self::Conditional,
            ExprKind::Or(_) => Self::Or,
            ExprKind::And(_) => Self::And,
            ExprKind::Unary { op: UnaryOp::Not, .. } => Self::Not,
            ExprKind::Unary { op: UnaryOp::IsNumber, .. } | ExprKind::IsSet { .. } => {
                Self::Comparison
            }
            ExprKind::Unary { op: UnaryOp::Negate | UnaryOp::Plus, .. } | ExprKind::Spread(_) => {
                Self::Sign
            }
            ExprKind::Binary { op, .. } => Self::of_operator(*op),
            _ => Self::Postfix,
        }
    }

    const fn of_operator(op: BinaryOp) -> Self {
        match op {
            BinaryOp::Implies => Self::Implies,
            BinaryOp::Add | BinaryOp::Subtract => Self::Sum,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => Self::Product,
            _ => Self::Comparison,
        }
    }
}

/// An expression in a place that takes forms of `level` and tighter.
struct At<'a>(Level, &'a Expr);

impl Display for At<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self(level, expr) = *self;
        if Level::of(expr) < level { write!(f, "({expr})") } else { expr.fmt(f) }
    }
}

/// What `.member`, `[0]` or `.method()` follows.
struct Receiver<'a> {
    expr: &'a Expr,
    /// Whether a bare path would be taken for the beginning of a longer one, or of a function name.
    part: bool,
}

impl Display for Receiver<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parentheses = match &self.expr.kind {
            // `abl.word_count(x)` is a function, and `a.b` one path.
            ExprKind::Path(path) => {
                self.part || (path.segments.is_empty() && path.root.value == FUNCTION_NAMESPACE)
            }
            ExprKind::Literal(Literal::Number(_)) => true,
            _ => Level::of(self.expr) < Level::Postfix,
        };
        if parentheses { write!(f, "({})", self.expr) } else { self.expr.fmt(f) }
    }
}

/// Items with `separator` between them.
fn join<T: Display>(
    f: &mut Formatter<'_>,
    separator: &str,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Literal(literal) => literal.fmt(f),
            ExprKind::Path(path) => path.fmt(f),
            ExprKind::List(items) => {
                f.write_char('[')?;
                join(f, ", ", items)?;
                f.write_char(']')
            }
            ExprKind::Object(entries) => {
                f.write_char('{')?;
                join(f, ", ", entries)?;
                f.write_char('}')
            }
            ExprKind::Call { function, args } => {
                write!(f, "{function}(")?;
                join(f, ", ", args)?;
                f.write_char(')')
            }
            ExprKind::Method { receiver, method, args } => {
                write!(f, "{}.{method}(", Receiver { expr: receiver, part: false })?;
                join(f, ", ", args)?;
                f.write_char(')')
            }
            ExprKind::Subscript { base, index } => {
                write!(f, "{}[{index}]", Receiver { expr: base, part: false })
            }
            ExprKind::Spread(operand) => write!(f, "*{}", At(Level::Sign, operand)),
            ExprKind::Ellipsis => f.write_str("..."),
            ExprKind::Template(template) => Literal::String(template.text.value.clone()).fmt(f),
            ExprKind::Member { base, segment } => {
                write!(f, "{}{segment}", Receiver { expr: base, part: true })
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                write!(f, "NOT {}", At(Level::Not, operand))
            }
            // `-5` is a number; `-(5)` is the negation of one.
            ExprKind::Unary { op: UnaryOp::Negate, operand }
                if matches!(operand.kind, ExprKind::Literal(Literal::Number(_))) =>
            {
                write!(f, "-({operand})")
            }
            ExprKind::Unary { op: UnaryOp::Negate, operand } => {
                write!(f, "-{}", At(Level::Sign, operand))
            }
            ExprKind::Unary { op: UnaryOp::Plus, operand } => {
                write!(f, "+{}", At(Level::Sign, operand))
            }
            ExprKind::Unary { op: UnaryOp::IsNumber, operand } => {
                write!(f, "{} is_number", At(Level::Sum, operand))
            }
            ExprKind::IsSet { operand, negated } => {
                let not = if *negated { "NOT " } else { "" };
                write!(f, "{} IS {not}SET", At(Level::Sum, operand))
            }
            ExprKind::Binary { op, left, right } => {
                let (left_level, right_level) = match Level::of_operator(*op) {
                    Level::Implies => (Level::Or, Level::Implies),
                    Level::Sum => (Level::Sum, Level::Product),
                    Level::Product => (Level::Product, Level::Sign),
                    _ => (Level::Sum, Level::Sum),
                };
                write!(f, "{} {op} {}", At(left_level, left), At(right_level, right))
            }
            ExprKind::And(parts) => join(f, " AND ", parts.iter().map(|p| At(Level::Not, p))),
            ExprKind::Or(parts) => join(f, " OR ", parts.iter().map(|p| At(Level::And, p))),
            ExprKind::Conditional { condition, then, otherwise } => {
                write!(f, "{} ? {then} : {otherwise}", At(Level::Implies, condition))
            }
        }
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Implies => "IMPLIES",
            Self::Equal | Self::StrictEqual => "==",
            Self::NotEqual | Self::StrictNotEqual => "!=",
            Self::Is => "is",
            Self::IsNot => "is not",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "IN",
            Self::NotIn => "NOT IN",
            Self::Matches => "matches",
            Self::Contains => "contains",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        })
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Undefined => f.write_str("undefined"),
            Self::Bool(b) => b.fmt(f),
            Self::Number(n) => n.fmt(f),
            // ABL has no dates of its own; it writes them as texts.
            Self::String(s) | Self::Date(s) => quoted(f, s),
            Self::Regex(pattern) => {
                // A slash ends the literal, unless it is escaped; other escapes stay as they are.
                f.write_char('/')?;
                let mut escaped = false;
                for c in pattern.chars() {
                    if c == '/' && !escaped {
                        f.write_char('\\')?;
                    }
                    escaped = c == '\\' && !escaped;
                    f.write_char(c)?;
                }
                f.write_char('/')
            }
        }
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "@{namespace}.")?;
        }
        self.root.fmt(f)?;
        self.segments.iter().try_for_each(|s| s.fmt(f))
    }
}

impl Display for Segment {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            // `preferred_*` stands for several names, in the targets of `STORE`.
            Self::Field(name)
                if is_word(name.value.trim_end_matches('*')) || is_digits(&name.value) =>
            {
                write!(f, ".{name}")
            }
            Self::Field(name) => {
                f.write_char('[')?;
                quoted(f, &name.value)?;
                f.write_char(']')
            }
            Self::Index(i) => write!(f, "[{i}]"),
            Self::Any => f.write_str(".*"),
        }
    }
}

impl Display for ObjectEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_word(&self.key.value) {
            self.key.fmt(f)?;
        } else {
            quoted(f, &self.key.value)?;
        }
        match &self.value {
            Some(value) => write!(f, ": {value}"),
            None => Ok(()),
        }
    }
}

fn is_word(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Name;
    use agentir_diagnostics::{Span, Spanned};

    fn node(kind: ExprKind) -> Expr {
        Expr::new(kind, Span::default()).unwrap_or_else(|_| unreachable!("shallow"))
    }
    fn name(text: &str) -> Spanned<Name> {
        Spanned::new(text.into(), Span::default())
    }
    fn var(text: &str) -> Expr {
        node(ExprKind::Path(Path::variable(name(text))))
    }
    fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        node(ExprKind::Binary { op, left: Box::new(left), right: Box::new(right) })
    }
    fn not(operand: Expr) -> Expr {
        node(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(operand) })
    }

    #[test]
    fn parentheses_only_where_needed() {
        let sum = binary(BinaryOp::Add, var("a"), var("b"));
        let product = binary(BinaryOp::Multiply, sum.clone(), var("c"));
        assert_eq!(product.to_string(), "(a + b) * c");
        assert_eq!(binary(BinaryOp::Add, sum.clone(), var("c")).to_string(), "a + b + c");
        assert_eq!(binary(BinaryOp::Subtract, var("c"), sum).to_string(), "c - (a + b)");
        let or = node(ExprKind::Or(vec![var("a"), var("b")]));
        assert_eq!(not(or.clone()).to_string(), "NOT (a OR b)");
        assert_eq!(node(ExprKind::And(vec![or, not(var("c"))])).to_string(), "(a OR b) AND NOT c");
        let set = node(ExprKind::IsSet { operand: Box::new(not(var("a"))), negated: true });
        assert_eq!(set.to_string(), "(NOT a) IS NOT SET");
    }

    #[test]
    fn members_of_parenthesized_paths_stay_members() {
        let segment = Segment::Field(name("b"));
        let member = node(ExprKind::Member { base: Box::new(var("a")), segment });
        assert_eq!(member.to_string(), "(a).b");
    }

    #[test]
    fn literals_are_escaped() {
        assert_eq!(Literal::String("a \"b\"\n\\d".into()).to_string(), r#""a \"b\"\n\\d""#);
        assert_eq!(Literal::Regex("a/b\\d".into()).to_string(), r"/a\/b\d/");
        assert_eq!(Literal::Number(-2.50).to_string(), "-2.5");
    }
}
