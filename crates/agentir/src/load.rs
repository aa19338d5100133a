//! From paths to programs: which files there are, what they define, which of them run together.

use crate::export;
use agentir_cache::KeyBuilder;
use agentir_config::Configs;
use agentir_diagnostics::{Diagnostic, FileId, RuleName, SourceFile, SourceMap, Span, Spanned};
use agentir_expr::Version;
use agentir_ir::{Data, Program};
use agentir_lower::Lowered;
use agentir_syntax::abl::Options;
use agentir_syntax::agent_script;
use rayon::prelude::*;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io, path};

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
pub struct LoadedProgram {
    /// The agents and what they share.
    pub program: Program,
    /// The version each agent is held to.
    pub versions: Vec<Version>,
}

/// Why nothing could be loaded.
#[derive(Debug)]
pub struct LoadError(pub String);

/// What to load, and how.
pub struct Request<'a> {
    /// Files and folders; `-` is standard input.
    pub paths: &'a [PathBuf],
    /// The folder of the one program that everything is a part of; without it files and projects are
    /// programs each.
    pub together: Option<&'a Path>,
    /// What standard input is called.
    pub stdin_filename: Option<&'a Path>,
    /// How documents of ABL are read.
    pub options: Options,
    /// How documents of Agent Script are read.
    pub script: agent_script::Options,
    /// What projects want: which files are read, and how, where the command line does not say.
    pub configs: &'a Configs,
    /// Texts that take the place of what files say, by the files' names in messages.
    pub instead: &'a HashMap<String, String>,
}

impl Request<'_> {
    /// How the document at a path is read.
    fn options(&self, path: &Path) -> (Options, agent_script::Options) {
        let config = self.configs.of(path);
        let path = path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let version = self.options.version.or_else(|| config.abl_version(&path));
        let dialect = self.script.dialect.or_else(|| config.dialect(&path));
        (Options { version, ..self.options }, agent_script::Options { dialect })
    }

    /// Whether a file that was found in a folder is read.
    fn takes(&self, path: &Path) -> bool {
        let config = self.configs.of(path);
        config.takes(&path::absolute(path).unwrap_or_else(|_| path.to_owned()))
    }
}

