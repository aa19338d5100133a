//! Prints expressions in Agent Script's notation (specification part I, 3 and 4).
//!
//! Parentheses are written only where precedence requires them. Operators that Agent Script lacks (`IN`,
//! `matches`, …) have been replaced during adaptation; any others are printed in ABL's notation.

use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path, Segment, UnaryOp};
use agentir_ir::Data;

use super::layout::{name, quoted};

/// Precedence levels, loosest first, as in `grammars/agent-script/inline.lalrpop`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Conditional,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Sign,
    Postfix,
}

const fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Conditional { .. } => Level::Conditional,
        ExprKind::Or(_) => Level::Or,
        ExprKind::And(_) => Level::And,
        ExprKind::Unary { op: UnaryOp::Not, .. } => Level::Not,
        ExprKind::Unary { op: UnaryOp::Negate | UnaryOp::Plus, .. } | ExprKind::Spread(_) => {
            Level::Sign
        }
        ExprKind::Unary { op: UnaryOp::IsNumber, .. } | ExprKind::IsSet { .. } => Level::Comparison,
        ExprKind::Binary { op, .. } => of_operator(*op),
        ExprKind::Literal(Literal::Number(n)) if *n < 0.0 => Level::Sign,
        _ => Level::Postfix,
    }
}

const fn of_operator(op: BinaryOp) -> Level {
    match op {
        BinaryOp::Add | BinaryOp::Subtract => Level::Sum,
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => Level::Product,
        _ => Level::Comparison,
    }
}

fn at(least: Level, expr: &Expr) -> String {
    let text = print(expr);
    if level(expr) < least { format!("({text})") } else { text }
}

fn list<'e>(items: impl IntoIterator<Item = &'e Expr>) -> String {
    items.into_iter().map(print).collect::<Vec<_>>().join(", ")
}

/// The operand of `.member`, `[i]` or `(…)`. A parenthesised path is not a prefix of a longer path.
fn receiver(expr: &Expr, part: bool) -> String {
    match &expr.kind {
        ExprKind::Path(_) if part => format!("({})", print(expr)),
        ExprKind::Literal(Literal::Number(_)) => format!("({})", print(expr)),
        _ => at(Level::Postfix, expr),
    }
}

/// Prints an expression.
pub(super) fn print(expr: &Expr) -> String {
    if let Some(text) = interpolated(expr) {
        return text;
    }
    match &expr.kind {
        ExprKind::Literal(literal) => constant(literal),
        ExprKind::Template(text) => quoted(&text.text.value),
        ExprKind::Path(of) => path(of),
        ExprKind::List(items) => format!("[{}]", list(items)),
        ExprKind::Object(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|e| {
                    let value = e.value.as_ref().map_or_else(|| e.key.value.to_string(), print);
                    format!("{}: {value}", quoted(&e.key.value))
                })
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        ExprKind::Call { function, args } => format!("{}({})", function.value, list(args)),
        ExprKind::Method { receiver: on, method, args } => {
            format!("{}.{}({})", receiver(on, false), method.value, list(args))
        }
        ExprKind::Subscript { base, index } => {
            format!("{}[{}]", receiver(base, false), print(index))
        }
        ExprKind::Member { base, segment } => {
            format!("{}{}", receiver(base, true), part(segment))
        }
        ExprKind::Spread(operand) => format!("*{}", at(Level::Sign, operand)),
        ExprKind::Ellipsis => "...".to_owned(),
        ExprKind::Unary { op: UnaryOp::Not, operand } => {
            format!("not {}", at(Level::Not, operand))
        }
        // `-5` is a literal; `-(5)` negates one.
        ExprKind::Unary { op: UnaryOp::Negate, operand }
            if matches!(operand.kind, ExprKind::Literal(Literal::Number(_))) =>
        {
            format!("-({})", print(operand))
        }
        ExprKind::Unary { op: UnaryOp::Negate, operand } => {
            format!("-{}", at(Level::Sign, operand))
        }
        ExprKind::Unary { op: UnaryOp::Plus, operand } => format!("+{}", at(Level::Sign, operand)),
        ExprKind::Unary { op: UnaryOp::IsNumber, .. } => expr.to_string(),
        ExprKind::IsSet { operand, negated } => {
            let not = if *negated { "" } else { "not " };
            format!("{} is {not}None", at(Level::Sum, operand))
        }
        ExprKind::Binary { op, left, right } => {
            let (left_level, right_level) = match of_operator(*op) {
                Level::Sum => (Level::Sum, Level::Product),
                Level::Product => (Level::Product, Level::Sign),
                _ => (Level::Sum, Level::Sum),
            };
            format!("{} {op} {}", at(left_level, left), at(right_level, right))
        }
        ExprKind::And(parts) => {
            parts.iter().map(|p| at(Level::Not, p)).collect::<Vec<_>>().join(" and ")
        }
        ExprKind::Or(parts) => {
            parts.iter().map(|p| at(Level::And, p)).collect::<Vec<_>>().join(" or ")
        }
        ExprKind::Conditional { condition, then, otherwise } => format!(
            "{} if {} else {}",
            at(Level::Or, then),
            at(Level::Or, condition),
            print(otherwise)
        ),
    }
}

