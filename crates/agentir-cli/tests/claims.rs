//! What `diff`, `check`, `convert` and `run` claim about documents of AgentIR.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests end by panicking"
)]

mod common;

use common::{code, ran, run_with_input, stderr};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn agent(name: &str, more: Value) -> Value {
    let mut agent = json!({
        "ir_version": "1.0",
        "metadata": {"name": name, "dialect": "abl"},
        "identity": {"goal": "Help people."},
    });
    let (Some(all), Value::Object(more)) = (agent.as_object_mut(), more) else { panic!() };
    all.extend(more);
    agent
}

fn program(agents: Vec<Value>) -> Value {
    let entry = agents.first().unwrap()["metadata"]["name"].clone();
    let named = agents.into_iter().map(|a| (a["metadata"]["name"].as_str().unwrap().to_owned(), a));
    json!({"version": "1.0", "entry_agent": entry, "agents": Value::Object(named.collect())})
}

fn write(folder: &Path, name: &str, document: &Value) {
    fs::write(folder.join(name), serde_json::to_string_pretty(document).unwrap()).unwrap();
}

/// What `diff` says of two documents, with its exit code.
fn diff(one: &Value, other: &Value) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.ir.json", one);
    write(folder.path(), "b.ir.json", other);
    let (code, out, err) = ran(folder.path(), &["diff", "a.ir.json", "b.ir.json"]);
    (code, out + &err)
}

fn changed(document: &Value, pointer: &str, value: Value) -> Value {
    let mut document = document.clone();
    *document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = value;
    document
}

fn tool(description: &str, endpoint: &str) -> Value {
    json!({
        "name": "quote",
        "description": description,
        "parameters": [{"name": "hours", "type": "number"}],
        "returns": {"type": "{total: number}"},
        "tool_type": "http",
        "binding": {"endpoint": endpoint, "method": "GET"},
    })
}

fn two_tools() -> Value {
    let handoff = json!({"handoffs": [{"to": "B", "when": "the user wants it"}]});
    program(vec![
        agent(
            "A",
            json!({"tools": [tool("Price A", "https://a.example")], "coordination": handoff}),
        ),
        agent("B", json!({"tools": [tool("Price B", "https://b.example")]})),
    ])
}

#[test]
fn what_could_be_noticed_is_never_proved_the_same() {
    let desk = program(vec![agent(
        "Desk",
        json!({
            "memory": {"session": [{"name": "n", "type": "number", "initial_value": 5}]},
            "execution": {"model": "small"},
            "tools": [tool("Price", "https://a.example")],
            "coordination": {"escalation": {
                "triggers": [{"when": "the user is angry"}],
                "context_for_human": [{"line": {"state": null, "list": []}}],
            }},
        }),
    )]);
    let two = two_tools();
    let at = "/agents/Desk";
    for (document, pointer, value) in [
        (&desk, format!("{at}/memory/session/0/initial_value"), json!(1)),
        (&desk, format!("{at}/memory/session/0/initial_value"), json!(null)),
        (&desk, format!("{at}/execution/model"), json!("large")),
        (&desk, format!("{at}/identity/goal"), json!("Help nobody.")),
        (&desk, format!("{at}/tools/0/description"), json!("Sells the car")),
        (&desk, format!("{at}/tools/0/parameters/0/type"), json!("string")),
        (&desk, format!("{at}/coordination/escalation/context_for_human/0/line"), json!({})),
        (&desk, format!("{at}/coordination/escalation/context_for_human/0/line/state"), json!(1)),
        (&two, "/agents/B/tools/0/binding/endpoint".to_owned(), json!("https://evil.example")),
        (&two, "/agents/B/tools/0/description".to_owned(), json!("Price A")),
        (&two, "/agents/B/tools".to_owned(), json!([])),
        (&two, "/entry_agent".to_owned(), json!("B")),
    ] {
        let (code, said) = diff(document, &changed(document, &pointer, value));
        assert_eq!(code, 1, "{pointer}: {said}");
        assert!(!said.contains("proved to behave the same"), "{pointer}: {said}");
        assert!(!said.contains("the same meaning"), "{pointer}: {said}");
        assert_eq!(diff(document, document).0, 0, "{pointer}");
    }
    let (_, said) = diff(&two, &changed(&two, "/entry_agent", json!("B")));
    assert!(said.contains("begins with the agent `A`"), "{said}");
    assert!(said.contains("begins with the agent `B`"), "{said}");
}

