//! Parses the strings inside ADL's YAML: conditions, paths, references, returns, and texts with `${…}`.
//!
//! Every function takes a scalar and reports errors.

mod context;
mod following;
mod lexer;

pub use lexer::Verb;
pub(crate) use lexer::{EntryPoint, is_word, is_word_of_conditions};

use crate::rules;
use crate::rules::{EXPRESSION_TOO_DEEP, INVALID_EXPRESSION, INVALID_TEMPLATE};
use agentir_diagnostics::{Applicability, Confidence, Diagnostic, Span, Spanned};
use agentir_expr::{
    BinaryOp, Condition, ConditionKind, Expr, ExprKind, Literal, Name, Path, Segment, Template,
    TemplateBuilder,
};
use agentir_syntax::inline::{ExprBuilder, ForeignSyntax, InlineLanguage, InlineText, SyntaxError};
use agentir_syntax::outline::{Scalar, Style};
use agentir_syntax::text::offset;
use context::{Context, Error, Parsed};
use lalrpop_util::ParseError;
use lexer::{Lexer, SyntaxErrorKind, Token};
use smol_str::SmolStr;
use std::cell::RefCell;

agentir_syntax::grammars!(inline);

/// ADL's inline languages.
pub(crate) enum Adl {}

impl InlineLanguage for Adl {
    type Token<'a> = Token<'a>;
    type Kind = SyntaxErrorKind;
    const TOO_DEEP: SyntaxErrorKind = SyntaxErrorKind::TooDeep;
}

struct ParseOutcome<'a> {
    parsed: Result<Parsed, Error<'a>>,
    accepted: AcceptedForms,
    operators: bool,
}

/// Notations that were accepted with a diagnostic.
struct AcceptedForms {
    /// Operators of other languages.
    foreign: Vec<ForeignSyntax>,
    /// Typographic characters that were read as plain ones.
    typographic: Vec<ForeignSyntax>,
}

fn parse<'a>(context: &Context<'a>, entry_point: EntryPoint) -> ParseOutcome<'a> {
    let text = context.input.text;
    let start = text.len() - text.trim_start().len();
    let mut lexer = Lexer::new(text.trim(), offset(start), entry_point);
    let parsed = grammar::inline::InlineParser::new().parse(context, lexer.by_ref());
    let accepted = AcceptedForms { foreign: lexer.foreign, typographic: lexer.typographic };
    ParseOutcome { parsed, accepted, operators: lexer.operators }
}

fn context(input: InlineText<'_>) -> Context<'_> {
    Context { input, patterns: RefCell::new(Vec::new()) }
}

/// Whether a condition would be read as words: an intent of the user, or natural language.
pub(super) fn reads_as_words(text: &str) -> bool {
    let context = context(InlineText::verbatim(text, Default::default(), 0));
    let read = parse(&context, EntryPoint::Condition);
    match read.parsed {
        Ok(Parsed::Intent(intent)) => intent.rest.is_none(),
        Ok(Parsed::Expr(_)) => false,
        Ok(_) | Err(_) => !read.operators && !text.trim().is_empty(),
    }
}

/// A condition, and the intents in it (B.4.5).
pub(super) type ConditionAndIntent = (Condition, Option<(Verb, Vec<Spanned<SmolStr>>)>);

/// A condition: intents of the user, an expression, or natural language.
pub(super) fn condition(scalar: &Scalar<'_>, problems: &mut Vec<Diagnostic>) -> ConditionAndIntent {
    scalar.with_inline(|input| {
        let text = Spanned::new(SmolStr::new(input.text.trim()), input.span());
        let context = context(input);
        let read = parse(&context, EntryPoint::Condition);
        let natural = |text| Condition { text, kind: ConditionKind::Natural };
        let result = match read.parsed {
            Ok(Parsed::Intent(intent)) => {
                read.accepted.report(input, problems);
                let mut examples = intent.examples;
                match intent.rest {
                    // `"a" or "b"` is obviously a list of examples.
                    Some(rest) if is_text(&rest) => examples.extend(text_of(&rest)),
                    Some(rest) => problems.push(ignored_beside_intent(&rest)),
                    None => {}
                }
                (natural(text), Some((intent.verb, examples)))
            }
            Ok(Parsed::Expr(expr)) => {
                read.accepted.report(input, problems);
                not_for_mica(&expr, problems);
                (Condition { text, kind: ConditionKind::Expr(*expr) }, None)
            }
            Err(error) if read.operators => {
                problems.push(broken(&context, &error));
                (Condition { text, kind: ConditionKind::Invalid }, None)
            }
            Ok(_) | Err(_) => {
                natural_language(&text, problems);
                (natural(text), None)
            }
        };
        for pattern in context.patterns.take() {
            check_pattern(&pattern.text, problems);
            if pattern.raw {
                problems.push(
                    Diagnostic::warning(
                        rules::MICA_CONDITION,
                        pattern.text.span,
                        "MICA reads the `r` as part of this pattern",
                    )
                    .note("the pattern then only matches values that begin with `r` and a quote")
                    .help("write the pattern without the `r`"),
                );
            }
        }
        result
    })
}

fn is_text(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Literal::String(_)) => true,
        ExprKind::Or(all) | ExprKind::And(all) => all.iter().all(is_text),
        _ => false,
    }
}

