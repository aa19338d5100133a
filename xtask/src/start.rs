//! How long the program takes for one file, from its start to its end.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// How often it is started. The fastest counts: whatever made the others slower was not the program.
const TIMES: usize = 30;

/// The program, built by a profile of the workspace.
pub(crate) fn program(root: &Path, profile: &str) -> Result<PathBuf, Box<dyn Error>> {
    let here = std::env::current_exe()?;
    // This program is in the folder of its own profile.
    let target = here.ancestors().nth(2).ok_or("this program is in no target folder")?;
    let program = target.join(profile).join("agentir");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--quiet", "--profile", profile, "--package", "agentir-cli"])
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
