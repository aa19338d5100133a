//! What commands read: the arguments that name it, and loading it.

use crate::output::misuse;
use crate::settings;
use agentir::{Configs, ReadOptions, Snapshot, Version, Workspace, languages};
use agentir_diagnostics::Severity;
use agentir_project::{LoadError, Request, TextInput};
use agentir_vfs::{Disk, FileSystem, MAX_FILE_SIZE, Overlay};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::collections::HashMap;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Args)]
pub struct Input {
    /// Files and folders; `-` reads standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The name of standard input in messages, which also determines its format
    #[arg(long, value_name = "NAME")]
    stdin_filename: Option<PathBuf>,
    /// The version of ABL [default: detected from each document]
    #[arg(long, value_enum, value_name = "VERSION")]
    abl_version: Option<AblVersion>,
    /// The dialect of documents that name none: of Agent Script, or `mica` for ADL [default: detected from each document]
    #[arg(long, value_parser = variants(), value_name = "DIALECT")]
    dialect: Option<&'static str>,
    /// Treat documents as sections, or parts of sections, without an agent around them
    #[arg(long)]
    fragment: bool,
    /// The configuration of all files [default: for each file the nearest agentir.toml above it]
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,
    /// Do not read any agentir.toml
    #[arg(long)]
    no_config: bool,
    /// The folder of the one program that everything is a part of, if it is.
    #[arg(skip)]
    together: Option<PathBuf>,
}

impl Input {
    /// One path, read as it is found.
    pub fn of(path: &Path) -> Self {
        Self { together: None, ..Self::together(vec![path.to_owned()], path) }
    }

    /// Several paths, whose agents are one program in a folder.
    pub fn together(paths: Vec<PathBuf>, folder: &Path) -> Self {
        Self {
            paths,
            together: Some(folder.to_owned()),
            stdin_filename: None,
            abl_version: None,
            dialect: None,
            fragment: false,
            config: None,
            no_config: false,
        }
    }

    /// Whether something comes from standard input.
    pub fn reads_stdin(&self) -> bool {
        self.paths.iter().any(|path| path.as_os_str() == "-")
    }

    /// Prepares reading: configurations, files, and standard input if it is named. `instead` has texts that take
    /// the place of files, by the names of the files.
    pub fn sources(&self, instead: &HashMap<String, String>) -> Result<InputSources, ExitCode> {
        check_stdin_filename(&self.paths, self.stdin_filename.as_deref())?;
        let disk = Disk::named(self.paths.iter().chain(&self.config).cloned());
        let files: Arc<dyn FileSystem> = if instead.is_empty() {
            Arc::new(disk)
        } else {
            let mut files = Overlay::new(Arc::new(disk));
            for (name, text) in instead {
                files.set(Path::new(name), Arc::<str>::from(text.as_str()));
            }
            Arc::new(files)
        };
        let configs = settings::chosen(self.config.as_deref(), self.no_config, Arc::clone(&files))?;
        let configs = Arc::new(configs);
        let stdin = if self.reads_stdin() {
            Some(stdin(self.stdin_filename.as_deref(), instead)?)
        } else {
            None
        };
        Ok(InputSources { configs, files, stdin })
    }

    /// What to read.
    pub fn request<'a>(&'a self, sources: &'a InputSources) -> Request<'a> {
        let variant = self.dialect;
        let version = self.abl_version.map(Version::from);
        Request {
            paths: &self.paths,
            together: self.together.as_deref(),
            stdin: sources.stdin.as_ref(),
            languages: languages(),
            options: ReadOptions { version, fragment: self.fragment, variant },
            configs: &sources.configs,
            files: &*sources.files,
        }
    }

    /// The files and folders.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }
}

/// Where input is read from.
pub struct InputSources {
    /// The configurations of the files.
    pub configs: Arc<Configs>,
    files: Arc<dyn FileSystem>,
    stdin: Option<TextInput>,
}

/// Reports a name for standard input that is not read.
pub fn check_stdin_filename(paths: &[PathBuf], filename: Option<&Path>) -> Result<(), ExitCode> {
    if filename.is_none() || paths.iter().any(|path| path.as_os_str() == "-") {
        return Ok(());
    }
    Err(misuse("`--stdin-filename` names standard input, but `-` is not among the paths"))
}

