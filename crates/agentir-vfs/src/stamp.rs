//! Detects changed files by their metadata, without reading them.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// How long a file has to have been at rest: what is changed twice within one tick of the file system's clock
/// has the same times both times. Some of these clocks go in seconds.
const REST: Duration = Duration::from_secs(2);

/// How many numbers a stamp has.
const NUMBERS: usize = 7;

/// Numbers that are others after a file was changed or another one took its place, as git compares
/// them. Nobody can set the time at which the system last touched a file, so a file that was given its old
/// time of change back is another one, too. `None` for what was changed just now and for what is no
/// regular file.
#[cfg(unix)]
pub(crate) fn stamp(file: &Metadata, now: SystemTime) -> Option<[u8; NUMBERS * 8]> {
    use std::os::unix::fs::MetadataExt as _;
    let rests = |seconds: i64, fraction: i64| {
        let since = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(fraction).ok()?);
        let rested = now.duration_since(SystemTime::UNIX_EPOCH + since).ok()?;
        (rested > REST).then_some([seconds.cast_unsigned(), fraction.cast_unsigned()])
    };
    if !file.is_file() {
        return None;
    }
    let modified = rests(file.mtime(), file.mtime_nsec())?;
    let changed = rests(file.ctime(), file.ctime_nsec())?;
    let numbers = [file.dev(), file.ino(), file.size()].into_iter().chain(modified).chain(changed);
    let mut bytes = [0; NUMBERS * 8];
    for (to, from) in bytes.chunks_exact_mut(8).zip(numbers) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    Some(bytes)
}

/// Other systems do not say when they last touched a file.
#[cfg(not(unix))]
pub(crate) fn stamp(_: &Metadata, _: SystemTime) -> Option<[u8; NUMBERS * 8]> {
    None
}
