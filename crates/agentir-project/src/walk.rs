//! Walks folders: which files are documents, and which program each belongs to.

use crate::document::{Document, MANIFEST};
use crate::request::Request;
use agentir_config::{Config, split_path};
use agentir_vfs::{Depth, Entry, FileSystem};
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
            Err(path) => here.walked.found.push(Document::alone(path, request)),
        })
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner).into_documents()
}

/// The documents of a file that is named: the file, whatever its name and configurations say, and what belongs to it
/// if it is a bot of ADL or the definition of an export.
pub(crate) fn named(path: PathBuf, request: &Request<'_>) -> Vec<Document> {
    if is_definition(&path) {
        return exported(&path, &request.configs.of(&path), request.files);
    }
    let document = Document::alone(path, request);
    if !is_yaml(&document.path) || !is_adl(&document.path, request.files) {
        return vec![document];
    }
    let (root, config) = (&document.path, &document.config);
    let above = root.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside: Mutex<Vec<Document>> = Mutex::default();
    request.files.walk(above.unwrap_or(Path::new(".")), Depth::Direct, &|| {
        Box::new(|entry| {
            let Ok(Entry { path, is_link }) = entry else { return };
            if belongs_to_bot(&path) && (!is_link || request.files.is_file(&path)) {
                // Named as the bot is.
                let path = root.with_file_name(path.file_name().unwrap_or_default());
                let found = Document::new(path, root.clone(), Arc::clone(config));
                beside.lock().unwrap_or_else(PoisonError::into_inner).push(found);
            }
        })
    });
    let mut documents = beside.into_inner().unwrap_or_else(PoisonError::into_inner);
    documents.push(document);
    documents
}

/// What a walk came to.
#[derive(Default)]
struct Walked {
    /// All documents but those of ADL bots.
    found: Vec<Document>,
    /// ADL files, and what they go by.
    bots: Vec<(PathBuf, Arc<Config>)>,
    /// What belongs to an ADL bot if there is one in the same folder.
    beside_bots: Vec<PathBuf>,
}

impl Walked {
    fn append(&mut self, other: &mut Self) {
        self.found.append(&mut other.found);
        self.bots.append(&mut other.bots);
        self.beside_bots.append(&mut other.beside_bots);
    }

    /// All documents: with an ADL file the Python files beside it, which hold its functions, and its settings. A
    /// folder with an `agents.yml` is one program; else each file is one.
    fn into_documents(self) -> Vec<Document> {
        let Self { mut found, bots, beside_bots } = self;
        let mut by_folder: FxHashMap<&[u8], Vec<&PathBuf>> =
            bots.iter().map(|(agents, _)| (split_path(agents).0, Vec::new())).collect();
        for path in &beside_bots {
            if let Some(beside) = by_folder.get_mut(split_path(path).0) {
                beside.push(path);
            }
        }
        let taken: FxHashSet<PathBuf> = match bots.is_empty() {
            true => FxHashSet::default(),
            false => found.iter().map(|document| document.root.clone()).collect(),
        };
        for (agents, config) in &bots {
            let whole = agents.file_stem().is_some_and(|stem| stem == "agents");
            // Agents of another language in the folder are not agents of the bot.
            let root = match agents.parent() {
                Some(folder) if whole && !taken.contains(folder) => folder,
                _ => agents,
            };
            let beside = by_folder.get(split_path(agents).0).into_iter().flatten();
            let files = std::iter::once(agents).chain(beside.copied());
            let one =
                |path: &PathBuf| Document::new(path.clone(), root.to_owned(), Arc::clone(config));
            found.extend(files.map(one));
        }
        found
    }
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

    fn see(&mut self, Entry { path, is_link }: Entry) {
        if is_link {
            if belongs_to_bot(&path) && self.request.files.is_file(&path) {
                self.walked.beside_bots.push(path);
            }
            return;
        }
        if belongs_to_bot(&path) {
            self.walked.beside_bots.push(path.clone());
        }
        if let Some(kind) = Kind::of(&path) {
            self.add_if_wanted(kind, path);
        }
    }

