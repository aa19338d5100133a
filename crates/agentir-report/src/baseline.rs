//! Findings that were there before: a project can adopt the tool without fixing everything first.

use crate::fingerprint::VERSION;
use crate::{Findings, fingerprints};
use agentir_diagnostics::{Shown, write_json_lines};
use agentir_secrets::mask;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Findings that are known and not reported: the file of `agentir check --baseline`. It names the finding
/// by what it is about and not by its line, so that it survives changes around it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "agentir baseline")]
pub struct Baseline {
    /// What the fingerprints are made from; others are not understood.
    #[schemars(extend("const" = VERSION))]
    fingerprints: String,
    /// The findings, by file, rule and fingerprint.
    findings: Vec<Known>,
}

/// A finding that is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The file, relative to the folder in which agentir is run.
    pub file: String,
    /// The rule.
    pub rule: String,
    /// What the finding is recognised by.
    pub fingerprint: String,
    /// The message, for readers of the file.
    pub message: String,
}

/// What became of a baseline in a run.
#[derive(Debug, Default)]
pub struct Compared {
    /// Whether each finding is known, in their order.
    pub known: Vec<bool>,
    /// What is known and was not found, in files that were looked at.
    pub gone: Vec<Known>,
}

/// Why a baseline cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is not JSON of this form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Its fingerprints are of another version.
    #[error(
        "its fingerprints have version `{0}`, and this program uses `{VERSION}`: create it again with `--write-baseline`"
    )]
    Version(String),
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// If it is not a baseline, or one with other fingerprints.
    pub fn read(text: &str) -> Result<Self, BaselineError> {
        let read: Self = serde_json::from_str(text)?;
        if read.fingerprints == VERSION {
            return Ok(read);
        }
        Err(BaselineError::Version(read.fingerprints))
    }

    /// All findings of a run.
    #[must_use]
    pub fn of(findings: &Findings<'_>) -> Self {
        let prints = fingerprints(&findings.report, findings.root);
        let shown = Shown::new(findings.report.diagnostics, findings.report.sources);
        let mut all: Vec<Known> = shown
            .report(0)
            .diagnostics
            .iter()
            .zip(prints)
            .map(|(finding, fingerprint)| Known {
                file: mask(&findings.place(finding.primary.span).file).into_owned(),
                rule: finding.rule.0.to_owned(),
                fingerprint,
                message: finding.message.clone(),
            })
            .collect();
        all.sort();
        Self { fingerprints: VERSION.to_owned(), findings: all }
    }

    /// Adds the findings of a run, those that it has already but once.
    pub fn add(&mut self, findings: &Findings<'_>) {
        self.findings.extend(Self::of(findings).findings);
        self.findings.sort();
        self.findings.dedup();
    }

    /// How many findings are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Its text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = Vec::new();
        // Writing to memory does not fail.
        let _ = write_json_lines(self, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Holds it against the findings of a run.
    #[must_use]
    pub fn compare(&self, findings: &Findings<'_>) -> Compared {
        let prints = fingerprints(&findings.report, findings.root);
        let mut open: HashMap<&str, &Known> =
            self.findings.iter().map(|known| (known.fingerprint.as_str(), known)).collect();
        let known = prints.iter().map(|print| open.remove(print.as_str()).is_some()).collect();
        let looked: HashSet<String> = findings
            .report
            .sources
            .iter()
            .map(|(_, file)| mask(&crate::relative(&file.name, findings.root)).into_owned())
            .collect();
        let mut gone: Vec<Known> =
            open.into_values().filter(|known| looked.contains(&known.file)).cloned().collect();
        gone.sort();
        Compared { known, gone }
    }
}

/// The JSON Schema of [`Baseline`].
#[must_use]
pub fn baseline_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    generator.into_root_schema_for::<Baseline>().to_value()
}
