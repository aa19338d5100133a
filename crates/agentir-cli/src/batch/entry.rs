//! Findings as bytes, for the cache. They are only read by the build that wrote them, so there is no
//! version in them.

use agentir_diagnostics::{
    Confidence, Diagnostic, Evidence, Fix, Label, RuleName, Severity, Shown, SourceMap, Span, Tag,
};
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
    secret: bool,
}

/// What was found in a program.
pub struct Entry {
    /// How many files it was looked for in.
    pub files: usize,
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
    /// The places in its files that are not shown.
    pub concealed: Vec<Span>,
}

/// Findings as they may be shown, how many files they were looked for in, and what of their files is not shown.
pub fn encode(files: usize, diagnostics: &[Diagnostic], sources: &SourceMap) -> Option<Vec<u8>> {
    let shown = Shown::new(diagnostics, sources);
    let stored: Vec<Stored<'_>> = shown
        .report(files)
        .diagnostics
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
                secret,
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
                secret,
            }
        })
        .collect();
    let concealed: Vec<Span> = sources.concealed().collect();
    postcard::to_stdvec(&(files, stored, concealed)).ok()
}

/// The findings that [`encode`] wrote.
pub fn decode(bytes: &[u8]) -> Option<Entry> {
    let (files, stored, concealed): (usize, Vec<Stored<'_>>, Vec<Span>) =
        postcard::from_bytes(bytes).ok()?;
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
            secret: s.secret,
        })
    });
    Some(Entry { files, diagnostics: found.collect::<Option<_>>()?, concealed })
}
