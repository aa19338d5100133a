//! The folder of the locks of a database. It lies where documents of strangers may lie, so that nothing in it is taken for
//! a lock, least of all removed, unless it is one: a regular, empty file with the name of a lock that nobody holds. Links
//! are not followed, neither that of the folder nor those in it.

use std::fs::{self, DirBuilder, File};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// How names of locks end.
const ENDING: &str = ".lock";

/// The name of the lock of a session. An id may have any letters; two ids must not share a file where case does not
/// count. At three bytes a byte, [`crate::MAX_ID_BYTES`] keeps names below the 255 bytes that systems take.
pub(crate) fn name_of(id: &str) -> String {
    use std::fmt::Write as _;
    let mut name = String::new();
    for byte in id.bytes() {
        if is_plain(byte) {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "_{byte:02x}");
        }
    }
    name + ENDING
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// Whether [`name_of`] gives such names.
fn is_name(name: &str) -> bool {
    let is_hex = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    let mut rest = name.strip_suffix(ENDING).unwrap_or_default().as_bytes();
    let is_some = !rest.is_empty();
    loop {
        rest = match rest {
            [] => return is_some,
            [b'_', a, b, rest @ ..] if is_hex(a) && is_hex(b) => rest,
            [byte, rest @ ..] if is_plain(*byte) => rest,
            _ => return false,
        };
    }
}

/// Refuses a folder of locks that is a link, or no folder. There need be none.
pub(crate) fn check(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(there) if there.is_dir() => Ok(()),
        Ok(there) if there.is_symlink() => {
            Err(Error::other("it is a link, and locks are not put where it leads"))
        }
        Ok(_) => Err(Error::other("it is no folder, so that locks cannot be put there")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates the folder, if there is none, with access for the owner only: names of locks are ids of sessions.
pub(crate) fn create(folder: &Path) -> Result<()> {
    check(folder)?;
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The folder, open: it stays the same, whatever becomes of its name.
#[derive(Debug)]
pub(crate) struct LockFolder {
    #[cfg(unix)]
    folder: File,
    #[cfg(not(unix))]
    folder: std::path::PathBuf,
}

#[cfg(unix)]
impl LockFolder {
    /// Opens it, without following a link.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        use nix::fcntl::{OFlag, open};
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let folder = open(folder, flags, nix::sys::stat::Mode::empty())?;
        Ok(Self { folder: File::from(folder) })
    }

    /// Opens a lock, which is made if there is none and `create` says so. What is no regular file, or not empty, is no lock.
    pub(crate) fn file(&self, name: &str, create: bool) -> Result<File> {
        use nix::fcntl::{OFlag, openat};
        // A pipe would be waited for.
        let mut flags = OFlag::O_WRONLY
            | OFlag::O_APPEND
            | OFlag::O_NOFOLLOW
            | OFlag::O_NONBLOCK
            | OFlag::O_NOCTTY
            | OFlag::O_CLOEXEC;
        flags.set(OFlag::O_CREAT, create);
        let mode = nix::sys::stat::Mode::from_bits_truncate(0o600);
        let file = File::from(openat(&self.folder, name, flags, mode)?);
        is_lock(&file)?.then_some(file).ok_or_else(|| Error::other("it is no lock of a session"))
    }

    /// Whether a locked file is still the one of its name: whoever had the lock before may have removed it, and others
    /// may have created it anew.
    pub(crate) fn is_current(&self, file: &File, name: &str) -> Result<bool> {
        use nix::fcntl::AtFlags;
        let own = nix::sys::stat::fstat(file)?;
        match nix::sys::stat::fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(named) => Ok((named.st_dev, named.st_ino) == (own.st_dev, own.st_ino)),
            Err(nix::errno::Errno::ENOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a lock that is held, before it is given back. What cannot be removed is an empty file.
    pub(crate) fn remove(&self, file: &File, name: &str) {
        if self.is_current(file, name).is_ok_and(|current| current) {
            let how = nix::unistd::UnlinkatFlags::NoRemoveDir;
            let _ = nix::unistd::unlinkat(&self.folder, name, how);
        }
    }

    /// Removes the locks that nobody holds.
    pub(crate) fn sweep(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_name(name)) else { continue };
            let Ok(file) = self.file(name, false) else { continue };
            if file.try_lock().is_ok() {
                self.remove(&file, name);
            }
        }
    }
}

/// Elsewhere, lock files are not removed.
#[cfg(not(unix))]
impl LockFolder {
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        check(folder)?;
        fs::metadata(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    pub(crate) fn file(&self, name: &str, create: bool) -> Result<File> {
        let path = self.folder.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(Error::other("it is no lock of a session"));
        }
        let file = File::options().create(create).append(true).open(path)?;
        is_lock(&file)?.then_some(file).ok_or_else(|| Error::other("it is no lock of a session"))
    }

    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn is_current(&self, _: &File, _: &str) -> Result<bool> {
        Ok(true)
    }

    #[expect(clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn remove(&self, _: &File, _: &str) {}

    #[expect(clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn sweep(&self, _: &Path) {
        let _ = is_name;
    }
}

/// Whether what was opened may be a lock: nothing is ever written into one.
fn is_lock(file: &File) -> Result<bool> {
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.len() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_locks_are_told_from_others() {
        for id in ["a", "Ann/2", "ß", "-", "_"] {
            assert!(is_name(&name_of(id)), "{id}");
        }
        for other in ["mine.txt", ".lock", "a", "A.lock", "a.lock.lock", "_g0.lock", "a_.lock"] {
            assert!(!is_name(other), "{other}");
        }
    }
}
