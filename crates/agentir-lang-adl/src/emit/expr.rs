//! Prints conditions in the forms of Table 4, values, and texts with `${…}`.
//!
//! Conditions that Table 4 cannot express become sentences, which the model judges (B.4.5).

use super::Scope;
use crate::inline;
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, UnaryOp};
use agentir_syntax::emit::{
    expr_phrase, is_message, literal, pattern_words, readable_words, sentence, string_literal,
};
use smol_str::SmolStr;

/// Whether to keep the form of expressions, because they come from ADL, or to use forms that MICA can
/// evaluate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    AsWritten,
    ForMica,
}

/// The condition of an `if`.
pub(super) fn condition(condition: &Condition, scope: Scope<'_>) -> String {
    match condition.expr() {
        Some(expr) => of_expr(expr, scope),
        None if scope.form == Form::AsWritten => words(&condition.text.value),
        None => words(&sentence(&condition.text.value)),
    }
}

/// Words for the model, so that the parser of conditions reads them as such.
fn words(text: &str) -> String {
    readable_words(text, inline::reads_as_words)
}

/// The negation of `condition`.
pub(super) fn negation(condition: &Condition, scope: Scope<'_>) -> String {
    let Some(expr) = condition.expr() else {
        return words(&format!("it is not the case that {}", condition.text.value));
    };
    let negated =
        Expr::new(ExprKind::Unary { op: UnaryOp::Not, operand: Box::new(expr.clone()) }, expr.span);
    match negated {
        Ok(negated) => of_expr(&negated, scope),
        Err(_) => expr_phrase(expr),
    }
}

fn of_expr(expr: &Expr, scope: Scope<'_>) -> String {
    if let Some(examples) = alternatives(expr) {
        let quoted: Vec<_> = examples.iter().map(|e| string_literal(e)).collect();
        return format!("the user claims {}", quoted.join(", "));
    }
    let printed = match scope.form {
        Form::AsWritten => as_written(scope, expr, 0),
        Form::ForMica => for_mica(scope, expr, false).map(|(text, _)| text),
    };
    // Also what refers to something that ADL has no name for: the model can still judge the words.
    printed.unwrap_or_else(|| words(&expr_phrase(expr)))
}

/// The alternatives that the user's message is compared with, if the condition is only that.
fn alternatives(expr: &Expr) -> Option<Vec<SmolStr>> {
    let examples = |e: &Expr| match literal(e)? {
        Literal::String(text) => Some(vec![text.clone()]),
        // `yes|sure` is a list of alternatives.
        Literal::Regex(text) => Some(pattern_words(text)?.into_iter().map(SmolStr::new).collect()),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Or(parts) => {
            let all: Option<Vec<_>> = parts.iter().map(alternatives).collect();
            Some(all?.concat())
        }
        ExprKind::Binary {
            op:
                BinaryOp::Equal
                | BinaryOp::Contains
                | BinaryOp::StartsWith
                | BinaryOp::EndsWith
                | BinaryOp::Matches,
            left,
            right,
        } if is_message(left) => examples(right),
        ExprKind::Binary { op: BinaryOp::In, left, right } if is_message(left) => {
            let ExprKind::List(items) = &right.kind else { return None };
            let all: Option<Vec<_>> = items.iter().map(examples).collect();
            Some(all?.concat())
        }
        ExprKind::Method { receiver, method, args } if is_message(receiver) => {
            let compares = ["contains", "includes", "startsWith", "endsWith", "matches"];
            compares.contains(&method.value.as_str()).then(|| examples(args.first()?))?
        }
        ExprKind::Call { function, args } if function.value.eq_ignore_ascii_case("INTENT") => {
            examples(args.first()?)
        }
        _ => None,
    }
}

/// A printed condition and its precedence: `or` 0, `and` 1, `not` 2, comparisons 3, operands 4.
type Printed = (String, u8);

fn at(level: u8, (text, own): Printed) -> String {
    if own < level { format!("({text})") } else { text }
}

