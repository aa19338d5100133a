//! `agentir check --watch`: again whenever a file changes.

use notify::{Event, RecursiveMode, Watcher};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

/// How long files have to be at rest: editors write in several steps.
const REST: Duration = Duration::from_millis(200);

/// Clears the screen and goes to its top.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// Does something, and again whenever something below the paths changes, until the process is ended.
pub fn watch(paths: &[PathBuf], mut again: impl FnMut() -> ExitCode) -> ExitCode {
    let failed = |error: &dyn std::fmt::Display| {
        eprintln!("error: cannot watch for changes: {error}");
        ExitCode::from(2)
    };
    let (to, changes) = mpsc::channel();
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // Reading a file is an event, too, and we are who reads.
        if event.as_ref().map_or(true, |event| !event.kind.is_access()) {
            // Nobody listens any more when the process ends.
            let _told = to.send(event);
        }
    });
    let mut watcher = match watcher {
        Ok(watcher) => watcher,
        Err(error) => return failed(&error),
    };
    for path in paths {
        // Editors replace files, so a file is watched by its folder.
        let (path, mode) = match path.parent() {
            Some(parent) if path.is_file() => (parent, RecursiveMode::NonRecursive),
            _ => (path.as_path(), RecursiveMode::Recursive),
        };
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        if let Err(error) = watcher.watch(path, mode) {
            return failed(&error);
        }
    }
    loop {
        if io::stdout().is_terminal() {
            eprint!("{CLEAR}");
        }
        let code = again();
        if code == ExitCode::from(2) {
            return code;
        }
        eprintln!("watching for changes; press Ctrl-C to stop");
        match changes.recv() {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return failed(&error),
            Err(error) => return failed(&error),
        }
        // All that changes until files are at rest is one change.
        while changes.recv_timeout(REST).is_ok() {}
    }
}
