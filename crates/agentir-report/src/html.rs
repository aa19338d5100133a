//! A page for people: findings with the source around them, the agents' graphs, what a message costs.
//! It needs nothing but a browser.

use crate::Findings;
use agentir_diagnostics::{
    Applicability, Diagnostic, LinePart, Severity, SourceFile, clean_lines, one_line, shown_of,
};
use agentir_secrets::Masker;
use askama::Template;
use std::io::{self, Write};

/// What the page shows beside findings.
#[derive(Debug, Default)]
pub struct Page {
    /// Graphs of programs.
    pub pictures: Vec<Picture>,
    /// What one message of the user can cost, by agent.
    pub costs: Vec<CostRow>,
}

/// A graph.
#[derive(Debug)]
pub struct Picture {
    /// Of what.
    pub name: String,
    /// As SVG, complete; it is written as it is.
    pub svg: String,
}

/// An upper bound on the cost of one message of the user; empty if there is none.
#[derive(Debug)]
pub struct CostRow {
    /// The agent's name.
    pub agent: String,
    /// Calls of models, by itself.
    pub own_models: Option<u64>,
    /// Calls of tools, by itself.
    pub own_tools: Option<u64>,
    /// Calls of models, with the agents it hands over to.
    pub all_models: Option<u64>,
    /// Calls of tools, with the agents it hands over to.
    pub all_tools: Option<u64>,
}

/// So many lines are shown around a finding.
const AROUND: usize = 2;
/// So many lines of what a finding is about are shown.
const MAX_LINES: usize = 8;

#[derive(Template)]
#[template(path = "report.html")]
struct View<'f> {
    summary: String,
    levels: Vec<Level>,
    /// What is shown of a finding is made when it is written.
    findings: &'f Findings<'f>,
    pictures: &'f [Picture],
    costs: Vec<Row>,
}

/// A row of the table of costs.
struct Row {
    cells: Vec<String>,
}

struct Level {
    name: &'static str,
    count: usize,
}

struct Shown<'f> {
    level: &'static str,
    rule: &'static str,
    /// The rule's page on the web.
    web: Option<&'f str>,
    place: String,
    message: String,
    lines: Vec<Line>,
    notes: Vec<(&'static str, &'f str)>,
}

struct Line {
    number: usize,
    before: String,
    marked: String,
    after: String,
}

pub(crate) fn write(
    findings: &Findings<'_>,
    masker: &Masker,
    out: &mut dyn Write,
) -> io::Result<()> {
    let summary = findings.report.summary();
    let levels = [
        (Severity::Error, summary.errors),
        (Severity::Warning, summary.warnings),
        (Severity::Info, summary.infos),
    ];
    let costs = findings.page.costs.iter().map(|row| {
        let number = |n: Option<u64>| n.map_or_else(|| "∞".to_owned(), |n| n.to_string());
        let counts = [row.own_models, row.own_tools, row.all_models, row.all_tools];
        let agent = one_line(&masker.mask(&row.agent)).into_owned();
        Row { cells: std::iter::once(agent).chain(counts.map(number)).collect() }
    });
    let pictures = findings.page.pictures.iter().map(|picture| Picture {
        name: one_line(&masker.mask(&picture.name)).into_owned(),
        svg: picture.svg.clone(),
    });
    let pictures: Vec<Picture> = pictures.collect();
    let page = View {
        summary: summary.to_string(),
        levels: levels.map(|(severity, count)| Level { name: severity.name(), count }).into(),
        findings,
        pictures: &pictures,
        costs: costs.collect(),
    };
    page.write_into(out)
}

impl<'f> View<'f> {
    fn all(&self) -> &'f [Diagnostic] {
        self.findings.report.diagnostics
    }

    fn shown(&self, finding: &'f Diagnostic) -> Shown<'f> {
        shown(self.findings, finding)
    }
}

fn shown<'f>(findings: &Findings<'f>, finding: &'f Diagnostic) -> Shown<'f> {
    let place = findings.place(finding.primary.span);
    let mut notes: Vec<(&str, &str)> = Vec::new();
    notes.extend(finding.note.as_deref().map(|note| ("note", note)));
    notes.extend(finding.help.as_deref().map(|help| ("help", help)));
    notes.extend(finding.fixes.iter().map(|fix| {
        let word = match fix.applicability {
            Applicability::Safe => "fix",
            Applicability::Unsafe => "unsafe fix",
            Applicability::DisplayOnly => "suggestion",
        };
        (word, fix.title.as_str())
    }));
    let file = findings.report.sources.get(finding.primary.span.file);
    Shown {
        level: finding.severity.name(),
        rule: finding.rule.0,
        web: finding.page.as_deref(),
        place: format!("{}:{}:{}", place.file, place.start.line, place.start.column),
        message: finding.sentence(findings.report.sources),
        lines: file.map(|file| excerpt(file, finding)).unwrap_or_default(),
        notes,
    }
}

fn excerpt(file: &SourceFile, finding: &Diagnostic) -> Vec<Line> {
    let span = finding.primary.span.range();
    let first = file.line_index(span.start);
    let last = file.line_index(span.end.saturating_sub(1).max(span.start)).min(first + MAX_LINES);
    (first.saturating_sub(AROUND)..=last + AROUND)
        .filter_map(|number| {
            let line = file.line_range(number);
            // A last line break begins no line, and there is none behind it.
            if line.start == file.text.len() && number > first {
                return None;
            }
            // Of a line that is too long, what is marked in it.
            let LinePart { bytes: shown, cut_before, cut_behind } =
                shown_of(file, number, span.start);
            let cut = |at: usize| file.text.floor_char_boundary(at.clamp(shown.start, shown.end));
            let (from, to) = (cut(span.start), cut(span.end));
            let part = |range| clean_lines(&file.masked(range)).into_owned();
            let more = |is_cut| if is_cut { "…" } else { "" };
            Some(Line {
                number: number + 1,
                before: more(cut_before).to_owned() + &part(shown.start..from),
                marked: part(from..to),
                after: part(to..shown.end) + more(cut_behind),
            })
        })
        .collect()
}
