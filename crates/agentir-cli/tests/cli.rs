//! The built program as people and scripts run it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{CACHE, GOOD, broken, code, run_with_input, samples, stderr, stdout};
use serde_json::Value;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn corpus(path: &str) -> PathBuf {
    samples().join("abl").join(path)
}

/// The program where the tests run: what they read, they name in full.
fn agentir() -> Command {
    common::agentir(Path::new("."), Path::new(CACHE))
}

fn run(args: &[&str]) -> Output {
    agentir().args(args).output().unwrap()
}

fn with_input(args: &[&str], input: &[u8]) -> Output {
    run_with_input(Path::new("."), args, input)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stdout(output)))
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
    let bad =
        with_input(&["check", "-", "--stdin-filename", "a.abl"], broken("Ferry_Desk").as_bytes());
    assert_eq!(code(&bad), 1);
    assert!(stdout(&bad).contains("undefined-tool"), "{}", stdout(&bad));
    assert!(stdout(&bad).contains("a.abl"), "{}", stdout(&bad));
}

#[test]
fn a_path_that_is_not_there_is_2_and_says_so() {
    for args in [["check", "no/such/place"], ["compile", "no/such/place"]] {
        let output = run(&args);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains("no/such/place"), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn wrong_arguments_are_2() {
    assert_eq!(code(&run(&["check"])), 2);
    assert_eq!(code(&run(&["frobnicate"])), 2);
    let misspelt = with_input(&["check", "-", "--select", "undefined-toll"], GOOD.as_bytes());
    assert_eq!(code(&misspelt), 2);
    assert!(stderr(&misspelt).contains("undefined-tool"), "{}", stderr(&misspelt));
}

#[test]
fn the_dialect_is_one_that_exists() {
    let source = b"start_agent a:\n    description: \"A\"\n";
    let with = |dialect: &str| {
        let args = ["check", "--dialect", dialect, "--stdin-filename", "a.agent", "-"];
        with_input(&args, source)
    };
    // Only agentforce asks for `config`.
    assert_eq!(code(&with("agentscript")), 0);
    assert_eq!(code(&with("agentforce")), 1);
    let unknown = with("agentfource");
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("agentscript, agentforce, agentfabric"));
}

#[test]
fn the_samples_are_correct_or_not_as_folders_too() {
    for folder in ["valid", "valid/city_services", "valid/observatory", "newest/allotments"] {
        let output = run(&["check", corpus(folder).to_str().unwrap(), "--format", "concise"]);
        assert_eq!(code(&output), 0, "{}", stdout(&output));
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
fn costs_are_as_their_schema_says() {
    let path = corpus("valid");
    let output = run(&["cost", path.to_str().unwrap(), "--format", "json"]);
    assert_eq!(code(&output), 0);
    let report = json(&output);
    assert_valid("cost", &report);
    assert!(report["agents"].as_array().unwrap().len() > 20);
    let table = stdout(&run(&["cost", path.to_str().unwrap()]));
    assert!(table.contains("Bike_Repair"), "{table}");
}

#[test]
fn costs_of_a_file_with_errors_are_said_to_be_less_than_all() {
    let output = with_input(
        &["cost", "-", "--stdin-filename", "a.agent.abl"],
        b"AGENT: A\nGOAL \"x\"\nFLOW:\n  - : :\n",
    );
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("agentir check"));
}

#[test]
fn ir_is_as_its_schema_says() {
    for folder in folders() {
        let output = run(&["compile", folder.to_str().unwrap()]);
        assert_ne!(code(&output), 2, "{}", stderr(&output));
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
        code(&with_input(&all, broken("Ferry_Desk").as_bytes()))
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
        assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
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
        stdout(&command.output().unwrap())
    };
    let alone = once("1");
    assert_eq!(alone, once("4"));
    assert_eq!(alone, once("3"));
}

#[test]
fn rules_are_listed_and_explained() {
    let rules = json(&run(&["rules", "--json"]));
    let list = stdout(&run(&["rules"]));
    for rule in rules.as_array().unwrap() {
        let name = rule["name"].as_str().unwrap();
        assert!(list.contains(name), "{name} is not listed");
        let page = run(&["explain", name]);
        assert_eq!(code(&page), 0, "{name}");
        assert!(stdout(&page).starts_with(&format!("# {name}\n")), "{name}");
    }
    let unknown = run(&["explain", "undefined-toll"]);
    assert_eq!(code(&unknown), 2);
    assert!(stderr(&unknown).contains("`undefined-tool`"), "{}", stderr(&unknown));
}

#[test]
fn compile_leaves_out_what_has_errors() {
    let output =
        with_input(&["compile", "-", "--stdin-filename", "a.abl"], broken("Ferry_Desk").as_bytes());
    assert_eq!(code(&output), 1);
    let ir = json(&output);
    assert_eq!(ir["agents"].as_object().unwrap().len(), 0);
    assert_eq!(ir["compilation_errors"][0]["code"], "undefined-tool");
    let output = with_input(&["compile", "-", "--stdin-filename", "a.abl"], GOOD.as_bytes());
    assert_eq!(code(&output), 0);
    assert_eq!(json(&output)["entry_agent"], "Ferry_Desk");
}

#[test]
fn graphs_are_drawn_in_every_format() {
    let observatory = corpus("valid/observatory");
    let path = observatory.to_str().unwrap();
    let begins = [
        ("mermaid", "flowchart TD"),
        ("dot", "digraph"),
        ("svg", "<svg"),
        ("html", "<!doctype html>"),
        ("json", "{"),
    ];
    for (format, begin) in begins {
        let output = run(&["graph", path, "--format", format]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let drawn = stdout(&output);
        assert!(drawn.starts_with(begin) && drawn.contains("Ticket_Booth"), "{format}: {drawn}");
    }
    for detail in ["agents", "steps", "statements"] {
        let graph = json(&run(&["graph", path, "--format", "json", "--detail", detail]));
        assert_eq!(graph["detail"], detail);
        assert_valid("graph", &graph);
    }
}

#[test]
fn one_agent_is_drawn_alone() {
    let observatory = corpus("valid/observatory");
    let path = observatory.to_str().unwrap();
    let graph = json(&run(&["graph", path, "--agent", "Star_Guide", "--format", "json"]));
    assert_eq!(graph["agents"].as_array().unwrap().len(), 1);
    assert_eq!(graph["detail"], "statements");
    let output = run(&["graph", path, "--agent", "Star_Gide"]);
    assert_eq!(code(&output), 2);
    let said = stderr(&output);
    assert!(said.contains("no agent `Star_Gide`") && said.contains("`Star_Guide`?"), "{said}");
}

const BOT: &str = "main:\n  type: flow agent\n  steps:\n    - call: desk\n\ndesk:\n  type: llm agent\n  description: Sells tickets\n  prompt: Ask for the day, and call \"sell\".\n  uses:\n    - sell\n";
const OTHER: &str = "services:\n  web:\n    image: ferry\n    type: container\n";

/// Makes a folder with these files.
fn folder_of(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    folder
}

/// The findings of a check, as `file: rule`, and how many files were read.
fn found(path: &Path) -> (Vec<String>, u64) {
    let output = run(&["check", path.to_str().unwrap(), "--format", "json"]);
    let report = json(&output);
    let line = |d: &Value| {
        let file = Path::new(d["file"].as_str().unwrap()).file_name().unwrap().to_owned();
        format!("{}: {}", file.display(), d["rule"].as_str().unwrap())
    };
    let lines = report["diagnostics"].as_array().unwrap().iter().map(line).collect();
    (lines, report["summary"]["files"].as_u64().unwrap())
}

#[test]
fn a_folder_with_agents_yml_is_a_bot_with_its_functions_and_settings() {
    let functions = "import smtplib\n\ndef sell(day):\n    pass\n";
    let bot = folder_of(&[
        ("agents.yml", BOT),
        ("tools.py", functions),
        ("compose.yml", OTHER),
        ("docs/notes.yaml", "- one\n- two\n"),
    ]);
    assert_eq!(found(bot.path()), (vec!["tools.py: mica-import".to_owned()], 2));
    std::fs::write(bot.path().join("config.yml"), "unsafe_mode: true\ncolour: red\n").unwrap();
    let (lines, files) = found(bot.path());
    assert_eq!(lines, ["config.yml: mica-config", "config.yml: unknown-field"]);
    assert_eq!(files, 3);
    let ir = json(&run(&["compile", bot.path().to_str().unwrap()]));
    assert_eq!(ir["entry_agent"], "desk");
    assert_eq!(ir["agents"].as_object().unwrap().len(), 1);
}

#[test]
fn a_bot_is_recognised_by_what_it_says() {
    // By content, whatever the file is called; each file is a bot, and they share the functions.
    let folder = folder_of(&[
        ("one.yaml", BOT),
        ("two.yml", BOT),
        ("tools.py", "def sel(day):\n    pass\n"),
    ]);
    let (lines, _) = found(folder.path());
    assert_eq!(lines, ["one.yaml: undefined-tool", "two.yml: undefined-tool"]);
    let alone = with_input(&["compile", "-", "--stdin-filename", "bot.yml"], BOT.as_bytes());
    assert_eq!(code(&alone), 0, "{}", stdout(&alone));
    assert_eq!(json(&alone)["agents"]["desk"]["metadata"]["dialect"], "adl");
    // `agents.yml` is one even if nothing in it says so.
    let broken = folder_of(&[("agents.yml", "main:\n  steps:\n    - user\n")]);
    let (lines, _) = found(broken.path());
    assert!(lines.contains(&"agents.yml: missing-field".to_owned()), "{lines:?}");
}

#[test]
fn other_yaml_is_left_alone_in_a_folder_and_named_when_it_is_given() {
    let folder = folder_of(&[("compose.yml", OTHER), ("config.yml", "theme: dark\n")]);
    assert_eq!(found(folder.path()), (Vec::new(), 0));
    for name in ["compose.yml", "config.yml"] {
        let path = folder.path().join(name);
        let output = run(&["check", path.to_str().unwrap(), "--format", "concise"]);
        assert_eq!(code(&output), 1);
        let said = stdout(&output);
        assert!(said.contains("this YAML file does not describe an agent"), "{said}");
        assert_eq!(code(&run(&["compile", path.to_str().unwrap()])), 1);
    }
    // Settings of a bot may be given with the bot, as hooks before a commit do.
    let bot = folder_of(&[("agents.yml", BOT), ("config.yml", "bot_name: Ferry\n")]);
    let at = |name: &str| bot.path().join(name).to_str().unwrap().to_owned();
    assert_eq!(code(&run(&["check", &at("agents.yml"), &at("config.yml")])), 0);
}

/// A conversion is proved unless it is of several agents or nobody wants it, and says so in the report.
#[test]
fn conversions_are_proved() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let report = folder.path().join("report.json");
    let (out, report) = (out.to_str().unwrap(), report.to_str().unwrap());
    let from = corpus("valid/snow_hotline.agent.abl");
    let convert = |more: &[&str]| {
        let own = ["convert", from.to_str().unwrap(), "--to", "abl-yaml", "-o", out, "--report"];
        let done = run(&[&own[..], &[report, "--force"], more].concat());
        assert_eq!(code(&done), 0, "{}", stderr(&done));
        let written: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
        assert_valid("fidelity", &written);
        (written, stderr(&done))
    };
    let (written, said) = convert(&[]);
    assert_eq!(written["proof"]["verdict"], "same");
    assert!(said.contains("the output is proved to behave the same"), "{said}");
    let (written, said) = convert(&["--no-verify"]);
    assert_eq!(written.get("proof"), None);
    assert!(!said.contains("proved"), "{said}");
    // Nothing is replaced that was not to be.
    let again = run(&["convert", from.to_str().unwrap(), "--to", "abl-yaml", "-o", out]);
    assert_eq!(code(&again), 2);
    // What was written means the same as what it was written from, and a changed word is shown.
    let yaml = std::fs::read_dir(out).unwrap().next().unwrap().unwrap().path();
    let diff = |at: &Path| run(&["diff", from.to_str().unwrap(), at.to_str().unwrap()]);
    let same = diff(&yaml);
    assert_eq!((code(&same), stdout(&same).as_str()), (0, "They have the same meaning\n"));
    let words = std::fs::read_to_string(&yaml).unwrap();
    std::fs::write(&yaml, words.replacen("Do you want", "Would you like", 1)).unwrap();
    let other = diff(&yaml);
    assert_eq!(code(&other), 1);
    let said = stdout(&other);
    assert!(said.contains("first: says “Do you want"), "{said}");
    assert!(said.contains("second: says “Would you like"), "{said}");
}
