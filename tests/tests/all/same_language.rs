//! What a conversion wrote is, converted to the same language again, what it was: byte for byte, with its comments, the
//! order of its parts, and what is left to do.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir::{Snapshot, Workspace, targets};
use agentir_convert::{OutputFile, Target};
use agentir_diagnostics::Severity;
use agentir_tests::samples::root;
use rayon::prelude::*;
use std::path::PathBuf;

/// The samples without errors, each a program on disk.
fn samples() -> Vec<PathBuf> {
    let valid =
        ["abl/valid", "abl/newest", "abl/legacy", "adl/valid", "agent-script/valid", "xo/valid"];
    let mut all = Vec::new();
    for folder in valid {
        let entries = std::fs::read_dir(root().join("corpus").join(folder)).unwrap();
        all.extend(entries.map(|entry| entry.unwrap().path()));
    }
    for construct in std::fs::read_dir(root().join("corpus/rosetta")).unwrap() {
        let languages = std::fs::read_dir(construct.unwrap().path()).unwrap();
        all.extend(languages.map(|entry| entry.unwrap().path()));
    }
    all.retain(|path| {
        let name = path.to_string_lossy();
        !name.ends_with(".test.yaml") && !name.ends_with(".md")
    });
    all.sort();
    all
}

/// What the first program of a workspace becomes; nothing if it does not become a program without errors.
fn converted(snapshot: &Snapshot, target: Target) -> Option<Vec<OutputFile>> {
    let (id, _) = snapshot.programs().next()?;
    let done = snapshot.convert(id, target)?;
    let wrong = done.diagnostics.iter().any(|d| d.severity == Severity::Error);
    (!wrong).then_some(done.files)
}

fn again(files: &[OutputFile], target: Target) -> Vec<OutputFile> {
    let mut workspace = Workspace::in_memory();
    for file in files {
        workspace.set_text(&file.path, file.text.as_str());
    }
    let snapshot = workspace.snapshot().unwrap();
    converted(&snapshot, target).unwrap_or_default()
}

/// The text of a file. What a project is called in its manifest is no part of the program, and a bot of another language may
/// be called otherwise than its first agent.
fn own_text(file: &OutputFile) -> String {
    let is_manifest = file.path == "project.json";
    let lines = file.text.lines().filter(|line| !(is_manifest && line.starts_with("  \"name\": ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// The first line in which two texts differ.
fn first_difference(one: &str, other: &str) -> String {
    let at = one.lines().zip(other.lines()).position(|(one, other)| one != other);
    let at = at.unwrap_or_else(|| one.lines().count().min(other.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end)").to_owned();
    format!("line {}:\n      {}\n      {}", at + 1, line(one), line(other))
}

#[test]
fn own_output_is_not_changed() {
    let samples = samples();
    assert!(samples.len() > 50, "{}", samples.len());
    let tried = |path: &PathBuf| -> Vec<Option<String>> {
        let mut workspace = Workspace::on_disk([path.clone()]);
        let snapshot = workspace.snapshot().unwrap();
        let mut all = Vec::new();
        let agentic = [targets::ABL, targets::AGENT_SCRIPT].into_iter().filter_map(Target::agentic);
        for target in targets::all().into_iter().chain(agentic) {
            let Some(first) = converted(&snapshot, target) else { continue };
            let second = again(&first, target);
            let name = format!("{} to {}", path.display(), target.name());
            let mut wrong = Vec::new();
            for file in &first {
                match second.iter().find(|other| other.path == file.path) {
                    None => wrong.push(format!("{}: gone", file.path)),
                    Some(other) if own_text(other) == own_text(file) => {}
                    Some(other) => {
                        let line = first_difference(&file.text, &other.text);
                        wrong.push(format!("{}: {line}", file.path));
                    }
                }
            }
            wrong.extend(
                second
                    .iter()
                    .filter(|other| first.iter().all(|file| file.path != other.path))
                    .map(|other| format!("{}: new", other.path)),
            );
            all.push((!wrong.is_empty()).then(|| format!("{name}:\n    {}", wrong.join("\n    "))));
        }
        all
    };
    let all: Vec<Option<String>> = samples.par_iter().flat_map_iter(tried).collect();
    assert!(all.len() > 250, "{}", all.len());
    let wrong: Vec<String> = all.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{} changed:\n{}", wrong.len(), wrong.join("\n"));
}
