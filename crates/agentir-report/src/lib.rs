//! Reports of findings for CI systems, editors and people, fingerprints and baselines.
//!
//! ```text
//! findings ──► fingerprints ──► text, JSON, SARIF, GitHub, GitLab, JUnit, Checkstyle, Markdown, HTML
//!                   └─────────► baseline: what was known before
//! ```
//!
//! *Invariant*: nothing here checks an agent or reads or writes a file; a format prints all
//! findings that it is given.

mod baseline;
mod checkstyle;
mod fingerprint;
mod github;
mod gitlab;
mod html;
mod junit;
mod markdown;
mod sarif;

pub use baseline::{Baseline, BaselineError, Compared, Known, baseline_schema};
pub use fingerprint::fingerprints;
pub use html::{CostRow, Page, Picture};

use agentir_diagnostics::{
    Diagnostic, FileId, Format as Plain, LineColumn, Report, Severity, Shown, SourceFile,
    SourceMap, Span, render,
};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{self, Path};

/// How findings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// With the source around each finding.
    Text,
    /// One line a finding.
    Concise,
    /// One JSON object.
    Json,
    /// One JSON object a finding and line.
    JsonLines,
    /// SARIF 2.1.0.
    Sarif,
    /// Annotations of GitHub's workflows.
    Github,
    /// GitLab's report of code quality.
    Gitlab,
    /// JUnit's XML.
    Junit,
    /// Checkstyle's XML.
    Checkstyle,
    /// A summary in Markdown.
    Markdown,
    /// A page that needs nothing but a browser.
    Html,
}

impl Format {
    /// All formats, with the names that they are called by.
    pub const ALL: [(&'static str, Self); 11] = [
        ("text", Self::Text),
        ("concise", Self::Concise),
        ("json", Self::Json),
        ("json-lines", Self::JsonLines),
        ("sarif", Self::Sarif),
        ("github", Self::Github),
        ("gitlab", Self::Gitlab),
        ("junit", Self::Junit),
        ("checkstyle", Self::Checkstyle),
        ("markdown", Self::Markdown),
        ("html", Self::Html),
    ];

    /// The same format, if findings can be written in it one after the other.
    #[must_use]
    pub const fn plain(self) -> Option<Plain> {
        match self {
            Self::Text => Some(Plain::Text),
            Self::Concise => Some(Plain::Concise),
            Self::Json => Some(Plain::Json),
            Self::JsonLines => Some(Plain::JsonLines),
            _ => None,
        }
    }

    /// The format called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }
}

/// What a report says of a rule.
#[derive(Debug, Clone, Copy)]
pub struct RuleDoc {
    /// Its name.
    pub name: &'static str,
    /// The name of its group.
    pub group: &'static str,
    /// Its severity, before any configuration.
    pub severity: Severity,
    /// What it finds, in a sentence.
    pub summary: &'static str,
    /// Its page, in Markdown.
    pub page: &'static str,
}

/// What it takes to write findings.
#[derive(Clone, Copy)]
pub struct Findings<'a> {
    /// The findings, in order.
    pub report: Report<'a>,
    /// The folder that files are named relative to, absolute: the root of the repository.
    pub root: &'a Path,
    /// Whether a finding makes the run fail.
    pub fails: &'a dyn Fn(&Diagnostic) -> bool,
    /// What only the page shows.
    pub page: &'a Page,
    /// The rule of this name, if there is one.
    pub rules: &'a dyn Fn(&str) -> Option<RuleDoc>,
}

/// Writes findings, without secrets and without commands to terminals and logs; `color` is for people's terminals.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write(
    findings: &Findings<'_>,
    format: Format,
    color: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(plain) = format.plain() {
        return render(&findings.report, plain, color, out);
    }
    let Report { sources, diagnostics, files_checked } = findings.report;
    let shown = match format {
        // These have escapes for control characters.
        Format::Sarif | Format::Gitlab => Shown::new(diagnostics, sources),
        _ => Shown::plain(diagnostics, sources),
    };
    // A fingerprint is that of the finding, not of what is shown of it.
    let prints = || fingerprints(&findings.report, findings.root);
    let findings = &Findings { report: shown.report(files_checked), ..*findings };
    match format {
        Format::Text | Format::Concise | Format::Json | Format::JsonLines => Ok(()),
        Format::Sarif => sarif::write(findings, prints(), out),
        Format::Github => github::write(findings, out),
        Format::Gitlab => gitlab::write(findings, prints(), out),
        Format::Junit => junit::write(findings, out),
        Format::Checkstyle => checkstyle::write(findings, out),
        Format::Markdown => markdown::write(findings, out),
        Format::Html => html::write(findings, shown.masker(), out),
    }
}

/// The location of a finding, in the form that other programs read.
struct Place {
    /// The file, relative to the root where it is in there, with `/` between folders.
    file: String,
    start: LineColumn,
    end: LineColumn,
}

impl<'a> Findings<'a> {
    /// The files, each with its findings.
    fn by_file(&self) -> impl Iterator<Item = (&'a SourceFile, Vec<&'a Diagnostic>)> {
        let mut all: HashMap<FileId, Vec<&'a Diagnostic>> = HashMap::new();
        for finding in self.report.diagnostics {
            all.entry(finding.primary.span.file).or_default().push(finding);
        }
        let files = self.report.sources.iter();
        files.map(move |(id, file)| (file, all.remove(&id).unwrap_or_default()))
    }

    fn place(&self, span: Span) -> Place {
        let nowhere = LineColumn { line: 1, column: 1 };
        match self.report.sources.get(span.file) {
            Some(file) => Place {
                file: relative(&file.name, self.root),
                start: file.line_column(span.start),
                end: file.line_column(span.end),
            },
            None => Place { file: String::new(), start: nowhere, end: nowhere },
        }
    }
}

/// The path of a file relative to `root`, as it stands in a URI but for its escapes.
fn relative(name: &str, root: &Path) -> String {
    let inside = path::absolute(name).ok().map(|path| agentir_vfs::normalized(&path));
    let inside = inside.as_deref().and_then(|p| p.strip_prefix(root).ok()).map(Path::to_owned);
    let shown = inside.map_or_else(|| name.to_owned(), |p| p.display().to_string());
    if cfg!(windows) { shown.replace('\\', "/") } else { shown }
}

/// The message, why it matters and what to do, as one text of several lines.
fn in_full(finding: &Diagnostic, sources: &SourceMap) -> String {
    let mut text = finding.sentence(sources);
    for (word, more) in [("note", &finding.note), ("help", &finding.help)] {
        if let Some(more) = more {
            text.push_str(&format!("\n{word}: {more}"));
        }
    }
    text
}
