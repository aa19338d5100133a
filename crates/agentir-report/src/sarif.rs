//! SARIF 2.1.0, which code scanning of GitHub and others and many editors read.
//!
//! Results carry a fingerprint that survives lines that come and go, all places, the fixes that may be
//! applied, and the evidence: a run as a code flow, the rest as properties. Rules carry the page that
//! `agentir explain` prints.

use crate::fingerprint::VERSION;
use crate::{Findings, RuleDoc, in_full};
use agentir_diagnostics::{
    Applicability, Diagnostic, Evidence, Fix, Label, Premise, Run as Steps, Severity, Span, Tag,
    write_json_lines,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Serialize, Serializer};
use serde_json::json;
use serde_sarif::sarif;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What the root of the repository is called in places.
const ROOT: &str = "%SRCROOT%";

pub(crate) fn write(
    findings: &Findings<'_>,
    prints: Vec<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut ids: Vec<&str> = findings.report.diagnostics.iter().map(|d| d.rule.0).collect();
    ids.sort_unstable();
    ids.dedup();
    let rules: Vec<sarif::ReportingDescriptor> = ids
        .iter()
        .filter_map(|id| (findings.rules)(id))
        .map(|info| {
            // A rule has one page here, so the first of its findings decides.
            let first = findings.report.diagnostics.iter().find(|d| d.rule.0 == info.name);
            rule(info, first.and_then(|finding| finding.page.clone()))
        })
        .collect();
    let driver = sarif::ToolComponent::builder()
        .name("agentir")
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(rules)
        .build();
    let run = Run {
        column_kind: "unicodeCodePoints",
        results: Results { findings, prints: &prints, ids: &ids },
        tool: sarif::Tool::builder().driver(driver).build(),
    };
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    write_json_lines(&Log { schema, runs: [run], version: "2.1.0" }, out)
}

/// The whole log. Its results are made while they are written: each has dozens of fields, most of them empty.
#[derive(Serialize)]
struct Log<'f> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'f>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'f> {
    column_kind: &'static str,
    results: Results<'f>,
    tool: sarif::Tool,
}

struct Results<'f> {
    findings: &'f Findings<'f>,
    prints: &'f [String],
    ids: &'f [&'f str],
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = self.findings.report.diagnostics.iter().zip(self.prints);
        serializer.collect_seq(
            all.map(|(finding, print)| result(self.findings, finding, print, self.ids)),
        )
    }
}

const fn level(severity: Severity) -> sarif::ResultLevel {
    match severity {
        Severity::Error => sarif::ResultLevel::Error,
        Severity::Warning => sarif::ResultLevel::Warning,
        Severity::Info => sarif::ResultLevel::Note,
    }
}

fn rule(info: RuleDoc, web: Option<String>) -> sarif::ReportingDescriptor {
    let text = |text: &str| sarif::MultiformatMessageString::builder().text(text).build();
    let help =
        sarif::MultiformatMessageString::builder().text(info.page).markdown(info.page).build();
    let mut rule = sarif::ReportingDescriptor::builder()
        .id(info.name)
        .short_description(text(info.summary))
        .help(help)
        .default_configuration(
            sarif::ReportingConfiguration::builder().level(json!(level(info.severity))).build(),
        )
        .properties(sarif::PropertyBag::builder().tags(vec![info.group.to_owned()]).build())
        .build();
    rule.help_uri = web;
    rule
}

fn result(
    findings: &Findings<'_>,
    finding: &Diagnostic,
    print: &str,
    ids: &[&str],
) -> sarif::Result {
    let index = ids.binary_search(&finding.rule.0).ok().and_then(|i| i64::try_from(i).ok());
    let related: Vec<sarif::Location> =
        finding.labels.iter().map(|label| location(findings, label)).collect();
    let mut result = sarif::Result::builder()
        .rule_id(finding.rule.0)
        .level(level(finding.severity))
        .message(sarif::Message::builder().text(in_full(finding, findings.report.sources)).build())
        .locations(vec![location(findings, &finding.primary)])
        .partial_fingerprints(BTreeMap::from([(VERSION.to_owned(), print.to_owned())]))
        .properties(properties(findings, finding))
        .build();
    result.rule_index = index;
    if !related.is_empty() {
        result.related_locations = Some(related);
    }
    let applicable = finding.fixes.iter().filter(|f| f.applicability > Applicability::DisplayOnly);
    let fixes: Vec<sarif::Fix> = applicable.map(|fix| fix_of(findings, fix)).collect();
    result.fixes = Some(fixes).filter(|fixes| !fixes.is_empty());
    let run = finding.evidence.as_ref().and_then(|evidence| evidence.run.as_ref());
    result.code_flows = run.map(|run| vec![code_flow(findings, run)]);
    result
}

