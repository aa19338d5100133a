//! Checks `variables`: the constraints of modifiers.

use super::super::tree::{Declaration, Modifier};
use super::{Check, constant};
use agentir_diagnostics::Diagnostic;
use agentir_expr::TypeKind;
use agentir_syntax::rules;

/// The maximum length of a variable's description, in characters.
const DESCRIPTION: usize = 255;

/// `linked-variable-missing-source`, `linked-variable-cannot-be-list`, `linked-variable-cannot-be-object`,
/// `linked-variable-cannot-have-default`, `mutable-variable-cannot-have-source`.
pub(super) fn check(check: &mut Check<'_, '_, '_>) {
    for variable in check.root.declarations("variables") {
        match variable.modifier.as_ref().map(|m| m.value) {
            Some(Modifier::Linked) => linked(check, variable),
            Some(Modifier::Mutable) => {
                if let Some(source) = variable.properties.field("source") {
                    check.error(
                        rules::CONFLICTING_FIELDS,
                        source.key,
                        format!("`{}` is mutable, so it cannot have a `source`", variable.name),
                        "declare it as `linked` if the platform gives its value",
                    );
                }
            }
            None => {}
        }
        described(check, variable);
    }
}

/// The platform truncates longer descriptions.
fn described(check: &mut Check<'_, '_, '_>, variable: &Declaration<'_>) {
    let Some((text, span)) = variable.properties.field("description").and_then(constant) else {
        return;
    };
    let length = text.chars().count();
    if length > DESCRIPTION {
        check.report(
            Diagnostic::warning(
                rules::INVALID_VALUE,
                span,
                format!("the description of `{}` has {length} characters", variable.name),
            )
            .note(format!("the platform allows at most {DESCRIPTION}")),
        );
    }
}

fn linked(check: &mut Check<'_, '_, '_>, variable: &Declaration<'_>) {
    let name = &variable.name;
    if variable.properties.field("source").is_none() {
        check.missing(
            &variable.properties,
            "source",
            name.span,
            format!("the linked variable `{name}` has no `source`"),
            "add `source: @MessagingSession.Id` below it, or declare it as `mutable`",
        );
    }
    let kind = variable.ty.as_ref().and_then(|ty| match &ty.kind {
        TypeKind::Array(_) => Some("list"),
        TypeKind::Object(_) => Some("object"),
        TypeKind::Named(name) => ["list", "object"].into_iter().find(|n| name == n),
    });
    if let (Some(ty), Some(kind)) = (&variable.ty, kind) {
        check.invalid(
            ty.span,
            format!("the linked variable `{name}` cannot be of type `{kind}`"),
            "the platform provides strings, numbers, booleans and dates",
        );
    }
    if let Some(value) = &variable.value {
        check.invalid(
            value.span,
            format!("the linked variable `{name}` cannot have a default value"),
            "the platform provides its value; remove `= …`",
        );
    }
}
