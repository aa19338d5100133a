//! What a project wants of the tools: the file `agentir.toml`.
//!
//! ```text
//! a file that is checked ──► the nearest agentir.toml above it ──► which rules, at which level,
//!                                                                   which version and dialect
//! ```
//!
//! Each file goes by the configuration nearest above it, so that a repository of several projects is
//! checked in one run as each of them is alone. Configurations are not merged: what holds for a file
//! stands in one place.
//!
//! *Invariant*: nothing here knows a rule. Which names there are is told by the caller, and a name or a
//! key that does not exist is an error at its place, never ignored.

mod config;
mod file;
mod find;

pub use config::Config;
pub use file::{Level, Threshold, config_schema};
pub use find::{Configs, FILE_NAME, Problems};

/// The names that a configuration may speak of.
#[derive(Debug, Clone, Copy)]
pub struct Names<'n> {
    /// The rules, each with the group it belongs to.
    pub rules: &'n [(&'n str, &'n str)],
}

impl<'n> Names<'n> {
    /// All names of rules and groups.
    fn all(self) -> impl Iterator<Item = &'n str> {
        self.rules.iter().flat_map(|(rule, group)| [*rule, *group])
    }

    /// Whether there is a rule or a group of this name.
    fn has(self, name: &str) -> bool {
        self.all().any(|known| known == name)
    }
}
