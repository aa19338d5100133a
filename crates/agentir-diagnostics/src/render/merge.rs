//! Reports of parts of the work, put together.

use super::Summary;
use super::clean::escape_json;
use super::json::{VERSION, whole};
use crate::diagnostic::Severity;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::io::{self, Write};

/// A report, as far as it has to be understood to be merged. Values keep the order of their fields, so
/// findings are written as they were.
#[derive(Deserialize)]
struct Part {
    version: u32,
    summary: Summary,
    diagnostics: Vec<Value>,
}

/// What decides the order of findings, as in [`sort`](super::sort).
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: String,
    range: Range,
    rule: String,
    severity: Severity,
    message: String,
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    start: Position,
    end: Position,
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    offset: u32,
}

/// Why reports cannot be merged.
#[derive(Debug)]
pub enum MergeError {
    /// The report of this index is none.
    NoReport(usize, serde_json::Error),
    /// The report of this index is of another version.
    Version(usize, u32),
    /// The result could not be written.
    Io(io::Error),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReport(_, error) => write!(
                f,
                "this is not a report of `agentir check --format json`: {error}; was the run that wrote it \
                 interrupted?"
            ),
            Self::Version(_, version) => write!(
                f,
                "this report is of version {version}, and only those of version {VERSION} can be merged: \
                 make all of them with the same agentir"
            ),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MergeError {}

impl From<io::Error> for MergeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Puts reports in JSON together. If they are those of all shards of a run, the result is, byte by
/// byte, the report of that run without shards. `show` makes of a finding what may be shown of it: a report may be by
/// anybody.
///
/// # Errors
/// When one of them is not a report, or the result cannot be written.
pub fn merge(
    reports: &[String],
    show: &dyn Fn(&mut Value),
    out: &mut dyn Write,
) -> Result<Summary, MergeError> {
    let mut summary = Summary::default();
    let mut all: Vec<(Place, Value)> = Vec::new();
    for (index, text) in reports.iter().enumerate() {
        let no_report = |error| MergeError::NoReport(index, error);
        let part: Part = serde_json::from_str(text).map_err(no_report)?;
        if part.version != VERSION {
            return Err(MergeError::Version(index, part.version));
        }
        summary.add(&part.summary);
        for finding in part.diagnostics {
            all.push((Place::deserialize(&finding).map_err(no_report)?, finding));
        }
    }
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut findings = Vec::new();
    for (_, mut finding) in all {
        show(&mut finding);
        if !findings.is_empty() {
            findings.push(b',');
        }
        let text = serde_json::to_string(&finding).map_err(io::Error::from)?;
        findings.extend_from_slice(escape_json(&text).as_bytes());
    }
    whole(&summary, &mut findings.as_slice(), out)?;
    out.flush()?;
    Ok(summary)
}
