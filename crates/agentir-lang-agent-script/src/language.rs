//! The language as the rest of the program sees it.

use crate::dialect;
use crate::docs::docs;
use crate::line_layout::NOTATION;
use crate::reference::reference;
use crate::{Dialect, Options, context, emit, lower, names, parse, validate};
use agentir_diagnostics::{Diagnostic, FileId, Label, Span};
use agentir_expr::Dialect as Semantics;
use agentir_syntax::context::{Context, NameKind};
use agentir_syntax::docs::{Docs, Documented};
use agentir_syntax::emit::Emitter;
use agentir_syntax::lower::{too_many_agents, unreadable};
use agentir_syntax::misspelled::repeated;
use agentir_syntax::names::NameProblem;
use agentir_syntax::{
    Claim, Confidence, Definition, FileHead, FileKind, Language, LoweredFile, ProgramLayout,
    ReadOptions, rules,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Agent Script.
pub static AGENT_SCRIPT: &dyn Language = &AgentScript;

struct AgentScript;

/// A file, which is a whole program.
pub static AGENT_SCRIPT_FILE: FileKind =
    FileKind::agents(dialect::AGENT_SCRIPT.id(), dialect::AGENT_SCRIPT.title(), NOTATION);

impl Language for AgentScript {
    fn id(&self) -> &'static str {
        dialect::AGENT_SCRIPT.id()
    }

    fn title(&self) -> &'static str {
        dialect::AGENT_SCRIPT.title()
    }

    fn editor_names(&self) -> &'static [(&'static str, &'static str)] {
        &[("agentscript", ".agent"), ("agent-script", ".agent")]
    }

    fn dialect(&self) -> Semantics {
        dialect::AGENT_SCRIPT
    }

    fn variants(&self) -> &'static [&'static str] {
        const NAMES: [&str; 3] =
            [Dialect::ALL[0].name(), Dialect::ALL[1].name(), Dialect::ALL[2].name()];
        &NAMES
    }

    /// By the ending, else by the content.
    fn detect(&self, file: &FileHead<'_>) -> Option<(Confidence, &'static FileKind)> {
        let name = file.name;
        let other = [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end));
        let ours = name.ends_with(".agent") || (!other && is_agent_script(file.text));
        ours.then_some((Confidence::Likely, &AGENT_SCRIPT_FILE))
    }

    fn kind_of(&self, _name: &str, _text: &str) -> &'static FileKind {
        &AGENT_SCRIPT_FILE
    }

    fn read(
        &self,
        _kind: &'static FileKind,
        file: FileId,
        text: &str,
        options: ReadOptions,
    ) -> LoweredFile {
        read(file, text, Options { dialect: options.variant.and_then(Dialect::called) })
    }

    fn context(
        &self,
        _kind: &'static FileKind,
        text: &str,
        offset: u32,
        options: ReadOptions,
    ) -> Option<Context> {
        context::context(text, offset, options.variant.and_then(Dialect::called))
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
        _what: NameKind,
        name: &str,
    ) -> Option<NameProblem> {
        names::name_problem(name)
    }

    fn claim(&self, name: &[u8]) -> Claim {
        match name.strip_suffix(b".agent") {
            Some(stem) if !stem.is_empty() => Claim::ByName,
            _ => Claim::No,
        }
    }

    fn layout(&self) -> ProgramLayout {
        ProgramLayout::File
    }

    fn emitters(&self) -> &'static [&'static dyn Emitter] {
        static ALL: [&dyn Emitter; 2] = [emit::AGENTFORCE, emit::BASE];
        &ALL
    }
}

/// The maximum number of further places that a finding shows.
const MAX_PLACES: usize = 4;

/// Joins the findings about one deprecated name: they have one cause, and one fix.
fn say_deprecations_once(diagnostics: &mut Vec<Diagnostic>) {
    let mut joined: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    let mut first: FxHashMap<String, (usize, usize)> = FxHashMap::default();
    for diagnostic in diagnostics.drain(..) {
        if diagnostic.rule != rules::DEPRECATED_FIELD {
            joined.push(diagnostic);
            continue;
        }
        let Some((at, more)) = first.get_mut(&diagnostic.message) else {
            first.insert(diagnostic.message.clone(), (joined.len(), 0));
            joined.push(diagnostic);
            continue;
        };
        let Some(known) = joined.get_mut(*at) else { continue };
        *more += 1;
        if *more <= MAX_PLACES {
            known.labels.push(Label::new(diagnostic.primary.span, "and here"));
        }
        for (own, other) in known.fixes.iter_mut().zip(diagnostic.fixes) {
            own.edits.extend(other.edits);
        }
    }
    for (at, more) in first.into_values().filter(|(_, more)| *more > MAX_PLACES) {
        if let Some(known) = joined.get_mut(at) {
            known.note = Some(format!("and at {} more places", more - MAX_PLACES));
        }
    }
    *diagnostics = joined;
}

/// A document that neither describes itself nor has a first subagent is a part of one.
fn say_what_is_missing_once(file: FileId, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.retain(|d| {
        d.rule != rules::MISSING_FIELD || !d.message.starts_with("this document has no ")
    });
    let at = Span::new(file, 0, 0);
    diagnostics.push(
        Diagnostic::info(
            rules::MISSING_FIELD,
            at,
            "this is only a part of an agent: it has neither `config` nor `start_agent`",
        )
        .note("what it refers to may be elsewhere, so references are not checked"),
    );
}

/// Parses and lowers a file.
fn read(file: FileId, text: &str, options: Options) -> LoweredFile {
    let mut diagnostics = Vec::new();
    if let Some(problem) = unreadable(file, text) {
        return LoweredFile::nothing(vec![problem]);
    }
    let document = parse(file, text, options, &mut diagnostics);
    if document.root.fields.is_empty() && document.root.unknown.is_empty() {
        return LoweredFile::nothing(diagnostics);
    }
    if let Some(problem) = too_many_agents(file, lower::agent_count(&document)) {
        return LoweredFile::nothing(vec![problem]);
    }
    validate(&document, &mut diagnostics);
    say_deprecations_once(&mut diagnostics);
    if document.is_fragment() {
        say_what_is_missing_once(file, &mut diagnostics);
    }
    // A template for documents names what is to be filled in, which is nothing yet.
    let definition = (!document.placeholders).then(|| lower::lower(document, text));
    // Names that are taken are reported by the rules about names, which know what comes of it.
    if let Some(Definition::Program { agents, .. }) = &definition {
        let names = agents.iter().flat_map(|a| {
            let variables = a.memory.session.iter().map(|v| v.name.span);
            let tools = a.tools.iter().map(|t| t.name.span);
            variables.chain(tools).chain([a.metadata.name.span])
        });
        let names: FxHashSet<Span> = names.collect();
        let twice = [rules::DUPLICATE_FIELD, rules::DUPLICATE_SECTION];
        diagnostics.retain(|d| !(twice.contains(&d.rule) && names.contains(&d.primary.span)));
    }
    let partial = repeated(&diagnostics, text);
    LoweredFile { definition, diagnostics, partial, ..LoweredFile::default() }
}

/// Whether a document is Agent Script, by its content: it has a `start_agent` or a block that only
/// Agent Script has, in the first column.
fn is_agent_script(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches('\u{feff}');
        if line.starts_with("# @dialect") {
            return true;
        }
        if !line.starts_with(|c: char| c.is_ascii_lowercase()) {
            return false;
        }
        let Some((head, _)) = line.split_once(':') else { return false };
        let mut words = head.split_whitespace();
        let (first, named) = (words.next(), words.next().is_some());
        match first {
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
