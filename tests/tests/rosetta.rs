//! The same agents in several languages lower to the same IR; see `corpus/README.md`.
//!
//! What may differ is listed in [`ORIGIN`]: where an agent comes from, and names that only one of the
//! languages asks for.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_diagnostics::Severity;
use agentir_syntax::abl::Options;
use agentir_tests::check::{Checked, File, check};
use agentir_tests::samples::{files_below, root};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What says where an agent comes from, and nothing about what it does: paths in the JSON of an agent.
const ORIGIN: &[&[&str]] = &[
    &["ir_version"],
    &["metadata", "dialect"],
    &["metadata", "source_hash"],
    &["metadata", "compiler_version"],
    // Names under which the platform knows the whole program.
    &["extensions", "agent-script", "config"],
    &["extensions", "agent-script", "access"],
    // Says what the IR says in its own words: `flow`, `identity.instructions`, `knowledge`, …
    &["extensions", "adl", "type"],
    // The files whose tools are compared.
    &["extensions", "adl", "tools"],
    // Agent Script requires one; the others leave it to the platform.
    &["messages", "error"],
    // Where a tool is declared; the tools themselves are compared.
    &["tools"],
];

/// What is said of a way to another agent or out where the way itself is among the agent's
/// handoffs, delegates or triggers: Agent Script gives each of them a name of its own.
const NAMES_OF_WAYS: &[&str] = &["name", "does", "to", "agent", "description", "available_when"];

fn run(folder: &Path) -> Checked {
    let files: Vec<File> = files_below(folder);
    assert!(!files.is_empty(), "nothing in {}", folder.display());
    check(&files, Options::default())
}

fn remove(value: &mut Value, path: &[&str]) {
    let (Some((last, before)), Value::Object(map)) = (path.split_last(), value) else { return };
    let Some((first, rest)) = before.split_first() else {
        map.remove(*last);
        return;
    };
    let Some(inner) = map.get_mut(*first) else { return };
    remove(inner, &[rest, &[*last]].concat());
    if inner.as_object().is_some_and(Map::is_empty) {
        map.remove(*first);
    }
}

/// The first step has no name in ADL, so what it is called elsewhere says nothing.
fn rename_entry(flow: &mut Value) {
    let Some(entry) = flow["entry_point"].as_str().map(str::to_owned) else { return };
    let definitions = flow["definitions"].as_object_mut().unwrap();
    let step = definitions.remove(&entry).unwrap();
    definitions.insert("(entry)".to_owned(), step);
    rename(flow, &entry);
}

fn rename(value: &mut Value, name: &str) {
    match value {
        Value::String(text) if text == name => "(entry)".clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|v| rename(v, name)),
        Value::Object(map) => map.values_mut().for_each(|v| rename(v, name)),
        _ => {}
    }
}

/// What an agent is, without where it comes from.
fn essence(agent: &Value) -> Value {
    let mut agent = agent.clone();
    for path in ORIGIN {
        remove(&mut agent, path);
    }
    if let Some(flow) = agent.get_mut("flow") {
        rename_entry(flow);
    }
    if let Some(bindings) = agent.pointer_mut("/reasoning/bindings").and_then(Value::as_array_mut) {
        bindings.retain(|b| {
            b["does"] == "call"
                || b.as_object().unwrap().keys().any(|k| !NAMES_OF_WAYS.contains(&k.as_str()))
        });
        if bindings.is_empty() {
            remove(&mut agent, &["reasoning", "bindings"]);
        }
    }
    agent
}

/// The agents by name, the one that begins, and the tools.
fn meaning(checked: &Checked) -> Value {
    let program = &checked.program;
    let agents: BTreeMap<_, _> = program
        .agents
        .iter()
        .map(|a| (a.metadata.name.value.as_str(), essence(&serde_json::to_value(a).unwrap())))
        .collect();
    let tools: BTreeSet<String> =
        program.tools().map(|t| serde_json::to_value(t).unwrap().to_string()).collect();
    let entry = program.entry().map(|a| a.metadata.name.value.as_str());
    json!({ "agents": agents, "entry": entry, "tools": tools })
}

fn folders(at: &Path) -> Vec<std::path::PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(at).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

/// The differences, as lines, so that a failure can be read.
fn diff(at: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|k| !a.contains_key(*k))) {
                let [a, b] = [a, b].map(|map| map.get(key).unwrap_or(&Value::Null));
                diff(&format!("{at}.{key}"), a, b, found);
            }
        }
        _ if left == right => {}
        _ => found.push(format!("{at}: {left} / {right}")),
    }
}

#[test]
fn one_agent_in_several_languages_is_one_agent() {
    let mut table = String::new();
    for agent in folders(&root().join("corpus/rosetta")) {
        let name = agent.file_name().unwrap().to_string_lossy().into_owned();
        let mut first: Option<(String, Value)> = None;
        let mut languages = Vec::new();
        for folder in folders(&agent) {
            let language = folder.file_name().unwrap().to_string_lossy().into_owned();
            let checked = run(&folder);
            let errors: Vec<_> = checked
                .diagnostics
                .iter()
                .filter(|d| d.severity == Severity::Error)
                .map(|d| checked.line(d))
                .collect();
            assert!(errors.is_empty(), "{errors:?}");
            let meaning = meaning(&checked);
            if let Some((other, before)) = &first {
                let mut found = Vec::new();
                diff("", before, &meaning, &mut found);
                let found = found.join("\n  ");
                assert!(found.is_empty(), "{name}: {other} / {language} differ:\n  {found}\n");
            } else {
                first = Some((language.clone(), meaning));
            }
            languages.push(language);
        }
        assert!(languages.len() > 1, "{name} is there only once");
        table += &format!("| `{name}` | {} |\n", languages.join(", "));
    }
    let documented = std::fs::read_to_string(root().join("corpus/README.md")).unwrap();
    assert!(documented.contains(&table), "corpus/README.md should say:\n\n{table}");
}

/// What is compared is not empty: a change of one word shows.
#[test]
fn a_change_shows() {
    let at = root().join("corpus/rosetta/hub/adl");
    let before = meaning(&run(&at));
    for (from, to) in [("books rooms", "cleans rooms"), ("    - kitchen\n", "")] {
        let mut files = files_below(&at);
        for file in &mut files {
            assert!(file.text.contains(from));
            file.text = file.text.replace(from, to);
        }
        assert_ne!(before, meaning(&check(&files, Options::default())), "{from} → {to}");
    }
}
