//! How long `agentir check` takes for very many files, and how much memory, beside reading and hashing
//! the same files.

use agentir_bench::generate;
use rayon::prelude::*;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes as many files as asked for, half of them ABL, a quarter Agent Script, a quarter ADL with its
/// functions, and measures.
pub(crate) fn measure(root: &Path, files: usize, seed: u64) -> Result<()> {
    let program = crate::start::program(root, "release")?;
    let folder = tempfile::tempdir()?;
    let agents = folder.path().join("agents");
    let mut bytes = 0;
    for projects in [
        generate::projects(files / 2, seed),
        generate::scripts(files / 4, seed),
        generate::bots(files / 8, seed),
    ] {
        for project in &projects {
            for file in &project.files {
                let path = agents.join(&project.name).join(&file.path);
                fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
                fs::write(&path, &file.text)?;
                bytes += file.text.len();
            }
        }
    }
    println!(
        "{files} files, {:.0} MB, {} threads, by `agentir check --format json`\n",
        bytes as f64 / 1e6,
        rayon::current_num_threads()
    );
    println!("{:<28}{:>10}{:>12}{:>12}{:>14}", "", "s", "files/s", "peak MB", "x reading");
    // Whoever comes first would read from the disk, and the others from memory.
    read_and_hash(&agents)?;
    let mut fastest = Duration::MAX;
    for _ in 0..3 {
        let begun = Instant::now();
        read_and_hash(&agents)?;
        fastest = fastest.min(begun.elapsed());
    }
    let row = |name: &str, time: Duration, peak: Option<u64>| {
        let seconds = time.as_secs_f64();
        let peak = peak.map_or_else(String::new, |kb| format!("{:.0}", kb as f64 / 1e3));
        println!(
            "{name:<28}{seconds:>10.2}{:>12.0}{peak:>12}{:>14.2}",
            files as f64 / seconds,
            seconds / fastest.as_secs_f64()
        );
    };
    row("reading and hashing", fastest, None);
    let cache = folder.path().join("cache");
    let check = |more: &[&str]| -> Result<(Duration, u64, PathBuf)> {
        let report = folder.path().join("report.json");
        let mut command = Command::new(&program);
        command.arg("check").arg(&agents).args(["--format", "json"]).args(more);
        command.env("XDG_CACHE_HOME", &cache).stdout(fs::File::create(&report)?);
        let (time, peak) = run(&mut command)?;
        Ok((time, peak, report))
    };
    let (time, peak, _) = check(&["--no-cache"])?;
    row("without a cache", time, Some(peak));
    let (time, peak, report) = check(&[])?;
    row("cold cache", time, Some(peak));
    let cold = fs::read(report)?;
    let mut warm = (Duration::MAX, 0);
    for _ in 0..3 {
        let (time, peak, report) = check(&[])?;
        warm = (warm.0.min(time), warm.1.max(peak));
        if fs::read(report)? != cold {
            return Err("the warm cache gives another report".into());
        }
    }
    row("warm cache", warm.0, Some(warm.1));
    Ok(())
}

/// What any check of these files has to do at least: find them, read them, and know whether they
/// changed.
fn read_and_hash(folder: &Path) -> Result<()> {
    let paths: Mutex<Vec<PathBuf>> = Mutex::default();
    let walk =
        ignore::WalkBuilder::new(folder).threads(rayon::current_num_threads()).build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|t| t.is_file())
                && let Ok(mut paths) = paths.lock()
            {
                paths.push(entry.into_path());
            }
            ignore::WalkState::Continue
        })
    });
    let paths = paths.into_inner()?;
    let hashes: std::io::Result<Vec<blake3::Hash>> =
        paths.par_iter().map(|path| Ok(blake3::hash(&fs::read(path)?))).collect();
    std::hint::black_box(hashes?);
    Ok(())
}

/// How long a command takes, and the most memory that it had, in KB; that is only known on Linux.
fn run(command: &mut Command) -> Result<(Duration, u64)> {
    let begun = Instant::now();
    let mut child = command.stderr(Stdio::inherit()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        let now = fs::read_to_string(&status).ok().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        });
        peak = peak.max(now.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    };
    match ended.code() {
        Some(0 | 1) => Ok((begun.elapsed(), peak)),
        _ => Err(format!("`agentir check` ended with {ended}").into()),
    }
}
