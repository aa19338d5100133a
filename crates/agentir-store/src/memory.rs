//! What agents remember beyond a conversation (ABL, current specification, 3.7.2).

use crate::{Store, StoreError};
use agentir_ir::Program;
use agentir_runtime::{MemoryWrite, Session};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The changes by path. Other paths stay as they are.
    pub values: BTreeMap<String, MemoryChange>,
}

/// The change of one path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryChange {
    /// The value that the conversation knew before.
    pub from: Option<Json>,
    /// The new value; none if it is forgotten.
    pub to: Option<Json>,
    /// How the new value was made of the one before; nothing if that is not known.
    pub writes: Vec<MemoryWrite>,
}

impl MemoryChange {
    /// The value to be stored, where `now` is stored. If nobody has written meanwhile, it is the new one. Otherwise what
    /// the conversation appended is appended to what is there, what was only a default gives way, what it forgot stays,
    /// because somebody has renewed it, and of values that were set the last one holds.
    #[must_use]
    pub fn merged(&self, now: Option<&Json>) -> Option<Json> {
        if now == self.from.as_ref() {
            return self.to.clone();
        }
        let Some(to) = &self.to else { return now.cloned() };
        let (written, until) = match expiring_value(to) {
            Some((value, until)) => (value, Some(until)),
            None => (to, None),
        };
        let now = now.map(|now| expiring_value(now).map_or(now, |(value, _)| value));
        let value = MemoryWrite::apply_all(&self.writes, now, written);
        Some(match until {
            Some(until) => kept_until(value, until),
            None => value,
        })
    }
}

fn kept_until(value: Json, until: i64) -> Json {
    json!({ VALUE_KEY: value, EXPIRY_KEY: until })
}

/// The memory of a conversation, as far as it is shared with others.
///
/// It is read again before each turn, and only what the turn changed is written, so conversations that are open at once
/// see what others remember, and do not undo it. Where two turns at the same moment change the same path,
/// [`MemoryChange::merged`] says what is kept.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    project: String,
    user: Option<String>,
    /// The scopes that are declared, by path.
    scopes: BTreeMap<String, &'static str>,
    /// What is in the store, as far as it was read or written here.
    known: BTreeMap<String, Json>,
    /// The paths of which others wrote the value that is known.
    foreign: BTreeSet<String>,
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
            foreign: BTreeSet::new(),
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

    /// Tells a session what is remembered, and what was forgotten: before its first turn, and before every other one, because
    /// conversations may run beside each other.
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
        let mut found = BTreeMap::new();
        for owner in owners.into_iter().flatten() {
            let mut values = store.recall(&owner)?;
            // A path may have changed hands since it was written.
            values.retain(|path, _| self.owner(path).as_ref() == Some(&owner));
            found.append(&mut values);
        }
        for path in self.known.keys().filter(|path| !found.contains_key(*path)) {
            session.forget_memory(path);
        }
        for (path, value) in &found {
            // What is known has been told, and the turn may have done more with it.
            if self.known.get(path) != Some(value) {
                tell(session, path, value);
                self.foreign.insert(path.clone());
            }
        }
        self.known = found;
        Ok(())
    }

    /// Keeps what others remembered in a session that goes back to an earlier state: only its own turns are taken back.
    pub fn keep_foreign(&self, session: &mut Session) {
        for path in &self.foreign {
            if let Some(value) = self.known.get(path) {
                tell(session, path, value);
            }
        }
    }

    /// What a session changed, to be saved with it.
    #[must_use]
    pub fn changes(&self, session: &Session) -> Vec<MemoryChanges> {
        let mut now = session.memory();
        for (path, value) in &mut now {
            if let Some(until) = session.memory_expiry(path) {
                *value = kept_until(value.take(), until);
            }
        }
        let mut changed: BTreeMap<Owner, BTreeMap<String, MemoryChange>> = BTreeMap::new();
        let mut note = |path: &str, to: Option<Json>| {
            if let Some(owner) = self.owner(path) {
                let from = self.known.get(path).cloned();
                let writes = session.memory_writes(path).to_vec();
                let change = MemoryChange { from, to, writes };
                changed.entry(owner).or_default().insert(path.to_owned(), change);
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
        for (path, change) in changes.into_iter().flat_map(|shared| shared.values) {
            self.foreign.remove(&path);
            match change.to {
                Some(value) => self.known.insert(path, value),
                None => self.known.remove(&path),
            };
        }
        Ok(())
    }
}

fn tell(session: &mut Session, path: &str, value: &Json) {
    match expiring_value(value) {
        Some((inner, until)) => session.set_memory_until(path, inner, until),
        None => session.set_memory(path, value),
    }
}
