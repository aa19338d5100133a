//! Bot exports in zip files, as people give them to the program.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use common::{CACHE, agentir, code, run, samples, stderr};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Output;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(samples().join("xo").join(name)).unwrap()
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Converts what is in `bytes`; the folder is the place of everything.
fn convert(folder: &Path, bytes: &[u8]) -> (Output, PathBuf) {
    let (input, output) = (folder.join("export.zip"), folder.join("out"));
    std::fs::write(&input, bytes).unwrap();
    let report = folder.join("report.json");
    let done = agentir(folder, Path::new(CACHE))
        .args(["convert", "--to", "abl", "--force"])
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .arg("--report")
        .arg(&report)
        .output()
        .unwrap();
    (done, output)
}

fn files_below(folder: &Path) -> Vec<String> {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(at) = open.pop() {
        for entry in std::fs::read_dir(at).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                let path = entry.path();
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn an_archive_becomes_a_project() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = archive(&[
        ("icon.png", b"\x89PNG"),
        ("export/botDefinition.json", &sample("valid/bicycle_rental/botDefinition.json")),
        ("export/config.json", &sample("valid/bicycle_rental/config.json")),
        ("export/custom.js", b"function f() {}"),
    ]);
    let (done, output) = convert(folder.path(), &bytes);
    // Settings of the platform have no place in ABL.
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    assert_eq!(
        files_below(&output),
        [
            "MIGRATION.md",
            "agents/bicycle_rental.agent.abl",
            "agents/fallback.agent.abl",
            "agents/rent.agent.abl",
            "agents/report_damage.agent.abl",
            "agents/send_receipt.agent.abl",
            "behavior_profiles/rent_de.behavior_profile.abl",
            "behavior_profiles/rent_voice.behavior_profile.abl",
            "project.json",
        ]
    );
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    for said in ["custom.js", "icon.png", "Europe/Berlin", "settings.kore-xo.variables"] {
        assert!(report.contains(said), "{said}");
    }
    assert_eq!(code(&run(&output, Path::new(CACHE), &["check", "."])), 0);
}

#[test]
fn archives_that_cannot_be_read_are_answered() {
    let huge = vec![b' '; (64 << 20) + 1];
    let broken = {
        let mut bytes = archive(&[("botDefinition.json", b"{}")]);
        bytes.truncate(20);
        bytes
    };
    for (what, bytes, said) in [
        ("nothing in it", archive(&[]), "contains no botDefinition.json"),
        ("no bot in it", archive(&[("readme.txt", b"x")]), "contains no botDefinition.json"),
        ("too large", archive(&[("botDefinition.json", &huge)]), "larger than 64 MB"),
        ("cut off", broken, "cannot be read"),
        ("no archive", b"PK\x03\x04 and nothing more".to_vec(), "cannot be read"),
        ("no JSON", archive(&[("botDefinition.json", b"{\"dialogs\": [")]), "invalid JSON"),
        ("no text", archive(&[("botDefinition.json", b"{\xff}")]), "not UTF-8"),
        ("UTF-16", archive(&[("botDefinition.json", b"\xff\xfe{\0}\0")]), "save it as UTF-8"),
        ("no bot", archive(&[("botDefinition.json", b"{}")]), "does not describe a bot"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (done, output) = convert(folder.path(), &bytes);
        let errors = stderr(&done);
        assert_eq!(done.status.code(), Some(2), "{what}: {errors}");
        assert!(errors.contains(said), "{what}: {errors}");
        assert!(!output.exists(), "{what}");
    }
}

#[test]
fn names_in_an_archive_are_no_paths() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("a/b");
    std::fs::create_dir_all(&inside).unwrap();
    let bytes = archive(&[
        ("../../botDefinition.json", &sample("invalid/library.json")),
        ("../../../evil.js", b"x"),
    ]);
    let (done, output) = convert(&inside, &bytes);
    assert_eq!(done.status.code(), Some(1), "{}", stderr(&done));
    assert!(output.join("project.json").is_file());
    let outside: Vec<_> =
        files_below(folder.path()).into_iter().filter(|f| !f.starts_with("a/b/")).collect();
    assert_eq!(outside, Vec::<String>::new());
    let made = files_below(&output).into_iter().map(|f| output.join(f));
    let made = made.chain([inside.join("report.json")]);
    for file in made {
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("q7Zt4LmW92xKcV8sRb3N"), "{}", file.display());
    }
    assert!(stderr(&done).contains("credential-not-copied"));
}