fn text_of(expr: &Expr) -> Vec<Spanned<SmolStr>> {
    match &expr.kind {
        ExprKind::Literal(Literal::String(text)) => vec![Spanned::new(text.clone(), expr.span)],
        ExprKind::Or(all) | ExprKind::And(all) => all.iter().flat_map(text_of).collect(),
        _ => Vec::new(),
    }
}

fn ignored_beside_intent(rest: &Expr) -> Diagnostic {
    Diagnostic::warning(
        rules::MICA_CONDITION,
        rest.span,
        "MICA ignores conditions joined to `the user claims`",
    )
    .note("it only asks the model about the quoted examples, so this part has no effect")
    .help("move it to a separate `if` inside the `then` of the other")
}

/// Reports expressions that the paper allows but MICA's evaluator does not (`condition.py`).
fn not_for_mica(expr: &Expr, problems: &mut Vec<Diagnostic>) {
    if matches!(expr.kind, ExprKind::Path(_)) {
        problems.push(
            Diagnostic::warning(
                rules::MICA_CONDITION,
                expr.span,
                "MICA cannot evaluate a condition without a comparison",
            )
            .note("MICA raises an error when the conversation reaches this")
            .help(format!("write `{expr} == True`"))
            .replace(format!("{expr} == True"), Applicability::Unsafe),
        );
    }
    expr.visit(&mut |e| {
        if let ExprKind::Binary { op, left, right } = &e.kind
            && matches!(
                op,
                BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual
            )
            && let Some(path) = [left, right].into_iter().find_map(|side| own_argument(side))
        {
            problems.push(
                Diagnostic::info(
                    rules::MICA_CONDITION,
                    e.span,
                    format!("MICA cannot compare `{path}` with a number if it is a string"),
                )
                .confidence(Confidence::Low)
                .note("values that the model extracts are mostly strings; MICA then raises an error")
                .help(format!("convert `{path}` to a number in a function first")),
            );
        }
        if let ExprKind::Literal(Literal::String(text)) = &e.kind
            && ([" and ", " or "].iter().any(|word| text.contains(word))
                || text.contains(['(', ')']))
        {
            problems.push(
                Diagnostic::warning(
                    rules::MICA_CONDITION,
                    e.span,
                    "MICA reads `and`, `or` and parentheses inside quotes as operators",
                )
                .note("it splits the condition at them, and raises an error when the conversation reaches this")
                .help("compare with a string without them, or set an argument to it first"),
            );
        }
        agentir_expr::Visit::Children
    });
}

