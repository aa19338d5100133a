//! ADL's tables: agent types, their fields, the verbs of steps, and former spellings.
//!
//! The paper's grammar (Appendix A) defines the language. Where its implementation, MICA, accepts less or
//! more, the row says so; the reader reports the difference and follows the paper.

use agentir_diagnostics::closest;
use agentir_syntax::context::NameKind;

/// The types of agents (Appendix A, B.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentKind {
    /// Answers from documents and fixed answers (B.2).
    Kb,
    /// Follows a prompt (B.3).
    Llm,
    /// Follows steps (B.4).
    Flow,
    /// Routes to other agents (B.5).
    Ensemble,
}

impl AgentKind {
    /// All types.
    pub const ALL: [Self; 4] = [Self::Kb, Self::Llm, Self::Flow, Self::Ensemble];

    /// Their names.
    pub const NAMES: [&'static str; 4] =
        [Self::Kb.name(), Self::Llm.name(), Self::Flow.name(), Self::Ensemble.name()];

    /// The value of `type:`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kb => "kb agent",
            Self::Llm => "llm agent",
            Self::Flow => "flow agent",
            Self::Ensemble => "ensemble agent",
        }
    }

    /// The type called `name`, exactly.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }

    /// The type that was probably meant by `name`: `KB Agent`, `llm_agent`, `flow`.
    #[must_use]
    pub fn similar(name: &str) -> Option<Self> {
        let folded = name.trim().to_lowercase().replace(['_', '-'], " ");
        Self::from_name(&folded)
            .or_else(|| Self::from_name(&format!("{folded} agent")))
            .or_else(|| Self::from_name(closest(&folded, Self::ALL.map(Self::name))?))
    }
}

/// The shape of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// An agent type.
    Type,
    /// A text.
    Text,
    /// The prompt of an agent: a text without placeholders.
    Prompt,
    /// A list of names.
    Names,
    /// A list of files and URLs.
    Sources,
    /// A single file.
    File,
    /// Questions and answers.
    Faq,
    /// Steps.
    Steps,
    /// The agents of an ensemble, with bindings.
    Members,
    /// The name of an agent, or an instruction.
    Policy,
}

/// Whether an agent type has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Required.
    Required,
    /// Optional.
    Allowed,
    /// Defined by the paper, but MICA's validator rejects it or its loader crashes.
    PaperOnly,
    /// Known to MICA but not defined by the paper.
    MicaOnly,
    /// Unknown.
    Unknown,
}

/// A field of agents.
#[derive(Debug)]
pub struct FieldDef {
    /// Its key.
    pub name: &'static str,
    /// The shape of the value.
    pub field_type: FieldType,
    /// The standing in each type, in the order of [`AgentKind::ALL`].
    pub standing: [Standing; 4],
    /// Former or misspelt keys.
    pub former_names: &'static [&'static str],
    /// What the names in its value stand for.
    pub names: Option<NameKind>,
}

impl FieldDef {
    const fn names(mut self, kind: NameKind) -> Self {
        self.names = Some(kind);
        self
    }

    /// Whether the value is on the lines below the key.
    #[must_use]
    pub const fn is_nested(&self) -> bool {
        matches!(
            self.field_type,
            FieldType::Names
                | FieldType::Sources
                | FieldType::Faq
                | FieldType::Steps
                | FieldType::Members
        )
    }

    /// The standing of the field in an agent type.
    #[must_use]
    pub const fn of(&self, kind: AgentKind) -> Standing {
        let [kb, llm, flow, ensemble] = self.standing;
        match kind {
            AgentKind::Kb => kb,
            AgentKind::Llm => llm,
            AgentKind::Flow => flow,
            AgentKind::Ensemble => ensemble,
        }
    }
}

use Standing::{Allowed, MicaOnly, PaperOnly, Required, Unknown};

const fn field(name: &'static str, field_type: FieldType, standing: [Standing; 4]) -> FieldDef {
    FieldDef { name, field_type, standing, former_names: &[], names: None }
}

/// All fields of all types (Appendix A, B.1 to B.5).
pub static FIELDS: &[FieldDef] = &[
    //                                             kb         llm        flow       ensemble
    field("type", FieldType::Type, [Required, Required, Required, Required]),
    field("description", FieldType::Text, [Allowed, Allowed, Allowed, Allowed]),
    field("args", FieldType::Names, [PaperOnly, Allowed, Allowed, Allowed]),
    field("fallback", FieldType::Policy, [PaperOnly, PaperOnly, Allowed, Allowed])
        .names(NameKind::Agent),
    field("exit", FieldType::Policy, [PaperOnly, PaperOnly, PaperOnly, Allowed])
        .names(NameKind::Agent),
    field("sources", FieldType::Sources, [Allowed, Unknown, Unknown, Unknown]),
    field("web", FieldType::Sources, [MicaOnly, Unknown, Unknown, Unknown]),
    field("file", FieldType::File, [MicaOnly, Unknown, Unknown, Unknown]),
    field("faq", FieldType::Faq, [Allowed, Unknown, Unknown, Unknown]),
    field("prompt", FieldType::Prompt, [Unknown, Required, Unknown, PaperOnly]),
    field("uses", FieldType::Names, [Unknown, Allowed, Unknown, Unknown]).names(NameKind::Tool),
    field("steps", FieldType::Steps, [Unknown, Allowed, Required, Allowed]),
    FieldDef {
        name: "contains",
        field_type: FieldType::Members,
        standing: [Unknown, Unknown, Unknown, Required],
        former_names: &["contain"],
        names: Some(NameKind::Agent),
    },
];

/// The field with this key or former key.
#[must_use]
pub fn by_key(key: &str) -> Option<&'static FieldDef> {
    FIELDS.iter().find(|f| f.name == key || f.former_names.contains(&key))
}

/// The keys of an agent type.
pub fn keys(kind: AgentKind) -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(move |f| f.of(kind) != Unknown).map(|f| f.name)
}

/// The verbs of steps (Appendix A, `step`), in the order in which MICA looks for them: of two verbs in a
/// step, it executes the first and ignores the other.
pub static VERBS: &[&str] =
    &["bot", "set", "if", "else if", "else", "label", "next", "call", "return"];

/// The further keys of a step with this verb.
#[must_use]
pub fn companion_keys(verb: &str) -> &'static [&'static str] {
    match verb {
        "next" => &["tries"],
        "call" => &["args"],
        // Only MICA has `tries` on conditions.
        "if" | "else if" => &["then", "else", "tries"],
        _ => &[],
    }
}
