//! Which configuration a file goes by.

use crate::Names;
use crate::config::Config;
use agentir_diagnostics::{Diagnostic, SourceFile, SourceMap, Span};
use agentir_syntax::rules::INVALID_CONFIGURATION;
use rustc_hash::FxHashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::{fs, io, path};

/// What the file is called.
pub const FILE_NAME: &str = "agentir.toml";

/// What is wrong with configurations, and their texts.
#[derive(Debug, Default)]
pub struct Problems {
    /// The files that `diagnostics` point into.
    pub sources: SourceMap,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// The configurations of a run. Each is read when the first file asks for it.
#[derive(Debug)]
pub struct Configs {
    names: Names,
    /// The one that all files go by, if there is one.
    fixed: Option<Arc<Config>>,
    nothing: Arc<Config>,
    /// What the files in a folder go by, as the folder was written. Whole paths are compared, not their
    /// parts: this is asked several times for every file.
    known: RwLock<FxHashMap<Box<[u8]>, Arc<Config>>>,
    /// The folder that relative paths start from.
    here: OnceLock<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What the files in a folder go by; its path is absolute.
    by_folder: FxHashMap<OsString, Arc<Config>>,
    problems: Problems,
}

/// What stands before the name of a file. Bytes: to take a path apart takes longer than to look it up.
fn folder_as_written(file: &Path) -> &[u8] {
    let bytes = file.as_os_str().as_encoded_bytes();
    let last = bytes.iter().rposition(|byte| path::is_separator(char::from(*byte)));
    bytes.get(..last.map_or(0, |last| last + 1)).unwrap_or_default()
}

impl Configs {
    /// Each file goes by the nearest `agentir.toml` above it.
    #[must_use]
    pub fn nearest(names: Names) -> Self {
        Self {
            names,
            fixed: None,
            nothing: Arc::default(),
            known: RwLock::default(),
            here: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// All files go by this file, whose folder globs are relative to.
    ///
    /// # Errors
    /// Where it cannot be read. What is wrong with its text is among the [`problems`](Self::problems).
    pub fn fixed(file: &Path, names: Names) -> io::Result<Self> {
        let mut all = Self::nearest(names);
        let text = fs::read_to_string(file)?;
        let folder = path::absolute(file)?.parent().map(Path::to_owned).unwrap_or_default();
        let state = all.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        all.fixed = Some(read(&all.names, &mut state.problems, file, &folder, Ok(text)));
        Ok(all)
    }

    /// No file goes by any configuration.
    #[must_use]
    pub fn none(names: Names) -> Self {
        Self { fixed: Some(Arc::default()), ..Self::nearest(names) }
    }

    /// What the file at a path goes by. The path is made absolute as it stands, without looking at
    /// links.
    #[must_use]
    pub fn of(&self, file: &Path) -> Arc<Config> {
        if let Some(config) = &self.fixed {
            return Arc::clone(config);
        }
        let written = folder_as_written(file);
        if let Some(config) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(written)
        {
            return Arc::clone(config);
        }
        let folder = match self.absolute(file) {
            Ok(path) => path.parent().map(Path::to_owned).unwrap_or_default(),
            Err(_) => return Arc::clone(&self.nothing),
        };
        let config = self.of_folder(&folder);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(written.into(), Arc::clone(&config));
        config
    }

    /// What [`path::absolute`] gives, without asking each time where we are.
    fn absolute(&self, file: &Path) -> io::Result<PathBuf> {
        if file.is_absolute() {
            return path::absolute(file);
        }
        let here = match self.here.get() {
            Some(here) => here,
            None => {
                let here = std::env::current_dir()?;
                self.here.get_or_init(|| here)
            }
        };
        path::absolute(here.join(file))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody waits while the system is asked; a file that is there is read by one thread.
    fn of_folder(&self, folder: &Path) -> Arc<Config> {
        let mut passed = Vec::new();
        let mut found = Arc::clone(&self.nothing);
        for above in folder.ancestors() {
            if let Some(known) = self.state().by_folder.get(above.as_os_str()) {
                found = Arc::clone(known);
                break;
            }
            let file = above.join(FILE_NAME);
            match fs::read_to_string(&file) {
                Err(error) if !is_there(&error) => passed.push(above.as_os_str().to_owned()),
                text => {
                    let State { by_folder, problems } = &mut *self.state();
                    let read = || read(&self.names, problems, &shown(&file), above, text);
                    found =
                        by_folder.entry(above.as_os_str().to_owned()).or_insert_with(read).clone();
                    break;
                }
            }
        }
        let passed = passed.into_iter().map(|above| (above, Arc::clone(&found)));
        self.state().by_folder.extend(passed);
        found
    }

    /// What was wrong with the configurations that were read; takes it out.
    #[must_use]
    pub fn problems(&self) -> Problems {
        let mut state = self.state();
        std::mem::take(&mut state.problems)
    }

    /// Whether no file that was asked about has a use for a rule.
    #[must_use]
    pub fn never_want(&self, rule: &str, group: &str) -> bool {
        if let Some(config) = &self.fixed {
            return config.never_wants(rule, group);
        }
        let state = self.state();
        !state.by_folder.is_empty()
            && state.by_folder.values().all(|config| config.never_wants(rule, group))
    }
}

/// Whether what could not be read is there at all.
fn is_there(error: &io::Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
    !matches!(error.kind(), NotFound | NotADirectory | IsADirectory)
}

/// A path as it is shown: relative to where we are, if it is in there.
fn shown(file: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).to_owned()
}

fn read(
    names: &Names,
    problems: &mut Problems,
    file: &Path,
    folder: &Path,
    text: io::Result<String>,
) -> Arc<Config> {
    let name = file.display().to_string();
    let (text, error) = match text {
        Ok(text) => (text, None),
        Err(error) => (String::new(), Some(error)),
    };
    let source = SourceFile::new(name, text);
    let id = problems.sources.add(source.clone());
    if let Some(error) = error {
        let message = format!("this configuration cannot be read: {error}");
        let at = Span::new(id, 0, 0);
        problems.diagnostics.push(Diagnostic::error(INVALID_CONFIGURATION, at, message));
        return Arc::default();
    }
    match Config::read(id, &source, folder, names) {
        Ok(config) => Arc::new(config),
        Err(found) => {
            problems.diagnostics.extend(found);
            Arc::default()
        }
    }
}