/// The agent's own argument, if the expression is one.
fn own_argument(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Path(path) if path.segments.is_empty() => Some(&path.root.value),
        _ => None,
    }
}

/// Reports natural-language conditions: the paper allows them (3.2, B.4.5), MICA does not.
fn natural_language(text: &Spanned<SmolStr>, problems: &mut Vec<Diagnostic>) {
    let lower = text.value.to_lowercase();
    let claims = lower.contains("the user claims") || lower.contains("the user clicks");
    let finding = if text.value.is_empty() {
        Diagnostic::error(INVALID_EXPRESSION, text.span, "this condition is empty")
            .help("write `the user claims \"…\"`, or compare an argument: `status == \"open\"`")
    } else if claims {
        Diagnostic::warning(
            rules::MICA_CONDITION,
            text.span,
            "this condition has no example in plain double quotes",
        )
        .note("MICA then asks the model whether the user claims nothing at all")
        .help("add examples in plain quotes: `the user claims \"yes\", \"sure\"`")
    } else {
        Diagnostic::warning(
            rules::MICA_CONDITION,
            text.span,
            "MICA does not evaluate conditions in natural language",
        )
        .note(
            "the paper allows them (B.4.5), but MICA raises an error when the conversation reaches this",
        )
        .help("write `the user claims \"…\"` with example answers")
    };
    problems.push(finding);
}

impl AcceptedForms {
    fn report(&self, input: InlineText<'_>, problems: &mut Vec<Diagnostic>) {
        problems.extend(self.typographic.iter().map(|form| typographic(input, form)));
        problems.extend(self.foreign.iter().map(|form| {
            form.diagnostic(&input, |written, replacement| {
                format!("`{written}` is not an operator of ADL; it is read as `{replacement}`")
            })
        }));
    }
}

fn typographic(input: InlineText<'_>, form: &ForeignSyntax) -> Diagnostic {
    let ForeignSyntax { start, end, replacement } = *form;
    let written = input.slice(start, end);
    let finding = |message: String| {
        Diagnostic::warning(rules::TYPOGRAPHIC_PUNCTUATION, input.span_of(start, end), message)
    };
    if replacement != "\"" {
        return finding(format!("MICA does not support the typographic character `{written}`"))
            .help(format!("write `{replacement}`"))
            .replace(replacement, Applicability::Safe);
    }
    let inner = context::strip(written);
    finding("MICA does not recognize typographic quotes".to_owned())
        .note("MICA sees no quoted string here; editors and web pages often insert such quotes")
        .help("use plain quotes")
        .replace(format!("\"{inner}\""), Applicability::Safe)
}

fn broken(context: &Context<'_>, error: &Error<'_>) -> Diagnostic {
    let whole = context.input.span();
    let finding = |span, message: String| {
        Diagnostic::error(INVALID_EXPRESSION, span, message)
            .note("MICA raises an error when the conversation reaches this")
    };
    let help = "compare an argument with a value, for example `status == \"open\" and amount > 3`";
    match error {
        ParseError::User { error: SyntaxError { kind, start, end } } => {
            let span = context.span(*start, *end);
            match kind {
                SyntaxErrorKind::TooDeep => Diagnostic::error(
                    EXPRESSION_TOO_DEEP,
                    whole,
                    "this condition is nested too deeply",
                )
                .help("set arguments to parts of it first"),
                SyntaxErrorKind::SingleEquals => {
                    finding(span, "`=` is not a comparison operator".to_owned())
                        .help("write `==`")
                        .replace("==", Applicability::Safe)
                }
                SyntaxErrorKind::Character => {
                    let written = context.slice(*start, *end);
                    finding(span, format!("unexpected `{written}` in a condition")).help(help)
                }
            }
        }
        ParseError::UnrecognizedToken { token: (start, _, end), .. }
        | ParseError::ExtraToken { token: (start, _, end) } => {
            let written = context.slice(*start, *end);
            finding(context.span(*start, *end), format!("unexpected `{written}` in a condition"))
                .help(help)
        }
        ParseError::UnrecognizedEof { .. } | ParseError::InvalidToken { .. } => finding(
            Span::new(whole.file, whole.end, whole.end),
            "this condition is incomplete".to_owned(),
        )
        .help(help),
    }
}

