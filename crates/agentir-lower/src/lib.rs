//! Typed trees to AgentIR, one module per dialect.
//!
//! Nothing has to remember to preserve data: taking a field moves it out of the record, and the
//! rest of a record is written to the `extensions` of its element, with spans. A test compares the
//! words of every sample with the words of its IR.
//!
//! *Invariant*: nothing a document says is lost. A field that no element of the IR takes goes to
//! that element's extensions, because taking a field removes it from the tree and what is left at
//! the end is kept.

mod abl;
mod adl;
mod agent_script;
mod xo;

use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned};
use agentir_expr::{Name, Version};
use agentir_ir::{Agent, Extension, Extensions, Profile, Program, Tool, ToolLibrary};
pub use agentir_ir_json::{Origin, is_agent_ir_name};

use agentir_syntax::abl::{Arena, Format, Options};
use agentir_syntax::adl::AgentKind;
use agentir_syntax::agent_script as agent_script_syntax;
use agentir_syntax::line_layout::Notation;
use agentir_syntax::{outline, rules};
use smol_str::{SmolStr, format_smolstr};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What one file defines.
#[derive(Debug)]
pub enum Definition {
    /// An agent or a supervisor.
    Agent(Arc<Agent>),
    /// A whole program: agents that run together, and nothing but them.
    Program {
        /// The agents, in their order.
        agents: Vec<Arc<Agent>>,
        /// The one that every conversation begins with.
        entry: Option<Spanned<Name>>,
        /// Tools that all of them may use.
        tools: Option<Arc<ToolLibrary>>,
        /// Profiles that they use.
        profiles: Vec<Arc<Profile>>,
    },
    /// A whole program that says itself whether it is complete: AgentIR.
    Whole(Box<Program>),
    /// A behaviour profile.
    Profile(Arc<Profile>),
    /// Tools.
    Tools(Arc<ToolLibrary>),
    /// What holds for the program as a whole.
    Settings(Extensions),
}

impl Definition {
    /// A whole program. Tools of its own become a library at its first agent's span.
    fn program(
        agents: Vec<Agent>,
        entry: Option<Spanned<Name>>,
        tools: Vec<Tool>,
        profiles: Vec<Profile>,
    ) -> Self {
        let tools = match agents.first() {
            Some(agent) if !tools.is_empty() => Some(Arc::new(ToolLibrary {
                tools,
                imports: Vec::new(),
                extensions: Extensions::default(),
                span: agent.span,
            })),
            _ => None,
        };
        let agents = agents.into_iter().map(Arc::new).collect();
        let profiles = profiles.into_iter().map(Arc::new).collect();
        Self::Program { agents, entry, tools, profiles }
    }
}

impl LoweredFile {
    /// Adds what the file defines to a program, and the versions of its agents to `versions`. The
    /// program shares it: the file can be added to others.
    pub fn add_to(&self, program: &mut Program, versions: &mut Vec<Version>) {
        match &self.definition {
            Some(Definition::Agent(agent)) => {
                program.agents.push(Arc::clone(agent));
                versions.push(self.version);
            }
            Some(Definition::Program { agents, entry, tools, profiles }) => {
                program.profiles.extend(profiles.iter().cloned());
                versions.extend(agents.iter().map(|_| self.version));
                program.libraries.extend(tools.clone());
                program.agents.extend(agents.iter().cloned());
                // Agents that are written together and say who begins are all there are.
                let script =
                    program.agents.last().is_some_and(|a| a.metadata.dialect == "agent-script");
                program.complete |= entry.is_some() || script;
                program.entry_agent = entry.clone().or(program.entry_agent.take());
            }
            Some(Definition::Whole(whole)) => {
                let version = |agent: &Arc<Agent>| {
                    agent.metadata.language_version.and_then(Version::from_name).unwrap_or_default()
                };
                versions.extend(whole.agents.iter().map(version));
                program.agents.extend(whole.agents.iter().cloned());
                program.libraries.extend(whole.libraries.iter().cloned());
                program.profiles.extend(whole.profiles.iter().cloned());
                program.entry_agent = whole.entry_agent.clone().or(program.entry_agent.take());
                program.complete |= whole.complete;
                add_settings(&whole.extensions, program);
            }
            Some(Definition::Profile(profile)) => program.profiles.push(Arc::clone(profile)),
            Some(Definition::Tools(library)) => program.libraries.push(Arc::clone(library)),
            Some(Definition::Settings(settings)) => add_settings(settings, program),
            None => {}
        }
    }

