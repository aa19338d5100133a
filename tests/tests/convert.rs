//! Conversions: what comes out is read back, and nothing vanishes unlisted.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_convert::{Fate, Meaning, Target, convert, differences};
use agentir_diagnostics::{Severity, SourceMap};
use agentir_ir::Program;
use agentir_syntax::abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{adl, files_below, ours, root};

/// The targets to test: all, or the one that `AGENTIR_TARGET` names.
fn targets() -> impl Iterator<Item = Target> {
    let wanted = std::env::var("AGENTIR_TARGET").ok();
    Target::ALL.into_iter().filter(move |t| wanted.as_ref().is_none_or(|w| w == t.name()))
}

/// A program of ours.
struct Sample {
    name: String,
    sources: SourceMap,
    program: Program,
}

fn sample(files: &[File]) -> Sample {
    let name = files.first().map(|f| f.name.clone()).unwrap_or_default();
    let checked = check(files, Options::default());
    Sample { name, sources: checked.sources, program: checked.program }
}

/// Our correct samples of every language.
fn samples() -> Vec<Sample> {
    let mut all: Vec<Vec<File>> = ours("valid").into_iter().map(|s| s.files).collect();
    all.extend(adl("valid"));
    let scripts = root().join("corpus/agent-script/valid");
    all.extend(files_below(&scripts).into_iter().map(|f| vec![f]));
    all.iter().map(|files| sample(files)).collect()
}

fn native(program: &Program) -> &'static [Target] {
    // Agentforce needs a name and a user; a document without is one of the base dialect.
    let base = || program.agents.iter().all(|a| a.extensions.0.is_empty());
    match program.agents.first().map(|a| a.metadata.dialect) {
        Some("agent-script") if base() => &[Target::AgentScriptBase],
        Some("agent-script") => &[Target::AgentScript],
        Some("adl") => &[Target::Adl],
        _ => &[Target::Abl, Target::AblYaml],
    }
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{} {what}:\n  {}\n", problems.len(), problems.join("\n  "));
}

#[test]
fn what_is_written_can_be_read() {
    let mut problems = Vec::new();
    for sample in samples() {
        for target in targets() {
            let done = convert(&sample.program, &sample.sources, target);
            assert!(!done.files.is_empty(), "{} to {target:?}", sample.name);
            for d in done.diagnostics.iter().filter(|d| d.severity == Severity::Error) {
                let file = done.sources.get(d.primary.span.file).unwrap();
                let at = file.line_column(d.primary.span.start);
                let line = file.text.lines().nth(at.line as usize - 1).unwrap_or_default();
                problems.push(format!(
                    "{} to {}: {}:{}: {} ({}): {line}",
                    sample.name,
                    target.name(),
                    file.name,
                    at.line,
                    d.rule.0,
                    d.message
                ));
            }
        }
    }
    report("errors in the output", &problems);
}

#[test]
fn nothing_vanishes_unlisted() {
    for sample in samples() {
        let size = Meaning::new(&sample.program).size();
        for target in targets() {
            let report = convert(&sample.program, &sample.sources, target).report;
            let totals = report.totals;
            assert_eq!(totals.kept + totals.approximated + totals.dropped, size);
            assert_eq!(report.entries.len(), size);
            assert!(report.lost().all(|e| e.how.is_some() && e.fate != Fate::Kept));
        }
    }
}

#[test]
fn the_same_language_keeps_everything() {
    let mut problems = Vec::new();
    for sample in samples() {
        for target in native(&sample.program).iter().filter(|t| targets().any(|w| w == **t)) {
            let done = convert(&sample.program, &sample.sources, *target);
            let found = differences(&Meaning::new(&sample.program), &Meaning::new(&done.program));
            problems.extend(found.iter().map(|d| {
                let side = |v: &Option<(serde_json::Value, _)>| {
                    v.as_ref().map_or_else(|| "nothing".to_owned(), |(v, _)| v.to_string())
                };
                let [left, right] = [side(&d.left), side(&d.right)];
                format!("{} to {}: {}: {left} / {right}", sample.name, target.name(), d.path)
            }));
        }
    }
    report("differences", &problems);
}

/// What the report calls kept is there after the way back as well.
#[test]
fn there_and_back_loses_only_what_was_announced() {
    let mut problems = Vec::new();
    for sample in samples() {
        for target in targets() {
            let there = convert(&sample.program, &sample.sources, target);
            for home in native(&sample.program) {
                let back = convert(&there.program, &there.sources, *home);
                let lost: Vec<_> =
                    there.report.lost().chain(back.report.lost()).map(|e| &e.path).collect();
                let kept = Meaning::new(&back.program);
                for d in differences(&Meaning::new(&sample.program), &kept) {
                    if d.left.is_some() && !lost.contains(&&d.path) {
                        problems.push(format!(
                            "{} to {} and back: {} was lost without a word",
                            sample.name,
                            target.name(),
                            d.path
                        ));
                    }
                }
            }
        }
    }
    report("silent losses", &problems);
}
