//! Defects that are planted in agents that are in order: nearly all are found, and what is no defect
//! is left alone.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_tests::plant::{everywhere, odd, report, rows};
use agentir_tests::samples::root;
use std::fs;

/// Of so many defects of a kind, at least 95 of 100 must be found.
const FEW: usize = 20;

#[test]
fn planted_defects_are_found() {
    let all = everywhere();
    let mut problems = Vec::new();
    for row in rows(&all.planted) {
        if row.defects == 0 {
            problems.push(format!("{}: none of the changes is a defect", row.kind));
        }
        let least =
            row.defects.saturating_sub(if row.defects < FEW { 1 } else { row.defects / 20 });
        if row.found < least {
            problems.push(format!("{}: {} of {} found", row.kind, row.found, row.defects));
        }
        if !row.false_alarms.is_empty() {
            problems.push(format!("{}: {:?} speak of no defect", row.kind, row.false_alarms));
        }
    }
    assert!(problems.is_empty(), "{}\n\n{}", problems.join("\n"), odd(&all).join("\n\n"));
    let written = fs::read_to_string(root().join("docs/mutations.md")).unwrap_or_default();
    assert!(
        written == report(&all),
        "docs/mutations.md is not what the rules find; run `cargo xtask mutate`"
    );
}
