//! Values that are strings in a notation of their own: expressions, types, texts with placeholders, jumps.

use crate::describe::{Json, Mode, TEXT, write_at};
use crate::expression::{self, Failure};
use crate::reader::Reader;
use crate::schema::Schemas;
use crate::words::is_strict;
use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::{
    Expr, ExprKind, Literal, Name, Path, Segment, Template, TemplatePart, TypeExpr, Visit,
};
use agentir_ir::{Jump, Target};
use agentir_syntax::json::{Json as Node, Text};
use agentir_syntax::rules;
use serde::ser::Serializer;
use serde_json::{Value, json};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// The namespace of variables, which only some dialects write.
const VARIABLES: &str = "variables";

/// A path in a notation that does not depend on the dialect: a variable is its name, `@variables.x` is `x`.
pub(crate) fn shared_path(path: &Path) -> Path {
    let is_variable = path.namespace.as_ref().is_some_and(|space| space.value == VARIABLES);
    if is_variable { without_namespace(path) } else { path.clone() }
}

/// An expression in a notation that does not depend on the dialect, so that equal ones are printed alike. Texts in it are
/// as they are written: only references name variables.
#[must_use]
pub fn shared_expression(expr: &Expr) -> Cow<'_, Expr> {
    let mut named = false;
    expr.paths(&mut |path| {
        named |= path.namespace.as_ref().is_some_and(|space| space.value == VARIABLES);
    });
    match named {
        true => Cow::Owned(expr.clone().renamed(&shared_path)),
        false => Cow::Borrowed(expr),
    }
}

/// The expression as it is printed. For readers, dates are written bare: printed as strings, they would be read as such.
pub(crate) fn canonical(expr: &Expr, mode: Mode) -> Cow<'_, Expr> {
    if mode == Mode::WithSpans {
        return shared_expression(expr);
    }
    let mut dates = false;
    if mode == Mode::Published {
        expr.visit(&mut |e| {
            dates |= matches!(e.kind, ExprKind::Literal(Literal::Date(_)));
            Visit::Children
        });
    }
    if !dates {
        return Cow::Borrowed(expr);
    }
    Cow::Owned(expr.clone().with_paths(&|literal| match literal {
        Literal::Date(date) => Some(Path::variable(Spanned::new(date.clone(), expr.span))),
        _ => None,
    }))
}

fn report(failure: &Failure, what: &str, help: &str, reader: &mut Reader<'_>) {
    let message = format!("this {what} cannot be parsed: {}", failure.message);
    let rule = match failure.too_deep {
        true => rules::EXPRESSION_TOO_DEEP,
        false => rules::INVALID_EXPRESSION,
    };
    reader.report(Diagnostic::error(rule, failure.span, message).help(help));
}

impl Json for Expr {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        write_at(&format_args!("{}", canonical(self, mode)), self.span, mode, serializer)
    }

    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        // What cannot be evaluated stands for what could not be read: a check without an expression would be passed.
        let unreadable = || Expr::new(ExprKind::Ellipsis, json.span).ok();
        let Some(text) = reader.text(json) else { return unreadable() };
        let strict = is_strict(reader.dialect);
        match expression::expression(text.inline_text(), strict) {
            Ok(mut expr) => {
                check_references(&mut expr, reader);
                Some(expr)
            }
            Err(failure) => {
                let help = if failure.too_deep {
                    "compute a part of it in an assignment before"
                } else if text.value.contains(['"', '\'']) {
                    "check the operators: `total > 20 AND name IS SET`"
                } else {
                    "strings in expressions have quotes: `\"\\\"text\\\"\"`"
                };
                report(&failure, "expression", help, reader);
                unreadable()
            }
        }
    }

    fn schema(schemas: &mut Schemas) -> Value {
        schemas.named(
            "Expression",
            "An expression, in ABL's notation.",
            |_| json!({ "type": "string" }),
        )
    }
}

/// Reads a path.
pub(crate) fn read_path(json: &Node, reader: &mut Reader<'_>) -> Option<Path> {
    let text = reader.text(json)?;
    let path = expression::path(text.inline_text())
        .map_err(|failure| {
            report(&failure, "variable", "write its name or path: `order.total`", reader)
        })
        .ok()?;
    if path.namespace.is_none() || may_have_namespaces(reader) {
        return Some(path);
    }
    let meant = without_namespace(&path);
    report_namespace(&path.to_string(), Some(meant.clone()), text.span, reader);
    Some(meant)
}

/// Reports references with a namespace in dialects that have none, and takes the variables that they mean.
pub(crate) fn check_references(expr: &mut Expr, reader: &mut Reader<'_>) {
    if may_have_namespaces(reader) {
        return;
    }
    let mut all = Vec::new();
    expr.visit(&mut |e| {
        match &e.kind {
            ExprKind::Path(path) if path.namespace.is_some() => {
                all.push((path.to_string(), Some(without_namespace(path)), e.span));
            }
            ExprKind::Call { function, .. } if function.value.starts_with('@') => {
                all.push((function.to_string(), None, function.span));
            }
            _ => {}
        }
        Visit::Children
    });
    if all.is_empty() {
        return;
    }
    *expr = expr.clone().renamed(&without_namespace);
    for (written, meant, span) in all {
        report_namespace(&written, meant, span, reader);
    }
}

