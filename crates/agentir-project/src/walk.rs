//! Walks folders: which files are documents, and which program each belongs to.

use crate::document::{Document, MANIFEST};
use crate::request::Request;
use agentir_config::{Config, split_path};
use agentir_syntax::{Claim, Language, Languages, ProgramLayout};
use agentir_vfs::{Depth, Entry, EntryKind, FileSystem, Unvisited};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The documents below a folder, in no order.
pub(crate) fn below(folder: &Path, request: &Request<'_>) -> Vec<Document> {
    let all: Mutex<Walked> = Mutex::default();
    request.files.walk(folder, Depth::All, &|| {
        let mut here = Here::new(request, &all);
        Box::new(move |entry| match entry {
            Ok(entry) => here.see(entry),
            // A folder that cannot be opened is reported like a file that cannot be read.
            Err(Unvisited { path, error }) => {
                let error = Some(Arc::new(error));
                here.walked.found.push(Document { error, ..Document::alone(path, request) });
            }
        })
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner).into_documents()
}

/// The documents of a file that is named: the file, whatever its name and configurations say, and what belongs to it
/// in its language.
pub(crate) fn named(path: PathBuf, request: &Request<'_>) -> Vec<Document> {
    let document = Document::alone(path, request);
    let claimed = claim(&document.path, request.languages);
    let claimed = claimed.filter(|(_, claim)| !matches!(claim, Claim::Package(_)));
    let claimed = claimed.filter(|(_, claim)| is_meant(*claim, &document.path, request.files));
    match claimed.map(|(language, _)| language.layout()) {
        Some(ProgramLayout::WithSettings { settings }) => {
            with_settings(&document.path, settings, &document.config, request.files)
        }
        Some(ProgramLayout::WithCompanions { is_companion, .. }) => {
            let mut documents = companions(&document, is_companion, request.files);
            documents.push(document);
            documents
        }
        _ => vec![document],
    }
}

/// The companions in the folder of a document, in no order.
fn companions(
    document: &Document,
    is_companion: fn(&[u8]) -> bool,
    files: &dyn FileSystem,
) -> Vec<Document> {
    let (root, config) = (&document.path, &document.config);
    let above = root.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside: Mutex<Vec<Document>> = Mutex::default();
    files.walk(above.unwrap_or(Path::new(".")), Depth::Direct, &|| {
        Box::new(|entry| {
            let Ok(Entry { path, kind }) = entry else { return };
            if is_companion(last(&path)) && may_be_read(kind, &path, files) {
                // Named as the document is.
                let path = root.with_file_name(path.file_name().unwrap_or_default());
                let found = Document::new(path, root.clone(), Arc::clone(config));
                beside.lock().unwrap_or_else(PoisonError::into_inner).push(found);
            }
        })
    });
    beside.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What a walk came to.
#[derive(Default)]
struct Walked {
    /// All documents but those with companions.
    found: Vec<Document>,
    /// The documents with companions.
    hosts: Vec<Host>,
    /// Companions, if there is a document in the same folder that they belong to.
    companions: Vec<PathBuf>,
}

impl Walked {
    fn append(&mut self, other: &mut Self) {
        self.found.append(&mut other.found);
        self.hosts.append(&mut other.hosts);
        self.companions.append(&mut other.companions);
    }

    /// All documents, with their companions. A file that stands for its folder makes the folder a program; else each
    /// file is one.
    fn into_documents(self) -> Vec<Document> {
        let Self { mut found, hosts, companions } = self;
        let mut by_folder: FxHashMap<&[u8], Vec<&PathBuf>> =
            hosts.iter().map(|host| (split_path(&host.path).0, Vec::new())).collect();
        for path in &companions {
            if let Some(beside) = by_folder.get_mut(split_path(path).0) {
                beside.push(path);
            }
        }
        let taken: FxHashSet<PathBuf> = match hosts.is_empty() {
            true => FxHashSet::default(),
            false => found.iter().map(|document| document.root.clone()).collect(),
        };
        for Host { path, config, is_companion, folder_stem } in &hosts {
            let whole = path.file_stem().is_some_and(|stem| stem == *folder_stem);
            // Agents of another language in the folder are not agents of the program.
            let root = match path.parent() {
                Some(folder) if whole && !taken.contains(folder) => folder,
                _ => path,
            };
            let beside = by_folder.get(split_path(path).0).into_iter().flatten().copied();
            let beside = beside.filter(|path| is_companion(last(path)));
            let files = std::iter::once(path).chain(beside);
            let one =
                |path: &PathBuf| Document::new(path.clone(), root.to_owned(), Arc::clone(config));
            found.extend(files.map(one));
        }
        found
    }
}

/// A document that companions in its folder belong to.
struct Host {
    path: PathBuf,
    config: Arc<Config>,
    is_companion: fn(&[u8]) -> bool,
    folder_stem: &'static str,
}

/// What one thread of a walk found.
struct Here<'a> {
    request: &'a Request<'a>,
    walked: Walked,
    roots: Roots,
    /// The folder of the file that was seen last, which most files share with the one before, and what its
    /// files go by. Threads do not ask for what they all ask for at every file.
    folder: Vec<u8>,
    config: Option<Arc<Config>>,
    all: &'a Mutex<Walked>,
}

impl<'a> Here<'a> {
    fn new(request: &'a Request<'a>, all: &'a Mutex<Walked>) -> Self {
        let (walked, roots) = (Walked::default(), Roots::default());
        Self { request, walked, roots, folder: Vec::new(), config: None, all }
    }

    /// What a file goes by.
    fn config(&mut self, path: &Path) -> Arc<Config> {
        let folder = split_path(path).0;
        match &self.config {
            Some(config) if self.folder == folder => Arc::clone(config),
            _ => {
                let config = self.request.configs.of(path);
                self.folder.clear();
                self.folder.extend_from_slice(folder);
                self.config = Some(Arc::clone(&config));
                config
            }
        }
    }

    fn see(&mut self, Entry { path, kind }: Entry) {
        let languages = self.request.languages;
        let name = last(&path);
        let is_companion = languages.iter().any(|language| match language.layout() {
            ProgramLayout::WithCompanions { is_companion, .. } => is_companion(name),
            _ => false,
        });
        if is_companion && may_be_read(kind, &path, self.request.files) {
            self.walked.companions.push(path.clone());
        }
        if kind != EntryKind::File {
            return;
        }
        if let Some((language, claim)) = claim(&path, languages) {
            self.add_if_wanted(language, claim, path);
        }
    }

    /// Adds a file if its configuration wants it and it is what it is taken for.
    fn add_if_wanted(&mut self, language: &'static dyn Language, claim: Claim, path: PathBuf) {
        let config = self.config(&path);
        let files = self.request.files;
        let wanted = config.is_empty()
            || config.includes(&path::absolute(&path).unwrap_or_else(|_| path.clone()));
        if !wanted || !is_meant(claim, &path, files) {
            return;
        }
        let layout = match claim {
            // What belongs to it is in it.
            Claim::Package(_) => ProgramLayout::File,
            _ => language.layout(),
        };
        match layout {
            ProgramLayout::File => {
                self.walked.found.push(Document::new(path.clone(), path, config));
            }
            ProgramLayout::Folder { parts } => {
                let root = self.roots.of(&path, parts, files);
                self.walked.found.push(Document::new(path, root, config));
            }
            ProgramLayout::WithCompanions { is_companion, folder_stem } => {
                self.walked.hosts.push(Host { path, config, is_companion, folder_stem });
            }
            ProgramLayout::WithSettings { settings } => {
                self.walked.found.extend(with_settings(&path, settings, &config, files));
            }
        }
    }
}

impl Drop for Here<'_> {
    /// Once for all that was found: threads that wait for each other at every file are no faster than one.
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.walked);
    }
}

