//! What agents remember beyond a conversation (ABL, current specification, 3.7.2).

use crate::{Store, StoreError};
use agentir_ir::Program;
use agentir_runtime::Session;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// What is kept for a time only is kept as an object of these two: the value, and until when, in
/// milliseconds since the beginning of 1970.
const VALUE_KEY: &str = "$value";
const EXPIRY_KEY: &str = "$until";

/// A value that is kept for a time only, and until when.
fn expiring_value(kept: &Json) -> Option<(&Json, i64)> {
    let fields = kept.as_object().filter(|fields| fields.len() == 2)?;
    Some((fields.get(VALUE_KEY)?, fields.get(EXPIRY_KEY)?.as_i64()?))
}

/// Whom a memory belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    /// A user of a project, by the ids of both: scope `user`.
    User {
        /// The project.
        project: String,
        /// The user.
        user: String,
    },
    /// A project, by its id: scope `project`.
    Project(String),
}

/// What changed in what somebody remembers.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryChanges {
    /// Whose it is.
    pub owner: Owner,
    /// The new values by path; none for what is forgotten. Other paths stay as they are.
    pub values: BTreeMap<String, Option<Json>>,
}

/// The memory of a conversation, as far as it is shared with others.
///
/// Only what a conversation changed is written, so two conversations of one user that remember
/// different things do not undo each other; of the same path the last value holds.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    project: String,
    user: Option<String>,
    /// The scopes that are declared, by path.
    scopes: BTreeMap<String, &'static str>,
    /// What is in the store, as far as it was read or written here.
    known: BTreeMap<String, Json>,
}

impl Memory {
    /// The memory of a program's conversations with a user. Without a user, what belongs to one is
    /// kept with the session only, as is what belongs to an `execution_tree`.
    #[must_use]
    pub fn new(program: &Program, project: &str, user: Option<&str>) -> Self {
        let declared = program.agents().flat_map(|agent| &agent.memory.persistent);
        Self {
            project: project.to_owned(),
            user: user.map(str::to_owned),
            scopes: declared.map(|path| (path.path.value.to_string(), path.scope)).collect(),
            known: BTreeMap::new(),
        }
    }

    /// Whom a path belongs to. A path below a declared one, and one that nobody declares but somebody
    /// remembers, go by their closest declared parent, else they are the user's.
    fn owner(&self, path: &str) -> Option<Owner> {
        let mut known = path;
        let scope = loop {
            match (self.scopes.get(known), known.rsplit_once('.')) {
                (Some(scope), _) => break *scope,
                (None, Some((parent, _))) => known = parent,
                (None, None) => break "user",
            }
        };
        match scope {
            "project" => Some(Owner::Project(self.project.clone())),
            "user" => Some(Owner::User { project: self.project.clone(), user: self.user.clone()? }),
            _ => None,
        }
    }

    /// Tells a session what is remembered: before its first turn, and before every other one if
    /// conversations run beside each other.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    pub fn load_into(
        &mut self,
        store: &mut dyn Store,
        session: &mut Session,
    ) -> Result<(), StoreError> {
        let user =
            self.user.clone().map(|user| Owner::User { project: self.project.clone(), user });
        let owners = [Some(Owner::Project(self.project.clone())), user];
        for owner in owners.into_iter().flatten() {
            for (path, value) in store.recall(&owner)? {
                // A path may have changed hands since it was written.
                if self.owner(&path).as_ref() == Some(&owner) {
                    match expiring_value(&value) {
                        Some((inner, until)) => session.set_memory_until(&path, inner, until),
                        None => session.set_memory(&path, &value),
                    }
                    self.known.insert(path, value);
                }
            }
        }
        Ok(())
    }

    /// What a session changed, to be saved with it.
    #[must_use]
    pub fn changes(&self, session: &Session) -> Vec<MemoryChanges> {
        let mut now = session.memory();
        for (path, value) in &mut now {
            if let Some(until) = session.memory_expiry(path) {
                *value = json!({ VALUE_KEY: value.take(), EXPIRY_KEY: until });
            }
        }
        let mut changed: BTreeMap<Owner, BTreeMap<String, Option<Json>>> = BTreeMap::new();
        let mut note = |path: &str, value: Option<Json>| {
            if let Some(owner) = self.owner(path) {
                changed.entry(owner).or_default().insert(path.to_owned(), value);
            }
        };
        for (path, value) in &now {
            if self.known.get(path) != Some(value) {
                note(path, Some(value.clone()));
            }
        }
        for path in self.known.keys().filter(|path| !now.contains_key(*path)) {
            note(path, None);
        }
        changed.into_iter().map(|(owner, values)| MemoryChanges { owner, values }).collect()
    }

    /// Writes a turn: the session and what it changed in this memory.
    ///
    /// # Errors
    /// [`StoreError`], as [`Store::save`].
    pub fn save(
        &mut self,
        store: &mut dyn Store,
        id: &str,
        session: &Session,
    ) -> Result<(), StoreError> {
        let changes = self.changes(session);
        store.save(id, session, &changes)?;
        for (path, value) in changes.into_iter().flat_map(|shared| shared.values) {
            match value {
                Some(value) => self.known.insert(path, value),
                None => self.known.remove(&path),
            };
        }
        Ok(())
    }
}
