//! From files to programs: what they say, what they define, which of them run together.

use crate::export;
use crate::find::find;
use crate::found::{Found, MANIFEST, read};
use crate::request::{LoadError, Request};
use crate::settings;
use crate::stamp::stamp;
use agentir_cache::KeyBuilder;
use agentir_config::Configs;
use agentir_diagnostics::{Diagnostic, FileId, RuleName, SourceFile, SourceMap, Span, Spanned};
use agentir_expr::Version;
use agentir_ir::{Data, Program};
use agentir_lower::LoweredFile;
use agentir_syntax::abl::Options;
use agentir_syntax::agent_script;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

/// A file that could not be read.
pub const UNREADABLE: RuleName = RuleName("unreadable-file");

/// What was given on the command line, read.
pub struct Loaded {
    /// The files.
    pub sources: SourceMap,
    /// What the front ends found.
    pub diagnostics: Vec<Diagnostic>,
    /// The programs, each with the versions of its agents.
    pub programs: Vec<LoadedProgram>,
    /// How many documents were read.
    pub files: usize,
}

/// Agents that run together.
#[derive(Default)]
pub struct LoadedProgram {
    /// The agents and what they share.
    pub program: Program,
    /// The version each agent is held to.
    pub versions: Vec<Version>,
    /// What the project sets for the rules, by agent.
    pub options: Vec<Arc<agentir_lint::Options>>,
}

/// A manifest, as far as it matters here.
#[derive(serde::Deserialize)]
struct Manifest {
    entry_agent: Option<String>,
}

/// Reads everything.
pub fn load(request: &Request<'_>) -> Result<Loaded, LoadError> {
    Ok(build(Contents::read(find(request)?, request), request))
}

/// What is in the files of programs. All that is made of them comes from here, so that a file that
/// changes meanwhile is what it was, or what it is, for everything.
pub struct Contents {
    files: Vec<(Found, io::Result<Vec<u8>>)>,
    /// The manifests of the folders that have one.
    manifests: BTreeMap<PathBuf, String>,
}

impl Contents {
    /// Reads files and the manifests of their programs.
    fn read(files: Vec<Found>, request: &Request<'_>) -> Self {
        let manifest = |home: &Path| {
            let text = fs::read_to_string(home.join(MANIFEST)).ok()?;
            Some((home.to_owned(), text))
        };
        let manifests = homes(&files).filter_map(manifest).collect();
        // Reading each file is independent of the others.
        let read = |found: Found| {
            let bytes = match found.text.as_ref().or_else(|| request.instead.get(&*found.name())) {
                Some(text) => Ok(text.clone().into_bytes()),
                None => read(&found.path),
            };
            (found, bytes)
        };
        Self { files: files.into_par_iter().map(read).collect(), manifests }
    }

    /// Adds everything that decides what is found in these files, but for the command line. `None`
    /// where that is not known, because a file could not be read.
    pub fn identify(&self, key: &mut KeyBuilder) -> Option<()> {
        for (found, bytes) in &self.files {
            found.identify(key);
            key.add(bytes.as_ref().ok()?);
        }
        for (home, text) in &self.manifests {
            key.add(home.as_os_str().as_encoded_bytes()).add(text);
        }
        Some(())
    }

    /// How many bytes they are.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes.as_ref().map_or(0, |b| b.len() as u64)).sum()
    }

    /// The files as places point to them, in that order, without anything being read from them.
    pub fn sources(self) -> SourceMap {
        documents_in(self).0
    }
}

/// The folders of the programs of files, as far as they may have a manifest.
fn homes(files: &[Found]) -> impl Iterator<Item = &Path> {
    let mut last = None;
    files.iter().filter(|found| found.home.as_os_str() != found.path.as_os_str()).filter_map(
        move |found| {
            (last.replace(found.home.as_os_str()) != Some(found.home.as_os_str()))
                .then_some(&*found.home)
        },
    )
}

