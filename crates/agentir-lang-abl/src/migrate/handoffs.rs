//! Migration of handoffs: return mappings, memory grants, history.

use super::source::{Collect, Source, record_of};
use crate::{Field, Record, Value};
use agentir_diagnostics::Edit;
use agentir_expr::Version;
use agentir_syntax::migrate::Changes;
use agentir_syntax::outline::EntryKind;

/// Visits every handoff. The section has the same record type name as its items.
fn handoffs<'a, 't>(source: &Source<'a, 't>, visit: &mut dyn FnMut(&'a Record<'t>)) {
    source.records("handoff", &mut |record| {
        if record.ty.items.is_none() {
            visit(record);
        }
    });
}

/// Moves `MAP` below `ON_RETURN`, where keys and values change places: there, the keys are variables of this agent.
pub(super) fn map(source: &Source<'_, '_>, changes: &mut Changes) {
    handoffs(source, &mut |handoff| {
        let Some(field) = handoff.field("map") else { return };
        if handoff.field("on_return").is_some() {
            changes.undecided(
                field.key,
                "`MAP` beside `ON_RETURN` belongs below it".to_owned(),
                "write `ON_RETURN:` as a block, with `MAP:` in it",
            );
            return;
        }
        let Some(margin) = source.indentation_at(field.key.start) else {
            changes.undecided(
                field.key,
                "`MAP` belongs below `ON_RETURN`".to_owned(),
                "write the handoff with a line for each field, and `MAP:` in a block `ON_RETURN:`",
            );
            return;
        };
        let unit = if margin.contains('\t') { "\t" } else { "  " };
        let line = source.line_break();
        let (key, on_return) = (source.slice(field.key), source.in_case_of(field.key, "on_return"));
        let mut edits =
            vec![Edit { span: field.key, text: format!("{on_return}:{line}{margin}{unit}{key}") }];
        let (start, end) = (field.key.end, field.entry.end);
        let below = source.slice(source.span(start, end));
        for (at, _) in below.match_indices('\n') {
            let at = start + u32::try_from(at + 1).unwrap_or(0);
            edits.push(Edit { span: source.span(at, at), text: unit.to_owned() });
        }
        let Value::Bindings(bindings) = &field.value else { return };
        for (returned, variable) in bindings {
            let (key, value) = (source.slice(returned.span), source.slice(variable.span));
            if variable.as_path().is_some() && key != value {
                edits.push(Edit { span: returned.span, text: value.to_owned() });
                edits.push(Edit { span: variable.span, text: key.to_owned() });
            }
        }
        changes.edits(edits);
    });
}

/// Replaces `grant_memory`, which did not state an access mode, by `memory_grants`.
pub(super) fn grants(source: &Source<'_, '_>, changes: &mut Changes) {
    for ty in ["handoff", "handoff context"] {
        source.records(ty, &mut |record| {
            let Some(field) = record.field("grant_memory") else { return };
            let Value::Names(names) = &field.value else { return };
            let all = source.span(field.key.start, field.entry.end.max(field.span.end));
            if source.slice(all).contains('#') || record.field("memory_grants").is_some() {
                changes.undecided(
                    field.key,
                    "`grant_memory` is an error in the newest version".to_owned(),
                    "write `memory_grants` with a `path` and an `access` for each",
                );
                return;
            }
            let grants: Vec<String> =
                names.iter().map(|n| format!("{{path: {}, access: read}}", n.value)).collect();
            changes.replace(
                all,
                format!(
                    "{}: [{}]",
                    source.in_case_of(field.key, "memory_grants"),
                    grants.join(", ")
                ),
            );
            changes.undecided(
                field.key,
                "`grant_memory` did not say what the other agent may do with these paths"
                    .to_owned(),
                "`access: read` was written; write `readwrite` where it is to write",
            );
        });
    }
}

/// The contexts of a handoff: the handoff itself and its `CONTEXT` record.
fn contexts<'r, 't>(handoff: &'r Record<'t>) -> impl Iterator<Item = &'r Record<'t>> {
    let context = handoff.field("context").and_then(record_of);
    std::iter::once(handoff).chain(context)
}

fn history_of<'r, 't>(handoff: &'r Record<'t>) -> Option<&'r Field<'t>> {
    contexts(handoff).find_map(|c| c.field("history"))
}

/// Rewrites `last_10` and `{last_n: 10}` as `{mode: last_n, count: 10}`.
pub(super) fn counted(source: &Source<'_, '_>, changes: &mut Changes) {
    handoffs(source, &mut |handoff| {
        let Some(field) = history_of(handoff) else { return };
        let EntryKind::Pair { value, children, .. } = &field.entry.kind else { return };
        let new = |count: u32| format!("{{mode: last_n, count: {count}}}");
        if let Some(value) = value {
            let text = value.value();
            let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
            let count = match inner.and_then(|i| i.split_once(':')) {
                Some((key, count)) if key.trim() == "last_n" => count.trim().parse().ok(),
                Some(_) => None,
                None => text.strip_prefix("last_").and_then(|n| n.parse().ok()),
            };
            if let Some(count) = count {
                changes.replace(value.span, new(count));
            }
        } else if let [only] = children.as_slice()
            && let EntryKind::Pair { key, value: Some(_), .. } = &only.kind
            && key.text.eq_ignore_ascii_case("last_n")
        {
            let next = match source.indentation_at(key.span.start) {
                Some(margin) => format!("{}{margin}", source.line_break()),
                // Inside braces.
                None => ", ".to_owned(),
            };
            changes.replace(key.span, format!("mode: last_n{next}count"));
        }
    });
}

/// Adds `history: none` where no history is stated: older versions then pass nothing, the newest
/// version passes everything.
pub(super) fn history(source: &Source<'_, '_>, changes: &mut Changes) {
    debug_assert!(source.from < Version::Newest && source.to == Version::Newest);
    handoffs(source, &mut |handoff| {
        if history_of(handoff).is_some() {
            return;
        }
        let context = handoff.field("context").and_then(record_of);
        // Insert a line before the first field of the context, or before the second of the handoff.
        let first = context.and_then(|c| c.fields.first());
        let second = || handoff.fields.iter().find(|f| f.key.start > handoff.span.start);
        let Some(before) = first.or_else(second) else {
            let at = handoff.name.as_ref().map_or(handoff.span, |n| n.span);
            changes.undecided(
                at,
                NO_HISTORY_STATED.to_owned(),
                "write `history: none` to go on with nothing",
            );
            return;
        };
        let own_line = source.indentation_at(before.key.start).filter(|_| {
            let line = source.text.get(..before.key.start as usize).unwrap_or_default();
            line.rsplit('\n').next().is_some_and(|l| l.trim().is_empty())
        });
        match own_line {
            Some(margin) => {
                let key = source.in_case_of(before.key, "history");
                let at = source.span(before.key.start, before.key.start);
                changes.replace(at, format!("{key}: none{}{margin}", source.line_break()));
            }
            None => changes.undecided(
                before.key,
                NO_HISTORY_STATED.to_owned(),
                "write `history: none` to go on with nothing",
            ),
        }
    });
}

const NO_HISTORY_STATED: &str = "this handoff does not say what of the conversation goes with it: nothing did, and everything does in the newest version";
