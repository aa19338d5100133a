//! Documents that were found: where they are, what they go by, what they say.

use crate::request::Request;
use agentir_cache::KeyBuilder;
use agentir_config::Config;
use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io, path};

/// How the manifest of a project is called.
pub const MANIFEST: &str = "project.json";

/// The largest file that is read, and one byte more, so that it is known to be too large.
const MOST: u64 = agentir_lower::MAX_FILE_SIZE as u64 + 1;

/// Reads a file, and no more of it than it takes to see that it is too large: what is no regular file
/// may have no end.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let size = file.metadata().map_or(0, |m| m.len().min(MOST));
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A document to be read.
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// The text, if it does not come from the path.
    pub text: Option<String>,
    /// The folder of the program it belongs to.
    pub home: PathBuf,
    /// What it goes by.
    pub config: Arc<Config>,
    /// Whether it belongs to an earlier program as well.
    pub again: bool,
}

impl Found {
    /// The document at a path, of the program in a folder.
    pub fn new(path: PathBuf, home: PathBuf, config: Arc<Config>) -> Self {
        Self { path, text: None, home, config, again: false }
    }

    /// A document that is a program.
    pub fn alone(path: PathBuf, request: &Request<'_>) -> Self {
        let config = request.configs.of(&path);
        Self::new(path.clone(), path, config)
    }

    /// What it is called in messages.
    pub fn name(&self) -> Cow<'_, str> {
        // To take a path apart takes longer than to see that it does not begin so.
        let path = match self.path.as_os_str().as_encoded_bytes() {
            [b'.', ..] => self.path.strip_prefix("./").unwrap_or(&self.path),
            _ => &self.path,
        };
        path.to_string_lossy()
    }

    /// Adds everything about a document that decides how it is read, but for what it says.
    pub fn identify(&self, key: &mut KeyBuilder) {
        key.add([u8::from(self.config.is_empty())]);
        if !self.config.is_empty() {
            let path = path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
            let (text, place) = self.config.identity(&path);
            key.add(text).add(place.as_os_str().as_encoded_bytes());
        }
        key.add(self.path.as_os_str().as_encoded_bytes())
            .add(self.home.as_os_str().as_encoded_bytes());
        key.add([u8::from(self.again)]);
    }
}
