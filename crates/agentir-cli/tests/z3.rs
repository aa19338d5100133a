//! A sample whose finding needs Z3, with Z3's library and without it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use common::{agentir, code, samples, stderr, stdout};
use std::path::Path;
use std::process::{Command, Output};

const SAMPLE: &str = "abl/invalid/combined_limits.agent.abl";

/// `agentir check` of the sample, before the paths of its options.
fn check(cache: &Path) -> Command {
    let mut command = agentir(&samples(), cache);
    command.env_remove("AGENTIR_Z3_LIBRARY");
    command.args(["check", "--format", "concise", "--fail-on", "info", SAMPLE]);
    command
}

fn without_z3(command: &mut Command) -> Output {
    command.env("AGENTIR_Z3_LIBRARY", "/nonexistent/libz3.so").output().unwrap()
}

/// The part of the solver's statistics about Z3.
fn queries(output: &Output) -> String {
    let all = stderr(output);
    let line =
        all.lines().find(|line| line.starts_with("solver: ")).unwrap_or_else(|| panic!("{all}"));
    let counts = line.split_once("without Z3, ").unwrap().1;
    format!("{})", counts.split_once(')').unwrap().0)
}

#[test]
fn z3_is_asked_if_it_is_there() {
    let cache = tempfile::tempdir().unwrap();
    let output = check(cache.path()).arg("--statistics").output().unwrap();
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains(":22:15: warning[contradictory-constraints]"));
    assert_eq!(
        queries(&output),
        "1 with Z3; 0 unknown (0 opaque, 0 over budget, 0 unconfirmed, 0 without Z3 available)"
    );
    assert!(!stderr(&output).contains("note:"), "{}", stderr(&output));
}

#[test]
fn without_z3_a_query_is_undecided_and_the_user_is_told() {
    let cache = tempfile::tempdir().unwrap();
    let output = without_z3(check(cache.path()).arg("--statistics"));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    assert_eq!(
        queries(&output),
        "1 with Z3; 1 unknown (0 opaque, 0 over budget, 0 unconfirmed, 1 without Z3 available)"
    );
    let note = "note: some conditions are undecided because Z3 is not available: cannot load /nonexistent/libz3.so: ";
    assert_eq!(stderr(&output).matches(note).count(), 1, "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("note:").count(), 1, "{}", stderr(&output));
}

/// A file without a query for Z3 does not load it, so it is not missed.
#[test]
fn who_does_not_need_z3_does_not_hear_of_it() {
    let cache = tempfile::tempdir().unwrap();
    let mut command = agentir(&samples(), cache.path());
    let output = without_z3(command.args(["check", "abl/valid"]));
    assert_eq!((code(&output), &*stderr(&output)), (0, ""));
}

#[test]
fn what_was_undecided_is_not_kept() {
    let cache = tempfile::tempdir().unwrap();
    // A single small program is not cached.
    let folder = tempfile::tempdir().unwrap();
    for program in ["one", "two"] {
        std::fs::create_dir(folder.path().join(program)).unwrap();
        let copy = folder.path().join(program).join("agents.agent.abl");
        std::fs::copy(samples().join(SAMPLE), copy).unwrap();
    }
    let check = || {
        let mut command = agentir(folder.path(), cache.path());
        command.args(["check", "--format", "concise", "."]);
        command
    };
    let before = without_z3(&mut check());
    assert_eq!(stdout(&before), "");
    let after = check().env_remove("AGENTIR_Z3_LIBRARY").output().unwrap();
    assert_eq!(stdout(&after).lines().count(), 2, "{}", stdout(&after));
    // The second one is found in the cache, which needs no Z3.
    let again = without_z3(&mut check());
    assert_eq!((stdout(&again), &*stderr(&again)), (stdout(&after), ""));
}
