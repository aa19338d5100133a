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

/// An agent in another dialect.
fn agent_of(dialect: &str, name: &str, more: Value) -> Value {
    changed(&agent(name, more), "/metadata/dialect", dialect.into())
}

/// Expects that `diff` names a path, whichever document is the first.
fn names_difference(one: &Value, other: &Value, path: &str) {
    for (one, other) in [(one, other), (other, one)] {
        let (code, out) = diff(one, other);
        assert_eq!(code, 1, "{path}: {out}");
        assert!(out.lines().any(|line| line == path), "{path}: {out}");
        assert!(!out.contains("the same meaning"), "{path}: {out}");
    }
    assert_eq!(diff(one, one).0, 0, "{path}");
}

#[test]
fn names_of_tools_that_the_model_sees_are_compared() {
    let script = |more: Value| {
        program(vec![
            agent_of("agent-script", "Main", more),
            agent_of("agent-script", "Help", json!({})),
        ])
    };
    let bound = script(
        json!({"reasoning": {"bindings": [{"name": "go_help", "does": "handoff", "to": "Help"}]}}),
    );
    let declared =
        script(json!({"coordination": {"handoffs": [{"to": "Help", "decided_by": "model"}]}}));
    names_difference(&bound, &declared, "agents.Main.reasoning.bindings[handoff Help]");

    let folder = tempfile::tempdir().unwrap();
    let text = "config:\n    agent_name: \"Shop\"\n\nstart_agent router:\n    description: \"Routes\"\n    reasoning:\n        instructions: ->\n            | Help the user.\n        actions:\n            go_orders: @utils.transition to @subagent.orders\n            to_person: @utils.escalate\n\nsubagent orders:\n    description: \"Orders\"\n    reasoning:\n        instructions: ->\n            | Say the state.\n";
    fs::write(folder.path().join("shop.agent"), text).unwrap();
    let (code, out, err) = ran(folder.path(), &["compile", "shop.agent"]);
    assert_eq!(code, 0, "{err}");
    let compiled: Value = serde_json::from_str(&out).unwrap();
    let bindings = compiled["agents"]["router"]["reasoning"]["bindings"].as_array().unwrap();
    assert_eq!(bindings.len(), 2);
    for (at, path) in [(0, "handoff orders"), (1, "escalate")] {
        let mut left = bindings.clone();
        left.remove(at);
        let without = changed(&compiled, "/agents/router/reasoning/bindings", left.into());
        names_difference(&compiled, &without, &format!("agents.router.reasoning.bindings[{path}]"));
    }
}

