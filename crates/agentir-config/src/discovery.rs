//! Which configuration a file has.

use crate::INVALID_CONFIGURATION;
use crate::Names;
use crate::config::Config;
use agentir_diagnostics::{Diagnostic, SourceFile, SourceMap, Span};
use agentir_vfs::{FileSystem, Memory, is_absent, read_text};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::{io, path};

/// What the file is called.
pub const FILE_NAME: &str = "agentir.toml";

/// What is wrong with configurations, and their texts.
#[derive(Debug, Default)]
pub struct ConfigProblems {
    /// The files that `diagnostics` point into.
    pub sources: SourceMap,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

/// The configurations of a run. Each is read when the first file asks for it.
#[derive(Debug)]
pub struct Configs {
    names: Names,
    files: Arc<dyn FileSystem>,
    /// The one that all files go by, if there is one.
    fixed: Option<Arc<Config>>,
    /// The file that it was read from.
    fixed_file: Option<PathBuf>,
    nothing: Arc<Config>,
    /// What the files in a folder go by, as the folder is written before their names. Whole paths are
    /// compared, not their parts: this is asked for every file.
    known: RwLock<FxHashMap<Box<[u8]>, Arc<Config>>>,
    read: Mutex<Loaded>,
}

/// The configurations that were read.
#[derive(Debug, Default)]
struct Loaded {
    /// By the folders they are in, which are absolute: a folder can be written in several ways.
    by_folder: FxHashMap<PathBuf, Arc<Config>>,
    /// Whether there is a file without a configuration.
    none: bool,
    problems: ConfigProblems,
}

/// How the folder of a file is written, with what separates it from the name, and the file's name. All files of
/// the same folder as it is written [go by](Configs::of) the same configuration. Bytes: to take a path apart takes
/// longer than to look at its end.
#[must_use]
pub fn split_path(file: &Path) -> (&[u8], &[u8]) {
    let bytes = file.as_os_str().as_encoded_bytes();
    let folder = bytes.iter().rposition(|byte| path::is_separator(char::from(*byte)));
    bytes.split_at_checked(folder.map_or(0, |folder| folder + 1)).unwrap_or_default()
}

/// How a folder is written before the names of its files.
fn directory_prefix(folder: &Path) -> Box<[u8]> {
    folder.join("").into_os_string().into_encoded_bytes().into()
}

/// The size of the largest configuration that is read, in bytes. What reads TOML takes a hundred times the memory.
const MAX_CONFIG: usize = 1 << 20;

/// The text of a configuration.
fn read_config(files: &dyn FileSystem, path: &Path) -> io::Result<String> {
    let text = read_text(files, path)?;
    if text.len() > MAX_CONFIG {
        let message = format!("it is larger than {MAX_CONFIG} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

impl Configs {
    /// Each file has the nearest `agentir.toml` above it as its configuration.
    #[must_use]
    pub fn nearest(files: Arc<dyn FileSystem>, names: Names) -> Self {
        Self {
            names,
            files,
            fixed: None,
            fixed_file: None,
            nothing: Arc::default(),
            known: RwLock::default(),
            read: Mutex::default(),
        }
    }

    /// All files have the same configuration. Globs in it are relative to its folder.
    ///
    /// # Errors
    /// If it cannot be read. What is wrong with its text is among the [`problems`](Self::problems).
    pub fn fixed(files: Arc<dyn FileSystem>, file: &Path, names: Names) -> io::Result<Self> {
        let mut all = Self::nearest(files, names);
        let text = read_config(&*all.files, file)?;
        let folder = path::absolute(file)?.parent().map(Path::to_owned).unwrap_or_default();
        let Loaded { problems, .. } = all.read.get_mut().unwrap_or_else(PoisonError::into_inner);
        all.fixed = Some(read(&all.names, problems, file, &folder, Ok(text)));
        all.fixed_file = Some(file.to_owned());
        Ok(all)
    }

    /// No file has a configuration.
    #[must_use]
    pub fn none(names: Names) -> Self {
        Self { fixed: Some(Arc::default()), ..Self::nearest(Arc::new(Memory::new()), names) }
    }

    /// The configuration of the file at a path. The path is made absolute as it stands, without looking at
    /// links.
    #[must_use]
    pub fn of(&self, file: &Path) -> Arc<Config> {
        if let Some(config) = &self.fixed {
            return Arc::clone(config);
        }
        let (written, _) = split_path(file);
        self.known(written).unwrap_or_else(|| self.resolve(file, written.into()))
    }

    fn known(&self, written: &[u8]) -> Option<Arc<Config>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(written).cloned()
    }

    fn read(&self) -> MutexGuard<'_, Loaded> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for what a file goes by, from its folder upwards, until that is known of a folder. Nobody waits
    /// while the system is asked.
    fn resolve(&self, file: &Path, written: Box<[u8]>) -> Arc<Config> {
        let mut passed = Vec::new();
        let found = self.search_upwards(file, written, &mut passed);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.extend(passed.into_iter().map(|written| (written, Arc::clone(&found))));
        found
    }

    /// What [`look`](Self::look) finds; the folders for which that was not known go to `passed`.
    fn search_upwards(
        &self,
        file: &Path,
        mut written: Box<[u8]>,
        passed: &mut Vec<Box<[u8]>>,
    ) -> Arc<Config> {
        let mut folder = file.parent();
        while let Some(here) = folder {
            if let Some(config) = self.known(&written) {
                return config;
            }
            passed.push(written);
            match read_config(&*self.files, &here.join(FILE_NAME)) {
                // A folder of this name is a mistake, and settings that it hides must not be taken for none.
                Err(error) if is_absent(&error) && error.kind() != io::ErrorKind::IsADirectory => {}
                text => return self.load_folder(here, text),
            }
            folder = here.parent();
            written = folder.map(directory_prefix).unwrap_or_default();
        }
        match self.files.current_dir() {
            // What is above where we are is not written.
            Some(here) if file.is_relative() => self.of(&here),
            _ => {
                self.read().none = true;
                Arc::clone(&self.nothing)
            }
        }
    }

    /// The configuration in a folder, by what reading it gave.
    fn load_folder(&self, folder: &Path, text: io::Result<String>) -> Arc<Config> {
        let absolute = path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_owned());
        let Loaded { by_folder, problems, .. } = &mut *self.read();
        match by_folder.get(&absolute) {
            Some(config) => Arc::clone(config),
            None => {
                let file = shown(&*self.files, &absolute.join(FILE_NAME));
                let config = read(&self.names, problems, &file, &absolute, text);
                by_folder.insert(absolute, Arc::clone(&config));
                config
            }
        }
    }

    /// The files of the configurations that were read.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let found = self.read();
        let nearest = found.by_folder.keys().map(|folder| folder.join(FILE_NAME));
        self.fixed_file.iter().cloned().chain(nearest).collect()
    }

    /// What was wrong with the configurations that were read; takes it out.
    #[must_use]
    pub fn problems(&self) -> ConfigProblems {
        std::mem::take(&mut self.read().problems)
    }

    /// Whether a rule is off in all files whose configuration was looked up.
    #[must_use]
    pub fn always_off(&self, rule: &str, group: &str) -> bool {
        if let Some(config) = &self.fixed {
            return config.always_off(rule, group);
        }
        let Loaded { by_folder, none, .. } = &*self.read();
        !none
            && !by_folder.is_empty()
            && by_folder.values().all(|config| config.always_off(rule, group))
    }
}

/// A path as it is shown: relative to where we are, if it is in there.
fn shown(files: &dyn FileSystem, file: &Path) -> PathBuf {
    let here = files.current_dir().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).to_owned()
}

fn read(
    names: &Names,
    problems: &mut ConfigProblems,
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
