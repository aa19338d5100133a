//! The canonical layout: what it looks like, and what it never does.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{languages, targets};
use agentir_convert::convert;
use agentir_diagnostics::FileId;
use agentir_lang_abl::Options;
use agentir_rewrite::{RewriteError, format};
use agentir_tests::check::{File, check};
use agentir_tests::mutate::{damaged, harmless};
use agentir_tests::samples::{
    adl, agent_script, all_ours, external_abl, external_agent_script, external_files, ours,
};
use rayon::prelude::*;

fn of(name: &str, text: &str) -> Result<String, RewriteError> {
    format(languages().detect(name, text), FileId(0), text)
}

/// Our own documents, and generated ones.
fn documents() -> Vec<File> {
    let generated = agentir_bench::generate::projects(40, 5)
        .into_iter()
        .chain(agentir_bench::generate::scripts(20, 5))
        .chain(agentir_bench::generate::bots(20, 5))
        .flat_map(|p| p.files)
        .map(|f| File { name: f.path, text: f.text });
    let scripts = ["valid", "invalid"].into_iter().flat_map(agent_script);
    let samples = all_ours().into_iter().chain(scripts);
    let bots = ["valid", "invalid"].into_iter().flat_map(adl).flatten();
    with_layout(samples.flat_map(|s| s.files).chain(bots).chain(generated))
}

fn third_party_documents() -> Vec<File> {
    let abl = external_abl().into_iter().flat_map(|s| s.files);
    with_layout(abl.chain(external_files("adl")).chain(external_agent_script()))
}

/// The files of languages that have a canonical layout.
fn with_layout(files: impl Iterator<Item = File>) -> Vec<File> {
    files
        .filter(|f| {
            !f.name.ends_with(".json")
                && languages().detect(&f.name, &f.text).kind.notation.is_some()
        })
        .collect()
}

fn report(what: &str, mut problems: Vec<String>) {
    problems.sort();
    let count = problems.len();
    problems.truncate(30);
    assert!(problems.is_empty(), "{count} {what}:\n  {}\n", problems.join("\n  "));
}

/// What is wrong with formatting a text: it says something else, or is not done at once.
fn problem(name: &str, text: &str) -> Option<String> {
    let once = match of(name, text) {
        Ok(once) => once,
        Err(RewriteError::InvalidStructure(_)) => return None,
        Err(RewriteError::MeaningChanged(what)) => return Some(format!("{name}: {what} differs")),
    };
    match of(name, &once) {
        Ok(twice) if twice == once => None,
        Ok(twice) => {
            let at = once.lines().zip(twice.lines()).position(|(a, b)| a != b);
            let line = at.and_then(|at| Some((once.lines().nth(at)?, twice.lines().nth(at)?)));
            Some(format!("{name}: not the same again at {at:?}: {line:?}"))
        }
        Err(_) => Some(format!("{name}: cannot be formatted again")),
    }
}

