//! The built program as people and scripts run it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const GOOD: &str = "AGENT: Ferry_Desk\nGOAL: \"Sell tickets for the ferry\"\n";
const BAD: &str = "AGENT: Ferry_Desk\nGOAL: \"Sell tickets\"\nFLOW:\n  start:\n    REASONING: false\n    CALL: sell_tikcet()\n    THEN: COMPLETE\n";

fn corpus(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/abl").join(path)
}

fn agentir() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentir"));
    command.env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    agentir().args(args).output().unwrap()
}

fn with_input(args: &[&str], input: &[u8]) -> Output {
    let mut child = agentir()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("the program ended by itself")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", text(&output.stdout)))
}

/// Holds a value against the schema that the program prints.
fn assert_valid(what: &str, value: &Value) {
    let schema = json(&run(&["schema", what]));
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let errors: Vec<String> = validator
        .iter_errors(value)
        .take(10)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

fn folders() -> [PathBuf; 4] {
    ["valid", "legacy", "newest", "invalid"].map(corpus)
}

#[test]
fn nothing_found_is_0_an_error_is_1() {
    assert_eq!(code(&with_input(&["check", "-", "--stdin-filename", "a.abl"], GOOD.as_bytes())), 0);
    let bad = with_input(&["check", "-", "--stdin-filename", "a.abl"], BAD.as_bytes());
    assert_eq!(code(&bad), 1);
    assert!(text(&bad.stdout).contains("undefined-tool"), "{}", text(&bad.stdout));
    assert!(text(&bad.stdout).contains("a.abl"), "{}", text(&bad.stdout));
}

#[test]
fn a_path_that_is_not_there_is_2_and_says_so() {
    for args in [["check", "no/such/place"], ["compile", "no/such/place"]] {
        let output = run(&args);
        assert_eq!(code(&output), 2);
        assert!(text(&output.stderr).contains("no/such/place"), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn wrong_arguments_are_2() {
    assert_eq!(code(&run(&["check"])), 2);
    assert_eq!(code(&run(&["frobnicate"])), 2);
    let misspelt = with_input(&["check", "-", "--select", "undefined-toll"], GOOD.as_bytes());
    assert_eq!(code(&misspelt), 2);
    assert!(text(&misspelt.stderr).contains("undefined-tool"), "{}", text(&misspelt.stderr));
}

#[test]
fn the_samples_are_correct_or_not_as_folders_too() {
    for folder in ["valid", "valid/city_services", "valid/observatory", "newest/allotments"] {
        let output = run(&["check", corpus(folder).to_str().unwrap(), "--format", "concise"]);
        assert_eq!(code(&output), 0, "{}", text(&output.stdout));
    }
    assert_eq!(code(&run(&["check", corpus("invalid").to_str().unwrap()])), 1);
}

#[test]
fn reports_are_as_their_schema_says() {
    for folder in folders() {
        let output = run(&["check", folder.to_str().unwrap(), "--format", "json"]);
        assert_valid("report", &json(&output));
    }
    let odd: &[&[u8]] =
        &[b"", b"\0", b"\xff\xfe", b"AGENT: A\r\nG\xc3", b"\r", b"- - -", "AGENT: Ä😀".as_bytes()];
    for input in odd {
        let output =
            with_input(&["check", "-", "--stdin-filename", "a.abl", "--format", "json"], input);
        assert!((0..=2).contains(&code(&output)));
        if code(&output) != 2 {
            assert_valid("report", &json(&output));
        }
    }
}

#[test]
fn ir_is_as_its_schema_says() {
    for folder in folders() {
        let output = run(&["compile", folder.to_str().unwrap()]);
        assert_ne!(code(&output), 2, "{}", text(&output.stderr));
        assert_valid("ir", &json(&output));
    }
}

#[test]
fn files_that_are_not_text_cost_a_finding_and_not_the_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.agent.abl"), GOOD).unwrap();
    std::fs::write(folder.path().join("b.agent.abl"), b"AGENT: B\nGOAL: \"\xff\"\n").unwrap();
    std::fs::write(folder.path().join("c.agent.abl"), b"A\0G\0").unwrap();
    let output = run(&["check", folder.path().to_str().unwrap(), "--format", "json"]);
    assert_eq!(code(&output), 1);
    let report = json(&output);
    let rules: Vec<&str> = report["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| d["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["not-text", "not-text"]);
    let names =
        report["diagnostics"].as_array().unwrap().iter().map(|d| d["file"].as_str().unwrap());
    assert!(names.zip(["b.agent.abl", "c.agent.abl"]).all(|(name, end)| name.ends_with(end)));
}

#[test]
fn rules_are_selected_and_ignored() {
    let check = |args: &[&str]| {
        let mut all = vec!["check", "-", "--stdin-filename", "a.abl"];
        all.extend(args);
        code(&with_input(&all, BAD.as_bytes()))
    };
    assert_eq!(check(&["--select", "undefined-tool"]), 1);
    assert_eq!(check(&["--select", "names"]), 1);
    assert_eq!(check(&["--select", "syntax"]), 0);
    assert_eq!(check(&["--ignore", "undefined-tool"]), 0);
    assert_eq!(check(&["--select", "names", "--ignore", "undefined-tool"]), 0);
}

#[test]
fn output_that_is_no_terminal_has_no_colour() {
    for no_color in [None, Some("1")] {
        let mut command = agentir();
        command.args(["check", corpus("invalid").to_str().unwrap()]);
        if let Some(value) = no_color {
            command.env("NO_COLOR", value);
        }
        let output = command.output().unwrap();
        assert!(!output.stdout.contains(&0x1b), "escape codes in a pipe");
    }
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    for args in [vec!["check"], vec!["check", "--format", "json"], vec!["compile"]] {
        let mut child = agentir()
            .args(args)
            .args(folders())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut byte = [0];
        child.stdout.take().unwrap().read_exact(&mut byte).unwrap();
        // The pipe is closed here.
        let output = child.wait_with_output().unwrap();
        assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
        assert!(output.status.code().is_some(), "ended by a signal");
    }
}

#[test]
fn the_order_of_findings_does_not_depend_on_threads() {
    let once = |threads: &str| {
        let mut command = agentir();
        command
            .env("RAYON_NUM_THREADS", threads)
            .args(["check", "--format", "concise"])
            .args(folders());
        command.output().unwrap().stdout
    };
    let alone = once("1");
    assert_eq!(text(&alone), text(&once("4")));
    assert_eq!(text(&alone), text(&once("3")));
}

#[test]
fn rules_are_listed_and_explained() {
    let rules = json(&run(&["rules", "--json"]));
    let list = text(&run(&["rules"]).stdout);
    for rule in rules.as_array().unwrap() {
        let name = rule["name"].as_str().unwrap();
        assert!(list.contains(name), "{name} is not listed");
        let page = run(&["explain", name]);
        assert_eq!(code(&page), 0, "{name}");
        assert!(text(&page.stdout).starts_with(&format!("# {name}\n")), "{name}");
    }
    let unknown = run(&["explain", "undefined-toll"]);
    assert_eq!(code(&unknown), 2);
    assert!(text(&unknown.stderr).contains("`undefined-tool`"), "{}", text(&unknown.stderr));
}

#[test]
fn compile_leaves_out_what_has_errors() {
    let output = with_input(&["compile", "-", "--stdin-filename", "a.abl"], BAD.as_bytes());
    assert_eq!(code(&output), 1);
    let ir = json(&output);
    assert_eq!(ir["agents"].as_object().unwrap().len(), 0);
    assert_eq!(ir["compilation_errors"][0]["code"], "undefined-tool");
    let output = with_input(&["compile", "-", "--stdin-filename", "a.abl"], GOOD.as_bytes());
    assert_eq!(code(&output), 0);
    assert_eq!(json(&output)["entry_agent"], "Ferry_Desk");
}
