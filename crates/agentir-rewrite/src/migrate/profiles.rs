//! Profiles inside of an agent become files of their own.

use super::source::{Changes, Source, record_of};
use agentir_diagnostics::Edit;
use agentir_syntax::abl::{Format, Record};

/// A document that came out of another one.
#[derive(Debug)]
pub struct NewFile {
    /// The name of the file. It belongs into the folder `behavior_profiles` of the program.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Every profile of `BEHAVIOR_PROFILES` gets a file; the agent says that it uses them.
pub(super) fn extract(source: &Source<'_, '_>, changes: &mut Changes) {
    let Some(field) = source.document.root.field("behavior_profiles") else { return };
    let Some(profiles) = record_of(field).filter(|_| source.document.format == Format::Abl) else {
        return;
    };
    let (Some(margin), false) = (source.margin(field.key.start), profiles.items.is_empty()) else {
        return;
    };
    let line = source.line_break();
    let mut files = Vec::new();
    let mut uses = Vec::new();
    for profile in &profiles.items {
        let (Some(name), Some(text)) = (&profile.name, standalone(source, profile)) else { return };
        // Only what may be the name of a file everywhere.
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
    // Written as `- NAME: x` or as `x:` with the fields below.
    let first = profile.fields.iter().find(|f| f.key.start > name.span.start)?;
    let margin = source.margin(first.key.start)?;
    let body = source.slice(source.span(first.key.start, profile.span.end));
    let mut text = head;
    for (i, body_line) in body.split('\n').enumerate() {
        if i > 0 {
            text.push('\n');
        }
        text.push_str(body_line.strip_prefix(margin.as_str()).unwrap_or(body_line.trim_start()));
    }
    text.push_str(line);
    // Whoever writes a name first has all other fields behind it.
    let before =
        profile.fields.iter().any(|f| f.key.start < first.key.start && f.def.name != "name");
    (!before).then_some(text)
}
