//! Contents that take precedence over files.

use crate::identity;
use crate::{Depth, Entry, EntryKind, FileSystem, Memory, Stamp, Visitor};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file system with contents that take precedence over its files, or are additional files: what an editor has open,
/// or what fixes made. Contents belong to a file however the path is written, relative or absolute, with
/// `.` and `..`; links are not resolved.
#[derive(Debug, Clone)]
pub struct Overlay {
    base: Arc<dyn FileSystem>,
    /// By identity.
    files: Memory,
}

impl Overlay {
    /// A file system without contents of its own.
    #[must_use]
    pub fn new(base: Arc<dyn FileSystem>) -> Self {
        Self { base, files: Memory::new() }
    }

    /// Sets the contents of a file, and returns whether that changed anything.
    pub fn set(&mut self, path: &Path, bytes: impl Into<Arc<[u8]>>) -> bool {
        let (path, bytes) = (self.key(path), bytes.into());
        if self.files.bytes(&path).is_some_and(|old| *old == bytes) {
            return false;
        }
        self.files.insert_bytes(path, bytes);
        true
    }

    /// Removes the contents of a file, and returns whether there were any.
    pub fn remove(&mut self, path: &Path) -> bool {
        self.files.remove(self.key(path))
    }

    /// The files that have contents of their own, in order: by absolute paths, if the file system has a current folder.
    pub fn own_files(&self) -> impl Iterator<Item = &Path> {
        self.files.paths()
    }

    /// The contents that take precedence over a file, if there are any.
    #[must_use]
    pub fn own(&self, path: &Path) -> Option<Arc<[u8]>> {
        self.files.bytes(&self.key(path)).cloned()
    }

    /// Whether two paths are the same file, as far as can be told without resolving links.
    #[must_use]
    pub fn is_same_file(&self, one: &Path, other: &Path) -> bool {
        self.key(one) == self.key(other)
    }

    fn key(&self, path: &Path) -> PathBuf {
        identity(&*self.base, path)
    }

    /// Whether there are contents for a path. Without any, which is usual, nothing is looked up.
    fn has(&self, path: &Path) -> bool {
        !self.files.is_empty() && self.files.is_file(&self.key(path))
    }
}

impl FileSystem for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.has(path) { self.files.read(&self.key(path)) } else { self.base.read(path) }
    }

    fn size(&self, path: &Path) -> io::Result<usize> {
        if self.has(path) { self.files.size(&self.key(path)) } else { self.base.size(path) }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.has(path) || self.base.is_file(path)
    }

    fn probe(&self, path: &Path) -> io::Result<()> {
        self.base.probe(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        (!self.files.is_empty() && self.files.is_dir(&self.key(path))) || self.base.is_dir(path)
    }

    fn walk<'v>(
        &self,
        folder: &Path,
        depth: Depth,
        visitors: &'v (dyn Fn() -> Visitor<'v> + Sync + 'v),
    ) {
        if self.base.is_dir(folder) {
            self.base.walk(folder, depth, visitors);
        }
        if self.files.is_empty() {
            return;
        }
        let mut visit = visitors();
        let key = self.key(folder);
        let paths = self.files.below(&key).filter(|path| depth.includes(path));
        let paths = paths.map(|path| folder.join(path));
        for path in paths.filter(|path| !self.base.is_file(path)) {
            visit(Ok(Entry { path, kind: EntryKind::File }));
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        if self.has(path) { Ok(None) } else { self.base.stamp(path) }
    }

    fn current_dir(&self) -> Option<PathBuf> {
        self.base.current_dir()
    }
}
