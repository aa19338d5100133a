//! Tests of strings against literals: which of them imply others, and which can never hold.
//!
//! The solver has no theory of containment. `contains("train")` implies `contains("rain")` because one literal contains
//! the other; this module compares such tests by their literals, through conjunctions and disjunctions, changes of
//! letter case and trimming.

use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path};
use std::cell::Cell;

/// The maximum depth of conditions.
const MAX_DEPTH: u8 = 24;

/// The maximum number of comparisons of two tests.
const MAX_PAIRS: u32 = 4096;

/// What a test does to a string before it looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    Lower,
    Upper,
    Trim,
}

/// How a test looks at a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Equals,
    Starts,
    Ends,
    Contains,
}

/// A test of one string against a literal.
#[derive(Debug, Clone, Copy)]
struct TextTest<'e> {
    subject: &'e Expr,
    change: Change,
    look: Look,
    literal: &'e str,
}

/// Whether one condition holds wherever another does, because of the literals in their tests of strings.
pub(crate) fn implies(this: &Expr, other: &Expr, is_text: &dyn Fn(&Path) -> bool) -> bool {
    Comparison { is_text, budget: Cell::new(MAX_PAIRS) }.implies(this, other, 0)
}

/// A comparison of two conditions.
struct Comparison<'t> {
    /// Whether a variable is known to be a string. A list contains an item, but not a part of it.
    is_text: &'t dyn Fn(&Path) -> bool,
    budget: Cell<u32>,
}

impl Comparison<'_> {
    fn implies(&self, this: &Expr, other: &Expr, depth: u8) -> bool {
        let budget = self.budget.get();
        if depth > MAX_DEPTH || budget == 0 {
            return false;
        }
        self.budget.set(budget - 1);
        let depth = depth + 1;
        if let ExprKind::Or(parts) = &this.kind {
            return parts.iter().all(|part| self.implies(part, other, depth));
        }
        if let ExprKind::And(parts) = &other.kind {
            return parts.iter().all(|part| self.implies(this, part, depth));
        }
        if let ExprKind::And(parts) = &this.kind
            && parts.iter().any(|part| self.implies(part, other, depth))
        {
            return true;
        }
        if let ExprKind::Or(parts) = &other.kind {
            return parts.iter().any(|part| self.implies(this, part, depth));
        }
        // Each literal of a list must imply one of the other's.
        let (Some(of_this), Some(of_other)) = (tests(this), tests(other)) else { return false };
        !of_this.is_empty()
            && of_this.iter().all(|a| of_other.iter().any(|b| a.implies(b, self.is_text)))
    }
}

/// Whether a test can never hold: `LOWER(city) == "Ulm"`.
pub(crate) fn is_impossible(expr: &Expr) -> bool {
    is_impossible_at(expr, 0)
}

fn is_impossible_at(expr: &Expr, depth: u8) -> bool {
    match &expr.kind {
        _ if depth > MAX_DEPTH => false,
        ExprKind::And(parts) => parts.iter().any(|part| is_impossible_at(part, depth + 1)),
        ExprKind::Or(parts) => parts.iter().all(|part| is_impossible_at(part, depth + 1)),
        _ => tests(expr)
            .is_some_and(|all| !all.is_empty() && all.iter().all(TextTest::is_impossible)),
    }
}

