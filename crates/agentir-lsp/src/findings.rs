//! Findings as the protocol has them.

use crate::view::View;
use agentir::diagnostics::{self as base, FileId, Label, SourceFile};
use agentir_report::{Baseline, Findings, Page};
use agentir_secrets::Masker;
use gen_lsp_types::{
    Code, CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity,
    DiagnosticTag, Message, Uri,
};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What findings say they come from.
pub(crate) const SOURCE: &str = "agentir";

/// The findings in a file, without those that the baseline has.
pub(crate) fn unknown<'d>(
    view: &View,
    baseline: Option<&KnownFindings>,
    found: impl Iterator<Item = &'d base::Diagnostic>,
) -> Vec<Cow<'d, base::Diagnostic>> {
    let Some(baseline) = baseline else { return found.map(Cow::Borrowed).collect() };
    let found: Vec<base::Diagnostic> = found.cloned().collect();
    let report =
        base::Report { sources: view.snapshot.sources(), diagnostics: &found, files_checked: 1 };
    let (fails, page, rules) = (&|_: &_| false, Page::default(), &|_: &_| None);
    let findings = Findings { report, root: &baseline.root, fails, page: &page, rules };
    let known = baseline.findings.compare(&findings).known;
    let new = found.into_iter().zip(known).filter(|(_, known)| !known);
    new.map(|(finding, _)| Cow::Owned(finding)).collect()
}

/// The findings that a project knows of.
#[derive(Debug, Clone)]
pub(crate) struct KnownFindings {
    findings: Arc<Baseline>,
    /// The folder that its files are named relative to.
    root: PathBuf,
}

impl KnownFindings {
    /// Reads the text of a baseline.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(text: &str, path: &Path, root: &Path) -> Result<Self, String> {
        let findings = Baseline::read(text)
            .map_err(|error| format!("{} is not a valid baseline: {error}", path.display()))?;
        Ok(Self { findings: Arc::new(findings), root: root.to_owned() })
    }
}

/// A finding as the client shows it.
pub(crate) fn diagnostic(
    view: &View,
    masker: &Masker,
    source: &SourceFile,
    finding: &base::Diagnostic,
) -> Diagnostic {
    let client = view.client;
    let related = related(finding);
    let mut message = finding.message.clone();
    let mut add = |start: &str, more: &str| {
        if !more.is_empty() {
            message.push_str(start);
            message.push_str(more);
        }
    };
    add(": ", &finding.primary.message);
    if !client.related_information {
        for label in related.iter().filter(|label| !label.message.is_empty()) {
            let place = view.snapshot.sources().get(label.span.file).map(|file| {
                let line = file.line_column(label.span.start).line;
                match label.span.file == finding.primary.span.file {
                    true => format!("line {line}"),
                    false => format!("{}:{line}", file.name),
                }
            });
            add("\n", &format!("{}: {}", place.unwrap_or_default(), label.message));
        }
    }
    add("\n", finding.note.as_deref().unwrap_or_default());
    add("\nhelp: ", finding.help.as_deref().unwrap_or_default());
    masker.mask_in_place(&mut message);
    let related = related.into_iter().filter_map(|label| {
        let message = masker.mask(&label.message).into_owned();
        Some(DiagnosticRelatedInformation { location: view.location(label.span)?, message })
    });
    let tags = finding.tags.iter().map(|tag| match tag {
        base::Tag::Unnecessary => DiagnosticTag::Unnecessary,
        base::Tag::Deprecated => DiagnosticTag::Deprecated,
    });
    Diagnostic {
        range: view.range(source, finding.primary.span),
        severity: Some(match finding.severity {
            base::Severity::Error => DiagnosticSeverity::Error,
            base::Severity::Warning => DiagnosticSeverity::Warning,
            base::Severity::Info => DiagnosticSeverity::Information,
        }),
        code: Some(Code::String(finding.rule.0.to_owned())),
        code_description: page(view, finding)
            .filter(|_| client.code_description)
            .map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: Message::String(message),
        tags: (client.tags && !finding.tags.is_empty()).then(|| tags.collect()),
        related_information: client
            .related_information
            .then(|| related.collect::<Vec<_>>())
            .filter(|related| !related.is_empty()),
        data: None,
    }
}

/// The page of a finding's rule: where the project says, else the page of this program, if the client can show it.
fn page(view: &View, finding: &base::Diagnostic) -> Option<Uri> {
    if let Some(page) = &finding.page {
        return Some(Uri(page.clone()));
    }
    let page = agentir::explain(finding.rule.0).filter(|_| view.client.reads_contents);
    page.map(|_| rule_uri(finding.rule.0))
}

/// Where the page of a rule is, for clients that ask the server for its contents.
pub(crate) fn rule_uri(rule: &str) -> Uri {
    Uri(format!("{SCHEME}:/rules/{rule}.md"))
}

/// The scheme of what the server has the contents of.
pub(crate) const SCHEME: &str = "agentir";

/// The other places that a finding speaks of: its labels, and the steps and premises that it rests on.
fn related(finding: &base::Diagnostic) -> Vec<Label> {
    let mut all: Vec<Label> = finding.labels.clone();
    if let Some(evidence) = &finding.evidence {
        let premises = evidence.core.iter().filter_map(|premise| {
            Some(Label { span: premise.span?, message: premise.message.clone() })
        });
        all.extend(premises);
        let steps = evidence.run.iter().flat_map(|run| &run.steps);
        all.extend(steps.cloned());
    }
    let mut seen: Vec<Label> = Vec::new();
    for label in all {
        // Rules label what they rest on themselves.
        if !seen.iter().any(|one| one.span == label.span) && label.span != finding.primary.span {
            seen.push(label);
        }
    }
    seen
}

/// The findings in a file as the client shows them.
pub(crate) fn diagnostics<'d>(
    view: &View,
    baseline: Option<&KnownFindings>,
    file: FileId,
    found: impl Iterator<Item = &'d base::Diagnostic>,
) -> Vec<Diagnostic> {
    let Some(source) = view.snapshot.sources().get(file) else { return Vec::new() };
    let found = unknown(view, baseline, found);
    let masker = view.masker(file);
    found.iter().map(|finding| diagnostic(view, &masker, source, finding)).collect()
}

/// What is wrong with configurations, by file.
pub(crate) fn config_problems(view: &View) -> Vec<(Uri, Vec<Diagnostic>)> {
    let problems = view.snapshot.config_problems();
    let masker = problems.sources.masker();
    let mut all: Vec<(Uri, Vec<Diagnostic>)> = Vec::new();
    for finding in &problems.diagnostics {
        let Some(source) = problems.sources.get(finding.primary.span.file) else { continue };
        let path = std::path::absolute(&*source.name).unwrap_or_else(|_| (&*source.name).into());
        let Some(uri) = crate::uri::uri_of(&path) else { continue };
        let mut diagnostic = diagnostic(view, &masker, source, finding);
        // Places within the configuration itself, which is no file of the snapshot.
        diagnostic.related_information = None;
        match all.iter_mut().find(|(known, _)| *known == uri) {
            Some((_, of)) => of.push(diagnostic),
            None => all.push((uri, vec![diagnostic])),
        }
    }
    all
}
