//! Conversations with our samples, as the `*.test.yaml` files beside them say.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests end by panicking, and say how far they came"
)]

use agentir_lang_abl::Options;
use agentir_runtime::Machine;
use agentir_scenario::{Coverage, Scenario, TestOutcome, run, text};
use agentir_tests::check::{Checked, File, check};
use agentir_tests::samples::{external_root, files_below, is_conversation_test, root};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// What came of one file.
struct Done {
    file: String,
    outcomes: Vec<TestOutcome>,
    /// Kind, how many the conversations came to, and how many there are.
    covered: Vec<(&'static str, usize, usize)>,
}

/// The files with conversation tests below a folder, in the order of their paths.
fn tests_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if is_conversation_test(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The agents of some paths, which are one program: all of a folder, or a file.
fn agents(paths: &[PathBuf]) -> Checked {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let files: Vec<File> = paths
        .iter()
        .flat_map(|path| {
            if path.is_dir() {
                return files_below(path);
            }
            let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            vec![File { name: name(path), text: String::from_utf8_lossy(&text).into_owned() }]
        })
        .collect();
    check(&files, Options::default())
}

/// Goes through one file; its agents are found from a folder.
fn one(path: &Path, folder: &Path) -> Result<Done, String> {
    let file = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let inside = |error: String| format!("{file}: {error}\n");
    let scenario = Scenario::read(&fs::read_to_string(path).unwrap());
    let scenario = scenario.map_err(|e| inside(e.to_string()))?;
    let checked = agents(&scenario.agents.paths(folder));
    let machine = Machine::new(&checked.program);
    let outcomes = run(&machine, &scenario).map_err(|e| inside(e.to_string()))?;
    let mut all = Coverage::default();
    outcomes.iter().for_each(|o| all += o.coverage.clone());
    let parts = all.metrics(machine.cfg());
    let covered = parts.iter().map(|part| (part.kind, part.covered, part.total)).collect();
    Ok(Done { file, outcomes, covered })
}

/// Goes through all files, whose agents are below a folder, or else beside them; says what they cover,
/// and fails with the report of those that failed.
fn all(files: &[PathBuf], agents: Option<&Path>) {
    let folder = |path: &'_ Path| agents.unwrap_or(path.parent().unwrap()).to_owned();
    let done: Vec<_> = files.par_iter().map(|path| one(path, &folder(path))).collect();
    let mut report = String::new();
    let mut count = 0;
    for done in done {
        match done {
            Ok(Done { file, outcomes, covered }) => {
                count += outcomes.len();
                let failed: Vec<TestOutcome> =
                    outcomes.into_iter().filter(|o| !o.failures.is_empty()).collect();
                report.push_str(&text(&file, &failed));
                let parts = covered.iter().filter(|(.., all)| *all > 0);
                let parts: Vec<String> =
                    parts.map(|(of, covered, all)| format!("{of} {covered}/{all}")).collect();
                eprintln!("{file}: {}", parts.join(", "));
            }
            Err(error) => report.push_str(&error),
        }
    }
    eprintln!("{count} conversations");
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn samples_pass_their_conversation_tests() {
    let files = tests_below(&root().join("corpus"));
    assert!(!files.is_empty(), "there are no conversation tests");
    all(&files, None);
}

/// Third-party agents, which are not in the repository: the examples of the specification and the bots of
/// the paper of ADL. Only the conversations are ours.
#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn third_party_agents_pass_their_conversation_tests() {
    let files = tests_below(&root().join("tests/tests/all/conversations_third_party"));
    assert!(!files.is_empty(), "there are no conversation tests");
    all(&files, Some(&external_root()));
}
