//! Storage of sessions and long-term memory, in SQLite.
//!
//! A turn is a transaction. [`Store::load`] reads a session; [`Store::save`] writes it together
//! with the turn's changes to long-term memory. Whatever happens to the process, the conversation
//! continues after the last turn that was saved.
//!
//! Messages are rows of their own ([`Session::message_lists`]), and a turn writes those that are
//! new, so that it costs as much as the first one however long the conversation is. Which ones are
//! new is found by comparison with what the database has, so a session may also be taken back to an
//! earlier turn.
//!
//! Loading a session locks it until it is released or the process ends; the lock is an operating-
//! system lock on a file, which is removed with the lock. What a crash leaves is removed by the next
//! process that opens the database. Others wait for
//! [`Sqlite::with_lock_timeout`], then get [`StoreError::Locked`]. In addition, a count of saved
//! turns ensures that no turn overwrites another. Only changed paths of a memory are written, and they are
//! compared with what is stored in the same transaction, so concurrent conversations do not undo each other's changes.
//!
//! [`Memory`] is what agents remember beyond a conversation (ABL, current specification, 3.7.2):
//! the declarations of a program determine what belongs to the user and what to the project.
//!
//! *Invariant*: nothing here runs an agent or inspects a session. What is stored is the JSON of
//! [`agentir_runtime::Session`], and nothing is written outside the database and its locks.

mod error;
mod lock_files;
mod locks;
mod memory;
mod sqlite;

pub use error::StoreError;
pub use memory::{Memory, MemoryChange, MemoryChanges, Owner};
pub use sqlite::Sqlite;

use agentir_runtime::{Session, Status};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// How long the id of a session may be, in bytes.
pub const MAX_ID_BYTES: usize = 80;

/// What is known of a stored session without reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: String,
    /// The program it was begun with, as [`Session::program`].
    pub program: String,
    /// How it stands, as [`Status::name`].
    pub status: String,
    /// How many messages the user has sent.
    pub turn: u32,
    /// When it was begun, in milliseconds since the beginning of 1970.
    pub created: i64,
    /// When it was last written, in milliseconds since the beginning of 1970.
    pub updated: i64,
}

impl SessionInfo {
    /// Whether the user can go on with it.
    #[must_use]
    pub fn can_continue(&self) -> bool {
        [Status::Await.name(), Status::Human.name()].contains(&self.status.as_str())
    }
}

/// What keeps sessions.
pub trait Store {
    /// Reads a session and holds it; none if there is none of this id, which is then held as well.
    ///
    /// # Errors
    /// [`StoreError`]: it is held elsewhere, of another form, or cannot be read.
    fn load(&mut self, id: &str) -> Result<Option<Session>, StoreError>;

    /// Writes a session as it is after a turn, and what changed in memories, all of it or nothing.
    ///
    /// # Errors
    /// [`StoreError`]: it is held elsewhere, was continued elsewhere, or cannot be written.
    fn save(
        &mut self,
        id: &str,
        session: &Session,
        shared: &[MemoryChanges],
    ) -> Result<(), StoreError>;

    /// All sessions, those that were written last first.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    fn list(&mut self) -> Result<Vec<SessionInfo>, StoreError>;

    /// Removes a session; says whether there was one.
    ///
    /// # Errors
    /// [`StoreError`]: it is held elsewhere or cannot be removed.
    fn delete(&mut self, id: &str) -> Result<bool, StoreError>;

    /// Lets others have a session.
    fn release(&mut self, id: &str);

    /// What is remembered for somebody, by path.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn recall(&mut self, owner: &Owner) -> Result<BTreeMap<String, Json>, StoreError>;
}
