//! Fixes of all findings: applied to our samples, and to what becomes of them while somebody types.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_diagnostics::{Applicability, FileId, Fix, Severity};
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check, front_end};
use agentir_tests::mutate::damaged;
use agentir_tests::pages;
use agentir_tests::samples::root;
use rayon::prelude::*;
use similar::ChangeTag;
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

/// Applies the fixes of one rule once, as far as they go together.
fn mended(files: &[File], rule: &str, options: Options) -> (Vec<File>, usize) {
    let checked = check(files, options);
    let fixes: Vec<&Fix> = checked
        .diagnostics
        .iter()
        .filter(|d| d.rule.0 == rule)
        .filter_map(|d| d.applicable_fix(Applicability::Unsafe))
        .collect();
    let mut applied = 0;
    let files = files.iter().zip(checked.sources.iter()).map(|(file, (id, _))| {
        let fixed = agentir_rewrite::fix(id, &file.text, &fixes, &|text| {
            front_end(&File { text: text.to_owned(), ..file.clone() }, options)
        });
        applied += fixed.applied;
        File { text: fixed.text, ..file.clone() }
    });
    let files = files.collect();
    (files, applied)
}

#[test]
fn fixes_mend_what_they_are_offered_for() {
    let mut shown = String::new();
    let mut problems = Vec::new();
    for page in pages::all() {
        for example in page.examples.iter().filter(|example| example.fails) {
            let options = Options { version: example.version, ..Options::default() };
            let count = |files: &[File]| {
                check(files, options).diagnostics.iter().filter(|d| d.rule.0 == page.name).count()
            };
            let (after, applied) = mended(&example.files, &page.name, options);
            if applied == 0 {
                continue;
            }
            let (had, left) = (count(&example.files), count(&after));
            if left + applied > had {
                problems.push(format!("{}: {applied} of {had} mended, {left} left", page.name));
            }
            shown.push_str(&format!("{}\n", page.name));
            for (old, new) in example.files.iter().zip(&after) {
                let diff = similar::TextDiff::from_lines(&old.text, &new.text);
                let changed = diff.iter_all_changes().filter(|c| c.tag() != ChangeTag::Equal);
                for change in changed {
                    shown.push_str(&format!("  {} {}\n", change.tag(), change.value().trim()));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    insta::assert_snapshot!(shown);
}

/// A mark in instructions, in every form that a text can have: a finding about it is at its place.
#[test]
fn places_in_texts_are_exact() {
    let abl = |text: &str| format!("AGENT: Lend\nGOAL: \"Lend bicycles\"\nINSTRUCTIONS: {text}\n");
    let adl = |text: &str| {
        format!(
            "main:\n  type: flow agent\n  steps:\n    - call: lend\n\nlend:\n  type: llm agent\n  prompt: {text}\n  uses:\n    - hand_out\n"
        )
    };
    let script = |text: &str| {
        format!(
            "config:\n  agent_name: \"Desk\"\n\nstart_agent lend:\n  description: \"Lends\"\n  reasoning:\n    instructions: {text}\n"
        )
    };
    let texts = [
        ("a.agent.abl", abl("\"Call `hand_out when it is time.\"")),
        ("a.agent.abl", abl(r#""Say \"yes\", then \\ call `hand_out when it is time.""#)),
        (
            "a.agent.abl",
            abl("|\n  Ask first.\n    - Ask more.\n\n  Call `hand_out when it is time."),
        ),
        ("a.agent.abl", abl("|\n  Call `hand_out for {{name}}.\n  Wish a good trip.")),
        ("a.agent.abl", abl("|\r\n  Ask first.\r\n  Call `hand_out when it is time.\r")),
        ("agents.yml", adl("Call `hand_out when it is time.")),
        ("agents.yml", adl("\"Say \\\"yes\\\", then call `hand_out when it is time.\"")),
        (
            "agents.yml",
            adl("|\n    1. Ask first.\n       Ask more.\n    2. Call `hand_out at once."),
        ),
        ("agents.yml", adl(">\n    Ask first.\n    Call `hand_out when it is time.")),
        ("a.agent", script("\"Say \\\"yes\\\", then call `hand_out when it is time.\"")),
        (
            "a.agent",
            script(
                "|\n      Ask first.\n        Ask more.\n\n      Call `hand_out when it is time.",
            ),
        ),
        ("a.agent", script("| Call `hand_out at once.\n      Wish a good trip.")),
        ("a.agent", script("->\n      | Ask {!@variables.name}.\n        Call `hand_out at once.")),
    ];
    for (name, text) in texts {
        let file = File { name: name.to_owned(), text };
        let checked = look(&file);
        let finding = checked.diagnostics.iter().find(|d| d.rule.0 == "unclosed-backtick");
        let finding = finding.unwrap_or_else(|| panic!("nothing is found in\n{}", file.text));
        let at = file.text.find('`').unwrap();
        assert_eq!(finding.primary.span.range(), at..at + 1, "in\n{}", file.text);
        let (after, applied) = mended(&[file], "unclosed-backtick", Options::default());
        assert_eq!(applied, 1);
        assert!(after[0].text.contains("`hand_out`"), "{}", after[0].text);
    }
}

fn look(file: &File) -> Checked {
    check(std::slice::from_ref(file), Options::default())
}

/// How many errors the front end finds.
fn errors(file: &File) -> usize {
    let found = front_end(file, Options::default());
    found.iter().filter(|d| d.severity == Severity::Error).count()
}

/// Applies all fixes until there are no more, and says how many; or what is wrong with that.
fn mend(file: &File) -> Result<usize, String> {
    let mut now = file.clone();
    let mut count = 0;
    let before = errors(file);
    for _ in 0..MOST_ROUNDS {
        let checked = look(&now);
        for finding in &checked.diagnostics {
            for edit in finding.fixes.iter().flat_map(|fix| &fix.edits) {
                if now.text.get(edit.span.range()).is_none() {
                    return Err(format!("{} reaches out of the text", finding.rule.0));
                }
            }
        }
        let fixes: Vec<&Fix> = checked.diagnostics.iter().filter_map(|d| d.fixes.first()).collect();
        let fixed = agentir_rewrite::fix(FileId(0), &now.text, &fixes, &|text| {
            front_end(&File { text: text.to_owned(), ..now.clone() }, Options::default())
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
