//! Files that are not as they should be.

use std::fmt;

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError(String);

impl FileError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Without the lines around the error: a part of a line may be a secret that is not known by its part.
    pub(crate) fn yaml(e: &serde_saphyr::Error) -> Self {
        Self(e.without_snippet().to_string())
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FileError {}
