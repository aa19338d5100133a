//! Loads programs: reads, parses and lowers documents, and assembles those that run together.

use crate::assemble::{LoadedProgram, Member, ProjectManifest, assemble};
use crate::cache::{FileCache, ResultKey};
use crate::data::{self, DataFile, OpenedFile};
use crate::discover::discover;
use crate::document::{Document, MANIFEST, shown};
use crate::file::{self, FileResult};
use crate::levels::rule_options;
use crate::request::{LoadError, Request};
use agentir_config::Configs;
use agentir_diagnostics::{Diagnostic, FileId, SourceFile, SourceMap, Span};
use agentir_ir::Data;
use agentir_syntax::emit::is_data_path;
use agentir_syntax::lower::MAX_AGENTS;
use agentir_syntax::{FileHead, Language, Languages, ReadOptions};
use agentir_vfs::{FileSystem, identity};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Documents, read, parsed and assembled to programs.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The files.
    pub sources: SourceMap,
    /// The findings of the front ends.
    pub diagnostics: Vec<Diagnostic>,
    /// The programs, in the order of their folders.
    pub programs: Vec<LoadedProgram>,
    /// How many documents were read.
    pub files: usize,
}

/// Loads everything that a request names.
///
/// # Errors
/// If a path that was named cannot be read.
pub fn load(request: &Request<'_>) -> Result<Loaded, LoadError> {
    Ok(build(Contents::read(discover(request)?, request), request))
}

/// Reads texts as the files of one program, in their order. A `project.json` among them is its manifest, and `tables/*.csv`
/// and `knowledge/*.csv` are its data.
#[must_use]
pub fn read_program<'t>(
    languages: Languages,
    files: impl IntoIterator<Item = (&'t str, &'t str)>,
    options: ReadOptions,
) -> Loaded {
    let mut sources = SourceMap::new();
    let mut manifest = None;
    let mut results = Vec::new();
    let mut rows = Vec::new();
    for (name, text) in files {
        let id = sources.add(SourceFile::new(name, text));
        let path = Path::new(name);
        if is_data_path(name) {
            rows.push(OpenedFile { id, name: name.to_owned(), problem: None });
        } else if path.file_name().is_some_and(|last| last == MANIFEST) {
            manifest = Some(id);
        } else {
            results.push((id, path, FileResult::new(languages, id, name, text, true, options)));
        }
    }
    let rule_options = Arc::default();
    let members = results.iter().map(|(id, path, file)| Member {
        id: *id,
        path,
        file,
        options: &rule_options,
    });
    let manifest = manifest.and_then(|id| Some(ProjectManifest::Own(id, sources.get(id)?)));
    let (mut program, about_manifest) =
        assemble(members, manifest.unwrap_or(ProjectManifest::Absent));
    let about_rows = data::load(&mut program.program, &rows, &sources);
    let files = results.len();
    let diagnostics = results.into_iter().flat_map(|(_, _, file)| file.lowered.diagnostics);
    let diagnostics: Vec<_> = diagnostics.chain(about_manifest).chain(about_rows).collect();
    sources.conceal(secrets(&diagnostics));
    Loaded { sources, diagnostics, programs: vec![program], files }
}

/// A document and its bytes, or why it cannot be read.
pub type ReadDocument = (Document, io::Result<Vec<u8>>);

/// The contents of files of programs. Everything is derived from one read, so a file that changes meanwhile is
/// either old or new for all.
#[derive(Debug)]
pub struct Contents {
    languages: Languages,
    files: Vec<ReadDocument>,
    /// The manifests of the folders that have one, or why they cannot be read.
    manifests: BTreeMap<PathBuf, io::Result<Vec<u8>>>,
    /// The data beside the agents.
    data: Vec<DataFile>,
    /// The folders of programs of which the request names only a part.
    parts: BTreeSet<PathBuf>,
}

