//! Writing files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use std::{env, fs};
use tempfile::NamedTempFile;

/// What the names of files begin with that are there only while another one is written.
const TEMPORARY: &str = ".agentir-partial-";

/// The number of random letters and digits that follow.
const RANDOM: usize = 12;

/// Whether a name is that of such a file. Files of users that begin with `.agentir` are theirs.
pub fn is_temporary(name: &OsStr) -> bool {
    let random = name.as_encoded_bytes().strip_prefix(TEMPORARY.as_bytes());
    random.is_some_and(|rest| rest.len() == RANDOM && rest.iter().all(u8::is_ascii_alphanumeric))
}

/// Who may read what is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    /// As before; of a new file, as the user's mask says.
    AsUsual,
    /// The owner alone.
    #[cfg(feature = "runtime")]
    Owner,
}

/// Writes a file in one step: whoever reads it sees the old text or the new one. Who may do what with
/// the file stays as it is; a link goes on leading to it, but not out of the working directory. To a device, such as
/// `/dev/null`, the text is written as it is: a file must not take its place.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    replace_for(Readers::AsUsual, path, text)
}

/// The same for an output, [which no link leads elsewhere](check_output).
pub fn replace_output(path: &Path, text: &str) -> Result<(), String> {
    check_output(path)?;
    replace_for(Readers::AsUsual, path, text)
}

/// The same for a file that only its owner may read: it contains conversations.
#[cfg(feature = "runtime")]
pub fn replace_private(path: &Path, text: &str) -> Result<(), String> {
    check_output(path)?;
    replace_for(Readers::Owner, path, text)
}

fn replace_for(readers: Readers, path: &Path, text: &str) -> Result<(), String> {
    let device = match stream(path) {
        Some(stream) => Some(stream),
        None if is_device(path) => Some(File::options().write(true).open(path)),
        None => None,
    };
    if let Some(device) = device {
        let written = device.and_then(|mut device| device.write_all(text.as_bytes()));
        return written.map_err(|e| format!("{} cannot be written: {e}", path.display()));
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if leads_out(path, &target).unwrap_or(false) {
        return Err(elsewhere(path, &target));
    }
    replace_all_for(readers, &[(path.to_owned(), text)])
}

/// Creates a file that only its owner may read.
#[cfg(feature = "runtime")]
pub fn private(path: &Path) -> Result<File, String> {
    check_output(path)?;
    let failed = |e: io::Error| format!("{} cannot be written: {e}", path.display());
    if let Some(stream) = stream(path) {
        return stream.map_err(failed);
    }
    let mut options = fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(failed)?;
    #[cfg(unix)]
    if file.metadata().map_err(failed)?.is_file() {
        use std::os::unix::fs::PermissionsExt;
        // It may have been there, and may belong to somebody else, who then decides.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
    Ok(file)
}

/// What is open already, if a path names that: standard output, the pipe of `>(…)` in a shell.
fn stream(path: &Path) -> Option<io::Result<File>> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let same =
            |stream: std::os::fd::BorrowedFd<'_>| stream.try_clone_to_owned().map(File::from);
        if path == Path::new("/dev/stdout") {
            return Some(same(io::stdout().as_fd()));
        }
        if path == Path::new("/dev/stderr") {
            return Some(same(io::stderr().as_fd()));
        }
    }
    is_open(path).then(|| File::options().append(true).open(path))
}

/// Whether a path is that of something that is open already.
fn is_open(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|stream| path == Path::new(stream))
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

/// Whether a path is that of a device, a pipe or a socket.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// Refuses an output that a link leads elsewhere, and one that nobody may ever read. The link may be a part of what is
/// checked, made by whoever wants another file to be overwritten: it may lead only to what is in its own folder, or
/// below it. A folder on the way may be a link, if it leads nowhere out of the working directory, or if the user chose a
/// path that is not below that.
pub fn check_output(path: &Path) -> Result<(), String> {
    if is_open(path) {
        return Ok(());
    }
    if is_pipe(path) {
        return Err(format!(
            "{} cannot be written: it is a pipe, a device or a socket, not a file\n\
             help: `/dev/stdout` is the output of the command",
            path.display()
        ));
    }
    if is_device(path) {
        return Ok(());
    }
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(_) if path.is_symlink() => {
            return Err(format!(
                "{} cannot be written: it is a link that leads nowhere",
                path.display()
            ));
        }
        Err(_) => path.to_owned(),
    };
    let own = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let own = fs::canonicalize(own.unwrap_or(Path::new(".")));
    let leaves = path.is_symlink() && own.is_ok_and(|folder| !target.starts_with(folder));
    if leaves || leads_out(path, &target).unwrap_or(false) {
        return Err(elsewhere(path, &target));
    }
    Ok(())
}

/// Whether a path is that of a pipe with a name.
fn is_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path)
        .is_ok_and(|there| std::os::unix::fs::FileTypeExt::is_fifo(&there.file_type()));
    #[cfg(not(unix))]
    false
}

fn elsewhere(path: &Path, target: &Path) -> String {
    format!(
        "{} cannot be written: it leads to {}, out of this folder; name that file itself if you mean it",
        path.display(),
        target.display()
    )
}