/// Reads standard input once, but not more of it than it takes to know that it is too large; a text in `instead` takes
/// its place.
pub fn stdin(
    filename: Option<&Path>,
    instead: &HashMap<String, String>,
) -> Result<TextInput, ExitCode> {
    let name = filename.unwrap_or(Path::new("<stdin>")).to_owned();
    if let Some(text) = instead.get(&*name.to_string_lossy()) {
        return Ok(TextInput { name, text: text.clone().into_bytes() });
    }
    let mut text = Vec::new();
    let most = MAX_FILE_SIZE as u64 + 1;
    let read = io::stdin().lock().take(most).read_to_end(&mut text);
    read.map_err(|error| {
        tell!("error: standard input cannot be read: {error}");
        ExitCode::from(2)
    })?;
    if text.len() > MAX_FILE_SIZE {
        tell!("error: standard input is larger than {} MB and was not read", MAX_FILE_SIZE >> 20);
        return Err(ExitCode::from(2));
    }
    Ok(TextInput { name, text })
}

#[derive(Clone, Copy, ValueEnum)]
pub enum AblVersion {
    Legacy,
    Current,
    Newest,
}

impl From<AblVersion> for Version {
    fn from(version: AblVersion) -> Self {
        match version {
            AblVersion::Legacy => Self::Legacy,
            AblVersion::Current => Self::Current,
            AblVersion::Newest => Self::Newest,
        }
    }
}

/// The variants of languages.
fn variants() -> impl TypedValueParser<Value = &'static str> {
    let all = || languages().iter().flat_map(|language| language.variants().iter().copied());
    PossibleValuesParser::new(all())
        .try_map(move |name| all().find(|known| *known == name).ok_or("no such dialect"))
}

/// Loads the input, or reports why that failed.
pub fn load_input(input: &Input) -> Result<Snapshot, ExitCode> {
    load_workspace(input).map(|(_, snapshot)| snapshot)
}

/// Loads the input, to be changed in memory.
pub fn load_workspace(input: &Input) -> Result<(Workspace, Snapshot), ExitCode> {
    let sources = input.sources(&HashMap::new())?;
    let request = input.request(&sources);
    let mut workspace = Workspace::new(Arc::clone(&sources.files), input.paths.clone());
    workspace.set_options(request.options);
    workspace.set_configs(Arc::clone(&sources.configs));
    if let Some(folder) = &input.together {
        workspace.set_program_folder(folder);
    }
    if let Some(stdin) = &sources.stdin {
        workspace.set_stdin(&stdin.name, &*stdin.text);
    }
    let snapshot = workspace.snapshot().map_err(unreadable)?;
    settings::sound(snapshot.config_problems()).map(|()| (workspace, snapshot))
}

/// The files that something was read from, configurations included. What came out of an archive has a path below its.
pub fn read_files(snapshot: &Snapshot) -> Vec<PathBuf> {
    let documents = snapshot.sources().iter().map(|(_, file)| PathBuf::from(&*file.name));
    documents.chain(snapshot.config_files()).collect()
}

/// Reports why nothing could be loaded.
pub fn unreadable(error: LoadError) -> ExitCode {
    tell!("error: {error}");
    ExitCode::from(2)
}

/// Says that nothing that was loaded has an agent, and why if an error ended the reading of a file.
pub fn no_agent(snapshot: &Snapshot) -> String {
    let mut text = "no agent found".to_owned();
    let error = snapshot.read_findings().iter().find(|d| d.severity == Severity::Error);
    let file = error.and_then(|d| Some((d, snapshot.sources().get(d.primary.span.file)?)));
    if let Some((error, file)) = file {
        let at = file.line_column(error.primary.span.start);
        let _ = write!(text, "\n{}:{}:{}: {}", file.name, at.line, at.column, error.message);
        for (kind, more) in [("note", &error.note), ("help", &error.help)] {
            if let Some(more) = more {
                let _ = write!(text, "\n{kind}: {more}");
            }
        }
    }
    text
}
