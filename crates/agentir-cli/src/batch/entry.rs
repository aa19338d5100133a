//! Findings as bytes, for the cache. They are only read by the build that wrote them, so there is no
//! version in them.

use agentir_diagnostics::{Confidence, Diagnostic, Fix, Label, RuleName, Severity};
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
    fix: Option<Fix>,
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
                fix,
            } = d;
            let rule = rule.0;
            Stored { rule, severity, confidence, message, primary, labels, help, note, fix }
        })
        .collect();
    postcard::to_stdvec(&(files, stored)).ok()
}

/// The findings that [`encode`] wrote.
pub fn decode(bytes: &[u8]) -> Option<(usize, Vec<Diagnostic>)> {
    let (files, stored): (usize, Vec<Stored<'_>>) = postcard::from_bytes(bytes).ok()?;
    let found = stored.into_iter().map(|s| {
        let rule = RuleName(agentir_lint::rule(s.rule)?.name);
        let Stored { severity, confidence, message, primary, labels, help, note, fix, .. } = s;
        Some(Diagnostic { rule, severity, confidence, message, primary, labels, help, note, fix })
    });
    Some((files, found.collect::<Option<_>>()?))
}
