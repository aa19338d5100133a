//! `agentir test`: conversation tests.

use crate::input::{Input, load_input, read_files};
use crate::output::{delivered, show_document};
use crate::{run as run_command, write};
use agentir::Snapshot;
use agentir_diagnostics::one_line;
use agentir_runtime::Machine;
use agentir_scenario::{
    Coverage, Limits, Scenario, TestOutcome, Updated, coverage, generate, junit, run, text, update,
};
use agentir_secrets::mask;
use agentir_vfs::{Depth, Disk, Entry, EntryKind, FileSystem, Unvisited, normalized, read_text};
use clap::Args;
use rayon::prelude::*;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// What files with conversation tests are called.
const ENDINGS: [&str; 2] = [".test.yaml", ".test.yml"];

#[derive(Args)]
pub struct Test {
    /// Test files (`*.test.yaml`), and folders to search for them
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Write a JUnit report to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print how much of the agents the tests cover
    #[arg(long)]
    coverage: bool,
    /// Replace failed expectations in the test files by the actual behaviour
    #[arg(long, conflicts_with_all = ["junit", "coverage", "generate"])]
    update: bool,
    /// Generate tests for the agents at this path that cover as much of them as possible
    #[arg(long, conflicts_with_all = ["junit"])]
    generate: bool,
    /// The entry agent of generated tests, if it is not clear
    #[arg(long, value_name = "NAME", requires = "generate")]
    agent: Option<String>,
    /// The number of conversations to try for generated tests
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_tries, requires = "generate")]
    tries: usize,
    /// The file for generated tests [default: standard output]
    #[arg(short, long, value_name = "FILE", requires = "generate")]
    output: Option<PathBuf>,
}

