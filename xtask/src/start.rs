//! The time of the program for a single file, from start to end.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The number of runs. The fastest counts, because other processes slow down the rest.
const TIMES: usize = 30;

/// The Cargo that runs this program.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Builds the program with a profile of the workspace.
pub(crate) fn program(root: &Path, profile: &str) -> Result<PathBuf, Box<dyn Error>> {
    let here = std::env::current_exe()?;
    // This program is in the folder of its own profile.
    let target = here.ancestors().nth(2).ok_or("xtask was not started from a target folder")?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let program = target.join(folder).join("agentir");
    let mut build = Command::new(cargo());
    build
        .args([
            "build",
            "--quiet",
            "--profile",
            profile,
            "--package",
            "agentir-cli",
            "--features",
            "full",
        ])
        .current_dir(root);
    if !build.status()?.success() || !program.is_file() {
        return Err("the program could not be built".into());
    }
    Ok(program)
}

pub(crate) fn measure(root: &Path, profile: &str) -> Result<(), Box<dyn Error>> {
    let program = program(root, profile)?;
    println!("{:<60}{:>12}", "start to end, one file", "ms");
    for sample in [
        "corpus/abl/valid/parcel_redirect.agent.abl",
        "corpus/agent-script/valid/luthier_orders.agent",
        "corpus/adl/valid/inner_label.yml",
    ] {
        let mut fastest = f64::INFINITY;
        for _ in 0..TIMES {
            let mut check = Command::new(&program);
            check.arg("check").arg(root.join(sample));
            check.stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            check.status()?;
            fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
        }
        println!("{sample:<60}{fastest:>12.1}");
    }
    Ok(())
}
