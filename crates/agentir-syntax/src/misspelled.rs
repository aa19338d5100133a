//! Misspelled keys. What they were meant to do is not done, so they are errors, other than keys that nobody knows; and what
//! is missing because of them is the same mistake.

use crate::rules;
use agentir_diagnostics::{Diagnostic, Severity, Span, closest};

/// A key that its record does not have, similar to one that it has if `meant` is one.
#[must_use]
pub fn unknown_field(key: Span, message: String, meant: Option<&str>) -> Diagnostic {
    match meant {
        Some(meant) => Diagnostic::error(rules::UNKNOWN_FIELD, key, message).did_you_mean(meant),
        None => Diagnostic::warning(rules::UNKNOWN_FIELD, key, message),
    }
}

/// Where a file may have something else than what was read: at its misspelled keys.
pub fn gaps(problems: &[Diagnostic]) -> impl Iterator<Item = Span> {
    let is_gap = |problem: &&Diagnostic| {
        (problem.rule == rules::UNKNOWN_FIELD || problem.rule == rules::UNKNOWN_SECTION)
            && problem.severity == Severity::Error
            && !problem.fixes.is_empty()
    };
    problems.iter().filter(is_gap).map(|problem| problem.primary.span)
}

/// The lines on which keys are repeated, from the key on: of two values of a key nobody knows which one is meant.
pub fn repeated(problems: &[Diagnostic], text: &str) -> Vec<Span> {
    let keys = problems.iter().filter(|problem| problem.rule == rules::DUPLICATE_FIELD);
    let lines = keys.map(|problem| {
        let key = problem.primary.span;
        let rest = text.get(key.end as usize..).unwrap_or_default();
        let length = rest.find('\n').unwrap_or(rest.len());
        Span { end: key.end.saturating_add(u32::try_from(length).unwrap_or(u32::MAX)), ..key }
    });
    lines.collect()
}

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