    /// A file that defines nothing, for the reasons given.
    fn nothing(diagnostics: Vec<Diagnostic>) -> Self {
        let stopped = diagnostics.first().map(|problem| problem.primary.span);
        Self { diagnostics, stopped, ..Self::default() }
    }
}

/// Adds what holds for a program as a whole.
fn add_settings(settings: &Extensions, program: &mut Program) {
    for (dialect, entries) in &settings.0 {
        for (key, Extension { value, span }) in entries {
            program.extensions.insert(dialect.clone(), key, value.clone(), *span);
        }
    }
}

/// A file, parsed and lowered.
#[derive(Debug, Default)]
pub struct LoweredFile {
    /// What it defines; nothing if it cannot be told.
    pub definition: Option<Definition>,
    /// The version it is held to.
    pub version: Version,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Where an error ended the reading, so that the rest of the file is unknown.
    pub stopped: Option<Span>,
    /// Where parts of the file were written before a program generated it, if it says so.
    pub origins: Vec<Origin>,
}

/// The largest file that is read. Spans are 32 bits wide, and nobody writes an agent of this size.
pub const MAX_FILE_SIZE: usize = 64 << 20;

/// Whether a document is YAML, by its content: its first key is in lower case.
#[must_use]
pub fn is_yaml(text: &str) -> bool {
    text.lines()
        .map(|line| line.trim_start_matches('\u{feff}'))
        .find_map(|line| {
            let line = line.trim_end();
            if line == "---" {
                return Some(true);
            }
            let indented = line.starts_with([' ', '\t', '-']);
            if line.is_empty() || line.starts_with('#') || line.starts_with("//") || indented {
                return None;
            }
            let (key, _) = line.split_once(':')?;
            let known = agentir_syntax::abl::schema::AGENT.field(key).is_some();
            known.then(|| !key.chars().any(char::is_uppercase))
        })
        .unwrap_or(false)
}

/// A language, as a file is written in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// ABL in `.abl` notation.
    Abl,
    /// ABL in YAML.
    AblYaml,
    /// Agent Script.
    AgentScript,
    /// ADL.
    Adl,
    /// Python, as far as it belongs to a bot of ADL.
    Python,
    /// The settings of a bot of ADL (`config.yml`).
    AdlSettings,
    /// A bot export of Kore.ai XO.
    Xo,
    /// The settings beside a bot export of Kore.ai XO (`config.json`).
    XoSettings,
    /// AgentIR in JSON.
    AgentIr,
}

/// How files are read where their language leaves a choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ReadOptions {
    /// ABL: the version, and whether documents are fragments.
    pub abl: Options,
    /// Agent Script: the dialect.
    pub agent_script: agent_script_syntax::Options,
}

impl From<Options> for ReadOptions {
    fn from(abl: Options) -> Self {
        Self { abl, ..Self::default() }
    }
}

impl Language {
    /// The notation that it is written in; none for what is not laid out in lines of ours.
    #[must_use]
    pub const fn notation(self) -> Option<Notation> {
        match self {
            Self::Abl => Some(Notation::Abl),
            Self::AblYaml | Self::Adl | Self::AdlSettings => Some(Notation::Yaml),
            Self::AgentScript => Some(Notation::AgentScript),
            Self::Python | Self::Xo | Self::XoSettings | Self::AgentIr => None,
        }
    }
}

/// The language of a file, by its name and its content. The default is ABL.
#[must_use]
pub fn language(name: &str, text: &str) -> Language {
    if name.ends_with(".py") {
        return Language::Python;
    }
    if is_abl_yaml_name(name) {
        return Language::AblYaml;
    }
    if agentir_ir_json::is_agent_ir(name, text) {
        return Language::AgentIr;
    }
    if is_xo(name, text) {
        return Language::Xo;
    }
    if is_adl_config(name, text) {
        return Language::AdlSettings;
    }
    if takes_agent_script(name, text) {
        return Language::AgentScript;
    }
    if is_adl(name, text) {
        return Language::Adl;
    }
    match abl_format(name, text) {
        Format::Abl => Language::Abl,
        Format::Yaml => Language::AblYaml,
    }
}

/// The language of a file that belongs to a program beside other files: the names of settings, which mean
/// nothing for a file that stands alone, are enough.
#[must_use]
pub fn language_in_program(name: &str, text: &str) -> Language {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    match last {
        _ if agentir_ir_json::is_agent_ir(name, text) => Language::AgentIr,
        _ if is_xo(name, text) => Language::Xo,
        "config.json" => Language::XoSettings,
        _ if is_adl_config_name(name) => Language::AdlSettings,
        _ => language(name, text),
    }
}

