//! Which files there are, what they are taken for, and the program that each belongs to.

use crate::request::{LoadError, Request};
use agentir_cache::KeyBuilder;
use agentir_config::Configs;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io, path};

/// How the manifest of a project is called.
pub const MANIFEST: &str = "project.json";

/// The largest file that is read, and one byte more, so that it is known to be too large.
const MOST: u64 = agentir_lower::MAX_FILE_SIZE as u64 + 1;

/// Reads a file, and no more of it than it takes to see that it is too large: what is no regular file
/// may have no end.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let size = file.metadata().map_or(0, |m| m.len().min(MOST));
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A document to be read.
pub struct Found {
    /// Where it is.
    pub path: PathBuf,
    /// The text, if it does not come from the path.
    pub text: Option<String>,
    /// The folder of the program it belongs to.
    pub home: PathBuf,
    /// Whether it belongs to an earlier program as well.
    pub again: bool,
}

impl Found {
    /// The document at a path, of the program in a folder.
    pub fn new(path: PathBuf, home: PathBuf) -> Self {
        Self { path, text: None, home, again: false }
    }

    /// What it is called in messages.
    pub fn name(&self) -> Cow<'_, str> {
        // To take a path apart takes longer than to see that it does not begin so.
        let path = match self.path.as_os_str().as_encoded_bytes() {
            [b'.', ..] => self.path.strip_prefix("./").unwrap_or(&self.path),
            _ => &self.path,
        };
        path.to_string_lossy()
    }

    /// Adds everything about a document that decides how it is read, but for what it says.
    pub fn identify(&self, configs: &Configs, key: &mut KeyBuilder) {
        let config = configs.of(&self.path);
        key.add([u8::from(config.is_empty())]);
        if !config.is_empty() {
            let path = path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
            let (text, place) = config.identity(&path);
            key.add(text).add(place.as_os_str().as_encoded_bytes());
        }
        key.add(self.path.as_os_str().as_encoded_bytes())
            .add(self.home.as_os_str().as_encoded_bytes());
        key.add([u8::from(self.again), u8::from(self.path == self.home)]);
    }
}

/// The documents in the paths of a request, each once for every program that it belongs to, in order.
pub fn find(request: &Request<'_>) -> Result<Vec<Found>, LoadError> {
    let mut files: Vec<Found> = Vec::new();
    for path in request.paths {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|e| LoadError(format!("standard input cannot be read: {e}")))?;
            let path = request.stdin_filename.unwrap_or(Path::new("<stdin>")).to_owned();
            let _ = request.configs.of(&path);
            files.push(Found { text: Some(text), ..Found::new(path, PathBuf::from("<stdin>")) });
            continue;
        }
        let metadata = fs::metadata(path)
            .map_err(|e| LoadError(format!("`{}` cannot be read: {e}", path.display())))?;
        if metadata.is_dir() {
            files.extend(below(path, request));
        } else if path.file_name().is_some_and(|n| n == MANIFEST) {
            let folder = path.parent().unwrap_or(Path::new("."));
            let inner = Request { paths: &[folder.to_owned()], ..*request };
            files.extend(find(&inner)?);
        } else {
            // All configurations are read now, so that what is wrong with them is told before anything else;
            // those of files in folders have said whether they are read.
            let _ = request.configs.of(path);
            // A file that is named is read, whatever it is called and configurations say, and alone.
            files.push(Found::new(path.clone(), path.clone()));
        }
    }
    if let Some(folder) = request.together {
        files.iter_mut().for_each(|found| found.home = folder.to_owned());
    }
    Ok(sorted(files))
}

