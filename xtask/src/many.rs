//! The time and memory of `agentir check` on very many files, compared with reading and hashing them.

use crate::corpus;
use rayon::prelude::*;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Writes `files` files, and measures.
pub(crate) fn measure(program: &Path, files: usize, seed: u64, rounds: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let agents = folder.path().join("agents");
    let bytes = corpus::write_mixed(&agents, files, seed)?;
    println!(
        "{files} files, {:.0} MB, {} threads, by `agentir check --format json`\n",
        bytes as f64 / 1e6,
        rayon::current_num_threads()
    );
    // The first reader would read from disk, all others from the page cache.
    read_and_hash(&agents)?;
    let cache = folder.path().join("cache");
    let check = |more: &[&str]| -> Result<(Row, Vec<u8>)> {
        let report = folder.path().join("report.json");
        let mut command = Command::new(program);
        command.arg("check").arg(&agents).args(["--format", "json"]).args(more);
        command.env("XDG_CACHE_HOME", &cache).stdout(fs::File::create(&report)?);
        Ok((run(&mut command)?, fs::read(report)?))
    };
    let (without, report) = check(&["--no-cache"])?;
    let (cold, _) = check(&[])?;
    let [mut reading, mut touched, mut untouched] = [Row::default(); 3];
    for _ in 0..rounds.max(1) {
        let begun = Instant::now();
        read_and_hash(&agents)?;
        reading.fastest(Row { time: begun.elapsed(), peak: 0 });
        for (row, touch) in [(&mut touched, true), (&mut untouched, false)] {
            if touch {
                touch_all(&agents)?;
            } else {
                // Files that were modified just now are not trusted to be unchanged by their modification time.
                std::thread::sleep(Duration::from_secs(3));
                check(&[])?;
            }
            let (again, cached) = check(&[])?;
            if cached != report {
                return Err("the report with a cache differs".into());
            }
            row.fastest(again);
        }
    }
    println!("{:<28}{:>10}{:>12}{:>12}{:>14}", "", "s", "files/s", "peak MB", "x reading");
    for (name, Row { time, peak }) in [
        ("reading and hashing", reading),
        ("without a cache", without),
        ("cold cache", cold),
        ("warm cache, new files", touched),
        ("warm cache, same files", untouched),
    ] {
        let seconds = time.as_secs_f64();
        println!(
            "{name:<28}{seconds:>10.2}{:>12.0}{:>12.0}{:>14.2}",
            files as f64 / seconds,
            peak as f64 / 1e3,
            seconds / reading.time.as_secs_f64()
        );
    }
    Ok(())
}

/// The shortest time of several runs, and the peak memory in KB.
#[derive(Clone, Copy, Default)]
struct Row {
    time: Duration,
    peak: u64,
}

impl Row {
    fn fastest(&mut self, other: Self) {
        self.time = if self.time.is_zero() { other.time } else { self.time.min(other.time) };
        self.peak = self.peak.max(other.peak);
    }
}

/// Sets the modification times of files to now, as a checkout does, and leaves their contents.
fn touch_all(folder: &Path) -> Result<()> {
    let now = SystemTime::now();
    for entry in ignore::WalkBuilder::new(folder).build() {
        let entry = entry?;
        if entry.file_type().is_some_and(|t| t.is_file()) {
            fs::File::options().append(true).open(entry.path())?.set_modified(now)?;
        }
    }
    Ok(())
}

/// The minimum that any check has to do: find the files, read them and hash them.
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

/// The time of a command, and its peak memory in KB, which is only known on Linux.
fn run(command: &mut Command) -> Result<Row> {
    let begun = Instant::now();
    let mut child = command.stderr(Stdio::inherit()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    // Before `exec`, the status is that of a copy of this process.
    let name = Path::new(command.get_program()).file_stem().unwrap_or_default().to_string_lossy();
    let is_it = |text: &str| text.lines().next() == Some(&format!("Name:\t{name}"));
    let mut peak = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        let now = fs::read_to_string(&status).ok().filter(|text| is_it(text)).and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
        });
        peak = peak.max(now.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(5));
    };
    match ended.code() {
        Some(0 | 1) => Ok(Row { time: begun.elapsed(), peak }),
        _ => Err(format!("`agentir check` ended with {ended}").into()),
    }
}