    /// Adds a file if its configuration wants it and it is what it is taken for.
    fn add_if_wanted(&mut self, kind: Kind, path: PathBuf) {
        let config = self.config(&path);
        let wanted = config.is_empty()
            || config.includes(&path::absolute(&path).unwrap_or_else(|_| path.clone()));
        if !wanted || !kind.is_in(&path, self.request.files) {
            return;
        }
        match kind {
            Kind::Whole => self.walked.found.push(Document::new(path.clone(), path, config)),
            Kind::Abl => {
                let root = self.roots.of(&path, self.request.files);
                self.walked.found.push(Document::new(path, root, config));
            }
            Kind::Adl => self.walked.bots.push((path, config)),
            Kind::Export => self.walked.found.extend(exported(&path, &config, self.request.files)),
        }
    }
}

impl Drop for Here<'_> {
    /// Once for all that was found: threads that wait for each other at every file are no faster than one.
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.walked);
    }
}

/// What a file in a folder is taken for.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A program of its own: Agent Script, AgentIR.
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
        if is_agent_script(path) || is_agent_ir(path) {
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
    fn is_in(self, path: &Path, files: &dyn FileSystem) -> bool {
        !matches!(self, Self::Adl) || is_adl(path, files)
    }
}

/// What a file is called in its folder.
fn last(path: &Path) -> &[u8] {
    split_path(path).1
}

/// Whether a file in a folder is taken for Agent Script, by its name.
fn is_agent_script(path: &Path) -> bool {
    last(path).strip_suffix(b".agent").is_some_and(|stem| !stem.is_empty())
}

/// Whether a file in a folder is taken for AgentIR, by its name.
fn is_agent_ir(path: &Path) -> bool {
    std::str::from_utf8(last(path)).is_ok_and(agentir_lower::is_agent_ir_name)
}

/// Whether a file in a folder is taken for ABL, by its name.
fn is_abl(path: &Path) -> bool {
    let name = last(path);
    name.ends_with(b".abl") || std::str::from_utf8(name).is_ok_and(agentir_lower::is_abl_yaml_name)
}

/// Whether a file in a folder is YAML, by its name.
fn is_yaml(path: &Path) -> bool {
    let name = last(path);
    name.ends_with(b".yml") || name.ends_with(b".yaml")
}

/// Whether a file describes an ADL bot, by what is in it.
fn is_adl(path: &Path, files: &dyn FileSystem) -> bool {
    let name = String::from_utf8_lossy(last(path));
    if agentir_lower::is_adl_name(&name) {
        return true;
    }
    let text = files.read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| agentir_lower::is_adl(&name, &text))
}

/// Whether a file is a part of the ADL bots beside it, by its name: their functions, or their settings.
fn belongs_to_bot(path: &Path) -> bool {
    let name = last(path);
    name.ends_with(b".py") || std::str::from_utf8(name).is_ok_and(agentir_lower::is_adl_config_name)
}

/// Whether a file in a folder is the definition of an unpacked export, by its name.
fn is_definition(path: &Path) -> bool {
    agentir_syntax::xo::FILE_NAMES.iter().any(|name| name.as_bytes() == last(path))
}

/// An unpacked export: its definition, and the settings beside it.
fn exported(definition: &Path, config: &Arc<Config>, files: &dyn FileSystem) -> Vec<Document> {
    let settings = definition.with_file_name("config.json");
    let found = |path| Document::new(path, definition.to_owned(), Arc::clone(config));
    std::iter::once(definition.to_owned())
        .chain(files.is_file(&settings).then_some(settings))
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
    /// own folder, or the one above where the folder is called as the parts of a project are.
    fn of(&mut self, file: &Path, files: &dyn FileSystem) -> PathBuf {
        let folder = file.parent().unwrap_or(Path::new(""));
        if let Some(root) = self.manifest_above(folder, files) {
            return root;
        }
        let part = folder.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if matches!(part, "agents" | "tools" | "behavior_profiles") {
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