/// Parses and lowers a file of a known language.
#[must_use]
pub fn read_as(
    language: Language,
    file: FileId,
    text: &str,
    options: impl Into<ReadOptions>,
) -> LoweredFile {
    let options = options.into();
    match language {
        Language::Abl => abl_as(Format::Abl, file, text, options.abl),
        Language::AblYaml => abl_as(Format::Yaml, file, text, options.abl),
        Language::AgentScript => agent_script(file, text, options.agent_script),
        Language::Adl => adl(file, text),
        Language::AdlSettings => adl_config(file, text),
        Language::Python => python(file, text),
        Language::Xo => xo(file, text),
        Language::XoSettings => xo_config(file, text),
        Language::AgentIr => agent_ir(file, text),
    }
}

/// Parses and lowers a file of any language, by its name and its content.
#[must_use]
pub fn file(file: FileId, name: &str, text: &str, options: impl Into<ReadOptions>) -> LoweredFile {
    file_as(language(name, text), file, name, text, options)
}

/// Parses and lowers a file of a language that was detected. YAML that describes no agent is reported
/// as such: ABL is only what nothing else claims.
#[must_use]
pub fn file_as(
    language: Language,
    file: FileId,
    name: &str,
    text: &str,
    options: impl Into<ReadOptions>,
) -> LoweredFile {
    let options = options.into();
    let fallback = matches!(language, Language::Abl | Language::AblYaml) && !options.abl.fragment;
    match no_agent(file, name, text).filter(|_| fallback) {
        Some(problem) => LoweredFile::nothing(vec![problem]),
        None => read_as(language, file, text, options),
    }
}

/// Reads and lowers one ABL file. `name` is its path; of the ending only the format is taken, and
/// only where the content does not tell.
#[must_use]
pub fn abl(file: FileId, name: &str, text: &str, options: Options) -> LoweredFile {
    abl_as(abl_format(name, text), file, text, options)
}

/// Whether a file is ABL in YAML by its name alone: an agent, a behaviour profile, or tools.
#[must_use]
pub fn is_abl_yaml_name(name: &str) -> bool {
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
    let kinds = [".agent", ".behavior_profile", ".tools"];
    stem.is_some_and(|stem| kinds.iter().any(|kind| stem.ends_with(kind)))
}

/// The notation of an ABL file. The ending decides for YAML, so that `AGENT:` in a `.yaml` file is a
/// slip and not a format; content decides for everything else.
fn abl_format(name: &str, text: &str) -> Format {
    let yaml_name = name.ends_with(".yaml") || name.ends_with(".yml");
    let abl_name = name.ends_with(".abl");
    if yaml_name || (!abl_name && is_yaml(text)) { Format::Yaml } else { Format::Abl }
}

fn abl_as(format: Format, file: FileId, text: &str, options: Options) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let outline = match format {
        Format::Abl => outline::parse(file, text, &mut diagnostics),
        Format::Yaml => outline::parse_yaml(file, text, &mut diagnostics),
    };
    let parsed = diagnostics.len();
    let arena = Arena::new();
    let Some(document) =
        agentir_syntax::abl::read(&outline, format, options, &arena, &mut diagnostics)
    else {
        keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
        return LoweredFile::nothing(diagnostics);
    };
    let version = document.version;
    let mut definition = abl::lower(document, text, options.fragment, &mut diagnostics);
    if let Definition::Agent(agent) = &mut definition
        && version != Version::default()
    {
        Arc::make_mut(agent).metadata.language_version = Some(version.name());
    }
    keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
    LoweredFile {
        definition: Some(definition),
        version,
        diagnostics,
        stopped: outline.stopped,
        ..LoweredFile::default()
    }
}

/// Whether a document is Agent Script, by its content: it has a `start_agent` or a block that only
/// Agent Script has, in the first column.
#[must_use]
pub fn is_agent_script(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches('\u{feff}');
        if line.starts_with("# @dialect") {
            return true;
        }
        let Some((head, _)) = line.split_once(':') else { return false };
        let mut words = head.split_whitespace();
        let (first, named) = (words.next(), words.next().is_some());
        !line.starts_with([' ', '\t', '#'])
            && match first {
                Some(
                    "start_agent" | "subagent" | "topic" | "connected_subagent" | "connection"
                    | "modality" | "trigger" | "orchestrator" | "generator" | "executor" | "router"
                    | "echo",
                ) => named,
                // YAML's ABL has no section of these names with nothing behind the colon.
                Some("config" | "variables" | "skill_definitions") => {
                    !named && line.trim_end().ends_with(':')
                }
                _ => false,
            }
    })
}

