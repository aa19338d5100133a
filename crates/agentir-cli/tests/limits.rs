//! Work, memory and output stay within limits, whatever the input.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{GOOD, agentir, code, stderr, stdout, write};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

/// The CPU time in seconds that a run may take, in a build without optimization.
const SECONDS: u32 = 120;
/// The address space in bytes that a run may take. Most of it is the stacks of threads, which are never used.
const ADDRESS_SPACE: u64 = 3 << 30;

/// Runs a command with limits that the system enforces.
fn limited(folder: &Path, args: &[&str]) -> Output {
    let program = agentir(folder, folder);
    let mut command = Command::new("prlimit");
    command.arg(format!("--cpu={SECONDS}")).arg(format!("--as={}", ADDRESS_SPACE));
    command.arg(program.get_program()).args(args).current_dir(folder);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = command.output().unwrap();
    assert!(output.status.code().is_some(), "{args:?} was stopped: {}", stderr(&output));
    output
}

fn agent(name: &str, rest: &str) -> String {
    format!("AGENT: {name}\n\nGOAL: \"Take orders\"\n\n{rest}")
}

/// Patterns whose intersections are hard.
fn patterns(count: usize) -> String {
    let mut text =
        "MEMORY:\n  session:\n    - name: a\n      type: string\n\nCONSTRAINTS:\n  c:\n".to_owned();
    for i in 1..=count {
        let _ = writeln!(text, "    - REQUIRE a MATCHES \"^(x{{{i}}}|y{{1,{i}}})+z{{{i}}}$\"");
        let _ = writeln!(text, "      ON_FAIL: \"no\"");
    }
    text
}

/// Equations that nobody can decide.
fn equations(count: usize) -> String {
    let mut text = "FLOW:\n  s -> t\n\n  s:\n    REASONING: false\n    GATHER:\n".to_owned();
    for name in ["x", "y", "z"] {
        let _ = writeln!(
            text,
            "      - {name}:\n          TYPE: number\n          REQUIRED: true\n          PROMPT: \"n?\""
        );
    }
    text += "    ON_INPUT:\n";
    for i in 0..count {
        let _ = writeln!(
            text,
            "      - IF: x*x*x + y*y*y == z*z*z + {i} AND x > 0 AND y > 0 AND z > 0\n        THEN: t"
        );
    }
    text + "      - ELSE:\n        THEN: t\n\n  t:\n    REASONING: false\n    RESPOND: \"x\"\n    THEN: COMPLETE\n"
}

#[test]
fn conditions_that_cannot_be_decided_cost_a_bounded_number_of_steps() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [agent("Many_Patterns", &patterns(203)), agent("Equations", &equations(300))];
    for (at, text) in texts.iter().enumerate() {
        let name = format!("{at}.agent.abl");
        write(folder.path(), &[(&name, text)]);
        let output = limited(folder.path(), &["check", "--format", "concise", &name]);
        let said = stdout(&output);
        assert!(
            said.contains(&format!("{name}:")) && said.contains("info[analysis-limit]"),
            "{said}"
        );
        assert_eq!(code(&output), 0, "{said}");
    }
}

#[test]
fn many_programs_share_the_steps_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..60 {
        let (name, text) = (format!("p{at}/a.agent.abl"), agent(&format!("P{at}"), &patterns(39)));
        write(folder.path(), &[(&name, &text), (&format!("p{at}/project.json"), "{}")]);
    }
    let output = limited(folder.path(), &["check", "--format", "concise", "."]);
    assert!(stdout(&output).contains("info[analysis-limit]"), "{}", stdout(&output));
}

#[test]
fn work_grows_with_the_size_alone() {
    let count = 20_000;
    let mut text = "SUPERVISOR: Many\n\nGOAL: \"g\"\n\nAGENTS:\n".to_owned();
    (0..count).for_each(|i| {
        let _ = writeln!(text, "  - b{i}: B{i}");
    });
    text += "\nHANDOFF:\n";
    for i in 0..count {
        let _ = writeln!(text, "  - TO: b{i}\n    WHEN: x == {i}\n    CONTEXT:\n      pass: [x]");
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("many.agent.abl", &text)]);
    let output = limited(folder.path(), &["check", "--format", "concise", "many.agent.abl"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let found = stdout(&output);
    assert_eq!(found.matches("undefined-field").count(), 1, "{found}");
}

#[test]
fn an_unnamed_variable_is_converted() {
    let folder = tempfile::tempdir().unwrap();
    let text = "main:\n  type: flow agent\n  steps:\n    - bot: hi\n    - set:\n        : 0.9\n";
    write(folder.path(), &[("bot/agents.yml", text)]);
    for target in ["abl", "abl-yaml", "agent-script", "adl"] {
        let output =
            limited(folder.path(), &["convert", "--to", target, "-o", target, "bot/agents.yml"]);
        assert!(code(&output) <= 2, "{target}: {}", stderr(&output));
    }
}

#[test]
fn programs_of_one_name_have_folders_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    for (place, name) in [("one", "Foo"), ("two", "Foo"), ("three", "foo"), ("four", "CON")] {
        let path = format!("col/{place}/a.agent.abl");
        write(
            folder.path(),
            &[(&path, &agent(name, "")), (&format!("col/{place}/project.json"), "{}")],
        );
    }
    let output = limited(folder.path(), &["convert", "--to", "abl", "-o", "out", "col"]);
    assert!(code(&output) < 2, "{}", stderr(&output));
    let mut folders: Vec<String> = fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap().to_lowercase())
        .collect();
    folders.sort();
    assert_eq!(folders, ["con_agent", "foo", "foo-2", "foo-3"]);
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
            limited(folder.path(), &args)
        };
        assert!(code(&convert("real")) < 2);
        let file = fs::read_dir(folder.path().join("real")).unwrap().next().unwrap().unwrap();
        // The folder itself may be a link: the user named it.
        symlink(elsewhere.path(), folder.path().join("link")).unwrap();
        assert!(code(&convert("link")) < 2);
        assert!(elsewhere.path().join(file.file_name()).exists());
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
        &[("a.agent.abl", &untidy), (".agentir-abandoned", "half"), ("mine", "x")],
    );
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(code(&limited(folder.path(), &["fmt", "a.agent.abl"])), 0);
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.agent.abl", "mine"]);
}
