//! What cold builds cost.

use std::collections::HashSet;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A build from nothing, as a user starts it.
pub(super) struct ColdBuild {
    /// The row of its processor time.
    pub(super) row: &'static str,
    /// The row of its target folder's size, if that is limited.
    pub(super) folder: Option<&'static str>,
    arguments: &'static [&'static str],
}

/// All cold builds. The first is the first command in the README.
pub(super) const ALL: [ColdBuild; 4] = [
    ColdBuild {
        row: "build-default",
        folder: Some("build-folder"),
        arguments: &["run", "--", "check", "corpus/abl/invalid"],
    },
    ColdBuild {
        row: "build-full",
        folder: None,
        arguments: &["build", "--package", "agentir-cli", "--features", "full"],
    },
    ColdBuild {
        row: "build-minimal",
        folder: None,
        arguments: &["build", "--package", "agentir-cli", "--no-default-features"],
    },
    ColdBuild {
        row: "build-release",
        folder: None,
        arguments: &["build", "--release", "--package", "agentir-cli", "--features", "full"],
    },
];

/// The cost of a build.
#[derive(Debug)]
pub(super) struct Cost {
    /// User and system time of Cargo and of every process that it started.
    pub(super) processor: Duration,
    /// The size of the target folder on disk.
    pub(super) bytes: u64,
}

/// Settings that make a build another one than a user's, and are not inherited.
const SETTINGS: [&str; 4] =
    ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_INCREMENTAL", "CARGO_ENCODED_RUSTFLAGS"];

impl ColdBuild {
    /// Builds in a target folder of its own, which is removed.
    pub(super) fn measure(&self, root: &Path) -> Result<Cost> {
        // Beside the builds that are there: `/tmp` may be memory.
        let target = std::env::current_exe()?;
        let target =
            target.ancestors().nth(2).ok_or("xtask was not started from a target folder")?;
        let folder = tempfile::Builder::new().prefix("budget-").tempdir_in(target)?;
        // Downloads are not part of the build.
        run(Command::new(crate::start::cargo()).arg("fetch").current_dir(root), &[0])?;
        let mut build = Command::new(crate::start::cargo());
        build.args(self.arguments).current_dir(root);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            let set = SETTINGS.iter().any(|setting| name.starts_with(setting));
            if set || name.starts_with("RUSTC_") || name == "RUSTFLAGS" {
                build.env_remove(&name);
            }
        }
        build.env("CARGO_TARGET_DIR", folder.path()).stdout(Stdio::null());
        println!("building: cargo {}", self.arguments.join(" "));
        let before = children()?;
        // A check that finds something ends with 1, a build that fails with 101.
        let allowed: &[i32] = if self.arguments.contains(&"check") { &[0, 1] } else { &[0] };
        run(&mut build, allowed)?;
        let processor = children()?.saturating_sub(before);
        Ok(Cost { processor, bytes: size(folder.path(), &mut HashSet::new())? })
    }
}

fn run(command: &mut Command, allowed: &[i32]) -> Result<()> {
    let status = command.status()?;
    if status.code().is_some_and(|code| allowed.contains(&code)) {
        return Ok(());
    }
    Err(format!("{command:?} ended with {status}").into())
}

/// The user and system time of all processes that this one started and waited for, and of those that they did.
#[cfg(unix)]
fn children() -> Result<Duration> {
    use nix::sys::resource::{UsageWho, getrusage};
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = [usage.user_time(), usage.system_time()]
        .iter()
        .map(|time| time.tv_sec() * 1_000_000 + time.tv_usec())
        .sum::<i64>();
    Ok(Duration::from_micros(u64::try_from(micros)?))
}

#[cfg(not(unix))]
fn children() -> Result<Duration> {
    Err("processor time of other processes is only known on Unix".into())
}

/// What a folder occupies on disk. A file with several names counts once: Cargo links programs to where users look
/// for them.
#[cfg(unix)]
fn size(folder: &Path, seen: &mut HashSet<(u64, u64)>) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if seen.insert((metadata.dev(), metadata.ino())) {
            bytes += metadata.blocks() * 512;
        }
        if metadata.is_dir() {
            bytes += size(&entry.path(), seen)?;
        }
    }
    Ok(bytes)
}

#[cfg(not(unix))]
fn size(folder: &Path, seen: &mut HashSet<(u64, u64)>) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { size(&entry.path(), seen)? } else { metadata.len() };
    }
    Ok(bytes)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "tests end by panicking")]
mod tests {
    use super::{children, run, size};
    use std::collections::HashSet;
    use std::fs;
    use std::process::Command;

    #[test]
    fn links_to_a_file_count_once() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let of = || size(folder.path(), &mut HashSet::new()).unwrap();
        let empty = of();
        fs::write(inner.join("a"), vec![1; 1 << 20]).unwrap();
        let one = of();
        assert!(one >= empty + (1 << 20), "{one} bytes");
        fs::hard_link(inner.join("a"), folder.path().join("b")).unwrap();
        assert_eq!(of(), one);
    }

    #[test]
    fn the_time_of_grandchildren_counts() {
        let before = children().unwrap();
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        run(Command::new("sh").args(["-c", &format!("sh -c '{work}'; true")]), &[0]).unwrap();
        assert!(children().unwrap() > before);
        assert!(run(Command::new("sh").args(["-c", "exit 3"]), &[0, 1]).is_err());
    }
}