impl Contents {
    /// Reads documents and the manifests of their programs.
    #[must_use]
    pub fn read(documents: Vec<Document>, request: &Request<'_>) -> Self {
        let documents = without_excess(documents);
        let (mut manifests, mut parts) = (BTreeMap::new(), BTreeSet::new());
        let mut data = Vec::new();
        for root in roots(&documents) {
            data.extend(data::read(root, request.files));
            if is_part(root, request) {
                parts.insert(root.to_owned());
            } else {
                let bytes = request.files.read(&root.join(MANIFEST));
                if !bytes.as_ref().is_err_and(agentir_vfs::is_absent) {
                    manifests.insert(root.to_owned(), bytes);
                }
            }
        }
        let read = |document: Document| {
            let bytes = match (&document.text, &document.error) {
                (Some(text), _) => Ok(text.clone()),
                (None, Some(error)) => Err(io::Error::new(error.kind(), error.to_string())),
                (None, None) => request.files.read(&document.path),
            };
            (document, bytes)
        };
        Self { languages: request.languages, files: map(documents, read), manifests, data, parts }
    }

    /// Passes everything that decides what is found in these files, but for the request, to `add`; `None` where
    /// that is not known because a file could not be read.
    #[must_use]
    pub fn identify(&self, add: &mut dyn FnMut(&[u8])) -> Option<()> {
        for (document, bytes) in &self.files {
            document.identify(add);
            add(bytes.as_ref().ok()?);
        }
        for (root, bytes) in &self.manifests {
            add(root.as_os_str().as_encoded_bytes());
            add(bytes.as_ref().ok()?);
        }
        for file in &self.data {
            add(file.path().as_os_str().as_encoded_bytes());
            add(file.bytes.as_ref().ok()?);
        }
        for root in &self.parts {
            add(root.as_os_str().as_encoded_bytes());
        }
        Some(())
    }

    /// Their size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let all = self.files.iter().map(|(_, bytes)| bytes);
        let all = all.chain(self.data.iter().map(|file| &file.bytes));
        all.map(|bytes| bytes.as_ref().map_or(0, |b| b.len() as u64)).sum()
    }

    /// The files with the ids that spans refer to, without parsing them.
    #[must_use]
    pub fn sources(self) -> SourceMap {
        let mut cache = FileCache::default();
        open(self, &mut cache);
        cache.into_sources()
    }
}

/// Leaves one document of each program that has too many files, with an error that says so.
fn without_excess(mut documents: Vec<Document>) -> Vec<Document> {
    if documents.len() <= MAX_AGENTS {
        return documents;
    }
    let mut counts: FxHashMap<PathBuf, usize> = FxHashMap::default();
    for document in documents.iter().filter(|document| document.in_program()) {
        *counts.entry(document.root.clone()).or_default() += 1;
    }
    counts.retain(|_, count| *count > MAX_AGENTS);
    documents.retain_mut(|document| {
        let Some(count) = counts.get_mut(&document.root) else { return true };
        let all = std::mem::take(count);
        if all > 0 {
            let message = format!(
                "its program has {all} files, and of more than {MAX_AGENTS} none is read; name a part of it"
            );
            document.error = Some(Arc::new(io::Error::other(message)));
        }
        all > 0
    });
    documents
}

/// Maps in parallel, but does not start a thread pool for a single item.
fn map<T: Send, R: Send>(items: Vec<T>, job: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if items.len() > 1 {
        items.into_par_iter().map(job).collect()
    } else {
        items.into_iter().map(job).collect()
    }
}

/// The folders of programs that may have a manifest.
fn roots(documents: &[Document]) -> impl Iterator<Item = &Path> {
    let mut last = None;
    let in_folders =
        documents.iter().filter(|found| found.root.as_os_str() != found.path.as_os_str());
    in_folders.filter_map(move |found| {
        let root = found.root.as_os_str();
        (last.replace(root) != Some(root)).then_some(&*found.root)
    })
}

/// Whether a request names only a part of the project that a program belongs to: a folder below that of the manifest.
/// What the program lacks may be in the rest.
fn is_part(root: &Path, request: &Request<'_>) -> bool {
    let files = request.files;
    let is_named = |root: &Path| {
        let is_below = |path: &PathBuf| {
            let path = identity(files, path);
            let of_manifest = path.parent().filter(|_| path.ends_with(MANIFEST));
            root.starts_with(of_manifest.unwrap_or(&path))
        };
        request.together.is_some() || request.paths.iter().any(is_below)
    };
    let root = identity(files, root);
    let project = root.ancestors().find(|folder| files.is_file(&folder.join(MANIFEST)));
    project.is_some_and(|project| !is_named(project))
}

