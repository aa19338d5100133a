//! Writing files.

use agentir_vfs::normalized;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use std::{env, fs, path};
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

/// What is written to.
enum Target {
    /// What is open already, or a device: it is written to as it is, and nothing takes its place.
    Stream,
    /// A file, by its path without links. It need not be there yet.
    File(PathBuf),
}

/// Where links on the way to a file may lead. They may be a part of what is checked, made by whoever wants another file
/// to be overwritten.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Anywhere: whoever asks has looked.
    Anywhere,
    /// To what is below the working directory, if the path is: a file that is changed in place.
    Inside,
    /// Likewise, and the last one only to what is in its own folder, or below it: an output.
    Below,
}

/// Writes a file in one step: whoever reads it sees the old text or the new one. Who may do what with
/// the file stays as it is; a link goes on leading to it, but not out of the working directory. To a device, such as
/// `/dev/null`, the text is written as it is: a file must not take its place.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    replace_for(Readers::AsUsual, Links::Inside, path, text)
}

/// The same for an output, [which no link leads elsewhere](check_output).
pub fn replace_output(path: &Path, text: &str) -> Result<(), String> {
    replace_for(Readers::AsUsual, Links::Below, path, text)
}

/// The same for a file that only its owner may read: it contains conversations.
#[cfg(feature = "runtime")]
pub fn replace_private(path: &Path, text: &str) -> Result<(), String> {
    replace_for(Readers::Owner, Links::Below, path, text)
}

fn replace_for(readers: Readers, links: Links, path: &Path, text: &str) -> Result<(), String> {
    match resolve(path, links)? {
        Target::Stream => stream(path)
            .and_then(|mut stream| stream.write_all(text.as_bytes()))
            .map_err(|error| unwritable(path, error)),
        Target::File(target) => put(readers, &[(path, target, text)]),
    }
}

/// A file that only its owner may read, and nothing else of which anything is known.
#[cfg(feature = "runtime")]
pub struct Private {
    pub file: File,
    /// Whether it was made or emptied here, so that all that is in it was written through it.
    pub is_empty: bool,
}

/// Creates a file that only its owner may read.
#[cfg(feature = "runtime")]
pub fn private(path: &Path) -> Result<Private, String> {
    let failed = |error| unwritable(path, error);
    let target = match resolve(path, Links::Below)? {
        Target::Stream => {
            return stream(path).map(|file| Private { file, is_empty: false }).map_err(failed);
        }
        Target::File(target) => target,
    };
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Nor may it have become a link meanwhile.
        options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW);
    }
    let file = options.open(target).map_err(failed)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // It may have been there, and may belong to somebody else, who then decides.
        let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
    }
    Ok(Private { file, is_empty: true })
}

/// Opens [what is written to as it is](Target::Stream).
fn stream(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::{AsFd, BorrowedFd};
        let same = |stream: BorrowedFd<'_>| stream.try_clone_to_owned().map(File::from);
        if path == Path::new("/dev/stdout") {
            return same(io::stdout().as_fd());
        }
        if path == Path::new("/dev/stderr") {
            return same(io::stderr().as_fd());
        }
    }
    let mut options = File::options();
    if is_open(path) {
        options.append(true)
    } else {
        options.write(true)
    };
    options.open(path)
}

/// Whether a path is that of something that is open already: standard output, the pipe of `>(…)` in a shell.
fn is_open(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"].iter().any(|stream| path == Path::new(stream))
        || path.starts_with("/dev/fd")
        || path.starts_with("/proc/self/fd")
}

/// Refuses an output that a link leads elsewhere, and one that nobody may ever read. The link may be a part of what is
/// checked, made by whoever wants another file to be overwritten: it may lead only to what is in its own folder, or
/// below it. A folder on the way may be a link, if it leads nowhere out of the working directory, or if the user chose a
/// path that is not below that.
pub fn check_output(path: &Path) -> Result<(), String> {
    resolve(path, Links::Below).map(drop)
}

/// Refuses an output folder that is reached through a link out of the working directory.
pub fn check_folder(folder: &Path) -> Result<(), String> {
    resolve(folder, Links::Inside).map(drop)
}

