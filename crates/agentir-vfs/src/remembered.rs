//! Contents that were read before.

use crate::{Depth, FileSystem, Stamp, Visitor};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// A file system that reads each file once, until it is told to forget what it read: for those who are told when files
/// change.
#[derive(Debug)]
pub struct Remembered {
    base: Arc<dyn FileSystem>,
    read: RwLock<HashMap<PathBuf, Arc<[u8]>>>,
}

impl Remembered {
    /// A file system of which nothing was read yet.
    #[must_use]
    pub fn new(base: Arc<dyn FileSystem>) -> Self {
        Self { base, read: RwLock::default() }
    }

    /// Forgets what was read.
    pub fn forget(&self) {
        self.read.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl FileSystem for Remembered {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if let Some(known) = self.read.read().unwrap_or_else(PoisonError::into_inner).get(path) {
            return Ok(known.to_vec());
        }
        let bytes = self.base.read(path)?;
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        read.insert(path.to_owned(), bytes.as_slice().into());
        Ok(bytes)
    }

    fn size(&self, path: &Path) -> io::Result<usize> {
        self.base.size(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.base.is_file(path)
    }

    fn probe(&self, path: &Path) -> io::Result<()> {
        self.base.probe(path)
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.base.is_dir(path)
    }

    fn walk<'v>(
        &self,
        folder: &Path,
        depth: Depth,
        visitors: &'v (dyn Fn() -> Visitor<'v> + Sync + 'v),
    ) {
        self.base.walk(folder, depth, visitors);
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        self.base.stamp(path)
    }

    fn current_dir(&self) -> Option<PathBuf> {
        self.base.current_dir()
    }
}

#[cfg(all(test, feature = "disk"))]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::Remembered;
    use crate::FileSystem;
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    #[test]
    fn files_are_read_again_when_they_are_forgotten() {
        let folder =
            std::env::temp_dir().join(format!("agentir-remembered-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a");
        fs::write(&path, "1").unwrap();
        let files = Remembered::new(Arc::new(crate::Disk::default()));
        let read = |path: &Path| String::from_utf8(files.read(path).unwrap()).unwrap();
        assert_eq!(read(&path), "1");
        fs::write(&path, "2").unwrap();
        assert_eq!(read(&path), "1");
        files.forget();
        assert_eq!(read(&path), "2");
        fs::remove_dir_all(&folder).unwrap();
        files.forget();
        assert!(files.read(&path).is_err());
    }
}
