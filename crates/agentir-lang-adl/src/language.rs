//! The language as the rest of the program sees it.

use crate::dialect;
use crate::docs::docs;
use crate::reference::reference;
use crate::{AgentKind, config, context, emit, lower, names, python, reader, rules};
use agentir_diagnostics::{FileId, Span};
use agentir_expr::Dialect;
use agentir_ir::{Extensions, ToolLibrary};
use agentir_syntax::code::{CodeName, CodeReference, CodeUses};
use agentir_syntax::context::{Context, NameKind};
use agentir_syntax::docs::{Docs, Documented};
use agentir_syntax::emit::Emitter;
use agentir_syntax::line_layout::YAML;
use agentir_syntax::lower::{keep_parser_errors, too_many_agents, unreadable};
use agentir_syntax::misspelled::repeated;
use agentir_syntax::names::NameProblem;
use agentir_syntax::outline::parse_yaml;
use agentir_syntax::{
    Claim, Confidence, Definition, FileHead, FileKind, Language, LoweredFile, ProgramLayout,
    ReadOptions, YamlForm,
};
use std::sync::Arc;

/// ADL.
pub static ADL: &dyn Language = &Adl;

struct Adl;

/// The agents of a bot.
pub static AGENTS_FILE: FileKind = FileKind::agents(dialect::ADL.id(), dialect::ADL.title(), YAML);

/// The settings of a bot (`config.yml`).
pub static SETTINGS_FILE: FileKind =
    FileKind { is_companion: true, ..FileKind::agents("adl-settings", "settings of ADL", YAML) };

/// Python, as far as it belongs to a bot.
pub static PYTHON_FILE: FileKind = FileKind {
    notation: None,
    comments: Some(python::comments),
    is_companion: true,
    ..FileKind::agents("python", "Python", YAML)
};

/// The name that MICA wants the settings of a bot to have.
const SETTINGS: &str = "config.yml";

/// The variant of bots that are written for MICA rather than by the paper: `tries` counts jumps, and
/// `fallback` is said as it is written.
const MICA: &str = "mica";

impl Language for Adl {
    fn id(&self) -> &'static str {
        dialect::ADL.id()
    }

    fn title(&self) -> &'static str {
        dialect::ADL.title()
    }

    fn dialect(&self) -> Dialect {
        dialect::ADL
    }

    fn variants(&self) -> &'static [&'static str] {
        &[MICA]
    }

    fn detect(&self, file: &FileHead<'_>) -> Option<(Confidence, &'static FileKind)> {
        let is_settings = file.file_name() == SETTINGS;
        if file.name.ends_with(".py") {
            Some((Confidence::Certain, &PYTHON_FILE))
        } else if is_settings && (file.in_program || config::is_config(file.text)) {
            Some((Confidence::Certain, &SETTINGS_FILE))
        } else if is_adl(file.name, file.text) {
            Some((Confidence::Likely, &AGENTS_FILE))
        } else {
            None
        }
    }

    fn kind_of(&self, _name: &str, _text: &str) -> &'static FileKind {
        &AGENTS_FILE
    }

    fn read(
        &self,
        kind: &'static FileKind,
        file: FileId,
        text: &str,
        options: ReadOptions,
    ) -> LoweredFile {
        if let Some(problem) = unreadable(file, text) {
            return LoweredFile::nothing(vec![problem]);
        }
        if *kind == PYTHON_FILE {
            functions(file, text)
        } else if *kind == SETTINGS_FILE {
            settings(file, text)
        } else {
            agents(file, text, options.variant == Some(MICA))
        }
    }

    fn context(
        &self,
        kind: &'static FileKind,
        text: &str,
        offset: u32,
        _options: ReadOptions,
    ) -> Option<Context> {
        if *kind == PYTHON_FILE {
            None
        } else if *kind == SETTINGS_FILE {
            context::settings(text, offset)
        } else {
            context::agents(text, offset)
        }
    }

    fn docs(&self) -> Option<&'static Docs> {
        Some(docs())
    }

    fn reference(&self) -> Vec<Documented> {
        reference()
    }

    fn name_problem(
        &self,
        _kind: &'static FileKind,
        what: NameKind,
        name: &str,
    ) -> Option<NameProblem> {
        names::name_problem(what, name)
    }

    fn code_uses(
        &self,
        kind: &'static FileKind,
        text: &str,
        name: CodeName<'_>,
        new: &str,
    ) -> CodeUses {
        if *kind == PYTHON_FILE { python::uses(text, name, new) } else { CodeUses::default() }
    }

    fn code_references(&self, kind: &'static FileKind, text: &str) -> Vec<CodeReference> {
        if *kind == PYTHON_FILE { python::references(text) } else { Vec::new() }
    }

    fn claim(&self, name: &[u8]) -> Claim {
        if std::str::from_utf8(name).is_ok_and(is_adl_name) {
            Claim::ByName
        } else if name.ends_with(b".yml") || name.ends_with(b".yaml") {
            Claim::ByContent(is_adl)
        } else {
            Claim::No
        }
    }

    fn layout(&self) -> ProgramLayout {
        let is_companion = |name: &[u8]| name.ends_with(b".py") || name == SETTINGS.as_bytes();
        ProgramLayout::WithCompanions { is_companion, folder_stem: "agents" }
    }

    fn yaml(&self) -> Option<YamlForm> {
        let hint = "an ADL agent has a `type:` such as `llm agent`";
        Some(YamlForm { is_agent: is_adl, hint })
    }

    fn emitters(&self) -> &'static [&'static dyn Emitter] {
        static ALL: [&dyn Emitter; 1] = [emit::EMITTER];
        &ALL
    }
}

