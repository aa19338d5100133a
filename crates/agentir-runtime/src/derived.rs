//! What expressions made of sensitive values, which is not shown either.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The number of texts and numbers that expressions made of sensitive values which are remembered in a conversation, and
/// their size in bytes. They are looked for in whatever is shown.
const MAX_DERIVED: usize = 1000;
const MAX_DERIVED_BYTES: usize = 1 << 20;

/// What expressions made of sensitive values.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Derived {
    /// Texts, and numbers as texts.
    pub(crate) texts: BTreeSet<String>,
    /// Whether there was more than is remembered, so that nothing that may contain it is shown.
    pub(crate) too_many: bool,
}

impl Derived {
    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts.is_empty() && !self.too_many
    }

    /// Adds more.
    pub(crate) fn extend(&mut self, more: Self) {
        if more.is_empty() {
            return;
        }
        self.too_many |= more.too_many;
        self.texts.extend(more.texts);
        let bytes: usize = self.texts.iter().map(String::len).sum();
        if self.texts.len() > MAX_DERIVED || bytes > MAX_DERIVED_BYTES {
            self.texts.clear();
            self.too_many = true;
        }
    }
}
