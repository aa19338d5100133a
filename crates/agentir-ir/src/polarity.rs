//! The polarity of guardrail checks: whether they describe allowed content or violations.

use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};

/// Whether a check reads like "the content is fine if …".
pub fn reads_like_pass(check: &Expr) -> bool {
    match &check.kind {
        ExprKind::Call { function, .. } => bare(&function.value).starts_with("not_"),
        // "There must be …" is a violation if it does not hold; "contains nothing bad" is not a
        // violation.
        ExprKind::Unary { op: UnaryOp::Not, operand } => finds_something_bad(operand),
        ExprKind::And(parts) => parts.iter().any(reads_like_pass),
        ExprKind::Binary { op, left, right } => {
            match (op, count(left), limit(right), limit(left), count(right)) {
                (BinaryOp::Less | BinaryOp::LessEqual, Some(least), Some(limit), ..)
                | (BinaryOp::Greater | BinaryOp::GreaterEqual, _, _, Some(limit), Some(least)) => {
                    limit >= least
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Whether an expression detects unwanted content. `matches_pattern` does not count: the pattern
/// may as well describe required content.
fn finds_something_bad(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { function, .. } => matches!(
            bare(&function.value),
            "contains_pii" | "detect_pii" | "contains_url" | "contains_email" | "contains_code"
        ),
        ExprKind::Or(parts) => parts.iter().all(finds_something_bad),
        _ => false,
    }
}

/// Returns the violation that corresponds to a check of allowed content; `None` if the check is not
/// understood well enough.
#[must_use]
pub fn violation(check: &Expr) -> Option<String> {
    understood(check).then(|| inverted(check))
}

/// Whether the negation of a check is certainly what the author meant.
fn understood(check: &Expr) -> bool {
    match &check.kind {
        ExprKind::Call { function, .. } => bare(&function.value).starts_with("not_"),
        ExprKind::Unary { op: UnaryOp::Not, operand } => finds_something_bad(operand),
        ExprKind::And(parts) => parts.iter().all(understood),
        ExprKind::Binary { op, left, right } => {
            (op.is_order() || matches!(op, BinaryOp::Equal | BinaryOp::NotEqual))
                && [left, right].iter().any(|side| matches!(side.kind, ExprKind::Literal(_)))
        }
        _ => false,
    }
}

/// For a measured quantity, returns the limit from which "fewer than" is an upper bound for allowed
/// content rather than a lower bound for violations.
fn count(expr: &Expr) -> Option<f64> {
    let name = match &expr.kind {
        ExprKind::Call { function, .. } => bare(&function.value),
        ExprKind::Method { method, .. } => method.value.as_str(),
        _ => return None,
    };
    Some(match name {
        "word_count" => 20.0,
        "sentence_count" => 2.0,
        "LENGTH" | "length" | "size" => 100.0,
        _ => return None,
    })
}

const fn limit(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Number(n)) => Some(*n),
        _ => None,
    }
}

fn bare(function: &str) -> &str {
    function.strip_prefix("abl.").unwrap_or(function)
}

/// Returns the negation of a check as idiomatic CEL.
pub fn inverted(check: &Expr) -> String {
    match &check.kind {
        ExprKind::Call { function, args } => match bare(&function.value).strip_prefix("not_") {
            Some(name) => {
                let args: Vec<String> = args.iter().map(text).collect();
                format!("abl.{name}({})", args.join(", "))
            }
            None => format!("!{}", text(check)),
        },
        ExprKind::Unary { op: UnaryOp::Not, operand } => text(operand),
        ExprKind::And(parts) => joined(parts, " || "),
        ExprKind::Or(parts) => joined(parts, " && "),
        ExprKind::Binary { op, left, right } => {
            let opposite = match op {
                BinaryOp::Less => ">=",
                BinaryOp::LessEqual => ">",
                BinaryOp::Greater => "<=",
                BinaryOp::GreaterEqual => "<",
                BinaryOp::Equal => "!=",
                BinaryOp::NotEqual => "==",
                _ => return format!("!({})", text(check)),
            };
            format!("{} {opposite} {}", text(left), text(right))
        }
        _ => format!("!({})", text(check)),
    }
}

fn joined(parts: &[Expr], with: &str) -> String {
    let all: Vec<String> = parts
        .iter()
        .map(|part| match part.kind {
            ExprKind::And(_) | ExprKind::Or(_) => format!("({})", inverted(part)),
            _ => inverted(part),
        })
        .collect();
    all.join(with)
}

/// Prints an expression with single quotes if possible, because checks are double-quoted.
fn text(expr: &Expr) -> String {
    let text = expr.to_string();
    if text.contains(['\'', '\\']) { text } else { text.replace('"', "'") }
}
