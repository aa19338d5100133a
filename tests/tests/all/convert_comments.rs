//! Comments in conversions: they stand where what they are about stands, or are listed.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir::{languages, targets};
use agentir_convert::{Conversion, Target, convert};
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{adl, agent_script, ours};

fn converted(files: &[File], target: Target) -> Conversion {
    let checked = check(files, Options::default());
    convert(languages(), &checked.program, &checked.sources, target)
}

fn one(name: &str, text: &str) -> Vec<File> {
    vec![File { name: name.to_owned(), text: text.to_owned() }]
}

/// The output and what the report says of comments.
fn shown(done: &Conversion) -> String {
    let mut out = String::new();
    for file in &done.files {
        out.push_str(&format!("== {}\n{}", file.path, file.text));
    }
    out.push_str("== lost\n");
    for comment in done.report.dropped_comments() {
        out.push_str(&format!("{}: {}\n", comment.source.line, comment.text));
    }
    out
}

const DESK: &str = r#"# Lends books to readers.
AGENT: Book_Desk

GOAL: "Lend books"   # and nothing else

# what the desk may ask of the catalogue
TOOLS:
  find_book(title: string) -> {found: boolean}
    description: "Look for a book"
    # the catalogue is slow in the morning
    timeout: 3000

GATHER:
  # as it is on the cover,
  # without the series
  title:
    prompt: "Which book?"
    type: string
    required: true

FLOW:
  ask -> look

  ask:
    REASONING: false
    GATHER: title
    THEN: look

  look:
    REASONING: false
    # one call is enough
    CALL: find_book(title)
    ON_RESULT:
      - IF: find_book.found
        RESPOND: "It is here."   # people like to hear that
        THEN: COMPLETE
      # nothing found
      - ELSE:
        RESPOND: "It is out."
        THEN: COMPLETE
"#;

#[test]
fn from_abl() {
    for target in targets::all() {
        let done = converted(&one("desk.agent.abl", DESK), target);
        insta::assert_snapshot!(format!("from_abl_to_{}", target.name()), shown(&done));
    }
}

#[test]
fn every_comment_has_a_place_or_is_listed() {
    let mut problems = Vec::new();
    let mut all: Vec<Vec<File>> = ours("valid").into_iter().map(|s| s.files).collect();
    all.extend(adl("valid"));
    all.extend(agent_script("valid").into_iter().map(|s| s.files));
    for files in all {
        for target in targets::all() {
            let done = converted(&files, target);
            for comment in &done.report.comments {
                let Some(place) = &comment.target else { continue };
                let file = done.files.iter().find(|f| f.path == place.file).unwrap();
                let first = comment.text.lines().next().unwrap_or_default();
                let line = file.text.lines().nth(place.line as usize - 1).unwrap_or_default();
                if line.trim() != format!("# {first}").trim() {
                    problems.push(format!("{}:{}: {line} / {first}", place.file, place.line));
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Comments of our samples that are about nothing that an agent says, with the reason.
const ABOUT_NOTHING: &[(&str, &str)] =
    &[("bindings live in the tool library", "is above tools that are only declared elsewhere")];

/// In its own language, a comment stays with what it is about.
#[test]
fn the_same_language_keeps_comments() {
    let mut lost = Vec::new();
    for sample in ours("valid") {
        let done = converted(&sample.files, targets::ABL);
        let names: Vec<_> = sample.files.iter().map(|f| f.name.clone()).collect();
        lost.extend(
            done.report
                .dropped_comments()
                .filter(|c| !ABOUT_NOTHING.iter().any(|(text, _)| *text == c.text))
                .map(|c| format!("{}:{} {}", names[0], c.source.line, c.text)),
        );
    }
    assert!(lost.is_empty(), "{}:\n{}", lost.len(), lost.join("\n"));
}
