//! The mutation score: nearly all seeded defects are found, and there are no false positives.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_tests::documents::{assert_part_fresh, updates};
use agentir_tests::mutants::{
    report, rows, run, run_programs, section, unexpected, unexpected_in_programs,
};
use agentir_tests::samples::root;

/// From this number of defects of an operator on, at least 95 % must be found; otherwise all but one.
const PERCENTAGE_FROM: usize = 20;

/// How many of these defects must be found.
fn least(defects: usize) -> usize {
    defects.saturating_sub(if defects < PERCENTAGE_FROM { 1 } else { defects / 20 })
}

#[test]
fn seeded_defects_are_found() {
    let all = run();
    let mut problems = Vec::new();
    for row in rows(&all.mutants) {
        if row.defects == 0 {
            problems.push(format!("{}: none of the changes is a defect", row.operator));
        }
        if row.found < least(row.defects) {
            problems.push(format!("{}: {} of {} found", row.operator, row.found, row.defects));
        }
        if !row.false_positives.is_empty() {
            problems.push(format!(
                "{}: {:?} report a mutant without a defect",
                row.operator, row.false_positives
            ));
        }
    }
    assert!(problems.is_empty(), "{}\n\n{}", problems.join("\n"), unexpected(&all).join("\n\n"));
    let page = root().join("docs/mutations.md");
    assert_part_fresh(&page, &report(&all), "`cargo xtask mutate`");
}

/// The operators for which fewer are found than elsewhere, by language, and how many are missed; `docs/mutations.md` says
/// why.
const MISSED: &[(&str, &str, usize)] = &[
    ("compared with another value", "ABL", 2),
    ("a test negated", "ABL", 7),
    ("a transition to another agent", "ADL", 2),
];

#[test]
#[ignore = "takes minutes"]
fn defects_of_whole_programs_are_found() {
    let all = run_programs();
    let mut problems = Vec::new();
    for row in all.rows() {
        let here = |of: &&(&str, &str, usize)| (of.0, of.1) == (row.operator, row.language);
        let least = match MISSED.iter().find(here) {
            Some((_, _, missed)) => row.defects.saturating_sub(*missed),
            None => least(row.defects),
        };
        if row.found < least {
            let [operator, language] = [row.operator, row.language];
            problems.push(format!("{operator} ({language}): {} of {}", row.found, row.defects));
        }
        if row.refuted > 0 {
            problems.push(format!("{} ({}): refuted", row.operator, row.language));
        }
    }
    if problems.is_empty() || updates() {
        let page = root().join("docs/mutations.md");
        assert_part_fresh(&page, &section(&all), "`cargo xtask mutate`");
    }
    let details = || unexpected_in_programs(&all).join("\n\n");
    assert!(problems.is_empty(), "{}\n\n{}", problems.join("\n"), details());
}
