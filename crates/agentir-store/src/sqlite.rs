//! Sessions in a SQLite database.

use crate::locks::{SessionLocks, folder_of};
use crate::{MAX_ID_BYTES, MemoryChanges, Owner, SessionInfo, Store, StoreError};
use agentir_runtime::{Message, SESSION_VERSION, Session};
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Says in the file's header whose database it is: `agir` in ASCII.
const APPLICATION_ID: i64 = 0x6167_6972;

/// What makes each schema out of the one before it; the number of a schema is how many have run.
/// Rows are only ever added.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE session (
        id       TEXT PRIMARY KEY,
        program  TEXT NOT NULL,
        status   TEXT NOT NULL,
        turn     INTEGER NOT NULL,
        -- How often it was written: who writes must have read the last one.
        revision INTEGER NOT NULL,
        created  INTEGER NOT NULL,
        updated  INTEGER NOT NULL,
        body     TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX session_updated ON session (updated DESC);
    CREATE TABLE memory (
        project TEXT NOT NULL,
        -- Empty for what belongs to the project.
        user    TEXT NOT NULL,
        path    TEXT NOT NULL,
        value   TEXT NOT NULL,
        PRIMARY KEY (project, user, path)
    ) WITHOUT ROWID;
", "
    -- The messages of a session, apart from the rest of it, so that a turn writes only what is new. They
    -- are in the order in which they were written: what a turn adds is in one place.
    CREATE TABLE message (
        session TEXT NOT NULL,
        sequence INTEGER NOT NULL,
        list    INTEGER NOT NULL,
        n       INTEGER NOT NULL,
        body    TEXT NOT NULL,
        PRIMARY KEY (session, sequence)
    ) WITHOUT ROWID;
    -- A row of a table with row ids may be longer before it needs pages of its own.
    CREATE TABLE session_by_row (
        id       TEXT PRIMARY KEY NOT NULL,
        program  TEXT NOT NULL,
        status   TEXT NOT NULL,
        turn     INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        created  INTEGER NOT NULL,
        updated  INTEGER NOT NULL,
        body     TEXT NOT NULL,
        -- The number and the length of each list of messages, in their order; without any, they are in
        -- `body`.
        lists    TEXT NOT NULL DEFAULT '[]'
    );
    INSERT INTO session_by_row (id, program, status, turn, revision, created, updated, body)
        SELECT id, program, status, turn, revision, created, updated, body FROM session;
    DROP TABLE session;
    ALTER TABLE session_by_row RENAME TO session;
"];

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Milliseconds since 1970, as SQLite says it.
const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// A store in a SQLite database: a file, or memory.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    path: PathBuf,
    locks: SessionLocks,
    /// Each session that was read or written here.
    known: BTreeMap<String, Stored>,
}

/// A session as the database has it.
#[derive(Debug, Default)]
struct Stored {
    /// How often it was written.
    revision: i64,
    lists: Vec<StoredList>,
}

/// A list of messages as the database has it.
#[derive(Debug)]
struct StoredList {
    number: i64,
    messages: Vec<Message>,
}

/// How a list of messages comes into the database.
struct ListChange<'m> {
    number: i64,
    /// How many of its messages are there.
    kept: usize,
    /// Whether there are others behind them.
    shortens: bool,
    messages: &'m [Message],
}