/// Whether something with the name of a companion is one, or stands in the place of one: what a program is read with
/// must not be missing without a word. Reading a pipe or a device says that it cannot be read.
fn may_be_read(kind: EntryKind, path: &Path, files: &dyn FileSystem) -> bool {
    kind != EntryKind::Link || is_there(path, files)
}

/// Whether there is something at a path that is no folder.
fn is_there(path: &Path, files: &dyn FileSystem) -> bool {
    files.is_file(path) || (files.probe(path).is_ok() && !files.is_dir(path))
}

/// What a file is called in its folder.
fn last(path: &Path) -> &[u8] {
    split_path(path).1
}

/// The first language that a file in a folder may be taken for, by its name.
fn claim(path: &Path, languages: Languages) -> Option<(&'static dyn Language, Claim)> {
    let claims = languages.iter().map(|language| (language, language.claim(last(path))));
    claims.into_iter().find(|(_, claim)| !matches!(claim, Claim::No))
}

/// Whether a file is what it is taken for, if its name leaves that open.
fn is_meant(claim: Claim, path: &Path, files: &dyn FileSystem) -> bool {
    match claim {
        Claim::No => false,
        Claim::ByName => true,
        Claim::ByContent(is_meant) => {
            let text = files.read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            text.is_some_and(|text| is_meant(&String::from_utf8_lossy(last(path)), &text))
        }
        Claim::Package(is_meant) => files.read(path).is_ok_and(|bytes| is_meant(&bytes)),
    }
}

/// A document, and the settings beside it.
fn with_settings(
    path: &Path,
    settings: &str,
    config: &Arc<Config>,
    files: &dyn FileSystem,
) -> Vec<Document> {
    let settings = path.with_file_name(settings);
    let found = |file| Document::new(file, path.to_owned(), Arc::clone(config));
    std::iter::once(path.to_owned())
        .chain(is_there(&settings, files).then_some(settings))
        .map(found)
        .collect()
}

/// The folders of programs. Every folder is looked at once, however many files are in it.
#[derive(Default)]
struct Roots {
    /// For each folder the nearest one, from itself upwards, that has a manifest.
    manifests: FxHashMap<OsString, Option<PathBuf>>,
}

impl Roots {
    /// The folder of the program a file belongs to: the nearest one above with a manifest; else its
    /// own folder, or the one above where the folder is called as one of the `parts` of a project.
    fn of(&mut self, file: &Path, parts: &[&str], files: &dyn FileSystem) -> PathBuf {
        let folder = file.parent().unwrap_or(Path::new(""));
        if let Some(root) = self.manifest_above(folder, files) {
            return root;
        }
        let part = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if parts.contains(&part) {
            folder.parent().unwrap_or(folder).to_owned()
        } else {
            folder.to_owned()
        }
    }

    fn manifest_above(&mut self, folder: &Path, files: &dyn FileSystem) -> Option<PathBuf> {
        if let Some(known) = self.manifests.get(folder.as_os_str()) {
            return known.clone();
        }
        let found = if files.is_file(&folder.join(MANIFEST)) {
            Some(folder.to_owned())
        } else {
            folder.parent().and_then(|above| self.manifest_above(above, files))
        };
        self.manifests.insert(folder.as_os_str().to_owned(), found.clone());
        found
    }
}
