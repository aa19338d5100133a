//! What is written, and where: nothing outside of the output folder, nothing that is torn, nothing left behind.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{GOOD, agentir, code, stderr, write};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, args: &[&str]) -> Output {
    agentir(folder, folder).args(args).output().unwrap()
}

fn agent(name: &str) -> String {
    format!("AGENT: {name}\n\nGOAL: \"Take orders\"\n\n")
}

#[test]
fn programs_of_one_name_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for (place, name) in [
        ("one", "Foo"),
        ("two", "Foo"),
        ("three", "foo"),
        ("four", "CON"),
        ("x", "straße"),
        ("y", "STRASSE"),
    ] {
        let path = format!("col/{place}/a.agent.abl");
        write(
            folder.path(),
            &[(&path, &agent(name)), (&format!("col/{place}/project.json"), "{}")],
        );
    }
    let output = run(folder.path(), &["convert", "--to", "abl", "-o", "out", "col"]);
    assert!(code(&output) < 2, "{}", stderr(&output));
    let mut folders: Vec<String> = fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap().to_lowercase())
        .collect();
    folders.sort();
    assert_eq!(folders, ["con_agent", "foo", "foo-2", "foo-3", "strasse", "strasse-2"]);
}

#[test]
fn nothing_is_written_through_links_below_the_output_folder() {
    for force in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        write(folder.path(), &[("a.agent.abl", GOOD)]);
        let convert = |out: &str| {
            let mut args = vec!["convert", "--to", "agent-script", "-o", out, "a.agent.abl"];
            args.extend(force.then_some("--force"));
            run(folder.path(), &args)
        };
        assert!(code(&convert("real")) < 2);
        let file = fs::read_dir(folder.path().join("real")).unwrap().next().unwrap().unwrap();
        // The folder itself may be a link, but not out of the working directory: it may come with what is converted.
        fs::create_dir(folder.path().join("other")).unwrap();
        symlink(folder.path().join("other"), folder.path().join("inside")).unwrap();
        assert!(code(&convert("inside")) < 2);
        assert!(folder.path().join("other").join(file.file_name()).exists());
        symlink(elsewhere.path(), folder.path().join("link")).unwrap();
        for out in ["link", "link/below"] {
            let output = convert(out);
            assert_eq!(code(&output), 2, "{}", stderr(&output));
            assert!(stderr(&output).contains("out of this folder"), "{}", stderr(&output));
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        // A file in it may not.
        fs::create_dir(folder.path().join("out")).unwrap();
        let victim = elsewhere.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, folder.path().join("out").join(file.file_name())).unwrap();
        let output = convert("out");
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("is a link"), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }
}

#[test]
fn leftovers_of_killed_writers_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let untidy = GOOD.replace(": ", ":   ");
    write(
        folder.path(),
        &[
            ("a.agent.abl", &untidy),
            (".agentir-partial-aZ09aZ09aZ09", "half"),
            // Not of ours, whatever they are called.
            (".agentir-baseline.json", "{}"),
            (".agentir-partial-notes", "x"),
            ("mine", "x"),
        ],
    );
    // It was left just now.
    assert_eq!(code(&run(folder.path(), &["fmt", "a.agent.abl"])), 0);
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let kept = [".agentir-baseline.json", ".agentir-partial-notes", "a.agent.abl", "mine"];
    assert_eq!(names, kept);
}

#[test]
fn what_cannot_be_written_is_not_counted_and_is_told_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let untidy = GOOD.replace(": ", ":   ");
    write(folder.path(), &[("a.agent.abl", GOOD), ("in/b.agent.abl", &untidy)]);
    symlink("nowhere", folder.path().join("lost")).unwrap();
    let told = |args: &[&str]| {
        let output = run(folder.path(), args);
        (code(&output), stderr(&output))
    };
    let convert = |out: &str| told(&["convert", "--to", "adl", "-o", out, "a.agent.abl"]);
    for (out, why) in [
        ("lost", "lost cannot be written: it is a link that leads nowhere"),
        ("/dev/null", "/dev/null is not a folder, but `-o` names one"),
        ("a.agent.abl", "a.agent.abl is not a folder, but `-o` names one"),
    ] {
        let (code, said) = convert(out);
        assert!(code == 2 && said.contains(why), "{out}: {said}");
    }
    let (code, said) = told(&["check", "-o", "sarif=lost", "a.agent.abl"]);
    assert!(code == 2 && said.contains("it is a link that leads nowhere"), "{said}");
    let (code, said) = told(&["check", "-o", "sarif=/dev/null", "a.agent.abl"]);
    assert_eq!(code, 0, "{said}");
    let (code, said) = told(&["test", "--generate", "-o", "/dev/null", "a.agent.abl"]);
    assert_eq!(code, 0, "{said}");
    // A folder in place of the configuration hides what it says.
    fs::create_dir(folder.path().join("agentir.toml")).unwrap();
    let (code, said) = told(&["check", "a.agent.abl"]);
    assert!(code == 2 && said.contains("this configuration cannot be read"), "{said}");
    fs::remove_dir(folder.path().join("agentir.toml")).unwrap();
    // Files may have no length.
    let program = agentir(folder.path(), folder.path());
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" fmt in"]);
    let output = command.arg(program.get_program()).current_dir(folder.path()).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("0 files formatted"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("in/b.agent.abl")).unwrap(), untidy);
    assert_eq!(fs::read_dir(folder.path().join("in")).unwrap().count(), 1);
}
