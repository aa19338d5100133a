//! Who has a session: a lock on a file of its own beside the database. The system takes it back when
//! a process ends, however it ends, so nothing has to be cleaned up after a crash.

use crate::StoreError;
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Between two tries to get a session.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// The sessions that this process holds.
#[derive(Debug)]
pub(crate) struct SessionLocks {
    /// Where the locks are; none for what nobody else can see.
    folder: Option<PathBuf>,
    /// How long to wait for a session.
    pub(crate) lock_timeout: Duration,
    held: BTreeMap<String, Option<File>>,
}

/// Creates a folder, if there is none, with access for the owner only: names of locks are ids of sessions.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

impl SessionLocks {
    /// Locks in the folder `DATABASE-locks`.
    pub(crate) fn next_to(database: &Path) -> Self {
        let mut folder = database.as_os_str().to_owned();
        folder.push("-locks");
        Self { folder: Some(folder.into()), lock_timeout: Duration::ZERO, held: BTreeMap::new() }
    }

    /// Nobody else can see what these are about.
    pub(crate) const fn disabled() -> Self {
        Self { folder: None, lock_timeout: Duration::ZERO, held: BTreeMap::new() }
    }

    /// Holds a session, if it is not held already.
    pub(crate) fn acquire(&mut self, id: &str) -> Result<(), StoreError> {
        if self.held.contains_key(id) {
            return Ok(());
        }
        let lock = self.lock(id)?;
        self.held.insert(id.to_owned(), lock);
        Ok(())
    }

    fn lock(&self, id: &str) -> Result<Option<File>, StoreError> {
        let Some(path) = self.path(id) else { return Ok(None) };
        let failed =
            |e: std::io::Error| StoreError::Io { path: path.clone(), reason: e.to_string() };
        if let Some(folder) = &self.folder {
            create_private(folder).map_err(failed)?;
        }
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(failed)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= self.lock_timeout => {
                    return Err(StoreError::Locked(id.to_owned()));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
        }
    }

    /// Lets others have it.
    pub(crate) fn release(&mut self, id: &str) {
        self.held.remove(id);
    }

    /// Releases the lock of a deleted session. Somebody may be waiting for the old file; the
    /// count of turns keeps them apart from whoever makes a new one.
    pub(crate) fn remove(&mut self, id: &str) {
        if let Some(path) = self.path(id) {
            // What stays is an empty file.
            let _ = fs::remove_file(path);
        }
        self.release(id);
    }

    /// An id may have any letters; two ids must not share a file where case does not count. At three
    /// bytes a byte, [`crate::MAX_ID_BYTES`] keeps names below the 255 bytes that systems take.
    fn path(&self, id: &str) -> Option<PathBuf> {
        use std::fmt::Write as _;
        let mut name = String::new();
        for byte in id.bytes() {
            if byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' {
                name.push(char::from(byte));
            } else {
                let _ = write!(name, "_{byte:02x}");
            }
        }
        Some(self.folder.as_ref()?.join(name))
    }
}