/// What is written to under a path, if it may be.
fn resolve(path: &Path, links: Links) -> Result<Target, String> {
    if is_open(path) {
        return Ok(Target::Stream);
    }
    match fs::metadata(path) {
        Ok(there) if is_pipe(&there) => {
            return Err(format!(
                "{} cannot be written: it is a pipe, a device or a socket, not a file\n\
                 help: `/dev/stdout` is the output of the command, and `/dev/fd/3` what a shell opens with `3>{}`",
                path.display(),
                path.display()
            ));
        }
        Ok(there) if !there.is_file() && !there.is_dir() => return Ok(Target::Stream),
        Err(_) if path.is_symlink() => {
            return Err(unwritable(path, "it is a link that leads nowhere"));
        }
        _ => {}
    }
    let target = without_links(path).map_err(|error| unwritable(path, error))?;
    let leads_out = || {
        let here = env::current_dir()?;
        // Whoever leaves the folder by `..` means it, but not who comes back, or who leaves a link that led out.
        let is_inside = normalized(&path::absolute(path)?).starts_with(&here);
        Ok::<bool, io::Error>(is_inside && !target.starts_with(fs::canonicalize(here)?))
    };
    let leaves = || {
        let own = path.parent().map(|folder| fs::canonicalize(Path::new(".").join(folder)));
        let is_own = own.is_some_and(|own| own.is_ok_and(|own| target.starts_with(own)));
        path.is_symlink() && !is_own
    };
    let elsewhere = match links {
        Links::Anywhere => false,
        Links::Inside => leads_out().unwrap_or(true),
        Links::Below => leaves() || leads_out().unwrap_or(true),
    };
    if elsewhere {
        return Err(unwritable(
            path,
            format_args!(
                "it leads to {}, out of this folder; name that file itself if you mean it",
                target.display()
            ),
        ));
    }
    Ok(Target::File(target))
}

/// A path as it is without links. Its end need not be there yet; what is missing is going to be folders, so that `..` leads
/// back from them.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let mut found = PathBuf::new();
    for part in path::absolute(path)?.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            Component::Normal(name) => {
                found.push(name);
                if let Ok(real) = fs::canonicalize(&found) {
                    found = real;
                }
            }
            other => found.push(other),
        }
    }
    Ok(found)
}

/// Whether two paths are of one file, whatever it is called, and whether or not it is there.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let is_one = || identity(one).is_some_and(|one| identity(other) == Some(one));
    let resolved =
        without_links(one).ok().is_some_and(|one| without_links(other).ok() == Some(one));
    resolved || (one.is_file() && is_one())
}

/// Whether something is a pipe with a name.
fn is_pipe(there: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::FileTypeExt::is_fifo(&there.file_type());
    #[cfg(not(unix))]
    {
        let _ = there;
        false
    }
}

fn unwritable(path: &Path, why: impl Display) -> String {
    format!("{} cannot be written: {why}", path.display())
}

/// Refuses an output that would take the place of what was read. What came out of an archive has a path below its.
pub fn check_input<'p>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<(), String> {
    let Some(there) = identity(output).filter(|_| output.is_file()) else { return Ok(()) };
    let is_same =
        |input: &Path| input.ancestors().find_map(identity).is_some_and(|input| input == there);
    if inputs.into_iter().any(is_same) {
        return Err(format!(
            "{} is an input, and was not overwritten\nhelp: name another file for the output",
            output.display()
        ));
    }
    Ok(())
}

/// What a file is, whatever it is called.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

/// What a file is, whatever it is called.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Writes files like [`replace`], after the texts of all of them are on disk: if one cannot be written, none is changed.
/// Links are followed.
pub fn replace_all(files: &[(PathBuf, &str)]) -> Result<(), String> {
    let mut targets = Vec::with_capacity(files.len());
    for (path, text) in files {
        match resolve(path, Links::Anywhere)? {
            Target::File(target) => targets.push((path.as_path(), target, *text)),
            Target::Stream => return Err(unwritable(path, "it is a device, not a file")),
        }
    }
    put(Readers::AsUsual, &targets)
}

/// Puts texts in the place of files, all of them or none: for each, its path, its path without links, and its text.
fn put(readers: Readers, files: &[(&Path, PathBuf, &str)]) -> Result<(), String> {
    let mut staged = Vec::with_capacity(files.len());
    let mut locked = Vec::new();
    for (path, target, text) in files {
        let file = stage(readers, target, text).map_err(|error| unwritable(path, error))?;
        let (open, temporary) = file.into_parts();
        // Processes may have few files open.
        if locked.len() < MAX_LOCKED {
            locked.push(open);
        }
        staged.push((path, temporary, target));
    }
    for (path, temporary, target) in staged {
        temporary.persist(target).map_err(|e| unwritable(path, e.error))?;
    }
    Ok(())
}

/// So many temporary files are locked until all are written.
const MAX_LOCKED: usize = 200;

/// Writes the text beside the file that it is going to be.
fn stage(readers: Readers, target: &Path, text: &str) -> io::Result<NamedTempFile> {
    if target.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = target.parent().unwrap_or(target);
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
        && let Ok(before) = fs::metadata(target)
    {
        file.as_file().set_permissions(before.permissions())?;
    }
    Ok(file)
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
