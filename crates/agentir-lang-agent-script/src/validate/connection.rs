//! Checks `connection`: channels and their response formats.

use super::super::tree::{Declaration, Record, TypeSpec, Value};
use super::{Check, constant};
use agentir_expr::{Expr, ExprKind};
use agentir_syntax::rules;

/// The renderers of responses.
const RENDERERS: &[&str] =
    &["apex", "flow", "system", "standardInvocableAction", "externalService"];
/// The location of input schemas.
const COMPONENT: &str = "messaging_component";

pub(super) fn check(check: &mut Check<'_, '_, '_>, connection: &Record<'_>) {
    let kind = connection.name.as_ref().map_or("", |n| n.value.as_str());
    if kind == "service_email" {
        route(check, connection);
    }
    for input in connection.declarations("inputs") {
        if input.ty.is_none() && input.value.is_some() {
            check.invalid(
                input.name.span,
                format!("the input `{}` has no type", input.name),
                &format!("write `{}: string = …`, or another type", input.name),
            );
        }
    }
    for tool in connection.record("reasoning").map_or(&[][..], |r| r.bindings("response_actions")) {
        let format =
            tool.action.as_ref().and_then(Expr::as_path).is_some_and(|p| {
                p.namespace.as_ref().is_some_and(|n| n.value == "response_formats")
            });
        if !format && let Some(action) = &tool.action {
            check.invalid(
                action.span,
                format!("`{}` must be a response format", tool.name),
                "write `@response_formats.name`",
            );
        }
    }
    for format in connection.records("response_formats") {
        response_format(check, format, kind);
    }
}

/// `connection-missing-paired-field`: an email route consists of two fields.
fn route(check: &mut Check<'_, '_, '_>, connection: &Record<'_>) {
    let pair = ["outbound_route_type", "outbound_route_name"].map(|n| (n, connection.field(n)));
    if let [(missing, None), (_, Some(field))] | [(_, Some(field)), (missing, None)] = pair {
        check.missing(
            connection,
            missing,
            field.key,
            format!("`{}` requires `{missing}`", field.def.name),
            &format!("add `{missing}: \"…\"`"),
        );
    }
}

/// `response-format-invalid-target`, `response-format-unsupported-target-scheme`, and the compiler's
/// checks of `source` and the inputs.
fn response_format(check: &mut Check<'_, '_, '_>, format: &Record<'_>, channel: &str) {
    if let Some((target, span)) = format.field("target").and_then(constant) {
        check.scheme(&target, span, "responses cannot be rendered by", RENDERERS);
    }
    if let Some((source, span)) = format.field("source").and_then(constant)
        && !source.starts_with("response_format://")
    {
        check.invalid(
            span,
            format!("`{source}` is not a source of a response format"),
            "write `response_format://Name`",
        );
    }
    let inputs = format.declarations("inputs");
    for input in inputs {
        if let Some(schema) = input.properties.field("schema") {
            if inputs.len() > 1 {
                check.error(
                    rules::CONFLICTING_FIELDS,
                    schema.key,
                    format!("`{}` has a schema, so it must be the only input", input.name),
                    "remove the other inputs",
                );
            }
            if let Some((uri, span)) = constant(schema)
                && let Some((kind, _)) = check.address(&uri, span, "a schema")
            {
                if kind != COMPONENT {
                    check.invalid(
                        span,
                        format!("schemas cannot be read from `{kind}://`"),
                        "write `messaging_component://Name`",
                    );
                } else if channel != "messaging" {
                    check.invalid(
                        span,
                        "only `connection messaging` can show messaging components",
                        "",
                    );
                }
            }
        }
        format_input(check, input, 0);
    }
}

/// `response-format-list-default-non-primitive`, `response-format-list-missing-value`,
/// `response-format-fields-on-non-object`, `response-format-nested-schema`.
fn format_input(check: &mut Check<'_, '_, '_>, input: &Declaration<'_>, depth: usize) {
    if let Some(ExprKind::List(items)) = input.value.as_ref().map(|v| &v.kind)
        && let Some(item) = items.iter().find(|i| !matches!(i.kind, ExprKind::Literal(_)))
    {
        check.invalid(
            item.span,
            format!("the default list of `{}` must contain only constants", input.name),
            "",
        );
    }
    if depth > 0
        && let Some(schema) = input.properties.field("schema")
    {
        check.invalid(schema.key, "only inputs can have a schema, not their items", "");
    }
    if let Some(Value::Type(spec)) = input.properties.field("type").map(|f| &f.value) {
        spec_of(check, spec, &input.name.value, depth);
    }
}

fn spec_of(check: &mut Check<'_, '_, '_>, spec: &TypeSpec<'_>, name: &str, depth: usize) {
    let is = |name: &str| spec.ty.name() == Some(name);
    let value = spec.properties.field("value");
    if is("list") && value.is_none() {
        check.missing(
            &spec.properties,
            "value",
            spec.ty.span,
            format!("the list `{name}` has no element type"),
            "add `value: string` below it, or another type",
        );
    }
    if let Some(fields) = spec.properties.field("fields") {
        if !is("object") {
            check.error(
                rules::CONFLICTING_FIELDS,
                fields.key,
                format!("only objects have fields, and `{name}` is not an object"),
                "write `type: object`",
            );
        }
        if let Value::Declarations(all) = &fields.value {
            all.iter().for_each(|field| format_input(check, field, depth + 1));
        }
    }
    if let Some(Value::Type(inner)) = value.map(|f| &f.value) {
        spec_of(check, inner, name, depth + 1);
    }
}
