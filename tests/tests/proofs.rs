//! What rules that ask the solver must find and what they must not: the cases of `tests/proofs/`.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_syntax::abl::Options;
use agentir_tests::check::{File, check};
use std::collections::{BTreeMap, BTreeSet};

const CASES: &str = include_str!("../proofs/conditions.txt");

struct Case {
    line: usize,
    rule: String,
    dialect: String,
    fires: bool,
    text: String,
}

/// Each case with what all of its dialect begin with in front.
fn cases() -> Vec<Case> {
    let mut before: BTreeMap<String, String> = BTreeMap::new();
    let mut cases: Vec<Case> = Vec::new();
    let mut dialect = None;
    for (at, line) in CASES.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            ["@", name] => dialect = Some((*name).to_owned()),
            ["=", rule, name, verb @ ("fires" | "passes")] => {
                dialect = None;
                let text = before.get(*name).cloned();
                cases.push(Case {
                    line: at + 1,
                    rule: (*rule).to_owned(),
                    dialect: (*name).to_owned(),
                    fires: *verb == "fires",
                    text: text.unwrap_or_else(|| panic!("line {}: no dialect {name}", at + 1)),
                });
            }
            _ => {
                let text = match (&dialect, cases.last_mut()) {
                    (Some(name), _) => before.entry(name.clone()).or_default(),
                    (None, Some(case)) => &mut case.text,
                    (None, None) => continue,
                };
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    cases
}

#[test]
fn cases_fire_and_pass_as_they_say() {
    let mut problems = Vec::new();
    for case in cases() {
        let ending = match case.dialect.as_str() {
            "abl" => ".agent.abl",
            "agent-script" => ".agent",
            _ => ".yml",
        };
        let file = File { name: format!("case{ending}"), text: case.text.clone() };
        let checked = check(&[file], Options::default());
        let found = checked.diagnostics.iter().any(|d| d.rule.0 == case.rule);
        let broken = checked.errors().next().is_some();
        if found != case.fires || broken {
            let verb = if found { "fires" } else { "does not fire" };
            let all = checked.lines().join("\n      ");
            problems.push(format!("line {}: {} {verb}\n      {all}", case.line, case.rule));
        }
    }
    assert!(
        problems.is_empty(),
        "cases that do not do what they say:\n  {}",
        problems.join("\n  ")
    );
}

#[test]
fn no_place_is_reported_twice() {
    let group: BTreeSet<String> = cases().into_iter().map(|case| case.rule).collect();
    let mut problems = Vec::new();
    for case in cases().iter().filter(|case| case.dialect == "abl") {
        let file = File { name: "case.agent.abl".to_owned(), text: case.text.clone() };
        let checked = check(&[file], Options::default());
        let mut seen = BTreeMap::new();
        for found in checked.diagnostics.iter().filter(|d| group.contains(d.rule.0)) {
            let span = found.primary.span;
            if let Some(before) = seen.insert((span.start, span.end), found.rule.0) {
                problems.push(format!("line {}: {before} and {}", case.line, found.rule.0));
            }
        }
    }
    assert!(problems.is_empty(), "reported twice:\n  {}", problems.join("\n  "));
}
