//! Claims are exact: whatever is changed in a program is a difference, and nothing that a user could notice is proved
//! to behave the same.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

use agentir_compare::{NormalizedProgram, Verdict, differences};
use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, compare, load};
use agentir_tests::conversions::{LANGUAGES, correct};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

/// A change of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Value,
    Null,
    Remove,
    Swap,
}

/// A part of a path in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// All changes of a document that are tried.
fn changes(json: &Value, at: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, Change)>) {
    if !at.is_empty() {
        found.push((at.clone(), Change::Remove));
        if !json.is_null() {
            found.push((at.clone(), Change::Null));
        }
    }
    match json {
        Value::Object(fields) => {
            for (key, value) in fields {
                at.push(Step::Key(key.clone()));
                changes(value, at, found);
                at.pop();
            }
        }
        Value::Array(items) => {
            if items.len() > 1 && items[0] != items[1] {
                found.push((at.clone(), Change::Swap));
            }
            for (index, value) in items.iter().enumerate() {
                at.push(Step::Index(index));
                changes(value, at, found);
                at.pop();
            }
        }
        _ => found.push((at.clone(), Change::Value)),
    }
}

fn child<'j>(json: &'j mut Value, step: &Step) -> &'j mut Value {
    match step {
        Step::Key(key) => &mut json[key],
        Step::Index(index) => &mut json[*index],
    }
}

/// The document with a change; none if it changes nothing.
fn changed(json: &Value, at: &[Step], change: Change) -> Option<Value> {
    let mut json = json.clone();
    let (last, before) = at.split_last()?;
    let parent = before.iter().fold(&mut json, child);
    match change {
        Change::Remove => match (parent, last) {
            (Value::Object(fields), Step::Key(key)) => {
                // The absence of what is empty says the same.
                let removed = fields.remove(key)?;
                if removed.is_null() || removed == false || removed.as_array().is_some_and(Vec::is_empty) {
                    return None;
                }
            }
            (Value::Array(items), Step::Index(index)) => {
                items.remove(*index);
            }
            _ => return None,
        },
        Change::Null => *child(parent, last) = Value::Null,
        Change::Swap => child(parent, last).as_array_mut()?.swap(0, 1),
        Change::Value => {
            let value = child(parent, last);
            *value = match &*value {
                Value::String(text) if text.contains(' ') => format!("{text} indeed").into(),
                Value::String(text) => format!("{text}x").into(),
                Value::Bool(is) => (!is).into(),
                Value::Number(number) => match number.as_i64() {
                    Some(whole) => (whole + 1).into(),
                    None => (number.as_f64()? / 2.0).into(),
                },
                _ => return None,
            };
        }
    }
    Some(json)
}

/// A path without the names that authors give.
fn generic(at: &[Step]) -> String {
    const NAMED: &[&str] = &["agents", "definitions", "templates", "extensions", "messages"];
    let mut out = String::new();
    let mut named = false;
    for step in at {
        match step {
            Step::Index(_) => out += "[]",
            Step::Key(_) if named => {
                out += ".*";
                named = false;
                continue;
            }
            Step::Key(key) => {
                out += ".";
                out += key;
            }
        }
        named = matches!(step, Step::Key(key) if NAMED.contains(&key.as_str()));
    }
    out
}

fn read(json: &Value) -> Option<Checked> {
    let text = serde_json::to_string_pretty(json).unwrap();
    let file = File { name: "program.ir.json".to_owned(), text };
    let mut loaded = load(&[file], Options::default());
    if loaded.diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return None;
    }
    let program = loaded.programs.pop()?.program;
    Some(Checked { sources: loaded.sources, diagnostics: loaded.diagnostics, program })
}

#[test]
fn explore() {
    let mut seen: BTreeMap<(String, Change), usize> = BTreeMap::new();
    let mut all = Vec::new();
    for (language, _) in LANGUAGES {
        for (files, options) in correct(language) {
            let loaded = load(&files, options);
            let name = files[0].name.clone();
            let json: Value = serde_json::to_value(agentir_ir_json::Written(
                &crate::ir_json::output(&loaded.programs.last().unwrap().program),
                agentir_ir_json::Mode::Published,
            ))
            .unwrap();
            let mut tried = Vec::new();
            changes(&json, &mut Vec::new(), &mut tried);
            let mut mine = Vec::new();
            for (at, change) in tried {
                let count = seen.entry((generic(&at), change)).or_default();
                *count += 1;
                if *count <= 2 {
                    mine.push((at, change));
                }
            }
            all.push((name, json, mine));
        }
    }
    let lines: Vec<String> = all
        .par_iter()
        .flat_map(|(name, json, mine)| {
            let original = read(json).unwrap();
            let before = NormalizedProgram::new(&original.program);
            mine.iter()
                .filter_map(|(at, change)| {
                    let other = read(&changed(json, at, *change)?)?;
                    let after = NormalizedProgram::new(&other.program);
                    let found = differences(&before, &after);
                    let verdict = compare(&original, &other).verdict;
                    (verdict == Verdict::Same).then(|| {
                        let what = if found.is_empty() { "EQUAL" } else { "PROVED" };
                        let paths: Vec<_> = found.iter().take(3).map(|d| d.path.as_str()).collect();
                        format!("{what} {change:?} {} {name} {paths:?}", generic(at))
                    })
                })
                .collect::<Vec<_>>()
        })
        .collect();
    std::fs::write("/tmp/cl/explore.txt", lines.join("\n")).unwrap();
}
