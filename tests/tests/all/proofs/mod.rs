//! What the rules that prove something must find, and the near misses that they must leave alone: each
//! sample differs from a neighbour in the one thing that decides.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

mod conditions;
mod data;
mod routes_and_loops;

use agentir_lang_abl::Options;
use agentir_lint::Group;
use agentir_tests::check::{File, check};
use agentir_tests::pages;
use agentir_tests::samples::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A program, and whether a rule must speak of it.
struct Sample {
    rule: String,
    fires: bool,
    files: Vec<File>,
    /// Where it is written.
    at: String,
}

/// So many samples a rule must find, and so many it must not.
const EACH: usize = 5;

/// The files of a text: one with this name, or several, each behind a line `--- name`.
fn files(name: &str, text: &str) -> Vec<File> {
    if !text.starts_with("--- ") {
        return vec![File { name: name.to_owned(), text: text.to_owned() }];
    }
    text.split("--- ")
        .filter(|part| !part.is_empty())
        .filter_map(|part| part.split_once('\n'))
        .map(|(name, text)| File { name: name.to_owned(), text: text.to_owned() })
        .collect()
}

fn samples() -> Vec<Sample> {
    let mut all = conditions::samples();
    all.extend(routes_and_loops::samples());
    all.extend(data::samples());
    all
}

/// The examples of the pages; other tests run them.
fn examples() -> Vec<Sample> {
    let of = |page: pages::Page| {
        page.examples.into_iter().map(move |example| Sample {
            rule: page.name.clone(),
            fires: example.fails,
            files: example.files,
            at: format!("rules/{}.md:{}", page.name, example.line),
        })
    };
    pages::all().into_iter().flat_map(of).collect()
}

/// The rules that prove something: those of the groups that are about proofs and data, and all others
/// whose code asks the solver or follows variables.
fn rules_that_prove() -> BTreeSet<&'static str> {
    let asks = |name: &str| {
        let file = format!("crates/agentir-lint/src/rules/{}.rs", name.replace('-', "_"));
        let text = fs::read_to_string(root().join(file)).unwrap_or_default();
        [".ask()", "crate::dataflow::", "crate::taint::"].iter().any(|part| text.contains(part))
    };
    let all = agentir_lint::catalogue().into_iter();
    all.filter(|r| matches!(r.group, Group::Proofs | Group::Data) || asks(r.name))
        .map(|r| r.name)
        .collect()
}

/// The dialect a program is in.
fn dialect(files: &[File]) -> &'static str {
    let checked = check(files, Options::default());
    checked.program.dialect().id()
}

#[test]
fn samples_fire_and_pass_as_they_say() {
    let mut problems = Vec::new();
    for sample in samples() {
        let checked = check(&sample.files, Options::default());
        let found = checked.diagnostics.iter().any(|d| d.rule.0 == sample.rule);
        let group = |name: &str| agentir_lint::rule(name).map(|r| r.group);
        let broken = checked.errors().any(|d| group(d.rule.0) == Some(Group::Syntax));
        if found != sample.fires || broken {
            let verb = if found { "fires" } else { "does not fire" };
            let texts: Vec<&str> = sample.files.iter().map(|f| f.text.as_str()).collect();
            problems.push(format!(
                "{}: {} {verb}\n      {}\n{}",
                sample.at,
                sample.rule,
                checked.lines().join("\n      "),
                texts.join("\n---\n")
            ));
        }
    }
    assert!(
        problems.is_empty(),
        "{} samples that do not do what they say:\n  {}",
        problems.len(),
        problems.join("\n  ")
    );
}

#[test]
fn every_rule_that_proves_has_its_samples() {
    let mut counts: BTreeMap<(String, bool), BTreeMap<&str, usize>> = BTreeMap::new();
    for sample in samples().into_iter().chain(examples()) {
        let of_rule = counts.entry((sample.rule, sample.fires)).or_default();
        *of_rule.entry(dialect(&sample.files)).or_default() += 1;
    }
    let mut problems = Vec::new();
    for name in rules_that_prove() {
        let Some(rule) = agentir_lint::rule(name) else { continue };
        for (fires, what) in [(true, "that it must find"), (false, "that it must leave alone")] {
            let by_dialect = counts.remove(&(name.to_owned(), fires)).unwrap_or_default();
            let all: usize = by_dialect.values().sum();
            if all < EACH {
                problems.push(format!("{name}: {all} samples {what}, and {EACH} are asked for"));
            }
            for dialect in rule.dialects(agentir::languages().dialects()).map(|d| d.id()) {
                if !by_dialect.contains_key(dialect) {
                    problems.push(format!("{name}: no sample in {dialect} {what}"));
                }
            }
        }
    }
    assert!(
        problems.is_empty(),
        "add them beside the others, or to the rule's page:\n  {}",
        problems.join("\n  ")
    );
}