/// Files with ids, in order; manifests come last. A file that is not text is reported, and is not a document.
fn open(contents: Contents, cache: &mut FileCache) -> Opened {
    let Contents { languages, files, manifests, data, parts } = contents;
    let mut diagnostics = Vec::new();
    let mut unread = Vec::new();
    let files: Vec<_> = files
        .into_iter()
        .flat_map(|(found, bytes)| match bytes {
            Ok(bytes) => match unpack(&found, &bytes, languages, &mut unread) {
                Some(unpacked) => unpacked,
                None => vec![(found, Ok(bytes))],
            },
            error => vec![(found, error)],
        })
        .collect();
    let names: Vec<String> =
        files.iter().map(|(document, _)| document.name().into_owned()).collect();
    let manifests: Vec<_> = manifests
        .into_iter()
        .map(|(root, bytes)| {
            let name = shown(&root.join(MANIFEST)).into_owned();
            (root, name, bytes)
        })
        .collect();
    let manifest_names = manifests.iter().map(|(_, name, _)| name.as_str());
    let data_names: Vec<String> =
        data.iter().map(|file| shown(&file.path()).into_owned()).collect();
    let all = names.iter().map(String::as_str).chain(manifest_names);
    cache.begin(all.chain(data_names.iter().map(String::as_str)));
    let mut documents: Vec<(Document, FileId)> = Vec::with_capacity(files.len());
    let mut unreadable = Vec::new();
    for ((document, bytes), name) in files.into_iter().zip(&names) {
        let (text, problem) = file::decode(bytes);
        let id = cache.add(name, text);
        match problem {
            Some(problem) => {
                diagnostics.push(file::problem(id, problem));
                unreadable.push((document.root, id));
            }
            None => documents.push((document, id)),
        }
    }
    let mut opened = BTreeMap::new();
    for (root, name, bytes) in manifests {
        let (text, problem) = file::decode(bytes);
        let id = cache.add(&name, text);
        match problem {
            Some(problem) => {
                diagnostics.push(file::problem(id, problem));
                unreadable.push((root, id));
            }
            None => {
                opened.insert(root, id);
            }
        }
    }
    let manifests = opened;
    let mut rows: BTreeMap<PathBuf, Vec<OpenedFile>> = BTreeMap::new();
    for (DataFile { root, name, bytes }, shown) in data.into_iter().zip(&data_names) {
        let (text, problem) = file::decode(bytes);
        let id = cache.add(shown, text);
        let problem = problem.map(|problem| file::problem(id, problem));
        rows.entry(root).or_default().push(OpenedFile { id, name, problem });
    }
    Opened { documents, diagnostics, unreadable, unread, manifests, rows, parts }
}

/// The result of [`open`].
struct Opened {
    documents: Vec<(Document, FileId)>,
    diagnostics: Vec<Diagnostic>,
    /// The files that are not text, with their programs.
    unreadable: Vec<(PathBuf, FileId)>,
    /// The files of packages that are not read.
    unread: Vec<UnreadFiles>,
    manifests: BTreeMap<PathBuf, FileId>,
    /// The data of programs.
    rows: BTreeMap<PathBuf, Vec<OpenedFile>>,
    parts: BTreeSet<PathBuf>,
}

/// Parses, lowers and assembles the programs of files.
#[must_use]
pub fn build(contents: Contents, request: &Request<'_>) -> Loaded {
    build_with(&mut FileCache::default(), contents, request)
}

