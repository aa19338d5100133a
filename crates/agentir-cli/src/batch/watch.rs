//! `agentir check --watch`: again whenever a file changes.

use crate::write::is_temporary;
use agentir_vfs::{Disk, identity};
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

/// The files that a run writes, and the temporary files beside them.
struct Written {
    files: Vec<PathBuf>,
}

impl Written {
    fn new(outputs: &[PathBuf]) -> Self {
        Self { files: outputs.iter().map(|path| identity(&Disk::default(), path)).collect() }
    }

    /// Whether an event is about nothing else.
    fn only(&self, event: &Event) -> bool {
        let ours = |path: &PathBuf| {
            let path = identity(&Disk::default(), path);
            let temporary = path.file_name().is_some_and(is_temporary);
            let beside = |file: &PathBuf| temporary && file.parent() == path.parent();
            self.files.iter().any(|file| *file == path || beside(file))
        };
        !event.paths.is_empty() && event.paths.iter().all(ours)
    }
}

/// Does something, and again whenever something below the paths changes, except for what it writes itself: `outputs`.
/// Does not return until the process is ended.
pub fn watch(
    paths: &[PathBuf],
    outputs: Vec<PathBuf>,
    mut again: impl FnMut() -> ExitCode,
) -> ExitCode {
    let failed = |error: &dyn std::fmt::Display| {
        tell!("error: cannot watch for changes: {error}");
        ExitCode::from(2)
    };
    let (to, changes) = mpsc::channel();
    let written = Written::new(&outputs);
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // Reading a file is an event, too, and we are who reads.
        let ours = |event: &Event| event.kind.is_access() || written.only(event);
        if event.as_ref().map_or(true, |event| !ours(event)) {
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
        tell!("watching for changes; press Ctrl-C to stop");
        match changes.recv() {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return failed(&error),
            Err(error) => return failed(&error),
        }
        // All that changes until files are at rest is one change.
        while changes.recv_timeout(REST).is_ok() {}
    }
}
