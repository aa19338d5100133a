//! Migration of documents to newer versions of their language.
//!
//! The changes between the versions are a table of the language ([`agentir_syntax::migrate`]). Some of them are the
//! fixes of rules, which the caller runs. Both yield edits of the text, so everything else stays byte for byte. What
//! cannot be decided stays as it is and becomes a finding. A migration that changes anything else in the IR is refused.

use crate::RewriteError;
use crate::edit::{Shifts, apply, non_overlapping};
use crate::round_trip::{self, differences};
use agentir_diagnostics::{Diagnostic, Edit, FileId, Span};
use agentir_expr::Version;
use agentir_syntax::migrate::{Migration as Changes, NewFile, OldDocument};
use agentir_syntax::{Detected, ReadOptions};
use std::collections::HashSet;

/// How often a document is looked at again: an edit may make room for another one.
const ROUNDS: usize = 8;

/// Reads a document, checks it with the rules of these names, and returns what the front end and the rules find.
pub type FindingsOf<'a> =
    dyn Fn(Detected, FileId, &str, ReadOptions, &[&str]) -> Vec<Diagnostic> + 'a;

/// A document in a newer version.
#[derive(Debug)]
pub struct Migration {
    /// Its text.
    pub text: String,
    /// The version it was in.
    pub from: Version,
    /// Documents that came out of it.
    pub files: Vec<NewFile>,
    /// What has to be decided by somebody who knows; spans are in the new text.
    pub findings: Vec<Diagnostic>,
}

/// Brings a document into a newer version of its language. `from` is the version it is in, found out if not
/// given. What is newer already stays as it is; so do documents of languages without versions.
///
/// # Errors
/// If the document has errors that make its structure doubtful.
pub fn migrate(
    language: Detected,
    file: FileId,
    text: &str,
    (from, to): (Option<Version>, Version),
    findings_of: &FindingsOf<'_>,
) -> Result<Migration, RewriteError> {
    let none =
        |from| Migration { text: text.to_owned(), from, files: Vec::new(), findings: Vec::new() };
    let Some(changes) = language.kind.migration else { return Ok(none(to)) };
    let before = round_trip::read(language, file, text, from);
    let broken = before.structure_errors();
    if !broken.is_empty() {
        return Err(RewriteError::InvalidStructure(broken));
    }
    let from = before.version;
    let driver = Driver { language, changes, file, fragment: before.fragment, findings_of };
    if from > to {
        return Ok(none(from));
    }
    let mut new = text.to_owned();
    let mut undecided: Vec<Diagnostic> = Vec::new();
    let mut files = Vec::new();
    for round in 0..ROUNDS {
        let mut changes = driver.changes.changes(&OldDocument {
            file,
            text: &new,
            fragment: driver.fragment,
            from,
            to,
            is_first_round: round == 0,
        });
        changes.groups.extend(driver.fixes(&new, from, to));
        if round == 0 {
            files = changes.files;
            undecided = changes.findings;
        }
        let edits = non_overlapping(changes.groups);
        let shifts = Shifts::of(&edits);
        for finding in &mut undecided {
            move_to(finding, &shifts);
        }
        if edits.is_empty() {
            break;
        }
        new = apply(&new, &edits);
    }
    let after = round_trip::read(language, file, &new, Some(to));
    let unexpected = differences(&before, &after)
        .into_iter()
        .find(|difference| !changes.explains(from, to, difference));
    if let Some(difference) = unexpected {
        return Err(RewriteError::MeaningChanged(difference.path));
    }
    for file in &mut files {
        file.text = driver.finished(&file.text, to)?;
    }
    let mut findings = driver.findings(&new, to);
    let found: HashSet<Span> = findings.iter().map(|finding| finding.primary.span).collect();
    undecided.retain(|undecided| !found.contains(&undecided.primary.span));
    findings.append(&mut undecided);
    Ok(Migration { text: new, from, files, findings })
}

/// How a document is read and changed.
struct Driver<'a> {
    language: Detected,
    changes: &'static dyn Changes,
    file: FileId,
    fragment: bool,
    findings_of: &'a FindingsOf<'a>,
}

impl Driver<'_> {
    /// A new document, with what its version asks for.
    fn finished(&self, text: &str, to: Version) -> Result<String, RewriteError> {
        let mut text = text.to_owned();
        let file = FileId(0);
        let driver = Driver { file, fragment: false, ..*self };
        for _ in 0..ROUNDS {
            let edits = non_overlapping(driver.fixes(&text, Version::Legacy, to));
            if edits.is_empty() {
                break;
            }
            text = apply(&text, &edits);
        }
        let read = round_trip::read(self.language, file, &text, Some(to));
        let broken = read.structure_errors();
        if broken.is_empty() { Ok(text) } else { Err(RewriteError::InvalidStructure(broken)) }
    }

    /// What the rules find that is of another version.
    fn findings(&self, text: &str, to: Version) -> Vec<Diagnostic> {
        let options =
            ReadOptions { version: Some(to), fragment: self.fragment, ..ReadOptions::default() };
        let rules = self.changes.rules();
        let mut found = (self.findings_of)(self.language, self.file, text, options, rules);
        found.retain(|d| rules.contains(&d.rule.0));
        found
    }

    /// The edits of fixable findings.
    fn fixes(&self, text: &str, from: Version, to: Version) -> Vec<Vec<Edit>> {
        let rules = self.changes.fixing_rules(from, to);
        self.findings(text, to)
            .into_iter()
            .filter(|d| rules.contains(&d.rule.0))
            .filter_map(|d| Some(d.fixes.into_iter().next()?.edits))
            .collect()
    }
}

fn move_to(finding: &mut Diagnostic, shifts: &Shifts) {
    finding.primary.span = shifts.moved(finding.primary.span);
    for label in &mut finding.labels {
        label.span = shifts.moved(label.span);
    }
}
