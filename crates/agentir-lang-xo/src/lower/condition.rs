//! Lowers conditions of transitions.

use super::{Context, builders};
use crate::tables::{ANSWERS_BY_LANGUAGE, OPERATORS, Operator};
use crate::{Json, Kind, Text, script};
use agentir_diagnostics::{Diagnostic, Span};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal};
use agentir_syntax::emit::ANSWER_TAIL;
use agentir_syntax::rules;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// The language whose words for yes and no are taken where none are known.
const FALLBACK: &str = "en";

/// What the conditions of a dialog may refer to.
pub(super) struct Scope<'j> {
    /// The component names of nodes, by node id.
    pub(super) fields: FxHashMap<&'j str, &'j str>,
    /// Synonyms of yes and no that the node defines.
    pub(super) synonyms: [Vec<SmolStr>; 2],
}

/// Lowers a condition; `None` if ABL cannot express it.
pub(super) fn condition(cx: &mut Context<'_, '_>, test: &Json, scope: &Scope<'_>) -> Option<Expr> {
    let span = test.span;
    if let Some(tests) = test.get("tests") {
        let any = test.take_text("conjoin").is_some_and(|t| t.value.eq_ignore_ascii_case("or"));
        let mut all = tests.items().iter().filter_map(|t| condition(cx, t, scope));
        let first = all.next()?;
        let join = |a, b| if any { Expr::or(a, b) } else { Expr::and(a, b) }.ok();
        return all.collect::<Vec<_>>().into_iter().try_fold(first, join);
    }
    if let Some(answer) = test.take_text("dialogAct") {
        return is_answer(cx, answer, scope, span);
    }
    let left = if let Some(field) = test.take_text("field") {
        let name = scope.fields.get(field.value.as_str()).copied().unwrap_or(&field.value);
        builders::variable(cx.names.entity(name, field.span))
    } else if let Some(context) = test.take_text("context") {
        let text = context.value.trim();
        // The name of the context itself is often omitted.
        let known = ["context", "env", "content"];
        let whole = known.iter().any(|k| {
            text.strip_prefix(k).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        });
        let text = if whole { text.to_owned() } else { format!("context.{text}") };
        let path = script::expression(&Text::synthetic(text, context.span));
        match path {
            Some(e) => cx.names.expr(&e),
            None => {
                cx.report_untranslated(vec![context.clone()]);
                return None;
            }
        }
    } else if test.get("intent").is_some() {
        let intent = test.take_text("intent")?;
        let user = agentir_diagnostics::Spanned::new(SmolStr::new_static("user"), intent.span);
        let mut path = agentir_expr::Path::variable(user);
        let field = agentir_diagnostics::Spanned::new(SmolStr::new_static("intent"), intent.span);
        path.segments.push(agentir_expr::Segment::Field(field));
        let left = Expr::path(path, intent.span);
        if test.get("value").is_none_or(Json::is_empty) {
            let right = builders::text(&intent.value, intent.span);
            return binary(BinaryOp::Equal, left, right, span);
        }
        left
    } else {
        cx.problem(
            Diagnostic::warning(
                rules::UNTRANSLATED,
                span,
                "this condition is of an unknown kind, so the branch is never taken",
            )
            .help("write the condition by hand where the branch is missing"),
        );
        return None;
    };
    comparison(cx, test, left)
}

fn comparison(cx: &mut Context<'_, '_>, test: &Json, left: Expr) -> Option<Expr> {
    let span = test.span;
    let named = test.get("op").map(Json::take).and_then(Json::text);
    let name = named.map_or("", |t| t.value.as_str());
    let operator = OPERATORS.iter().find(|(n, _)| *n == name).map(|(_, o)| *o);
    let Some(operator) = operator else {
        cx.problem(
            Diagnostic::warning(
                rules::INVALID_VALUE,
                named.map_or(span, |t| t.span),
                format!("unknown operator `{name}`, so the branch is never taken"),
            )
            .help("write the condition by hand where the branch is missing"),
        );
        return None;
    };
    let exists = |negated: bool| {
        let operand = Box::new(left.clone());
        Expr::new(ExprKind::IsSet { operand, negated }, span).ok()
    };
    let right = match operator {
        Operator::Exists => return exists(false),
        Operator::Missing => return exists(true),
        // Substring match.
        Operator::Contains => {
            let value = test.get("value").map(Json::take)?;
            let text = value.text().map(|t| cx.decoded(t).value);
            text.map_or_else(|| self::value(cx, value), |t| builders::text(&t, value.span))
        }
        _ => value(cx, test.get("value").map(Json::take)?),
    };
    let op = match operator {
        Operator::NotEqual => BinaryOp::NotEqual,
        Operator::Greater => BinaryOp::Greater,
        Operator::GreaterEqual => BinaryOp::GreaterEqual,
        Operator::Less => BinaryOp::Less,
        Operator::LessEqual => BinaryOp::LessEqual,
        Operator::Contains => BinaryOp::Contains,
        _ => BinaryOp::Equal,
    };
    binary(op, left, right, span)
}