/// Files to places, in order; the manifests come last. What is no text is reported, and is no document.
fn documents_in(contents: Contents) -> (SourceMap, Opened) {
    let Contents { files: read, manifests } = contents;
    let mut sources = SourceMap::new();
    let mut diagnostics = Vec::new();
    let mut unread: Vec<(PathBuf, Vec<String>)> = Vec::new();
    let read: Vec<_> = read
        .into_iter()
        .flat_map(|(found, bytes)| match bytes {
            Ok(bytes) if export::is_zip(&bytes) => unpack(found, &bytes, &mut unread),
            bytes => vec![(found, bytes)],
        })
        .collect();
    let mut documents: Vec<(Found, FileId)> = Vec::with_capacity(read.len());
    for (found, bytes) in read {
        let name = found.name();
        let (text, problem) = match bytes {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => (text, None),
                Err(error) => {
                    let at = error.utf8_error().valid_up_to();
                    let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                    let at = u32::try_from(at).unwrap_or(u32::MAX);
                    (
                        text,
                        Some((
                            agentir_syntax::rules::NOT_TEXT,
                            at,
                            "this file is not UTF-8 text from here on".to_owned(),
                        )),
                    )
                }
            },
            Err(error) => {
                (String::new(), Some((UNREADABLE, 0, format!("this file cannot be read: {error}"))))
            }
        };
        let id = sources.add(SourceFile::new(&*name, text));
        match problem {
            Some((rule, at, message)) => {
                diagnostics.push(Diagnostic::error(rule, Span::new(id, at, at), message));
            }
            None => documents.push((found, id)),
        }
    }
    let manifests = manifests
        .into_iter()
        .map(|(home, text)| {
            let name = home.join(MANIFEST).display().to_string();
            (home, sources.add(SourceFile::new(name, text)))
        })
        .collect();
    (sources, Opened { documents, diagnostics, unread, manifests })
}

/// What [`documents_in`] found.
struct Opened {
    documents: Vec<(Found, FileId)>,
    diagnostics: Vec<Diagnostic>,
    /// By program, the names of what is in an archive and not read.
    unread: Vec<(PathBuf, Vec<String>)>,
    manifests: BTreeMap<PathBuf, FileId>,
}

/// Makes programs of files.
pub fn build(contents: Contents, request: &Request<'_>) -> Loaded {
    let (sources, opened) = documents_in(contents);
    let Opened { documents, mut diagnostics, unread, manifests } = opened;
    let lowered: Vec<(Found, FileId, LoweredFile)> = documents
        .into_par_iter()
        .map(|(found, id)| {
            let text = sources.get(id).map_or("", |f| &f.text);
            let mut lowered = lower(&found, id, text, request);
            // Exports are searched for credentials where they are read, decoded.
            if !is_xo(&found, text) && !is_xo_settings(&found) {
                lowered.diagnostics.extend(agentir_lint::check_text(id, text));
            }
            (found, id, lowered)
        })
        .collect();
    let files = lowered.len();
    let mut programs: BTreeMap<PathBuf, LoadedProgram> = BTreeMap::new();
    let mut set = HashMap::new();
    for (found, _, mut lowered) in lowered {
        let LoweredFile { diagnostics: found_here, .. } = &mut lowered;
        // What several bots share is read for each of them, and reported once.
        if !found.again {
            diagnostics.append(found_here);
        }
        let home = programs.entry(found.home.clone()).or_default();
        lowered.add_to(&mut home.program, &mut home.versions);
        let options = settings::rule_options(&found.config, &found.path, &mut set);
        home.options.resize(home.program.agents.len(), options);
    }
    for (home, names) in unread {
        if let Some(loaded) = programs.get_mut(&home) {
            let span = loaded.program.agents().next().map(|a| a.span.at_start());
            let all = names.into_iter().map(Data::from).collect();
            let span = span.unwrap_or(Span::new(FileId(0), 0, 0));
            loaded.program.extensions.insert("kore-xo", "files", Data::Array(all), span);
        }
    }
    for (home, loaded) in &mut programs {
        let program = &mut loaded.program;
        let supervised =
            program.agents().any(|a| a.metadata.kind == agentir_ir::AgentType::Supervisor);
        let manifest = manifests.get(home).copied();
        program.complete |= manifest.is_some() || (supervised && program.agents.len() > 1);
        if let Some(id) = manifest {
            let text = sources.get(id).map_or("", |file| &file.text);
            let parsed: Result<Manifest, _> = serde_json::from_str(text);
            match parsed {
                Ok(Manifest { entry_agent: Some(entry) }) => {
                    // The place of the name, for findings about it.
                    let at = text.find(&format!("\"{entry}\"")).map_or(0, |at| at + 1);
                    let start = u32::try_from(at).unwrap_or(0);
                    let end = start + u32::try_from(entry.len()).unwrap_or(0);
                    program.entry_agent =
                        Some(Spanned::new(SmolStr::new(&entry), Span::new(id, start, end)));
                }
                Ok(_) => {}
                Err(error) => diagnostics.push(Diagnostic::error(
                    agentir_syntax::rules::SYNTAX,
                    Span::new(id, 0, 0),
                    format!("this project manifest cannot be read: {error}"),
                )),
            }
        }
    }
    Loaded { sources, diagnostics, programs: programs.into_values().collect(), files }
}

