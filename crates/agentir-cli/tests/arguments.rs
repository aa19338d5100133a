//! What the command line says where arguments, or the files that they name, are not what it needs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails should stop")]

mod common;

use common::{CACHE, GOOD, agentir, broken, ran, write};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

/// A folder with an agent in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("ferry.agent.abl", GOOD)]);
    folder
}

/// Runs it, which does not work; what it says.
fn fails(folder: &Path, args: &[&str]) -> String {
    let (code, _, stderr) = ran(folder, args);
    assert_eq!(code, 2, "{args:?}: {stderr}");
    stderr
}

/// A manifest is called as other files are, and what it should be is said where it is not.
#[test]
fn a_manifest_that_is_no_object_is_reported_in_plain_words() {
    let folder = folder();
    for (text, place, says) in [
        ("[]", "1:1", "invalid type: sequence, expected an object"),
        ("[\"Ferry_Desk\"]", "1:1", "invalid type: sequence, expected an object"),
        ("{\n  \"entry_agent\": 5\n}", "2:18", "invalid type: integer `5`, expected a string"),
        ("{\n  \"name\": \"x\",\n}", "3:1", "trailing comma"),
    ] {
        write(folder.path(), &[("project.json", text)]);
        for path in [".", "project.json"] {
            let (code, out, _) = ran(folder.path(), &["check", path]);
            assert_eq!(code, 1, "{out}");
            assert!(out.contains(&format!("[ project.json:{place} ]")), "{text}: {out}");
            assert!(
                out.contains(&format!("this project manifest cannot be read: {says}\n")),
                "{out}"
            );
            assert!(out.contains("a manifest is an object with `entry_agent`"), "{out}");
        }
    }
    for text in
        ["{}", "{\"entry_agent\": null}", "{\"entry_agent\": \"Ferry_Desk\", \"more\": [1]}"]
    {
        write(folder.path(), &[("project.json", text)]);
        let (code, out, _) = ran(folder.path(), &["check", "."]);
        assert_eq!(code, 0, "{text}: {out}");
    }
}

/// Of entries with one name the last counts, which is said of those before it; different lists may have the same names.
#[test]
fn a_manifest_that_lists_a_name_twice_is_reported() {
    let folder = folder();
    for list in ["agents", "tools", "behavior_profiles"] {
        let text = format!(
            "{{\n  \"{list}\": {{\n    \"a\": {{ \"path\": \"ferry.agent.abl\" }},\n    \"b\": {{}},\n    \"a\": {{ \"path\": \"other.agent.abl\" }}\n  }},\n  \"more\": {{ \"a\": 1, \"b\": {{ \"a\": 2 }} }}\n}}"
        );
        write(folder.path(), &[("project.json", &text)]);
        let (code, out, _) = ran(folder.path(), &["check", "."]);
        assert_eq!(code, 1, "{out}");
        assert!(out.contains("[ project.json:5:6 ]"), "{out}");
        assert!(out.contains(&format!("`{list}` lists `a` twice")), "{out}");
        assert!(out.contains("1 error"), "{out}");
    }
    let text = "{ \"agents\": { \"a\": {} }, \"tools\": { \"a\": {} } }";
    write(folder.path(), &[("project.json", text)]);
    assert_eq!(ran(folder.path(), &["check", "."]).0, 0);
}

#[test]
fn files_that_cannot_be_read_are_named_in_one_way() {
    let folder = folder();
    let all: [&[&str]; 6] = [
        &["check", ".", "--config", "nope"],
        &["check", "nope"],
        &["fmt", "nope"],
        &["report", "merge", "nope"],
        &["run", "ferry.agent.abl", "--stubs", "nope"],
        &["test", "nope"],
    ];
    for args in all {
        let said = fails(folder.path(), args);
        assert!(said.starts_with("error: nope cannot be read: No such file"), "{args:?}: {said}");
    }
}

