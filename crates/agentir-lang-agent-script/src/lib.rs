//! Agent Script, Salesforce's language of agents.
//!
//! There are three stages. The layout pass (`layout.rs`) cuts the text into lines and nests them by column;
//! `grammars/agent-script/outline.lalrpop` parses the tokens into an outline. The reader (`reader/`) reads the
//! outline by the tables of a dialect ([`schema`]). The text after a key or keyword is parsed by
//! `grammars/agent-script/inline.lalrpop`.
//!
//! The layout is separate from that of ABL, because named blocks, procedures and templates with
//! comment rules of their own leave too little to share. Operators whose semantics differ from
//! ABL's are different operators in the expression tree. Constraints on whole documents are checked
//! in `validate`. A string with placeholders inside an expression is read as a concatenation of
//! strings and values.
//!
//! *Invariant*: parsing never fails and does not resolve names. The tree ([`Document`]) preserves
//! everything in the text.

mod context;
pub mod dialect;
mod docs;
mod emit;
mod inline;
mod language;
mod layout;
mod line_layout;
mod lower;
mod names;
mod outline;
mod reader;
mod reference;
pub mod schema;
mod template;
mod tree;
mod validate;

pub use emit::{AGENTFORCE, BASE};
pub use language::{AGENT_SCRIPT, AGENT_SCRIPT_FILE};
pub use schema::{Dialect, Version};
pub use template::template;
pub use template::{Placeholder, Segment, Template, TemplateStyle};
pub use tree::{
    Argument, Binding, Branch, CollectForm, Data, Declaration, Declared, Document, Field, Modifier,
    Procedure, Record, Statement, StatementKind, Target, TypeSpec, Unknown, Value,
};

use agentir_diagnostics::{Diagnostic, FileId, Span, Spanned, closest};
use agentir_syntax::rules;
use agentir_syntax::text::offset;
use outline::{EntryKind, Outline};

/// Options for parsing a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// The dialect of documents without a `# @dialect:` line; detected from their blocks if not given.
    pub dialect: Option<Dialect>,
}

/// The number of lines at the top in which a `# @dialect:` line is recognised.
const DIALECT_LINES: usize = 10;

/// Parses a document. Never fails: invalid parts are reported and kept as source text.
pub fn parse<'s>(
    file: FileId,
    text: &'s str,
    options: Options,
    problems: &mut Vec<Diagnostic>,
) -> Document<'s> {
    let before = problems.len();
    // Offsets are 32 bits wide.
    let text = if u32::try_from(text.len()).is_ok_and(|n| n < u32::MAX) {
        text
    } else {
        let message = "this file is too large to read";
        problems.push(Diagnostic::error(rules::UNREADABLE_FILE, Span::new(file, 0, 0), message));
        ""
    };
    let outline = outline::parse(file, text, problems);
    let named = dialect_line(file, text, problems);
    let dialect = named
        .as_ref()
        .and_then(|n| n.dialect)
        .or(options.dialect)
        .unwrap_or_else(|| detect(&outline));
    let version = named.and_then(|n| n.version);
    let Outline { entries, comments, placeholders } = outline;
    let mut reader = reader::Reader {
        reading: inline::Reading { file, problems },
        text,
        dialect,
        // The base dialect and agentforce share version numbers; agentfabric has its own.
        version: version.map(|v| v.value).filter(|_| dialect != Dialect::Agentfabric),
        misplaced: Vec::new(),
    };
    let root = reader.document(entries);
    if let Some((first, count)) = placeholders {
        // In a template, the only error is that placeholders are unresolved.
        problems.truncate(before);
        let more = match count {
            1 => String::new(),
            n => format!(" (and {} more)", n - 1),
        };
        problems.push(
            Diagnostic::error(
                rules::UNFILLED_PLACEHOLDER,
                first,
                format!(
                    "the placeholder `{}` is not filled in{more}",
                    text.get(first.range()).unwrap_or_default()
                ),
            )
            .note("this file is a document template; it is checked once its placeholders are filled in"),
        );
    }
    Document { dialect, version, root, comments, placeholders: placeholders.is_some() }
}

/// The number of tokens, for benchmarks of the lexer.
#[doc(hidden)]
#[must_use]
pub fn count_tokens(text: &str) -> usize {
    layout::tokens(FileId(0), text, &mut Vec::new()).tokens.len()
}