/// A document that is not read yet.
pub struct Document {
    /// Where it is, or what it is called.
    pub path: PathBuf,
    /// Whether it came from standard input.
    pub from_stdin: bool,
    /// What it says.
    pub bytes: io::Result<Vec<u8>>,
}

/// The documents in some paths, each once, without what only belongs to them (functions in Python,
/// settings), and what they say.
pub fn documents(
    paths: &[PathBuf],
    stdin_filename: Option<&Path>,
    configs: &Configs,
) -> Result<Vec<Document>, LoadError> {
    let request = Request {
        paths,
        together: None,
        stdin_filename,
        options: Options::default(),
        script: agent_script::Options::default(),
        configs,
        instead: &HashMap::new(),
    };
    let mut found = find(&request)?;
    found.retain(|f| {
        let name = f.name();
        let settings = agentir_lower::is_adl_config_name(&name) && f.path != f.home;
        !settings && !is_xo_settings(f) && !name.ends_with(".py")
    });
    found.dedup_by(|a, b| a.text.is_none() && b.text.is_none() && a.path == b.path);
    let read = |f: Found| {
        let from_stdin = f.text.is_some();
        let bytes = match f.text {
            Some(text) => Ok(text.into_bytes()),
            None => read(&f.path),
        };
        Document { path: f.path, from_stdin, bytes }
    };
    Ok(found.into_par_iter().map(read).collect())
}

/// The files of an archive that are read; the names of the others go to `unread`.
fn unpack(
    found: Found,
    bytes: &[u8],
    unread: &mut Vec<(PathBuf, Vec<String>)>,
) -> Vec<(Found, io::Result<Vec<u8>>)> {
    match export::read(io::Cursor::new(bytes)) {
        Ok(export) => {
            if !export.others.is_empty() {
                unread.push((found.home.clone(), export.others));
            }
            let all = export.definition.into_iter().chain(export.settings);
            all.map(|(name, bytes)| {
                // Only what it is called: a name in an archive may look like a path to anywhere.
                let path = PathBuf::from(format!("{}/{name}", found.path.display()));
                let (home, config) = (found.home.clone(), Arc::clone(&found.config));
                (Found { again: found.again, ..Found::new(path, home, config) }, Ok(bytes))
            })
            .collect()
        }
        Err(problem) => vec![(found, Err(io::Error::other(problem)))],
    }
}

/// Whether a document is a bot export of Kore.ai XO.
fn is_xo(found: &Found, text: &str) -> bool {
    agentir_lower::is_xo(&found.name(), text)
}

/// Whether a document is the settings of such an export: it belongs to one and is called as they are.
fn is_xo_settings(found: &Found) -> bool {
    found.home != found.path && found.path.file_name().is_some_and(|n| n == "config.json")
}

