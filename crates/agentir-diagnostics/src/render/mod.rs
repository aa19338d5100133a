//! What prints findings: for people, for line-based tools, and for programs.

pub(crate) mod clean;
mod concise;
pub(crate) mod excerpt;
pub(crate) mod json;
pub(crate) mod merge;
mod paint;
mod picture;
pub(crate) mod shown;
pub(crate) mod stream;
mod text;

use crate::diagnostic::Diagnostic;
use crate::source::SourceMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use stream::Stream;

/// The findings of one run, and what it takes to print them.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The files the findings point into.
    pub sources: &'a SourceMap,
    /// The findings, printed in this order; see [`sort`].
    pub diagnostics: &'a [Diagnostic],
    /// How many files were looked at, with or without findings.
    pub files_checked: usize,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// With an excerpt of the source, for people, and a summary.
    #[default]
    Text,
    /// One line each: `path:line:column: error[rule]: message (help)`.
    Concise,
    /// One JSON object; [`report_schema`](crate::report_schema) describes it.
    Json,
    /// The findings of the JSON report, one a line, and no summary.
    JsonLines,
}

/// How many findings there are of each level, and in how many files they were looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// How many files were checked.
    pub files: usize,
    /// How many findings are errors.
    pub errors: usize,
    /// How many findings are warnings.
    pub warnings: usize,
    /// How many findings are for information only.
    pub infos: usize,
}

/// As a sentence: `Found 3 errors and 2 warnings in 14 files`.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.files == 0 && self.errors + self.warnings + self.infos == 0 {
            return f.write_str("No files were checked: none here is an agent");
        }
        let count = |n: usize, what: &str| match n {
            1 => format!("1 {what}"),
            n => format!("{n} {what}s"),
        };
        let found: Vec<_> =
            [(self.errors, "error"), (self.warnings, "warning"), (self.infos, "info")]
                .into_iter()
                .filter(|&(n, _)| n > 0)
                .map(|(n, what)| count(n, what))
                .collect();
        match found.split_last() {
            None => f.write_str("No findings")?,
            Some((last, [])) => write!(f, "Found {last}")?,
            Some((last, others)) => write!(f, "Found {} and {last}", others.join(", "))?,
        }
        write!(f, " in {}", count(self.files, "file"))
    }
}

impl Report<'_> {
    /// Counts the findings by level.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { files: self.files_checked, ..Summary::default() };
        for diagnostic in self.diagnostics {
            summary.count(diagnostic.severity);
        }
        summary
    }
}

/// Sorts findings by file name, position and rule, so that the order depends neither on that in
/// which files were read nor on that in which rules ran.
pub fn sort(diagnostics: &mut [Diagnostic], sources: &SourceMap) {
    fn key<'a>(d: &'a Diagnostic, sources: &'a SourceMap) -> impl Ord + 'a {
        let span = d.primary.span;
        let name = sources.get(span.file).map_or("", |file| &file.name);
        (name, span.file, span.start, span.end, d.rule, d.severity, d.message.as_str())
    }
    diagnostics.sort_by(|a, b| key(a, sources).cmp(&key(b, sources)));
}

/// Writes the report. Colours are terminal escapes; only [`Format::Text`] and [`Format::Concise`]
/// have any.
///
/// # Errors
///
/// When `out` cannot be written to.
pub fn render(
    report: &Report<'_>,
    format: Format,
    color: bool,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut stream = Stream::new(format, color, out);
    stream.add(report.diagnostics, report.sources)?;
    stream.checked(report.files_checked);
    stream.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn summaries_are_sentences() {
        let say =
            |errors, warnings, infos, files| Summary { files, errors, warnings, infos }.to_string();
        assert_eq!(say(0, 0, 0, 14), "No findings in 14 files");
        assert_eq!(say(0, 0, 0, 1), "No findings in 1 file");
        assert_eq!(say(0, 0, 0, 0), "No files were checked: none here is an agent");
        assert_eq!(say(3, 2, 0, 14), "Found 3 errors and 2 warnings in 14 files");
        assert_eq!(say(1, 0, 0, 1), "Found 1 error in 1 file");
        assert_eq!(say(0, 1, 1, 2), "Found 1 warning and 1 info in 2 files");
        assert_eq!(say(1, 2, 3, 4), "Found 1 error, 2 warnings and 3 infos in 4 files");
    }
}
