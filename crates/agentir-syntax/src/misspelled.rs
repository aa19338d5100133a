//! Required keys that are missing because they are misspelled: one mistake, and one finding.

use crate::rules;
use agentir_diagnostics::{Diagnostic, Severity, Span, closest};

/// The location of the first of some unknown keys that is a misspelling of `name`, which is one of the `known` keys of the
/// record.
pub fn misspelling<'k>(
    name: &str,
    unknown: impl IntoIterator<Item = (&'k str, Span)>,
    known: impl Iterator<Item = &'k str> + Clone,
) -> Option<Span> {
    let is_meant = |key: &str| closest(key, known.clone()) == Some(name);
    unknown.into_iter().find(|(key, _)| is_meant(key)).map(|(_, span)| span)
}

/// Says at the finding about the unknown key at `key` what is missing because of it, and makes it an error. Returns whether
/// there is such a finding; otherwise the missing key is to be reported.
pub fn explain_missing(problems: &mut [Diagnostic], key: Span, missing: &str) -> bool {
    let is_it = |problem: &&mut Diagnostic| {
        problem.primary.span == key
            && (problem.rule == rules::UNKNOWN_FIELD || problem.rule == rules::UNKNOWN_SECTION)
    };
    let Some(problem) = problems.iter_mut().rev().find(is_it) else { return false };
    problem.severity = Severity::Error;
    problem.note = Some(missing.to_owned());
    true
}