/// Reads a document as before, with another text.
pub fn read_again(id: FileId, name: &str, text: &str, request: &Request<'_>) -> LoweredFile {
    lower(&Found::alone(PathBuf::from(name), request), id, text, request)
}

/// Reads a document in the language that it is in.
fn lower(found: &Found, id: FileId, text: &str, request: &Request<'_>) -> LoweredFile {
    let (options, script) = request.options(&found.path, &found.config);
    let name = found.name();
    if is_xo(found, text) {
        agentir_lower::xo(id, text)
    } else if is_xo_settings(found) {
        agentir_lower::xo_config(id, text)
    } else if agentir_lower::is_adl_config_name(&name)
        && (found.path != found.home || agentir_lower::is_adl_config(&name, text))
    {
        agentir_lower::adl_config(id, text)
    } else if agentir_lower::takes_agent_script(&name, text) {
        agentir_lower::agent_script(id, text, script)
    } else {
        agentir_lower::file(id, &name, text, options)
    }
}

/// The documents of one program.
pub struct Group {
    /// The smallest name of a file that something may be found in.
    pub first: Arc<str>,
    files: Vec<Found>,
}

impl Group {
    /// The program's folder, or its file, as it was found.
    fn found_home(&self) -> &Path {
        self.files.first().map_or(Path::new(""), |found| &found.home)
    }

    /// The program's folder, or its file.
    pub fn home(&self) -> &Path {
        let home = self.found_home();
        home.strip_prefix("./").unwrap_or(home)
    }

    /// Where the program is, below what was named on the command line.
    pub fn place(&self, paths: &[PathBuf]) -> &Path {
        let home = self.found_home();
        let below = paths.iter().filter_map(|root| home.strip_prefix(root).ok());
        below.min_by_key(|place| place.as_os_str().len()).unwrap_or(home)
    }

    /// Adds what tells whether one of the program's files was changed without reading them. `None` where that
    /// cannot be told.
    pub fn stamp(&self, request: &Request<'_>, key: &mut KeyBuilder) -> Option<()> {
        let now = SystemTime::now();
        for found in &self.files {
            if found.text.is_some() || !request.instead.is_empty() {
                return None;
            }
            found.identify(key);
            key.add(stamp(&fs::metadata(&found.path).ok()?, now)?);
        }
        for home in homes(&self.files) {
            key.add(home.as_os_str().as_encoded_bytes());
            match fs::metadata(home.join(MANIFEST)) {
                Ok(manifest) => key.add(stamp(&manifest, now)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => key.add([]),
                Err(_) => return None,
            };
        }
        Some(())
    }

    /// Reads the program's files.
    pub fn read(self, request: &Request<'_>) -> Contents {
        Contents::read(self.files, request)
    }
}

/// The programs in some paths, by their first files. Nothing is read but what says which those are.
pub fn programs(request: &Request<'_>) -> Result<Vec<Group>, LoadError> {
    let mut programs: Vec<Vec<Found>> = Vec::new();
    let mut by_home: FxHashMap<OsString, usize> = FxHashMap::default();
    for found in find(request)? {
        let home = found.home.as_os_str();
        let at = match by_home.get(home) {
            Some(at) => *at,
            None => {
                by_home.insert(home.to_owned(), programs.len());
                programs.push(Vec::new());
                programs.len() - 1
            }
        };
        if let Some(files) = programs.get_mut(at) {
            files.push(found);
        }
    }
    let group = |files: Vec<Found>| {
        let manifests = homes(&files).map(|home| home.join(MANIFEST).display().to_string());
        let names = files.iter().map(Found::name);
        let first = names.chain(manifests.map(Cow::Owned)).min().unwrap_or_default();
        Group { first: first.into(), files }
    };
    let mut groups: Vec<Group> = programs.into_par_iter().map(group).collect();
    let places = |a: &Group, b: &Group| a.place(request.paths).cmp(b.place(request.paths));
    groups.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| places(a, b)));
    Ok(groups)
}
