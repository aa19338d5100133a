//! What emitters are built from, and the trait that they implement.

mod called_tools;
mod choices;
mod data_files;
pub mod dialog;
mod legal;
mod names;
mod phrase;
mod rails;

pub use called_tools::declare_called_tools;
pub use choices::Choices;
pub use data_files::{
    DATA_FOLDERS, Rows, is_data_path, knowledge_of, knowledge_path, questions_from_csv,
    questions_to_csv, table_from_csv, table_of, table_path, table_to_csv,
};
pub use legal::with_legal_names;
pub use names::{NameSyntax, Namespace, Renamed};
pub use phrase::{
    ANSWER_TAIL, dotted_path, expr_phrase, is_message, is_user_message, literal, pattern_words,
    phrase, readable_words, sentence, string_literal, template_phrase,
};
pub use rails::{guardrail_sentence, with_full_stop, with_templates_written_out};

use agentir_expr::Dialect;
use agentir_ir::Program;
use schemars::JsonSchema;
use serde::Serialize;
use smol_str::SmolStr;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use unicase::UniCase;

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

    /// The emitter of the same form that gives flows to the model, where they only collect, call tools and answer: `None`
    /// if the language has no such choice.
    fn agentic(&self) -> Option<&'static dyn Emitter> {
        None
    }

    /// Whether all agents of the output share the tools, so that two of one name would be one.
    fn shares_tools(&self, program: &Program) -> bool;

    /// The file of the output with the functions that the tools are, if they are functions in code. A program of the same
    /// language has them already.
    fn code_file(&self) -> Option<&'static str>;

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
    /// What the output has only because the language asks for it.
    pub invented: Vec<Invented>,
    /// What somebody should know about how agents were written.
    pub remarks: Vec<Remark>,
    /// The agents whose flows were left to the model, by their names in the output.
    pub led_by_model: Vec<SmolStr>,
}

/// Something to know about how an agent was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// The agent, by its name in the output.
    pub agent: String,
    /// What became of it, and why.
    pub cause: String,
    /// What to do about it.
    pub help: String,
}

/// A part of the output that stands for something that the source does not say. The output does not work before somebody
/// has replaced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invented {
    /// Where it is.
    pub at: InventedAt,
    /// Why it does not work.
    pub cause: String,
    /// What to do.
    pub help: String,
    /// What to write; empty if `help` says it all.
    pub snippet: String,
}

/// Where an invented part of the output is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InventedAt {
    /// In the declarations of the tool of this name.
    Tool(String),
    /// Where this text is.
    Text(&'static str),
}

/// An output file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFile {
    /// The path in the output folder, with `/`.
    pub path: String,
    /// The text, with a newline at the end.
    pub text: String,
}

/// Names that Windows keeps for devices, whatever extension follows.
const DEVICES: [&str; 6] = ["aux", "con", "conin$", "conout$", "nul", "prn"];

/// The longest stem in bytes. File systems allow 255 for a name with its extensions, and a number may be added.
const MAX_STEM: usize = 200;

fn is_device(stem: &str) -> bool {
    let numbered = |port: &str| {
        let number = stem.strip_prefix(port).unwrap_or_default();
        matches!(
            number,
            "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
        )
    };
    DEVICES.contains(&stem) || numbered("com") || numbered("lpt")
}

/// Turns a name into a file stem that Windows, macOS and Linux allow: letters, digits, `_` and `-`, without case as Unicode
/// folds it (`straße` is `STRASSE`), never empty, of at most 200 bytes.
#[must_use]
pub fn file_stem(name: &str) -> String {
    let stem: String = UniCase::unicode(name)
        .to_folded_case()
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    let end = (0..=MAX_STEM.min(stem.len())).rev().find(|end| stem.is_char_boundary(*end));
    match stem.get(..end.unwrap_or_default()).unwrap_or_default() {
        "" => "agent".to_owned(),
        device if is_device(device) => format!("{device}_agent"),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod file_stems {
    use super::{MAX_STEM, file_stem};

    #[test]
    fn every_system_allows_them() {
        assert_eq!(file_stem("Order Desk/2"), "order_desk_2");
        assert_eq!(file_stem("Straße"), file_stem("STRASSE"));
        assert_eq!(file_stem("CON"), "con_agent");
        assert_eq!(file_stem("com1"), "com1_agent");
        assert_eq!(file_stem("LPT²"), "lpt²_agent");
        assert_eq!(file_stem("console"), "console");
        assert_eq!(file_stem(""), "agent");
        assert_eq!(file_stem("../.."), "_____");
        assert_eq!(file_stem(&"ü".repeat(400)).len(), MAX_STEM);
    }
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
    /// How much there is to do.
    pub task: Task,
    /// What to write, in the language of the output or of its platform; `{}` is the name of the tool or of another
    /// declaration. Empty if `help` says it all.
    pub snippet: &'static str,
    /// The row applies only to agents whose flows were left to the model, and to the program only if it has such agents.
    pub led_by_model: bool,
    /// Where the output has to say the value, as paths in its IR; empty if anywhere. What has the same words elsewhere does
    /// not stand for it.
    pub within: &'static [&'static str],
}

impl LossRule {
    /// The value is expressed in another form, which somebody should look at.
    #[must_use]
    pub const fn approximated(path: &'static str, how: &'static str, help: &'static str) -> Self {
        let (preservation, task) = (Preservation::Approximated, Task::Look);
        let (snippet, led_by_model, within) = ("", false, &[] as &[&str]);
        Self { path, preservation, how, help, task, snippet, led_by_model, within }
    }

    /// The value is missing, which somebody should look at.
    #[must_use]
    pub const fn dropped(path: &'static str, how: &'static str, help: &'static str) -> Self {
        Self { preservation: Preservation::Dropped, ..Self::approximated(path, how, help) }
    }

    /// The output does not work before somebody has done it.
    #[must_use]
    pub const fn must(self, snippet: &'static str) -> Self {
        Self { task: Task::Must, snippet, ..self }
    }

    /// Only for agents whose flows were left to the model.
    #[must_use]
    pub const fn where_led_by_model(self) -> Self {
        Self { led_by_model: true, ..self }
    }

    /// Only if the output says the value at one of these paths.
    #[must_use]
    pub const fn within(self, within: &'static [&'static str]) -> Self {
        Self { within, ..self }
    }

    /// Nobody misses the value.
    #[must_use]
    pub const fn unneeded(self) -> Self {
        Self { task: Task::Nothing, ..self }
    }
}

/// How much somebody who signs off a conversion has to do about something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Nothing: only the platform of the source needs it, for its editor, its database or its classifier. It is not part of the measure of what was preserved.
    Nothing,
    /// Look whether it matters.
    Look,
    /// The output does not do what the source does before it is done.
    Must,
}

impl Task {
    /// The heading of a list of such things.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Nothing => "Nothing to do",
            Self::Look => "Look at",
            Self::Must => "Must do",
        }
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Look => "look",
            Self::Must => "must",
        }
    }
}

/// A target of conversions: an emitter, compared by its name.
#[derive(Clone, Copy)]
pub struct Target(pub &'static dyn Emitter);

impl Target {
    /// The same target, which gives flows to the model where they only collect, call tools and answer; `None` if the
    /// language has no such choice.
    #[must_use]
    pub fn agentic(self) -> Option<Self> {
        self.0.agentic().map(Self)
    }
}

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
