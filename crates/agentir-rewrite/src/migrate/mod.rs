//! Migration of ABL documents to newer versions.
//!
//! [`ROWS`] is the table of changes between the versions. A row either names a rule whose fixes
//! migrate the document, or finds the old form in the typed tree. Both yield edits of the text, so
//! everything else stays byte for byte. What cannot be decided stays as it is and becomes a
//! finding.
//!
//! A row also states where in the IR the new form may differ; a migration that differs elsewhere is
//! refused. Constructs whose semantics changed (guardrails, the context of a handoff) are only
//! rewritten in documents of an older version.

mod handoffs;
mod names;
mod profiles;
mod rules;
mod source;
mod table;

pub use profiles::NewFile;
pub use table::{How, ROWS, Row};

use crate::RewriteError;
use crate::edit::{apply, non_overlapping, shifted};
use crate::round_trip::{self, differences};
use agentir_diagnostics::{Diagnostic, Edit, FileId};
use agentir_expr::Version;
use agentir_lint::Selection;
use agentir_lower::Language;
use agentir_project::{FileResult, LoadedProgram, Member, ProjectManifest, assemble};
use agentir_syntax::abl::{Arena, Format, Options};
use agentir_syntax::outline;
use source::{Changes, Source};
use std::sync::Arc;

/// How often a document is looked at again: an edit may make room for another one.
const ROUNDS: usize = 8;

/// A document in a newer version.
#[derive(Debug)]
pub struct Migration {
    /// Its text.
    pub text: String,
    /// The version it was in.
    pub from: Version,
    /// Documents that came out of it.
    pub files: Vec<NewFile>,
    /// What has to be decided by somebody who knows; places are in the new text.
    pub findings: Vec<Diagnostic>,
}

/// Brings a document of ABL into a newer version. `from` is the version it is in, found out if not
/// given. What is newer already stays as it is; so do documents of other languages.
///
/// # Errors
/// If the document has errors that make its structure doubtful.
pub fn migrate(
    language: Language,
    file: FileId,
    text: &str,
    from: Option<Version>,
    to: Version,
) -> Result<Migration, RewriteError> {
    let none =
        |from| Migration { text: text.to_owned(), from, files: Vec::new(), findings: Vec::new() };
    let format = match language {
        Language::Abl => Format::Abl,
        Language::AblYaml => Format::Yaml,
        _ => return Ok(none(to)),
    };
    let before = round_trip::read(language, file, text, from);
    let broken = before.structure_errors();
    if !broken.is_empty() {
        return Err(RewriteError::InvalidStructure(broken));
    }
    let from = before.version;
    let how = Reader { language, format, file, fragment: before.fragment };
    if from > to {
        return Ok(none(from));
    }
    let mut new = text.to_owned();
    let mut undecided: Vec<Diagnostic> = Vec::new();
    let mut files = Vec::new();
    for round in 0..ROUNDS {
        let mut changes = in_tree(&how, &new, (from, to), round == 0);
        changes.groups.extend(fixes(&how, &new, from, to));
        if round == 0 {
            files = changes.files;
            undecided = changes.findings;
        }
        let edits = non_overlapping(changes.groups);
        for finding in &mut undecided {
            move_to(finding, &edits);
        }
        if edits.is_empty() {
            break;
        }
        new = apply(&new, &edits);
    }
    let after = round_trip::read(language, file, &new, Some(to));
    let unexpected = differences(&before, &after)
        .into_iter()
        .find(|difference| !table::applies(from, to).any(|row| row.may_change(difference)));
    if let Some(difference) = unexpected {
        return Err(RewriteError::MeaningChanged(difference.path));
    }
    for file in &mut files {
        file.text = finished(&file.text, to)?;
    }
    let mut findings = findings(&how, &new, to);
    undecided.retain(|u| findings.iter().all(|f| f.primary.span != u.primary.span));
    findings.append(&mut undecided);
    Ok(Migration { text: new, from, files, findings })
}

/// How a document is read.
struct Reader {
    language: Language,
    format: Format,
    file: FileId,
    fragment: bool,
}

/// A new document, with what its version asks for.
fn finished(text: &str, to: Version) -> Result<String, RewriteError> {
    let mut text = text.to_owned();
    let file = FileId(0);
    let how = Reader { language: Language::Abl, format: Format::Abl, file, fragment: false };
    for _ in 0..ROUNDS {
        let edits = non_overlapping(fixes(&how, &text, Version::Legacy, to));
        if edits.is_empty() {
            break;
        }
        text = apply(&text, &edits);
    }
    let read = round_trip::read(Language::Abl, file, &text, Some(to));
    let broken = read.structure_errors();
    if broken.is_empty() { Ok(text) } else { Err(RewriteError::InvalidStructure(broken)) }
}

fn move_to(finding: &mut Diagnostic, edits: &[Edit]) {
    finding.primary.span = shifted(finding.primary.span, edits);
    for label in &mut finding.labels {
        label.span = shifted(label.span, edits);
    }
}

/// What is found in the tree.
fn in_tree(how: &Reader, text: &str, (from, to): (Version, Version), first: bool) -> Changes {
    let &Reader { format, file, fragment, .. } = how;
    let mut changes = Changes::default();
    let mut problems = Vec::new();
    let outline = match format {
        Format::Abl => outline::parse(file, text, &mut problems),
        Format::Yaml => outline::parse_yaml(file, text, &mut problems),
    };
    let arena = Arena::new();
    let options = Options { version: Some(to), fragment };
    let Some(document) =
        agentir_syntax::abl::read(&outline, format, options, &arena, &mut problems)
    else {
        return changes;
    };
    let source = Source { file, text, document: &document, from, to };
    for row in table::applies(from, to) {
        match row.how {
            How::Tree(find) => find(&source, &mut changes),
            How::Once(find) if first => find(&source, &mut changes),
            _ => {}
        }
    }
    changes
}

/// The rules whose findings are about forms of other versions.
const ABOUT_VERSIONS: &[&str] = &[
    "keyword-case",
    "legacy-form",
    "legacy-recall-event",
    "behavior-profiles-plural",
    "mode-removed",
    "guardrail-polarity",
    "single-brace-hole",
];

/// What the rules find that is of another version.
fn findings(how: &Reader, text: &str, to: Version) -> Vec<Diagnostic> {
    let options = Options { version: Some(to), fragment: how.fragment };
    let file = FileResult::of(how.language, how.file, text, options.into());
    let rule_options = Arc::default();
    let (loaded, _) = assemble(
        [Member { id: how.file, file: &file, options: &rule_options }],
        ProjectManifest::Absent,
    );
    let versions_only = Selection {
        select: ABOUT_VERSIONS.iter().map(|rule| (*rule).to_owned()).collect(),
        ..Selection::default()
    };
    let LoadedProgram { program, versions, options, .. } = &loaded;
    let mut found = file.lowered.diagnostics;
    found.extend(agentir_lint::check(program, versions, options, &versions_only).diagnostics);
    found.retain(|d| versions_only.wants(d.rule.0));
    found
}

/// The edits of fixable findings.
fn fixes(how: &Reader, text: &str, from: Version, to: Version) -> Vec<Vec<Edit>> {
    let rules: Vec<&str> = table::applies(from, to)
        .filter_map(|row| match row.how {
            How::Finding(rule) => Some(rule),
            _ => None,
        })
        .collect();
    findings(how, text, to)
        .into_iter()
        .filter(|d| rules.contains(&d.rule.0))
        .filter_map(|d| Some(d.fixes.into_iter().next()?.edits))
        .collect()
}
