//! What holds for every text, made from every sample: nothing panics, everything is answered in
//! time, every place lies inside its file, and what means nothing changes nothing.
//!
//! `AGENTIR_DENSE=1` cuts the texts at every character.

#![allow(clippy::panic, clippy::indexing_slicing, reason = "tests end by panicking")]

use agentir_diagnostics::Span;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check, json};
use agentir_tests::mutate::{damaged, harmless};
use agentir_tests::samples::{Sample, adl, agent_script, all_ours, external_abl};
use cpu_time::ThreadTime;
use rayon::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Duration;

/// The CPU time after which a small document is taken to be one that hangs.
const WATCHDOG: Duration = Duration::from_mins(1);

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result, or the panic's message. It is told in the report of the test: printed as well, a
/// hundred of them would bury it. Panics of other tests are printed as ever.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                loud(panic);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(false);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(ToString::to_string);
        text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
    })
}

type Input = (File, Options);

/// Each file of some samples alone, as it is read there.
fn alone(samples: impl Iterator<Item = Sample>) -> impl Iterator<Item = Input> {
    samples
        .flat_map(|s| {
            let options = Options { version: s.version, fragment: s.fragment };
            s.files.into_iter().map(move |f| (f, options))
        })
        .filter(|(f, _)| !f.name.ends_with(".json"))
}

fn files() -> Vec<Input> {
    let adl = ["valid", "invalid"].into_iter().flat_map(adl).flatten();
    let scripts = ["valid", "invalid"].into_iter().flat_map(agent_script);
    let adl = adl.map(|f| (f, Options::default()));
    alone(all_ours().into_iter().chain(scripts)).chain(adl).collect()
}

fn third_party_files() -> Vec<Input> {
    alone(external_abl().into_iter()).collect()
}

fn report(what: &str, mut problems: Vec<String>) {
    problems.sort();
    let more = problems.len().saturating_sub(40);
    problems.truncate(40);
    assert!(problems.is_empty(), "{what}:\n  {}\n  and {more} more\n", problems.join("\n  "));
}

/// Checks a text and looks at the answer.
fn problems_of(file: &File, options: Options, what: &str, text: String) -> Vec<String> {
    let mutant = File { name: file.name.clone(), text };
    let start = ThreadTime::now();
    let result = caught(|| {
        let checked = check(std::slice::from_ref(&mutant), options);
        // Printing must not panic either.
        let _ = json(&checked.program);
        checked
    });
    let took = start.elapsed();
    let at = format!("{} {what}", file.name);
    let mut problems = Vec::new();
    match result {
        Err(message) => problems.push(format!("{at}: panic: {message}")),
        Ok(checked) => {
            problems.extend(misplaced(&checked).into_iter().map(|m| format!("{at}: {m}")))
        }
    }
    if took > WATCHDOG {
        problems.push(format!("{at}: took {took:?}"));
    }
    problems
}

/// Places of findings that are not in their file or split a character.
fn misplaced(checked: &Checked) -> Vec<String> {
    let mut wrong = Vec::new();
    for d in &checked.diagnostics {
        let mut all = Vec::new();
        d.clone().spans_mut(&mut |span| all.push(*span));
        for span in all {
            let inside = checked.sources.get(span.file).is_some_and(|f| is_inside(&f.text, span));
            if !inside {
                wrong.push(format!("{} at {span:?} is outside", d.rule.0));
            }
        }
    }
    wrong
}

fn is_inside(text: &str, span: Span) -> bool {
    span.start <= span.end && text.get(span.range()).is_some()
}

#[test]
fn damaged_texts_are_answered() {
    damaged_files_are_answered(files());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn damaged_texts_of_others_are_answered() {
    damaged_files_are_answered(third_party_files());
}

fn damaged_files_are_answered(files: Vec<Input>) {
    let dense = std::env::var_os("AGENTIR_DENSE").is_some();
    let stride = if dense { 1 } else { 83 };
    let problems = files
        .into_par_iter()
        .flat_map_iter(|(file, options)| {
            let mut problems = problems_of(&file, options, "as it is", file.text.clone());
            for (what, text) in damaged(&file.text, stride) {
                problems.extend(problems_of(&file, options, &what, text));
            }
            problems
        })
        .collect();
    report("texts that were not answered well", problems);
}

#[test]
fn harmless_changes_change_nothing() {
    harmless_changes_to_files_change_nothing(files());
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn harmless_changes_to_texts_of_others_change_nothing() {
    harmless_changes_to_files_change_nothing(third_party_files());
}

fn harmless_changes_to_files_change_nothing(files: Vec<Input>) {
    let problems = files
        .into_par_iter()
        .flat_map_iter(|(file, options)| {
            let ir = |text: &str| {
                let file = File { name: file.name.clone(), text: text.to_owned() };
                let checked = check(&[file], options);
                let findings: Vec<_> = checked.diagnostics.iter().map(|d| d.rule).collect();
                (json(&checked.program).to_string(), findings)
            };
            let (expected, expected_findings) = ir(&file.text);
            let mut problems = Vec::new();
            for (what, text) in harmless(&file.text) {
                let (got, findings) = ir(&text);
                if got != expected {
                    problems.push(format!(
                        "{} {what}: {}",
                        file.name,
                        first_difference(&expected, &got)
                    ));
                }
                if findings != expected_findings {
                    problems.push(format!(
                        "{} {what}: {expected_findings:?} became {findings:?}",
                        file.name
                    ));
                }
            }
            problems
        })
        .collect();
    report("harmless changes that changed the IR", problems);
}

fn first_difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let from = a.floor_char_boundary(at.saturating_sub(30));
    let show = |s: &str| s[from..s.floor_char_boundary((at + 30).min(s.len()))].to_owned();
    format!("`{}` became `{}`", show(a), show(b))
}