#[test]
fn tools_of_one_name_stay_two_tools() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "two.ir.json", &two_tools());
    for target in ["abl", "abl-yaml", "agent-script", "agent-script-base", "adl"] {
        let args = ["convert", "two.ir.json", "--no-config", "--to", target, "-o", target];
        let (code, _, err) = ran(folder.path(), &args);
        assert_ne!(code, 2, "{target}: {err}");
        let mut text = String::new();
        for file in walk(&folder.path().join(target)) {
            text += &fs::read_to_string(file).unwrap();
        }
        assert!(text.contains("Price A") && text.contains("Price B"), "{target}: {text}");
        let renamed = err.contains("the tool `quote` of `B` is `quote_2`");
        assert_eq!(renamed, !target.starts_with("abl"), "{target}: {err}");
    }
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(walk(&path)) } else { all.push(path) }
    }
    all
}

/// Each mistake is an error at its place, and no command goes on with the rest.
#[test]
fn what_makes_no_sense_is_refused_by_every_command() {
    let step = |more: Value| {
        let mut step = json!({"respond": "x", "then": "COMPLETE"});
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"flow": {"definitions": {"a": step}}})
    };
    let field = |more: Value| {
        let mut field = json!({"name": "n", "type": "number", "prompt": "n?"});
        field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"gather": {"fields": [field]}})
    };
    for (more, said) in [
        (step(json!({"max_attempts": -1})), "`max_attempts` must be a whole number from 1"),
        (step(json!({"max_attempts": 0.5})), "`max_attempts` must be a whole number from 1"),
        (step(json!({"max_attempts": 1e300})), "`max_attempts` must be a whole number from 1"),
        (step(json!({"reasoning_zone": {"goal": "x", "max_turns": -3}})), "`max_turns` must be"),
        (field(json!({"infer_confidence": 7})), "`infer_confidence` must be a number from 0 to 1"),
        (
            field(json!({"validation": {"type": "range", "rule": "1-5", "max_retries": -1}})),
            "`max_retries` must be a whole number from 0",
        ),
        (json!({"execution": {"timeouts": {"tool_timeout_ms": -1}}}), "`tool_timeout_ms` must be"),
        (json!({"execution": {"temperature": -3}}), "`temperature` must be a number from 0 to 2"),
        (
            step(json!({"origin": {"file": "x.flow", "line": 0}})),
            "`line` must be a whole number from 1",
        ),
        (step(json!({"respond": "x\u{0}y"})), "must not contain the character U+0000"),
        (
            json!({"flow": {"steps": ["a", "a"], "definitions": {"a": {"respond": "x"}}}}),
            "the step `a` is listed twice",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.ir.json", &program(vec![agent("Desk", more)]));
        let (status, out, _) =
            ran(folder.path(), &["check", "--no-config", "--format", "concise", "a.ir.json"]);
        assert_eq!((status, out.contains(said)), (1, true), "{said}: {out}");
        let convert = ["convert", "--no-config", "a.ir.json", "--to", "abl", "-o", "out"];
        for args in [&["diff", "a.ir.json", "a.ir.json"][..], &convert] {
            let (status, _, err) = ran(folder.path(), args);
            assert_eq!((status, err.contains(said)), (2, true), "{args:?}: {err}");
        }
        let output = run_with_input(folder.path(), &["run", "--no-config", "a.ir.json"], b"hi\n");
        let err = stderr(&output);
        assert_eq!((code(&output), err.contains(said)), (2, true), "{said}: {err}");
    }
}

/// A program without agents could not be read again.
#[test]
fn nothing_is_compiled_from_no_agents() {
    let folder = tempfile::tempdir().unwrap();
    let library = "TOOLS:\n  q() -> {a: string}\n    description: \"Asks\"\n";
    fs::write(folder.path().join("a.tools.abl"), library).unwrap();
    let (status, out, err) = ran(folder.path(), &["compile", "--no-config", "a.tools.abl"]);
    assert_eq!((status, out.as_str()), (2, ""), "{err}");
    assert!(err.contains("no agent found"), "{err}");
}
