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

/// A document of a single agent with these keys, of a dialect.
fn document(folder: &Path, dialect: &str, keys: &str) -> String {
    let file = folder.join("desk.ir.json");
    let text = format!(
        r#"{{"version": "1.0", "entry_agent": "Desk", "complete": true, "agents": {{"Desk": {{
            "metadata": {{"name": "Desk", "dialect": "{dialect}"}}, "identity": {{"goal": "Help."}},
            "tools": [{{"name": "find_it", "description": "Finds it.", "parameters": [{{"name": "q", "type": "string"}}]}}],
            "memory": {{"session": [{{"name": "x", "type": "string", "initial_value": "a", "mutability": "mutable"}}]}},
            {keys}}}}}}}"#
    );
    fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// What is done at the start, arguments by position and tools without a target have no place in Agent Script as they are.
#[test]
fn documents_of_agent_script_become_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let file = document(
        folder.path(),
        "agent-script",
        r#""on_start": {"call_spec": {"tool": "find_it", "with": [{"value": "@variables.x"}]}}"#,
    );
    let check = agentir(&["check", "--no-cache", "--format", "concise", &file], "");
    assert_eq!(text(&check.stdout).trim(), "", "an argument by position is an argument");
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let converted = agentir(&["convert", "--to", "agent-script", "-o", out, &file], "");
    assert_ne!(converted.status.code(), Some(2), "{}", text(&converted.stderr));
    let written = fs::read_dir(out).unwrap().next().unwrap().unwrap().path();
    let script = fs::read_to_string(written).unwrap();
    for part in [
        "target: \"flow://find_it\"",
        "if not @variables.Desk_started:",
        "run @actions.find_it",
        "with q=@variables.x",
        "Desk_started: mutable boolean = False",
    ] {
        assert!(script.contains(part), "{part}: {script}");
    }
    let checked = agentir(&["check", "--no-cache", "--format", "concise", out], "");
    assert!(!text(&checked.stdout).contains("error["), "{}", text(&checked.stdout));
}

/// A typo in the entry agent is an error for every command.
#[test]
fn an_entry_agent_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = document(folder.path(), "abl", r#""on_start": {"respond": "Hello"}"#);
    let good = fs::read_to_string(&file).unwrap();
    for complete in ["true", "false"] {
        let bad = good.replace(r#""entry_agent": "Desk""#, r#""entry_agent": "Dsk""#);
        fs::write(&file, bad.replace(r#""complete": true"#, &format!(r#""complete": {complete}"#)))
            .unwrap();
        for command in ["check", "convert"] {
            let mut arguments = vec![command, &file];
            let out = folder.path().join("out");
            if command == "convert" {
                arguments.extend(["--to", "adl", "-o", out.to_str().unwrap()]);
            }
            let output = agentir(&arguments, "");
            let said = text(&output.stdout) + &text(&output.stderr);
            assert_ne!(output.status.code(), Some(0), "{command}");
            assert!(said.contains("the entry agent `Dsk` is not one of `agents`"), "{said}");
            assert!(said.contains("did you mean `Desk`?"), "{said}");
        }
        assert_eq!(agentir(&["compile", &file], "").status.code(), Some(1));
    }
}

#[test]
#[cfg_attr(not(feature = "runtime"), ignore = "it needs the feature `runtime`")]
fn nothing_begins_with_an_agent_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let file = document(folder.path(), "abl", r#""on_start": {"respond": "Hello"}"#);
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace(r#""entry_agent": "Desk""#, r#""entry_agent": "Dsk""#)).unwrap();
    let run = agentir(&["run", &file], "Hello\n");
    assert_eq!(run.status.code(), Some(2));
    let said = "the entry agent `Dsk` is not one of `agents`";
    assert!(text(&run.stderr).contains(said), "{}", text(&run.stderr));
}