impl Stored {
    /// The lists of a session, and the numbers of those that it has no more. A list is the one that
    /// it is a continuation of, wherever that was.
    fn changes<'m>(&self, lists: &[&'m [Message]]) -> (Vec<ListChange<'m>>, Vec<i64>) {
        let mut free: Vec<Option<&StoredList>> = self.lists.iter().map(Some).collect();
        let mut next = self.lists.iter().map(|list| list.number + 1).max().unwrap_or(0);
        let shared = |stored: &StoredList, messages: &[Message]| {
            stored.messages.iter().zip(messages).take_while(|(a, b)| a == b).count()
        };
        let mut changes = Vec::with_capacity(lists.len());
        for (place, messages) in lists.iter().enumerate() {
            // It usually is where it was.
            let candidates = std::iter::once(place).chain((0..free.len()).filter(|n| *n != place));
            let mut best: Option<(usize, usize)> = None;
            for n in candidates {
                let Some(Some(stored)) = free.get(n) else { continue };
                let kept = shared(stored, messages);
                if (kept > 0 || stored.messages.is_empty()) && best.is_none_or(|(_, b)| kept > b) {
                    best = Some((n, kept));
                }
                if kept == stored.messages.len() && n == place {
                    break;
                }
            }
            let stored = best.and_then(|(n, kept)| Some((free.get_mut(n)?.take()?, kept)));
            changes.push(match stored {
                Some((stored, kept)) => ListChange {
                    number: stored.number,
                    kept,
                    shortens: kept < stored.messages.len(),
                    messages,
                },
                None => {
                    next += 1;
                    ListChange { number: next - 1, kept: 0, shortens: false, messages }
                }
            });
        }
        (changes, free.into_iter().flatten().map(|list| list.number).collect())
    }

    /// The lists after the changes were written.
    fn apply(&mut self, changes: Vec<ListChange<'_>>) {
        let mut before: BTreeMap<i64, Vec<Message>> =
            self.lists.drain(..).map(|list| (list.number, list.messages)).collect();
        let lists = changes.into_iter().map(|change| {
            let mut messages = before.remove(&change.number).unwrap_or_default();
            messages.truncate(change.kept);
            messages.extend_from_slice(change.messages.get(change.kept..).unwrap_or_default());
            StoredList { number: change.number, messages }
        });
        self.lists = lists.collect();
    }
}

/// Refuses what cannot be a database, and would keep whoever opens it waiting: a pipe, a device. Beside it lie files that
/// nobody names, and that are written and removed with it: they are no links either.
fn check_files(path: &Path) -> Result<(), StoreError> {
    let refused = |path: PathBuf, reason: &str| StoreError::Io { path, reason: reason.to_owned() };
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return Err(refused(path.into(), "it is a pipe, a device or a socket, not a file"));
    }
    for end in ["-wal", "-shm", "-journal"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        if fs::symlink_metadata(&beside).is_ok_and(|there| !there.is_file()) {
            return Err(refused(beside.into(), "it is no regular file"));
        }
    }
    folder_of(path).map(drop)
}