/// Builds programs like [`build`], and takes results of files whose content is unchanged from `cache`.
#[must_use]
pub fn build_with(cache: &mut FileCache, contents: Contents, request: &Request<'_>) -> Loaded {
    let Opened { documents, mut diagnostics, unreadable, unread, manifests, rows, parts } =
        open(contents, cache);
    let parse = |(document, id): (Document, FileId)| {
        let options = request.options(&document.path, &document.config);
        let key = ResultKey { file: id, in_program: document.in_program(), options };
        let result = cache.result(request.languages, key);
        (document, key, result)
    };
    let parsed = map(documents, parse);
    cache.finish(parsed.iter().map(|(_, key, result)| (*key, Arc::clone(result))));
    let results: Vec<(Document, FileId, Arc<FileResult>)> =
        parsed.into_iter().map(|(document, key, result)| (document, key.file, result)).collect();
    let mut sources = cache.sources().clone();
    for (_, _, result) in &results {
        sources.conceal(secrets(&result.lowered.diagnostics));
    }
    let files = results.len() + unreadable.len();
    let mut known = HashMap::new();
    let mut programs: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    let mut options = Vec::with_capacity(results.len());
    for (index, (document, _, result)) in results.iter().enumerate() {
        // A file of several programs is reported once.
        if !document.repeated {
            diagnostics.extend(result.lowered.diagnostics.iter().cloned());
        }
        programs.entry(document.root.clone()).or_default().push(index);
        options.push(rule_options(&document.config, &document.path, &mut known));
    }
    let mut loaded = BTreeMap::new();
    for (root, members) in programs {
        let members = members.into_iter().filter_map(|index| {
            let ((document, id, file), options) = (results.get(index)?, options.get(index)?);
            Some(Member { id: *id, path: &document.path, file, options })
        });
        let own = manifests.get(&root);
        let manifest = match own.and_then(|id| Some((*id, sources.get(*id)?))) {
            Some((id, file)) => ProjectManifest::Own(id, file),
            None if parts.contains(&root) => ProjectManifest::Enclosing,
            None => ProjectManifest::Absent,
        };
        let (mut program, found) = assemble(members, manifest);
        diagnostics.extend(found);
        let rows = rows.get(&root).map_or(&[][..], Vec::as_slice);
        diagnostics.extend(data::load(&mut program.program, rows, &sources));
        program.data.extend(rows.iter().map(|file| file.id));
        loaded.insert(root, program);
    }
    for (root, id) in unreadable {
        if let Some(loaded) = loaded.get_mut(&root) {
            loaded.unread.push(id);
            loaded.program.complete = false;
        }
    }
    for UnreadFiles { root, language, names } in unread {
        if let Some(loaded) = loaded.get_mut(&root) {
            let span = loaded.program.agents().next().map(|a| a.span.at_start());
            let all = names.into_iter().map(Data::from).collect();
            let span = span.unwrap_or(Span::new(FileId(0), 0, 0));
            loaded.program.extensions.insert(language.id(), "files", Data::Array(all), span);
        }
    }
    Loaded { sources, diagnostics, programs: loaded.into_values().collect(), files }
}

/// Finds and reads documents, each once, without the companions of documents that are not named.
///
/// # Errors
/// If a path that was named cannot be read.
pub fn documents(
    paths: &[PathBuf],
    stdin: Option<&crate::TextInput>,
    languages: Languages,
    configs: &Configs,
    files: &dyn FileSystem,
) -> Result<Vec<ReadDocument>, LoadError> {
    let options = ReadOptions::default();
    let request = Request { paths, together: None, stdin, languages, options, configs, files };
    let mut found = discover(&request)?;
    found.retain(|document| {
        let name = document.name();
        let head = FileHead { name: &name, text: "", in_program: document.in_program() };
        let is_companion = languages.detect_head(&head).kind.is_companion;
        !is_companion || document.text.is_some() || paths.contains(&document.path)
    });
    found.dedup_by(|a, b| a.text.is_none() && b.text.is_none() && a.path == b.path);
    Ok(Contents::read(found, &request).files)
}

/// The files of a package that are read, if bytes are one; the names of the others go to `unread`.
fn unpack(
    found: &Document,
    bytes: &[u8],
    languages: Languages,
    unread: &mut Vec<UnreadFiles>,
) -> Option<Vec<ReadDocument>> {
    let (language, package) = languages.unpack(bytes)?;
    let package = match package {
        Ok(package) => package,
        Err(problem) => return Some(vec![(found.clone(), Err(io::Error::other(problem)))]),
    };
    if !package.others.is_empty() {
        let (root, names) = (found.root.clone(), package.others);
        unread.push(UnreadFiles { root, language, names });
    }
    let read = |(name, bytes): (String, Vec<u8>)| {
        // Only what it is called: a name in a package may look like a path to anywhere.
        let path = PathBuf::from(format!("{}/{name}", found.path.display()));
        let (root, config) = (found.root.clone(), Arc::clone(&found.config));
        (Document { repeated: found.repeated, ..Document::new(path, root, config) }, Ok(bytes))
    };
    Some(package.files.into_iter().map(read).collect())
}

