//! Findings as bytes, for the cache. They are only read by the build that wrote them, so there is no
//! version in them.

use agentir_diagnostics::{Confidence, Diagnostic, Evidence, Fix, Label, RuleName, Severity, Tag};
use serde::{Deserialize, Serialize};

/// A finding whose rule is known by its name.
#[derive(Serialize, Deserialize)]
struct Stored<'a> {
    rule: &'a str,
    severity: Severity,
    confidence: Confidence,
    message: String,
    primary: Label,
    labels: Vec<Label>,
    help: Option<String>,
    note: Option<String>,
    fixes: Vec<Fix>,
    tags: Vec<Tag>,
    page: Option<String>,
    evidence: Option<Box<Evidence>>,
}

/// Findings, and how many files they were looked for in.
pub fn encode(files: usize, diagnostics: &[Diagnostic]) -> Option<Vec<u8>> {
    let stored: Vec<Stored<'_>> = diagnostics
        .iter()
        .cloned()
        .map(|d| {
            let Diagnostic {
                rule,
                severity,
                confidence,
                message,
                primary,
                labels,
                help,
                note,
                fixes,
                tags,
                page,
                evidence,
            } = d;
            Stored {
                rule: rule.0,
                severity,
                confidence,
                message,
                primary,
                labels,
                help,
                note,
                fixes,
                tags,
                page,
                evidence,
            }
        })
        .collect();
    postcard::to_stdvec(&(files, stored)).ok()
}

/// The findings that [`encode`] wrote.
pub fn decode(bytes: &[u8]) -> Option<(usize, Vec<Diagnostic>)> {
    let (files, stored): (usize, Vec<Stored<'_>>) = postcard::from_bytes(bytes).ok()?;
    let found = stored.into_iter().map(|s| {
        Some(Diagnostic {
            rule: RuleName(agentir_lint::rule(s.rule)?.name),
            severity: s.severity,
            confidence: s.confidence,
            message: s.message,
            primary: s.primary,
            labels: s.labels,
            help: s.help,
            note: s.note,
            fixes: s.fixes,
            tags: s.tags,
            page: s.page,
            evidence: s.evidence,
        })
    });
    Some((files, found.collect::<Option<_>>()?))
}
