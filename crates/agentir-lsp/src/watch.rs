//! Changes of files on disk, for clients that do not tell of them.

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long files have to be at rest: editors write in several steps.
const REST: Duration = Duration::from_millis(100);

/// How many changes are told of at once, and may wait.
const MAX_CHANGES: usize = 10_000;

/// Watches as long as it exists.
pub(crate) struct Watch {
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches folders, and tells which files changed.
    ///
    /// # Errors
    /// Those of the system.
    pub(crate) fn new(
        folders: &[PathBuf],
        tell: impl Fn(Vec<PathBuf>) + Send + 'static,
    ) -> notify::Result<Self> {
        let (to, changes) = mpsc::sync_channel::<Vec<PathBuf>>(MAX_CHANGES);
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // Reading a file is an event, too, and we are who reads.
            if let Ok(event) = event
                && !event.kind.is_access()
            {
                let _ = to.send(event.paths);
            }
        })?;
        for folder in folders {
            watcher.watch(folder, RecursiveMode::Recursive)?;
        }
        thread::spawn(move || {
            while let Ok(paths) = changes.recv() {
                let mut paths: BTreeSet<PathBuf> = paths.into_iter().collect();
                // What never rests is told in parts.
                while paths.len() < MAX_CHANGES
                    && let Ok(more) = changes.recv_timeout(REST)
                {
                    paths.extend(more);
                }
                tell(paths.into_iter().collect());
            }
        });
        Ok(Self { _watcher: watcher })
    }
}
