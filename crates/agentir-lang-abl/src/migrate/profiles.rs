//! Migration of inline behaviour profiles to files of their own.

use super::source::{Collect, Source, record_of};
use crate::{Format, Record};
use agentir_diagnostics::Edit;
use agentir_syntax::migrate::{Changes, NewFile};

/// Moves every profile of `BEHAVIOR_PROFILES` to a file and refers to it by `USE BEHAVIOR_PROFILE`.
pub(super) fn extract(source: &Source<'_, '_>, changes: &mut Changes) {
    let Some(field) = source.document.root.field("behavior_profiles") else { return };
    let Some(profiles) = record_of(field).filter(|_| source.document.format == Format::Abl) else {
        return;
    };
    let (Some(margin), false) = (source.indentation_at(field.key.start), profiles.items.is_empty())
    else {
        return;
    };
    let line = source.line_break();
    let mut files = Vec::new();
    let mut uses = Vec::new();
    for profile in &profiles.items {
        let (Some(name), Some(text)) = (&profile.name, standalone(source, profile)) else { return };
        // Only names that are valid file names everywhere.
        if !name.value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')) {
            return;
        }
        uses.push(format!("USE BEHAVIOR_PROFILE: {}", name.value));
        files.push(NewFile { name: format!("{}.behavior_profile.abl", name.value), text });
    }
    let all = source.span(field.key.start, field.entry.end);
    changes.edits([Edit { span: all, text: uses.join(&format!("{line}{margin}")) }]);
    changes.files.append(&mut files);
}

/// The text of a profile as a document.
fn standalone(source: &Source<'_, '_>, profile: &Record<'_>) -> Option<String> {
    let name = profile.name.as_ref()?;
    let line = source.line_break();
    let head = format!("BEHAVIOR_PROFILE: {}{line}{line}", name.value);
    // Written as `- NAME: x`, or as `x:` with the fields below.
    let first = profile.fields.iter().find(|f| f.key.start > name.span.start)?;
    let margin = source.indentation_at(first.key.start)?;
    let body = source.slice(source.span(first.key.start, profile.span.end));
    let mut text = head;
    for (i, body_line) in body.split('\n').enumerate() {
        if i > 0 {
            text.push('\n');
        }
        text.push_str(body_line.strip_prefix(margin.as_str()).unwrap_or(body_line.trim_start()));
    }
    text.push_str(line);
    // The name has to come first; otherwise fields before it would be lost.
    let before =
        profile.fields.iter().any(|f| f.key.start < first.key.start && f.def.name != "name");
    (!before).then_some(text)
}