/// A sum that was written as one text with placeholders: its texts are where the whole is.
fn interpolated(expr: &Expr) -> Option<String> {
    let mut parts = Vec::new();
    let mut left = expr;
    while let ExprKind::Binary { op: BinaryOp::Add, left: first, right } = &left.kind
        && left.span == expr.span
    {
        parts.push(&**right);
        left = first;
    }
    if parts.is_empty() || expr.span.start >= expr.span.end {
        return None;
    }
    parts.push(left);
    let mut out = String::new();
    let mut texts = false;
    for part in parts.into_iter().rev() {
        match &part.kind {
            ExprKind::Literal(Literal::String(text))
                if part.span == expr.span
                    || (text.is_empty() && part.span == expr.span.at_start()) =>
            {
                texts = true;
                out.push_str(text);
            }
            _ => {
                let value = print(part);
                // Quotes inside a placeholder cannot be escaped.
                if value.contains(['"', '\\', '}']) {
                    return None;
                }
                out.push_str("{!");
                out.push_str(&value);
                out.push('}');
            }
        }
    }
    texts.then(|| quoted(&out))
}

fn constant(literal: &Literal) -> String {
    match literal {
        Literal::Null | Literal::Undefined => "None".to_owned(),
        Literal::Bool(true) => "True".to_owned(),
        Literal::Bool(false) => "False".to_owned(),
        Literal::Number(n) => n.to_string(),
        Literal::String(text) | Literal::Regex(text) => quoted(text),
        Literal::Date(date) => date.to_string(),
    }
}

/// A reference: `@variables.order.id`.
pub(super) fn path(path: &Path) -> String {
    let mut out = match &path.namespace {
        Some(namespace) => format!("@{}.{}", namespace.value, path.root.value),
        None => path.root.value.to_string(),
    };
    for segment in &path.segments {
        out.push_str(&part(segment));
    }
    out
}

fn part(segment: &Segment) -> String {
    match segment {
        Segment::Field(field) if name(&field.value) == field.value.as_str() => {
            format!(".{}", field.value)
        }
        Segment::Field(field) => format!("[{}]", quoted(&field.value)),
        Segment::Index(i) => format!("[{i}]"),
        Segment::Any => String::new(),
    }
}

/// Free-form data as a constant.
pub(super) fn data(value: &Data) -> String {
    match value {
        Data::Null => "None".to_owned(),
        Data::Bool(true) => "True".to_owned(),
        Data::Bool(false) => "False".to_owned(),
        Data::Number(n) => n.to_string(),
        Data::String(text) => quoted(text),
        Data::Array(items) => {
            format!("[{}]", items.iter().map(data).collect::<Vec<_>>().join(", "))
        }
        Data::Object(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(key, v)| format!("{}: {}", quoted(key), data(v))).collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}