fn binary(op: BinaryOp, left: Expr, right: Expr, span: Span) -> Option<Expr> {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::new(ExprKind::Binary { op, left, right }, span).ok()
}

/// The right operand: numeric strings become numbers, since both languages compare them alike.
fn value(cx: &mut Context<'_, '_>, value: &Json) -> Expr {
    let span = value.span;
    let number = |text: &str| {
        let number: f64 = text.parse().ok()?;
        // `007` and `1e3` stay strings.
        let written = agentir_ir::Data::from(agentir_ir::Number(number)).to_string();
        (written == text).then(|| Expr::literal(Literal::Number(number), span))
    };
    match &value.kind {
        Kind::Bool(b) => Expr::literal(Literal::Bool(*b), span),
        Kind::Number(text) => number(text).unwrap_or_else(|| builders::text(text, span)),
        Kind::String(text) => {
            let text = cx.decoded(text);
            number(&text.value).unwrap_or_else(|| builders::text(&text.value, span))
        }
        _ => Expr::literal(Literal::Null, span),
    }
}

/// That an answer is yes, and that it is no.
pub(super) fn answers(cx: &Context<'_, '_>, synonyms: &[Vec<SmolStr>; 2], span: Span) -> Vec<Expr> {
    let [yes, no] = synonyms;
    [(true, yes), (false, no)]
        .into_iter()
        .filter_map(|(is_yes, own)| one_of(&words(cx, is_yes, own), span))
        .collect()
}

/// `LOWER(TRIM(input)) MATCHES /^(yes|…)…$/`: an answer begins with one of the words for it, of any language that the bot
/// speaks. The message itself may be in any of them.
fn is_answer(
    cx: &mut Context<'_, '_>,
    answer: &Text,
    scope: &Scope<'_>,
    span: Span,
) -> Option<Expr> {
    let yes = answer.value.eq_ignore_ascii_case("yes");
    let [own_yes, own_no] = &scope.synonyms;
    let own = if yes { own_yes } else { own_no };
    let unknown: Vec<String> = cx
        .languages
        .iter()
        .filter(|language| words_in(language, yes).is_none())
        .map(|language| format!("`{language}`"))
        .collect();
    let said = if yes { "yes" } else { "no" };
    if !unknown.is_empty() && own.is_empty() {
        let base = cx.base;
        cx.problem(
            Diagnostic::warning(
                rules::UNTRANSLATED,
                answer.span,
                format!("the words for {said} in {} are not known", unknown.join(", ")),
            )
            .note("answers in that language are not recognized here")
            .help(format!(
                "add the words to the condition in {base}, or as synonyms of {said} in XO"
            )),
        );
    }
    one_of(&words(cx, yes, own), span)
}

/// The words for yes or no in a language, if they are known.
fn words_in(language: &str, yes: bool) -> Option<&'static [&'static str]> {
    let mut rows = ANSWERS_BY_LANGUAGE.iter();
    let row = rows.find(|(known, _, _)| super::is_same_language(known, language));
    row.map(|(_, yes_words, no_words)| if yes { *yes_words } else { *no_words })
}

/// The words for yes or no, as patterns: those of the bot's languages, and its own synonyms.
fn words(cx: &Context<'_, '_>, yes: bool, own: &[SmolStr]) -> Vec<String> {
    let known = cx.languages.iter().filter_map(|language| words_in(language, yes));
    let mut native: Vec<&str> = known.flatten().copied().collect();
    if native.is_empty() && own.is_empty() {
        native.extend(words_in(FALLBACK, yes).unwrap_or_default());
    }
    let mut all: Vec<String> = Vec::new();
    for word in native.into_iter().chain(own.iter().map(SmolStr::as_str)) {
        let word = pattern(&word.trim().to_lowercase());
        if !word.is_empty() && !all.contains(&word) {
            all.push(word);
        }
    }
    all
}

/// That the message begins with one of some words.
fn one_of(words: &[String], span: Span) -> Option<Expr> {
    let pattern = SmolStr::new(format!("^({}){ANSWER_TAIL}", words.join("|")));
    let right = Expr::literal(Literal::Regex(pattern), span);
    let input = agentir_diagnostics::Spanned::new(SmolStr::new_static("input"), span);
    let input = builders::call_of("TRIM", vec![builders::variable(input)], span)?;
    let input = builders::call_of("LOWER", vec![input], span)?;
    binary(BinaryOp::Matches, input, right, span)
}

/// A word as a pattern.
fn pattern(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        // What closes a pattern, and what has a meaning in it, may be anything.
        let special = c == '/' || c.is_ascii_punctuation() && !matches!(c, '\'' | '-' | '_');
        out.push(if special { '.' } else { c });
    }
    out
}