fn joined(parts: Vec<Printed>, word: &str, level: u8) -> Printed {
    let parts: Vec<_> = parts.into_iter().map(|p| at(level + 1, p)).collect();
    (parts.join(word), level)
}

const fn comparison(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is => "==",
        BinaryOp::NotEqual | BinaryOp::StrictNotEqual | BinaryOp::IsNot => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        _ => return None,
    })
}

/// An expression that came from ADL, in its original form.
fn as_written(scope: Scope<'_>, expr: &Expr, level: u8) -> Option<String> {
    let (text, own) = match &expr.kind {
        ExprKind::Or(parts) => (all(scope, parts, " or ", 1)?, 0),
        ExprKind::And(parts) => (all(scope, parts, " and ", 2)?, 1),
        ExprKind::IsSet { operand, negated } => {
            let op = if *negated { "==" } else { "!=" };
            (format!("{} {op} None", as_written(scope, operand, 4)?), 3)
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => match &operand.kind {
            ExprKind::Binary { op: BinaryOp::Equal, left, right } => {
                (format!("{} != {}", as_written(scope, left, 4)?, as_written(scope, right, 4)?), 3)
            }
            _ => (format!("not {}", as_written(scope, operand, 2)?), 2),
        },
        ExprKind::Binary { op: BinaryOp::Matches, left, right } => {
            (format!("re.match({}, {})", pattern(right)?, as_written(scope, left, 4)?), 4)
        }
        ExprKind::Binary { op, left, right } => {
            let op = comparison(*op)?;
            (format!("{} {op} {}", as_written(scope, left, 4)?, as_written(scope, right, 4)?), 3)
        }
        _ => (operand(scope, expr)?, 4),
    };
    Some(at(level, (text, own)))
}

fn all(scope: Scope<'_>, parts: &[Expr], word: &str, level: u8) -> Option<String> {
    let parts: Option<Vec<_>> = parts.iter().map(|p| as_written(scope, p, level)).collect();
    Some(parts?.join(word))
}

/// A condition that MICA can evaluate: without `not` and bare arguments.
fn for_mica(scope: Scope<'_>, expr: &Expr, negated: bool) -> Option<Printed> {
    let compare = |left: &Expr, op: &str, right: &Expr| {
        Some((format!("{} {op} {}", operand(scope, left)?, operand(scope, right)?), 3))
    };
    Some(match &expr.kind {
        ExprKind::Or(parts) | ExprKind::And(parts) => {
            let or = matches!(expr.kind, ExprKind::Or(_)) != negated;
            let parts: Option<Vec<_>> = parts.iter().map(|p| for_mica(scope, p, negated)).collect();
            if or { joined(parts?, " or ", 0) } else { joined(parts?, " and ", 1) }
        }
        ExprKind::Unary { op: UnaryOp::Not, operand } => for_mica(scope, operand, !negated)?,
        ExprKind::IsSet { operand: inner, negated: not_set } => {
            let op = if *not_set == negated { "!=" } else { "==" };
            (format!("{} {op} None", operand(scope, inner)?), 3)
        }
        ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
            let parts = vec![for_mica(scope, left, !negated)?, for_mica(scope, right, negated)?];
            if negated { joined(parts, " and ", 1) } else { joined(parts, " or ", 0) }
        }
        ExprKind::Binary {
            op: BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is,
            left,
            right,
        } => compare(left, if negated { "!=" } else { "==" }, right)?,
        // ABL's `!=` also holds if a side is unset. It differs from ADL's only if both are.
        ExprKind::Binary { op: BinaryOp::NotEqual, left, right }
            if !negated && literal(left).is_none() && literal(right).is_none() =>
        {
            let parts = vec![
                (format!("{} == None", operand(scope, left)?), 3),
                compare(left, "!=", right)?,
            ];
            joined(parts, " or ", 0)
        }
        ExprKind::Binary {
            op: BinaryOp::NotEqual | BinaryOp::StrictNotEqual | BinaryOp::IsNot,
            left,
            right,
        } => compare(left, if negated { "==" } else { "!=" }, right)?,
        ExprKind::Binary {
            op:
                op @ (BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual),
            left,
            right,
        } => {
            let opposite = match op {
                BinaryOp::Less => ">=",
                BinaryOp::LessEqual => ">",
                BinaryOp::Greater => "<=",
                _ => "<",
            };
            if !negated {
                compare(left, comparison(*op)?, right)?
            } else {
                // An unset value is neither less nor greater.
                let mut parts: Vec<Printed> = [left, right]
                    .into_iter()
                    .filter(|e| literal(e).is_none())
                    .map(|e| Some((format!("{} == None", operand(scope, e)?), 3)))
                    .collect::<Option<_>>()?;
                parts.push(compare(left, opposite, right)?);
                joined(parts, " or ", 0)
            }
        }
        ExprKind::Binary { op: op @ (BinaryOp::In | BinaryOp::NotIn), left, right } => {
            let ExprKind::List(items) = &right.kind else { return None };
            let not = (*op == BinaryOp::NotIn) != negated;
            let parts: Option<Vec<_>> =
                items.iter().map(|i| compare(left, if not { "!=" } else { "==" }, i)).collect();
            let parts = parts.filter(|p| !p.is_empty())?;
            if not { joined(parts, " and ", 1) } else { joined(parts, " or ", 0) }
        }
        ExprKind::Binary { op, left, right } if !negated => {
            let pattern = match (op, literal(right)?) {
                (BinaryOp::Matches, _) => pattern(right)?,
                (BinaryOp::Contains, Literal::String(text)) => {
                    string_literal(&format!(".*{}", escaped(text)))
                }
                (BinaryOp::StartsWith, Literal::String(text)) => {
                    string_literal(&format!("^{}", escaped(text)))
                }
                (BinaryOp::EndsWith, Literal::String(text)) => {
                    string_literal(&format!(".*{}$", escaped(text)))
                }
                _ => return None,
            };
            (format!("re.match({pattern}, {})", operand(scope, left)?), 4)
        }
        ExprKind::Path(_) => {
            let value = if negated { "!=" } else { "==" };
            (format!("{} {value} True", operand(scope, expr)?), 3)
        }
        ExprKind::Literal(Literal::Bool(value)) => {
            let text = if *value == negated { "False" } else { "True" };
            (format!("{text} == True"), 3)
        }
        _ => return None,
    })
}

