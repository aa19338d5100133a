//! The report as one JSON object. Others read it: fields are added, never renamed.

use super::clean::escape_json;
use super::{Report, Summary};
use crate::diagnostic::{Applicability, Confidence, Diagnostic, Edit, Fix, Label, Severity, Tag};
use crate::evidence::{Binding, Evidence, Premise, Run};
use crate::source::{SourceMap, Span};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use std::borrow::Cow;
use std::io;

/// The version of the format; changes when a field changes its meaning.
pub(crate) const VERSION: u32 = 1;

/// The findings of one run of agentir.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "agentir report")]
struct JsonReport<'a> {
    /// The version of this format.
    #[schemars(extend("const" = VERSION))]
    version: u32,
    /// The number of findings.
    summary: Summary,
    /// The findings, by file, position and rule.
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

/// One finding.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Diagnostic")]
struct JsonDiagnostic<'a> {
    /// The rule that reported the finding; `agentir explain` shows its page.
    rule: &'static str,
    severity: Severity,
    confidence: Confidence,
    /// What is wrong.
    message: &'a str,
    /// The file of the finding, as it was named on the command line.
    file: &'a str,
    /// The primary span.
    range: JsonRange,
    /// Spans that explain the finding. A label of the primary span itself comes first.
    labels: Vec<JsonLabel<'a>>,
    /// What to write instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    help: Option<&'a str>,
    /// Why it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    note: Option<&'a str>,
    /// How to fix it: the first of `fixes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JsonFix<'a>")]
    fix: Option<JsonFix<'a>>,
    /// Alternative ways to fix it, the preferred one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<JsonFix<'a>>,
    /// Properties of the text in the primary span.
    #[serde(skip_serializing_if = "is_empty")]
    tags: &'a [Tag],
    /// Where the rule's page is on the web, if the project configures `rule-pages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    page: Option<&'a str>,
    /// The evidence for the finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JsonEvidence<'a>")]
    evidence: Option<JsonEvidence<'a>>,
}

/// The evidence for a finding.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Evidence")]
struct JsonEvidence<'a> {
    /// An example: values of variables with which the problem occurs. Other variables may have any value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    state: Vec<JsonBinding<'a>>,
    /// The premises that the finding follows from. Conditions among them cannot all be true at the
    /// same time, and none of the premises can be omitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    core: Vec<JsonPremise<'a>>,
    /// The steps of an execution that leads to the finding: a path or a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "JsonRun<'a>")]
    run: Option<JsonRun<'a>>,
}

/// A variable and its value.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Binding")]
struct JsonBinding<'a> {
    /// The variable, as it is written.
    variable: &'a str,
    /// Its value, dates as text; absent if it is not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a serde_json::Value>,
}

/// A premise of a proof.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Premise")]
struct JsonPremise<'a> {
    /// Its location; absent if it follows from the language itself.
    #[serde(flatten)]
    at: Option<JsonLocation<'a>>,
    /// What is true.
    message: &'a str,
}

/// A location and its text.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Location")]
struct JsonLocation<'a> {
    file: &'a str,
    range: JsonRange,
    /// The text in `range`, without secrets; of a long one the start.
    text: Cow<'a, str>,
}

/// Steps in the order in which they happen.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Run")]
struct JsonRun<'a> {
    /// The steps, each with its location and a description.
    steps: Vec<JsonLabel<'a>>,
    /// Whether the first step follows the last one.
    repeats: bool,
}

/// A range in a file: from `start` up to, but not including, `end`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Range")]
struct JsonRange {
    start: JsonPosition,
    end: JsonPosition,
}

/// A point between two characters.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Position")]
struct JsonPosition {
    /// The line, from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// The column, from 1, in characters (Unicode scalar values).
    #[schemars(range(min = 1))]
    column: u32,
    /// The offset from the start of the file, from 0, in bytes of UTF-8.
    offset: u32,
}

/// A span with a message.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Label")]
struct JsonLabel<'a> {
    file: &'a str,
    range: JsonRange,
    /// The message; may be empty.
    message: &'a str,
}

/// Edits that together fix a finding.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fix")]
struct JsonFix<'a> {
    /// What the fix does, as an imperative.
    title: &'a str,
    applicability: Applicability,
    /// The edits; they do not overlap.
    edits: Vec<JsonEdit<'a>>,
}

/// Replaces what is in `range` by `text`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Edit")]
struct JsonEdit<'a> {
    file: &'a str,
    /// What to replace; empty to insert.
    range: JsonRange,
    /// What to put there; empty to delete.
    text: &'a str,
}

