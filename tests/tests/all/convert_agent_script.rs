//! Agent Script as a target: what others wrote comes back as it was, and the same agent in another
//! language becomes the one that was written by hand.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{languages, targets};
use agentir_convert::{Conversion, NormalizedProgram, Target, convert, differences};
use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check};
use agentir_tests::samples::{
    adl, external_agent_script, external_documents, external_files, files_below, ours, root,
};
use std::collections::BTreeMap;

fn errors(done: &Conversion) -> Vec<String> {
    let errors = done.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| format!("{}: {}", d.rule.0, d.message)).collect()
}

fn read(files: &[File]) -> Checked {
    check(files, Options::default())
}

fn run(files: &[File], target: Target) -> (Checked, Conversion) {
    let checked = read(files);
    let done = convert(languages(), &checked.program, &checked.sources, target);
    (checked, done)
}

/// The documents of agentfabric are of a dialect that is not a target, and some are broken on purpose.
#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn documents_of_others_come_back_as_they_were() {
    let mut problems = Vec::new();
    let mut compared = 0;
    for file in external_agent_script() {
        let (checked, done) = run(std::slice::from_ref(&file), targets::AGENT_SCRIPT);
        let broken = checked.diagnostics.iter().any(|d| d.severity == Severity::Error);
        if broken || file.name.contains("agentfabric") || file.text.contains("agentfabric") {
            continue;
        }
        compared += 1;
        let found = differences(
            &NormalizedProgram::new(&checked.program),
            &NormalizedProgram::new(&done.program),
        );
        for d in found.iter().take(4) {
            let side = |v: &Option<(serde_json::Value, _)>| {
                v.as_ref().map_or_else(|| "nothing".to_owned(), |(v, _)| v.to_string())
            };
            problems.push(format!(
                "{}: {}: {} / {}",
                file.name,
                d.path,
                side(&d.left),
                side(&d.right)
            ));
        }
        problems.extend(errors(&done).into_iter().map(|e| format!("{}: {e}", file.name)));
    }
    assert!(compared > 80, "only {compared} were compared");
    assert!(problems.is_empty(), "{} in {compared}:\n{}", problems.len(), problems.join("\n"));
}

/// The words of a document but for comments, with numbers as numbers. `topic` is the older word for `subagent`, inputs are
/// optional as a rule, and an arrow before a procedure is a matter of taste.
fn words_of(text: &str) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    for line in lines.filter(|line| line.trim() != "is_required: False") {
        let line = line.split_once(" # ").map_or(line, |(before, _)| before);
        let line = match line.strip_prefix("topic ") {
            Some(rest) => format!("subagent {rest}"),
            None => line.replace("@topic.", "@subagent.").replace("->", ""),
        };
        let apart = |c: char| c.is_whitespace() || "\"=:|,[]()\\-!".contains(c);
        for word in line.split(apart).filter(|word| !word.is_empty()) {
            let number = word.parse::<f64>().map(|number| number.to_string());
            *words.entry(number.unwrap_or_else(|_| word.to_owned())).or_default() += 1;
        }
    }
    words
}

/// Documents that change in the same language, by the end of their names, with the reason.
const SAID_OTHERWISE: &[(&str, &str)] = &[
    ("CustomerServiceAgent.agent", "two texts under opposite conditions become `if` and `else`"),
    ("connection_with_unified_email.agent", "comments inside of texts, and texts with escapes"),
    ("weather.agent", "several inputs behind one `with`"),
];

/// Texts, numbers and references of documents that the vendor's compiler takes are the same in the same language, word by
/// word, whatever AgentIR makes of them.
#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn documents_that_the_vendor_compiles_keep_every_word() {
    let verdicts =
        agentir_tests::samples::external_root().join("agentscript/official-verdicts.json");
    let verdicts: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(verdicts).unwrap()).unwrap();
    let accepted = |file: &&File| {
        let said = verdicts.get(&file.name);
        ["parseErrors", "lintErrors", "compileErrors"].iter().all(|count| {
            said.is_some_and(|said| said.get(*count).and_then(|n| n.as_u64()) == Some(0))
        }) && !file.name.contains("agentfabric")
    };
    let mut problems = Vec::new();
    let mut compared = 0;
    let all = external_agent_script();
    for file in all.iter().filter(accepted) {
        let target = match file.text.contains("# @dialect: agentscript") {
            true => targets::AGENT_SCRIPT_BASE,
            false => targets::AGENT_SCRIPT,
        };
        let (_, done) = run(std::slice::from_ref(file), target);
        compared += 1;
        let (before, after) = (words_of(&file.text), words_of(&done.files.first().unwrap().text));
        let known = SAID_OTHERWISE.iter().any(|(name, _)| file.name.ends_with(name));
        if (before == after) == known {
            let lost = before.iter().filter(|(word, n)| after.get(*word) != Some(n));
            let new = after.iter().filter(|(word, n)| before.get(*word) != Some(n));
            problems.push(format!(
                "{}: lost {:?}, new {:?}",
                file.name,
                lost.collect::<Vec<_>>(),
                new.collect::<Vec<_>>()
            ));
        }
    }
    assert!(compared > 100, "only {compared} were compared");
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}