/// Documents by their paths, each once for every program.
fn sorted(files: Vec<Found>) -> Vec<Found> {
    let keyed = |found: Found| {
        let mut key = Vec::with_capacity(found.path.as_os_str().len() * 2 + 4);
        parts(&found.path, &mut key);
        let path = key.len();
        key.push(0);
        parts(&found.home, &mut key);
        (key, path, found)
    };
    let mut files: Vec<(Vec<u8>, usize, Found)> = files.into_par_iter().map(keyed).collect();
    files.par_sort_by(|a, b| a.0.cmp(&b.0));
    // Functions may belong to several bots of one folder.
    files.dedup_by(|a, b| a.2.text.is_none() && b.2.text.is_none() && a.0 == b.0);
    let mut before: Option<(Vec<u8>, bool)> = None;
    let again = |(mut key, path, mut found): (Vec<u8>, usize, Found)| {
        key.truncate(path);
        let read = found.text.is_none();
        found.again = read && before.as_ref().is_some_and(|(b, read)| *read && *b == key);
        before = Some((key, read));
        found
    };
    files.into_iter().map(again).collect()
}

/// Adds a path as bytes whose order is that of paths by their parts; parts are not compared anew each time.
fn parts(path: &Path, bytes: &mut Vec<u8>) {
    for part in path.components() {
        bytes.extend_from_slice(part.as_os_str().as_encoded_bytes());
        bytes.push(0);
    }
}

/// The documents below a folder, in no order. What git ignores and what is hidden is left out, and no
/// link is followed, so there is no way to go round in circles.
fn below(folder: &Path, request: &Request<'_>) -> Vec<Found> {
    let walk = ignore::WalkBuilder::new(folder)
        // What is found must not depend on whose machine it is.
        .git_global(false)
        .require_git(false)
        .threads(rayon::current_num_threads())
        .build_parallel();
    let found: Mutex<Vec<Found>> = Mutex::default();
    walk.run(|| {
        let mut here = Here { found: Vec::new(), homes: Homes::default(), all: &found };
        Box::new(move |entry| {
            match entry {
                Ok(entry) => {
                    let is_file = entry.file_type().is_some_and(|t| t.is_file());
                    let taken = |_: &Kind| request.takes(entry.path());
                    let kind = if is_file { Kind::of(entry.path()).filter(taken) } else { None };
                    if let Some(kind) = kind.filter(|kind| kind.is_in(entry.path())) {
                        here.add(kind, entry.into_path());
                    }
                }
                // A folder that cannot be opened is named like a file that cannot be read.
                Err(error) => {
                    if let Some(path) = path_of(&error) {
                        here.add(Kind::Whole, path.to_owned());
                    }
                }
            }
            ignore::WalkState::Continue
        })
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What one thread of a walk found.
struct Here<'a> {
    found: Vec<Found>,
    homes: Homes,
    all: &'a Mutex<Vec<Found>>,
}

impl Here<'_> {
    fn add(&mut self, kind: Kind, path: PathBuf) {
        match kind {
            Kind::Whole => self.found.push(Found::new(path.clone(), path)),
            Kind::Abl => {
                let home = self.homes.of(&path);
                self.found.push(Found::new(path, home));
            }
            Kind::Adl => self.found.extend(bot(&path)),
            Kind::Export => self.found.extend(exported(&path)),
        }
    }
}

impl Drop for Here<'_> {
    /// Once for all that was found: threads that wait for each other at every file are no faster than one.
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

/// The path that an error of the walk is about.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}

/// What a file in a folder is taken for.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A program of its own: Agent Script.
    Whole,
    /// A part of an ABL project.
    Abl,
    /// An ADL bot.
    Adl,
    /// The definition of an unpacked export.
    Export,
}

impl Kind {
    /// What a file is taken for by its name.
    fn of(path: &Path) -> Option<Self> {
        if is_agent_script(path) {
            Some(Self::Whole)
        } else if is_abl(path) {
            Some(Self::Abl)
        } else if is_yaml(path) {
            Some(Self::Adl)
        } else if is_definition(path) {
            Some(Self::Export)
        } else {
            None
        }
    }

