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
use std::collections::BTreeSet;

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
                if removed.is_null()
                    || removed == false
                    || removed.as_array().is_some_and(Vec::is_empty)
                {
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

fn written(checked: &Checked) -> Value {
    let output = crate::ir_json::output(&checked.program);
    agentir_ir_json::to_value(&output, agentir_ir_json::Mode::Published)
}

/// The samples that are correct, as documents of AgentIR, with their languages and names, the smallest first: what is
/// tried once is tried where that costs least.
fn documents() -> Vec<(&'static str, String, Value)> {
    let mut all = Vec::new();
    for (language, _) in LANGUAGES {
        for (files, options) in correct(language) {
            let mut loaded = load(&files, options);
            let program = loaded.programs.pop().unwrap().program;
            let checked = Checked { sources: loaded.sources, diagnostics: Vec::new(), program };
            all.push((language, files[0].name.clone(), written(&checked)));
        }
    }
    all.sort_by_key(|(_, _, json)| json.to_string().len());
    all
}

/// The paths at which two documents differ.
fn differing(one: &Value, other: &Value, at: &mut Vec<Step>, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            for key in keys {
                at.push(Step::Key(key.clone()));
                differing(&one[key], &other[key], at, found);
                at.pop();
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (one, other)) in a.iter().zip(b).enumerate() {
                at.push(Step::Index(index));
                differing(one, other, at, found);
                at.pop();
            }
        }
        _ if one == other => {}
        _ => found.push(generic(at)),
    }
}

/// What a document may say otherwise although `diff` calls the programs the same, and why.
const NOT_PART_OF_THE_PROGRAM: &[(&str, &str)] = &[
    (".agents.*.metadata.compiler_version", "who wrote the document"),
    (".agents.*.metadata.source_hash", "who wrote the document"),
    (".agents.*.metadata.language_version", "what it was written in"),
    (".agents.*.extensions.*.tools", "ADL's list of the files of tools, which other values say"),
    (".agents.*.routing.rules[].continues", "how a rule was written"),
    (".agents.*.flow.definitions.*.reasoning", "false is the default of a step without a zone"),
    (".complete", "whether a name that is not here is an error, not what the agents do"),
    (".entry_agent", "the agent with which conversations begin without that"),
    (".agents.*.tools", "the order of tools is that of declarations"),
    (".libraries", "the order of libraries is that of files"),
    (".behavior_profiles", "the order of profiles is that of files"),
    (".do[].with", "a tool without parameters is passed nothing, whether that is said or not"),
    (".repeats_binding", "how a way is declared"),
];

/// Whether the items that change places have names, or are names.
fn swaps_named(json: &Value, at: &[Step]) -> bool {
    let mut list = json;
    for step in at {
        let next = match step {
            Step::Key(key) => list.get(key),
            Step::Index(index) => list.get(index),
        };
        let Some(next) = next else { return false };
        list = next;
    }
    let is_named = |item: &Value| {
        item.is_string() || item.get("name").or_else(|| item.get("variable")).is_some()
    };
    (0..2).all(|index| list.get(index).is_some_and(is_named))
}

/// Lists whose order says nothing, as long as their items have names: what is passed goes by them.
const IN_ANY_ORDER: &[&str] = &[".with", ".pass", ".bindings"];

/// Changes after which two programs are proved to behave the same, and why they do.
const REALLY_THE_SAME: &[(&str, &str)] = &[
    (".then", "it led where the conversation goes on without it"),
    (".flow.entry_point", "it named the first step"),
    (".flow.steps", "steps are found by jumps"),
    (".flow.definitions.*.on_error", "each handler is for another type of error"),
    (".agents.*.memory.session", "the order of declarations"),
];

/// Each value of the samples is changed, removed, and swapped with its neighbour.
/// Choices in the samples whose order makes no difference.
const BRANCHES_THAT_EXCLUDE_EACH_OTHER: &[(&str, &str)] = &[
    (".flow.definitions.*.on_result", "a job takes at most 120 minutes, or more"),
    (".flow.definitions.*.do[].branches", "a harbour is not named, or its name matches"),
];

#[test]
fn nothing_that_could_be_noticed_is_proved_the_same() {
    let mut seen: BTreeSet<(String, Change)> = BTreeSet::new();
    let mut all = Vec::new();
    for (_, name, json) in documents() {
        let mut tried = Vec::new();
        changes(&json, &mut Vec::new(), &mut tried);
        tried.retain(|(at, change)| seen.insert((generic(at), *change)));
        all.push((name, json, tried));
    }
    let of = |table: &[(&str, &str)], path: &str| {
        table.iter().any(|(part, _)| path == *part || path.contains(*part))
    };
    let results: Vec<Option<String>> = all
        .par_iter()
        .flat_map(|(name, json, tried)| {
            let original = read(json).unwrap();
            let before = NormalizedProgram::new(&original.program);
            let one = |(at, change): &(Vec<Step>, Change)| {
                let other = read(&changed(json, at, *change)?)?;
                let found = differences(&before, &NormalizedProgram::new(&other.program));
                let what = format!("{change:?} {} in {name}", generic(at));
                if found.is_empty() {
                    let list = generic(at);
                    let any_order = IN_ANY_ORDER.iter().any(|end| list.ends_with(end));
                    if *change == Change::Swap && any_order && swaps_named(json, at) {
                        return Some(None);
                    }
                    let mut paths = Vec::new();
                    differing(json, &written(&other), &mut Vec::new(), &mut paths);
                    let open = paths.iter().find(|path| !of(NOT_PART_OF_THE_PROGRAM, path));
                    return Some(open.map(|path| format!("{what}: no difference, but {path}")));
                }
                let is_same = compare(&original, &other).verdict == Verdict::Same;
                let at = generic(at);
                let in_order = *change == Change::Swap && of(BRANCHES_THAT_EXCLUDE_EACH_OTHER, &at);
                let silent = is_same && !in_order && !of(REALLY_THE_SAME, &at);
                Some(silent.then(|| format!("{what}: proved to be the same, but {found:?}")))
            };
            tried.par_iter().filter_map(one).collect::<Vec<_>>()
        })
        .collect();
    assert!(results.len() > 1500, "only {} changes were read", results.len());
    let problems: Vec<String> = results.into_iter().flatten().collect();
    assert!(problems.is_empty(), "{} claims:\n{}", problems.len(), problems.join("\n"));
}

