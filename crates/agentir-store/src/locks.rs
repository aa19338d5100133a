//! Who has a session: a lock on a file of its own beside the database. The system takes it back when
//! a process ends, however it ends. The file is removed with the lock, and what a process that was killed
//! has left is removed by the next one that opens the database.

use crate::StoreError;
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

/// Creates a folder, if there is none, with access for the owner only: names of locks are ids of sessions.
fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether a locked file is still the one of its name: whoever had the lock before may have removed it,
/// and others may have created it anew.
#[cfg(unix)]
fn is_current(file: &File, path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (own.dev(), own.ino())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Elsewhere, lock files are not removed.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn is_current(_: &File, _: &Path) -> std::io::Result<bool> {
    Ok(true)
}

impl SessionLocks {
    /// Locks in the folder `DATABASE-locks`.
    pub(crate) fn next_to(database: &Path) -> Self {
        let mut folder = database.as_os_str().to_owned();
        folder.push("-locks");
        let locks = Self {
            folder: Some(folder.into()),
            lock_timeout: Duration::ZERO,
            held: BTreeMap::new(),
        };
        locks.sweep();
        locks
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
        let (Some(folder), Some(path)) = (&self.folder, self.path(id)) else { return Ok(None) };
        let failed = |e: Error| StoreError::Io { path: path.clone(), reason: e.to_string() };
        let start = Instant::now();
        for _ in 0..MAX_TRIES {
            create_private(folder).map_err(failed)?;
            let mut options = File::options();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = match options.open(&path) {
                Ok(file) => file,
                // Somebody removed the folder meanwhile.
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                Err(e) => return Err(failed(e)),
            };
            loop {
                match file.try_lock() {
                    Ok(()) if is_current(&file, &path).map_err(failed)? => return Ok(Some(file)),
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
            if cfg!(unix)
                && let Some(path) = self.path(id)
            {
                // Before the lock is given back; what cannot be removed is an empty file.
                let _ = fs::remove_file(path);
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

    /// Removes the locks that nobody holds.
    fn sweep(&self) {
        let Some(entries) = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok())
        else {
            return;
        };
        for entry in entries.flatten().filter(|_| cfg!(unix)) {
            let path = entry.path();
            let Ok(file) = File::options().append(true).open(&path) else { continue };
            if file.try_lock().is_ok() && is_current(&file, &path).is_ok_and(|current| current) {
                let _ = fs::remove_file(&path);
            }
        }
        self.remove_folder();
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

impl Drop for SessionLocks {
    fn drop(&mut self) {
        for id in self.held.keys().cloned().collect::<Vec<_>>() {
            self.release(&id);
        }
    }
}
