//! Migration of renamed and reshaped fields and operators.

use super::source::{Collect, Source};
use crate::Value;
use agentir_diagnostics::{Edit, Span};
use agentir_expr::{BinaryOp, ExprKind, Visit};
use agentir_ir::recall::{Legacy, legacy};
use agentir_syntax::migrate::Changes;

/// Rewrites `x contains y` as `x.contains(y)`.
pub(super) fn contains(source: &Source<'_, '_>, changes: &mut Changes) {
    source.exprs(&mut |expr| {
        expr.visit(&mut |expr| {
            if let ExprKind::Binary { op: BinaryOp::Contains, left, right } = &expr.kind {
                let between = source.span(left.span.end, right.span.start);
                let word = source.slice(between);
                // Spans in the decoded text of a condition are only approximate.
                let exact =
                    word.trim().eq_ignore_ascii_case("contains") && word.trim().len() < word.len();
                if exact && matches!(left.kind, ExprKind::Path(_)) {
                    let end = source.span(right.span.end, right.span.end);
                    changes.edits([
                        Edit { span: between, text: ".contains(".to_owned() },
                        Edit { span: end, text: ")".to_owned() },
                    ]);
                }
            }
            Visit::Children
        });
    });
}

/// Renames `ON_FAILURE` of a call to `ON_FAIL`, unless the step has a check with an `ON_FAIL` of its
/// own: the two would become one.
pub(super) fn on_failure(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("flow step", &mut |step| {
        let Some(field) = step.field("on_failure") else { return };
        if step.field("on_fail").is_some() || step.field("check").is_some() {
            changes.undecided(
                field.key,
                "`ON_FAILURE` of a step that has a check is not the `ON_FAIL` of the check"
                    .to_owned(),
                "put the call and the check into steps of their own",
            );
        } else {
            changes.replace(field.key, source.in_case_of(field.key, "on_fail"));
        }
    });
}

/// Rewrites `- ON_START: "…"` as `- ON: session:start` with an action.
pub(super) fn recall(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("recall rule", &mut |rule| {
        let Some(name) = &rule.name else { return };
        let now = match legacy(&name.value) {
            Some(Legacy::Event(event)) => event.to_owned(),
            Some(Legacy::Field(field)) => format!("entity:{}:extracted", field.to_lowercase()),
            Some(Legacy::Unknown) | None => return,
        };
        if rule.field("on").is_some() {
            changes.replace(name.span, now);
            return;
        }
        if rule.field("instruction").is_none_or(|f| f.key != name.span) {
            return;
        }
        let Some(margin) = source.indentation_at(name.span.start) else {
            changes.undecided(
                name.span,
                format!("`{}` is an event, and what is done then is an action", name.value),
                &format!("write `ON: {now}`, `ACTION: prompt_llm` and `INSTRUCTION`, a line each"),
            );
            return;
        };
        let line = source.line_break();
        changes.replace(
            name.span,
            format!(
                "{on}: {now}{line}{margin}{action}: prompt_llm{line}{margin}{instruction}",
                on = source.in_notation_case("on"),
                action = source.in_notation_case("action"),
                instruction = source.in_notation_case("instruction"),
            ),
        );
    });
}

/// Reports functions and wildcards that `remember` no longer supports.
pub(super) fn remember(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("remember rule", &mut |rule| {
        let Some(field) = rule.field("store") else { return };
        let Value::Store(store) = &field.value else { return };
        store.value.visit(&mut |expr| {
            if let ExprKind::Call { function, .. } = &expr.kind
                && function.value.eq_ignore_ascii_case("avg")
            {
                changes.undecided(
                    function.span,
                    "there is no `AVG` any more".to_owned(),
                    "store what a tool or an expression has worked out",
                );
            }
            Visit::Children
        });
        let written = source.slice(field.span);
        if let Some(at) = written.rfind('*').filter(|_| written.ends_with('*')) {
            let at = field.span.start + u32::try_from(at).unwrap_or(0);
            changes.undecided(
                Span::new(source.file, at, at + 1),
                "a path of memory has no wildcard any more".to_owned(),
                "name the path that is written",
            );
        }
    });
}

/// Reports strategies that the current version no longer has.
pub(super) fn strategies(source: &Source<'_, '_>, changes: &mut Changes) {
    for ty in ["gather", "gather field"] {
        source.records(ty, &mut |record| {
            if let Some(field) = record.field("strategy")
                && let Value::Enum(word @ ("auto" | "ml")) = field.value
            {
                changes.undecided(
                    field.span,
                    format!("the current version has no strategy `{word}`"),
                    "write `pattern`, `llm` or `hybrid`",
                );
            }
        });
    }
}

/// Renames `skill_tags` to `skills` and reports `priority_boost`.
pub(super) fn skills(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("escalate", &mut |escalate| {
        let Some(field) = escalate.field("routing") else { return };
        for key in source.keys(field.entry) {
            if key.value.eq_ignore_ascii_case("skill_tags") {
                changes.replace(key.span, source.in_case_of(key.span, "skills"));
            } else if key.value.eq_ignore_ascii_case("priority_boost") {
                changes.undecided(
                    key.span,
                    "`priority_boost` is ignored by the newest version".to_owned(),
                    "write the `priority` that it was to lead to",
                );
            }
        }
    });
}

/// Renames `DEFAULT` of a persistent path to `DEFAULT_VALUE`.
pub(super) fn default_value(source: &Source<'_, '_>, changes: &mut Changes) {
    source.records("persistent path", &mut |path| {
        if let Some(field) = path.field("default_value")
            && source.slice(field.key).eq_ignore_ascii_case("default")
        {
            changes.replace(field.key, source.in_case_of(field.key, "default_value"));
        }
    });
}
