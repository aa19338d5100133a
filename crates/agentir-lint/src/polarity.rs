//! Whether a guardrail's check says what is allowed or what is not, and the opposite of it.

use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};

/// Whether a check reads like "the content is fine if …".
pub(crate) fn reads_like_pass(check: &Expr) -> bool {
    match &check.kind {
        ExprKind::Call { function, .. } => bare(&function.value).starts_with("not_"),
        // "There must be …" is a violation if there is not; "contains nothing bad" is no violation.
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

/// Functions that look for what should not be there. `matches_pattern` is not among them: a pattern
/// may as well be what has to be there.
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

/// What a check that says when content is fine has to be where a check says when it is not; `None`
/// for a check that is not understood well enough.
#[must_use]
pub fn violation(check: &Expr) -> Option<String> {
    understood(check).then(|| inverted(check))
}

/// Whether the opposite of a check is certain to be what its author would have written.
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

/// Something that is counted: from which limit on "fewer than" is an upper bound for good content
/// rather than a lower bound for bad.
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

/// The opposite of a check, as an author would write it in CEL.
pub(crate) fn inverted(check: &Expr) -> String {
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

/// The expression with single quotes where that is possible, since checks stand in double ones.
fn text(expr: &Expr) -> String {
    let text = expr.to_string();
    if text.contains(['\'', '\\']) { text } else { text.replace('"', "'") }
}