/// Makes tests and writes them.
fn make(args: &Test) -> Result<ExitCode, String> {
    let [path] = args.paths.as_slice() else {
        return Err("tests can only be generated for the agents at one path".to_owned());
    };
    let Ok(snapshot) = load_input(&Input::of(path)) else { return Ok(ExitCode::from(2)) };
    let program = run_command::program(&snapshot)?;
    let machine = Machine::new(program);
    let limits = Limits { max_tries: args.tries, ..Limits::default() };
    let made = generate(&machine, args.agent.as_deref(), limits).map_err(|e| e.to_string())?;
    // The path of the agents is written as the file that is made will find them.
    let agents = match args.output.as_ref().and_then(|o| o.parent()) {
        Some(folder) => path.strip_prefix(folder).unwrap_or(path),
        None => path,
    };
    let yaml = made.to_yaml(&agents.display().to_string(), args.agent.as_deref());
    match &args.output {
        // A device is written to.
        Some(file) if file.metadata().is_ok_and(|there| there.is_file() || there.is_dir()) => {
            return Err(format!(
                "{} already exists; generated tests do not overwrite existing files",
                file.display()
            ));
        }
        Some(file) => write::replace_output(file, &yaml)?,
        None => {
            let masker = snapshot.sources().masker();
            if let Err(code) = delivered(show_document(&yaml, &masker)) {
                return Ok(code);
            }
        }
    }
    tell!("{} conversations", made.conversations.len());
    tell!("{}", coverage(&made.coverage.metrics(machine.cfg())).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// What came of a file.
struct Done {
    file: String,
    outcomes: Result<Vec<TestOutcome>, String>,
    covered: String,
    /// The files that the agents were read from.
    read: Vec<PathBuf>,
}

/// Runs the command; see its exit codes.
pub fn test(args: &Test) -> ExitCode {
    if args.generate {
        return make(args).unwrap_or_else(|error| {
            tell!("error: {error}");
            ExitCode::from(2)
        });
    }
    let disk = Disk::named(args.paths.iter().cloned());
    let files = match find(&args.paths, &disk) {
        Ok(files) => files,
        Err(error) => {
            tell!("error: {error}");
            return ExitCode::from(2);
        }
    };
    if let Some(Err(error)) = args.junit.as_deref().map(write::check_output) {
        tell!("error: {error}");
        return ExitCode::from(2);
    }
    let scope = Scope::named(&args.paths);
    if args.update {
        return bring_up(&files, &disk, &scope);
    }
    let done: Vec<Done> =
        files.par_iter().map(|file| one(file, &disk, &scope, args.coverage)).collect();
    let mut out = String::new();
    let (mut passed, mut failed, mut broken) = (0usize, 0usize, 0usize);
    let mut suites = Vec::new();
    let mut inputs = files;
    for Done { file, outcomes, covered, read } in done {
        inputs.extend(read);
        match outcomes {
            Ok(outcomes) => {
                let file = one_line(&mask(&file)).into_owned();
                out.push_str(&text(&file, &outcomes));
                out.push_str(&covered);
                let bad = outcomes.iter().filter(|o| !o.failures.is_empty()).count();
                failed += bad;
                passed += outcomes.len() - bad;
                suites.push((file, outcomes));
            }
            Err(error) => {
                broken += 1;
                tell!("error: {file}: {error}");
            }
        }
    }
    let more = if broken > 0 { ", and some could not be run" } else { "" };
    out.push_str(&format!("{passed} passed, {failed} failed{more}\n"));
    if let Err(code) = delivered(std::io::stdout().lock().write_all(out.as_bytes())) {
        return code;
    }
    if let Some(path) = &args.junit
        && let Err(error) = write::check_input(path, inputs.iter().map(PathBuf::as_path))
            .and_then(|()| write::replace_output(path, &junit(&suites)))
    {
        tell!("error: {error}");
        return ExitCode::from(2);
    }
    match (failed, broken) {
        (_, 1..) => ExitCode::from(2),
        (0, _) => ExitCode::SUCCESS,
        _ => ExitCode::from(1),
    }
}

/// Writes what agents do now into files. Exit code 0: all of them pass; 1: something is left.
fn bring_up(files: &[PathBuf], disk: &Disk, scope: &Scope<'_>) -> ExitCode {
    let one = |path: &PathBuf| -> Result<Updated, String> {
        let file = read_text(disk, path).map_err(|e| e.to_string())?;
        let scenario = Scenario::read(&file).map_err(|e| e.to_string())?;
        let snapshot = agents(path, &scenario, scope)?;
        let machine = Machine::new(run_command::program(&snapshot)?);
        let mut updated = update(&machine, &file).map_err(|e| e.to_string())?;
        let masker = snapshot.sources().masker();
        for one in &mut updated.left {
            *one = masker.mask(one).into_owned();
        }
        if updated.changes > 0 {
            write::replace(path, &updated.text)?;
        }
        Ok(updated)
    };
    let done: Vec<_> = files.par_iter().map(one).collect();
    let (mut left, mut broken) = (false, false);
    let mut out = String::new();
    for (path, done) in files.iter().zip(done) {
        let file = path.display().to_string();
        let file = one_line(&mask(&file)).into_owned();
        match done {
            Ok(updated) => {
                if updated.changes > 0 {
                    out.push_str(&format!("{file}: {} values updated\n", updated.changes));
                }
                for one in &updated.left {
                    let one = one_line(one);
                    out.push_str(&format!("{file}: not updated: {one}\n"));
                }
                left |= !updated.left.is_empty();
            }
            Err(error) => {
                broken = true;
                tell!("error: {file}: {error}");
            }
        }
    }
    if let Err(code) = delivered(std::io::stdout().lock().write_all(out.as_bytes())) {
        return code;
    }
    match (broken, left) {
        (true, _) => ExitCode::from(2),
        (false, true) => ExitCode::from(1),
        (false, false) => ExitCode::SUCCESS,
    }
}

fn find(paths: &[PathBuf], disk: &Disk) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if let Err(error) = path.metadata() {
            return Err(format!("{} cannot be read: {error}", path.display()));
        }
        if path.is_file() {
            files.push(path.clone());
            continue;
        }
        let inside: Mutex<Vec<PathBuf>> = Mutex::default();
        let unvisited: Mutex<Vec<Unvisited>> = Mutex::default();
        disk.walk(path, Depth::All, &|| {
            Box::new(|entry| match entry {
                Ok(Entry { kind: EntryKind::Special, .. }) => {}
                Ok(Entry { path, .. }) => {
                    let name = path.file_name().map(|n| n.to_string_lossy());
                    let is_test =
                        name.is_some_and(|name| ENDINGS.iter().any(|end| name.ends_with(end)));
                    if is_test && disk.is_file(&path) {
                        inside.lock().unwrap_or_else(PoisonError::into_inner).push(path);
                    }
                }
                Err(error) => {
                    unvisited.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                }
            })
        });
        let unvisited = unvisited.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(Unvisited { path, error }) = unvisited.first() {
            return Err(format!("{} cannot be read: {error}", path.display()));
        }
        let mut inside = inside.into_inner().unwrap_or_else(PoisonError::into_inner);
        inside.sort();
        files.extend(inside);
    }
    if files.is_empty() {
        return Err("no conversation tests found\nhelp: conversation tests are files named `*.test.yaml`; `agentir schema test` describes them".to_owned());
    }
    Ok(files)
}