impl Sqlite {
    /// The database in a file, which is made if there is none, for the eyes of its owner only.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be used or is something else.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        check_files(path)?;
        create_private(path)
            .map_err(|e| StoreError::Io { path: path.into(), reason: e.to_string() })?;
        let connection = Connection::open(path).map_err(|e| error(path, &e))?;
        let store = Self::prepare(connection, path, SessionLocks::next_to(path)?)?;
        #[cfg(unix)]
        make_private(path);
        Ok(store)
    }

    /// The database in a file, for reading: it may be on a file system that cannot be written, where it is opened as it
    /// is. Elsewhere it is [opened](Self::open) as usual.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be read or is something else.
    pub fn open_to_read(path: &Path) -> Result<Self, StoreError> {
        check_files(path)?;
        Self::open(path).or_else(|unwritable| match unwritable {
            StoreError::Io { .. } => Self::open_unwritable(path).map_err(|_| unwritable),
            other => Err(other),
        })
    }

    fn open_unwritable(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connect = |name: &Path, flags: OpenFlags| -> Result<Self, StoreError> {
            let connection =
                Connection::open_with_flags(name, flags).map_err(|e| error(path, &e))?;
            // Nobody can change it, so nothing is locked.
            let locks = SessionLocks::disabled();
            let mut store = Self { connection, path: path.into(), locks, known: BTreeMap::new() };
            // The first question opens the file.
            match store.schema()? {
                (APPLICATION_ID, found) if found == newest_schema() => Ok(store),
                (APPLICATION_ID, found) if found > newest_schema() => {
                    Err(StoreError::NewerSchema {
                        path: path.into(),
                        found,
                        known: newest_schema(),
                    })
                }
                _ => Err(StoreError::ForeignDatabase(path.into())),
            }
        };
        connect(path, flags).or_else(|failed| {
            // Readers share memory in a file next to the database, which cannot be made here. Where nobody can write,
            // none is needed; but what is only in the log would be missed.
            let mut log = path.as_os_str().to_owned();
            log.push("-wal");
            let logged = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
            match immutable(path).filter(|_| !logged) {
                Some(name) => connect(&name, flags | OpenFlags::SQLITE_OPEN_URI),
                None => Err(failed),
            }
        })
    }

    /// A store that is gone with this value.
    ///
    /// # Errors
    /// [`StoreError`] if SQLite has no memory.
    pub fn in_memory() -> Result<Self, StoreError> {
        let path = Path::new(":memory:");
        let connection = Connection::open_in_memory().map_err(|e| error(path, &e))?;
        Self::prepare(connection, path, SessionLocks::disabled())
    }

    /// Waits so long for a session that another process holds; without it, not at all.
    #[must_use]
    pub const fn with_lock_timeout(mut self, lock_timeout: Duration) -> Self {
        self.locks.lock_timeout = lock_timeout;
        self
    }

    fn prepare(
        connection: Connection,
        path: &Path,
        locks: SessionLocks,
    ) -> Result<Self, StoreError> {
        let mut store = Self { connection, path: path.into(), locks, known: BTreeMap::new() };
        store.run(|connection, _| connection.busy_timeout(BUSY_TIMEOUT))?;
        store.migrate()?;
        store.run(|connection, _| {
            // Every turn that was written stays, even if the machine stops.
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")
        })?;
        Ok(store)
    }

    /// Brings the schema to its newest form, in one transaction.
    fn migrate(&mut self) -> Result<(), StoreError> {
        let known = newest_schema();
        let path = self.path.clone();
        if self.schema()? == (APPLICATION_ID, known) {
            return Ok(());
        }
        self.transaction(|t| {
            let tables: i64 =
                t.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
            let application = pragma(t, "application_id")?;
            let found = pragma(t, "user_version")?;
            if application != APPLICATION_ID && (application != 0 || found != 0 || tables != 0) {
                return Ok(Err(StoreError::ForeignDatabase(path)));
            }
            let Some(missing) = usize::try_from(found).ok().and_then(|n| MIGRATIONS.get(n..))
            else {
                return Ok(Err(StoreError::NewerSchema { path, found, known }));
            };
            for step in missing {
                t.execute_batch(step)?;
            }
            t.pragma_update(None, "application_id", APPLICATION_ID)?;
            t.pragma_update(None, "user_version", known)?;
            Ok(Ok(()))
        })?
    }

    /// Whose database it is, and the number of its schema.
    fn schema(&mut self) -> Result<(i64, i64), StoreError> {
        self.run(|t, _| Ok((pragma(t, "application_id")?, pragma(t, "user_version")?)))
    }

    fn run<T>(
        &mut self,
        job: impl FnOnce(&mut Connection, &Path) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        job(&mut self.connection, &self.path).map_err(|e| error(&self.path, &e))
    }

    /// Writes; what does not come to its end leaves nothing.
    fn transaction<T>(
        &mut self,
        job: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.run(|connection, _| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = job(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })
    }

    fn read(&mut self, id: &str) -> Result<Option<Session>, StoreError> {
        // In one transaction, so that all of it is of the same turn.
        let found = self.run(|connection, _| {
            let reading = connection.transaction()?;
            let session = reading
                .prepare_cached("SELECT revision, body, lists FROM session WHERE id = ?1")?
                .query_row([id], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
                })
                .optional()?;
            let mut messages = reading.prepare_cached(
                "SELECT list, body FROM message WHERE session = ?1 ORDER BY list, n",
            )?;
            let messages = messages
                .query_map([id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(session.map(|session| (session, messages)))
        })?;
        let Some(((revision, body, lists), rows)) = found else {
            self.known.insert(id.to_owned(), Stored::default());
            return Ok(None);
        };
        let no_session = || StoreError::UnsupportedVersion { id: id.to_owned(), found: None };
        let json: Json = serde_json::from_str(&body).map_err(|_| no_session())?;
        let form = json.get("version").and_then(Json::as_u64);
        if form != Some(u64::from(SESSION_VERSION)) {
            return Err(StoreError::UnsupportedVersion { id: id.to_owned(), found: form });
        }
        let mut session: Session = serde_json::from_value(json).map_err(|_| no_session())?;
        let lists: Vec<(i64, usize)> = serde_json::from_str(&lists).map_err(|_| no_session())?;
        let mut messages: BTreeMap<i64, Vec<Message>> = BTreeMap::new();
        for (list, body) in rows {
            let message = serde_json::from_str(&body).map_err(|_| no_session())?;
            messages.entry(list).or_default().push(message);
        }
        let lists: Vec<StoredList> = lists
            .into_iter()
            .map(|(number, length)| {
                let messages = messages.remove(&number).unwrap_or_default();
                let whole = messages.len() == length;
                whole.then_some(StoredList { number, messages }).ok_or_else(|| {
                    StoreError::Corrupt {
                        path: self.path.clone(),
                        reason: format!("messages of session `{id}` are missing"),
                    }
                })
            })
            .collect::<Result<_, _>>()?;
        if !lists.is_empty()
            && !session.restore_messages(lists.iter().map(|list| list.messages.clone()).collect())
        {
            return Err(no_session());
        }
        self.known.insert(id.to_owned(), Stored { revision, lists });
        Ok(Some(session))
    }
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// The number of the schema that all migrations lead to.
fn newest_schema() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The name of a file that does not change while it is read, as a URI (SQLite, "Uniform Resource Identifiers", 3.3).
fn immutable(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-');
    let escaped = path.to_str()?.bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    Some(PathBuf::from(format!("file:{}?immutable=1", escaped.collect::<String>())))
}

impl Store for Sqlite {
    fn load(&mut self, id: &str) -> Result<Option<Session>, StoreError> {
        check_id(id)?;
        self.locks.acquire(id)?;
        let session = self.read(id);
        if session.is_err() {
            self.locks.release(id);
        }
        session
    }

    fn save(
        &mut self,
        id: &str,
        session: &Session,
        shared: &[MemoryChanges],
    ) -> Result<(), StoreError> {
        check_id(id)?;
        self.locks.acquire(id)?;
        let unwritable = |e: serde_json::Error| StoreError::Io {
            path: self.path.clone(),
            reason: e.to_string(),
        };
        let body = serde_json::to_string(&session.without_messages()).map_err(unwritable)?;
        let stored = self.known.remove(id).unwrap_or_default();
        let read = stored.revision;
        let lists = session.message_lists();
        let (changes, gone) = stored.changes(&lists);
        let lists: Vec<(i64, usize)> =
            changes.iter().map(|change| (change.number, change.messages.len())).collect();
        let lists = serde_json::to_string(&lists).map_err(unwritable)?;
        let mut new = Vec::new();
        for change in &changes {
            for (n, message) in change.messages.iter().enumerate().skip(change.kept) {
                let body = serde_json::to_string(message).map_err(unwritable)?;
                new.push((change.number, i64::try_from(n).unwrap_or(i64::MAX), body));
            }
        }
        let written = self.transaction(|t| {
            let mut insert = t.prepare_cached(&format!(
                "INSERT INTO session
                     (id, program, status, turn, revision, created, updated, body, lists)
                 VALUES (?1, ?2, ?3, ?4, ?5 + 1, {NOW}, {NOW}, ?6, ?7)
                 ON CONFLICT (id) DO UPDATE SET program = ?2, status = ?3, turn = ?4,
                     revision = ?5 + 1, updated = {NOW}, body = ?6, lists = ?7
                 WHERE revision = ?5"
            ))?;
            let status = session.status.name();
            let fields = params![id, session.program, status, session.turn, read, body, lists];
            if insert.execute(fields)? == 0 {
                return Ok(false);
            }
            let mut cut = t.prepare_cached(
                "DELETE FROM message WHERE session = ?1 AND list = ?2 AND n >= ?3",
            )?;
            for change in changes.iter().filter(|change| change.shortens) {
                let kept = i64::try_from(change.kept).unwrap_or(i64::MAX);
                cut.execute(params![id, change.number, kept])?;
            }
            for number in &gone {
                cut.execute(params![id, number, 0])?;
            }
            let mut last = t.prepare_cached(
                "SELECT coalesce(max(sequence), 0) FROM message WHERE session = ?1",
            )?;
            let last: i64 = last.query_row([id], |row| row.get(0))?;
            let mut add = t.prepare_cached("INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (sequence, (list, n, body)) in (last + 1..).zip(&new) {
                add.execute(params![id, sequence, list, n, body])?;
            }
            for MemoryChanges { owner, values } in shared {
                let (project, user) = owner_columns(owner);
                for (path, change) in values {
                    let stored: Option<String> = t
                        .prepare_cached(
                            "SELECT value FROM memory WHERE project = ?1 AND user = ?2 AND path = ?3",
                        )?
                        .query_row(params![project, user, path], |row| row.get(0))
                        .optional()?;
                    // What is no JSON is none of ours, and reading it has failed before.
                    let stored = stored.and_then(|text| serde_json::from_str(&text).ok());
                    match change.merged(stored.as_ref()) {
                        Some(value) => t.execute(
                            "INSERT OR REPLACE INTO memory VALUES (?1, ?2, ?3, ?4)",
                            params![project, user, path, value.to_string()],
                        )?,
                        None => t.execute(
                            "DELETE FROM memory WHERE project = ?1 AND user = ?2 AND path = ?3",
                            params![project, user, path],
                        )?,
                    };
                }
            }
            Ok(true)
        });
        let mut stored = stored;
        let done = matches!(written, Ok(true));
        if done {
            stored.apply(changes);
            stored.revision += 1;
        }
        self.known.insert(id.to_owned(), stored);
        if written? { Ok(()) } else { Err(StoreError::Conflict(id.to_owned())) }
    }

    fn list(&mut self) -> Result<Vec<SessionInfo>, StoreError> {
        self.run(|connection, _| {
            let mut all = connection.prepare_cached(
                "SELECT id, program, status, turn, created, updated FROM session
                 ORDER BY updated DESC, id",
            )?;
            let rows = all.query_map([], |row| {
                Ok(SessionInfo {
                    id: row.get(0)?,
                    program: row.get(1)?,
                    status: row.get(2)?,
                    turn: row.get(3)?,
                    created: row.get(4)?,
                    updated: row.get(5)?,
                })
            })?;
            rows.collect()
        })
    }

    fn delete(&mut self, id: &str) -> Result<bool, StoreError> {
        check_id(id)?;
        self.locks.acquire(id)?;
        let gone = self.transaction(|t| {
            t.execute("DELETE FROM message WHERE session = ?1", [id])?;
            t.execute("DELETE FROM session WHERE id = ?1", [id])
        });
        self.release(id);
        Ok(gone? > 0)
    }

    fn release(&mut self, id: &str) {
        self.known.remove(id);
        self.locks.release(id);
    }

    fn recall(&mut self, owner: &Owner) -> Result<BTreeMap<String, Json>, StoreError> {
        let (project, user) = owner_columns(owner);
        let found: Vec<(String, String)> = self.run(|connection, _| {
            let mut all = connection.prepare_cached(
                "SELECT path, value FROM memory WHERE project = ?1 AND user = ?2",
            )?;
            let rows =
                all.query_map([project, user.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let values = found.into_iter().map(|(path, value)| {
            let value = serde_json::from_str(&value).map_err(|e| StoreError::Corrupt {
                path: self.path.clone(),
                reason: format!("the memory of `{path}` is no JSON: {e}"),
            })?;
            Ok((path, value))
        });
        values.collect()
    }
}

/// The columns that say whose a memory is. Users have a mark, so that none is called like a project.
fn owner_columns(owner: &Owner) -> (&str, String) {
    match owner {
        Owner::User { project, user } => (project, format!("user:{user}")),
        Owner::Project(project) => (project, String::new()),
    }
}

fn check_id(id: &str) -> Result<(), StoreError> {
    if id.is_empty() || id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
        return Err(StoreError::InvalidId(id.chars().take(MAX_ID_BYTES).collect()));
    }
    Ok(())
}

/// Creates the file, if there is none, with access for the owner only: it contains conversations.
fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Takes others' access to a database that was there, and to what SQLite keeps beside it.
#[cfg(unix)]
fn make_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    for end in ["", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(end);
        let open = std::fs::metadata(&file).is_ok_and(|m| m.permissions().mode() & 0o077 != 0);
        if open {
            // It may belong to somebody else, who then decides.
            let _ = std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600));
        }
    }
}

fn error(path: &Path, e: &rusqlite::Error) -> StoreError {
    let path = path.to_path_buf();
    let reason = e.to_string();
    match e.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Corrupt { path, reason }
        }
        _ if matches!(e, rusqlite::Error::InvalidColumnType(..)) => {
            StoreError::Corrupt { path, reason }
        }
        Some(ErrorCode::DatabaseBusy) => StoreError::Io {
            path,
            reason: format!(
                "another process has been writing for {} seconds",
                BUSY_TIMEOUT.as_secs()
            ),
        },
        _ => StoreError::Io { path, reason },
    }
}
