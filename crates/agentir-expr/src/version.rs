//! Versions of ABL.

/// A version of the language, oldest first. Each adds to the one before and changes some meanings;
/// files do not say which one they are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Version {
    /// The legacy specification.
    Legacy,
    /// The current specification.
    #[default]
    Current,
    /// What the public reference documentation says beyond the current specification.
    Newest,
}

impl Version {
    /// How the version is called in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Current => "current",
            Self::Newest => "newest",
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
