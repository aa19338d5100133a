//! What is written.

use agentir_expr::Dialect;
use smol_str::SmolStr;

/// A language to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// ABL of the current version, a `.agent.abl` file an agent.
    Abl,
    /// The same in its YAML notation, a `.agent.yaml` file an agent.
    AblYaml,
    /// Agent Script of the agentforce dialect, one `.agent` file.
    AgentScript,
    /// Agent Script of the base dialect, one `.agent` file.
    AgentScriptBase,
    /// ADL, an `agents.yml` file, with a Python file of the tools' signatures.
    Adl,
}

impl Target {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Abl, Self::AblYaml, Self::AgentScript, Self::AgentScriptBase, Self::Adl];

    /// Its name on the command line.
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

    /// What its expressions mean.
    pub(crate) const fn dialect(self) -> Dialect {
        match self {
            Self::Abl | Self::AblYaml => Dialect::Abl,
            Self::AgentScript | Self::AgentScriptBase => Dialect::AgentScript,
            Self::Adl => Dialect::Adl,
        }
    }

    /// What it is called in sentences.
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

/// A file of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path in the output folder, with `/`.
    pub path: String,
    /// Its text, with a newline at the end.
    pub text: String,
}

/// A name as the stem of a file: letters, digits, `_` and `-`, in lower case, never empty.
#[must_use]
pub fn file_stem(name: &str) -> String {
    let stem: String = name
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '_' })
        .collect();
    if stem.is_empty() { "agent".to_owned() } else { stem }
}

/// A manifest, as far as reading back needs it.
#[derive(serde::Deserialize)]
pub(crate) struct Manifest {
    pub entry_agent: Option<SmolStr>,
}

/// The manifest that a file is, if it is one.
pub(crate) fn manifest(file: &OutputFile) -> Option<Manifest> {
    let name = file.path.rsplit('/').next()?;
    if name == "project.json" { serde_json::from_str(&file.text).ok() } else { None }
}
