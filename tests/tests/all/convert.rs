//! Conversions: what comes out is read back, and nothing vanishes unlisted.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{languages, targets};
use agentir_compare::{NormalizedProgram, Verdict, differences, value_differences};
use agentir_convert::{Preservation, Target, convert};
use agentir_diagnostics::{Severity, SourceMap};
use agentir_ir::Program;
use agentir_lang_abl::Options;
use agentir_tests::check::{File, check};
use agentir_tests::conversions::{LANGUAGES, correct};
use agentir_tests::samples::{external_agent_script, external_documents, external_files};
use rayon::prelude::*;
use rustc_hash::FxHashSet;

/// The targets to test: all, or the one that `AGENTIR_TARGET` names.
fn targets() -> impl Iterator<Item = Target> {
    let wanted = std::env::var("AGENTIR_TARGET").ok();
    targets::all().into_iter().filter(move |t| wanted.as_ref().is_none_or(|w| w == t.name()))
}

/// A program of ours.
struct Sample {
    name: String,
    sources: SourceMap,
    program: Program,
}

fn sample(files: &[File], options: Options) -> Sample {
    let name = files.first().map(|f| f.name.clone()).unwrap_or_default();
    let checked = check(files, options);
    Sample { name, sources: checked.sources, program: checked.program }
}

/// Our correct samples of every language.
fn samples() -> Vec<Sample> {
    LANGUAGES
        .iter()
        .flat_map(|(language, _)| correct(language))
        .map(|(files, options)| sample(&files, options))
        .collect()
}

