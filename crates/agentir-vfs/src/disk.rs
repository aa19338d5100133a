//! The disk of the machine.

use crate::stamp::stamp;
use crate::{Depth, Entry, FileSystem, MAX_FILE_SIZE, Stamp, Visitor};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs};

/// One more than the largest size, so that larger files are recognized.
const MAX_READ: u64 = MAX_FILE_SIZE as u64 + 1;

/// The disk of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = fs::File::open(path)?;
        let size = file.metadata().map_or(0, |m| m.len().min(MAX_READ));
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // A file that is not regular may have no end.
        file.take(MAX_READ).read_to_end(&mut bytes)?;
        Ok(bytes)
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
        let walk = ignore::WalkBuilder::new(folder)
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
                        let kind = entry.file_type();
                        let is_link = kind.is_some_and(|kind| kind.is_symlink());
                        if is_link || kind.is_some_and(|kind| kind.is_file()) {
                            visit(Ok(Entry { path: entry.into_path(), is_link }));
                        }
                    }
                    Err(error) => {
                        if let Some(path) = path_of(&error) {
                            visit(Err(path.to_owned()));
                        }
                    }
                }
                ignore::WalkState::Continue
            })
        });
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<Stamp>> {
        Ok(stamp(&fs::metadata(path)?, SystemTime::now()))
    }

    fn current_dir(&self) -> Option<PathBuf> {
        env::current_dir().ok()
    }
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
