//! A report that is written while the findings are still being made.

use super::shown::Shown;
use super::{Format, Summary, concise, json, text};
use crate::diagnostic::{Diagnostic, Severity};
use crate::source::SourceMap;
use std::io::{self, BufWriter, Read, Seek, Write};

/// How many bytes of findings are kept in memory where the format wants their number first.
const IN_MEMORY: usize = 8 << 20;

/// Writes findings as they come. What is written is the same as [`render`](super::render) writes of
/// all of them at once, and only little of it is in memory at a time.
pub struct Stream<'a> {
    format: Format,
    color: bool,
    // The standard output writes at every line's end, which is slow for thousands of findings.
    out: BufWriter<&'a mut dyn Write>,
    summary: Summary,
    /// Findings as JSON; how many there are stands before them.
    spool: BufWriter<tempfile::SpooledTempFile>,
}

impl<'a> Stream<'a> {
    /// A report to `out`; `color` is for formats that have any.
    pub fn new(format: Format, color: bool, out: &'a mut dyn Write) -> Self {
        Self {
            format,
            color,
            out: BufWriter::with_capacity(1 << 16, out),
            summary: Summary::default(),
            spool: BufWriter::new(tempfile::SpooledTempFile::new(IN_MEMORY)),
        }
    }

    /// Findings, in the order in which they are to be shown, and the files that they point into.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn add(&mut self, diagnostics: &[Diagnostic], sources: &SourceMap) -> io::Result<()> {
        if diagnostics.is_empty() {
            return Ok(());
        }
        let shown = Shown::part(diagnostics, sources);
        let report = shown.report(0);
        match self.format {
            Format::Text => text::findings(&report, self.color, &mut self.out)?,
            Format::Concise => concise::render(&report, self.color, &mut self.out)?,
            Format::Json => {
                let first = self.summary.findings() == 0;
                json::findings(&report, first, &mut self.spool)?;
            }
            Format::JsonLines => json::lines(&report, &mut self.out)?,
        }
        self.summary.add(&report.summary());
        Ok(())
    }

    /// Counts files that were looked at, with or without findings.
    pub fn checked(&mut self, files: usize) {
        self.summary.files += files;
    }

    /// How many of the findings so far are errors.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.summary.errors
    }

    /// Writes what has gone into the report so far, where the format allows it: for people who watch.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes what comes after all findings.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<Summary> {
        match self.format {
            Format::Text => text::summary(&self.summary, self.color, &mut self.out)?,
            Format::Concise | Format::JsonLines => {}
            Format::Json => {
                let mut spool = self.spool.into_inner().map_err(io::IntoInnerError::into_error)?;
                spool.rewind()?;
                json::whole(&self.summary, &mut spool as &mut dyn Read, &mut self.out)?;
            }
        }
        self.out.flush()?;
        Ok(self.summary)
    }
}

impl Summary {
    /// How many findings there are.
    #[must_use]
    pub const fn findings(&self) -> usize {
        self.errors + self.warnings + self.infos
    }

    /// Counts what another summary counted, too.
    pub fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.infos += other.infos;
    }

    /// Counts a finding.
    pub(super) fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => self.infos += 1,
        }
    }
}
