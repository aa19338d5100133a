//! The changes between versions of a language, for the driver of migrations.

use agentir_diagnostics::{Diagnostic, Edit, FileId};
use agentir_expr::Version;
use serde_json::Value;

/// How documents of a language are brought into newer versions.
pub trait Migration: Sync {
    /// The rules whose findings are about forms of other versions.
    fn rules(&self) -> &'static [&'static str];

    /// Those of them whose fixes are part of the migration between two versions.
    fn fixing_rules(&self, from: Version, to: Version) -> Vec<&'static str>;

    /// What has to change in a document beside these fixes.
    fn changes(&self, document: &OldDocument<'_>) -> Changes;

    /// Whether a difference in the IR is what the migration between two versions is to change.
    fn explains(&self, from: Version, to: Version, difference: &Difference<'_>) -> bool;
}

/// A document under migration.
#[derive(Debug, Clone, Copy)]
pub struct OldDocument<'a> {
    /// Its file.
    pub file: FileId,
    /// Its text.
    pub text: &'a str,
    /// Whether it is a fragment of a document.
    pub fragment: bool,
    /// The version it is in.
    pub from: Version,
    /// The version it is brought into.
    pub to: Version,
    /// Whether it was not changed yet.
    pub is_first_round: bool,
}

/// The collected changes.
#[derive(Debug, Default)]
pub struct Changes {
    /// Edits; those of a group are applied together or not at all.
    pub groups: Vec<Vec<Edit>>,
    /// What an author has to decide.
    pub findings: Vec<Diagnostic>,
    /// New files extracted from the document.
    pub files: Vec<NewFile>,
}

/// A file extracted from a document, in the same notation.
#[derive(Debug)]
pub struct NewFile {
    /// The file name, relative to the folder `behavior_profiles` of the program.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A value that differs between two readings of a document.
#[derive(Debug)]
pub struct Difference<'r> {
    /// Its path in the IR.
    pub path: String,
    /// The first reading's value; null if absent.
    pub left: &'r Value,
    /// The second reading's value.
    pub right: &'r Value,
}
