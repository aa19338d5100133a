//! The configuration file `agentir.toml`.
//!
//! ```text
//! a file that is checked ──► the nearest agentir.toml above it ──► which rules, at which level,
//!                                                                   which version and dialect
//! ```
//!
//! The nearest configuration above a file applies to it, so a repository with several projects is
//! checked in one run as each project is alone. Configurations are not merged.
//!
//! *Invariant*: this crate knows no rule; the caller provides the names. An unknown name or key is
//! an error with a span, never ignored.

mod config;
mod discovery;
mod file;

use agentir_diagnostics::RuleName;
use globset::GlobSet;

pub use config::Config;
pub use discovery::{ConfigProblems, Configs, FILE_NAME, split_path};
pub use file::{Level, Threshold, config_schema};

/// An `agentir.toml` that cannot be parsed or refers to something unknown.
pub const INVALID_CONFIGURATION: RuleName = RuleName("invalid-configuration");

/// The names of rules and options that a configuration may contain.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// The rules, each with the group it belongs to.
    pub rules: Vec<(&'static str, &'static str)>,
    /// The options of rules: the rule, the option, and what it is set to.
    pub options: Vec<(&'static str, &'static str, ValueKind)>,
}

/// What an option of a rule is set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A whole number, from 0.
    Number,
    /// Names, in which `*` stands for anything.
    Names,
}

/// What an option is set to.
#[derive(Debug, Clone)]
pub enum OptionValue {
    /// A number.
    Number(u32),
    /// Names.
    Names(GlobSet),
}

impl Names {
    /// All names of rules and groups.
    fn all(&self) -> impl Iterator<Item = &'static str> {
        self.rules.iter().flat_map(|(rule, group)| [*rule, *group])
    }

    /// Whether there is a rule or a group of this name.
    fn has(&self, name: &str) -> bool {
        self.all().any(|known| known == name)
    }

    /// The options of a rule.
    fn options(&self, rule: &str) -> impl Iterator<Item = (&'static str, ValueKind)> {
        self.options
            .iter()
            .filter(move |(of, ..)| *of == rule)
            .map(|(_, name, kind)| (*name, *kind))
    }
}
