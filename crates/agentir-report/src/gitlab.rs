//! GitLab's report of code quality: an array in the form of Code Climate's issues.

use crate::{Findings, in_full};
use agentir_diagnostics::{Severity, write_json_lines};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

pub(crate) fn write(
    findings: &Findings<'_>,
    prints: Vec<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let issues: Vec<Issue> = findings
        .report
        .diagnostics
        .iter()
        .zip(prints)
        .map(|(finding, fingerprint)| {
            let place = findings.place(finding.primary.span);
            Issue {
                description: in_full(finding, findings.report.sources),
                check_name: finding.rule.0,
                fingerprint,
                severity: match finding.severity {
                    Severity::Error => "major",
                    Severity::Warning => "minor",
                    Severity::Info => "info",
                },
                location: Location {
                    path: place.file,
                    lines: Lines { begin: place.start.line, end: place.end.line },
                },
            }
        })
        .collect();
    write_json_lines(&issues, out)
}
