//! Conditions: expressions, or words for the model to judge.

use super::context::{Context, Parsed};
use super::problems::{self, Failure};
use super::token::Goal;
use super::{ConstraintKind, ConstraintRule, parse};
use crate::leaf::Leaf;
use crate::text::offset;
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::{Condition, ConditionKind, Name};
use std::ops::Range;

/// A condition (`WHEN`, `IF`, `check`, …).
///
/// What can be read as an expression is one. Otherwise it is natural language if it looks like
/// words, and a broken expression if it looks like operators; only the latter is reported. `quoted`
/// says that the author put the whole in quotes, which makes natural language more likely. The
/// quotes may still be there.
pub fn condition(leaf: Leaf<'_>, quoted: bool, problems: &mut Vec<Diagnostic>) -> Condition {
    let (range, unwrapped) = unwrap(leaf, leaf.trimmed());
    condition_in(leaf, range, quoted || unwrapped, problems)
}

/// `REQUIRE condition BEFORE …`, also `WARN`, `LIMIT`, `RESTRICT` (specification 3.8).
pub fn constraint_rule(leaf: Leaf<'_>, problems: &mut Vec<Diagnostic>) -> Option<ConstraintRule> {
    let mut slips = Vec::new();
    match parse(leaf, leaf.trimmed(), Goal::Constraint, &mut slips) {
        Ok(Parsed::Constraint(rule)) => {
            problems.extend(slips.iter().map(|slip| problems::slip(slip, &leaf)));
            Some(*rule)
        }
        Ok(_) => None,
        Err(failure) => constraint_in_words(leaf, &failure, problems),
    }
}

/// A constraint whose condition is no expression: cut by hand into what the grammar would see.
fn constraint_in_words(
    leaf: Leaf<'_>,
    failure: &Failure<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<ConstraintRule> {
    let context = Context { leaf };
    let whole = leaf.trimmed();
    let text = leaf.text.get(whole.clone()).unwrap_or_default();
    let word = text.split_whitespace().next().unwrap_or_default();
    let checkpoint = last_before(text);
    let condition = text.get(word.len()..checkpoint.unwrap_or(text.len())).unwrap_or_default();
    let (Some(kind), false) = (ConstraintKind::from_word(word), condition.trim().is_empty()) else {
        problems.extend(failure.diagnostic());
        return None;
    };
    let kind = Spanned::new(kind, leaf.origin.span(whole.start..whole.start + word.len()));
    let checkpoint = checkpoint.map(|at| {
        let rest = text.get(at + BEFORE.len()..).unwrap_or_default();
        let words = words(leaf, whole.start + at + BEFORE.len(), rest);
        context.checkpoint(offset(whole.start + at), offset(whole.end), &words)
    });
    let indent = condition.len() - condition.trim_start().len();
    let start = whole.start + word.len() + indent;
    let (range, quoted) = unwrap(leaf, start..start + condition.trim().len());
    let condition = condition_in(leaf, range, quoted, problems);
    Some(ConstraintRule { kind, condition, checkpoint })
}

const BEFORE: &str = "BEFORE";

/// The words of `text`, which begins at `start` in the leaf.
fn words(leaf: Leaf<'_>, start: usize, text: &str) -> Vec<Spanned<Name>> {
    let mut from = 0;
    let word = |word: &str| {
        let at = from + text.get(from..)?.find(word)?;
        from = at + word.len();
        Some(Spanned::new(Name::new(word), leaf.origin.span(start + at..start + from)))
    };
    text.split_whitespace().filter_map(word).collect()
}

/// Where the last `BEFORE` stands that is a word of its own.
fn last_before(text: &str) -> Option<usize> {
    text.rmatch_indices(BEFORE).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).unwrap_or_default();
        let after = text.get(at + BEFORE.len()..).unwrap_or_default();
        before.ends_with(char::is_whitespace) && after.starts_with(char::is_whitespace)
    })
}

