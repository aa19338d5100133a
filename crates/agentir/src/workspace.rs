//! Texts that change.

use crate::languages::languages;
use crate::snapshot::Snapshot;
use agentir_config::{ConfigProblems, Configs, FILE_NAME, split_path};
use agentir_convert::Conversion;
use agentir_diagnostics::{Diagnostic, SourceMap};
use agentir_lint::{Cancelled, Selection};
use agentir_project::{
    Contents, Document, FileCache, LoadError, MANIFEST, Request, TextInput, build_with,
    config_names, discover,
};
use agentir_syntax::emit::is_data_path;
use agentir_syntax::{Claim, ReadOptions};
use agentir_vfs::{FileSystem, Memory, Overlay, identity};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts that change, and the programs they make up.
#[derive(Debug)]
pub struct Workspace {
    /// The files, and the texts that take precedence over them.
    files: Overlay,
    /// What is searched for documents.
    roots: Vec<PathBuf>,
    /// The folder of the one program that all documents belong to, if they do.
    together: Option<PathBuf>,
    /// The text of the root `-`.
    stdin: Option<TextInput>,
    /// The configurations that were set; without them each file has the nearest `agentir.toml` above it.
    configs: Option<Arc<Configs>>,
    /// What is wrong with the configurations in use.
    problems: Arc<ConfigProblems>,
    options: ReadOptions,
    selection: Selection,
    cache: FileCache,
    /// The documents that were found; `None` if that has to be done again.
    documents: Option<Discovered>,
    /// The current snapshot, until something changes.
    current: Option<Snapshot>,
    /// The latest snapshot, whose findings are kept where nothing changed.
    latest: Option<Snapshot>,
    /// The nearest configurations, as far as they were read.
    nearest: Option<Arc<Configs>>,
}

/// The documents of a workspace, with the configurations by which they were found.
#[derive(Debug)]
struct Discovered {
    documents: Vec<Document>,
    configs: Arc<Configs>,
    problems: Arc<ConfigProblems>,
    /// The texts that are neither documents, manifests nor configurations.
    ignored: Arc<[PathBuf]>,
}