    /// Whether what is in a file speaks for its kind, where names leave that open: most YAML is something
    /// else, and is left alone.
    fn is_in(self, path: &Path) -> bool {
        !matches!(self, Self::Adl) || is_adl(path)
    }
}

/// Whether a file in a folder is taken for Agent Script, by its name.
fn is_agent_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "agent")
}

/// How a file is called in its folder. What is no text in that is replaced: endings are.
fn last(path: &Path) -> Cow<'_, str> {
    path.file_name().map_or(Cow::Borrowed(""), |name| name.to_string_lossy())
}

/// Whether a file in a folder is taken for ABL, by its name.
fn is_abl(path: &Path) -> bool {
    let name = last(path);
    [".abl", ".agent.yaml", ".agent.yml"].iter().any(|end| name.ends_with(end))
}

/// Whether a file in a folder is YAML, by its name.
fn is_yaml(path: &Path) -> bool {
    let name = last(path);
    name.ends_with(".yml") || name.ends_with(".yaml")
}

/// Whether a file describes an ADL bot, by what is in it.
fn is_adl(path: &Path) -> bool {
    let name = last(path);
    if agentir_lower::is_adl_name(&name) {
        return true;
    }
    let text = read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| agentir_lower::is_adl(&name, &text))
}

/// Whether a file in a folder is the definition of an unpacked export, by its name.
fn is_definition(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    agentir_syntax::xo::FILE_NAMES.contains(&name)
}

/// An unpacked export: its definition, and the settings beside it.
fn exported(definition: &Path) -> Vec<Found> {
    let settings = definition.with_file_name("config.json");
    let home = definition.to_owned();
    let found = |path: PathBuf| Found::new(path, home.clone());
    std::iter::once(definition.to_owned())
        .chain(settings.is_file().then_some(settings))
        .map(found)
        .collect()
}

/// An ADL file with the Python files beside it, which hold its functions, and its settings. A folder with an
/// `agents.yml` is one program; else each file is one.
fn bot(agents: &Path) -> Vec<Found> {
    let folder = agents.parent().unwrap_or(Path::new(""));
    let whole = agents.file_stem().is_some_and(|stem| stem == "agents");
    let home = if whole { folder } else { agents };
    let found = |path: PathBuf| Found::new(path, home.to_owned());
    let beside = fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let belongs = name.ends_with(".py") || agentir_lower::is_adl_config_name(&name);
        belongs
            && match entry.file_type() {
                Ok(kind) if !kind.is_symlink() => kind.is_file(),
                _ => entry.path().is_file(),
            }
    });
    let beside = beside.map(|entry| entry.path());
    std::iter::once(agents.to_owned()).chain(beside).map(found).collect()
}

/// The folders of programs. Every folder is looked at once, however many files are in it.
#[derive(Default)]
struct Homes {
    /// For each folder the nearest one, from itself upwards, that has a manifest.
    manifests: FxHashMap<OsString, Option<PathBuf>>,
}

impl Homes {
    /// The folder of the program a file belongs to: the nearest one above with a manifest; else its
    /// own folder, or the one above where the folder is called as the parts of a project are.
    fn of(&mut self, file: &Path) -> PathBuf {
        let folder = file.parent().unwrap_or(Path::new(""));
        if let Some(home) = self.manifest_above(folder) {
            return home;
        }
        let part = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if matches!(part, "agents" | "tools" | "behavior_profiles") {
            folder.parent().unwrap_or(folder).to_owned()
        } else {
            folder.to_owned()
        }
    }

    fn manifest_above(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.manifests.get(folder.as_os_str()) {
            return known.clone();
        }
        let found = if folder.join(MANIFEST).is_file() {
            Some(folder.to_owned())
        } else {
            folder.parent().and_then(|above| self.manifest_above(above))
        };
        self.manifests.insert(folder.as_os_str().to_owned(), found.clone());
        found
    }
}
