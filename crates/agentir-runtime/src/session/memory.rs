//! The long-term memory of a session.

use super::Session;
use agentir_eval::State;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// What a turn did to a path of long-term memory, as it can be done again to a value that somebody else has written
/// meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryWrite {
    /// It had no value, and got the one that is declared for it.
    Default,
    /// It got a value, whatever it had before.
    Set(Json),
    /// `operation: append` (ABL, current specification, 3.7.3).
    Append {
        /// The value that was appended.
        value: Json,
        /// Only if the list does not contain it.
        unique: bool,
        /// How many of the last items are kept.
        max_size: Option<usize>,
    },
}

/// Appends a value to a list, only if the list does not contain it (`unique`), and keeps so many of the last items.
pub(crate) fn append<T: PartialEq>(
    items: &mut Vec<T>,
    value: T,
    unique: bool,
    max_size: Option<usize>,
) {
    if !unique || !items.contains(&value) {
        items.push(value);
    }
    if let Some(most) = max_size {
        items.drain(..items.len().saturating_sub(most));
    }
}

impl MemoryWrite {
    /// The value of a path after these writes, made to what the path has now; `written` is what they made of what the
    /// writer had read, and what holds if nobody knows how it was written.
    #[must_use]
    pub fn apply_all(writes: &[Self], now: Option<&Json>, written: &Json) -> Json {
        let mut value = now.cloned();
        for write in writes {
            match write {
                Self::Default => value = value.or_else(|| Some(written.clone())),
                Self::Set(new) => value = Some(new.clone()),
                Self::Append { value: new, unique, max_size } => {
                    let mut items = match value {
                        Some(Json::Array(items)) => items,
                        _ => Vec::new(),
                    };
                    append(&mut items, new.clone(), *unique, *max_size);
                    value = Some(Json::Array(items));
                }
            }
        }
        match value {
            Some(value) if !writes.is_empty() => value,
            _ => written.clone(),
        }
    }
}

impl Session {
    /// The expiry time of a memory path, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn memory_expiry(&self, path: &str) -> Option<i64> {
        self.expires.get(path).copied()
    }

    /// Removes expired memory entries.
    pub(crate) fn remove_expired(&mut self, now: i64) {
        let over = self.expires.iter().filter(|(_, at)| **at <= now);
        let over: Vec<String> = over.map(|(path, _)| path.clone()).collect();
        if !over.is_empty() {
            self.forget_all(&over);
        }
    }

    fn forget_all(&mut self, paths: &[String]) {
        let mut kept = State::new();
        for (path, value) in self.memory.variables() {
            if !paths.iter().any(|gone| gone == path.as_str()) {
                kept.set(path.clone(), value.clone());
            }
        }
        self.memory = kept;
        self.expires.retain(|path, _| !paths.contains(path));
    }

    /// Like [`Self::set_memory`], with an expiry time in milliseconds since the Unix epoch.
    pub fn set_memory_until(&mut self, path: &str, value: &Json, until: i64) {
        self.set_memory(path, value);
        self.expires.insert(path.to_owned(), until);
    }

    /// The long-term memory, by path.
    #[must_use]
    pub fn memory(&self) -> BTreeMap<String, Json> {
        let all = self.memory.variables();
        all.map(|(name, value)| (name.to_string(), crate::json::to_json(value))).collect()
    }

    /// Forgets how the values of memory were written: what is saved next is no turn.
    pub fn forget_memory_writes(&mut self) {
        self.memory_writes.clear();
    }

    /// How the last turn wrote a path of long-term memory, in order.
    #[must_use]
    pub fn memory_writes(&self, path: &str) -> &[MemoryWrite] {
        self.memory_writes.get(path).map_or(&[], Vec::as_slice)
    }

    /// Removes a value from long-term memory, as another conversation would have done.
    pub fn forget_memory(&mut self, path: &str) {
        self.forget_all(&[path.to_owned()]);
    }

    /// Sets a value in long-term memory, as an earlier conversation would have done.
    pub fn set_memory(&mut self, path: &str, value: &Json) {
        if let Ok(value) = crate::json::from_json(value) {
            self.memory.set(path, value);
            self.expires.remove(path);
        }
    }
}
