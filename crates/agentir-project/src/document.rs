//! Documents that were found.

use crate::request::Request;
use agentir_config::Config;
use std::borrow::Cow;
use std::io;
use std::path;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of a project's manifest.
pub const MANIFEST: &str = "project.json";

/// A path as it stands in messages.
pub(crate) fn shown(path: &Path) -> Cow<'_, str> {
    // Taking a path apart takes longer than looking at its first byte.
    let path = match path.as_os_str().as_encoded_bytes() {
        [b'.', ..] => path.strip_prefix("./").unwrap_or(path),
        _ => path,
    };
    path.to_string_lossy()
}

/// A document that was found: where it is, and the program that it belongs to.
#[derive(Debug, Clone)]
pub struct Document {
    /// Where it is, or its name if it has a text of its own.
    pub path: PathBuf,
    /// The text, if it does not come from the path.
    pub text: Option<Vec<u8>>,
    /// Why it cannot be read, if that is known before.
    pub error: Option<Arc<io::Error>>,
    /// The folder of the program it belongs to, or its own path if it is a program.
    pub root: PathBuf,
    /// The configuration that applies to it.
    pub config: Arc<Config>,
    /// Whether an earlier program has this file as well.
    pub repeated: bool,
}

impl Document {
    /// The document at a path, of the program in a folder.
    #[must_use]
    pub const fn new(path: PathBuf, root: PathBuf, config: Arc<Config>) -> Self {
        Self { path, text: None, error: None, root, config, repeated: false }
    }

    /// A document that is a program.
    #[must_use]
    pub fn alone(path: PathBuf, request: &Request<'_>) -> Self {
        let config = request.configs.of(&path);
        Self::new(path.clone(), path, config)
    }

    /// Whether it belongs to a program beside other files.
    #[must_use]
    pub fn in_program(&self) -> bool {
        self.path != self.root
    }

    /// Its name in messages.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        shown(&self.path)
    }

    /// Passes everything that decides how the document is read, but for its content, to `add`.
    pub fn identify(&self, add: &mut dyn FnMut(&[u8])) {
        add(&[u8::from(self.config.is_empty())]);
        if !self.config.is_empty() {
            let path = path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
            let (text, place) = self.config.identity(&path);
            add(text.as_bytes());
            add(place.as_os_str().as_encoded_bytes());
        }
        add(self.path.as_os_str().as_encoded_bytes());
        add(self.root.as_os_str().as_encoded_bytes());
        add(&[u8::from(self.repeated)]);
    }
}