/// The JSON Schema of the report.
#[must_use]
pub fn report_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<JsonReport<'_>>().to_value()
}

/// The findings, one behind the other, without what is around them. `first`: nothing stands before.
pub(crate) fn findings(
    report: &Report<'_>,
    mut first: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    for found in report.diagnostics {
        if !std::mem::take(&mut first) {
            out.write_all(b",")?;
        }
        write_json(&diagnostic(found, report.sources), out)?;
    }
    Ok(())
}

/// Writes a value without characters that a terminal or a log would take for a command.
fn write_json(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    out.write_all(escape_json(&serde_json::to_string(value)?).as_bytes())
}

/// The findings, one a line.
pub(crate) fn lines(report: &Report<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for found in report.diagnostics {
        write_json(&diagnostic(found, report.sources), out)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The whole report, of which the findings are written already. A test holds it against
/// [`JsonReport`]'s schema.
pub(crate) fn whole(
    summary: &Summary,
    findings: &mut dyn io::Read,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    write!(out, "{{\"version\":{VERSION},\"summary\":")?;
    serde_json::to_writer(&mut *out, summary)?;
    out.write_all(b",\"diagnostics\":[")?;
    io::copy(findings, out)?;
    out.write_all(b"]}\n")
}

fn diagnostic<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> JsonDiagnostic<'a> {
    let primary = Some(&diagnostic.primary).filter(|primary| !primary.message.is_empty());
    let labels = primary.into_iter().chain(&diagnostic.labels);
    JsonDiagnostic {
        rule: diagnostic.rule.0,
        severity: diagnostic.severity,
        confidence: diagnostic.confidence,
        message: &diagnostic.message,
        file: file_name(diagnostic.primary.span, sources),
        range: range(diagnostic.primary.span, sources),
        labels: labels.map(|of| label(of, sources)).collect(),
        help: diagnostic.help.as_deref(),
        note: diagnostic.note.as_deref(),
        fix: diagnostic.fixes.first().map(|of| fix(of, sources)),
        fixes: diagnostic.fixes.iter().map(|of| fix(of, sources)).collect(),
        tags: &diagnostic.tags,
        page: diagnostic.page.as_deref(),
        evidence: diagnostic.evidence.as_deref().map(|of| evidence(of, sources)),
    }
}

fn label<'a>(label: &'a Label, sources: &'a SourceMap) -> JsonLabel<'a> {
    JsonLabel {
        file: file_name(label.span, sources),
        range: range(label.span, sources),
        message: &label.message,
    }
}

fn fix<'a>(fix: &'a Fix, sources: &'a SourceMap) -> JsonFix<'a> {
    let edit = |edit: &'a Edit| JsonEdit {
        file: file_name(edit.span, sources),
        range: range(edit.span, sources),
        text: &edit.text,
    };
    JsonFix {
        title: &fix.title,
        applicability: fix.applicability,
        edits: fix.edits.iter().map(edit).collect(),
    }
}

fn evidence<'a>(evidence: &'a Evidence, sources: &'a SourceMap) -> JsonEvidence<'a> {
    let binding =
        |Binding { variable, value }: &'a Binding| JsonBinding { variable, value: value.as_ref() };
    let premise = |premise: &'a Premise| JsonPremise {
        at: premise.span.map(|span| JsonLocation {
            file: file_name(span, sources),
            range: range(span, sources),
            text: sources.get(span.file).map(|file| file.quoted(span.range())).unwrap_or_default(),
        }),
        message: &premise.message,
    };
    let run = |run: &'a Run| JsonRun {
        steps: run.steps.iter().map(|step| label(step, sources)).collect(),
        repeats: run.repeats,
    };
    JsonEvidence {
        state: evidence.state.iter().map(binding).collect(),
        core: evidence.core.iter().map(premise).collect(),
        run: evidence.run.as_ref().map(run),
    }
}

const fn is_empty(tags: &&[Tag]) -> bool {
    tags.is_empty()
}

fn file_name(span: Span, sources: &SourceMap) -> &str {
    sources.get(span.file).map_or("", |file| &file.name)
}

fn range(span: Span, sources: &SourceMap) -> JsonRange {
    let position = |offset: u32| {
        let at = sources.get(span.file).map(|file| file.line_column(offset));
        JsonPosition {
            line: at.map_or(1, |at| at.line),
            column: at.map_or(1, |at| at.column),
            offset,
        }
    };
    JsonRange { start: position(span.start), end: position(span.end) }
}
