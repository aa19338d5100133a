//! A cache of results, keyed by a hash of everything that they depend on.
//!
//! The caller builds a [`Key`] from all inputs that determine the result, so entries never become
//! stale: changed input has another key. Entries are in one SQLite database, because most are
//! smaller than the cost of opening a file; several processes may use it at the same time.
//!
//! *Invariant*: a cache that cannot be used costs time and nothing else. Entries that are broken,
//! locked or of another version count as absent; a lookup returns only bytes that were stored under
//! its key.

mod database;
mod key;

pub use key::{Key, KeyBuilder};

use database::Database;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use thread_local::ThreadLocal;

/// The number of the database's form: another one is another file.
const SCHEMA_VERSION: u32 = 2;

/// How the database of a form is called.
fn file_name(version: u32) -> String {
    format!("findings-{version}.sqlite")
}

/// How many bytes the values may have together before the entries that were not used for the
/// longest time go.
const MAX_SIZE_BYTES: u64 = 512 << 20;

/// The number of days after which an unused entry is evicted.
const MAX_AGE_DAYS: u64 = 30;

/// How many bytes wait at most before they are written.
const MAX_BATCH_BYTES: usize = 4 << 20;

/// How many entries wait at most before they are written.
const MAX_BATCH_ENTRIES: usize = 4096;

/// Why a cache cannot be used.
#[derive(Debug)]
pub struct CacheError(String);

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CacheError {}

/// The entries of one folder. May be used by all threads at once; what is put is written by the time
/// it is dropped.
#[derive(Debug)]
pub struct Cache {
    path: PathBuf,
    /// Each thread has a connection, so that none waits for another one to read.
    connections: ThreadLocal<RefCell<Database>>,
    pending: Mutex<PendingWrites>,
    /// Days since 1970.
    today: u64,
}

/// What is not written yet.
#[derive(Debug, Default)]
struct PendingWrites {
    entries: Vec<(Key, Vec<u8>)>,
    bytes: usize,
    /// Entries that were asked for today for the first time.
    used: BTreeSet<Key>,
}

impl Cache {
    /// The cache in a folder, which is created if it does not exist. A corrupt database is replaced.
    ///
    /// # Errors
    /// When the folder cannot be written to, or is on a file system where databases do not work.
    pub fn open(folder: &Path) -> Result<Self, CacheError> {
        let error = |what: &dyn fmt::Display| CacheError(format!("{}: {what}", folder.display()));
        create_folder(folder).map_err(|e| error(&e))?;
        let path = folder.join(file_name(SCHEMA_VERSION));
        // The folder may be a part of what is checked, and its links lead to files of others.
        if let Some(other) = files(&path).find(|path| !is_file_or_free(path)) {
            return Err(error(&format_args!("{} is no regular file", other.display())));
        }
        create_file(&path).map_err(|e| error(&e))?;
        let first = Database::open(&path)
            .or_else(|e| {
                if !e.is_corrupt() {
                    return Err(e);
                }
                remove(&path);
                // If this fails, so does what follows, and says why.
                let _ = create_file(&path);
                Database::open(&path)
            })
            .map_err(|e| error(&e))?;
        let today =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() / 86_400);
        let connections = ThreadLocal::new();
        connections.get_or(|| RefCell::new(first));
        Ok(Self { path, connections, pending: Mutex::default(), today })
    }

    /// What was put under a key; nothing if it is not there, or not what was put there.
    #[must_use]
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let open = || Database::open(&self.path).map(RefCell::new);
        let database = self.connections.get_or_try(open).ok()?;
        let (value, used) = database.borrow_mut().get(key)?;
        let value = key.unseal(value)?;
        if used != self.today {
            lock(&self.pending).used.insert(*key);
        }
        Some(value)
    }

    /// Keeps a value under a key.
    pub fn put(&self, key: Key, value: &[u8]) {
        let mut pending = lock(&self.pending);
        pending.bytes += value.len();
        pending.entries.push((key, key.seal(value)));
        if pending.bytes < MAX_BATCH_BYTES && pending.entries.len() < MAX_BATCH_ENTRIES {
            return;
        }
        let full = std::mem::take(&mut *pending);
        drop(pending);
        self.write(full);
    }

    /// Removes all entries of a folder, also those of earlier forms, and says how many bytes that were.
    ///
    /// # Errors
    /// When they cannot be removed.
    pub fn clean(folder: &Path) -> Result<u64, CacheError> {
        let mut bytes = 0;
        for path in (1..=SCHEMA_VERSION).flat_map(|version| files(&folder.join(file_name(version))))
        {
            let Ok(metadata) = std::fs::metadata(&path) else { continue };
            std::fs::remove_file(&path)
                .map_err(|e| CacheError(format!("{}: {e}", path.display())))?;
            bytes += metadata.len();
        }
        Ok(bytes)
    }

    fn write(&self, mut pending: PendingWrites) {
        if pending.entries.is_empty() && pending.used.is_empty() {
            return;
        }
        let mut database = match Database::open(&self.path) {
            Ok(database) => database,
            Err(e) if e.is_corrupt() => return remove(&self.path),
            Err(_) => return,
        };
        // Neighbours in the database are written one after the other.
        pending.entries.sort_unstable_by_key(|(key, _)| database::row_id(key));
        // What cannot be written is found out again the next time.
        if let Err(e) = database.write(&pending.entries, &pending.used, self.today)
            && e.is_corrupt()
        {
            remove(&self.path);
        }
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // Whoever still reads keeps what is removed from being removed.
        self.connections.clear();
        let rest = std::mem::take(&mut *lock(&self.pending));
        self.write(rest);
        if let Ok(mut database) = Database::open(&self.path) {
            database.evict(self.today.saturating_sub(MAX_AGE_DAYS), MAX_SIZE_BYTES);
        }
    }
}

/// The database and the files that SQLite keeps beside it.
fn files(database: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    ["", "-wal", "-shm", "-journal"]
        .map(|end| {
            let mut name = database.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        })
        .into_iter()
}

/// Removes a broken database. Whoever has it open goes on with what it was.
fn remove(database: &Path) {
    for path in files(database) {
        // What cannot be removed is reported by who opens it next.
        let _gone = std::fs::remove_file(path);
    }
}

/// Ignores poisoning: the locked data is consistent at any time, even after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the folder, if there is none, with access for the owner only: findings quote documents.
fn create_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether a path is that of a regular file, not through a link, or of nothing.
fn is_file_or_free(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(there) => there.is_file(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Creates the file, if there is none, with access for the owner only. SQLite gives the files beside it the same mode.
fn create_file(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}
