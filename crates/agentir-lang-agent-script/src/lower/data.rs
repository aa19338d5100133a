//! Converts values to templates and free-form data.

use super::Source;
use super::fields::Fields;
use crate::dialect::AGENT_SCRIPT;
use crate::{self as script, Value};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Expr, ExprKind, Literal, Template, TemplatePart, UnaryOp};
use agentir_ir::{Data, Extensions, Number};
use serde_json::Map;
use smol_str::SmolStr;

/// A text with placeholders (specification part I, 6).
pub(super) fn template(text: &script::Template<'_>) -> Template {
    let (text_value, places) = text.text_and_places();
    let placeholders = text.placeholders.iter().zip(places).filter_map(|(placeholder, at)| {
        let expr = placeholder.expr.clone()?;
        Some(TemplatePart::Value { expr, filters: Vec::new(), at, span: placeholder.span })
    });
    Template {
        shifts: text.shifts(&text_value),
        text: Spanned::new(SmolStr::new(text_value), text.span),
        parts: placeholders.collect(),
    }
}

/// A constant as JSON; any other expression as its text.
pub(super) fn literal(expr: &Expr) -> Data {
    match &expr.kind {
        ExprKind::Literal(Literal::Null | Literal::Undefined) => Data::Null,
        ExprKind::Literal(Literal::Bool(b)) => Data::Bool(*b),
        ExprKind::Literal(Literal::Number(n)) => Data::from(Number(*n)),
        ExprKind::Literal(Literal::String(s) | Literal::Date(s)) => Data::from(s.as_str()),
        ExprKind::Unary { op: UnaryOp::Negate, operand } if is_constant(expr) => {
            match literal(operand) {
                Data::Number(n) => Data::from(Number(-n.as_f64().unwrap_or_default())),
                other => other,
            }
        }
        ExprKind::List(items) if is_constant(expr) => items.iter().map(literal).collect(),
        ExprKind::Object(_) if is_constant(expr) => Data::Object(
            entries(expr).map(|(key, value)| (key.to_owned(), literal(value))).collect(),
        ),
        _ => Data::from(expr.to_string()),
    }
}

/// The key under which a declaration keeps the reference that its value is.
pub(crate) const REFERENCE: &str = "reference";

/// Whether a value is a reference.
pub(super) fn is_reference(value: &Expr) -> bool {
    value.as_path().is_some_and(|path| path.namespace.is_some())
}

/// The value of a declaration. A reference (`= @knowledge.citations_url`) is kept with the element; what it refers to
/// becomes the value in [`resolve`].
pub(super) fn declared(value: Option<&Expr>, extensions: &mut Extensions) -> Option<Data> {
    let value = value?;
    if is_reference(value) {
        let text = Data::from(value.to_string());
        extensions.insert(AGENT_SCRIPT.id(), REFERENCE, text, value.span);
        return None;
    }
    Some(literal(value))
}

/// What a reference that a declaration keeps refers to, if it is a constant of the document: `knowledge` and other blocks
/// are in `document`.
pub(super) fn resolve(own: &Extensions, document: &Extensions) -> Option<Data> {
    let reference = own.0.get(AGENT_SCRIPT.id())?.get(REFERENCE)?.value.as_str()?;
    let (block, names) = reference.strip_prefix('@')?.split_once('.')?;
    let block = &document.0.get(AGENT_SCRIPT.id())?.get(block)?.value;
    let found = names.split('.').try_fold(block, |value, name| value.get(name))?;
    (!found.is_object() && !found.is_array()).then(|| found.clone())
}

/// A constant as JSON.
pub(crate) fn constant(expr: &Expr) -> Option<Data> {
    is_constant(expr).then(|| literal(expr))
}

/// Whether a value is a constant.
fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(literal) => !matches!(literal, Literal::Regex(_)),
        ExprKind::Unary { op: UnaryOp::Negate, operand } => {
            matches!(operand.kind, ExprKind::Literal(Literal::Number(_)))
        }
        ExprKind::List(items) => items.iter().all(is_constant),
        ExprKind::Object(all) => {
            all.len() == entries(expr).count() && entries(expr).all(|(_, value)| is_constant(value))
        }
        _ => false,
    }
}

/// The fields of an object that have a value.
fn entries(expr: &Expr) -> impl Iterator<Item = (&str, &Expr)> {
    let all = match &expr.kind {
        ExprKind::Object(all) => all.as_slice(),
        _ => &[],
    };
    all.iter().filter_map(|e| Some((e.key.value.as_str(), e.value.as_ref()?)))
}

/// A value without a field in the IR, as data. `span` is the field's.
pub(super) fn value(value: Value<'_>, span: Span, source: Source<'_>) -> Data {
    match value {
        Value::Empty | Value::Nothing => Data::Null,
        Value::Text(text) => Data::from(text.text()),
        Value::Bool(b) => Data::Bool(b),
        Value::Number(n) => Data::from(Number(n)),
        Value::Expr(e) => literal(&e),
        Value::List(items) => items.iter().map(literal).collect(),
        Value::Record(record) => record_data(*record, source),
        Value::Records(records) => {
            let mut all = Map::new();
            for record in records {
                let name = record.name.as_ref().map_or("item", |n| &n.value).to_owned();
                let key = agentir_ir::free_key(&name, |taken| all.contains_key(taken));
                all.insert(key, record_data(record, source));
            }
            Data::Object(all)
        }
        // Statements, declarations and unparsed values are preserved as source text.
        _ => Data::from(source.dedented(span)),
    }
}

fn record_data(record: script::Record<'_>, source: Source<'_>) -> Data {
    let name = record.name.clone();
    let data = Fields::new(record, source).into_data();
    match (name, data) {
        (Some(name), Data::Object(mut all)) if !all.contains_key("name") => {
            all.insert("name".to_owned(), Data::from(name.value.as_str()));
            Data::Object(all)
        }
        (Some(name), Data::Null) => Data::from(name.value.as_str()),
        (_, data) => data,
    }
}
