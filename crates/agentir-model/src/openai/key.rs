//! Keys of services, which nobody gets to see.

use super::EndpointError;
use std::fmt;

/// A key. It has no way out of this crate but the header of a request: its debug form does not show
/// it, and it is taken out of everything that services say.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// A key from an environment variable, which is where people keep them (`OPENAI_API_KEY`).
    ///
    /// # Errors
    /// [`EndpointError::MissingKey`], if the variable is not set, empty, or holds what no header can.
    pub fn from_env(variable: &str) -> Result<Self, EndpointError> {
        std::env::var(variable)
            .ok()
            .and_then(|value| Self::new(&value))
            .ok_or_else(|| EndpointError::MissingKey(variable.to_owned()))
    }

    /// A key; none if the text is empty or holds characters that no header can.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let good = !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
        good.then(|| Self(text.to_owned()))
    }

    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// A text without the key.
    pub(super) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "…")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