/// The number of top-level entries, for benchmarks of the outline.
#[doc(hidden)]
#[must_use]
pub fn count_entries(text: &str) -> usize {
    outline::parse(FileId(0), text, &mut Vec::new()).entries.len()
}

/// Checks constraints between the fields of a document. A template is checked once its placeholders are
/// resolved.
pub fn validate(document: &Document<'_>, problems: &mut Vec<Diagnostic>) {
    if document.dialect == Dialect::Agentforce && !document.placeholders {
        validate::agentforce(document, problems);
    }
}

/// The content of a `# @dialect:` line.
struct DialectLine {
    dialect: Option<Dialect>,
    version: Option<Spanned<Version>>,
}

/// `# @dialect: name`, `# @dialect: name=3.2`.
fn dialect_line(file: FileId, text: &str, problems: &mut Vec<Diagnostic>) -> Option<DialectLine> {
    let mut at = 0;
    for line in text.split_inclusive('\n').take(DIALECT_LINES) {
        let start = at;
        at += line.len();
        let said = line
            .trim_start_matches('\u{feff}')
            .trim()
            .strip_prefix('#')
            .map(str::trim_start)
            .and_then(|l| l.strip_prefix("@dialect"))
            .map(str::trim_start)
            .and_then(|l| l.strip_prefix(':'));
        let Some(said) = said else { continue };
        // Text after the name is a remark.
        let said = said.split_whitespace().next().unwrap_or_default();
        let (name, version) = match said.split_once('=') {
            Some((name, version)) => (name.trim(), Some(version.trim())),
            None => (said, None),
        };
        let span_of = |part: &str| {
            let within = line.rfind(part).unwrap_or(0);
            Span::new(file, offset(start + within), offset(start + within + part.len()))
        };
        let dialect = Dialect::called(name);
        if dialect.is_none() {
            let names = Dialect::ALL.map(Dialect::name);
            let all = names.map(|name| format!("`{name}`"));
            let diagnostic = Diagnostic::error(
                rules::UNKNOWN_DIALECT,
                span_of(name),
                format!("unknown dialect `{name}`"),
            );
            problems.push(match closest(name, names) {
                Some(near) => diagnostic.did_you_mean(near),
                None => {
                    diagnostic.help(format!("dialects are {}", agentir_syntax::text::listed(&all)))
                }
            });
        }
        let number = version.and_then(|written| {
            let number = version_number(written);
            if number.is_none() {
                problems.push(
                    Diagnostic::error(
                        rules::INVALID_VALUE,
                        span_of(written),
                        format!("`{written}` is not a version"),
                    )
                    .help("write `# @dialect: name=3.2`"),
                );
            }
            if let (Some(number), Some(newest)) = (number, dialect.and_then(Dialect::newest))
                && number.major > newest.major
            {
                problems.push(
                    Diagnostic::error(
                        rules::UNKNOWN_DIALECT,
                        span_of(written),
                        format!("there is no version {written} of `{name}`"),
                    )
                    .help(format!("the newest is {newest}")),
                );
            }
            number.map(|n| Spanned::new(n, span_of(written)))
        });
        return Some(DialectLine { dialect, version: number });
    }
    None
}

/// `3`, `3.2`, `1.0-BETA`.
fn version_number(written: &str) -> Option<Version> {
    let numbers = written.split('-').next()?;
    let (major, minor) = numbers.split_once('.').unwrap_or((numbers, "0"));
    let minor = minor.split('.').next()?;
    Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

/// The dialect that a document's blocks indicate. Nodes that only agentfabric has say so, if they are more than the blocks
/// that it does not have; else it is agentforce, by far the most common. A key without a name may be a field at the wrong
/// margin, such as `actions:` of a subagent, so it says something only where no block of agentforce has such a field.
fn detect(outline: &Outline<'_>) -> Dialect {
    let (fabric, force) = (Dialect::Agentfabric.root(), Dialect::Agentforce.root());
    let (mut nodes, mut others, mut settings) = (0_usize, 0_usize, 0_usize);
    for entry in &outline.entries {
        let EntryKind::Pair { key, .. } = &entry.kind else { continue };
        match (fabric.field(key.name), force.field(key.name)) {
            (Some(_), None) if key.instance.is_some() => nodes += 1,
            (Some(_), None) if reader::parent_type_of(force, key.name).is_none() => settings += 1,
            (None, Some(_)) => others += 1,
            _ => {}
        }
    }
    if nodes + settings > others { Dialect::Agentfabric } else { Dialect::default() }
}