impl Workspace {
    /// A workspace without files, whose only root is the folder that all relative paths are below.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(Arc::new(Memory::new()), vec![PathBuf::new()])
    }

    /// The files and folders at some paths on disk. Relative paths are relative to the current folder of the process
    /// whenever they are used; a process that changes it should pass absolute paths. A link among the files is followed
    /// to a file below these folders only.
    #[cfg(feature = "disk")]
    #[must_use]
    pub fn on_disk(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        let paths: Vec<PathBuf> = paths.into_iter().map(Into::into).collect();
        Self::new(Arc::new(agentir_vfs::Disk::named(paths.iter().cloned())), paths)
    }

    /// The files and folders at `roots` in a file system.
    #[must_use]
    pub fn new(files: Arc<dyn FileSystem>, roots: Vec<PathBuf>) -> Self {
        Self {
            files: Overlay::new(files),
            roots,
            together: None,
            stdin: None,
            configs: None,
            problems: Arc::default(),
            options: ReadOptions::default(),
            selection: Selection::default(),
            cache: FileCache::default(),
            documents: None,
            current: None,
            latest: None,
            nearest: None,
        }
    }

    /// Sets the files and folders that are searched for documents.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) {
        if self.roots != roots {
            self.roots = roots;
            self.refresh_documents();
        }
    }

    /// Sets how documents are read where configurations leave that open.
    pub fn set_options(&mut self, options: ReadOptions) {
        self.options = options;
        self.current = None;
    }

    /// Sets the configurations of the files, instead of each file having the nearest `agentir.toml` above it:
    /// `Configs::none(agentir::config_names())` if no configuration is to be used, [`Configs::fixed`] for one file.
    pub fn set_configs(&mut self, configs: Arc<Configs>) {
        self.configs = Some(configs);
        self.problems = Arc::default();
        self.refresh();
    }

    /// Makes all documents one program in `folder`, wherever they are.
    pub fn set_program_folder(&mut self, folder: impl Into<PathBuf>) {
        self.together = Some(folder.into());
        self.refresh();
    }

    /// Sets the text that the root `-` stands for. The name appears in findings and decides the language.
    pub fn set_stdin(&mut self, name: impl Into<PathBuf>, text: impl Into<Vec<u8>>) {
        self.stdin = Some(TextInput { name: name.into(), text: text.into() });
        self.refresh();
    }

    /// Sets which rules run.
    pub fn set_selection(&mut self, selection: Selection) {
        self.selection = selection;
        self.current = None;
    }

    /// Sets the text of a file, which takes precedence over the file itself. The path may be written in another
    /// way than those of the workspace: relative or absolute, with `.` and `..`. Links are not resolved.
    ///
    /// The text is a part of the workspace only if the file would be: if its path is below one of the roots and its
    /// name is one that folders are searched for, or if it is itself a root. [`Snapshot::ignored`] lists the others.
    pub fn set_text(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) {
        self.set_bytes(path, text.into());
    }

    /// Sets the contents of a file like [`Workspace::set_text`]: an archive, or bytes that may not be text.
    pub fn set_bytes(&mut self, path: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) {
        let path = path.as_ref();
        let is_config = path.file_name().is_some_and(|name| name == FILE_NAME);
        let before = self.files.own(path);
        if self.files.set(path, bytes) {
            self.current = None;
            if is_config {
                self.refresh();
            } else if self.decides_documents(path, before.as_deref()) {
                self.documents = None;
            }
        }
    }

    /// Removes the text of a file: the file itself counts again, if there is one.
    pub fn remove_text(&mut self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let before = self.files.read(path);
        if !self.files.remove(path) {
            return;
        }
        match (before, self.files.read(path)) {
            // What was saved counts as it did.
            (Ok(before), Ok(now)) if before == now => {}
            _ if path.file_name().is_some_and(|name| name == FILE_NAME) => self.refresh(),
            _ => self.refresh_documents(),
        }
    }

    /// Looks at all files again, because some were changed, added or removed on disk.
    pub fn refresh(&mut self) {
        self.nearest = None;
        self.refresh_documents();
    }

    /// Looks at all files but the configurations again, because others were changed, added or removed on disk.
    pub fn refresh_documents(&mut self) {
        self.documents = None;
        self.current = None;
    }

    /// Whether the text of `path` may change which documents there are: that of a file that is new, or of one that is
    /// taken for a document by its content, as YAML is. `before` is the text that was set before.
    fn decides_documents(&self, path: &Path, before: Option<&[u8]>) -> bool {
        let name = split_path(path).1;
        let shown = String::from_utf8_lossy(name);
        let claims: Vec<Claim> = languages().iter().map(|language| language.claim(name)).collect();
        let by_content = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            claims.iter().any(|claim| match claim {
                Claim::ByContent(speaks_for_it) => speaks_for_it(&shown, &text),
                Claim::Package(is_one) => is_one(bytes),
                Claim::ByName | Claim::No => false,
            })
        };
        let now = self.files.own(path).unwrap_or_default();
        if let Some(before) = before {
            return by_content(before) != by_content(&now);
        }
        let mut documents = self.documents.iter().flat_map(|discovered| &discovered.documents);
        let is_known = documents.any(|found| self.files.is_same_file(&found.path, path));
        let needs_content =
            claims.iter().any(|claim| matches!(claim, Claim::ByContent(_) | Claim::Package(_)));
        let needs_content =
            needs_content && !claims.iter().any(|claim| matches!(claim, Claim::ByName));
        !is_known || (needs_content && !by_content(&now))
    }

    /// A view of the workspace as it is now. Cheap if nothing changed; otherwise files whose content changed are parsed
    /// again, and no others.
    ///
    /// # Errors
    /// If one of the paths cannot be read.
    pub fn snapshot(&mut self) -> Result<Snapshot, LoadError> {
        if let Some(current) = &self.current {
            return Ok(current.clone());
        }
        let discovered = match self.documents.take() {
            Some(known) => known,
            None => self.discover()?,
        };
        let Discovered { documents, configs, problems, ignored } = &discovered;
        let contents = Contents::read(documents.clone(), &self.request(configs));
        let mut cache = std::mem::take(&mut self.cache);
        let loaded = build_with(&mut cache, contents, &self.request(configs));
        self.cache = cache;
        let (options, selection) = (self.options, self.selection.clone());
        let (configs, problems) = (Arc::clone(configs), Arc::clone(problems));
        let ignored = Arc::clone(ignored);
        let mut snapshot = Snapshot::new(loaded, configs, problems, selection, options, ignored);
        if let Some(latest) = &self.latest {
            snapshot.keep_findings(latest);
        }
        self.documents = Some(discovered);
        self.current = Some(snapshot.clone());
        self.latest = Some(snapshot.clone());
        Ok(snapshot)
    }

    fn discover(&mut self) -> Result<Discovered, LoadError> {
        let configs = match &self.configs {
            Some(configs) => Arc::clone(configs),
            None => match &self.nearest {
                Some(nearest) => Arc::clone(nearest),
                None => {
                    self.problems = Arc::default();
                    let nearest = agentir_project::configs(Arc::new(self.files.clone()));
                    let nearest = Arc::new(nearest);
                    self.nearest = Some(Arc::clone(&nearest));
                    nearest
                }
            },
        };
        let documents = discover(&self.request(&configs))?;
        let problems = Arc::new(configs.problems());
        // A file is read once, and its problems are returned once.
        if !problems.diagnostics.is_empty() {
            if self.configs.is_none() && !self.problems.diagnostics.is_empty() {
                // More of them than before, which are found together from the beginning.
                self.nearest = None;
                return self.discover();
            }
            self.problems = problems;
        }
        let ignored = self.ignored(&documents);
        Ok(Discovered { documents, configs, problems: Arc::clone(&self.problems), ignored })
    }

    /// The texts that were set and are not read.
    fn ignored(&self, documents: &[Document]) -> Arc<[PathBuf]> {
        let mut ignored: BTreeSet<&Path> = self.files.own_files().collect();
        ignored.retain(|path| path.file_name().is_none_or(|name| name != FILE_NAME));
        if ignored.is_empty() {
            return Arc::default();
        }
        let mut roots: BTreeSet<PathBuf> = BTreeSet::new();
        for document in documents {
            ignored.remove(&*identity(&self.files, &document.path));
            if document.in_program() {
                let root = identity(&self.files, &document.root);
                ignored.remove(&*root.join(MANIFEST));
                roots.insert(root);
            }
        }
        let is_data = |path: &Path| {
            roots.iter().filter_map(|root| path.strip_prefix(root).ok()?.to_str()).any(is_data_path)
        };
        ignored.retain(|path| !is_data(path));
        ignored.into_iter().map(Path::to_owned).collect()
    }

    fn request<'a>(&'a self, configs: &'a Configs) -> Request<'a> {
        Request {
            paths: &self.roots,
            together: self.together.as_deref(),
            stdin: self.stdin.as_ref(),
            languages: languages(),
            options: self.options,
            configs,
            files: &self.files,
        }
    }
}

impl Snapshot {
    /// Checks the output of a conversion as if it were in a folder of its own, without configuration; the report lists
    /// what is found. Returns the files as they were read, and the findings.
    ///
    /// # Errors
    /// If the check was cancelled.
    pub fn check_output(
        &self,
        conversion: &mut Conversion,
    ) -> Result<(SourceMap, Vec<Diagnostic>), Cancelled> {
        let mut output = Workspace::in_memory();
        output.set_options(*self.options());
        output.set_configs(Arc::new(Configs::none(config_names())));
        for file in &conversion.files {
            output.set_text(&file.path, file.text.as_str());
        }
        // What is in memory can be read.
        let Ok(output) = output.snapshot() else { return Ok(Default::default()) };
        let output = output.cancelled_by(self.cancellation().clone());
        let found = output.check()?.to_vec();
        conversion.checked(&found, output.sources());
        Ok((output.sources().clone(), found))
    }
}
