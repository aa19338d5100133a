//! The mutation score: nearly all seeded defects are found, and there are no false positives.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_tests::documents::assert_fresh;
use agentir_tests::mutants::{report, rows, run, unexpected};
use agentir_tests::samples::root;

/// From this number of defects of an operator on, at least 95 % must be found; otherwise all but one.
const PERCENTAGE_FROM: usize = 20;

#[test]
fn seeded_defects_are_found() {
    let all = run();
    let mut problems = Vec::new();
    for row in rows(&all.mutants) {
        if row.defects == 0 {
            problems.push(format!("{}: none of the changes is a defect", row.operator));
        }
        let least = row.defects.saturating_sub(if row.defects < PERCENTAGE_FROM {
            1
        } else {
            row.defects / 20
        });
        if row.found < least {
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
    assert_fresh(&root().join("docs/mutations.md"), &report(&all), "`cargo xtask mutate`");
}
