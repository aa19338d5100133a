//! The disk of the machine.

use crate::stamp::stamp;
use crate::{
    Depth, Entry, EntryKind, FileSystem, MAX_FILE_SIZE, Stamp, Unvisited, Visitor, is_absent,
};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;
use std::{env, fs};

/// One more than the largest size, so that larger files are recognized.
const MAX_READ: u64 = MAX_FILE_SIZE as u64 + 1;

/// The size of the largest file of ignored names.
const MAX_IGNORE_FILE: u64 = 1 << 20;

/// The disk of the machine. Only regular files are read: a pipe may block for ever, and a device may have no end.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    /// What links may lead to; everything if absent.
    named: Option<Arc<Named>>,
}

/// What a user named.
#[derive(Debug)]
struct Named {
    /// The paths as they were named.
    paths: Vec<PathBuf>,
    /// The folders they are or are in, without links.
    folders: OnceLock<Vec<PathBuf>>,
}

impl Disk {
    /// The disk for someone who named these paths: they are followed, and other links only to files in folders that
    /// were named or hold what was named.
    #[must_use]
    pub fn named(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let paths = paths.into_iter().collect();
        Self { named: Some(Arc::new(Named { paths, folders: OnceLock::new() })) }
    }

    /// Opens a regular file, and returns its size as well.
    fn open(&self, path: &Path) -> io::Result<(fs::File, u64)> {
        self.check(path)?;
        let mut options = fs::OpenOptions::new();
        options.read(true);
        // Some regular files of the kernel wait for more at their end, and what is a file now may be a pipe when it is
        // opened.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, nix::libc::O_NONBLOCK);
        let file = options.open(path)?;
        let metadata = file.metadata()?;
        match metadata.is_file() {
            true => Ok((file, metadata.len())),
            false => Err(not_a_file()),
        }
    }

    /// Whether a file may be read: it is regular, or a link to a regular file that may be followed.
    fn check(&self, path: &Path) -> io::Result<fs::Metadata> {
        let metadata = fs::symlink_metadata(path)?;
        let metadata = if metadata.is_symlink() {
            if let Some(named) = &self.named {
                named.check(path)?;
            }
            fs::metadata(path)?
        } else {
            metadata
        };
        match metadata.is_file() {
            true => Ok(metadata),
            false if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            false => Err(not_a_file()),
        }
    }

    /// Whether the files with ignored names in a folder can be read: the path of the first that cannot, and why.
    fn check_ignore_files(&self, folder: &Path) -> Result<(), Unvisited> {
        for name in [".gitignore", ".ignore", ".git/info/exclude"] {
            let path = folder.join(name);
            if fs::symlink_metadata(&path).is_err() {
                // It is absent, or the folder cannot be searched, which the walk reports.
                continue;
            }
            let error = match self.check(&path) {
                Ok(metadata) if metadata.len() > MAX_IGNORE_FILE => io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!("it is larger than {MAX_IGNORE_FILE} bytes"),
                ),
                Ok(_) => continue,
                Err(error) if is_absent(&error) => continue,
                Err(error) => error,
            };
            return Err(Unvisited { path, error });
        }
        Ok(())
    }
}

impl Named {
    /// Whether a link may be followed.
    fn check(&self, link: &Path) -> io::Result<()> {
        if self.paths.iter().any(|path| path == link) {
            return Ok(());
        }
        let folders = self.folders.get_or_init(|| {
            let real = self.paths.iter().filter_map(|path| fs::canonicalize(path).ok());
            let folder = |path: PathBuf| match path.is_dir() {
                true => Some(path),
                false => path.parent().map(Path::to_owned),
            };
            real.filter_map(folder).collect()
        });
        let target = fs::canonicalize(link)?;
        match folders.iter().any(|folder| target.starts_with(folder)) {
            true => Ok(()),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it is a link to a file outside of the folders that were named",
            )),
        }
    }
}

fn not_a_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe, a device or a socket, not a file")
}

impl FileSystem for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let (file, size) = self.open(path)?;
        let mut bytes = Vec::with_capacity(usize::try_from(size.min(MAX_READ)).unwrap_or(0));
        // Some regular files, such as those of the kernel, are longer than their size.
        match file.take(MAX_READ).read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "it has no end: what is read from it is written by the system",
            )),
            Err(error) => Err(error),
        }
    }

    fn size(&self, path: &Path) -> io::Result<usize> {
        let size = fs::metadata(path)?.len().min(MAX_READ);
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn probe(&self, path: &Path) -> io::Result<()> {
        fs::metadata(path).map(drop)
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn walk<'v>(
        &self,
        folder: &Path,
        depth: Depth,
        visitors: &'v (dyn Fn() -> Visitor<'v> + Sync + 'v),
    ) {
        let (threads, max_depth) = match depth {
            Depth::Direct => (1, Some(1)),
            Depth::All => (std::thread::available_parallelism().map_or(1, usize::from), None),
        };
        // What the walk itself reads.
        let above = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let unread = above.ancestors().try_for_each(|folder| self.check_ignore_files(folder));
        if let Err(unread) = unread {
            return visitors()(Err(unread));
        }
        let refused = Arc::new(Mutex::new(Vec::new()));
        let enters = {
            let (disk, refused) = (self.clone(), Arc::clone(&refused));
            move |entry: &ignore::DirEntry| {
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let checked =
                    if is_folder { disk.check_ignore_files(entry.path()) } else { Ok(()) };
                checked
                    .map_err(|unread| {
                        refused.lock().unwrap_or_else(PoisonError::into_inner).push(unread);
                    })
                    .is_ok()
            }
        };
        let walk = ignore::WalkBuilder::new(folder)
            .filter_entry(enters)
            // The result must not depend on the user's own configuration.
            .git_global(false)
            .require_git(false)
            .threads(threads)
            .max_depth(max_depth)
            .build_parallel();
        walk.run(|| {
            let mut visit = visitors();
            Box::new(move |entry| {
                match entry {
                    Ok(entry) => {
                        let kind = match entry.file_type() {
                            Some(kind) if kind.is_symlink() => Some(EntryKind::Link),
                            Some(kind) if kind.is_file() => Some(EntryKind::File),
                            Some(kind) if kind.is_dir() => None,
                            Some(_) => Some(EntryKind::Special),
                            None => None,
                        };
                        if let Some(kind) = kind {
                            visit(Ok(Entry { path: entry.into_path(), kind }));
                        }
                    }
                    Err(error) => {
                        if let Some(path) = path_of(&error).map(Path::to_owned) {
                            let error = error.into_io_error().unwrap_or_else(cannot_visit);
                            visit(Err(Unvisited { path, error }));
                        }
                    }
                }
                ignore::WalkState::Continue
            })
        });
        let refused = std::mem::take(&mut *refused.lock().unwrap_or_else(PoisonError::into_inner));
        let mut visit = visitors();
        refused.into_iter().for_each(|unread| visit(Err(unread)));
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        Ok(stamp(&fs::metadata(path)?, SystemTime::now()))
    }

    fn current_dir(&self) -> Option<PathBuf> {
        env::current_dir().ok()
    }
}

fn cannot_visit() -> io::Error {
    io::Error::other("it cannot be visited")
}

/// The path that an error of the walk is about.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}
