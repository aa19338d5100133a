//! Parses conditions: expressions, or natural language for the model.

use super::context::{Context, Parsed};
use super::errors::{self, ParseFailure};
use super::token::EntryPoint;
use super::{ConstraintKind, ConstraintRule, parse};
use agentir_diagnostics::{Diagnostic, Spanned};
use agentir_expr::{Condition, ConditionKind, ExprKind, Literal, Name};
use agentir_syntax::inline::InlineText;
use agentir_syntax::rules;
use agentir_syntax::text::offset;
use std::ops::Range;

/// A condition (`WHEN`, `IF`, `check`, …).
///
/// Whatever parses as an expression is one. Otherwise the text is natural language if it looks like words,
/// and an invalid expression if it looks like operators; only the latter is reported. `quoted` tells whether
/// the author quoted the whole, which makes natural language more likely. The quotes may still be there.
pub fn condition(input: InlineText<'_>, quoted: bool, problems: &mut Vec<Diagnostic>) -> Condition {
    let (range, unwrapped) = unwrap(input, input.trimmed());
    condition_in(input, range, quoted || unwrapped, problems)
}

/// `REQUIRE condition BEFORE …`, also `WARN`, `LIMIT`, `RESTRICT` (specification 3.8).
pub fn constraint_rule(
    input: InlineText<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<ConstraintRule> {
    let mut foreign = Vec::new();
    match parse(input, input.trimmed(), EntryPoint::Constraint, &mut foreign) {
        Ok(Parsed::Constraint(rule)) => {
            if is_text(&rule.condition) {
                return Some(quoted_constraint(input, *rule, problems));
            }
            problems.extend(foreign.iter().map(|form| errors::foreign_syntax(form, &input)));
            Some(*rule)
        }
        Ok(_) => None,
        Err(failure) => natural_constraint(input, &failure, problems),
    }
}

/// Whether a condition is nothing but a quoted string, which would hold in every state.
fn is_text(condition: &Condition) -> bool {
    condition.expr().is_some_and(|e| matches!(e.kind, ExprKind::Literal(Literal::String(_))))
}

/// A constraint in quotes, which are those of the whole condition, as elsewhere: `REQUIRE "a == 1" BEFORE calling pay`,
/// also with the words behind it: `REQUIRE "a == 1 BEFORE calling pay"`.
fn quoted_constraint(
    input: InlineText<'_>,
    mut rule: ConstraintRule,
    problems: &mut Vec<Diagnostic>,
) -> ConstraintRule {
    let whole = input.trimmed();
    let text = input.text.get(whole.clone()).unwrap_or_default();
    let first = text.find(['"', '\'']).unwrap_or(text.len());
    let quote = text.get(first..).and_then(|rest| rest.chars().next()).unwrap_or_default();
    // The text is the whole condition, so that no other quote follows it.
    let last = text.rfind(quote).unwrap_or(first);
    let quoted = whole.start + first..whole.start + last + quote.len_utf8();
    let (mut range, unwrapped) = unwrap(input, quoted);
    if !unwrapped {
        // Its escapes belong to a text.
        let span = rule.condition.span();
        problems.push(
            Diagnostic::error(
                rules::INVALID_EXPRESSION,
                span,
                "a quoted string is not a condition",
            )
            .help("write the condition without the quotes around it"),
        );
        rule.condition.kind = ConditionKind::Invalid;
        return rule;
    }
    let inside = input.text.get(range.clone()).unwrap_or_default();
    if let Some(at) = first_before(inside) {
        let before = range.start + at;
        let rest = inside.get(at + BEFORE.len()..).unwrap_or_default();
        let words = words(input, before + BEFORE.len(), rest);
        let context = Context { input };
        rule.checkpoint = Some(match rule.checkpoint {
            None => context.checkpoint(offset(before), offset(range.end), &words),
            // Another one follows the quotes.
            Some(_) => context.checkpoint(offset(before), offset(whole.end), &[]),
        });
        range.end = range.start + inside.get(..at).unwrap_or_default().trim_end().len();
    }
    rule.condition = condition_in(input, range, true, problems);
    if is_text(&rule.condition) {
        // Quotes in quotes: words for the model.
        rule.condition.kind = ConditionKind::Natural;
    }
    rule
}

/// A constraint whose condition is not an expression, split by hand as the grammar would.
fn natural_constraint(
    input: InlineText<'_>,
    failure: &ParseFailure<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<ConstraintRule> {
    let context = Context { input };
    let whole = input.trimmed();
    let text = input.text.get(whole.clone()).unwrap_or_default();
    let word = text.split_whitespace().next().unwrap_or_default();
    let split = |checkpoint: Option<usize>, problems: &mut Vec<Diagnostic>| {
        let condition = text.get(word.len()..checkpoint.unwrap_or(text.len())).unwrap_or_default();
        let indent = condition.len() - condition.trim_start().len();
        let start = whole.start + word.len() + indent;
        let (range, quoted) = unwrap(input, start..start + condition.trim().len());
        condition_in(input, range, quoted, problems)
    };
    let mut checkpoint = first_before(text);
    let is_blank = |at: Option<usize>| {
        text.get(word.len()..at.unwrap_or(text.len())).is_none_or(|text| text.trim().is_empty())
    };
    let (Some(kind), false) = (ConstraintKind::from_word(word), is_blank(checkpoint)) else {
        problems.extend(failure.diagnostic());
        return None;
    };
    let mut found = Vec::new();
    let mut condition = split(checkpoint, &mut found);
    // No expression, and no words for the model: a point may be lost in it.
    if matches!(condition.kind, ConditionKind::Invalid)
        && let Some(earlier) = befores_of(text, |_, _| true).into_iter().next()
        && Some(earlier) != checkpoint
        && !is_blank(Some(earlier))
    {
        checkpoint = Some(earlier);
        found.clear();
        condition = split(checkpoint, &mut found);
    }
    problems.append(&mut found);
    let kind = Spanned::new(kind, input.origin.span(whole.start..whole.start + word.len()));
    let checkpoint = checkpoint.map(|at| {
        let rest = text.get(at + BEFORE.len()..).unwrap_or_default();
        let words = words(input, whole.start + at + BEFORE.len(), rest);
        context.checkpoint(offset(whole.start + at), offset(whole.end), &words)
    });
    Some(ConstraintRule { kind, condition, checkpoint })
}

const BEFORE: &str = "BEFORE";

/// The words of `text`, which starts at `start`.
fn words(input: InlineText<'_>, start: usize, text: &str) -> Vec<Spanned<Name>> {
    let mut from = 0;
    let word = |word: &str| {
        let at = from + text.get(from..)?.find(word)?;
        from = at + word.len();
        Some(Spanned::new(Name::new(word), input.origin.span(start + at..start + from)))
    };
    text.split_whitespace().filter_map(word).collect()
}

/// The position of the first `BEFORE` of a text: what stands behind it is no condition, so that no point is lost in one.
fn first_before(text: &str) -> Option<usize> {
    befores(text).into_iter().next()
}

/// The positions of the words `BEFORE` that begin a point, outside of quotes: in capitals, or in front of a word for a call
/// or an answer.
pub fn befores(text: &str) -> Vec<usize> {
    befores_of(text, |written, next| {
        written == BEFORE || CALLING.contains(&next) || RETURNING.contains(&next)
    })
}

/// The positions of the words `before` outside of quotes that, with the next word, mean a point.
fn befores_of(text: &str, is_meant: impl Fn(&str, &str) -> bool) -> Vec<usize> {
    let lower = text.to_ascii_lowercase();
    let in_name = |c: char| c.is_alphanumeric() || c == '_';
    // An odd quote is an apostrophe, or ends nowhere.
    let is_quoted = |at: usize| {
        let quotes = |part: &str| part.replace("\\\"", "").matches('"').count();
        let (before, after) = lower.split_at(at);
        quotes(before) % 2 == 1 && quotes(after) % 2 == 1
    };
    lower
        .match_indices("before")
        .map(|(at, _)| at)
        .filter(|at| {
            let (before, after) = (lower.get(..*at), lower.get(at + BEFORE.len()..));
            let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
            let is_word = !before.ends_with(in_name) && !after.starts_with(in_name);
            let next = after.trim_start_matches(|c: char| !in_name(c));
            let next = next.split(|c: char| !in_name(c)).next().unwrap_or_default();
            let written = text.get(*at..at + BEFORE.len()).unwrap_or_default();
            is_word && is_meant(written, next) && !is_quoted(*at)
        })
        .collect()
}

/// Verbs that mean a call.
pub const CALLING: &[&str] =
    &["calling", "call", "calls", "invoking", "using", "running", "executing"];
/// Verbs that mean an answer.
pub const RETURNING: &[&str] = &["returning", "responding", "answering", "replying"];

/// Removes quotes around the whole. Escapes are kept; they are the same inside.
fn unwrap(input: InlineText<'_>, range: Range<usize>) -> (Range<usize>, bool) {
    let text = input.text.get(range.clone()).unwrap_or_default();
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
    input: InlineText<'_>,
    range: Range<usize>,
    quoted: bool,
    problems: &mut Vec<Diagnostic>,
) -> Condition {
    let text = input.text.get(range.clone()).unwrap_or_default();
    let span = input.origin.span(range.clone());
    let mut foreign = Vec::new();
    let kind = match parse(input, range, EntryPoint::Expr, &mut foreign) {
        Ok(Parsed::Expr(expr)) => {
            problems.extend(foreign.iter().map(|form| errors::foreign_syntax(form, &input)));
            ConditionKind::Expr(*expr)
        }
        Err(failure) if !is_natural(text, quoted) => {
            problems.extend(failure.diagnostic().map(|mut diagnostic| {
                if text.contains("{{") {
                    diagnostic.help =
                        Some("variables in conditions are written without braces".to_owned());
                }
                diagnostic
            }));
            ConditionKind::Invalid
        }
        _ => ConditionKind::Natural,
    };
    Condition { text: Spanned::new(text.into(), span), kind }
}

/// Whether a text that is not an expression is natural language rather than an invalid expression.
fn is_natural(text: &str, quoted: bool) -> bool {
    let features = TextFeatures::of(text);
    if features.empty || features.symbols || features.call {
        return false;
    }
    // `user.intent is cancel order` starts like an expression and has an operator.
    if features.begins_with_path && features.operators {
        return false;
    }
    features.consecutive_words || (quoted && !features.operators)
}

/// The features of a text outside of quotes.
#[derive(Default)]
struct TextFeatures {
    empty: bool,
    /// `==`, `<`, `&&`, …
    symbols: bool,
    /// A parenthesis directly after a word.
    call: bool,
    /// Two adjacent words that are not operators.
    consecutive_words: bool,
    /// `AND`, `IS SET`, `contains`, …
    operators: bool,
    /// The first word is `a.b`.
    begins_with_path: bool,
}

impl TextFeatures {
    fn of(text: &str) -> Self {
        let mut features = Self { empty: text.trim().is_empty(), ..Self::default() };
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
            features.symbols |= bytes.contains(&b'=')
                || bytes.iter().any(|b| matches!(b, b'<' | b'>'))
                || pairs().any(|p| matches!(p, (b'&', b'&') | (b'|', b'|')));
            features.call |=
                pairs().any(|(a, b)| *b == b'(' && (a.is_ascii_alphanumeric() || *a == b'_'));
            let word = piece.trim_matches(|c: char| c.is_ascii_punctuation() && c != '_');
            let operator = is_operator(word);
            features.operators |= operator;
            let bare = !operator && word.chars().any(char::is_alphabetic);
            features.consecutive_words |= bare && after_word;
            after_word = bare;
            if i == 0 {
                features.begins_with_path = word.contains('.') && !word.contains("..");
            }
        }
        features
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
    // Lower-case `set` and `is` are ordinary words.
    matches!(word, "AND" | "OR" | "NOT" | "IS" | "SET")
        || (!matches!(word, "is" | "set" | "Is" | "Set")
            && word.len() <= 10
            && OPERATORS.iter().any(|o| o.eq_ignore_ascii_case(word)))
}