#[test]
fn kinds_of_agents_and_hints_are_compared() {
    let kind = |kind: &str| {
        program(vec![agent_of("adl", "A", json!({"extensions": {"adl": {"type": kind}}}))])
    };
    names_difference(&kind("kb agent"), &kind("llm agent"), "agents.A.extensions.adl.type");
    let without = program(vec![agent_of("adl", "A", json!({}))]);
    names_difference(&kind("flow agent"), &without, "agents.A.extensions.adl.type");

    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.ir.json", &kind("lm agent"));
    let (code, out, err) = ran(folder.path(), &["check", "a.ir.json"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("`lm agent` is not a valid `type`"), "{out}");
    assert!(out.contains("did you mean `llm agent`?"), "{out}");

    for hint in ["voice_optimized", "supports_hitl", "requires_persistence", "parallel_tools"] {
        let stated =
            |is: bool| program(vec![agent("A", json!({"execution": {"hints": {hint: is}}}))]);
        let path = format!("agents.A.execution.hints.{hint}");
        names_difference(&stated(true), &stated(false), &path);
        names_difference(&stated(true), &program(vec![agent("A", json!({}))]), &path);
    }
    // What follows from an agent need not be stated.
    let human = json!({"coordination": {"escalation": {"triggers": [{"when": "angry"}]}}});
    let mut stated = human.clone();
    stated["execution"] = json!({"hints": {"supports_hitl": true}});
    let [one, other] = [human, stated].map(|more| program(vec![agent("A", more)]));
    let (code, out) = diff(&one, &other);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn a_wrong_value_hides_no_undefined_name() {
    let folder = tempfile::tempdir().unwrap();
    for (key, value) in [
        ("origin", json!({"file": "a", "line": 0})),
        ("execution", json!({"temperature": "hot"})),
        ("identity", json!({"goal": "Help", "persona": 5})),
        ("gather", json!({"fields": [{"name": "f", "infer_confidence": 3}]})),
    ] {
        let mut main =
            agent("A", json!({"coordination": {"handoffs": [{"to": "Nope", "when": "angry"}]}}));
        main[key] = value;
        write(folder.path(), "a.ir.json", &program(vec![main, agent("B", json!({}))]));
        let (_, out, _) = ran(folder.path(), &["check", "a.ir.json"]);
        assert!(out.contains("error[invalid-value]"), "{key}: {out}");
        assert!(out.contains("there is no agent `Nope`"), "{key}: {out}");
    }
}

#[test]
fn agents_that_run_elsewhere_are_defined() {
    let folder = tempfile::tempdir().unwrap();
    let main = agent(
        "A",
        json!({"coordination": {"handoffs": [{"to": "Zed", "when": "angry"}, {"to": "B", "when": "sad"}]}}),
    );
    let here = program(vec![main, agent("B", json!({}))]);
    let mut elsewhere = here.clone();
    elsewhere["remote_agents"] = json!(["Zed"]);
    for (document, count) in [(&here, 1), (&elsewhere, 0)] {
        write(folder.path(), "a.ir.json", document);
        let (_, out, _) = ran(folder.path(), &["check", "a.ir.json"]);
        assert_eq!(out.matches("there is no agent `Zed`").count(), count, "{out}");
    }
    let (code, out, err) = ran(folder.path(), &["compile", "a.ir.json"]);
    assert_eq!(code, 0, "{err}");
    let compiled: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(compiled["remote_agents"], json!(["Zed"]));
    names_difference(&here, &elsewhere, "remote_agents[0]");
}

/// What is compiled of a program with a broken agent does not claim to be all of it.
#[test]
fn an_agent_that_is_not_compiled_is_not_undefined() {
    let script = "config:\n    agent_name: \"Shop\"\n\nstart_agent router:\n    description: \"Routes\"\n    reasoning:\n        instructions: ->\n            | Help the user.\n        actions:\n            go_orders: @utils.transition to @subagent.orders\n\nsubagent orders:\n    description: \"Orders\"\n    reasoning:\n        instructions: ->\n            | Say {!@variables.nope}.\n";
    let desk = "AGENT: Desk\nGOAL: \"Help people\"\n\nHANDOFF:\n  - TO: Help\n    WHEN: \"the user needs help\"\n";
    let help = "AGENT: Help\nGOAL: \"Help people\"\n\nGATHER:\n  a:\n    type: strng\n    prompt: \"A?\"\n";
    let other = "AGENT: Other\nGOAL: \"Help people\"\n";
    for (files, left) in [
        (vec![("shop.agent", script)], 1),
        (vec![("desk.agent.abl", desk), ("help.agent.abl", help), ("other.agent.abl", other)], 2),
    ] {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in &files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let (code, out, err) = ran(folder.path(), &["compile", "."]);
        assert_eq!(code, 1, "{err}");
        let compiled: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(compiled["agents"].as_object().unwrap().len(), left, "{out}");
        assert_ne!(compiled["compilation_errors"], Value::Null);
        let next = tempfile::tempdir().unwrap();
        write(next.path(), "a.ir.json", &compiled);
        let (_, out, _) = ran(next.path(), &["check", "a.ir.json"]);
        assert!(!out.contains("undefined-agent"), "{out}");
        let (code, out, err) = ran(next.path(), &["compile", "a.ir.json"]);
        assert_eq!(code, 0, "{err}");
        let again: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(again["agents"].as_object().unwrap().len(), left, "{out}");
        assert_eq!(again["entry_agent"], compiled["entry_agent"]);
        write(next.path(), "a.ir.json", &again);
        let (_, out, _) = ran(next.path(), &["check", "a.ir.json"]);
        assert!(!out.contains("undefined-agent"), "{out}");
    }
}

#[test]
fn what_is_wrong_in_a_language_is_wrong_in_its_documents() {
    let folder = tempfile::tempdir().unwrap();
    let check = |more: Value| {
        write(folder.path(), "a.ir.json", &program(vec![agent("A", more), agent("B", json!({}))]));
        ran(folder.path(), &["check", "a.ir.json"]).1
    };
    let field = |key: &str, value: Value| json!({"gather": {"fields": [{"name": "f", "prompt": "F?", key: value}]}});
    let out = check(field("validation", json!({"type": "pattern", "rule": "([a-z"})));
    assert!(out.contains("error[broken-guard]"), "{out}");
    let out = check(field("type", "strng".into()));
    assert!(out.contains("did you mean `string`?"), "{out}");
    // Helps name keys.
    let out = check(json!({"use_behavior_profiles": ["vip"]}));
    assert!(out.contains("add `{\"name\": \"vip\", …}` to `behavior_profiles`"), "{out}");
    let out = check(
        json!({"completion": {"conditions": [{"when": "done", "respond_template": "ghost"}]}}),
    );
    assert!(out.contains("define it in `templates`: `\"ghost\": {\"default\": \"…\"}`"), "{out}");
}
