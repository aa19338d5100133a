//! Uses of a name that are no references: in data that AgentIR keeps as it was written, and in expressions that cannot
//! be parsed.

use crate::snapshot::{ProgramId, Snapshot};
use agentir_analysis::references::{References, Scope, SymbolId, SymbolKind};
use agentir_compare::NormalizedProgram;
use agentir_diagnostics::{FileId, Severity, Span};
use agentir_ir::Program;
use agentir_project::MANIFEST;
use agentir_syntax::json::{self, Format, Json};
use std::collections::BTreeMap;
use std::path::Path;

/// The keys of AgentIR with data that may name variables, steps, tools or parameters, where nothing says which.
const DATA: &[&str] = &[
    "actions",
    "await_attachment",
    "binding",
    "connector_action",
    "context_for_human",
    "extensions",
    "headers",
    "human_approval",
    "log",
    "memory_grants",
    "rich_content",
    "voice_config",
];

/// The keys of data that are words for people or for the model.
const PROSE: &[&str] = &["description", "message", "reason", "title", "label"];

/// Manifests.
const JSON: Format =
    Format { max_depth: 100, max_values: 100_000, object_values: 1, depth_note: "", help: "" };

/// A name and what is known of the places where it stands.
#[derive(Clone, Copy)]
struct Unknown<'r> {
    references: &'r References,
    edits: &'r BTreeMap<Span, String>,
    name: &'r str,
}

impl Snapshot {
    /// The first place where the name of a symbol stands without being an occurrence of any symbol or one of the edits,
    /// and may refer to it.
    pub(crate) fn unclear_use(
        &self,
        id: ProgramId,
        references: &References,
        symbol: SymbolId,
        edits: &BTreeMap<Span, String>,
    ) -> Option<Span> {
        let program = self.ir(id)?;
        let name = references.symbol(symbol)?.name.as_str();
        let unknown = Unknown { references, edits, name };
        let mut found: Option<Span> = None;
        NormalizedProgram::new(program).values(&mut |path, value, at| {
            let (None, Some(text), Some(at)) = (found, value.as_str(), at) else { return };
            if !is_data(path) || !is_known_in(path, program, references, symbol) {
                return;
            }
            let whole = is_path_with(text, name);
            if whole || placeholders(text, name).next().is_some() {
                // Data without a location of its own has that of what is around it, or before it.
                let behind = Span { end: u32::MAX, ..at };
                let place = self.unknown_use(unknown, at, whole);
                found = place.or_else(|| self.unknown_use(unknown, behind, whole));
            }
        });
        found.or_else(|| self.use_in_broken_text(id, unknown)).or_else(|| {
            let left = self.residue(id, references, symbol, edits);
            left.first().map(|residue| residue.span)
        })
    }

    /// The places in a program's manifest where it lists an agent of this name: the keys of `agents`.
    pub(crate) fn manifest_keys(&self, id: ProgramId, name: &str) -> Vec<Span> {
        let files = self.loaded(id).map_or(&[][..], |loaded| &loaded.files);
        let manifests = files.iter().filter_map(|file| {
            let source = self.sources().get(*file)?;
            let is_manifest = Path::new(&*source.name).ends_with(MANIFEST);
            is_manifest.then(|| json::parse(*file, &source.text, &JSON, &mut Vec::new()))?
        });
        let mut found = Vec::new();
        for manifest in manifests {
            let keys = manifest.get("agents").map_or(&[][..], Json::members).iter();
            found.extend(keys.filter(|member| member.key == name).map(|member| member.key_span));
        }
        found
    }

