//! Texts that take the place of files.

use crate::{Entry, FileSystem, Memory, Stamp, Visitor};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file system in which some texts take the place of files, or stand beside them: what an editor has open,
/// or what fixes made.
#[derive(Debug, Clone)]
pub struct Overlay {
    base: Arc<dyn FileSystem>,
    /// The texts that take precedence.
    pub texts: Memory,
}

impl Overlay {
    /// `texts` over `base`.
    #[must_use]
    pub fn new(base: Arc<dyn FileSystem>, texts: Memory) -> Self {
        Self { base, texts }
    }
}

impl FileSystem for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.texts.is_file(path) { self.texts.read(path) } else { self.base.read(path) }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.texts.is_file(path) || self.base.is_file(path)
    }

    fn probe(&self, path: &Path) -> io::Result<()> {
        self.base.probe(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        (!self.texts.is_empty() && self.texts.is_dir(path)) || self.base.is_dir(path)
    }

    fn walk<'v>(&self, folder: &Path, visitors: &'v (dyn Fn() -> Visitor<'v> + Sync + 'v)) {
        if self.base.is_dir(folder) {
            self.base.walk(folder, visitors);
        }
        let mut visit = visitors();
        for path in self.texts.below(folder).filter(|path| !self.base.is_file(path)) {
            visit(Ok(Entry { path, is_link: false }));
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        if self.texts.is_file(path) { Ok(None) } else { self.base.stamp(path) }
    }

    fn current_dir(&self) -> Option<PathBuf> {
        self.base.current_dir()
    }
}
