//! What the rules that prove something find in third-party agents: each finding has been looked at, and the
//! list says why it is right. Nothing of error level is among them that a reviewer would call false.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_lang_abl::Options;
use agentir_lint::Group;
use agentir_tests::check::{File, check};
use agentir_tests::samples::{external_abl, external_agent_script, external_root};
use std::collections::BTreeMap;
use std::path::Path;

/// The reviewed findings: rule, file and line, why.
const REVIEWED: &str = include_str!("reviewed.txt");

/// Whether a rule is one of those that are reviewed here.
fn proves(name: &str) -> bool {
    let group = agentir_lint::rule(name).map(|r| r.group);
    matches!(group, Some(Group::Proofs | Group::Data))
        || matches!(name, "unreachable-branch" | "type-mismatch" | "exposed-sensitive-data")
}

/// The programs of the corpus. Parts of documents are not programs.
fn programs() -> Vec<(Vec<File>, Options)> {
    let part = |f: &File| f.name.contains("fragment");
    let whole = external_abl().into_iter().filter(|s| !s.files.iter().any(part));
    let mut all: Vec<(Vec<File>, Options)> =
        whole.map(|s| (s.files, Options { version: s.version, fragment: false })).collect();
    all.extend(external_agent_script().into_iter().map(|f| (vec![f], Options::default())));
    let root = external_root();
    bots(&root.join("adl"), &root, &mut all);
    all
}

/// The bots of ADL: each folder in which there is one.
fn bots(folder: &Path, root: &Path, all: &mut Vec<(Vec<File>, Options)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut here: Vec<File> = Vec::new();
    for path in &paths {
        if path.is_dir() {
            bots(path, root, all);
        } else if path.extension().is_some_and(|e| e == "yml" || e == "yaml" || e == "py")
            && let Ok(text) = std::fs::read_to_string(path)
        {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            here.push(File { name, text });
        }
    }
    if here.iter().any(|f| agentir_lang_adl::is_adl(&f.name, &f.text)) {
        all.push((here, Options::default()));
    }
}

#[test]
#[cfg_attr(not(external_corpus), ignore = "needs the external corpus (AGENTIR_EXTERNAL_CORPUS)")]
fn findings_in_agents_by_others_are_reviewed() {
    let mut reviewed: BTreeMap<&str, &str> = BTreeMap::new();
    for line in REVIEWED.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let (finding, why) = line.split_once(" — ").unwrap_or_else(|| panic!("no reason: {line}"));
        reviewed.insert(finding, why);
    }
    let mut problems = Vec::new();
    for (files, options) in programs() {
        let checked = check(&files, options);
        for found in checked.diagnostics.iter().filter(|d| proves(d.rule.0)) {
            let (name, line) = checked.place(found.primary.span);
            let finding = format!("{} {name}:{line}", found.rule.0);
            if reviewed.remove(finding.as_str()).is_none() {
                problems.push(format!("not reviewed: {}", checked.line(found)));
            }
        }
    }
    problems.extend(reviewed.keys().map(|finding| format!("no longer found: {finding}")));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