/// Whether references may have namespaces: if the language has them, or is unknown.
fn may_have_namespaces(reader: &Reader<'_>) -> bool {
    reader.dialect.traits().namespaced_references || !reader.knows_dialect()
}

fn without_namespace(path: &Path) -> Path {
    Path { namespace: None, ..path.clone() }
}

fn report_namespace(written: &str, meant: Option<Path>, span: Span, reader: &mut Reader<'_>) {
    let title = reader.dialect.title();
    let message = format!("`{written}` is no reference of {title}, which has no namespaces");
    let problem = Diagnostic::error(rules::INVALID_EXPRESSION, span, message);
    reader.report(match meant {
        Some(meant) => problem.did_you_mean(&meant.to_string()),
        None => problem,
    });
}

impl Json for TypeExpr {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }

    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text(json)?;
        expression::type_expr(text.inline_text())
            .map_err(|failure| {
                let help = "write a name, `T[]`, or `{a: T, b?: T}`";
                report(&failure, "type", help, reader);
            })
            .ok()
    }

    fn schema(schemas: &mut Schemas) -> Value {
        let description = "A type: `string`, `number`, `boolean`, `date`, `object`, a domain name, `T[]`, or `{a: T, b?: T}`.";
        schemas.named("Type", description, |_| json!({ "type": "string" }))
    }
}

/// Reports placeholders in texts that have the notation of a language with namespaces, where the dialect has none.
fn check_placeholders(template: &mut Template, reader: &mut Reader<'_>) {
    if may_have_namespaces(reader) {
        return;
    }
    let without = |path: &Path| match path.segments.as_slice() {
        [Segment::Field(member), rest @ ..] if path.root.value.starts_with('@') => {
            Path { namespace: None, root: member.clone(), segments: rest.to_vec() }
        }
        _ => path.clone(),
    };
    for part in &mut template.parts {
        let (TemplatePart::Value { expr, .. }
        | TemplatePart::SingleBrace { expr, .. }
        | TemplatePart::Open { expr: Some(expr), .. }) = part
        else {
            continue;
        };
        let mut all = Vec::new();
        expr.visit(&mut |e| {
            if let ExprKind::Path(path) = &e.kind
                && without(path) != *path
            {
                all.push((path.to_string(), without(path), e.span));
            }
            Visit::Children
        });
        if !all.is_empty() {
            *expr = expr.clone().renamed(&without);
        }
        for (written, meant, span) in all {
            report_namespace(&written, Some(meant), span, reader);
        }
    }
}

/// A text with placeholders in a notation that does not depend on the dialect, so that equal ones mean the same:
/// `{!@variables.x}` and `{{ x }}` are `{{x}}`, and plain text is none of these.
#[must_use]
pub fn shared_notation(template: &Template) -> String {
    let value = |expr: &Expr| shared_expression(expr).to_string();
    template.rewritten(|part, written| {
        Some(match part {
            TemplatePart::Value { expr, filters, .. } => {
                if let Some(name) = part.mention(written) {
                    return Some(name.to_owned());
                }
                let filters = filters.iter().map(|filter| format!(" | {}", filter.value));
                format!("{{{{{}{}}}}}", value(expr), filters.collect::<String>())
            }
            TemplatePart::SingleBrace { expr, .. } => format!("{{{}}}", value(expr)),
            TemplatePart::Open { block, expr: Some(expr), .. } => {
                format!("{{{{#{} {}}}}}", block.value, value(expr))
            }
            _ => return None,
        })
    })
}

impl Json for Template {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        if mode != Mode::WithSpans {
            return self.text.write(mode, serializer);
        }
        let (shared, written) = (shared_notation(self), self.text.value.as_str());
        let differs = shared != written;
        let both: Vec<&str> =
            [shared.as_str()].into_iter().chain(differs.then_some(written)).collect();
        let text = BTreeMap::from([(TEXT, both)]);
        write_at(&text, self.text.span, mode, serializer)
    }

    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text(json)?;
        let parse = reader.template_parser();
        let knows_dialect = reader.knows_dialect();
        let mut template = reader.reporting(|problems| {
            let template = parse(text.inline_text(), problems);
            if !knows_dialect {
                problems.clear();
            }
            template
        });
        check_placeholders(&mut template, reader);
        Some(template)
    }

    fn schema(schemas: &mut Schemas) -> Value {
        let description = "Text with placeholders (`{{path}}`, `{{FN(x)}}`, `{{#if x}}…{{/if}}`) that are filled in at run time.";
        schemas.named("Template", description, |_| json!({ "type": "string" }))
    }
}

/// Between the target of a jump and its reason.
const REASON: &str = " with REASON: ";

/// Before the name of a step that could be something else.
const STEP: &str = "STEP ";