#[test]
fn a_report_is_not_merged_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", &broken("A"))]);
    let (_, report, _) = ran(folder.path(), &["check", ".", "--format", "json"]);
    write(folder.path(), &[("s1.json", &report), ("s2.json", &report)]);
    let said = fails(folder.path(), &["report", "merge", "s1.json", "s2.json", "s1.json"]);
    assert!(said.contains("s1.json is passed twice"), "{said}");
    let said = fails(folder.path(), &["report", "merge", "s1.json", "./s2.json", "s2.json"]);
    assert!(said.contains("./s2.json and s2.json are the same file"), "{said}");
    let (code, _, stderr) = ran(folder.path(), &["report", "merge", "s1.json"]);
    assert_eq!(code, 1, "{stderr}");
}

#[test]
fn arguments_that_contradict_each_other_are_errors() {
    let folder = folder();
    for command in ["check", "compile", "cost", "graph", "fmt"] {
        let said = fails(folder.path(), &[command, ".", "--stdin-filename", "x.agent.abl"]);
        assert!(said.contains("`-` is not among the paths"), "{command}: {said}");
        assert!(said.contains("Usage:"), "{command}: {said}");
    }
    let both = ["convert", ".", "--to", "abl", "--verify", "--no-verify"];
    let said = fails(folder.path(), &both);
    assert!(said.contains("cannot be used with"), "{said}");
}

/// A file that is named and cannot be formatted is not passed over in silence.
#[test]
fn a_file_of_another_language_is_not_formatted() {
    let folder = folder();
    write(folder.path(), &[("tools.py", "def f():\n    pass\n"), ("config.json", "{}\n")]);
    for (name, what) in [("tools.py", "Python"), ("config.json", "JSON")] {
        let said = fails(folder.path(), &["fmt", name]);
        assert!(said.contains(&format!("{what} cannot be formatted")), "{said}");
    }
    // Beside agents they are left alone.
    let (code, _, stderr) = ran(folder.path(), &["fmt", "."]);
    assert_eq!((code, stderr.as_str()), (0, "0 files formatted, 1 unchanged\n"));
}

#[test]
fn a_comparison_needs_one_program_on_each_side() {
    let folder = folder();
    write(folder.path(), &[("two/a/a.agent.abl", GOOD), ("two/b/b.agent.abl", GOOD)]);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let said = fails(folder.path(), &["diff", "ferry.agent.abl", "empty"]);
    assert!(said.contains("empty contains no program"), "{said}");
    let said = fails(folder.path(), &["diff", "two", "ferry.agent.abl"]);
    let several = "two contains 2 programs, but `diff` compares exactly two programs, one per path";
    assert!(said.contains(several), "{said}");
    let said = fails(folder.path(), &["graph", "two"]);
    assert!(said.contains("found 2 programs, but a graph can show only one"), "{said}");
}

/// A reader that has read enough is no failure, whatever is written.
#[test]
fn a_reader_may_leave_early() {
    let folder = tempfile::tempdir().unwrap();
    let steps: String = (0..400)
        .map(|at| format!("  step_{at}:\n    REASONING: false\n    RESPOND:   \"Step {at}\"\n    THEN: COMPLETE\n"))
        .collect();
    let agent = format!("AGENT: Long\nGOAL: \"Be long\"\nFLOW:\n{steps}");
    write(folder.path(), &[("long.agent.abl", &agent)]);
    let all: [&[&str]; 7] = [
        &["check", ".", "--fail-on", "never"],
        &["check", ".", "--format", "html", "--fail-on", "never"],
        &["check", ".", "--format", "junit", "--fail-on", "never"],
        &["graph", "long.agent.abl", "--format", "html"],
        &["graph", "long.agent.abl"],
        &["compile", "."],
        &["convert", ".", "--to", "abl-yaml", "--no-verify"],
    ];
    for args in all {
        let mut child = agentir(folder.path(), Path::new(CACHE))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        // The pipe is closed here.
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", common::stderr(&output));
        assert!(!common::stderr(&output).contains("error"), "{args:?}");
    }
}
