//! Annotations of GitHub's workflows: commands on standard output.

use crate::{Findings, in_full};
use agentir_diagnostics::Severity;
use std::io::{self, Write};

pub(crate) fn write(findings: &Findings<'_>, out: &mut dyn Write) -> io::Result<()> {
    for finding in findings.report.diagnostics {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let place = findings.place(finding.primary.span);
        let (start, end) = (place.start, place.end);
        write!(
            out,
            "::{command} file={},line={},endLine={}",
            property(&place.file),
            start.line,
            end.line
        )?;
        // Columns are taken only where a finding stands on one line.
        if start.line == end.line {
            write!(out, ",col={},endColumn={}", start.column, end.column)?;
        }
        writeln!(
            out,
            ",title=agentir {}::{}",
            finding.rule.0,
            message(&in_full(finding, findings.report.sources))
        )?;
    }
    Ok(())
}

fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}