/// Whether a file is read as Agent Script: by its ending, else by its content.
#[must_use]
pub fn takes_agent_script(name: &str, text: &str) -> bool {
    let other = [".abl", ".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
    name.ends_with(".agent") || (!other && is_agent_script(text))
}

/// Reads and lowers one Agent Script file, which is a whole program.
#[must_use]
pub fn agent_script(
    file: FileId,
    text: &str,
    options: agent_script_syntax::Options,
) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let document = agent_script_syntax::parse(file, text, options, &mut diagnostics);
    if document.root.fields.is_empty() && document.root.unknown.is_empty() {
        return LoweredFile::nothing(diagnostics);
    }
    agent_script_syntax::validate(&document, &mut diagnostics);
    // A template for documents names what is to be filled in, which is nothing yet.
    let definition = (!document.placeholders).then(|| agent_script::lower(document, text));
    // Names that are taken are reported by the rules about names, which know what comes of it.
    if let Some(Definition::Program { agents, .. }) = &definition {
        let names = agents.iter().flat_map(|a| {
            let variables = a.memory.session.iter().map(|v| v.name.span);
            let tools = a.tools.iter().map(|t| t.name.span);
            variables.chain(tools).chain([a.metadata.name.span])
        });
        let names: rustc_hash::FxHashSet<Span> = names.collect();
        let twice = [rules::DUPLICATE_FIELD, rules::DUPLICATE_SECTION];
        diagnostics.retain(|d| !(twice.contains(&d.rule) && names.contains(&d.primary.span)));
    }
    LoweredFile { definition, diagnostics, ..LoweredFile::default() }
}

/// A hash that changes when the source does. Not for security.
pub(crate) fn source_hash(text: &str) -> SmolStr {
    let mut hasher = rustc_hash::FxHasher::default();
    text.hash(&mut hasher);
    format_smolstr!("{:016x}", hasher.finish())
}

/// Whether a file is an ADL bot by its name alone, whatever it says.
#[must_use]
pub fn is_adl_name(name: &str) -> bool {
    matches!(name, "agents.yml" | "agents.yaml")
}

/// Whether a document is an ADL file, by its content: one of its agents is of one of ADL's types. A
/// file called `agents.yml` is taken for one whatever it says.
#[must_use]
pub fn is_adl(name: &str, text: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if is_adl_name(file) {
        return true;
    }
    (file.ends_with(".yml") || file.ends_with(".yaml"))
        && text.lines().any(|line| {
            let Some((key, value)) = line.split_once(':') else { return false };
            let value = value.split('#').next().unwrap_or_default().trim();
            let value = value.trim_matches(['"', '\'']).to_lowercase();
            // Only inside an agent: a key at the margin is the name of one.
            key.starts_with([' ', '\t'])
                && key.trim() == "type"
                && AgentKind::ALL.iter().any(|kind| kind.name() == value)
        })
}

/// Leaves the first `count` findings, those of the parser, where an error ended the reading: what the others say rests
/// on a part of the file.
fn keep_parser_errors(diagnostics: &mut Vec<Diagnostic>, count: usize, stopped: Option<Span>) {
    if stopped.is_some() {
        diagnostics.truncate(count);
    }
}

/// Reads and lowers one ADL file.
#[must_use]
pub fn adl(file: FileId, text: &str) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let outline = outline::parse_yaml(file, text, &mut diagnostics);
    let parsed = diagnostics.len();
    let document = agentir_syntax::adl::read(&outline, &mut diagnostics);
    let (agents, entry) = adl::lower(document, text, &mut diagnostics);
    let definition = Some(Definition::program(agents, entry, Vec::new(), Vec::new()));
    keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
    LoweredFile { definition, diagnostics, stopped: outline.stopped, ..LoweredFile::default() }
}

/// Whether a file is a bot export of Kore.ai XO, by its name and its content.
#[must_use]
pub fn is_xo(name: &str, text: &str) -> bool {
    agentir_syntax::xo::is_xo(name, text)
}

/// Reads and lowers a bot export of Kore.ai XO, which is a whole program.
#[must_use]
pub fn xo(file: FileId, text: &str) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let Some(root) = agentir_syntax::xo::parse(file, text, &mut diagnostics) else {
        return LoweredFile::nothing(diagnostics);
    };
    let definition = Some(xo::lower(&root, text, &mut diagnostics));
    LoweredFile { definition, diagnostics, ..LoweredFile::default() }
}

