//! A world that does not behave: files that cannot be read, change or vanish, output that nobody
//! takes.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod common;

use common::{GOOD, agentir, broken, code, run, samples, stderr, stdout, write};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn links_that_go_round_in_circles_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a/b/x.agent.abl", &broken("X"))]);
    symlink("..", folder.path().join("a/b/up")).unwrap();
    symlink("self", folder.path().join("self")).unwrap();
    symlink("missing", folder.path().join("gone.agent.abl")).unwrap();
    symlink(folder.path(), folder.path().join("a/all")).unwrap();
    let output = run(folder.path(), folder.path(), &["check", "."]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("in 1 file"), "{}", stdout(&output));
    // A link that is named is what it leads to, or an error that says so.
    assert!(stdout(&run(folder.path(), folder.path(), &["check", "a/all"])).contains("in 1 file"));
    let circle = run(folder.path(), folder.path(), &["check", "self"]);
    assert_eq!(code(&circle), 2);
    assert!(stderr(&circle).contains("self cannot be read"), "{}", stderr(&circle));
}

#[test]
fn files_and_folders_that_cannot_be_read_are_findings() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        &[("a.agent.abl", GOOD), ("b.agent.abl", GOOD), ("shut/c.agent.abl", GOOD)],
    );
    let mode = |path: &str, mode| {
        fs::set_permissions(folder.path().join(path), Permissions::from_mode(mode)).unwrap();
    };
    mode("", 0o755);
    mode("b.agent.abl", 0);
    mode("shut", 0);
    let plain = agentir(folder.path(), Path::new("/nonexistent"));
    let mut command = if File::open(folder.path().join("b.agent.abl")).is_ok() {
        // Nothing is closed to root, unless it gives up what makes it so. Another user would not do: the
        // program itself may lie in a folder that is root's alone.
        let mut shed = Command::new("setpriv");
        shed.arg("--bounding-set=-dac_override,-dac_read_search").arg(plain.get_program());
        shed.current_dir(folder.path()).env("XDG_CACHE_HOME", "/nonexistent");
        shed
    } else {
        plain
    };
    command.args(["check", ".", "--format", "concise", "--no-cache"]);
    let output = command.output().unwrap();
    mode("shut", 0o755);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("b.agent.abl:1:1: error[unreadable-file]"), "{text}");
    assert!(lines[1].starts_with("shut:1:1: error[unreadable-file]"), "{text}");
}

#[test]
fn names_that_are_no_text_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let name = OsStr::from_bytes(b"caf\xe9.agent.abl");
    fs::write(folder.path().join(name), broken("X")).unwrap();
    for format in ["text", "concise", "json"] {
        for arg in [OsStr::new("."), name] {
            let output = agentir(folder.path(), folder.path())
                .args(["check", "--format", format])
                .arg(arg)
                .output()
                .unwrap();
            assert_eq!(code(&output), 1, "{}", stderr(&output));
            assert!(stdout(&output).contains("caf\u{fffd}.agent.abl"), "{}", stdout(&output));
        }
    }
}

/// What is found in a file that changes all the time is found in the one or in the other text, never in
/// something between them, and nothing wrong is kept.
#[test]
fn files_that_change_and_vanish_while_they_are_read() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let stop = AtomicBool::new(false);
    let path = folder.path().join("x.agent.abl");
    let bad = broken("Ferry_Desk");
    write(folder.path(), &[("other/y.agent.abl", GOOD)]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::write(folder.path().join("new"), &bad).unwrap();
                fs::rename(folder.path().join("new"), &path).unwrap();
                fs::write(folder.path().join("new"), GOOD).unwrap();
                fs::rename(folder.path().join("new"), &path).unwrap();
                fs::remove_file(&path).unwrap();
                fs::remove_dir_all(folder.path().join("other")).unwrap();
                write(folder.path(), &[("other/y.agent.abl", GOOD)]);
            }
        });
        // Also when an assertion fails.
        let _stop = SetOnDrop(&stop);
        for _ in 0..30 {
            let output = run(folder.path(), cache.path(), &["check", ".", "--format", "concise"]);
            assert!(code(&output) < 2, "{}", stderr(&output));
            for line in stdout(&output).lines() {
                // A file that is written meanwhile may still be empty.
                let known = ["undefined-tool", "unreadable-file", "this file is empty"]
                    .iter()
                    .any(|known| line.contains(known));
                assert!(known, "{line}");
            }
        }
    });
    fs::write(&path, GOOD).unwrap();
    let output = run(folder.path(), cache.path(), &["check", "."]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
}

#[test]
fn a_file_without_an_end_is_not_read() {
    if !Path::new("/dev/zero").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), folder.path(), &["check", "/dev/zero", "--format", "concise"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("a device"), "{}", stdout(&output));
}

#[test]
fn a_full_disk_is_an_error() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("a.agent.abl", &broken("A"))]);
    for args in [
        &["check", "."][..],
        &["check", ".", "--format", "concise"],
        &["check", ".", "--format", "json"],
        &["corpus", "."],
        &["compile", "."],
        &["rules"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = agentir(folder.path(), folder.path())
            .args(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        assert_eq!(code(&output), 2, "{args:?}");
        assert!(stderr(&output).contains("the output cannot be written"), "{}", stderr(&output));
    }
}

#[test]
fn a_reader_that_has_enough_ends_the_run_quietly() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["text", "concise", "json"] {
        let mut child = agentir(&samples(), folder.path())
            .args(["check", ".", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(stderr(&output), "", "{format}");
        // JSON may have been written as a whole before the reader left.
        assert!([1, 2].contains(&code(&output)));
    }
}

/// Ctrl-C ends the run at once, leaves no files behind, and the next run is what it would have been.
#[test]
fn an_interrupt_leaves_nothing_behind() {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let args = ["check", ".", "--format", "json"];
    let without = run(&samples(), cache.path(), &[&args[..], &["--no-cache"]].concat());
    for wait in [0, 20, 100, 300] {
        let run = agentir(&samples(), cache.path())
            .args(args)
            .env("TMPDIR", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        interrupt(run, wait, &without);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
    let after = run(&samples(), cache.path(), &args);
    assert_eq!(stdout(&after), stdout(&without));
}

/// The solver has a handler of its own for interrupts, which must not be left behind when several threads have
/// asked it. Nobody reads what is printed, so the run waits at its end; whether a handler is left depends on the
/// threads, so it is tried often.
#[test]
fn an_interrupt_after_the_solver_is_one_like_others() {
    let cache = tempfile::tempdir().unwrap();
    let args = ["check", ".", "--format", "json", "--no-cache"];
    let without = run(&samples(), cache.path(), &args);
    for _ in 0..12 {
        let run = agentir(&samples(), cache.path())
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        interrupt(run, 400, &without);
    }
}

/// Interrupts a run after some milliseconds. It ends by that or had ended before, says nothing, and what it has
/// printed is the beginning of the `whole` report.
fn interrupt(run: Child, wait: u64, whole: &Output) {
    std::thread::sleep(Duration::from_millis(wait));
    let interrupt = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(interrupt.unwrap().success());
    let output = run.wait_with_output().unwrap();
    let status = output.status;
    assert!(status.signal() == Some(2) || status.code() == Some(1), "{status}");
    assert_eq!(stderr(&output), "");
    assert!(whole.stdout.starts_with(&output.stdout), "it is another report");
    assert!(status.code().is_none() || output.stdout == whole.stdout, "half a report");
}

/// Sets a flag when it goes out of scope.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
