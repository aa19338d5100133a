//! Secrets that become known while others are being masked.

use crate::encodings::{Form, forms, may_be_told};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// How many values are kept: those that were added last.
const MAX_VALUES: usize = 256;

/// Values that services give while texts are shown, such as access tokens. All copies have the same values, so that
/// whoever adds one is heard by every [`Masker`](crate::Masker) that was made with a copy.
#[derive(Clone, Default)]
pub struct Issued(Arc<RwLock<VecDeque<Value>>>);

/// A value and its forms.
struct Value {
    value: Box<str>,
    forms: Vec<Form>,
}

/// It does not show what it knows.
impl fmt::Debug for Issued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Issued").finish_non_exhaustive()
    }
}

impl Issued {
    /// Adds a value that [may be told](may_be_told) from others. The last 256 are kept.
    pub fn add(&self, value: &str) {
        let value = value.trim();
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if !may_be_told(value) || all.iter().any(|known| *known.value == *value) {
            return;
        }
        if all.len() == MAX_VALUES {
            all.pop_front();
        }
        all.push_back(Value { value: value.into(), forms: forms(value) });
    }

    /// The values.
    #[must_use]
    pub fn values(&self) -> Vec<String> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|one| one.value.to_string()).collect()
    }

    /// Calls `see` with all forms of all values.
    pub(crate) fn forms(&self, see: &mut dyn FnMut(&Form)) {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().flat_map(|one| &one.forms).for_each(see);
    }
}
