//! What is asked for on the command line: which files, and how they are read.

use agentir_config::{Config, Configs};
use agentir_syntax::abl::Options;
use agentir_syntax::agent_script;
use std::collections::HashMap;
use std::path::{self, Path, PathBuf};

/// Why nothing could be loaded.
#[derive(Debug)]
pub struct LoadError(pub String);

/// What to load, and how.
pub struct Request<'a> {
    /// Files and folders; `-` is standard input.
    pub paths: &'a [PathBuf],
    /// The folder of the one program that everything is a part of; without it files and projects are
    /// programs each.
    pub together: Option<&'a Path>,
    /// What standard input is called.
    pub stdin_filename: Option<&'a Path>,
    /// How documents of ABL are read.
    pub options: Options,
    /// How documents of Agent Script are read.
    pub script: agent_script::Options,
    /// What projects want: which files are read, and how, where the command line does not say.
    pub configs: &'a Configs,
    /// Texts that take the place of what files say, by the files' names in messages.
    pub instead: &'a HashMap<String, String>,
}

impl Request<'_> {
    /// How the document at a path is read, that goes by a configuration.
    pub fn options(&self, path: &Path, config: &Config) -> (Options, agent_script::Options) {
        let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let version = self.options.version.or_else(|| config.abl_version(&path));
        let dialect = self.script.dialect.or_else(|| config.dialect(&path));
        (Options { version, ..self.options }, agent_script::Options { dialect })
    }
}
