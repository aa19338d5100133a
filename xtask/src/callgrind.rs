//! Instructions, counted by callgrind: unlike times, they hardly differ between runs and machines.

use std::error::Error;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether callgrind is installed.
pub(crate) fn is_installed() -> bool {
    let mut version = Command::new("valgrind");
    version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}

/// The instructions of a command, from its start to its end, including the dynamic linker's. `allowed` are its exit
/// codes.
pub(crate) fn instructions<A: AsRef<OsStr>>(
    program: &Path,
    arguments: impl IntoIterator<Item = A>,
    allowed: &[i32],
) -> Result<u64, Box<dyn Error>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program);
    // Threads take turns in callgrind, and how often they look for work varies.
    valgrind.args(arguments).env("RAYON_NUM_THREADS", "1").stdout(Stdio::null());
    let output = valgrind.output().map_err(|error| format!("`valgrind` cannot be run: {error}"))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    if !code.is_some_and(|code| allowed.contains(&code)) {
        return Err(format!("{} ended with {}: {report}", program.display(), output.status).into());
    }
    collected(&report).ok_or_else(|| format!("callgrind counts nothing: {report}").into())
}

/// The count in callgrind's report: `==123== Collected : 4567`.
fn collected(report: &str) -> Option<u64> {
    let line = report.lines().find_map(|line| line.split_once("Collected :"));
    line?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_count_is_found_in_the_report() {
        let report = "==7== Events    : Ir\n==7== Collected : 2890123\n==7== \n";
        assert_eq!(collected(report), Some(2_890_123));
        assert_eq!(collected("valgrind: no such tool"), None);
    }
}
