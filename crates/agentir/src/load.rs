//! From paths to programs: which files there are, what they define, which of them run together.

use crate::export;
use agentir_config::Configs;
use agentir_diagnostics::{Diagnostic, FileId, RuleName, SourceFile, SourceMap, Span, Spanned};
use agentir_expr::Version;
use agentir_ir::{Data, Program};
use agentir_lower::Lowered;
use agentir_syntax::abl::Options;
use agentir_syntax::agent_script;
use rayon::prelude::*;
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
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

/// A manifest, as far as it matters here.
#[derive(serde::Deserialize)]
struct Manifest {
    entry_agent: Option<String>,
}

/// Reads everything.
pub fn load(request: &Request<'_>) -> Result<Loaded, LoadError> {
    let files = find(request)?;
    // Reading and lowering each file is independent of the others.
    let read: Vec<(Found, io::Result<Vec<u8>>)> = files
        .into_par_iter()
        .map(|found| {
            let bytes = match found.text.as_ref().or_else(|| request.instead.get(&found.name())) {
                Some(text) => Ok(text.clone().into_bytes()),
                None => fs::read(&found.path),
            };
            (found, bytes)
        })
        .collect();
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
    let mut before: Option<PathBuf> = None;
    for (found, _, mut lowered) in lowered {
        let Lowered { diagnostics: found_here, .. } = &mut lowered;
        // What several bots share is read for each of them, and reported once.
        if before.as_ref() != Some(&found.path) || found.text.is_some() {
            diagnostics.append(found_here);
        }
        before = Some(found.path.clone());
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
        let manifest = home.join("project.json");
        let text = fs::read_to_string(&manifest).ok();
        program.complete |= text.is_some() || (supervised && program.agents.len() > 1);
        if let Some(text) = text {
            let parsed: Result<Manifest, _> = serde_json::from_str(&text);
            let id = sources.add(SourceFile::new(manifest.display().to_string(), text.as_str()));
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
    Ok(Loaded { sources, diagnostics, programs: programs.into_values().collect(), files })
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
            None => fs::read(&f.path),
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
                (Found { path, text: None, home: found.home.clone() }, Ok(bytes))
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
struct Found {
    path: PathBuf,
    /// The text, if it does not come from the path.
    text: Option<String>,
    /// The folder of the program it belongs to.
    home: PathBuf,
}

impl Found {
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
            files.push(Found { home: PathBuf::from("<stdin>"), path, text: Some(text) });
            continue;
        }
        let metadata = fs::metadata(path)
            .map_err(|e| LoadError(format!("`{}` cannot be read: {e}", path.display())))?;
        if metadata.is_dir() {
            let mut homes = Homes::default();
            let walk = ignore::WalkBuilder::new(path)
                // What is found must not depend on whose machine it is.
                .git_global(false)
                .require_git(false)
                .build();
            for entry in walk {
                let entry = entry.map_err(|e| LoadError(e.to_string()))?;
                let is_file =
                    entry.file_type().is_some_and(|t| t.is_file()) && request.takes(entry.path());
                if is_file && is_agent_script(entry.path()) {
                    // Each is a whole program.
                    let path = entry.into_path();
                    files.push(Found { home: path.clone(), path, text: None });
                } else if is_file && is_abl(entry.path()) {
                    let home = homes.of(entry.path());
                    files.push(Found { path: entry.into_path(), text: None, home });
                } else if is_file && is_adl(entry.path()) {
                    files.extend(bot(entry.path()));
                } else if is_file && is_definition(entry.path()) {
                    files.extend(exported(entry.path()));
                }
            }
        } else if path.file_name().is_some_and(|n| n == "project.json") {
            let folder = path.parent().unwrap_or(Path::new("."));
            let inner = Request { paths: &[folder.to_owned()], ..*request };
            files.extend(find(&inner)?);
        } else {
            // A file that is named is read, whatever it is called, and alone.
            files.push(Found { home: path.clone(), path: path.clone(), text: None });
        }
    }
    files.sort_by(|a, b| (&a.path, &a.home).cmp(&(&b.path, &b.home)));
    // Functions may belong to several bots of one folder.
    files.dedup_by(|a, b| {
        a.text.is_none() && b.text.is_none() && a.path == b.path && a.home == b.home
    });
    Ok(files)
}

/// Whether a file in a folder is taken for Agent Script, by its name.
fn is_agent_script(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "agent")
}

/// Whether a file in a folder is taken for ABL, by its name.
fn is_abl(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return false };
    [".abl", ".agent.yaml", ".agent.yml"].iter().any(|end| name.ends_with(end))
}

/// Whether a file in a folder describes an ADL bot. Other YAML is left alone, so its content decides.
fn is_adl(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|n| n.to_str()) else { return false };
    if !(name.ends_with(".yml") || name.ends_with(".yaml")) {
        return false;
    }
    fs::read_to_string(path).is_ok_and(|text| agentir_lower::is_adl(name, &text))
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
    let found = |path: PathBuf| Found { path, text: None, home: home.clone() };
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
    let found = |path: PathBuf| Found { path, text: None, home: home.to_owned() };
    let beside = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let belongs = |path: &PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        (name.ends_with(".py") || agentir_lower::is_adl_config_name(name)) && path.is_file()
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
        let found = if folder.join("project.json").is_file() {
            Some(folder.to_owned())
        } else {
            folder.parent().and_then(|above| self.manifest_above(above))
        };
        self.manifests.insert(folder.to_owned(), found.clone());
        found
    }
}