/// Reads the settings beside a bot export of Kore.ai XO (`config.json`). They hold for the program; what
/// is a credential among them is not kept.
#[must_use]
pub fn xo_config(file: FileId, text: &str) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let Some(root) =
        agentir_syntax::json::parse(file, text, &agentir_syntax::xo::FORMAT, &mut diagnostics)
    else {
        return LoweredFile::nothing(diagnostics);
    };
    let definition = Some(Definition::Settings(xo::settings(&root, &mut diagnostics)));
    LoweredFile { definition, diagnostics, ..LoweredFile::default() }
}

/// Reads AgentIR in JSON.
#[must_use]
pub fn agent_ir(file: FileId, text: &str) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let document = agentir_ir_json::read(file, text, &mut diagnostics);
    let definition = Some(Definition::Whole(Box::new(document.program)));
    let (stopped, origins) = (document.stopped, document.origins);
    LoweredFile { definition, diagnostics, stopped, origins, ..LoweredFile::default() }
}

/// Whether a file is called as MICA wants the settings of a bot to be.
#[must_use]
pub fn is_adl_config_name(name: &str) -> bool {
    name.rsplit(['/', '\\']).next() == Some("config.yml")
}

/// Whether a document is the settings of an ADL bot, by its name and its content.
#[must_use]
pub fn is_adl_config(name: &str, text: &str) -> bool {
    is_adl_config_name(name) && agentir_syntax::adl::config::is_config(text)
}

/// Reads the settings of an ADL bot.
#[must_use]
pub fn adl_config(file: FileId, text: &str) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let outline = outline::parse_yaml(file, text, &mut diagnostics);
    let parsed = diagnostics.len();
    let config = agentir_syntax::adl::config::read(&outline, &mut diagnostics);
    keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
    let definition = Some(Definition::Settings(adl::settings(config, file)));
    LoweredFile { definition, diagnostics, stopped: outline.stopped, ..LoweredFile::default() }
}

/// Reads the functions of a Python file that belongs to an ADL bot, as tools. Nothing is executed.
#[must_use]
pub fn python(file: FileId, text: &str) -> LoweredFile {
    if let Some(problem) = not_text(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let mut diagnostics = Vec::new();
    let module = agentir_syntax::adl::python::read(file, text, &mut diagnostics);
    let tools = module.functions.into_iter().map(adl::tool).collect();
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let span = Span::new(file, 0, end);
    let imports = module.imports;
    let library = ToolLibrary { tools, imports, extensions: Extensions::default(), span };
    let definition = Some(Definition::Tools(Arc::new(library)));
    let stopped = module.stopped;
    LoweredFile { definition, diagnostics, stopped, ..LoweredFile::default() }
}

/// What to say of a YAML file that was named and holds no agent of any language.
#[must_use]
pub fn no_agent(file: FileId, name: &str, text: &str) -> Option<Diagnostic> {
    let yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    if !yaml || is_adl(name, text) || has_section(text) {
        return None;
    }
    Some(
        Diagnostic::error(
            rules::SYNTAX,
            Span::new(file, 0, 0),
            "this YAML file does not describe an agent",
        )
        .note("an ABL agent has a section such as `agent:`; an ADL agent has a `type:` such as `llm agent`")
        .help("pass the file that describes the agents, or its folder"),
    )
}

/// Whether a key at the left margin is the name of a section of ABL, in any case.
fn has_section(text: &str) -> bool {
    use agentir_syntax::abl::schema::{AGENT, PROFILE, TOOL_LIBRARY};
    text.lines().any(|line| {
        let line = line.trim_start_matches('\u{feff}');
        line.split_once(':').is_some_and(|(key, _)| {
            let key = key.trim_matches(['"', '\'']).to_lowercase();
            [&AGENT, &PROFILE, &TOOL_LIBRARY].iter().any(|ty| ty.field(&key).is_some())
        })
    })
}

fn not_text(file: FileId, text: &str) -> Option<Diagnostic> {
    let at = |offset: usize| {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        Span::new(file, offset, offset)
    };
    if text.len() > MAX_FILE_SIZE {
        return Some(Diagnostic::error(
            rules::NOT_TEXT,
            at(0),
            format!("this file is larger than {} MB and was not read", MAX_FILE_SIZE >> 20),
        ));
    }
    let nul = text.find('\0')?;
    Some(
        Diagnostic::error(
            rules::NOT_TEXT,
            at(nul),
            "this file contains a NUL character, so it is not text",
        )
        .help("if it is UTF-16, save it as UTF-8"),
    )
}
