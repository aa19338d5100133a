//! What tests of the built program share.

#![allow(dead_code, reason = "each test uses some of it")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Our own samples.
pub fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").canonicalize().unwrap()
}

/// The program, in a folder, with a cache that is nobody else's.
pub fn agentir(folder: &Path, cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agentir"));
    command.current_dir(folder).env("XDG_CACHE_HOME", cache).env_remove("NO_COLOR");
    command.stdin(Stdio::null());
    command
}

/// A cache for tests that are not about it, which is not the user's.
pub const CACHE: &str = env!("CARGO_TARGET_TMPDIR");

/// Runs it in a folder; its exit code, and what it printed to standard output and to standard error.
pub fn ran(folder: &Path, args: &[&str]) -> (i32, String, String) {
    let output = run(folder, Path::new(CACHE), args);
    (code(&output), stdout(&output), stderr(&output))
}

/// Runs it in a folder.
pub fn run(folder: &Path, cache: &Path, args: &[&str]) -> Output {
    agentir(folder, cache).args(args).output().unwrap()
}

/// Runs it in a folder, with something to read on standard input.
pub fn run_with_input(folder: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = agentir(folder, Path::new(CACHE))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{:?}: {}", output.status, stderr(output)))
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes files below a folder.
pub fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// An agent in which a tool is called that is not declared.
pub fn broken(name: &str) -> String {
    format!(
        "AGENT: {name}\nGOAL: \"Sell tickets\"\nFLOW:\n  start:\n    REASONING: false\n    CALL: \
         sell_tikcet()\n    THEN: COMPLETE\n"
    )
}

/// An agent in which there is nothing to find.
pub const GOOD: &str = "AGENT: Ferry_Desk\nGOAL: \"Sell tickets for the ferry\"\n";

/// The formats of findings.
pub const FORMATS: [&str; 11] = [
    "text",
    "concise",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "junit",
    "checkstyle",
    "markdown",
    "html",
];