/// Whether a file is a bot by its name alone, whatever it says.
fn is_adl_name(name: &str) -> bool {
    matches!(name, "agents.yml" | "agents.yaml")
}

/// Whether a document is a bot, by its content: one of its agents is of one of ADL's types. A file called
/// `agents.yml` is taken for one whatever it says.
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

/// Reads and lowers agents.
fn agents(file: FileId, text: &str, for_mica: bool) -> LoweredFile {
    let mut diagnostics = Vec::new();
    let outline = parse_yaml(file, text, &mut diagnostics);
    let parsed = diagnostics.len();
    let document = reader::read(&outline, &mut diagnostics);
    if let Some(problem) = too_many_agents(file, document.agents.len()) {
        return LoweredFile::nothing(vec![problem]);
    }
    if for_mica {
        diagnostics.retain(|finding| finding.rule != rules::MICA_TRIES);
    }
    let (agents, entry) = lower::lower(document, text, for_mica, &mut diagnostics);
    let definition = Some(Definition::program(agents, entry, Vec::new(), Vec::new()));
    keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
    let (partial, stopped) = (repeated(&diagnostics, text), outline.stopped);
    LoweredFile { definition, diagnostics, stopped, partial, ..LoweredFile::default() }
}

/// Reads the settings of a bot.
fn settings(file: FileId, text: &str) -> LoweredFile {
    let mut diagnostics = Vec::new();
    let outline = parse_yaml(file, text, &mut diagnostics);
    let parsed = diagnostics.len();
    let config = config::read(&outline, &mut diagnostics);
    keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
    let definition = Some(Definition::Settings(lower::settings(config, file)));
    LoweredFile { definition, diagnostics, stopped: outline.stopped, ..LoweredFile::default() }
}

/// Reads the functions of a Python file that belongs to a bot, as tools. Nothing is executed.
fn functions(file: FileId, text: &str) -> LoweredFile {
    let mut diagnostics = Vec::new();
    let module = python::read(file, text, &mut diagnostics);
    let tools = module.functions.into_iter().map(lower::tool).collect();
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let span = Span::new(file, 0, end);
    let imports = module.imports;
    let library = ToolLibrary {
        dialect: dialect::ADL,
        tools,
        imports,
        comments: python::comments(file, text),
        extensions: Extensions::default(),
        span,
    };
    let definition = Some(Definition::Tools(Arc::new(library)));
    let stopped = module.stopped;
    LoweredFile { definition, diagnostics, stopped, ..LoweredFile::default() }
}
