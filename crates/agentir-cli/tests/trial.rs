//! `test --update` as people run it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::ran as run;
use std::fs;

const FERRY: &str = "AGENT: Ferry_Desk\nGOAL: \"Sell tickets\"\n\nFLOW:\n  ask:\n    REASONING: false\n    GATHER:\n      - port: required\n        type: string\n        prompt: \"Where to?\"\n    THEN: tell\n  tell:\n    REASONING: false\n    RESPOND: \"To {{port}}, gladly.\"\n    THEN: COMPLETE\n";

const TEST: &str = "# What the desk says.\nagents: ferry.agent.abl\ntests:\n  - name: a ticket\n    turns:\n      - says: [Where would you like to go?] # the first question\n      - user: Oslo\n        says: [\"To Oslo.\"]\n        status: await\n";

#[test]
fn what_is_expected_is_written_anew_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("ferry.agent.abl"), FERRY).unwrap();
    fs::write(here.join("ferry.test.yaml"), TEST).unwrap();

    let (code, out, _) = run(here, &["test", "."]);
    assert_eq!(code, 1, "{out}");
    let (code, out, err) = run(here, &["test", ".", "--update"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("values updated"), "{out}");

    let written = fs::read_to_string(here.join("ferry.test.yaml")).unwrap();
    insta::assert_snapshot!(written);
    let (code, out, _) = run(here, &["test", "."]);
    assert_eq!(code, 0, "{out}");
    // There is nothing left to write.
    run(here, &["test", ".", "--update"]);
    assert_eq!(fs::read_to_string(here.join("ferry.test.yaml")).unwrap(), written);
}

#[test]
fn a_file_that_cannot_be_read_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("ferry.agent.abl"), FERRY).unwrap();
    let broken = format!("{TEST}        sayz: []\n");
    fs::write(here.join("ferry.test.yaml"), &broken).unwrap();
    let (code, out, err) = run(here, &["test", ".", "--update"]);
    assert_eq!(code, 2, "{out}{err}");
    assert!(format!("{out}{err}").contains("sayz"), "{out}{err}");
    assert_eq!(fs::read_to_string(here.join("ferry.test.yaml")).unwrap(), broken);
}
