//! The language as the rest of the program sees it.

use crate::context::context;
use crate::dialect;
use crate::inline::{ActionKind, condition, is_word_of_expressions, template};
use crate::line_layout::NOTATION;
use crate::migrate::VersionChanges;
use crate::reference::reference;
use crate::schema::{AGENT, PROFILE, TOOL_LIBRARY, docs};
use crate::{Arena, Format, Options, emit, lower, names, outline, reader};
use agentir_diagnostics::{Diagnostic, FileId, Span};
use agentir_expr::dialect::Notation as Written;
use agentir_expr::{Dialect, Version};
use agentir_syntax::context::{Context, NameKind};
use agentir_syntax::docs::{Docs, Documented};
use agentir_syntax::emit::Emitter;
use agentir_syntax::line_layout::YAML;
use agentir_syntax::lower::{keep_parser_errors, unreadable};
use agentir_syntax::misspelled::repeated;
use agentir_syntax::names::NameProblem;
use agentir_syntax::outline::parse_yaml;
use agentir_syntax::{
    Claim, Confidence, Definition, FileHead, FileKind, InlineParsers, Language, LoweredFile,
    ProgramLayout, ReadOptions, YamlForm, rules,
};
use std::sync::Arc;

/// ABL.
pub static ABL: &dyn Language = &Abl;

struct Abl;

/// A document in `.abl` notation.
pub static ABL_FILE: FileKind = FileKind {
    migration: Some(&VersionChanges(Format::Abl)),
    ..FileKind::agents(dialect::ABL.id(), dialect::ABL.title(), NOTATION)
};

/// A document in YAML.
pub static YAML_FILE: FileKind = FileKind {
    migration: Some(&VersionChanges(Format::Yaml)),
    ..FileKind::agents("abl-yaml", "ABL in YAML", YAML)
};

/// The parsers of conditions and texts.
pub static INLINE_PARSERS: InlineParsers = InlineParsers { template, condition, is_word };

fn is_word(word: &str) -> bool {
    is_word_of_expressions(word) || ActionKind::from_word(word).is_some()
}

impl From<Options> for ReadOptions {
    fn from(Options { version, fragment }: Options) -> Self {
        Self { version, fragment, ..Self::default() }
    }
}

impl Language for Abl {
    fn id(&self) -> &'static str {
        dialect::ABL.id()
    }

    fn title(&self) -> &'static str {
        dialect::ABL.title()
    }

    fn editor_names(&self) -> &'static [(&'static str, &'static str)] {
        &[("abl", ".agent.abl")]
    }

    fn dialect(&self) -> Dialect {
        dialect::ABL
    }

    fn detect(&self, file: &FileHead<'_>) -> Option<(Confidence, &'static FileKind)> {
        if file.name.ends_with(".abl") {
            return Some((Confidence::Certain, &ABL_FILE));
        }
        is_yaml_name(file.name).then_some((Confidence::Certain, &YAML_FILE))
    }

    /// The ending decides for YAML, so that `AGENT:` in a `.yaml` file is a mistake and not a format; content decides
    /// for everything else.
    fn kind_of(&self, name: &str, text: &str) -> &'static FileKind {
        let yaml_name = name.ends_with(".yaml") || name.ends_with(".yml");
        let abl_name = name.ends_with(".abl");
        if yaml_name || (!abl_name && is_yaml(text)) { &YAML_FILE } else { &ABL_FILE }
    }

    fn read(
        &self,
        kind: &'static FileKind,
        file: FileId,
        text: &str,
        options: ReadOptions,
    ) -> LoweredFile {
        let ReadOptions { version, fragment, .. } = options;
        read(format_of(kind), file, text, Options { version, fragment })
    }

    fn context(
        &self,
        kind: &'static FileKind,
        text: &str,
        offset: u32,
        options: ReadOptions,
    ) -> Option<Context> {
        context(format_of(kind), text, offset, options)
    }

    fn docs(&self) -> Option<&'static Docs> {
        Some(docs())
    }

    fn reference(&self) -> Vec<Documented> {
        reference()
    }

    fn name_problem(
        &self,
        kind: &'static FileKind,
        what: NameKind,
        name: &str,
    ) -> Option<NameProblem> {
        names::name_problem(format_of(kind), what, name)
    }

    fn claim(&self, name: &[u8]) -> Claim {
        let ours = name.ends_with(b".abl") || std::str::from_utf8(name).is_ok_and(is_yaml_name);
        if ours { Claim::ByName } else { Claim::No }
    }

    fn layout(&self) -> ProgramLayout {
        ProgramLayout::Folder { parts: &["agents", "tools", "behavior_profiles"] }
    }

    fn yaml(&self) -> Option<YamlForm> {
        let hint = "an ABL agent has a section such as `agent:`";
        Some(YamlForm { is_agent: |_, text| has_section(text), hint })
    }

    fn emitters(&self) -> &'static [&'static dyn Emitter] {
        static ALL: [&dyn Emitter; 2] = [emit::ABL, emit::YAML];
        &ALL
    }

    fn inline_parsers(&self) -> Option<&'static InlineParsers> {
        Some(&INLINE_PARSERS)
    }
}