/// What SARIF has no field for.
fn properties(findings: &Findings<'_>, finding: &Diagnostic) -> sarif::PropertyBag {
    let mut more = BTreeMap::from([("confidence".to_owned(), json!(finding.confidence))]);
    if let Some(Evidence { state, core, .. }) = finding.evidence.as_deref() {
        if !state.is_empty() {
            more.insert("state".to_owned(), json!(state));
        }
        let premise = |premise: &Premise| {
            let Some(span) = premise.span else { return json!({ "message": premise.message }) };
            let file = findings.report.sources.get(span.file);
            let text = file.map(|file| file.quoted(span.range())).unwrap_or_default();
            let physical = physical(findings, span);
            json!({ "physicalLocation": physical, "text": text, "message": premise.message })
        };
        if !core.is_empty() {
            more.insert("core".to_owned(), core.iter().map(premise).collect());
        }
    }
    let mut bag = sarif::PropertyBag::builder().additional_properties(more).build();
    if !finding.tags.is_empty() {
        bag.tags = Some(finding.tags.iter().map(|tag| Tag::name(*tag).to_owned()).collect());
    }
    bag
}

/// A run. That it repeats is what its message says.
fn code_flow(findings: &Findings<'_>, run: &Steps) -> sarif::CodeFlow {
    let step =
        |step| sarif::ThreadFlowLocation::builder().location(location(findings, step)).build();
    let steps: Vec<sarif::ThreadFlowLocation> = run.steps.iter().map(step).collect();
    let thread = sarif::ThreadFlow::builder().locations(steps).build();
    let mut flow = sarif::CodeFlow::builder().thread_flows(vec![thread]).build();
    if run.repeats {
        let message = "the first step follows the last one";
        flow.message = Some(sarif::Message::builder().text(message).build());
    }
    flow
}

fn artifact(findings: &Findings<'_>, file: &str) -> sarif::ArtifactLocation {
    let mut artifact = sarif::ArtifactLocation::builder().uri(uri(file)).build();
    if std::path::Path::new(file).is_relative() && !findings.root.as_os_str().is_empty() {
        artifact.uri_base_id = Some(ROOT.to_owned());
    }
    artifact
}

fn region(findings: &Findings<'_>, span: Span) -> sarif::Region {
    let place = findings.place(span);
    sarif::Region::builder()
        .start_line(i64::from(place.start.line))
        .start_column(i64::from(place.start.column))
        .end_line(i64::from(place.end.line))
        .end_column(i64::from(place.end.column))
        .build()
}

fn physical(findings: &Findings<'_>, span: Span) -> sarif::PhysicalLocation {
    sarif::PhysicalLocation::builder()
        .artifact_location(artifact(findings, &findings.place(span).file))
        .region(region(findings, span))
        .build()
}

fn location(findings: &Findings<'_>, label: &Label) -> sarif::Location {
    let physical = physical(findings, label.span);
    let mut location = sarif::Location::builder().physical_location(physical).build();
    if !label.message.is_empty() {
        location.message = Some(sarif::Message::builder().text(label.message.as_str()).build());
    }
    location
}

fn fix_of(findings: &Findings<'_>, fix: &Fix) -> sarif::Fix {
    let mut by_file: BTreeMap<String, Vec<sarif::Replacement>> = BTreeMap::new();
    for edit in &fix.edits {
        let new = sarif::ArtifactContent::builder().text(edit.text.as_str()).build();
        let replacement = sarif::Replacement::builder()
            .deleted_region(region(findings, edit.span))
            .inserted_content(new)
            .build();
        by_file.entry(findings.place(edit.span).file).or_default().push(replacement);
    }
    let changes: Vec<sarif::ArtifactChange> = by_file
        .into_iter()
        .map(|(file, replacements)| {
            sarif::ArtifactChange::builder()
                .artifact_location(artifact(findings, &file))
                .replacements(replacements)
                .build()
        })
        .collect();
    sarif::Fix::builder()
        .description(sarif::Message::builder().text(fix.title.as_str()).build())
        .artifact_changes(changes)
        .build()
}

/// What a path may not hold as a reference of a URI.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A path as a reference of a URI.
fn uri(path: &str) -> String {
    utf8_percent_encode(path, ESCAPED).to_string()
}
