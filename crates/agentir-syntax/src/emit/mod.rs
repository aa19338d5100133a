//! What emitters are built from, and the trait that they implement.

mod legal;
mod names;
mod phrase;

pub use legal::with_legal_names;
pub use names::{NameSyntax, Namespace, Renamed};
pub use phrase::{
    dotted_path, expr_phrase, is_user_message, literal, phrase, readable_words, sentence,
    string_literal, template_phrase,
};

use agentir_expr::Dialect;
use agentir_ir::Program;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// Writes programs in one form of a language. Emitters do not track losses: those are measured by reading the
/// output back.
pub trait Emitter: Sync {
    /// The name on the command line.
    fn name(&self) -> &'static str;

    /// The name in prose.
    fn title(&self) -> &'static str;

    /// What the command line says of it.
    fn summary(&self) -> &'static str;

    /// The dialect whose semantics the expressions of the output have.
    fn dialect(&self) -> Dialect;

    /// Writes a program.
    fn emit(&self, program: &Program) -> Emitted;

    /// How the language expresses what it has no direct construct for: most specific rows first.
    fn losses(&self) -> &'static [&'static [LossRule]];
}

/// The output of an emitter.
#[derive(Debug, Default)]
pub struct Emitted {
    /// The files, by path in the output folder.
    pub files: Vec<OutputFile>,
    /// Renamings in the output.
    pub renamed: Vec<Renamed>,
}

/// An output file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The path in the output folder, with `/`.
    pub path: String,
    /// The text, with a newline at the end.
    pub text: String,
}

/// Turns a name into a file stem: letters, digits, `_` and `-`, in lower case, never empty.
#[must_use]
pub fn file_stem(name: &str) -> String {
    let stem: String = name
        .to_lowercase()
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    if stem.is_empty() { "agent".to_owned() } else { stem }
}

/// How well a value was preserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preservation {
    /// The output has the same value.
    Kept,
    /// The output expresses it differently, or approximately.
    Approximated,
    /// The output does not have it.
    Dropped,
}

impl Preservation {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Approximated => "approximated",
            Self::Dropped => "dropped",
        }
    }
}

/// A row of a target's loss table: how the target expresses a part of the IR that it has no direct
/// construct for, or why it cannot.
#[derive(Debug, Clone, Copy)]
pub struct LossRule {
    /// The paths it applies to, in the IR of an agent (`gather.fields.*.validation.**`) or of the program
    /// (`/entry`, `/tools.**`). `*` matches one segment, `**` any number.
    pub path: &'static str,
    /// Whether matching values are approximated or dropped.
    pub preservation: Preservation,
    /// How the value is expressed, or why it is not.
    pub how: &'static str,
    /// What can be done by hand; empty if nothing needs to be done.
    pub help: &'static str,
}

/// A target of conversions: an emitter, compared by its name.
#[derive(Clone, Copy)]
pub struct Target(pub &'static dyn Emitter);

impl Deref for Target {
    type Target = dyn Emitter;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Target {}

impl PartialOrd for Target {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Target {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl Hash for Target {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
