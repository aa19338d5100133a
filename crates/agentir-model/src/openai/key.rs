//! API keys.

use super::EndpointError;
use std::fmt;

/// An API key. It leaves this crate only in the header of a request: its `Debug` form hides it, and
/// it is removed from all messages of services.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Reads a key from an environment variable such as `OPENAI_API_KEY`.
    ///
    /// # Errors
    /// Returns [`EndpointError::MissingKey`] if the variable is not set, is empty, or contains
    /// characters that are invalid in a header.
    pub fn from_env(variable: &str) -> Result<Self, EndpointError> {
        std::env::var(variable)
            .ok()
            .and_then(|value| Self::new(&value))
            .ok_or_else(|| EndpointError::MissingKey(variable.to_owned()))
    }

    /// Creates a key; `None` if the text is empty or contains characters that are invalid in a
    /// header.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let good = !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        good.then(|| Self(text.to_owned()))
    }

    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Removes the key from a text.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "…")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