/// What is converted from a program without errors has none: by the rules, not only by the reader.
#[test]
fn clean_samples_become_programs_without_errors() {
    let mut problems = Vec::new();
    for (language, _) in LANGUAGES {
        for (files, options) in correct(language) {
            let source = agentir_tests::check::check(&files, options);
            if source.errors().next().is_some() {
                continue;
            }
            let name = &files[0].name;
            for target in agentir::targets::all() {
                let done = agentir_convert::convert(
                    agentir::languages(),
                    &source.program,
                    &source.sources,
                    target,
                );
                let files: Vec<File> = done
                    .files
                    .iter()
                    .map(|f| File { name: f.path.clone(), text: f.text.clone() })
                    .collect();
                let checked = agentir_tests::check::check(&files, Options::default());
                problems.extend(
                    checked.errors().map(|error| {
                        format!("{name} to {}: {}", target.name(), checked.line(error))
                    }),
                );
            }
        }
    }
    assert!(problems.is_empty(), "{} errors:\n{}", problems.len(), problems.join("\n"));
}

/// The document with something empty in place of each object and list, in turn.
fn emptied(json: &Value, at: &mut Vec<Step>, found: &mut Vec<(Vec<Step>, Value)>) {
    let children: Vec<(Step, &Value)> = match json {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (Step::Key(key.clone()), value)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (Step::Index(index), value)).collect()
        }
        _ => return,
    };
    for (step, value) in children {
        at.push(step);
        let empty = match value {
            Value::Object(_) => Some(Value::Object(serde_json::Map::new())),
            Value::Array(_) => Some(Value::Array(Vec::new())),
            _ => None,
        };
        found.extend(empty.filter(|empty| empty != value).map(|empty| (at.clone(), empty)));
        emptied(value, at, found);
        at.pop();
    }
}

/// Whatever objects and lists are empty in a program that can be read: ABL's notations, and ADL where the program is not
/// its own, are written so that they can be read; and nothing is lost in silence.
#[test]
fn what_is_empty_is_written_so_that_it_can_be_read() {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for (language, name, json) in documents() {
        let mut tried = Vec::new();
        emptied(&json, &mut Vec::new(), &mut tried);
        tried.retain(|(at, _)| seen.insert((language.to_owned(), generic(at))));
        all.push((name, json, tried));
    }
    let results: Vec<Vec<String>> = all
        .par_iter()
        .flat_map(|(name, json, tried)| {
            let one = |(at, empty): &(Vec<Step>, Value)| {
                let mut other = json.clone();
                *at.iter().fold(&mut other, child) = empty.clone();
                let source = read(&other)?;
                let mut found = Vec::new();
                let dialect = source.program.dialect();
                // What Agent Script requires of a document, and ADL of an agent of a kind, may be what is missing.
                let all = agentir::targets::all().into_iter().filter(|target| {
                    let name = target.name();
                    name.starts_with("abl") || (name == "adl" && target.dialect() != dialect)
                });
                for target in all {
                    let done = agentir_convert::convert(
                        agentir::languages(),
                        &source.program,
                        &source.sources,
                        target,
                    );
                    let what = || format!("{} in {name} to {}", generic(at), target.name());
                    let errors = done.diagnostics.iter().filter(|d| d.severity == Severity::Error);
                    found.extend(errors.map(|d| format!("{}: {} {}", what(), d.rule.0, d.message)));
                    if target.dialect() != dialect || !found.is_empty() {
                        continue;
                    }
                    let [before, after] =
                        [&source.program, &done.program].map(NormalizedProgram::new);
                    let told: BTreeSet<&str> =
                        done.report.losses().map(|entry| entry.path.as_str()).collect();
                    let silent = differences(&before, &after);
                    let silent = silent.iter().filter(|d| d.left.is_some());
                    let silent = silent.filter(|d| !told.contains(d.path.as_str()));
                    found.extend(silent.map(|d| format!("{}: silent {}", what(), d.path)));
                }
                Some(found)
            };
            tried.par_iter().filter_map(one).collect::<Vec<_>>()
        })
        .collect();
    assert!(results.len() > 250, "only {} documents were read", results.len());
    let problems: Vec<String> = results.into_iter().flatten().collect();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
