//! The languages that programs can be converted to.

use agentir_expr::{Dialect, dialect};

/// A target language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// ABL of the current version, one `.agent.abl` file per agent.
    Abl,
    /// ABL in YAML notation, one `.agent.yaml` file per agent.
    AblYaml,
    /// Agent Script, dialect agentforce, one `.agent` file.
    AgentScript,
    /// Agent Script, base dialect, one `.agent` file.
    AgentScriptBase,
    /// ADL: an `agents.yml` file, and a Python file with the signatures of the tools.
    Adl,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 5] =
        [Self::Abl, Self::AblYaml, Self::AgentScript, Self::AgentScriptBase, Self::Adl];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abl => "abl",
            Self::AblYaml => "abl-yaml",
            Self::AgentScript => "agent-script",
            Self::AgentScriptBase => "agent-script-base",
            Self::Adl => "adl",
        }
    }

    /// The dialect whose semantics its expressions have.
    pub(crate) const fn dialect(self) -> Dialect {
        match self {
            Self::Abl | Self::AblYaml => dialect::ABL,
            Self::AgentScript | Self::AgentScriptBase => dialect::AGENT_SCRIPT,
            Self::Adl => dialect::ADL,
        }
    }

    /// What it is, in one line.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Abl => "ABL, current version",
            Self::AblYaml => "ABL in its YAML notation",
            Self::AgentScript => "Agent Script, agentforce dialect",
            Self::AgentScriptBase => "Agent Script, base dialect",
            Self::Adl => "ADL",
        }
    }

    /// The name in prose.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Abl => "ABL",
            Self::AblYaml => "ABL in YAML",
            Self::AgentScript => "Agent Script",
            Self::AgentScriptBase => "Agent Script (base)",
            Self::Adl => "ADL",
        }
    }
}

/// An output file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The path in the output folder, with `/`.
    pub path: String,
    /// The text, with a newline at the end.
    pub text: String,
}

/// Turns a name into a file stem: letters, digits, `_` and `-`, in lower case, never empty.
#[must_use]
pub fn file_stem(name: &str) -> String {
    let stem: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    if stem.is_empty() { "agent".to_owned() } else { stem }
}
