//! Rules about constraints, branches and comparisons: the cases of `conditions.txt`.

use super::Sample;
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use std::collections::{BTreeMap, BTreeSet};

const CASES: &str = include_str!("conditions.txt");

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

pub(super) fn samples() -> Vec<Sample> {
    let sample = |case: Case| {
        let ending = match case.dialect.as_str() {
            "abl" => ".agent.abl",
            "agent-script" => ".agent",
            _ => ".yml",
        };
        let file = File { name: format!("case{ending}"), text: case.text };
        Sample {
            rule: case.rule,
            fires: case.fires,
            files: vec![file],
            at: format!("conditions.txt:{}", case.line),
        }
    };
    cases().into_iter().map(sample).collect()
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