fn native(program: &Program) -> Vec<Target> {
    // Agentforce needs a name and a user; a document without is one of the base dialect.
    let base = || program.agents().all(|a| a.extensions.0.is_empty());
    match program.dialect().id() {
        "agent-script" if base() => vec![targets::AGENT_SCRIPT_BASE],
        "agent-script" => vec![targets::AGENT_SCRIPT],
        "adl" => vec![targets::ADL],
        _ => vec![targets::ABL, targets::ABL_YAML],
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
            let done = convert(languages(), &sample.program, &sample.sources, target);
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
    every_value_is_listed(&samples());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn nothing_vanishes_unlisted_from_third_party_programs() {
    every_value_is_listed(&third_party_samples());
}

fn every_value_is_listed(all: &[Sample]) {
    all.par_iter().for_each(|sample| {
        let size = NormalizedProgram::new(&sample.program).size();
        for target in targets() {
            let report = convert(languages(), &sample.program, &sample.sources, target).report;
            let totals = report.totals;
            assert_eq!(totals.kept + totals.approximated + totals.dropped + totals.unneeded, size);
            assert_eq!(report.entries.len(), size);
            assert!(
                report.losses().all(|e| e.how.is_some() && e.preservation != Preservation::Kept)
            );
        }
    });
}

/// The report in words sums up, but leaves nothing out: what it counts for each reason adds up to the totals.
#[test]
fn the_report_in_words_counts_everything() {
    let mut problems = Vec::new();
    for sample in samples() {
        for target in targets() {
            let done = convert(languages(), &sample.program, &sample.sources, target);
            let text = done.report.text();
            for (fate, total) in [
                ("approximated", done.report.totals.approximated),
                ("dropped", done.report.totals.dropped),
            ] {
                let several = format!("{fate}, ");
                let one = format!(": {fate}: ");
                let told = text.lines().map(|line| match line.strip_prefix(&several) {
                    Some(rest) => rest.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0),
                    None => usize::from(line.contains(&one) || line.starts_with(&one[2..])),
                });
                let told: usize = told.sum();
                if told != total {
                    let name = format!("{} to {}", sample.name, target.name());
                    problems.push(format!("{name}: {told} of {total} {fate} values are told"));
                }
            }
        }
    }
    report("reports that leave something out", &problems);
}

/// Why a value is dropped that only the legacy version of ABL can compute.
pub(crate) const REMOVED: &str = "the current version cannot compute the value";

#[test]
fn the_same_language_keeps_everything() {
    let mut problems = Vec::new();
    for sample in samples() {
        for target in native(&sample.program).into_iter().filter(|t| targets().any(|w| w == *t)) {
            let done = convert(languages(), &sample.program, &sample.sources, target);
            let found = differences(
                &NormalizedProgram::new(&sample.program),
                &NormalizedProgram::new(&done.program),
            );
            // The output is of the current version, which lacks a function of the legacy one.
            let removed = |path: &str| {
                let mut losses = done.report.losses().filter(|entry| entry.path == path);
                losses.any(|entry| entry.how.as_deref() == Some(REMOVED))
            };
            problems.extend(found.iter().filter(|d| !removed(&d.path)).map(|d| {
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

/// What is lost on the way to another language and back although neither report says so.
fn silent_losses(sample: &Sample, target: Target) -> Vec<String> {
    let there = convert(languages(), &sample.program, &sample.sources, target);
    let mut problems = Vec::new();
    for home in native(&sample.program) {
        let back = convert(languages(), &there.program, &there.sources, home);
        let lost: FxHashSet<&str> =
            there.report.losses().chain(back.report.losses()).map(|e| e.path.as_str()).collect();
        let kept = NormalizedProgram::new(&back.program);
        for d in value_differences(&NormalizedProgram::new(&sample.program), &kept) {
            if d.left.is_some() && !lost.contains(d.path.as_str()) {
                problems.push(format!(
                    "{} to {} and back: {} was lost silently",
                    sample.name,
                    target.name(),
                    d.path
                ));
            }
        }
    }
    problems
}

/// What the report calls kept is there after the way back as well.
#[test]
fn there_and_back_loses_only_what_was_announced() {
    let mut problems = Vec::new();
    for sample in samples() {
        problems.extend(targets().flat_map(|target| silent_losses(&sample, target)));
    }
    report("silent losses", &problems);
}

/// Third-party programs that are correct: documents of the specifications, Agent Script, bots of ADL.
fn third_party_samples() -> Vec<Sample> {
    let mut all: Vec<(Vec<File>, Options)> = Vec::new();
    for one in external_documents() {
        all.push((one.files, Options { version: one.version, fragment: false }));
    }
    all.extend(external_agent_script().into_iter().map(|f| (vec![f], Options::default())));
    let adl = external_files("adl").into_iter();
    let bots = adl.filter(|f| agentir_lang_adl::is_adl(&f.name, &f.text));
    all.extend(bots.map(|f| (vec![f], Options::default())));
    all.into_par_iter()
        .map(|(files, options)| (check(&files, options), files))
        .filter(|(checked, _)| checked.errors().next().is_none())
        .filter(|(checked, _)| !checked.program.agents.is_empty())
        .map(|(checked, files)| Sample {
            name: files.first().map(|f| f.name.clone()).unwrap_or_default(),
            sources: checked.sources,
            program: checked.program,
        })
        .collect()
}

/// Losses on the way back that neither report announces, by the end of the file's name and a part of
/// the path, each with its reason.
const SILENT: &[(&str, &str, &str)] = &[];

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn programs_of_others_lose_only_what_was_announced() {
    let problems: Vec<String> = third_party_samples()
        .par_iter()
        .flat_map_iter(|sample| targets().flat_map(|target| silent_losses(sample, target)))
        .filter(|problem| {
            !SILENT.iter().any(|(file, path, _)| problem.contains(file) && problem.contains(path))
        })
        .collect();
    report("silent losses", &problems);
}

/// Written anew in its own language, nothing tells a program from what it was.
#[test]
fn the_same_language_does_the_same() {
    does_the_same_in_its_own_language(&samples());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn the_same_language_does_the_same_for_third_party_programs() {
    does_the_same_in_its_own_language(&third_party_samples());
}

fn does_the_same_in_its_own_language(all: &[Sample]) {
    let problems: Vec<String> = all
        .par_iter()
        .flat_map_iter(|sample| {
            let targets =
                native(&sample.program).into_iter().filter(|t| targets().any(|w| w == *t));
            targets.filter_map(|target| {
                let mut done = convert(languages(), &sample.program, &sample.sources, target);
                done.verify(&sample.program, &sample.sources);
                let proof = done.report.proof.as_ref().unwrap();
                // What the report announces here is what a dialect that is not a target loses.
                let same = matches!(proof.verdict, Verdict::Same | Verdict::SameButAnnounced);
                let told = proof.text(["source", "output"]);
                (!same).then(|| format!("{} to {}:\n{told}", sample.name, target.name()))
            })
        })
        .collect();
    report("programs that do something else", &problems);
}

/// Whatever the language, no conversation tells the output from the source unless the report says why.
#[test]
fn whatever_differs_is_announced() {
    differences_are_announced(&samples());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn whatever_differs_in_third_party_programs_is_announced() {
    differences_are_announced(&third_party_samples());
}

fn differences_are_announced(all: &[Sample]) {
    // Two notations of ABL are one language, and two dialects of Agent Script do the same.
    let alike = [targets::ABL_YAML, targets::AGENT_SCRIPT_BASE];
    let different = || targets().filter(|target| !alike.contains(target));
    let problems: Vec<String> = all
        .par_iter()
        .flat_map_iter(|sample| {
            different().filter_map(|target| {
                let mut done = convert(languages(), &sample.program, &sample.sources, target);
                done.verify(&sample.program, &sample.sources);
                let proof = done.report.proof.as_ref().unwrap();
                let told = proof.text(["source", "output"]);
                (proof.verdict == Verdict::Different)
                    .then(|| format!("{} to {}:\n{told}", sample.name, target.name()))
            })
        })
        .collect();
    report("programs that do something else silently", &problems);
}
