//! Our own samples give the findings they promise; see `corpus/README.md`.

#![allow(clippy::panic, reason = "tests end by panicking")]

use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, check, json};
use agentir_tests::samples::{Sample, all_ours, ours};
use agentir_tests::{expect, words};

fn run(sample: &Sample) -> Checked {
    check(&sample.files, Options { version: sample.version, fragment: sample.fragment })
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

fn without_findings(folder: &str) {
    let problems: Vec<String> = ours(folder).iter().flat_map(|s| run(s).lines()).collect();
    report("findings in correct samples", &problems);
}

#[test]
fn valid_samples_have_no_findings() {
    without_findings("valid");
}

#[test]
fn legacy_samples_have_no_findings() {
    without_findings("legacy");
}

#[test]
fn newest_samples_have_no_findings() {
    without_findings("newest");
}

#[test]
fn invalid_samples_have_the_findings_they_expect() {
    let problems: Vec<String> =
        ours("invalid").iter().flat_map(|s| expect::differences(&s.files, &run(s))).collect();
    report("differences", &problems);
}

#[test]
fn both_notations_mean_the_same() {
    let samples = ours("valid/same");
    let find = |name: &str| {
        samples.iter().find(|s| s.files.iter().any(|f| f.name.ends_with(name))).map(run)
    };
    for sample in &samples {
        let name = &sample.files.first().map(|f| f.name.clone()).unwrap_or_default();
        let Some(stem) = name.strip_suffix(".abl") else { continue };
        let twin = find(&format!("{stem}.yaml"));
        let twin = twin.unwrap_or_else(|| panic!("{name} has no twin in YAML"));
        let mut differences = Vec::new();
        diff("", &json(&run(sample).program), &json(&twin.program), &mut differences);
        report(&format!("differences between {name} (left) and its YAML (right)"), &differences);
    }
}

/// Tells where two values differ.
fn diff(at: &str, a: &serde_json::Value, b: &serde_json::Value, out: &mut Vec<String>) {
    use serde_json::Value::{Array, Object};
    match (a, b) {
        (Object(x), Object(y)) => {
            for key in x.keys().chain(y.keys().filter(|k| !x.contains_key(*k))) {
                let null = serde_json::Value::Null;
                diff(
                    &format!("{at}/{key}"),
                    x.get(key).unwrap_or(&null),
                    y.get(key).unwrap_or(&null),
                    out,
                );
            }
        }
        (Array(x), Array(y)) if x.len() == y.len() => {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                diff(&format!("{at}/{i}"), x, y, out);
            }
        }
        _ if a == b => {}
        _ => out.push(format!("{at}: {a} / {b}")),
    }
}

/// Words of our samples that the IR says otherwise, by the end of the file's name, with the reason.
const SAID_OTHERWISE: &[(&str, &str, &str)] = &[
    ("pharmacy_refill.agent.abl", "both", "a guardrail of kind `both` becomes one of each"),
    ("pharmacy_refill.agent.abl", "rival_chains", "… called `rival_chains_input` and `…_output`"),
    ("laundry_pickup.agent.yaml", "object", "what has `fields` is an object"),
    ("bakery_orders.agent.yaml", "object", "what has `fields` is an object"),
    ("festival_concierge.agent.abl", "8", "megabytes become bytes"),
    ("festival_concierge.agent.abl", "read_only", "is a tool without side effects"),
    ("festival_concierge.agent.abl", "area", "a parameter that is named twice is one parameter"),
];

#[test]
fn nothing_of_ours_is_lost() {
    let mut problems = Vec::new();
    for sample in all_ours() {
        // What is wrong may be read as nothing; its page says so.
        if sample.files.iter().any(|f| f.name.contains("/invalid/")) {
            continue;
        }
        problems.extend(
            words::lost(&sample.files, &json(&run(&sample).program)).into_iter().filter(|lost| {
                !SAID_OTHERWISE.iter().any(|(file, word, _)| {
                    lost.starts_with(&format!("`{word}` ")) && lost.contains(file)
                })
            }),
        );
    }
    report("words that are not in the IR", &problems);
}
