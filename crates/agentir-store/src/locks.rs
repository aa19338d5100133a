//! Who has a session: a lock on a file of its own beside the database. The system takes it back when
//! a process ends, however it ends. The file is removed with the lock, and what a process that was killed
//! has left is removed by the next one that opens the database.

use crate::StoreError;
use crate::lock_files::{LockFolder, check, create, name_of};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Between two tries to get a session.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// How often a lock file may vanish while it is being locked.
const MAX_TRIES: u32 = 1_000;

/// The sessions that this process holds.
#[derive(Debug)]
pub(crate) struct SessionLocks {
    /// Where the locks are; none for what nobody else can see.
    folder: Option<PathBuf>,
    /// How long to wait for a session.
    pub(crate) lock_timeout: Duration,
    held: BTreeMap<String, Option<File>>,
}

/// Where the locks of a database are, which is no link.
pub(crate) fn folder_of(database: &Path) -> Result<PathBuf, StoreError> {
    let mut folder = database.as_os_str().to_owned();
    folder.push("-locks");
    let folder = PathBuf::from(folder);
    match check(&folder) {
        Ok(()) => Ok(folder),
        Err(error) => Err(StoreError::Io { path: folder, reason: error.to_string() }),
    }
}

impl SessionLocks {
    /// Locks in the folder `DATABASE-locks`.
    pub(crate) fn next_to(database: &Path) -> Result<Self, StoreError> {
        let folder = folder_of(database)?;
        if let Ok(open) = LockFolder::open(&folder) {
            open.sweep(&folder);
        }
        let locks =
            Self { folder: Some(folder), lock_timeout: Duration::ZERO, held: BTreeMap::new() };
        locks.remove_folder();
        Ok(locks)
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
        let Some(folder) = &self.folder else { return Ok(None) };
        let name = name_of(id);
        let failed = |e: Error| StoreError::Io { path: folder.join(&name), reason: e.to_string() };
        let start = Instant::now();
        for _ in 0..MAX_TRIES {
            create(folder).map_err(failed)?;
            let opened = LockFolder::open(folder)
                .and_then(|open| open.file(&name, true).map(|file| (open, file)));
            let (open, file) = match opened {
                Ok(opened) => opened,
                // Somebody removed the folder meanwhile.
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                Err(e) => return Err(failed(e)),
            };
            loop {
                match file.try_lock() {
                    Ok(()) if open.is_current(&file, &name).map_err(failed)? => {
                        return Ok(Some(file));
                    }
                    Ok(()) => break,
                    Err(TryLockError::WouldBlock) if start.elapsed() >= self.lock_timeout => {
                        return Err(StoreError::Locked(id.to_owned()));
                    }
                    Err(TryLockError::WouldBlock) => thread::sleep(RETRY_INTERVAL),
                    Err(TryLockError::Error(e)) => return Err(failed(e)),
                }
            }
        }
        Err(failed(Error::other("it is removed again and again")))
    }

    /// Lets others have it.
    pub(crate) fn release(&mut self, id: &str) {
        if let Some(Some(file)) = self.held.remove(id) {
            if let Some(Ok(open)) = self.folder.as_deref().map(LockFolder::open) {
                open.remove(&file, &name_of(id));
            }
            drop(file);
        }
        if self.held.is_empty() {
            self.remove_folder();
        }
    }

    /// Removes the folder, unless others have locks in it.
    fn remove_folder(&self) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Drop for SessionLocks {
    fn drop(&mut self) {
        for id in self.held.keys().cloned().collect::<Vec<_>>() {
            self.release(&id);
        }
    }
}