/// Refuses an output that would take the place of what was read.
pub fn check_input<'p>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), String> {
    let Ok(there) = fs::canonicalize(output) else { return Ok(()) };
    let is_same = |input: &Path| fs::canonicalize(input).is_ok_and(|input| input == there);
    if there.is_file() && inputs.into_iter().any(is_same) {
        return Err(format!(
            "{} is an input, and was not overwritten\nhelp: name another file for the output",
            output.display()
        ));
    }
    Ok(())
}

/// Writes files like [`replace`], after the texts of all of them are on disk: if one cannot be written, none is changed.
pub fn replace_all(files: &[(PathBuf, &str)]) -> Result<(), String> {
    replace_all_for(Readers::AsUsual, files)
}

fn replace_all_for(readers: Readers, files: &[(PathBuf, &str)]) -> Result<(), String> {
    let failed = |path: &Path, e: &io::Error| format!("{} cannot be written: {e}", path.display());
    let mut staged = Vec::with_capacity(files.len());
    let mut locked = Vec::new();
    for (path, text) in files {
        let (file, target) = stage(readers, path, text).map_err(|e| failed(path, &e))?;
        let (open, temporary) = file.into_parts();
        // Processes may have few files open.
        if locked.len() < MAX_LOCKED {
            locked.push(open);
        }
        staged.push((path, temporary, target));
    }
    for (path, temporary, target) in staged {
        temporary.persist(target).map_err(|e| failed(path, &e.error))?;
    }
    Ok(())
}

/// So many temporary files are locked until all are written.
const MAX_LOCKED: usize = 200;

/// Writes the text beside the file that it is going to be; returns both.
fn stage(readers: Readers, path: &Path, text: &str) -> io::Result<(NamedTempFile, PathBuf)> {
    let target = match fs::canonicalize(path) {
        Ok(there) => there,
        Err(_) if path.is_symlink() => {
            let message = "it is a link that leads nowhere";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Err(_) => env::current_dir()?.join(path),
    };
    if target.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if fs::metadata(&target).is_ok_and(|there| !there.is_file()) {
        let message = "it is a pipe, a device or a socket, not a file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let folder = target.parent().unwrap_or(&target);
    fs::create_dir_all(folder)?;
    remove_leftovers(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY).rand_bytes(RANDOM);
    // Without that, it is the owner's alone.
    #[cfg(unix)]
    if readers == Readers::AsUsual {
        use std::os::unix::fs::PermissionsExt;
        // As any new file, where the user's mask does not say otherwise.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    // Says that its writer lives. Where there are no locks, nothing is ever taken for a leftover.
    let _locked = file.as_file().try_lock();
    file.write_all(text.as_bytes())?;
    if readers == Readers::AsUsual
        && let Ok(before) = fs::metadata(&target)
    {
        file.as_file().set_permissions(before.permissions())?;
    }
    Ok((file, target))
}

/// Whether a path below the working directory is that of a file elsewhere. The link may be a part of what is checked, made
/// by whoever wants the file to be overwritten.
fn leads_out(path: &Path, target: &Path) -> io::Result<bool> {
    let here = env::current_dir()?;
    let below = match path.strip_prefix(&here) {
        Ok(below) => below,
        Err(_) if path.is_absolute() => return Ok(false),
        Err(_) => path,
    };
    let inside = below.components().all(|part| !matches!(part, Component::ParentDir));
    // The target is not resolved yet if there is no such file; its folder may be a link.
    let mut there = here.join(target);
    while !there.exists() && there.pop() {}
    Ok(inside && !fs::canonicalize(there)?.starts_with(fs::canonicalize(here)?))
}

/// The folders that were searched for leftovers.
static CLEANED: LazyLock<Mutex<HashSet<PathBuf>>> = LazyLock::new(Mutex::default);

/// Removes the temporary files of writers that were killed.
fn remove_leftovers(folder: &Path) {
    let mut cleaned = CLEANED.lock().unwrap_or_else(PoisonError::into_inner);
    if !cleaned.insert(folder.to_owned()) {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    let ours = entries.flatten().filter(|entry| {
        is_temporary(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file())
    });
    let mut left: Vec<PathBuf> =
        ours.map(|entry| entry.path()).filter(|p| is_unlocked(p)).collect();
    // One without a lock may just have been made, and its writer be about to lock it.
    let ages = left.iter().filter_map(|path| age(path));
    if let Some(youngest) = ages.min().and_then(|age| TIME_TO_LOCK.checked_sub(age)) {
        std::thread::sleep(youngest);
        left.retain(|path| is_unlocked(path));
    }
    for path in left {
        let _gone_already = fs::remove_file(path);
    }
}

/// How long a writer may take from making a temporary file to locking it.
const TIME_TO_LOCK: Duration = Duration::from_secs(1);

/// The time since a file was written; none if its time lies in the future.
fn age(path: &Path) -> Option<Duration> {
    fs::metadata(path).and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok())
}

/// Whether nobody writes a temporary file: whoever does holds its lock.
fn is_unlocked(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    match file.try_lock_shared() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}
