//! What to load, and how.

use agentir_config::{Config, Configs};
use agentir_lower::ReadOptions;
use agentir_syntax::agent_script::Dialect;
use agentir_vfs::FileSystem;
use std::io;
use std::path::{self, Path, PathBuf};

/// Why nothing could be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A path that was named cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Standard input was named, and there is no text for it.
    #[error("standard input was named, but no text was given for it")]
    NoText,
}

/// A text that has no path.
#[derive(Debug, Clone)]
pub struct TextInput {
    /// Its name in messages, which also decides its format.
    pub name: PathBuf,
    /// What it says. Bytes that are not UTF-8 are reported as those of a file are.
    pub text: Vec<u8>,
}

/// What to load, and how.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Files and folders; `-` is `stdin`.
    pub paths: &'a [PathBuf],
    /// The folder of the one program that everything belongs to; without it files and projects are
    /// programs of their own.
    pub together: Option<&'a Path>,
    /// The text that `-` stands for.
    pub stdin: Option<&'a TextInput>,
    /// How documents are read; takes precedence over the configuration.
    pub options: ReadOptions,
    /// The configurations of the files.
    pub configs: &'a Configs,
    /// Where files are.
    pub files: &'a dyn FileSystem,
}

impl Request<'_> {
    /// How the document at a path is read, given its configuration.
    #[must_use]
    pub fn options(&self, path: &Path, config: &Config) -> ReadOptions {
        read_options(self.options, path, config)
    }
}

/// How the document at a path is read: by `options` where they say, else by its configuration.
#[must_use]
pub fn read_options(mut options: ReadOptions, path: &Path, config: &Config) -> ReadOptions {
    let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
    options.abl.version = options.abl.version.or_else(|| config.abl_version(&path));
    let dialect = &mut options.agent_script.dialect;
    *dialect = dialect.or_else(|| config.dialect(&path).and_then(Dialect::called));
    options
}