/// The inside of quotes around the whole, if there are. Escapes stay; they are the same inside.
fn unwrap(leaf: Leaf<'_>, range: Range<usize>) -> (Range<usize>, bool) {
    let text = leaf.text.get(range.clone()).unwrap_or_default();
    let Some(quote @ ('"' | '\'')) = text.chars().next() else { return (range, false) };
    let mut escaped = false;
    let close = text.char_indices().skip(1).find(|&(_, c)| {
        let closes = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        closes
    });
    match close {
        Some((at, _)) if at + 1 == text.len() && !text.contains('\\') => {
            (range.start + 1..range.end - 1, true)
        }
        _ => (range, false),
    }
}

fn condition_in(
    leaf: Leaf<'_>,
    range: Range<usize>,
    quoted: bool,
    problems: &mut Vec<Diagnostic>,
) -> Condition {
    let text = leaf.text.get(range.clone()).unwrap_or_default();
    let span = leaf.origin.span(range.clone());
    let mut slips = Vec::new();
    let kind = match parse(leaf, range, Goal::Expr, &mut slips) {
        Ok(Parsed::Expr(expr)) => {
            problems.extend(slips.iter().map(|slip| problems::slip(slip, &leaf)));
            ConditionKind::Expr(*expr)
        }
        Err(failure) if !is_natural(text, quoted) => {
            problems.extend(failure.diagnostic().map(|mut diagnostic| {
                if text.contains("{{") {
                    diagnostic.help = Some("conditions take variables without braces".to_owned());
                }
                diagnostic
            }));
            ConditionKind::Invalid
        }
        _ => ConditionKind::Natural,
    };
    Condition { text: Spanned::new(text.into(), span), kind }
}

/// Whether a text that is no expression is natural language rather than a broken expression.
fn is_natural(text: &str, quoted: bool) -> bool {
    let shape = Shape::of(text);
    if shape.empty || shape.symbols || shape.call {
        return false;
    }
    // `user.intent is cancel order` begins like an expression and has an operator.
    if shape.begins_with_path && shape.operators {
        return false;
    }
    shape.consecutive_words || (quoted && !shape.operators)
}

/// What a text is made of, quoted parts left out.
#[derive(Default)]
struct Shape {
    empty: bool,
    /// `==`, `<`, `&&`, …
    symbols: bool,
    /// A bracket right behind a word.
    call: bool,
    /// Two words side by side that are no operators.
    consecutive_words: bool,
    /// `AND`, `IS SET`, `contains`, …
    operators: bool,
    /// The first word is `a.b`.
    begins_with_path: bool,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self { empty: text.trim().is_empty(), ..Self::default() };
        let (mut after_word, mut in_quotes) = (false, false);
        for (i, piece) in text.split_whitespace().enumerate() {
            let quoted = in_quotes || piece.starts_with('"');
            in_quotes ^= piece.matches('"').count() % 2 == 1;
            if quoted {
                after_word = false;
                continue;
            }
            let bytes = piece.as_bytes();
            let pairs = || bytes.iter().zip(bytes.iter().skip(1));
            shape.symbols |= bytes.contains(&b'=')
                || bytes.iter().any(|b| matches!(b, b'<' | b'>'))
                || pairs().any(|p| matches!(p, (b'&', b'&') | (b'|', b'|')));
            shape.call |=
                pairs().any(|(a, b)| *b == b'(' && (a.is_ascii_alphanumeric() || *a == b'_'));
            let word = piece.trim_matches(|c: char| c.is_ascii_punctuation() && c != '_');
            let operator = is_operator(word);
            shape.operators |= operator;
            let bare = !operator && word.chars().any(char::is_alphabetic);
            shape.consecutive_words |= bare && after_word;
            after_word = bare;
            if i == 0 {
                shape.begins_with_path = word.contains('.') && !word.contains("..");
            }
        }
        shape
    }
}

fn is_operator(word: &str) -> bool {
    const OPERATORS: &[&str] = &[
        "AND",
        "OR",
        "NOT",
        "IMPLIES",
        "IN",
        "IS",
        "SET",
        "matches",
        "contains",
        "startsWith",
        "endsWith",
        "is_number",
    ];
    // `set` and `is` in lower case are everyday words.
    matches!(word, "AND" | "OR" | "NOT" | "IS" | "SET")
        || (!matches!(word, "is" | "set" | "Is" | "Set")
            && word.len() <= 10
            && OPERATORS.iter().any(|o| o.eq_ignore_ascii_case(word)))
}
