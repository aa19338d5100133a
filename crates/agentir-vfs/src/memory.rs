//! Files in memory.

use crate::{Depth, Entry, EntryKind, FileSystem, Visitor, normalized};
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Files in memory. Cloning shares their contents.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, Arc<[u8]>>,
}

impl Memory {
    /// No files yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { files: BTreeMap::new() }
    }

    /// Adds a text file, or replaces it.
    pub fn insert(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) {
        self.insert_bytes(path, text.into());
    }

    /// Adds a file, or replaces it.
    pub fn insert_bytes(&mut self, path: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) {
        self.files.insert(normalized(path.as_ref()), bytes.into());
    }

    /// Removes a file, and returns whether it was there.
    pub fn remove(&mut self, path: impl AsRef<Path>) -> bool {
        self.files.remove(&normalized(path.as_ref())).is_some()
    }

    /// The contents of a file.
    #[must_use]
    pub fn bytes(&self, path: &Path) -> Option<&Arc<[u8]>> {
        self.files.get(&normalized(path))
    }

    /// The paths of the files, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.keys().map(PathBuf::as_path)
    }

    /// The files below a folder, by their paths relative to it, in order. Hidden files are left out.
    pub(crate) fn below(&self, folder: &Path) -> impl Iterator<Item = &Path> {
        let folder = normalized(folder);
        let hidden = |part: Component<'_>| match part {
            Component::Normal(name) => name.as_encoded_bytes().starts_with(b"."),
            _ => false,
        };
        self.files.keys().filter_map(move |path| {
            let inner = path.strip_prefix(&folder).ok()?;
            let is_below = !inner.as_os_str().is_empty() && !inner.components().any(hidden);
            is_below.then_some(inner)
        })
    }

    /// Whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

impl<P: AsRef<Path>, T: Into<Arc<str>>> FromIterator<(P, T)> for Memory {
    fn from_iter<I: IntoIterator<Item = (P, T)>>(files: I) -> Self {
        let mut all = Self::new();
        files.into_iter().for_each(|(path, text)| all.insert(path, text));
        all
    }
}

impl FileSystem for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.bytes(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let size = bytes.len().min(crate::MAX_FILE_SIZE + 1);
        Ok(bytes.get(..size).unwrap_or_default().to_owned())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.bytes(path).is_some()
    }

    fn is_dir(&self, path: &Path) -> bool {
        normalized(path).as_os_str().is_empty() || self.below(path).next().is_some()
    }

    fn walk<'v>(
        &self,
        folder: &Path,
        depth: Depth,
        visitors: &'v (dyn Fn() -> Visitor<'v> + Sync + 'v),
    ) {
        let mut visit = visitors();
        self.below(folder).filter(|path| depth.includes(path)).for_each(|path| {
            visit(Ok(Entry { path: folder.join(path), kind: EntryKind::File }));
        });
    }
}
