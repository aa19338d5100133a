//! The examples of the specifications. The corpus lies beside the repository or where
//! `AGENTIR_EXTERNAL_CORPUS` says; without it these tests pass and say so.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_lint::Group;
use agentir_syntax::abl::Options;
use agentir_tests::check::{Checked, check, json};
use agentir_tests::samples::{Sample, external};
use agentir_tests::words;

/// Examples that cannot be read as they stand, by the end of their names, with the reason.
const FLAWED: &[(&str, &str)] = &[];

fn run(sample: &Sample) -> Checked {
    check(&sample.files, Options { version: sample.version, fragment: sample.fragment })
}

fn flawed(sample: &Sample) -> bool {
    sample.files.iter().any(|f| FLAWED.iter().any(|(name, _)| f.name.ends_with(name)))
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

#[test]
fn examples_have_no_syntax_errors() {
    let mut problems = Vec::new();
    for sample in external() {
        let checked = run(&sample);
        let errors: Vec<String> = checked
            .errors()
            .filter(|d| agentir_lint::rule(d.rule.0).is_some_and(|r| r.group == Group::Syntax))
            .map(|d| checked.line(d))
            .collect();
        match (flawed(&sample), errors.is_empty()) {
            (true, true) => problems.extend(
                sample.files.iter().map(|f| format!("{} is listed as flawed and is not", f.name)),
            ),
            (false, false) => problems.extend(errors),
            _ => {}
        }
    }
    report("syntax errors in examples of the specifications", &problems);
}

#[test]
fn nothing_of_the_examples_is_lost() {
    let problems: Vec<String> = external()
        .iter()
        .flat_map(|s| words::lost(&s.files, &json(&run(s).program)))
        .collect();
    report("words that are not in the IR", &problems);
}