/// The files of a package that are not read.
struct UnreadFiles {
    /// The program.
    root: PathBuf,
    language: &'static dyn Language,
    names: Vec<String>,
}

/// The places that findings say are secrets.
fn secrets(diagnostics: &[Diagnostic]) -> impl Iterator<Item = Span> {
    diagnostics.iter().filter(|found| found.secret).map(|found| found.primary.span)
}

/// The documents of one program, not yet read.
#[derive(Debug)]
pub struct ProgramFiles {
    /// The smallest name of a file that something may be found in.
    pub first: Arc<str>,
    files: Vec<Document>,
}

impl ProgramFiles {
    /// The program's folder or file, as it was found.
    fn found_root(&self) -> &Path {
        self.files.first().map_or(Path::new(""), |found| &found.root)
    }

    /// The program's folder or file.
    #[must_use]
    pub fn root(&self) -> &Path {
        let root = self.found_root();
        root.strip_prefix("./").unwrap_or(root)
    }

    /// Where the program is, relative to the path on the command line that it was found below.
    #[must_use]
    pub fn relative_root(&self, paths: &[PathBuf]) -> &Path {
        let root = self.found_root();
        let below = paths.iter().filter_map(|path| root.strip_prefix(path).ok());
        below.min_by_key(|path| path.as_os_str().len()).unwrap_or(root)
    }

    /// Passes fingerprints of the files' metadata to `add`, which tell without reading whether one of them was
    /// changed. `None` where that cannot be told.
    #[must_use]
    pub fn stamp(&self, request: &Request<'_>, add: &mut dyn FnMut(&[u8])) -> Option<()> {
        for document in &self.files {
            if document.text.is_some() {
                return None;
            }
            document.identify(add);
            add(&request.files.stamp(&document.path).ok()??);
        }
        for root in roots(&self.files) {
            add(root.as_os_str().as_encoded_bytes());
            add(&[u8::from(is_part(root, request))]);
            match request.files.stamp(&root.join(MANIFEST)) {
                Ok(stamp) => add(&stamp?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => add(&[]),
                Err(_) => return None,
            }
            for (name, may_be_read) in data::names(root, request.files) {
                may_be_read.ok()?;
                add(name.as_bytes());
                add(&request.files.stamp(&root.join(&name)).ok()??);
            }
        }
        Some(())
    }

    /// The size of the program's files in bytes, without reading them.
    ///
    /// # Errors
    /// If the size of one of them cannot be told.
    pub fn size(&self, request: &Request<'_>) -> io::Result<usize> {
        self.files.iter().try_fold(0usize, |sum, document| {
            let size = match &document.text {
                Some(text) => text.len(),
                None => request.files.size(&document.path)?,
            };
            Ok(sum.saturating_add(size))
        })
    }

    /// Reads the program's files.
    #[must_use]
    pub fn read(self, request: &Request<'_>) -> Contents {
        Contents::read(self.files, request)
    }

    /// Finds the programs that a request names, in the order of their first files. Only what decides which they are
    /// is read.
    ///
    /// # Errors
    /// If a path that was named cannot be read.
    pub fn find(request: &Request<'_>) -> Result<Vec<Self>, LoadError> {
        let mut programs: Vec<Vec<Document>> = Vec::new();
        let mut by_root: FxHashMap<OsString, usize> = FxHashMap::default();
        for document in discover(request)? {
            let root = document.root.as_os_str();
            let at = match by_root.get(root) {
                Some(at) => *at,
                None => {
                    by_root.insert(root.to_owned(), programs.len());
                    programs.push(Vec::new());
                    programs.len() - 1
                }
            };
            if let Some(files) = programs.get_mut(at) {
                files.push(document);
            }
        }
        let group = |files: Vec<Document>| {
            let manifests = roots(&files).map(|root| shown(&root.join(MANIFEST)).into_owned());
            let names = files.iter().map(Document::name);
            let first = names.chain(manifests.map(Cow::Owned)).min().unwrap_or_default();
            Self { first: first.into(), files }
        };
        let mut groups: Vec<Self> = map(programs, group);
        let roots =
            |a: &Self, b: &Self| a.relative_root(request.paths).cmp(b.relative_root(request.paths));
        groups.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| roots(a, b)));
        Ok(groups)
    }
}
