//! The archive of a release, which runs without an installed Z3: the program, Z3 and the other libraries that are
//! not part of every system, manual pages, completions.

use std::collections::BTreeSet;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The libraries that go into the archive, by the prefix of their names; the others are the system's C
/// library. The program loads Z3 from `../lib` (`crates/agentir-z3`), and the dynamic linker looks for what
/// Z3 needs there (`crates/agentir-cli/build.rs`).
const LIBRARIES: [&str; 2] = ["libstdc++.", "libgcc_s."];

/// A sample that gives a finding only if Z3 works.
const NEEDS_Z3: &str = "combined_limits.agent.abl";

/// Shells, and the names of their completion files.
const SHELLS: [(&str, &str); 3] =
    [("bash", "agentir.bash"), ("zsh", "_agentir"), ("fish", "agentir.fish")];

/// Other files in the archive.
const DOCUMENTS: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Makes the archive in `out`. With `attempt`, tests it in a file system with nothing else but the C library.
pub(crate) fn make(root: &Path, out: &Path, attempt: bool) -> Result<()> {
    let program = crate::start::program(root, "dist")?;
    let name = format!(
        "agentir-{}-{}-{}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    let work = tempfile::tempdir()?;
    let top = work.path().join(&name);
    for folder in ["bin", "lib", "share/man/man1", "share/completions"] {
        fs::create_dir_all(top.join(folder))?;
    }
    let copy = top.join("bin/agentir");
    fs::copy(&program, &copy)?;
    let (z3_name, z3) = z3()?;
    fs::copy(&z3, top.join("lib").join(z3_name))?;
    let needed: BTreeSet<PathBuf> = needed(&program)?.into_iter().chain(needed(&z3)?).collect();
    let (ours, system): (Vec<PathBuf>, Vec<PathBuf>) = needed.into_iter().partition(|path| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        LIBRARIES.iter().any(|library| name.starts_with(library))
    });
    for library in &ours {
        let name = library.file_name().ok_or("a library has a name")?;
        fs::copy(library, top.join("lib").join(name))?;
    }
    succeed(Command::new(&program).arg("man").arg(top.join("share/man/man1")))?;
    for (shell, file) in SHELLS {
        let text = Command::new(&program).args(["completions", shell]).output()?.stdout;
        fs::write(top.join("share/completions").join(file), text)?;
    }
    for document in DOCUMENTS {
        fs::copy(root.join(document), top.join(document))?;
    }
    fs::create_dir_all(out)?;
    let archive = out.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    // Reproducible: the same files give the same archive.
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-czf"]);
    succeed(tar.arg(&archive).arg("-C").arg(work.path()).arg(&name))?;
    println!("wrote {} ({:.1} MB)", archive.display(), fs::metadata(&archive)?.len() as f64 / 1e6);
    if attempt {
        try_out(root, &archive, &name, &system)?;
    }
    Ok(())
}

/// The Z3 library that the program loads on this machine: the name it is searched by, and its file.
fn z3() -> Result<(&'static OsStr, PathBuf)> {
    let name = agentir_z3::load()?.file_name().ok_or("a library has a name")?;
    // The dynamic linker does not report the file, but the kernel lists it.
    let maps = fs::read_to_string("/proc/self/maps")?;
    let files = maps.lines().filter_map(|line| Some(Path::new(line.get(line.find('/')?..)?)));
    let is_z3 = |file: &&Path| {
        file.file_name().and_then(OsStr::to_str).is_some_and(|name| name.starts_with("libz3."))
    };
    let file = files.into_iter().find(is_z3).ok_or("Z3 is loaded, but not from a file")?;
    Ok((name, file.to_owned()))
}

/// The files that the dynamic linker loads for a program or a library.
fn needed(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output()?;
    let text = String::from_utf8(output.stdout)?;
    if let Some(line) = text.lines().find(|line| line.contains("not found")) {
        return Err(format!("missing on this machine: {}", line.trim()).into());
    }
    let path =
        |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
    Ok(text.lines().filter_map(path).collect())
}

/// Unpacks the archive in a file system with nothing else but the C library, and checks samples. Requires root and
/// Linux.
fn try_out(root: &Path, archive: &Path, name: &str, system: &[PathBuf]) -> Result<()> {
    let empty = tempfile::tempdir()?;
    succeed(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(empty.path()))?;
    for library in system {
        let to = empty.path().join(library.strip_prefix("/")?);
        fs::create_dir_all(to.parent().ok_or("a library is in a folder")?)?;
        fs::copy(library, to)?;
    }
    for folder in ["agents", "proc"] {
        fs::create_dir_all(empty.path().join(folder))?;
    }
    for entry in fs::read_dir(root.join("corpus/abl/invalid"))? {
        let path = entry?.path();
        if let (true, Some(file)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, empty.path().join("agents").join(file))?;
        }
    }
    let question = ["check", "agents", "--format", "json", "--no-cache"];
    let mut there = Command::new("unshare");
    // The dynamic linker asks `/proc` where the program is.
    there.args(["--fork", "--pid", "--mount", "--mount-proc=/proc"]);
    there.arg(format!("--root={}", empty.path().display()));
    let there = there.arg(format!("/{name}/bin/agentir")).args(question).output()?;
    let program = crate::start::program(root, "dist")?;
    let here = Command::new(program).args(question).current_dir(empty.path()).output()?;
    if there.stdout != here.stdout || there.status.code() != Some(1) {
        let stderr = String::from_utf8_lossy(&there.stderr);
        return Err(format!("in an empty file system the report differs: {stderr}").into());
    }
    let report: serde_json::Value = serde_json::from_slice(&there.stdout)?;
    let findings = report.get("diagnostics").and_then(|all| all.as_array());
    let mut files =
        findings.into_iter().flatten().filter_map(|finding| finding.get("file")?.as_str());
    if !files.any(|file| file.ends_with(NEEDS_Z3)) {
        return Err(format!("nothing is found in {NEEDS_Z3}, so Z3 does not work").into());
    }
    println!(
        "in a file system with {} other files the report is the same ({} bytes)",
        system.len(),
        here.stdout.len()
    );
    Ok(())
}

fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}
