//! What GitHub and pre-commit are told to run does what it says: the steps of the Action that need no
//! network, in the shell that GitHub runs them in, and the hooks, as pre-commit calls them.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{CACHE, GOOD, broken, code, stderr, stdout, write};
use regex::Regex;
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn yaml(file: &str) -> Value {
    let text = fs::read_to_string(root().join(file)).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Where programs are looked for when agentir is installed.
fn search_path() -> OsString {
    let program = Path::new(env!("CARGO_BIN_EXE_agentir")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    env::join_paths(std::iter::once(program).chain(env::split_paths(&others))).unwrap()
}

/// A step of the Action in a folder; `inputs` come before the defaults.
fn step(folder: &Path, name: &str, inputs: &[(&str, &str)], more: &[(&str, &Path)]) -> Output {
    let action = yaml("action.yml");
    let steps = action["runs"]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).expect("there is such a step");
    assert_eq!(step["shell"], "bash");
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
    bash.current_dir(folder).env("PATH", search_path()).env("XDG_CACHE_HOME", CACHE);
    for (variable, value) in step["env"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap();
        let input = value.strip_prefix("${{ inputs.").and_then(|v| v.strip_suffix(" }}")).unwrap();
        let given = inputs.iter().find(|(name, _)| *name == input).map(|(_, given)| *given);
        let default = action["inputs"][input]["default"].as_str().expect("there is such an input");
        bash.env(variable, given.unwrap_or(default));
    }
    bash.envs(more.iter().copied()).output().unwrap()
}

#[test]
fn the_action_checks_what_it_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let wrong = broken("Ferry_Desk");
    write(
        here,
        &[("a/one.agent.abl", &wrong), ("b/two.agent.abl", &wrong), ("c/c.agent.abl", GOOD)],
    );
    let check = |inputs: &[(&str, &str)]| step(here, "Check", inputs, &[]);
    let files = |output: &Output| {
        let found = stdout(output);
        ["a/one", "b/two"]
            .map(|file| found.lines().any(|l| l.contains(file) && l.contains("undefined-tool")))
    };
    let all = check(&[]);
    assert_eq!((code(&all), files(&all)), (1, [true, true]), "{}", stderr(&all));
    let some = check(&[("paths", "a c"), ("arguments", "--format github --fail-on never")]);
    assert_eq!((code(&some), files(&some)), (0, [true, false]), "{}", stderr(&some));
    assert!(stdout(&some).starts_with("::"), "{}", stdout(&some));
    let shares = ["1/2", "2/2"].map(|share| files(&check(&[("shard", share)])));
    assert!((0..2).all(|file| shares[0][file] != shares[1][file]), "{shares:?}");
}

#[test]
fn the_action_builds_again_when_the_sources_change() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let hash = |sources: &Path| {
        let (output, path) = (here.join("output"), here.join("path"));
        let variables = [
            ("GITHUB_ACTION_PATH", sources),
            ("GITHUB_OUTPUT", &output),
            ("GITHUB_PATH", &path),
            ("RUNNER_TEMP", here),
        ];
        let ran = step(here, "Hash the sources", &[], &variables);
        assert_eq!(code(&ran), 0, "{}", stderr(&ran));
        let folder = fs::read_to_string(&path).unwrap();
        assert!(folder.ends_with("/agentir/bin\n"), "{folder}");
        let said = fs::read_to_string(&output).unwrap();
        fs::remove_file(output).unwrap();
        let hash = said.trim_end().strip_prefix("hash=").expect("it is an output").to_owned();
        assert!(hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{hash}");
        hash
    };
    hash(&root());
    let copy = here.join("with a blank");
    let files =
        ["Cargo.toml", "Cargo.lock", "crates/a/src/a.rs", "grammars/a.lalrpop", "rules/a.md"];
    write(&copy, &files.map(|file| (file, "1\n")));
    let before = hash(&copy);
    assert_eq!(hash(&copy), before);
    for file in files {
        write(&copy, &[(file, "2\n")]);
        assert_ne!(hash(&copy), before, "{file}");
        write(&copy, &[(file, "1\n")]);
    }
}

/// A hook, called as pre-commit calls it.
fn hook(folder: &Path, id: &str, files: &[&str]) -> (Output, Value) {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = hooks.as_array().unwrap().iter().find(|hook| hook["id"] == id).unwrap().clone();
    assert_eq!(hook["language"], "system", "nothing is installed from a workspace");
    let mut words = hook["entry"].as_str().unwrap().split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.current_dir(folder).env("PATH", search_path()).env("XDG_CACHE_HOME", CACHE);
    command
        .args(words)
        .args(hook["args"].as_array().into_iter().flatten().filter_map(Value::as_str));
    if hook["pass_filenames"] != false {
        command.args(files);
    }
    (command.output().unwrap(), hook)
}

#[test]
fn hooks_run_for_the_files_they_are_about() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    write(
        here,
        &[
            ("a.agent.abl", &broken("Ferry_Desk")),
            ("untidy.agent.abl", "AGENT:   Ferry\nGOAL: \"a\"\n"),
        ],
    );
    let (checked, check) = hook(here, "agentir-check", &["untidy.agent.abl"]);
    assert_eq!(code(&checked), 1, "{}", stderr(&checked));
    assert!(stdout(&checked).contains("a.agent.abl:6"), "the whole program: {}", stdout(&checked));
    let (laid_out, fmt) = hook(here, "agentir-fmt", &["untidy.agent.abl"]);
    assert_eq!(code(&laid_out), 0, "{}", stderr(&laid_out));
    let text = fs::read_to_string(here.join("untidy.agent.abl")).unwrap();
    assert!(text.starts_with("AGENT: Ferry\n"), "{text}");
    let about = |hook: &Value, file: &str| {
        Regex::new(hook["files"].as_str().unwrap()).unwrap().is_match(file)
    };
    for file in ["a.agent.abl", "tools/b.tools.abl", "c.agent", "d.agent.yaml", "bot/agents.yml"] {
        assert!(about(&check, file) && about(&fmt, file), "{file}");
    }
    for file in ["project.json", "bots/agentir.toml", "adl/hub.yml"] {
        assert!(about(&check, file) && !about(&fmt, file), "{file}");
    }
    for file in ["README.md", "Cargo.toml", "my_project.json", "agent"] {
        assert!(!about(&check, file) && !about(&fmt, file), "{file}");
    }
}
