//! Fixes of all findings: applied to our samples, and to what becomes of them while somebody types.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_diagnostics::{FileId, Fix, Severity};
use agentir_syntax::abl::Options;
use agentir_tests::check::{Checked, File, check};
use agentir_tests::mutate::damaged;
use agentir_tests::samples::root;
use rayon::prelude::*;
use std::fs;
use std::path::Path;

/// So often fixes may make new ones possible.
const MOST_ROUNDS: usize = 10;
/// Of a document so many of its bytes lie between two places where it is damaged.
const STRIDE: usize = 400;
/// So many damaged forms of a document are looked at, spread over all.
const MOST_MUTANTS: usize = 8;

fn documents() -> Vec<File> {
    fn below(folder: &Path, found: &mut Vec<File>) {
        let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        all.sort();
        for path in all {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                below(&path, found);
            } else if [".abl", ".agent", ".agent.yaml", "agents.yml"]
                .iter()
                .any(|e| name.ends_with(e))
                && let Ok(text) = fs::read_to_string(&path)
            {
                found.push(File { name, text });
            }
        }
    }
    let mut found = Vec::new();
    below(&root().join("corpus"), &mut found);
    assert!(found.len() > 100, "the samples are there");
    found
}

fn look(file: &File) -> Checked {
    check(std::slice::from_ref(file), Options::default())
}

/// How many errors the front end finds.
fn errors(file: &File) -> usize {
    let lowered = agentir_lower::file(FileId(0), &file.name, &file.text, Options::default());
    lowered.diagnostics.iter().filter(|d| d.severity == Severity::Error).count()
}

/// Applies all fixes until there are no more, and says how many; or what is wrong with that.
fn mend(file: &File) -> Result<usize, String> {
    let mut now = file.clone();
    let mut count = 0;
    let before = errors(file);
    for _ in 0..MOST_ROUNDS {
        let checked = look(&now);
        for finding in &checked.diagnostics {
            for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
                if now.text.get(edit.span.range()).is_none() {
                    return Err(format!("{} reaches out of the text", finding.rule.0));
                }
            }
        }
        let fixes: Vec<&Fix> = checked.diagnostics.iter().filter_map(|d| d.fix.as_ref()).collect();
        let fixed = agentir_rewrite::fix(FileId(0), &now.text, &fixes, &|text| {
            agentir_lower::file(FileId(0), &now.name, text, Options::default()).diagnostics
        });
        let after = File { text: fixed.text, ..now.clone() };
        if errors(&after) > before {
            return Err(format!(
                "{} errors where there were {before}:\n{}",
                errors(&after),
                after.text
            ));
        }
        if after.text == now.text {
            return Ok(count);
        }
        count += fixed.applied;
        now = after;
    }
    Err(format!("fixes go round in circles:\n{}", look(&now).lines().join("\n")))
}

#[test]
fn fixes_end_and_break_nothing() {
    let all = documents();
    let done: Vec<(String, Result<usize, String>)> = all
        .par_iter()
        .flat_map_iter(|file| {
            let mutants: Vec<_> = damaged(&file.text, STRIDE).collect();
            let step = (mutants.len() / MOST_MUTANTS).max(1);
            let mutants = mutants.into_iter().step_by(step).map(|(what, text)| {
                let name = format!("{}, {what}", file.name);
                (name, mend(&File { name: file.name.clone(), text }))
            });
            std::iter::once((file.name.clone(), mend(file))).chain(mutants).collect::<Vec<_>>()
        })
        .collect();
    let problems: Vec<String> = done
        .iter()
        .filter_map(|(name, result)| Some(format!("{name}: {}", result.as_ref().err()?)))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    let applied: usize = done.iter().filter_map(|(_, result)| result.as_ref().ok()).sum();
    assert!(applied > 100, "{applied} fixes were applied, so this test says little");
}