/// A folder with some exports, each in a folder of its own.
fn tree(exports: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in exports {
        let inside = folder.path().join("bots").join(name);
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(inside.join("botDefinition.json"), bytes).unwrap();
    }
    folder
}

#[test]
fn an_empty_export_does_not_keep_the_others_from_being_converted() {
    let folder = tree(&[
        ("rental", &sample("valid/bicycle_rental/botDefinition.json")),
        ("rental/old", b""),
        ("vans", &sample("valid/van_hire/botDefinition.json")),
    ]);
    let arguments = ["convert", "--to", "abl", "bots", "-o", "out"];
    let done = run(folder.path(), Path::new(CACHE), &arguments);
    assert_eq!(code(&done), 2, "{}", stderr(&done));
    assert!(stderr(&done).contains("1 program was not converted"), "{}", stderr(&done));
    let output = folder.path().join("out");
    for file in ["bicycle_rental/project.json", "van_hire/project.json", "van_hire/MIGRATION.md"] {
        assert!(output.join(file).is_file(), "{file}");
    }
    let summary = std::fs::read_to_string(output.join("SUMMARY.md")).unwrap();
    for part in [
        "2 converted, 1 not.",
        "| must do |",
        "| bots/rental/botDefinition.json | [bicycle_rental](bicycle_rental) | 5 |",
        "| bots/vans/botDefinition.json | [van_hire](van_hire) | 7 |",
        "- bots/rental/old/botDefinition.json: this file is empty",
    ] {
        assert!(summary.contains(part), "{part}\n{summary}");
    }
}

#[test]
fn an_export_and_what_it_becomes_have_the_same_conversations() {
    let folder = tree(&[("vans", &sample("valid/van_hire/botDefinition.json"))]);
    let arguments = ["convert", "--to", "abl", "bots/vans", "-o", "out"];
    let done = run(folder.path(), Path::new(CACHE), &arguments);
    assert_eq!(code(&done), 1, "{}", stderr(&done));
    for place in ["bots/vans", "out"] {
        let test = folder.path().join(place).join("van_hire.test.yaml");
        std::fs::write(test, sample("valid/van_hire/van_hire.test.yaml")).unwrap();
        let tested = run(folder.path(), Path::new(CACHE), &["test", place]);
        assert_eq!(code(&tested), 0, "{place}: {}{}", common::stdout(&tested), stderr(&tested));
    }
}

#[test]
fn a_hard_coded_secret_does_not_keep_an_agent_from_being_converted() {
    let folder = tempfile::tempdir().unwrap();
    let agent = "AGENT: Desk\n\nGOAL: \"Book\"\n\nTOOLS:\n  book() -> object\n    type: http\n    endpoint: \"https://a.invalid\"\n    headers:\n      Authorization: \"Bearer sk-q7Zt4LmW92xKcV8sRb3NZx81LmW92xKcV8sRb3Nq7t\"\n";
    std::fs::write(folder.path().join("desk.agent.abl"), agent).unwrap();
    let arguments = ["convert", "--to", "agent-script", "desk.agent.abl", "-o", "out"];
    let done = run(folder.path(), Path::new(CACHE), &arguments);
    assert_eq!(code(&done), 1, "{}", stderr(&done));
    assert!(stderr(&done).contains("hardcoded-secret"));
    assert!(!stderr(&done).contains("q7Zt4LmW92xKcV8sRb3N"));
    assert!(folder.path().join("out/desk.agent").is_file());
}
