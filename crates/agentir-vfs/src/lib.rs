//! The file system trait: the disk, memory, or an overlay of the two.
//!
//! All files are read through [`FileSystem`], so an editor's unsaved texts, a test and a browser
//! page take the same path as files on disk.
//!
//! *Invariant*: nothing here writes, and no read returns more than [`MAX_FILE_SIZE`] plus one byte.

#[cfg(feature = "disk")]
mod disk;
mod memory;
mod overlay;
mod remembered;
#[cfg(feature = "disk")]
mod stamp;

#[cfg(feature = "disk")]
pub use disk::Disk;
pub use memory::Memory;
pub use overlay::Overlay;
pub use remembered::Remembered;

use std::fmt::Debug;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The largest file that is processed, in bytes. Spans are 32 bits wide, and nobody writes an agent of
/// this size.
pub const MAX_FILE_SIZE: usize = 64 << 20;

/// Something that has files.
pub trait FileSystem: Debug + Send + Sync {
    /// Reads a file: all of it, or [`MAX_FILE_SIZE`] and one byte of a larger one, so that callers can see
    /// that it is too large.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::NotFound`] if there is no such file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The size of a file in bytes, at most one more than [`MAX_FILE_SIZE`].
    ///
    /// # Errors
    /// Those of [`FileSystem::read`].
    fn size(&self, path: &Path) -> io::Result<usize> {
        self.read(path).map(|bytes| bytes.len())
    }

    /// Whether there is a file at `path`, or a link to one.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether there is something at `path` that can be read, although it is neither a file nor a folder.
    ///
    /// # Errors
    /// Why there is not.
    fn probe(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::NotFound.into())
    }

    /// Whether there is a folder at `path`, or a link to one.
    fn is_dir(&self, path: &Path) -> bool;

    /// Visits all files, links, pipes, devices and sockets below `folder`, in no particular order and possibly on several threads: each gets a
    /// visitor of its own from `visitors`. With `Depth::Direct`, files of folders inside it are left out. Hidden files and files that git ignores are left out, and links
    /// are reported but not followed. A folder whose list of ignored names cannot be read is not visited, and the list is reported.
    fn walk<'v>(
        &self,
        folder: &Path,
        depth: Depth,
        visitors: &'v (dyn Fn() -> Visitor<'v> + Sync + 'v),
    );

    /// A fingerprint that changes when the file is changed or replaced, found without reading it; `None` where
    /// that cannot be told.
    ///
    /// # Errors
    /// Those of the system.
    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        let _ = path;
        Ok(None)
    }

    /// The folder that relative paths are relative to, if it has folders above it.
    fn current_dir(&self) -> Option<PathBuf> {
        None
    }
}

/// How far a walk goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The files of the folder itself.
    Direct,
    /// All files below it.
    All,
}

impl Depth {
    /// Whether a walk of this depth visits a file, by its path from the folder.
    fn includes(self, path: &Path) -> bool {
        self == Self::All || path.parent().is_none_or(|above| above.as_os_str().is_empty())
    }
}

/// Receives what a walk visits: a file, or something that could not be visited.
pub type Visitor<'v> = Box<dyn FnMut(Result<Entry, Unvisited>) + Send + 'v>;

/// A file or folder that a walk could not visit.
#[derive(Debug)]
pub struct Unvisited {
    /// Its path.
    pub path: PathBuf,
    /// Why it could not.
    pub error: io::Error,
}

/// A fingerprint of a file's metadata.
pub type Stamp = [u8; 56];

/// A file that a walk visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The folder of the walk, joined with where the file is below it.
    pub path: PathBuf,
    /// What it is.
    pub kind: EntryKind,
}

/// What a walk visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A link. It may lead to anything.
    Link,
    /// A pipe, a device or a socket. It cannot be read.
    Special,
}

/// Whether an error of [`FileSystem::read`] says that there is no file at the path.
#[must_use]
pub fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// Reads a file that must be text.
///
/// # Errors
/// Those of [`FileSystem::read`]; a file that is larger than [`MAX_FILE_SIZE`] or not UTF-8.
pub fn read_text(files: &dyn FileSystem, path: &Path) -> io::Result<String> {
    let bytes = files.read(path)?;
    if bytes.len() > MAX_FILE_SIZE {
        let message = format!("it is larger than {} MB", MAX_FILE_SIZE >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// The identity of a path in a file system: absolute if there is a current folder, without `.` and `..`. Two spellings
/// of a path have the same identity; a link has one of its own.
#[must_use]
pub fn identity(files: &dyn FileSystem, path: &Path) -> PathBuf {
    match files.current_dir() {
        Some(folder) if path.is_relative() => normalized(&folder.join(path)),
        _ => normalized(path),
    }
}

/// A path without `.` and `..` components. Links are not resolved: `a/..` is nothing, even if `a` is a link.
#[must_use]
pub fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match result.components().next_back() {
                Some(Component::Normal(_)) => {
                    result.pop();
                }
                // There is nothing above the root.
                Some(Component::RootDir) => {}
                _ => result.push(part),
            },
            _ => result.push(part),
        }
    }
    result
}
