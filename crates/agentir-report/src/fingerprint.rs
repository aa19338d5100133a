//! The fingerprint by which a finding is recognised in another run. Line numbers are not part of
//! it, so edits elsewhere in the file do not change it.

use crate::relative;
use agentir_diagnostics::{Diagnostic, Report};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::Path;

/// The version of what goes into a fingerprint; it changes when old ones are no longer found.
pub(crate) const VERSION: &str = "agentir/v1";

/// The maximal number of characters of the text of a finding that are hashed.
const MAX_TEXT_CHARS: usize = 200;

/// The number of characters that they are looked for in: a line may begin with a million blanks.
const MAX_SCANNED_CHARS: usize = 10_000;

/// A fingerprint for each finding, in order: a hash of the rule, the file, and the text of the line and
/// the span, without white space. Lines above and below may change. Findings that are equal in all of
/// these are numbered within the file.
#[must_use]
pub fn fingerprints(report: &Report<'_>, root: &Path) -> Vec<String> {
    let mut seen: HashMap<[u8; 32], u32> = HashMap::new();
    report
        .diagnostics
        .iter()
        .map(|finding| {
            let alike = alike(finding, report, root);
            let count = seen.entry(alike).or_insert(0);
            *count += 1;
            let mut hash = Sha256::new();
            hash.update(alike);
            hash.update(count.to_le_bytes());
            hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
        })
        .collect()
}

fn alike(finding: &Diagnostic, report: &Report<'_>, root: &Path) -> [u8; 32] {
    let span = finding.primary.span;
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text);
        hash.update([0]);
    };
    add(VERSION);
    add(finding.rule.0);
    if let Some(file) = report.sources.get(span.file) {
        add(&relative(&file.name, root));
        let line = file.line_range(file.line_index(span.start as usize));
        add(&without_space(file.text.get(line).unwrap_or_default()));
        add(&without_space(file.slice(span).lines().next().unwrap_or_default()));
    }
    hash.finalize().into()
}

fn without_space(text: &str) -> String {
    let near = text.chars().take(MAX_SCANNED_CHARS).filter(|c| !c.is_whitespace());
    near.take(MAX_TEXT_CHARS).collect()
}
