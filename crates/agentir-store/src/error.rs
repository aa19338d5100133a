//! Errors of stores, with messages for users.

use std::fmt;
use std::path::PathBuf;

/// Why a session could not be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The id cannot be one.
    InvalidId(String),
    /// Another process has the session.
    Locked(String),
    /// The session was written by somebody else since it was read, or exists and was not read.
    Conflict(String),
    /// The session has a form that this version does not read.
    UnsupportedVersion {
        /// The session.
        id: String,
        /// Its form, as [`agentir_runtime::Session::version`]; `None` if it is not a session.
        found: Option<u64>,
    },
    /// The file is not a database, or is damaged.
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite says about it.
        reason: String,
    },
    /// The file is a database of another program.
    ForeignDatabase(PathBuf),
    /// The database was made by a newer version.
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that is known here.
        known: i64,
    },
    /// The file cannot be opened, read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says about it.
        reason: String,
    },
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidId(id) => write!(
                f,
                "`{}` cannot be the id of a session: write 1 to {} bytes without control characters",
                id.escape_debug(),
                crate::MAX_ID_BYTES
            ),
            Self::Locked(id) => write!(
                f,
                "session `{id}` is in use by another process: wait until its turn is over, end that \
                 process, or use another id"
            ),
            Self::Conflict(id) => write!(
                f,
                "session `{id}` was continued elsewhere since it was read, so this turn is not \
                 written: read the session again, or use another id"
            ),
            Self::UnsupportedVersion { id, found: Some(found) } => write!(
                f,
                "session `{id}` is of form {found} and this version reads form {}: finish it with the \
                 version that began it, or delete it and begin anew",
                agentir_runtime::SESSION_VERSION
            ),
            Self::UnsupportedVersion { id, found: None } => write!(
                f,
                "what is stored as session `{id}` is not a session: delete it and start again"
            ),
            Self::Corrupt { path, reason } => write!(
                f,
                "{} is not a session database, or it is damaged ({reason}): move it away to begin \
                 with an empty one, or try `sqlite3 {} .recover`",
                path.display(),
                path.display()
            ),
            Self::ForeignDatabase(path) => write!(
                f,
                "{} is a database of another program: name another file for the sessions",
                path.display()
            ),
            Self::NewerSchema { path, found, known } => write!(
                f,
                "{} was written by a newer version (schema {found}, known is {known}): use that \
                 version, or name another file",
                path.display()
            ),
            Self::Io { path, reason } => write!(f, "cannot use {}: {reason}", path.display()),
        }
    }
}

impl std::error::Error for StoreError {}