/// The notation of a kind of file.
fn format_of(kind: &FileKind) -> Format {
    if *kind == YAML_FILE { Format::Yaml } else { Format::Abl }
}

/// Parses and lowers a document.
fn read(format: Format, file: FileId, text: &str, options: Options) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = unreadable(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let outline = match format {
        Format::Abl => outline::parse(file, text, &mut diagnostics),
        Format::Yaml => parse_yaml(file, text, &mut diagnostics),
    };
    let parsed = diagnostics.len();
    let is_part =
        !options.fragment && reader::classify(&outline).is_none() && reader::is_part(&outline);
    let options = Options { fragment: options.fragment || is_part, ..options };
    let arena = Arena::new();
    let Some(document) = reader::read(&outline, format, options, &arena, &mut diagnostics) else {
        keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
        return LoweredFile::nothing(diagnostics);
    };
    let version = document.version;
    let notation = match format {
        Format::Abl => Written::Native,
        Format::Yaml => Written::Yaml,
    };
    let mut definition = lower::lower(document, notation, text, options.fragment, &mut diagnostics);
    if let Definition::Agent(agent) = &mut definition
        && version != Version::default()
    {
        Arc::make_mut(agent).metadata.language_version = Some(version.name());
    }
    keep_parser_errors(&mut diagnostics, parsed, outline.stopped);
    if is_part {
        // Examples of a section one after the other are not the sections of one agent.
        diagnostics.retain(|d| d.rule != rules::DUPLICATE_SECTION);
        diagnostics.insert(0, only_a_part(file));
        return LoweredFile::nothing(diagnostics);
    }
    LoweredFile {
        definition: Some(definition),
        version,
        partial: repeated(&diagnostics, text),
        diagnostics,
        stopped: outline.stopped,
        ..LoweredFile::default()
    }
}

/// What is said of a document that is only a part of an agent.
fn only_a_part(file: FileId) -> Diagnostic {
    let at = Span::new(file, 0, 0);
    let message = "this is only a part of an agent: it has no `AGENT:` or other header";
    Diagnostic::info(rules::MISSING_SECTION, at, message)
        .note("it belongs to no agent, and what it refers to is not checked")
        .help("an agent begins with `AGENT: Name`, `SUPERVISOR: Name` or `BEHAVIOR_PROFILE: name`")
}

/// Whether a document is YAML, by its content: its first key is in lower case.
fn is_yaml(text: &str) -> bool {
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
            let known = AGENT.field(key).is_some();
            known.then(|| !key.chars().any(char::is_uppercase))
        })
        .unwrap_or(false)
}

/// Whether a file is YAML of ABL by its name alone: an agent, a behaviour profile, or tools.
fn is_yaml_name(name: &str) -> bool {
    let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"));
    let kinds = [".agent", ".behavior_profile", ".tools"];
    stem.is_some_and(|stem| kinds.iter().any(|kind| stem.ends_with(kind)))
}

/// Whether a key at the left margin is the name of a section, in any case.
fn has_section(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches('\u{feff}');
        line.split_once(':').is_some_and(|(key, _)| {
            let key = key.trim_matches(['"', '\'']).to_lowercase();
            [&AGENT, &PROFILE, &TOOL_LIBRARY].iter().any(|ty| ty.field(&key).is_some())
        })
    })
}