/// Reports patterns that Python rejects. Features that Rust's patterns lack are not reported.
fn check_pattern(pattern: &Spanned<SmolStr>, problems: &mut Vec<Diagnostic>) {
    use regex_syntax::ast::ErrorKind as Ast;
    let Err(error) = regex_syntax::ast::parse::Parser::new().parse(&pattern.value) else { return };
    if matches!(
        error.kind(),
        Ast::UnsupportedLookAround
            | Ast::UnsupportedBackreference
            | Ast::EscapeUnrecognized
            | Ast::FlagUnrecognized
            | Ast::GroupNameInvalid
    ) {
        return;
    }
    problems.push(
        Diagnostic::error(
            rules::INVALID_PATTERN,
            pattern.span,
            format!("invalid pattern: {}", error.kind()),
        )
        .note("MICA raises an error when the conversation reaches this")
        .help("escape special characters with `\\`, and close all brackets"),
    );
}

/// The path of an argument: `name`, `agent.name` (Appendix A, `arg_path`).
pub(super) fn path(scalar: &Scalar<'_>) -> Option<Spanned<Path>> {
    scalar.with_inline(|input| {
        let context = context(input);
        match parse(&context, EntryPoint::Path).parsed {
            Ok(Parsed::Path(path)) => Some(path),
            _ => None,
        }
    })
}

/// A key as a path.
pub(super) fn key_path(text: &str, span: Span) -> Spanned<Path> {
    let context = context(InlineText::verbatim(text, span.file, span.start));
    match parse(&context, EntryPoint::Path).parsed {
        Ok(Parsed::Path(path)) => path,
        // A key that is not a name is kept unchanged.
        _ => Spanned::new(Path::variable(Spanned::new(Name::new(text), span)), span),
    }
}

/// `arg` or `ref arg` (B.5).
pub(super) fn reference(
    scalar: &Scalar<'_>,
    problems: &mut Vec<Diagnostic>,
) -> Option<(bool, Spanned<Path>)> {
    scalar.with_inline(|input| {
        let context = context(input);
        match parse(&context, EntryPoint::Reference).parsed {
            Ok(Parsed::Reference(by_reference, path)) => Some((by_reference, path)),
            _ => {
                problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        input.span(),
                        "an argument can only be bound to an argument of the ensemble",
                    )
                    .help("write `name`, or `ref name` if the agent may change it"),
                );
                None
            }
        }
    })
}

/// `status` or `status, message` (B.4.5).
pub(super) fn returned(scalar: &Scalar<'_>) -> Option<(Spanned<Name>, Option<Spanned<Name>>)> {
    scalar.with_inline(|input| {
        let context = context(input);
        match parse(&context, EntryPoint::Return).parsed {
            Ok(Parsed::Return(parts)) => Some(parts),
            _ => None,
        }
    })
}

/// A text without placeholders.
pub(super) fn plain(scalar: &Scalar<'_>) -> Template {
    scalar.with_inline(|input| {
        let text = Spanned::new(SmolStr::new(input.text), input.span());
        Template { shifts: input.shifts(), ..Template::plain(text) }
    })
}

