//! The house in order: what documents name exists, nothing is left open, nothing grows too large.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_tests::samples::root;
use std::fs;
use std::path::{Path, PathBuf};

/// Longer files are several files.
const MAX_LINES: usize = 800;

/// Files that may be longer, with the reason.
const LONG: &[(&str, &str)] = &[];

/// All files below the root that git would track, as far as they are text.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    fn below(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap_or_default();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    below(&path, endings, found);
                }
            } else if endings.iter().any(|end| name.ends_with(end)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    below(&root(), endings, &mut found);
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

fn report(what: &str, problems: &[String]) {
    assert!(problems.is_empty(), "{what}:\n  {}\n", problems.join("\n  "));
}

#[test]
fn paths_in_documents_exist() {
    let mut problems = Vec::new();
    // Paths of the repository, of its crates, and the folders of a project, as a sample has them.
    let homes = ["", "crates", "corpus/abl/valid/city_services"].map(|home| root().join(home));
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(document)).unwrap_or_default();
        if text.is_empty() {
            problems.push(format!("{document} is missing"));
        }
        let mut fenced = false;
        for (number, line) in text.lines().enumerate() {
            if line.starts_with("```") {
                fenced = !fenced;
            } else if !fenced {
                let quoted = line.split('`').skip(1).step_by(2).filter(|q| looks_like_path(q));
                let links = line.split("](").skip(1).filter_map(|l| l.split(')').next());
                let links = links.filter(|l| !l.starts_with("http") && !l.starts_with('#'));
                for path in quoted.chain(links) {
                    let there = homes.iter().any(|home| home.join(path).exists());
                    if !there {
                        problems.push(format!("{document}:{} `{path}` does not exist", number + 1));
                    }
                }
            }
        }
    }
    report("documents name what is not there", &problems);
}

/// Whether a text in backticks is a path of this repository: it has a `/` and neither white space nor
/// a place for a name.
fn looks_like_path(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    text.contains('/')
        && !text.starts_with('/')
        && text.chars().all(plain)
        && !text.contains("NAME")
}

#[test]
fn nothing_is_left_open() {
    // Written so that this file does not find itself.
    let marks = [
        "TO".to_owned() + "DO",
        "FIX".to_owned() + "ME",
        "todo".to_owned() + "!(",
        "unimplemented".to_owned() + "!(",
    ];
    let mut problems = Vec::new();
    let scaffold = root().join("xtask/src/new_rule.rs");
    for path in files(&[".rs", ".lalrpop", ".md", ".toml"]).into_iter().filter(|p| *p != scaffold) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if marks.iter().any(|mark| line.contains(mark)) {
                problems.push(format!("{}:{}: {}", name(&path), number + 1, line.trim()));
            }
        }
    }
    report("left open", &problems);
}

#[test]
fn every_crate_says_what_it_never_does() {
    let problems: Vec<String> = files(&["lib.rs"])
        .into_iter()
        .filter(|p| !fs::read_to_string(p).unwrap().contains("//! *Invariant*:"))
        .map(|p| name(&p))
        .collect();
    report("no `*Invariant*:` line at the top of", &problems);
}

#[test]
fn every_rule_has_a_file() {
    let rules = root().join("crates/agentir-lint/src/rules");
    let mut problems = Vec::new();
    for path in files(&[".rs"]).into_iter().filter(|p| p.parent() == Some(&rules)) {
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let rule = stem.replace('_', "-");
        if stem != "mod" && agentir_lint::rule(&rule).is_none() {
            problems.push(format!("{} holds no rule `{rule}` of the catalogue", name(&path)));
        }
    }
    report("files that are not registered", &problems);
}

#[test]
fn files_are_short() {
    let mut problems = Vec::new();
    for path in files(&[".rs", ".lalrpop"]) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let excused = LONG.iter().any(|(long, _)| name(&path) == *long);
        if lines > MAX_LINES && !excused {
            problems.push(format!("{} has {lines} lines", name(&path)));
        }
        if excused && lines <= MAX_LINES {
            problems.push(format!("{} is short enough now", name(&path)));
        }
    }
    report("files of more than 800 lines are several files", &problems);
}

#[test]
fn schemas_are_fresh() {
    let mut problems = Vec::new();
    for (file, expected) in agentir_tests::schemas::published() {
        let text = fs::read_to_string(root().join("schemas").join(file)).unwrap_or_default();
        if text != serde_json::to_string_pretty(&expected).unwrap() + "\n" {
            problems.push(format!(
                "schemas/{file} is not what the code says; run `cargo xtask schemas`"
            ));
        }
    }
    report("stale", &problems);
}

/// Everything in the languages says what it is for and where it is specified, and nothing else is said.
#[test]
fn every_word_of_a_language_is_documented() {
    let mut documented = 0;
    for language in agentir::languages().iter() {
        let Some(docs) = language.docs() else { continue };
        let all = language.reference();
        assert!(all.len() > 60, "{}", all.len());
        assert_eq!(docs.problems(&all), [""; 0]);
        documented += 1;
    }
    assert!(documented > 2, "{documented}");
}
