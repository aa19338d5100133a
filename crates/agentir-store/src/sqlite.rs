//! Sessions in a SQLite database.

use crate::locks::SessionLocks;
use crate::{MAX_ID_BYTES, MemoryChanges, Owner, SessionInfo, Store, StoreError};
use agentir_runtime::{SESSION_VERSION, Session};
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params,
};
use serde_json::Value as Json;
use std::collections::BTreeMap;
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
    /// The count of each session that was read here.
    revisions: BTreeMap<String, i64>,
}

impl Sqlite {
    /// The database in a file, which is made if there is none, for the eyes of its owner only.
    ///
    /// # Errors
    /// [`StoreError`] if the file cannot be used or is something else.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        create_private(path)
            .map_err(|e| StoreError::Io { path: path.into(), reason: e.to_string() })?;
        let connection = Connection::open(path).map_err(|e| error(path, &e))?;
        Self::prepare(connection, path, SessionLocks::next_to(path))
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
        let mut store = Self { connection, path: path.into(), locks, revisions: BTreeMap::new() };
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
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        let path = self.path.clone();
        let pragma = |t: &Connection, name: &str| {
            t.pragma_query_value(None, name, |row| row.get::<_, i64>(0))
        };
        if self.run(|t, _| Ok((pragma(t, "application_id")?, pragma(t, "user_version")?)))?
            == (APPLICATION_ID, known)
        {
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
        let found = self.run(|connection, _| {
            connection
                .query_row("SELECT revision, body FROM session WHERE id = ?1", [id], |row| {
                    Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
                })
                .optional()
        })?;
        let Some((revision, body)) = found else {
            self.revisions.insert(id.to_owned(), 0);
            return Ok(None);
        };
        let no_session = || StoreError::UnsupportedVersion { id: id.to_owned(), found: None };
        let json: Json = serde_json::from_str(&body).map_err(|_| no_session())?;
        let form = json.get("version").and_then(Json::as_u64);
        if form != Some(u64::from(SESSION_VERSION)) {
            return Err(StoreError::UnsupportedVersion { id: id.to_owned(), found: form });
        }
        let session = serde_json::from_value(json).map_err(|_| no_session())?;
        self.revisions.insert(id.to_owned(), revision);
        Ok(Some(session))
    }
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
        let body = serde_json::to_string(session)
            .map_err(|e| StoreError::Io { path: self.path.clone(), reason: e.to_string() })?;
        let read = self.revisions.get(id).copied().unwrap_or(0);
        let written = self.transaction(|t| {
            let insert = format!(
                "INSERT INTO session (id, program, status, turn, revision, created, updated, body)
                 VALUES (?1, ?2, ?3, ?4, ?5 + 1, {NOW}, {NOW}, ?6)
                 ON CONFLICT (id) DO UPDATE SET program = ?2, status = ?3, turn = ?4,
                     revision = ?5 + 1, updated = {NOW}, body = ?6
                 WHERE revision = ?5"
            );
            let status = session.status.name();
            let fields = params![id, session.program, status, session.turn, read, body];
            if t.execute(&insert, fields)? == 0 {
                return Ok(false);
            }
            for MemoryChanges { owner, values } in shared {
                let (project, user) = owner_columns(owner);
                for (path, value) in values {
                    match value {
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
        })?;
        if !written {
            return Err(StoreError::Conflict(id.to_owned()));
        }
        self.revisions.insert(id.to_owned(), read + 1);
        Ok(())
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
        let gone = self.transaction(|t| t.execute("DELETE FROM session WHERE id = ?1", [id]));
        match gone {
            Ok(_) => self.locks.remove(id),
            Err(_) => self.locks.release(id),
        }
        self.revisions.remove(id);
        Ok(gone? > 0)
    }

    fn release(&mut self, id: &str) {
        self.revisions.remove(id);
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