/// How the manifest of a project is called.
const MANIFEST: &str = "project.json";

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
        let mut homes: Vec<PathBuf> =
            files.iter().filter(|f| f.home != f.path).map(|f| f.home.clone()).collect();
        homes.dedup();
        let manifest = |home: PathBuf| {
            let text = fs::read_to_string(home.join(MANIFEST)).ok()?;
            Some((home, text))
        };
        let manifests = homes.into_iter().filter_map(manifest).collect();
        // Reading each file is independent of the others.
        let read = |found: Found| {
            let bytes = match found.text.as_ref().or_else(|| request.instead.get(&found.name())) {
                Some(text) => Ok(text.clone().into_bytes()),
                None => read(&found.path),
            };
            (found, bytes)
        };
        Self { files: files.into_par_iter().map(read).collect(), manifests }
    }

    /// Adds everything that decides what is found in these files, but for the command line. `None`
    /// where that is not known, because a file could not be read.
    pub fn identify(&self, configs: &Configs, key: &mut KeyBuilder) -> Option<()> {
        for (found, bytes) in &self.files {
            let path = path::absolute(&found.path).unwrap_or_else(|_| found.path.clone());
            let config = configs.of(&found.path);
            let (text, place) = config.identity(&path).unwrap_or_default();
            key.add(text).add(place.as_os_str().as_encoded_bytes());
            key.add(found.name()).add(found.home.as_os_str().as_encoded_bytes());
            key.add([u8::from(found.again), u8::from(found.path == found.home)]);
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

/// The largest file that is read, and one byte more, so that it is known to be too large.
const MOST: u64 = agentir_lower::MAX_FILE_SIZE as u64 + 1;

/// Reads a file, and no more of it than it takes to see that it is too large: what is no regular file
/// may have no end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    let size = file.metadata().map_or(0, |m| m.len().min(MOST));
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(bytes)
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
        let id = sources.add(SourceFile::new(name.as_str(), text));
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
    let lowered: Vec<(Found, FileId, Lowered)> = documents
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
    for (found, _, mut lowered) in lowered {
        let Lowered { diagnostics: found_here, .. } = &mut lowered;
        // What several bots share is read for each of them, and reported once.
        if !found.again {
            diagnostics.append(found_here);
        }
        let home = programs
            .entry(found.home.clone())
            .or_insert_with(|| LoadedProgram { program: Program::default(), versions: Vec::new() });
        lowered.add_to(&mut home.program, &mut home.versions);
    }
    for (home, names) in unread {
        if let Some(loaded) = programs.get_mut(&home) {
            let span = loaded.program.agents.first().map(|a| a.span.at_start());
            let all = names.into_iter().map(Data::from).collect();
            let span = span.unwrap_or(Span::new(FileId(0), 0, 0));
            loaded.program.extensions.keep("kore-xo", "files", Data::Array(all), span);
        }
    }
    for (home, loaded) in &mut programs {
        let program = &mut loaded.program;
        let supervised =
            program.agents.iter().any(|a| a.metadata.kind == agentir_ir::AgentType::Supervisor);
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
                (Found { again: found.again, ..Found::new(path, found.home.clone()) }, Ok(bytes))
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

/// Reads a document in the language that it is in.
fn lower(found: &Found, id: FileId, text: &str, request: &Request<'_>) -> Lowered {
    let (options, script) = request.options(&found.path);
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

/// A document to be read.
pub struct Found {
    path: PathBuf,
    /// The text, if it does not come from the path.
    text: Option<String>,
    /// The folder of the program it belongs to.
    home: PathBuf,
    /// Whether it belongs to an earlier program as well.
    again: bool,
}

impl Found {
    fn new(path: PathBuf, home: PathBuf) -> Self {
        Self { path, text: None, home, again: false }
    }

    fn name(&self) -> String {
        self.path.strip_prefix("./").unwrap_or(&self.path).display().to_string()
    }
}

fn find(request: &Request<'_>) -> Result<Vec<Found>, LoadError> {
    let mut files: Vec<Found> = Vec::new();
    for path in request.paths {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|e| LoadError(format!("standard input cannot be read: {e}")))?;
            let path = request.stdin_filename.unwrap_or(Path::new("<stdin>")).to_owned();
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
            // A file that is named is read, whatever it is called and configurations say, and alone.
            files.push(Found::new(path.clone(), path.clone()));
        }
    }
    if let Some(folder) = request.together {
        files.iter_mut().for_each(|found| found.home = folder.to_owned());
    }
    files.sort_by(|a, b| (&a.path, &a.home).cmp(&(&b.path, &b.home)));
    // Functions may belong to several bots of one folder.
    files.dedup_by(|a, b| {
        a.text.is_none() && b.text.is_none() && a.path == b.path && a.home == b.home
    });
    let mut before: Option<&mut Found> = None;
    for found in &mut files {
        let same = |b: &&mut Found| b.path == found.path && b.text.is_none();
        found.again = found.text.is_none() && before.as_ref().is_some_and(same);
        // All configurations are read now, so that what is wrong with them is told before anything else.
        let _ = request.configs.of(&found.path);
        before = Some(found);
    }
    Ok(files)
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
    let found: Mutex<Vec<(PathBuf, Kind)>> = Mutex::default();
    walk.run(|| {
        Box::new(|entry| {
            let candidate = match entry {
                Ok(entry) => {
                    let is_file = entry.file_type().is_some_and(|t| t.is_file());
                    let taken = is_file && request.takes(entry.path());
                    let kind = if taken { Kind::of(entry.path()) } else { None };
                    kind.map(|kind| (entry.into_path(), kind))
                }
                // A folder that cannot be opened is named like a file that cannot be read.
                Err(error) => path_of(&error).map(|path| (path.to_owned(), Kind::Whole)),
            };
            if let Some(candidate) = candidate {
                found.lock().unwrap_or_else(PoisonError::into_inner).push(candidate);
            }
            ignore::WalkState::Continue
        })
    });
    let mut homes = Homes::default();
    let mut files = Vec::new();
    for (path, kind) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        match kind {
            Kind::Whole => files.push(Found::new(path.clone(), path)),
            Kind::Abl => {
                let home = homes.of(&path);
                files.push(Found::new(path, home));
            }
            Kind::Adl => files.extend(bot(&path)),
            Kind::Export => files.extend(exported(&path)),
        }
    }
    files
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
    fn of(path: &Path) -> Option<Self> {
        if is_agent_script(path) {
            Some(Self::Whole)
        } else if is_abl(path) {
            Some(Self::Abl)
        } else if is_adl(path) {
            Some(Self::Adl)
        } else if is_definition(path) {
            Some(Self::Export)
        } else {
            None
        }
    }
}

/// The documents of one program.
pub struct Group {
    /// The smallest name of a file that something may be found in.
    pub first: String,
    /// Where the program is, below what was named on the command line.
    pub place: PathBuf,
    files: Vec<Found>,
}

impl Group {
    /// The program's folder, or its file.
    pub fn home(&self) -> &Path {
        let home = self.files.first().map_or(Path::new(""), |found| &found.home);
        home.strip_prefix("./").unwrap_or(home)
    }

    /// Reads the program's files.
    pub fn read(self, request: &Request<'_>) -> Contents {
        Contents::read(self.files, request)
    }
}

/// The programs in some paths, by their first files. Nothing is read but what says which those are.
pub fn programs(request: &Request<'_>) -> Result<Vec<Group>, LoadError> {
    let mut groups: HashMap<PathBuf, Group> = HashMap::new();
    for found in find(request)? {
        let name = found.name();
        let group = groups.entry(found.home.clone()).or_insert_with(|| {
            let roots = request.paths.iter().filter_map(|root| found.home.strip_prefix(root).ok());
            let shortest = roots.min_by_key(|place| place.as_os_str().len());
            let manifest = found.home.join(MANIFEST).display().to_string();
            let place = shortest.unwrap_or(&found.home).to_owned();
            Group { first: manifest, place, files: Vec::new() }
        });
        if name < group.first {
            group.first = name;
        }
        group.files.push(found);
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by(|a, b| (&a.first, &a.place).cmp(&(&b.first, &b.place)));
    Ok(groups)
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

/// Whether a file in a folder describes an ADL bot. Other YAML is left alone, so its content decides.
fn is_adl(path: &Path) -> bool {
    let name = last(path);
    if !(name.ends_with(".yml") || name.ends_with(".yaml")) {
        return false;
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
    let beside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let belongs = |path: &PathBuf| {
        let name = last(path);
        (name.ends_with(".py") || agentir_lower::is_adl_config_name(&name)) && path.is_file()
    };
    std::iter::once(agents.to_owned()).chain(beside.filter(belongs)).map(found).collect()
}

/// The folders of programs. Every folder is looked at once, however many files are in it.
#[derive(Default)]
struct Homes {
    /// For each folder the nearest one, from itself upwards, that has a manifest.
    manifests: HashMap<PathBuf, Option<PathBuf>>,
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
        if let Some(known) = self.manifests.get(folder) {
            return known.clone();
        }
        let found = if folder.join(MANIFEST).is_file() {
            Some(folder.to_owned())
        } else {
            folder.parent().and_then(|above| self.manifest_above(above))
        };
        self.manifests.insert(folder.to_owned(), found.clone());
        found
    }
}
