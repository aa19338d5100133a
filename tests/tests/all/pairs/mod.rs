//! Pairs of a defect about values and its near miss: see `agentir_tests::pairs`.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, check};
use agentir_tests::pairs::{LANGUAGES, Variant, pairs};
use std::fmt::Write as _;

/// The rules that say something about values, data and signatures.
const RULES: [&str; 29] = [
    "always-true-condition",
    "argument-type",
    "constant-comparison",
    "delegation-cycle",
    "duplicate-workflow",
    "exposed-sensitive-data",
    "handoff-circle",
    "impossible-value",
    "lost-at-handoff",
    "missing-case",
    "never-set",
    "self-assignment",
    "shadowed-completion",
    "shadowed-route",
    "signature-drift",
    "transition-cycle",
    "turnless-cycle",
    "type-mismatch",
    "unavailable-tool",
    "undeclared-arg",
    "undefined-field",
    "undefined-parameter",
    "unknown-argument",
    "unreachable-branch",
    "unreachable-step",
    "unreachable-statement",
    "unreturned-field",
    "unsatisfiable-condition",
    "used-after-clear",
];

/// The findings of the rules about values: where, and as a line.
fn findings(checked: &Checked) -> Vec<((String, u32), String)> {
    let all = checked.diagnostics.iter();
    all.filter(|d| RULES.contains(&d.rule.0))
        .map(|d| {
            let (name, line) = checked.place(d.primary.span);
            ((name.to_owned(), line), checked.line(d))
        })
        .collect()
}

#[test]
fn defects_are_found_and_near_misses_are_not() {
    let mut problems = String::new();
    let mut table = String::new();
    for (name, programs, text) in LANGUAGES {
        let all = pairs(text);
        let mut found = 0;
        for pair in &all {
            for (size, program) in ["small", "large"].into_iter().zip(programs) {
                let what = format!("{name}, {size}, {}", pair.name);
                let defect = Variant::new(name, program, pair, true);
                let near = Variant::new(name, program, pair, false);
                assert!(!defect.marks.is_empty(), "{what}: nothing is marked");
                for variant in [&defect, &near] {
                    let checked = check(&variant.files, Options::default());
                    let errors = checked.diagnostics.iter();
                    let others = errors.filter(|d| !RULES.contains(&d.rule.0));
                    for d in others.filter(|d| d.severity == Severity::Error) {
                        writeln!(problems, "{what}: {}", checked.line(d)).unwrap();
                    }
                }
                let said = findings(&check(&defect.files, Options::default()));
                let is_found = said.iter().any(|(at, _)| defect.marks.contains(at));
                found += usize::from(is_found);
                if is_found == pair.open {
                    let verb = if is_found { "found now" } else { "missed" };
                    writeln!(problems, "{what}: {verb}").unwrap();
                }
                for (_, line) in said.iter().filter(|(at, _)| !defect.marks.contains(at)) {
                    writeln!(problems, "{what}, beside the mark: {line}").unwrap();
                }
                for (_, line) in findings(&check(&near.files, Options::default())) {
                    writeln!(problems, "{what}, near miss: {line}").unwrap();
                }
            }
        }
        writeln!(table, "{name}: {found} of {}", 2 * all.len()).unwrap();
    }
    assert!(problems.is_empty(), "{table}{problems}");
}