/// The tests of one comparison: one, or one for each item of a list.
fn tests(expr: &Expr) -> Option<Vec<TextTest<'_>>> {
    let (left, right, look) = match &expr.kind {
        ExprKind::Binary { op, left, right } => {
            let look = match op {
                BinaryOp::Contains => Look::Contains,
                BinaryOp::StartsWith => Look::Starts,
                BinaryOp::EndsWith => Look::Ends,
                BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is | BinaryOp::In => {
                    Look::Equals
                }
                BinaryOp::Matches => return pattern(left, right).map(|test| vec![test]),
                _ => return None,
            };
            // A literal may stand on either side of `==`, and on the left of Python's `in`.
            let swapped = look == Look::Equals && matches!(left.kind, ExprKind::Literal(_));
            match (op, swapped) {
                (BinaryOp::In, true) => (&**right, &**left, Look::Contains),
                (_, true) => (&**right, &**left, look),
                (_, false) => (&**left, &**right, look),
            }
        }
        ExprKind::Method { receiver, method, args } => {
            let [arg] = args.as_slice() else { return None };
            let look = match method.value.as_str() {
                "contains" | "includes" => Look::Contains,
                "startsWith" => Look::Starts,
                "endsWith" => Look::Ends,
                _ => return None,
            };
            (&**receiver, arg, look)
        }
        ExprKind::Call { function, args } => match (function.value.as_str(), args.as_slice()) {
            (name, [text, part]) => {
                let look = match name.to_ascii_uppercase().as_str() {
                    "CONTAINS" => Look::Contains,
                    "STARTS_WITH" | "STARTSWITH" => Look::Starts,
                    "ENDS_WITH" | "ENDSWITH" => Look::Ends,
                    _ => return None,
                };
                (text, part, look)
            }
            _ => return None,
        },
        _ => return None,
    };
    let (subject, change) = changed(left)?;
    let test = |literal| TextTest { subject, change, look, literal };
    // `==` converts texts that are numbers.
    let converts = |text: &str| look == Look::Equals && text.trim().parse::<f64>().is_ok();
    match &right.kind {
        ExprKind::Literal(Literal::String(text)) if !converts(text) => Some(vec![test(text)]),
        ExprKind::List(items) => items
            .iter()
            .map(|item| match &item.kind {
                ExprKind::Literal(Literal::String(text)) if !converts(text) => {
                    Some(test(text.as_str()))
                }
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// A variable, and what is done to it.
fn changed(expr: &Expr) -> Option<(&Expr, Change)> {
    let by_name = |name: &str| match name.to_ascii_lowercase().as_str() {
        "lower" | "tolowercase" | "lowercase" => Some(Change::Lower),
        "upper" | "touppercase" | "uppercase" => Some(Change::Upper),
        "trim" | "strip" => Some(Change::Trim),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Path(_) => Some((expr, Change::None)),
        ExprKind::Call { function, args } => match args.as_slice() {
            [of] if of.as_path().is_some() => Some((of, by_name(&function.value)?)),
            _ => None,
        },
        ExprKind::Method { receiver, method, args } => (args.is_empty()
            && receiver.as_path().is_some())
        .then(|| Some((&**receiver, by_name(&method.value)?)))?,
        _ => None,
    }
}

/// A pattern without operators, but for anchors, is a test of containment.
fn pattern<'e>(left: &'e Expr, right: &'e Expr) -> Option<TextTest<'e>> {
    let (subject, change) = changed(left)?;
    let (ExprKind::Literal(Literal::Regex(text)) | ExprKind::Literal(Literal::String(text))) =
        &right.kind
    else {
        return None;
    };
    let text = text.as_str();
    // Python's `re.match` looks at the start.
    let text = match text.strip_prefix("^(?:").and_then(|rest| rest.strip_suffix(')')) {
        Some(inside) => {
            let literal = match inside.strip_prefix(".*") {
                Some(rest) => rest.strip_suffix(".*").unwrap_or(rest),
                None => inside,
            };
            let look = if literal == inside { Look::Starts } else { Look::Contains };
            return is_plain(literal).then_some(TextTest { subject, change, look, literal });
        }
        None => text,
    };
    let (literal, starts) = match text.strip_prefix('^') {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (literal, ends) = match literal.strip_suffix('$') {
        Some(rest) => (rest, true),
        None => (literal, false),
    };
    let look = match (starts, ends) {
        (true, true) => Look::Equals,
        (true, false) => Look::Starts,
        (false, true) => Look::Ends,
        (false, false) => Look::Contains,
    };
    is_plain(literal).then_some(TextTest { subject, change, look, literal })
}

fn is_plain(literal: &str) -> bool {
    !literal.is_empty()
        && literal.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'))
}

impl TextTest<'_> {
    /// Whether another test of the same string holds wherever this does.
    fn implies(&self, other: &Self, is_text: &dyn Fn(&Path) -> bool) -> bool {
        if self.subject != other.subject || self.is_impossible() {
            return false;
        }
        let may_be_list = self.change == Change::None
            && other.change == Change::None
            && (self.look, other.look) == (Look::Contains, Look::Contains);
        if may_be_list && !self.subject.as_path().is_some_and(is_text) {
            return false;
        }
        let known = match (self.change, other.change) {
            (own, others) if own == others => self.literal.to_owned(),
            (Change::None, Change::Lower) | (Change::Upper, Change::Lower) => {
                self.literal.to_lowercase()
            }
            (Change::None, Change::Upper) | (Change::Lower, Change::Upper) => {
                self.literal.to_uppercase()
            }
            (Change::None, Change::Trim) => {
                let trimmed = self.literal.trim();
                // What is at the end of the string is at the end of the trimmed one unless it is space.
                if trimmed.len() != self.literal.len() && self.look != Look::Contains {
                    return false;
                }
                trimmed.to_owned()
            }
            // What a trimmed string contains, the string contains.
            (Change::Trim, Change::None) if other.look == Look::Contains => self.literal.to_owned(),
            _ => return false,
        };
        match (self.look, other.look) {
            (Look::Equals, Look::Equals) => known == other.literal,
            (Look::Equals | Look::Starts, Look::Starts) => known.starts_with(other.literal),
            (Look::Equals | Look::Ends, Look::Ends) => known.ends_with(other.literal),
            (_, Look::Contains) => known.contains(other.literal),
            _ => false,
        }
    }

    /// Whether no string passes the test, since the change removes what it looks for.
    fn is_impossible(&self) -> bool {
        match self.change {
            Change::None => false,
            Change::Lower => self.literal.to_lowercase() != self.literal,
            Change::Upper => self.literal.to_uppercase() != self.literal,
            Change::Trim => match self.look {
                Look::Equals => self.literal.trim() != self.literal,
                Look::Starts => self.literal.starts_with(char::is_whitespace),
                Look::Ends => self.literal.ends_with(char::is_whitespace),
                Look::Contains => false,
            },
        }
    }
}
