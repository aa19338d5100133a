//! Reads an outline by the schema tables: assigns entries to fields, parses values and reports errors.
//! Nothing is discarded: unknown entries stay in the tree.

mod collections;
mod fields;
mod fragment;
mod headers;
mod nested;
mod records;
mod values;
mod versions;

use crate::schema::{AGENT, MAIN_SECTIONS, PROFILE, TOOL_LIBRARY, Version};
use crate::tree::{Document, DocumentKind, Format};
use agentir_diagnostics::{Diagnostic, Span, Spanned, closest};
use agentir_expr::{Expr, Name, Path};
use agentir_syntax::outline::{Entry, EntryKind, Outline};
use agentir_syntax::rules;
use typed_arena::Arena;
use versions::{Usage, detect, report_legacy};

/// Options for reading a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// The version of the language; detected if not given.
    pub version: Option<Version>,
    /// Whether the text may be a fragment: a section, or a part of one, without an agent around it.
    pub fragment: bool,
}

/// The kind of document, by its first characteristic keyword (in any case); `None` if it has none and is
/// not ABL.
#[must_use]
pub fn classify(outline: &Outline<'_>) -> Option<DocumentKind> {
    let mut tools = false;
    for entry in &outline.entries {
        let key = match &entry.kind {
            EntryKind::Pair { key, .. } => key.text,
            // Its colon is missing.
            EntryKind::Line { text, .. } => {
                text.raw.split([' ', '\t', '：']).next().unwrap_or_default()
            }
            EntryKind::Item { .. } => continue,
        };
        let is_key = matches!(entry.kind, EntryKind::Pair { .. });
        if !is_key && !key.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            continue;
        }
        if let Some((_, kind)) = HEADS.iter().find(|(word, _)| key.eq_ignore_ascii_case(word)) {
            return Some(*kind);
        }
        tools |= key.eq_ignore_ascii_case("tools");
        // Any other section of an agent means that the header is missing.
        if is_key && !tools && AGENT.field(key).is_some() && TOOL_LIBRARY.field(key).is_none() {
            return None;
        }
    }
    tools.then_some(DocumentKind::ToolLibrary)
}

/// The keys that name what a document describes. It has one of them.
pub(crate) const HEADS: &[(&str, DocumentKind)] = &[
    ("agent", DocumentKind::Agent),
    ("supervisor", DocumentKind::Supervisor),
    ("behavior_profile", DocumentKind::Profile),
];

/// Reads a document. `arena` owns the entries of inline lists and maps.
pub fn read<'t, 's: 't>(
    outline: &'t Outline<'s>,
    format: Format,
    options: Options,
    arena: &'t Arena<Entry<'s>>,
    problems: &mut Vec<Diagnostic>,
) -> Option<Document<'t>> {
    let kind = match classify(outline) {
        Some(kind) => kind,
        None if options.fragment => DocumentKind::Agent,
        None => {
            report_no_document(outline, problems);
            return None;
        }
    };
    let mut reader = Reader {
        outline,
        format,
        arena,
        problems,
        usages: Vec::new(),
        top: true,
        wrong_case_keywords: Vec::new(),
    };
    let ty = match kind {
        DocumentKind::Agent | DocumentKind::Supervisor => &AGENT,
        DocumentKind::Profile => &PROFILE,
        DocumentKind::ToolLibrary => &TOOL_LIBRARY,
    };
    let entries: &'t [Entry<'s>] =
        if options.fragment { reader.nest_fragment(&outline.entries) } else { &outline.entries };
    let entries = reader.rejoined(ty, entries);
    let span = Span::new(
        outline.file,
        entries.first().map_or(0, |e| e.start),
        entries.last().map_or(0, |e| e.end),
    );
    let root = reader.record(ty, span, entries);
    let usages = std::mem::take(&mut reader.usages);
    let version = options.version.unwrap_or_else(|| detect(&usages));
    if version > Version::Legacy {
        reader.report_case();
    } else if options.version.is_none() {
        report_legacy(&usages, reader.problems);
    }
    for usage in usages {
        usage.report(version, problems);
    }
    Some(Document { kind, format, version, root })
}

fn report_no_document(outline: &Outline<'_>, problems: &mut Vec<Diagnostic>) {
    let Some(first) = outline.entries.first() else {
        problems.push(Diagnostic::error(
            rules::MISSING_SECTION,
            Span::new(outline.file, 0, 0),
            "this file is empty",
        ));
        return;
    };
    let span = match &first.kind {
        EntryKind::Pair { key, .. } => key.span,
        _ => Span::new(outline.file, first.start, first.start),
    };
    let finding = Diagnostic::error(
        rules::MISSING_SECTION,
        span,
        "this document has no `AGENT:` or other header",
    );
    let near = match &first.kind {
        EntryKind::Pair { key, .. } if AGENT.field(key.text).is_none() => {
            closest(key.text, HEADERS.iter().copied())
        }
        _ => None,
    };
    problems.push(match near {
        Some(near) => finding.did_you_mean(near),
        None => finding.help(
            "begin it with `AGENT: Name`, `SUPERVISOR: Name`, `BEHAVIOR_PROFILE: name`, or `TOOLS:`",
        ),
    });
}

/// Whether a document without a header is a part of an agent: all that it has are sections, parts of sections or steps.
/// With several of the sections that make up an agent, it is one whose header is missing.
pub fn is_part(outline: &Outline<'_>) -> bool {
    let mut making_up: Vec<&str> = Vec::new();
    for entry in &outline.entries {
        let EntryKind::Pair { key, children, .. } = &entry.kind else { return false };
        let section = AGENT.field(key.text).map(|def| def.name);
        if section.is_none() && fragment::home_of(key.text, children).is_none() {
            return false;
        }
        let section = section.filter(|name| MAIN_SECTIONS.contains(name));
        making_up.extend(section.filter(|name| !making_up.contains(name)));
    }
    !outline.entries.is_empty() && making_up.len() <= 1
}

/// The keywords that documents begin with.
const HEADERS: [&str; 4] = ["AGENT", "SUPERVISOR", "BEHAVIOR_PROFILE", "TOOLS"];

struct Reader<'t, 's, 'p> {
    outline: &'t Outline<'s>,
    format: Format,
    arena: &'t Arena<Entry<'s>>,
    problems: &'p mut Vec<Diagnostic>,
    usages: Vec<Usage>,
    /// Whether the current record is the document, whose keys are section keywords.
    top: bool,
    /// Section keywords in the wrong case, with their replacement.
    wrong_case_keywords: Vec<(Span, String, String)>,
}

impl<'t, 's: 't> Reader<'t, 's, '_> {
    fn span_of(&self, entry: &Entry<'_>) -> Span {
        entry.span(self.outline.file)
    }
}

fn variable(name: &Spanned<Name>) -> Expr {
    Expr::path(Path::variable(name.clone()), name.span)
}

/// The first words of a text, for a message.
fn excerpt(text: &str) -> &str {
    const MAX_LEN: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_LEN) {
        Some((end, _)) => line.get(..end).unwrap_or(line),
        None => line,
    }
}
