//! ADL's tables: the types of agents, their fields, the verbs of steps, and older spellings.
//!
//! The paper's grammar (Appendix A) says what the language is. Where its implementation, MICA, takes
//! less or more, the row says so; the reader reports the difference and goes by the paper.

use agentir_diagnostics::closest;

/// The types of agents (Appendix A, B.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentKind {
    /// Answers from documents and frequently asked questions (B.2).
    Kb,
    /// Works by a prompt (B.3).
    Llm,
    /// Works by steps (B.4).
    Flow,
    /// Chooses among agents (B.5).
    Ensemble,
}

impl AgentKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Kb, Self::Llm, Self::Flow, Self::Ensemble];

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

    /// The type that somebody probably meant by `name`: `KB Agent`, `llm_agent`, `flow`.
    #[must_use]
    pub fn near(name: &str) -> Option<Self> {
        let folded = name.trim().to_lowercase().replace(['_', '-'], " ");
        Self::from_name(&folded)
            .or_else(|| Self::from_name(&format!("{folded} agent")))
            .or_else(|| Self::from_name(closest(&folded, Self::ALL.map(Self::name))?))
    }
}

/// The form of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One of the types of agents.
    Type,
    /// A text.
    Text,
    /// The prompt of an agent: a text that is not filled in.
    Prompt,
    /// A list of names.
    Names,
    /// A list of files and addresses.
    Sources,
    /// A single file.
    File,
    /// Questions and answers.
    Faq,
    /// Steps.
    Steps,
    /// The agents of an ensemble, with bindings.
    Members,
    /// The name of an agent, or a policy in words.
    Policy,
}

/// What an agent type says of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Must be there.
    Required,
    /// May be there.
    Allowed,
    /// The paper has it; MICA's validator rejects the file, or its loader crashes.
    PaperOnly,
    /// MICA has it; the paper does not.
    MicaOnly,
    /// Does not exist.
    Unknown,
}

/// A field of agents.
#[derive(Debug)]
pub struct FieldDef {
    /// Its key.
    pub name: &'static str,
    /// The form of its value.
    pub shape: Shape,
    /// What each type says of it, in the order of [`AgentKind::ALL`].
    pub standing: [Standing; 4],
    /// Former or mistaken keys.
    pub formerly: &'static [&'static str],
}

impl FieldDef {
    /// What agents of a type say of the field.
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

const fn field(name: &'static str, shape: Shape, standing: [Standing; 4]) -> FieldDef {
    FieldDef { name, shape, standing, formerly: &[] }
}

/// All fields of all types (Appendix A, B.1 to B.5).
pub static FIELDS: &[FieldDef] = &[
    //                                             kb         llm        flow       ensemble
    field("type", Shape::Type, [Required, Required, Required, Required]),
    field("description", Shape::Text, [Allowed, Allowed, Allowed, Allowed]),
    field("args", Shape::Names, [PaperOnly, Allowed, Allowed, Allowed]),
    field("fallback", Shape::Policy, [PaperOnly, PaperOnly, Allowed, Allowed]),
    field("exit", Shape::Policy, [PaperOnly, PaperOnly, PaperOnly, Allowed]),
    field("sources", Shape::Sources, [Allowed, Unknown, Unknown, Unknown]),
    field("web", Shape::Sources, [MicaOnly, Unknown, Unknown, Unknown]),
    field("file", Shape::File, [MicaOnly, Unknown, Unknown, Unknown]),
    field("faq", Shape::Faq, [Allowed, Unknown, Unknown, Unknown]),
    field("prompt", Shape::Prompt, [Unknown, Required, Unknown, PaperOnly]),
    field("uses", Shape::Names, [Unknown, Allowed, Unknown, Unknown]),
    field("steps", Shape::Steps, [Unknown, Allowed, Required, Allowed]),
    FieldDef {
        name: "contains",
        shape: Shape::Members,
        standing: [Unknown, Unknown, Unknown, Required],
        formerly: &["contain"],
    },
];

/// The field called `key`, or formerly called so.
#[must_use]
pub fn by_key(key: &str) -> Option<&'static FieldDef> {
    FIELDS.iter().find(|f| f.name == key || f.formerly.contains(&key))
}

/// The keys that agents of a type may have.
pub fn keys(kind: AgentKind) -> impl Iterator<Item = &'static str> {
    FIELDS.iter().filter(move |f| f.of(kind) != Unknown).map(|f| f.name)
}

/// The verbs of steps (Appendix A, `step`), in the order in which MICA looks for them: of a step with
/// two verbs it takes the first of these and forgets the other.
pub static VERBS: &[&str] =
    &["bot", "set", "if", "else if", "else", "label", "next", "call", "return"];

/// The keys that stand beside a verb.
#[must_use]
pub fn beside(verb: &str) -> &'static [&'static str] {
    match verb {
        "next" => &["tries"],
        "call" => &["args"],
        // `tries` on conditions is MICA's.
        "if" | "else if" => &["then", "else", "tries"],
        _ => &[],
    }
}
