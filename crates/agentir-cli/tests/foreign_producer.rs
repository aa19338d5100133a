//! AgentIR that another program writes: the example of `docs/foreign-producer.md`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Runs the example and writes its output to a file.
fn produced(folder: &Path) -> String {
    let program = root().join("docs/examples/produce_agentir.py");
    let output = Command::new("python3").arg(program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = folder.join("parking.ir.json");
    fs::write(&file, output.stdout).unwrap();
    file.to_str().unwrap().to_owned()
}

fn agentir(arguments: &[&str], input: &str) -> Output {
    let mut agentir = Command::new(env!("CARGO_BIN_EXE_agentir"));
    agentir.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = agentir.spawn().unwrap();
    running.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    running.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn it_is_checked_drawn_compiled_and_converted() {
    let folder = tempfile::tempdir().unwrap();
    let file = produced(folder.path());
    let check = agentir(&["check", "--no-cache", &file], "");
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    assert!(text(&check.stdout).contains("No findings"), "{}", text(&check.stdout));
    // A folder with such a file is a program as well.
    let check = agentir(&["check", "--no-cache", folder.path().to_str().unwrap()], "");
    assert!(text(&check.stdout).contains("1 file"), "{}", text(&check.stdout));

    let graph = text(&agentir(&["graph", &file], "").stdout);
    for part in ["Parking_Desk", "ask", "price", "decide", "quote.total #gt; 20", "Garage"] {
        assert!(graph.contains(part), "{part}: {graph}");
    }
    assert_eq!(agentir(&["cost", &file], "").status.code(), Some(0));
    assert_eq!(agentir(&["diff", &file, &file], "").status.code(), Some(0));

    // What is compiled from it is the same again.
    let compiled = agentir(&["compile", &file], "").stdout;
    let again = folder.path().join("again.ir.json");
    fs::write(&again, &compiled).unwrap();
    assert_eq!(agentir(&["compile", again.to_str().unwrap()], "").stdout, compiled);

    for language in ["abl", "abl-yaml", "agent-script", "agent-script-base", "adl"] {
        let out = folder.path().join(language);
        let out = out.to_str().unwrap();
        let converted = agentir(&["convert", "--to", language, "--output", out, &file], "");
        let code = converted.status.code();
        assert!(matches!(code, Some(0 | 1)), "{language}: {}", text(&converted.stderr));
        let checked = agentir(&["check", "--no-cache", "--format", "concise", out], "");
        assert_ne!(checked.status.code(), Some(2), "{language}: {}", text(&checked.stderr));
        assert!(!text(&checked.stdout).contains("error["), "{language}: {}", text(&checked.stdout));
    }
}

#[test]
#[cfg_attr(not(feature = "runtime"), ignore = "it needs the feature `runtime`")]
fn it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = produced(folder.path());
    let stubs = folder.path().join("stubs.yaml");
    fs::write(&stubs, "tools:\n  quote_price:\n    - answer: {total: 6}\n").unwrap();
    let stubs = stubs.to_str().unwrap();
    let run = agentir(&["run", &file, "--stubs", stubs], "B-AB 123\n3\n");
    let said = text(&run.stdout);
    assert!(said.contains("What is your licence plate?"), "{said}{}", text(&run.stderr));
    assert!(said.contains("That is 6 euros for B-AB 123."), "{said}{}", text(&run.stderr));
}

#[test]
fn mistakes_are_reported_in_the_json_with_the_place_they_come_from() {
    let folder = tempfile::tempdir().unwrap();
    let file = produced(folder.path());
    let good = fs::read_to_string(&file).unwrap();
    let bad = good.replace("quote.total > 20", "quote.total > ").replace("\"call\"", "\"cal\"");
    assert_ne!(bad, good);
    fs::write(&file, bad).unwrap();
    let check = agentir(&["check", "--no-cache", "--format", "concise", &file], "");
    let found = text(&check.stdout);
    assert_eq!(check.status.code(), Some(1), "{found}");
    assert!(found.contains("invalid-expression"), "{found}");
    assert!(found.contains("`cal` is not a key of a step"), "{found}");
    assert!(found.contains("did you mean `call`?"), "{found}");
    assert!(found.contains("generated from parking.flow:7"), "{found}");
}

#[test]
fn standard_input_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let compiled = agentir(&["compile", &produced(folder.path())], "").stdout;
    let check = agentir(&["check", "--no-cache", "-"], &text(&compiled));
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    assert!(text(&check.stdout).contains("No findings"), "{}", text(&check.stdout));
}

#[test]
fn commands_name_the_version_that_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ir.json");
    fs::write(&file, r#"{"version": "2.0", "agents": {}, "metadata": {}}"#).unwrap();
    for command in ["graph", "cost"] {
        let output = agentir(&[command, file.to_str().unwrap()], "");
        let said = text(&output.stderr);
        assert_ne!(output.status.code(), Some(0), "{command}");
        assert!(said.contains("version `2.0` of AgentIR is not supported"), "{command}: {said}");
    }
}

#[test]
fn many_placeholders_take_little_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.ir.json");
    let text_of = "{{v}} ".repeat(50_000);
    let document = format!(
        r#"{{"ir_version": "1.0", "metadata": {{"name": "A", "dialect": "abl"}}, "identity": {{"goal": "g"}},
            "memory": {{"session": [{{"name": "v", "initial_value": "x"}}]}},
            "flow": {{"definitions": {{"s": {{"respond": "{text_of}", "then": "COMPLETE"}}}}}}}}"#
    );
    fs::write(&file, document).unwrap();
    let started = std::time::Instant::now();
    agentir(&["convert", "--no-verify", "--to", "adl", file.to_str().unwrap()], "");
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
