//! Statistics of a corpus of agents and its findings.
//!
//! A [`Corpus`] is a monoid: the statistics of one program and of a hundred thousand have the same
//! form, and two can be added in any order. So programs can be counted on many machines, and memory
//! is bounded by the lengths of its lists.
//!
//! *Invariant*: nothing here reads a file or prints. Values that depend on the machine, such as
//! durations, are in fields of their own.

mod count;
mod page;
mod table;

pub use count::Measured;
pub use page::html;
pub use table::text;

use agentir_diagnostics::{Severity, Summary};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The version of the format; changes when a field changes its meaning.
const CORPUS_VERSION: u32 = 1;

/// What is in a corpus and what was found in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "agentir corpus")]
pub struct Corpus {
    /// The version of this format.
    #[schemars(extend("const" = CORPUS_VERSION))]
    corpus_version: u32,
    /// How many rows the lists of the most affected and the slowest have at most.
    rows: usize,
    /// All of it.
    pub totals: Totals,
    /// By dialect.
    pub dialects: BTreeMap<String, DialectStats>,
    /// By rule.
    pub rules: BTreeMap<String, RuleStats>,
    /// The programs in which most was found: most errors first, then most warnings.
    pub most_affected: Vec<ProjectStats>,
    /// The files in which most was found, in the same order.
    pub most_affected_files: Vec<FileStats>,
    /// The programs that took longest to check, on the machine that checked them.
    pub slowest: Vec<ProjectStats>,
}

/// Counts of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Programs: projects, or files that stand alone.
    pub programs: u64,
    /// Programs in which nothing was found.
    pub clean: u64,
    /// Agents in them.
    pub agents: u64,
    /// Documents.
    pub files: u64,
    /// Bytes of the documents.
    pub bytes: u64,
    /// Findings.
    pub findings: FindingCounts,
}

/// Findings by level.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct FindingCounts {
    /// Of level error.
    pub errors: u64,
    /// Of level warning.
    pub warnings: u64,
    /// For information.
    pub infos: u64,
}

/// The programs of a dialect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DialectStats {
    /// Their counts.
    #[serde(flatten)]
    pub totals: Totals,
    /// What is written in them: elements of AgentIR, and places of the control-flow graph under
    /// the names that `agentir graph` has for them.
    pub constructs: BTreeMap<String, u64>,
}

/// What a rule found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RuleStats {
    /// How often.
    pub findings: u64,
    /// In how many files.
    pub files: u64,
    /// In how many programs.
    pub programs: u64,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectStats {
    /// Its folder, or its file.
    pub name: String,
    /// How many documents it has.
    pub files: u64,
    /// What was found in it.
    pub findings: FindingCounts,
    /// How long it took to read and to check it, in microseconds, when that was done.
    pub microseconds: u64,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileStats {
    /// Its path, as it was called on the command line.
    pub name: String,
    /// What was found in it.
    pub findings: FindingCounts,
}

/// The JSON Schema of a [`Corpus`].
#[must_use]
pub fn corpus_schema() -> serde_json::Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    generator.into_root_schema_for::<Corpus>().to_value()
}

impl Corpus {
    /// Nothing yet; lists will have at most `rows` rows.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        Self {
            corpus_version: CORPUS_VERSION,
            rows,
            totals: Totals::default(),
            dialects: BTreeMap::new(),
            rules: BTreeMap::new(),
            most_affected: Vec::new(),
            most_affected_files: Vec::new(),
            slowest: Vec::new(),
        }
    }

    /// Whether this was written by a version that means the same by it.
    #[must_use]
    pub const fn is_current(&self) -> bool {
        self.corpus_version == CORPUS_VERSION
    }

    /// How many rows lists have at most.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Adds what another one counted of other programs.
    pub fn add(&mut self, other: Self) {
        self.totals.add(&other.totals);
        for (name, theirs) in other.dialects {
            let ours = self.dialects.entry(name).or_default();
            ours.totals.add(&theirs.totals);
            for (construct, count) in theirs.constructs {
                *ours.constructs.entry(construct).or_default() += count;
            }
        }
        for (name, theirs) in other.rules {
            let ours = self.rules.entry(name).or_default();
            ours.findings += theirs.findings;
            ours.files += theirs.files;
            ours.programs += theirs.programs;
        }
        let rows = self.rows;
        let worst = |findings: &FindingCounts| Reverse(*findings);
        top(&mut self.most_affected, other.most_affected, rows, |p| {
            (worst(&p.findings), p.name.clone())
        });
        top(&mut self.most_affected_files, other.most_affected_files, rows, |f| {
            (worst(&f.findings), f.name.clone())
        });
        top(&mut self.slowest, other.slowest, rows, |p| (Reverse(p.microseconds), p.name.clone()));
    }
}

/// The first rows of both lists, in order.
fn top<T, K: Ord>(ours: &mut Vec<T>, theirs: Vec<T>, rows: usize, key: impl Fn(&T) -> K) {
    // Most programs do not get into a list that is full already.
    let full = ours.len() >= rows;
    let last = ours.last().map(&key).filter(|_| full);
    ours.extend(theirs.into_iter().filter(|row| last.as_ref().is_none_or(|last| key(row) < *last)));
    ours.sort_by_key(&key);
    ours.truncate(rows);
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.programs += other.programs;
        self.clean += other.clean;
        self.agents += other.agents;
        self.files += other.files;
        self.bytes += other.bytes;
        self.findings.add(other.findings);
    }
}

impl FindingCounts {
    fn add(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.infos += other.infos;
    }

    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
            Severity::Info => self.infos += 1,
        }
    }

    /// How many there are.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.errors + self.warnings + self.infos
    }
}

impl From<Summary> for FindingCounts {
    fn from(summary: Summary) -> Self {
        let [errors, warnings, infos] =
            [summary.errors, summary.warnings, summary.infos].map(|n| n as u64);
        Self { errors, warnings, infos }
    }
}