/// A target as it is written.
struct WrittenTarget<'a>(&'a Target);

impl fmt::Display for WrittenTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = match self.0 {
            Target::Step(name) => {
                !name.value.contains(REASON)
                    && !name.value.starts_with(STEP)
                    && matches!(target(&name.value, |_| name.clone()), Target::Step(_))
            }
            _ => true,
        };
        write!(f, "{}{}", if plain { "" } else { STEP }, self.0)
    }
}

/// The target that a text describes. `name` makes the name in a range of it.
fn target(text: &str, name: impl Fn(Range<usize>) -> Spanned<Name>) -> Target {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let named = || (!rest.is_empty()).then(|| name(word.len() + 1..text.len()));
    match (word, rest) {
        ("COMPLETE", "") => Target::Complete,
        ("CONTINUE", "") => Target::Continue,
        ("RESPOND", "") => Target::Respond,
        ("RETRY", "") => Target::Retry,
        ("RETRY_STEP", "") => Target::RetryStep,
        ("RESUME", "") => Target::Resume,
        ("ESCALATE", "") => Target::Escalate,
        ("BLOCK", "") => Target::Block,
        ("REDACT", "") => Target::Redact,
        ("FAIL", "") => Target::Fail,
        ("BACKTRACK", _) => Target::Backtrack(named()),
        ("HANDOFF", _) => Target::Handoff(named()),
        ("DELEGATE", _) => Target::Delegate(named()),
        ("ASK_USER", _) if rest.starts_with('{') && rest.ends_with('}') => {
            let start = word.len() + 2;
            let inside = rest.get(1..rest.len() - 1).unwrap_or_default();
            let mut at = start;
            let choice = |part: &str| {
                let from = at + part.len() - part.trim_start().len();
                at += part.len() + 1;
                name(from..from + part.trim().len())
            };
            let empty = inside.trim().is_empty();
            Target::AskUser(if empty {
                Vec::new()
            } else {
                inside.split(',').map(choice).collect()
            })
        }
        _ => Target::Step(name(0..text.len())),
    }
}

/// Reports a jump to an agent that does not say to which one. In handlers of errors another key may say it.
pub(crate) fn check_agent(jump: &Jump, reader: &mut Reader<'_>) {
    let word = match &jump.target {
        Target::Handoff(None) => "HANDOFF",
        Target::Delegate(None) => "DELEGATE",
        _ => return,
    };
    let message = format!("`{word}` names no agent");
    // It may go anywhere.
    reader.gaps.push(jump.span);
    reader.report(
        Diagnostic::error(rules::INVALID_VALUE, jump.span, message)
            .help(format!("write its name: `{word} Agent`")),
    );
}

impl Json for Jump {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        let target = WrittenTarget(&self.target);
        match &self.reason {
            Some(reason) => {
                let reason = Value::from(reason.value.as_str());
                write_at(&format_args!("{target}{REASON}{reason}"), self.span, mode, serializer)
            }
            None => write_at(&format_args!("{target}"), self.span, mode, serializer),
        }
    }

    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let text = reader.text(json)?;
        if text.value.strip_prefix(STEP).unwrap_or(&text.value).trim().is_empty() {
            let message = format!("`{}` names no target", reader.key());
            reader.report(Diagnostic::error(rules::INVALID_VALUE, text.span, message).help(
                "write the name of a step, or `COMPLETE`, `CONTINUE`, `ESCALATE`, `HANDOFF Agent`",
            ));
            return None;
        }
        let (whole, reason) = reason_of(text);
        let (start, step) = match whole.strip_prefix(STEP) {
            Some(step) => (STEP.len(), Some(step)),
            None => (0, None),
        };
        let name = |range: Range<usize>| {
            let value = Name::new(text.value.get(range.clone()).unwrap_or_default());
            Spanned::new(value, text.place(range))
        };
        let target = match step {
            Some(step) => Target::Step(name(start..start + step.len())),
            None => target(whole, name),
        };
        Some(Self { target, reason, span: text.span })
    }

    fn schema(schemas: &mut Schemas) -> Value {
        let description = "Where to go on: a step's name, or `COMPLETE`, `CONTINUE`, `RESPOND`, `RETRY`, `ESCALATE`, `HANDOFF Agent`, …";
        schemas.named("Jump", description, |_| json!({ "type": "string", "pattern": "\\S" }))
    }
}

/// The target in a jump's text, and the reason behind it.
fn reason_of(text: &Text) -> (&str, Option<Spanned<SmolStr>>) {
    let found = text.value.rmatch_indices(REASON).find_map(|(at, _)| {
        let quoted = text.value.get(at + REASON.len()..)?;
        let reason: String = serde_json::from_str(quoted).ok()?;
        let span = text.place(at + REASON.len()..text.value.len());
        Some((text.value.get(..at)?, Spanned::new(SmolStr::new(reason), span)))
    });
    match found {
        Some((target, reason)) => (target, Some(reason)),
        None => (&text.value, None),
    }
}
