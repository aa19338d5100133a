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
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Legacy, Self::Current, Self::Newest];

    /// The version with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

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