/// A text with placeholders, `${arg}` and `${agent.arg}` (B.4.3), which are normalised to the IR's
/// notation, `{{arg}}`.
pub(super) fn template(scalar: &Scalar<'_>, problems: &mut Vec<Diagnostic>) -> Template {
    scalar.with_inline(|input| {
        if !input.text.contains('{') {
            return plain(scalar);
        }
        let mut out = TemplateBuilder::default();
        let mut at = 0;
        while let Some(found) = input.text.get(at..).and_then(|rest| rest.find("${")) {
            let open = at + found;
            out.text(input.text.get(at..open).unwrap_or_default());
            let inner = open + 2;
            let rest = input.text.get(inner..).unwrap_or_default();
            let Some(length) =
                rest.find('}').filter(|l| !rest.get(..*l).is_some_and(|i| i.contains("${")))
            else {
                problems.push(
                    Diagnostic::warning(
                        INVALID_TEMPLATE,
                        input.origin.span(open..inner),
                        "`${` has no closing `}`",
                    )
                    .note("the user sees the braces literally")
                    .help("close it: `${name}`"),
                );
                out.text("${");
                at = inner;
                continue;
            };
            let end = inner + length + 1;
            let span = input.origin.span(open..end);
            match placeholder(input, inner..inner + length) {
                Some(path) => {
                    out.value(Expr::path(path, span), span);
                }
                None => {
                    problems.push(
                        Diagnostic::warning(
                            INVALID_TEMPLATE,
                            span,
                            "`${…}` must contain the name of an argument",
                        )
                        .note("MICA inserts nothing in its place")
                        .help("set an argument to the value first, and use that here"),
                    );
                    out.text(input.text.get(open..end).unwrap_or_default());
                }
            }
            at = end;
        }
        out.text(input.text.get(at..).unwrap_or_default());
        // The text differs from its source, so only the whole has a span.
        out.finish(scalar.span)
    })
}

/// Reports placeholders in a prompt, which MICA does not resolve (`llm_agent.py`).
pub(super) fn prompt_placeholders(scalar: &Scalar<'_>, problems: &mut Vec<Diagnostic>) {
    scalar.with_inline(|input| {
        let mut at = 0;
        while let Some(found) = input.text.get(at..).and_then(|rest| rest.find("${")) {
            let open = at + found;
            let inner = open + 2;
            at = inner;
            let rest = input.text.get(inner..).unwrap_or_default();
            let Some(length) =
                rest.find(['}', '\n']).filter(|l| rest.as_bytes().get(*l) == Some(&b'}'))
            else {
                continue;
            };
            if placeholder(input, inner..inner + length).is_some() {
                let end = inner + length + 1;
                at = end;
                problems.push(
                    Diagnostic::warning(
                        rules::MICA_PROMPT,
                        input.origin.span(open..end),
                        "MICA does not fill in placeholders in a prompt",
                    )
                    .note("the model sees the name and the braces literally")
                    .help("refer to the argument in words, without `${…}`"),
                );
            }
        }
    });
}

/// The path in a placeholder. Names may have spaces.
fn placeholder(input: InlineText<'_>, range: std::ops::Range<usize>) -> Option<Path> {
    let inner = input.text.get(range.clone())?;
    let mut path: Option<Path> = None;
    let mut at = range.start;
    for name in inner.split('.') {
        let start = at + (name.len() - name.trim_start().len());
        at += name.len() + 1;
        let name = name.trim();
        let fits = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ' ' | '-'));
        if name.is_empty() || !fits {
            return None;
        }
        let name = Spanned::new(Name::new(name), input.origin.span(start..start + name.len()));
        match &mut path {
            None => path = Some(Path::variable(name)),
            Some(path) => path.segments.push(Segment::Field(name)),
        }
    }
    path
}