/// A pattern for `re.match`, which matches at the start of a value.
fn pattern(expr: &Expr) -> Option<String> {
    let (Literal::Regex(text) | Literal::String(text)) = literal(expr)? else { return None };
    let own = text.strip_prefix("^(?:").and_then(|t| t.strip_suffix(')'));
    let text = match own.filter(|own| balanced(own)) {
        Some(own) => own.to_owned(),
        None if text.starts_with('^') => text.to_string(),
        None => format!(".*(?:{text})"),
    };
    let quote = if text.contains('"') { '\'' } else { '"' };
    (!text.contains(quote)).then(|| format!("{quote}{text}{quote}"))
}

/// Whether every closing parenthesis has an opening one.
fn balanced(pattern: &str) -> bool {
    let mut depth = 0_i32;
    let mut escaped = false;
    for c in pattern.chars() {
        match c {
            _ if escaped => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// Escapes the special characters of a pattern.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn operand(scope: Scope<'_>, expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Literal(Literal::Null | Literal::Undefined) => Some("None".to_owned()),
        ExprKind::Literal(Literal::Bool(value)) => {
            Some(if *value { "True" } else { "False" }.to_owned())
        }
        ExprKind::Literal(Literal::Number(number)) => Some(number.to_string()),
        ExprKind::Literal(Literal::String(text)) => Some(string_literal(text)),
        ExprKind::Path(path) => scope
            .name(path)
            .filter(|p| p.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))),
        _ => None,
    }
}