fn one(path: &Path, disk: &Disk, scope: &Scope<'_>, covers: bool) -> Done {
    let (mut covered, mut read) = (String::new(), Vec::new());
    let outcomes = tests(path, disk, scope, covers.then_some(&mut covered), &mut read);
    Done { file: path.display().to_string(), outcomes, covered, read }
}

fn tests(
    path: &Path,
    disk: &Disk,
    scope: &Scope<'_>,
    covered: Option<&mut String>,
    read: &mut Vec<PathBuf>,
) -> Result<Vec<TestOutcome>, String> {
    let file = read_text(disk, path).map_err(|e| e.to_string())?;
    let scenario = Scenario::read(&file).map_err(|e| e.to_string())?;
    let snapshot = agents(path, &scenario, scope)?;
    *read = read_files(&snapshot);
    let program = run_command::program(&snapshot)?;
    let machine = Machine::new(program);
    let outcomes = run(&machine, &scenario).map_err(|e| e.to_string())?;
    let masker = snapshot.sources().masker();
    let outcomes: Vec<TestOutcome> = outcomes.into_iter().map(|o| o.shown(&masker)).collect();
    if let Some(covered) = covered {
        let mut all = Coverage::default();
        outcomes.iter().for_each(|o| all += o.coverage.clone());
        *covered = coverage(&all.metrics(machine.cfg()));
    }
    Ok(outcomes)
}

/// Where the agents of tests may be. Others may have written the tests, and their outcomes say what the agents say.
struct Scope<'a> {
    /// What the user named.
    named: &'a [PathBuf],
    /// The folders that were named, or that have the files that were named, without links.
    folders: Vec<PathBuf>,
}

impl<'a> Scope<'a> {
    fn named(named: &'a [PathBuf]) -> Self {
        let real = named.iter().filter_map(|path| fs::canonicalize(path).ok());
        let folder = |path: PathBuf| match path.is_dir() {
            true => Some(path),
            false => path.parent().map(Path::to_owned),
        };
        Self { named, folders: real.filter_map(folder).collect() }
    }

    /// Refuses agents that lie elsewhere, unless the user named the very file of tests that says where, and no link
    /// leads there.
    fn check(&self, test: &Path, folder: &Path, agents: &Path) -> Result<(), String> {
        // What is not there is reported by whoever reads it.
        let Ok(real) = fs::canonicalize(agents) else { return Ok(()) };
        let as_written = || {
            let below = agents.strip_prefix(folder).unwrap_or(agents);
            let folder = fs::canonicalize(folder);
            folder.is_ok_and(|folder| normalized(&folder.join(below)) == real)
        };
        if self.folders.iter().any(|folder| real.starts_with(folder))
            || (self.named.iter().any(|named| named == test) && as_written())
        {
            return Ok(());
        }
        Err(format!(
            "the agents at `{}` are outside of the folders that were named, so they were not read\n\
             help: name the folder that they are in as well",
            agents.display()
        ))
    }
}

/// The agents that a file of tests is about.
fn agents(path: &Path, scenario: &Scenario, scope: &Scope<'_>) -> Result<Snapshot, String> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let agents = scenario.agents.paths(folder);
    agents.iter().try_for_each(|agents| scope.check(path, folder, agents))?;
    let names: Vec<String> = agents.iter().map(|a| format!("`{}`", a.display())).collect();
    let input = match agents.as_slice() {
        [one] => Input::of(one),
        _ => Input::together(agents, folder),
    };
    load_input(&input).map_err(|_| format!("the agents at {} cannot be read", names.join(", ")))
}