/// A constant as read by YAML 1.1, which MICA's server uses: `yes` is true.
pub(super) fn literal(scalar: &Scalar<'_>) -> Literal {
    if scalar.style == Style::Bare && scalar.decoded.is_none() {
        if let Some(value) = scalar.yaml_1_1_bool() {
            return Literal::Bool(value);
        }
        if matches!(scalar.raw, "null" | "Null" | "NULL" | "~" | "") {
            return Literal::Null;
        }
        if scalar.raw.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+'))
            && let Ok(number) = scalar.raw.parse::<f64>()
            && number.is_finite()
        {
            return Literal::Number(number);
        }
    }
    Literal::String(scalar.to_smol())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
mod tests {
    use super::*;
    use agentir_diagnostics::FileId;

    fn scalar(text: &str) -> Scalar<'_> {
        Scalar::bare(text, Span::new(FileId(0), 100, 100 + u32::try_from(text.len()).unwrap()))
    }

    fn read(text: &str) -> (Condition, Vec<String>, Vec<&'static str>) {
        let mut problems = Vec::new();
        let (condition, intent) = condition(&scalar(text), &mut problems);
        let examples = intent.into_iter().flat_map(|(_, e)| e).map(|e| e.value.to_string());
        (condition, examples.collect(), problems.iter().map(|p| p.rule.0).collect())
    }

    #[test]
    fn expressions_of_table_4_are_read() {
        for (text, meaning) in [
            ("a == None", "a IS NOT SET"),
            ("None != d.a", "d.a IS SET"),
            ("a != \"x\"", "NOT a == \"x\""),
            ("(a == 1 or b == True) and d.c >= 2", "(a == 1 OR b == true) AND d.c >= 2"),
            ("re.match(\"^[0-9]+$\", a)", "a matches /^[0-9]+$/"),
            ("re.match('x', a)", "a matches /^(?:x)/"),
        ] {
            let (condition, _, problems) = read(text);
            assert_eq!(
                condition.expr().map(ToString::to_string).as_deref(),
                Some(meaning),
                "{text}"
            );
            assert_eq!(problems, [""; 0], "{text}");
        }
    }

    #[test]
    fn what_users_claim_is_read_with_its_examples() {
        let (condition, examples, problems) =
            read("the user claims \"yes\", \"a \\\"b\\\"\" or \"c\"");
        assert!(matches!(condition.kind, ConditionKind::Natural));
        assert_eq!(examples, ["yes", "a \"b\"", "c"]);
        assert_eq!(problems, [""; 0]);
    }

    #[test]
    fn sentences_are_for_the_model_and_broken_expressions_are_not() {
        for (text, natural, rule) in [
            ("the customer is angry", true, "mica-condition"),
            ("the user claims yes", true, "mica-condition"),
            ("a > 3", false, "mica-condition"),
            ("a == ", false, "invalid-expression"),
            ("a = 3", false, "invalid-expression"),
            ("re.match(\"(\", a)", false, "invalid-pattern"),
            ("", true, "invalid-expression"),
        ] {
            let (condition, _, problems) = read(text);
            assert_eq!(matches!(condition.kind, ConditionKind::Natural), natural, "{text}");
            assert_eq!(problems, [rule], "{text}");
        }
    }

    #[test]
    fn holes_become_those_of_the_ir_and_keep_their_places() {
        let mut problems = Vec::new();
        let text = "a ${b.c d} ${} ${e";
        let read = template(&scalar(text), &mut problems);
        assert_eq!(read.text.value, "a {{b[\"c d\"]}} ${} ${e");
        let [agentir_expr::TemplatePart::Value { span, .. }] = read.parts.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!((span.start, span.end), (102, 110));
        assert_eq!(problems.len(), 2);
    }

    #[test]
    fn returns_and_references_are_read() {
        let (status, message) = returned(&scalar("error, Sorry, (none)!")).unwrap();
        assert_eq!(
            (status.value.as_str(), message.unwrap().value.as_str()),
            ("error", "Sorry, (none)!")
        );
        assert!(returned(&scalar("success")).unwrap().1.is_none());
        let (by_reference, path) = reference(&scalar("ref claim number"), &mut Vec::new()).unwrap();
        assert!(by_reference);
        assert_eq!(path.value.root.value, "claim number");
    }

    #[test]
    fn constants_are_those_of_yaml_1_1() {
        assert_eq!(literal(&scalar("yes")), Literal::Bool(true));
        assert_eq!(literal(&scalar("-0.5")), Literal::Number(-0.5));
        assert_eq!(literal(&scalar("~")), Literal::Null);
        assert_eq!(literal(&scalar("Mary Brown")), Literal::String("Mary Brown".into()));
    }
}
