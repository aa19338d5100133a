//! Migration of guardrails, error handlers and delegation.

use super::source::{Collect, Source, record_of};
use crate::inline::ActionKind;
use crate::{Format, Value};
use agentir_diagnostics::RuleName;
use agentir_ir::polarity::violation;
use agentir_syntax::migrate::Changes;
use agentir_syntax::rules::LEGACY_FORM;

const POLARITY: RuleName = RuleName("guardrail-polarity");

/// Negates guardrail checks: a legacy check states what is allowed, a newer one what is a violation.
pub(super) fn polarity(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("guardrail", &mut |guardrail| {
        let Some(field) = guardrail.field("check") else { return };
        let Value::Expr(check) = &field.value else { return };
        let written = source.slice(check.span);
        match violation(check) {
            // Quotes nested in quotes are too risky to rewrite.
            Some(new) if !new.contains('"') && !written.contains(['"', '\\', '\n']) => {
                changes.replace(check.span, new);
            }
            _ => changes.undecided_by(
                POLARITY,
                check.span,
                "it cannot be decided whether this check says what is allowed or what is not".to_owned(),
                "legacy guardrails act when their check does not hold, newer ones when it does: say what is not allowed",
            ),
        }
    });
}

/// The error types of the newest version.
const ERROR_TYPES: &[&str] = &[
    "default",
    "llm_error",
    "tool_error",
    "routing_error",
    "validation_error",
    "timeout_error",
    "unknown_error",
];

/// Former error types that are now subtypes of `tool_error`.
const TOOL_ERROR_SUBTYPES: &[&str] =
    &["rate_limit", "auth_failure", "network_error", "tool_timeout"];

/// Rewrites `tool_timeout` and the like as `tool_error` with a subtype.
pub(super) fn error_types(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("error handlers", &mut |handlers| {
        let called = |name: &str, all: &[&str]| all.iter().any(|a| a.eq_ignore_ascii_case(name));
        let of_tools = |name: &str| called(name, TOOL_ERROR_SUBTYPES) || called(name, &["tool_error"]);
        let names = handlers.items.iter().filter_map(|h| h.name.as_ref());
        let several = names.filter(|n| of_tools(&n.value)).count() > 1;
        for handler in &handlers.items {
            let Some(name) = &handler.name else { continue };
            if called(&name.value, ERROR_TYPES) {
                continue;
            }
            let listed = handler.field("type").is_some();
            if !called(&name.value, TOOL_ERROR_SUBTYPES) {
                changes.undecided(
                    name.span,
                    format!("the newest version has no error of type `{}`", name.value),
                    "write `tool_error`, `llm_error`, `routing_error`, `validation_error`, `timeout_error` or `unknown_error`",
                );
                continue;
            }
            if several && !listed {
                changes.undecided(
                    name.span,
                    format!("`{}` is a subtype of `tool_error`, which has other handlers here", name.value),
                    "write one handler of `tool_error` for what they have in common",
                );
                continue;
            }
            let Some(margin) = source.indentation_at(if listed {
                handler.field("type").map_or(name.span.start, |f| f.key.start)
            } else {
                name.span.start
            }) else {
                changes.undecided(
                    name.span,
                    format!("`{}` is a subtype of `tool_error` in the newest version", name.value),
                    "write the handler of `tool_error` with a line for each field, and a `SUBTYPE`",
                );
                continue;
            };
            let line = source.line_break();
            let subtype = source.in_notation_case(if source.document.format == Format::Yaml { "subtypes" } else { "subtype" });
            let below = if listed { "" } else { "  " };
            let subtype = format!("{line}{margin}{below}{subtype}: {}", name.value);
            // Short form: `tool_timeout: ESCALATE` has its action on the same line.
            let short = handler.field("then").filter(|f| !listed && f.key == name.span);
            if let Some(then) = short {
                let then_key = source.in_notation_case("then");
                changes.replace(
                    source.span(name.span.start, then.span.start),
                    format!("tool_error:{subtype}{line}{margin}{below}{then_key}: "),
                );
            } else if listed {
                changes.replace(name.span, format!("tool_error{subtype}"));
            } else {
                // After the colon, so that a comment on the line stays there.
                let end = source.span(name.span.start, name.span.end + 1);
                if source.slice(end).ends_with(':') {
                    changes.replace(end, format!("tool_error:{subtype}"));
                }
            }
        }
    });
}

/// Reports error handlers that jump to a step.
pub(super) fn error_jumps(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("error handler", &mut |handler| {
        if let Some(field) = handler.field("then")
            && let Value::Action(action) = &field.value
            && action.kind == ActionKind::GoTo
        {
            changes.undecided_by(
                LEGACY_FORM,
                field.span,
                "a handler of errors goes to no step in the newest version".to_owned(),
                "write `CONTINUE`, `ESCALATE`, `HANDOFF`, `COMPLETE`, `RETRY_STEP` or `BACKTRACK`",
            );
        }
    });
}

/// Reports delegation by an agent without a role.
pub(super) fn delegates(source: &Source<'_, '_>, changes: &mut Changes) {
    let root = &source.document.root;
    let Some(field) = root.field("delegate") else { return };
    let role = root.field("behavior").and_then(record_of).and_then(|b| b.field("role"));
    if role.is_none() {
        changes.undecided(
            field.key,
            "in the newest version only orchestrators delegate".to_owned(),
            "write `BEHAVIOR:` with `role: orchestrator`, and map every field that the other agent requires",
        );
    }
}
