//! The languages.

/// A language that agents are written in.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Kore.ai's Agent Blueprint Language.
    Abl,
    /// Salesforce's Agent Script.
    AgentScript,
    /// The MICA project's Agent Declaration Language.
    Adl,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Abl, Self::AgentScript, Self::Adl];

    /// Its name in data: in the extensions of the IR, for one.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abl => "abl",
            Self::AgentScript => "agent-script",
            Self::Adl => "adl",
        }
    }

    /// The dialect called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.name() == name)
    }
}
