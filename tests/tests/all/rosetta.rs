//! The same agents in several languages lower to the same IR; see `corpus/README.md`.
//!
//! Nothing may differ but what only one of the languages asks for ([`REQUIRED`]) and where an agent comes
//! from, which [`NormalizedProgram`] leaves out.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests end by panicking")]

use agentir_compare::{Difference, NormalizedProgram, Verdict, differences};
use agentir_diagnostics::Severity;
use agentir_lang_abl::Options;
use agentir_tests::check::{Checked, File, check, compare};
use agentir_tests::samples::{files_below, root};
use std::path::Path;

/// What Agent Script requires and other languages leave to the platform.
const REQUIRED: &[&str] =
    &[".messages.error", ".extensions.agent-script.config", ".extensions.agent-script.access"];

fn run(folder: &Path) -> Checked {
    let files: Vec<File> = files_below(folder);
    assert!(!files.is_empty(), "nothing in {}", folder.display());
    check(&files, Options::default())
}

fn folders(at: &Path) -> Vec<std::path::PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(at).unwrap().map(|e| e.unwrap().path()).collect();
    all.sort();
    all
}

/// The differences, as lines, so that a failure can be read.
fn differ(left: &Checked, right: &Checked) -> Vec<String> {
    let side = |checked: &Checked| NormalizedProgram::new(&checked.program);
    let all = differences(&side(left), &side(right));
    let required = |d: &&Difference| !REQUIRED.iter().any(|r| d.path.contains(r));
    let line = |d: &Difference| {
        let [left, right] = [&d.left, &d.right].map(|side| side.as_ref().map(|(value, _)| value));
        format!("{}: {left:?} / {right:?}", d.path)
    };
    all.iter().filter(required).map(line).collect()
}

#[test]
fn one_agent_in_several_languages_is_one_agent() {
    let mut table = String::new();
    for agent in folders(&root().join("corpus/rosetta")) {
        let name = agent.file_name().unwrap().to_string_lossy().into_owned();
        let mut first: Option<(String, Checked)> = None;
        let mut languages = Vec::new();
        for folder in folders(&agent) {
            let language = folder.file_name().unwrap().to_string_lossy().into_owned();
            let checked = run(&folder);
            let errors: Vec<_> = checked
                .diagnostics
                .iter()
                .filter(|d| d.severity == Severity::Error)
                .map(|d| checked.line(d))
                .collect();
            assert!(errors.is_empty(), "{errors:?}");
            if let Some((other, before)) = &first {
                let found = differ(before, &checked).join("\n  ");
                assert!(found.is_empty(), "{name}: {other} / {language} differ:\n  {found}\n");
                let compared = compare(before, &checked);
                let told = compared.text([other, &language]);
                let required = |path: &str| REQUIRED.iter().any(|r| path.contains(r));
                let open = compared.values.different.iter().filter(|one| !required(&one.path));
                assert_eq!(open.count(), 0, "{name}: {other} / {language}\n{told}");
                let behaves = compared.behaviour.different.is_empty()
                    && compared.behaviour.undecided.is_empty()
                    && compared.conditions.different.is_empty()
                    && compared.conditions.undecided == 0;
                assert!(behaves, "{name}: {other} / {language}\n{told}");
                // Truth values in texts, for one, are written in two ways.
                let all_same =
                    compared.values.different.is_empty() && compared.not_compared.is_empty();
                assert_eq!(compared.verdict == Verdict::Same, all_same, "{told}");
            } else {
                first = Some((language.clone(), checked));
            }
            languages.push(language);
        }
        assert!(languages.len() > 1, "{name} is there only once");
        table += &format!("| `{name}` | {} |\n", languages.join(", "));
    }
    let documented = std::fs::read_to_string(root().join("corpus/README.md")).unwrap();
    assert!(documented.contains(&table), "corpus/README.md should say:\n\n{table}");
}

/// What is compared is not empty: a change of one word shows.
#[test]
fn a_change_shows() {
    let at = root().join("corpus/rosetta/hub/adl");
    let before = run(&at);
    for (from, to) in [("books rooms", "cleans rooms"), ("    - kitchen\n", "")] {
        let mut files = files_below(&at);
        for file in &mut files {
            assert!(file.text.contains(from));
            file.text = file.text.replace(from, to);
        }
        let after = check(&files, Options::default());
        assert_ne!(differ(&before, &after), [""; 0], "{from} → {to}");
    }
}