#[test]
fn nothing_changes_but_the_layout_and_once_is_enough() {
    only_the_layout_changes(&documents());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn nothing_changes_but_the_layout_of_third_party_documents() {
    only_the_layout_changes(&third_party_documents());
}

fn only_the_layout_changes(files: &[File]) {
    let problems = files.par_iter().filter_map(|f| problem(&f.name, &f.text)).collect();
    report("documents", problems);
}

#[test]
fn documents_that_nobody_would_write_stay_what_they_are() {
    damaged_documents_stay_what_they_are(documents());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn damaged_third_party_documents_stay_what_they_are() {
    damaged_documents_stay_what_they_are(third_party_documents());
}

fn damaged_documents_stay_what_they_are(mut files: Vec<File>) {
    // Enough to find what is found often; all of them with `AGENTIR_DENSE=1`.
    let dense = std::env::var_os("AGENTIR_DENSE").is_some();
    let every = if dense { 1 } else { 13 };
    if !dense {
        files = files.into_iter().filter(|f| f.text.len() < 4000).step_by(37).collect();
    }
    let problems = files
        .par_iter()
        .flat_map_iter(|file| {
            let stride = (file.text.len() / 40).max(1);
            damaged(&file.text, stride)
                .step_by(every)
                .filter_map(|(what, text)| Some(format!("{what}: {}", problem(&file.name, &text)?)))
                .collect::<Vec<_>>()
        })
        .collect();
    report("damaged documents", problems);
}

#[test]
fn the_ends_of_lines_and_files_make_no_difference() {
    the_layout_is_the_same_whatever_the_ends(&documents());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn the_ends_of_lines_and_files_make_no_difference_to_third_party_documents() {
    the_layout_is_the_same_whatever_the_ends(&third_party_documents());
}

fn the_layout_is_the_same_whatever_the_ends(files: &[File]) {
    let mut problems = Vec::new();
    for file in files.iter().step_by(3) {
        let Ok(plain) = of(&file.name, &file.text.replace("\r\n", "\n")) else { continue };
        for (what, text) in harmless(&file.text) {
            let Ok(done) = of(&file.name, &text) else {
                problems.push(format!("{} {what}: refused", file.name));
                continue;
            };
            let mark = text.starts_with('\u{feff}');
            assert_eq!(done.starts_with('\u{feff}'), mark, "{} {what}", file.name);
            let crlf = text.contains("\r\n");
            assert_eq!(done.contains("\r\n"), crlf && done.contains('\n'), "{} {what}", file.name);
            if done.trim_start_matches('\u{feff}').replace("\r\n", "\n")
                != plain.trim_start_matches('\u{feff}')
            {
                problems.push(format!("{} {what}", file.name));
            }
        }
    }
    report("documents laid out otherwise", problems);
}

/// What we write is laid out as we lay out.
#[test]
fn what_conversions_write_is_in_canonical_layout() {
    let mut problems = Vec::new();
    let mut all: Vec<Vec<File>> = ours("valid").into_iter().map(|s| s.files).collect();
    all.extend(adl("valid"));
    all.extend(agent_script("valid").into_iter().map(|s| s.files));
    for files in all {
        let checked = check(&files, Options::default());
        for target in targets::all() {
            for file in convert(languages(), &checked.program, &checked.sources, target).files {
                if file.path.ends_with(".json") {
                    continue;
                }
                let Ok(done) = of(&file.path, &file.text) else {
                    problems.push(format!("{} to {}: refused", file.path, target.name()));
                    continue;
                };
                if done != file.text {
                    let at = done.lines().zip(file.text.lines()).find(|(a, b)| a != b);
                    problems.push(format!("{} to {}: {at:?}", file.path, target.name()));
                }
            }
        }
    }
    report("outputs are laid out otherwise", problems);
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    for (name, text) in [
        ("a.agent.abl", "AGENT: A\nGOAL: \"not closed\n"),
        ("a.agent.yaml", "agent: A\ngoal: [\n"),
        ("a.agent", "system:\n  instructions: \"not closed\n"),
        ("agents.yml", "main:\n  type: flow agent\n steps:\n"),
        ("a.agent.abl", "AGENT: A\0\n"),
        ("a.agent", "system:\n    {{block}}\n"),
    ] {
        match of(name, text) {
            Err(RewriteError::InvalidStructure(found)) => assert!(!found.is_empty()),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn abl() {
    insta::assert_snapshot!(of("a.agent.abl", include_str!("unformatted/desk.agent.abl")).unwrap());
}

#[test]
fn abl_in_yaml() {
    insta::assert_snapshot!(
        of("a.agent.yaml", include_str!("unformatted/desk.agent.yaml")).unwrap()
    );
}

#[test]
fn agent_script_text() {
    insta::assert_snapshot!(of("a.agent", include_str!("unformatted/desk.agent")).unwrap());
}

#[test]
fn adl_text() {
    insta::assert_snapshot!(of("agents.yml", include_str!("unformatted/agents.yml")).unwrap());
}
