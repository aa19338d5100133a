//! The examples of the specifications, which are part of the external corpus.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_lang_abl::Options;
use agentir_lint::Group;
use agentir_tests::check::{Checked, check, json};
use agentir_tests::samples::{Sample, external_abl};
use agentir_tests::words;

/// Examples that cannot be read as they stand, by the end of their names, with the reason.
const FLAWED: &[(&str, &str)] = &[
    ("specification-current/09-s3.5.1-fragment.abl", "begins with prose that looks like a section"),
    ("specification-current/10-s3.5.2-fragment.abl", "begins with prose that looks like a section"),
    ("specification-current/46-s3.14.2-fragment.abl", "begins with prose and ends with a heading"),
    ("specification-current/47-s3.14.3-fragment.abl", "ends with the heading of a table"),
    ("specification-current/58-s8.10-fragment.abl", "is rows of a table"),
    ("specification-legacy/38-s3.14.2-fragment.abl", "begins with prose and ends with a heading"),
    ("specification-legacy/39-s3.14.3-fragment.abl", "ends with the heading of a table"),
    ("specification-legacy/50-s8.10-fragment.abl", "is rows of a table"),
];

/// Words that the IR says otherwise, by the end of the file's name, with the reason.
const SAID_OTHERWISE: &[(&str, &str, &str)] = &[
    ("25-s3.9-fragment.abl", "both", "a guardrail of kind `both` becomes one of each"),
    ("25-s3.9-fragment.abl", "no_competitor_mentions", "… called `…_input` and `…_output`"),
    ("17-s3.8.1-fragment.abl", "both", "a guardrail of kind `both` becomes one of each"),
    ("17-s3.8.1-fragment.abl", "no_competitor_mentions", "… called `…_input` and `…_output`"),
    ("34-s3.11.3-fragment.abl", "true", "`COMPLETE: true` is the jump that completes"),
    ("26-s3.11.3-fragment.abl", "true", "`COMPLETE: true` is the jump that completes"),
];

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
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn examples_have_no_syntax_errors() {
    let mut problems = Vec::new();
    for sample in external_abl() {
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
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn nothing_of_the_examples_is_lost() {
    let problems: Vec<String> = external_abl()
        .iter()
        .filter(|s| !flawed(s))
        .flat_map(|s| words::lost(&s.files, &json(&run(s).program)))
        .filter(|lost| {
            !SAID_OTHERWISE.iter().any(|(file, word, _)| {
                lost.starts_with(&format!("`{word}` ")) && lost.contains(file)
            })
        })
        .collect();
    report("words that are not in the IR", &problems);
}