    /// A place behind the start of a span where a name stands as a word, or only in braces, and is known as nothing.
    fn unknown_use(&self, unknown: Unknown<'_>, within: Span, whole: bool) -> Option<Span> {
        let Unknown { references, edits, name } = unknown;
        let text = &self.sources().get(within.file)?.text;
        let text = text.get(within.start as usize..(within.end as usize).min(text.len()))?;
        let known = references.in_file(within.file);
        let holds = |around: Span, word: Span| around.start <= word.start && word.end <= around.end;
        let is_new = |word: &Span| {
            !known.iter().any(|occurrence| holds(occurrence.span, *word))
                && !edits.keys().any(|edit| edit.file == word.file && holds(*edit, *word))
        };
        // The member of something else is another name.
        let is_member = |at: &usize| {
            text.get(..*at).is_some_and(|b| b.ends_with('.') && !b.ends_with("session."))
        };
        let all: Vec<usize> = if whole {
            words(text, name).filter(|at| !is_member(at)).collect()
        } else {
            placeholders(text, name).collect()
        };
        all.into_iter().filter_map(|at| word(within, at, name)).find(is_new)
    }

    /// A place in what could not be parsed.
    fn use_in_broken_text(&self, id: ProgramId, unknown: Unknown<'_>) -> Option<Span> {
        let files: &[FileId] = &self.loaded(id)?.files;
        let broken = self.read_findings().iter().filter(|finding| {
            finding.severity == Severity::Error || finding.rule.0 == "invalid-template"
        });
        let spans = broken.map(|finding| finding.primary.span);
        spans.filter(|span| files.contains(&span.file)).find_map(|span| {
            let source = self.sources().get(span.file)?;
            let line = source.line_range(source.line_index(span.start as usize));
            let start = u32::try_from(line.start).ok()?;
            let end = u32::try_from(line.end).ok()?.max(span.end);
            self.unknown_use(unknown, Span::new(span.file, start, end), true)
        })
    }
}

/// Whether a path leads into the part of a program in which a symbol is known.
fn is_known_in(path: &str, program: &Program, references: &References, symbol: SymbolId) -> bool {
    let segments = || path.split(['.', '[', ']']).filter(|segment| !segment.is_empty());
    match references.symbol(symbol).map(|symbol| (symbol.kind, symbol.scope)) {
        // Others name an agent by what they know of it, and tools are listed for all agents.
        Some((SymbolKind::Agent | SymbolKind::Profile | SymbolKind::Tool, _)) | None => true,
        Some((_, Scope::Program)) => true,
        Some((_, Scope::Agent(id))) => {
            let agent = program.agents.get(id.index()).map(|agent| &agent.metadata.name.value);
            segments().next() == Some("agents")
                && segments().nth(1) == agent.map(|name| name.as_str())
        }
        Some((_, Scope::Symbol(around))) => {
            let around = references.symbol(around);
            if around.is_some_and(|around| around.kind != SymbolKind::Tool) {
                // A field of a field, in whatever tool or variable that is.
                return true;
            }
            let tool = around.map(|tool| tool.name.as_str());
            let mut behind = segments().skip_while(|segment| *segment != "tools");
            behind.next().is_some() && behind.next() == tool
        }
    }
}

/// Whether a path leads into data, and not to prose in it.
fn is_data(path: &str) -> bool {
    let keys = || path.split(['.', '[', ']']);
    keys().any(|key| DATA.contains(&key))
        && !keys().next_back().is_some_and(|key| PROSE.contains(&key))
}

/// The span of a name at an offset of a span.
fn word(within: Span, at: usize, name: &str) -> Option<Span> {
    let start = within.start.checked_add(u32::try_from(at).ok()?)?;
    Some(Span::new(within.file, start, start.checked_add(u32::try_from(name.len()).ok()?)?))
}

/// Whether a text is a name, or a path with it.
fn is_path_with(text: &str, name: &str) -> bool {
    let is_path = |c: char| c.is_alphanumeric() || "_.-[]@".contains(c);
    text.chars().all(is_path) && words(text, name).next().is_some()
}

/// The offsets at which a name begins what stands in braces: `{name}`, `{{name.field}}`, `{{ name | filter }}`.
fn placeholders<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    words(text, name).filter(move |at| {
        let before = text.get(..*at).unwrap_or_default().trim_end_matches(' ');
        let behind = text.get(at + name.len()..).unwrap_or_default().trim_start_matches(' ');
        before.ends_with('{') && behind.starts_with(['}', '.', '[', '|'])
    })
}

/// The offsets at which a name stands as a word.
fn words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let behind = text.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(in_word) && !behind.is_some_and(in_word)
    })
}