/// What Agent Script requires and other languages leave to the platform.
const REQUIRED: &[&str] =
    &[".messages.error", ".extensions.agent-script.config", ".extensions.agent-script.access"];

#[test]
fn the_same_agent_becomes_what_was_written_by_hand() {
    let mut compared = 0;
    for folder in std::fs::read_dir(root().join("corpus/rosetta")).unwrap() {
        let folder = folder.unwrap().path();
        let by_hand = folder.join("agent-script");
        if !by_hand.is_dir() {
            continue;
        }
        for other in std::fs::read_dir(&folder).unwrap() {
            let other = other.unwrap().path();
            let (checked, done) = run(&files_below(&other), targets::AGENT_SCRIPT);
            assert!(errors(&done).is_empty(), "{}: {:?}", other.display(), errors(&done));
            let found = differences(
                &NormalizedProgram::new(&checked.program),
                &NormalizedProgram::new(&done.program),
            );
            let found: Vec<_> = found
                .iter()
                .filter(|d| d.left.is_some() || !REQUIRED.iter().any(|r| d.path.contains(r)))
                .collect();
            let text = &done.files.first().unwrap().text;
            assert!(found.is_empty(), "{}: {found:#?}\n{text}", other.display());
            compared += 1;
        }
    }
    assert!(compared >= 8, "only {compared} were compared");
}

/// The path without what things are called: `agents.*.gather.fields.*.prompt`.
fn kind(path: &str) -> String {
    let parts = path.split(['.', '[']).enumerate().map(|(i, part)| match part.strip_suffix(']') {
        Some(_) => "*",
        None if i == 1 => "*",
        None => part,
    });
    parts.collect::<Vec<_>>().join(".")
}

/// Who reads the report is told of each loss how it is said instead, or why it cannot be.
#[test]
fn every_loss_is_explained() {
    let mut all: Vec<Vec<File>> = ours("valid").into_iter().map(|s| s.files).collect();
    all.extend(adl("valid"));
    let mut unexplained: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut totals = [0; 3];
    for files in all {
        let (_, done) = run(&files, targets::AGENT_SCRIPT);
        let sum = done.report.totals;
        for (total, one) in totals.iter_mut().zip([sum.kept, sum.approximated, sum.dropped]) {
            *total += one;
        }
        let generic = |e: &&agentir_convert::Entry| {
            e.how.as_deref().is_some_and(|how| how.ends_with("has no place for it"))
        };
        for entry in done.report.losses().filter(generic) {
            let found = unexplained.entry(kind(&entry.path)).or_default();
            found.0 += 1;
            found.1 = entry.value.to_string();
        }
    }
    println!("kept, approximated, dropped: {totals:?}");
    let mut most: Vec<_> = unexplained.iter().collect();
    most.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let lines: Vec<_> =
        most.iter().map(|(path, (n, value))| format!("{n:4} {path}: {value}")).collect();
    assert!(lines.is_empty(), "unexplained:\n{}", lines.join("\n"));
}

/// Whatever others wrote in other languages becomes a document without errors, in both dialects.
#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn programs_of_others_become_documents_without_errors() {
    let abl = external_documents()
        .into_iter()
        .map(|s| (s.files, Options { version: s.version, ..Options::default() }));
    let adl = external_files("adl").into_iter().filter(|f| f.name.ends_with(".yml"));
    let adl = adl.map(|f| (vec![f], Options::default()));
    let mut problems = Vec::new();
    let mut converted = 0;
    for (files, options) in abl.chain(adl) {
        let checked = check(&files, options);
        if checked.program.agents.is_empty() {
            continue;
        }
        converted += 1;
        for target in [targets::AGENT_SCRIPT, targets::AGENT_SCRIPT_BASE] {
            let done = convert(languages(), &checked.program, &checked.sources, target);
            let name = files.first().map_or("", |f| f.name.as_str());
            problems.extend(errors(&done).into_iter().map(|e| format!("{name}: {e}")));
        }
    }
    assert!(converted > 20, "only {converted} were converted");
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems.join("\n"));
}
