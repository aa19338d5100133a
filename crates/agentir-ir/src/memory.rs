//! Variables, persistent memory, and its rules.

use crate::data::{Data, Extensions, Number};
use crate::gather::MaskConfig;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};
use smol_str::SmolStr;

/// The variables and the memory of an agent.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// Variables of the conversation.
    pub session: Vec<SessionVariable>,
    /// Paths of the persistent memory.
    pub persistent: Vec<PersistentPath>,
    /// Rules that write to the persistent memory.
    pub remember: Vec<Remember>,
    /// Rules that load from the persistent memory.
    pub recall: Vec<Recall>,
    /// Variables that a supervisor shares with its agents, with their namespaces.
    pub state: Vec<StateVariable>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A variable of the conversation.
#[derive(Clone, Debug)]
pub struct SessionVariable {
    /// The name.
    pub name: Spanned<Name>,
    /// The type.
    pub ty: Option<TypeExpr>,
    /// What it holds.
    pub description: Option<Template>,
    /// The initial value.
    pub initial_value: Option<Data>,
    /// When it is reset: `per_session`, `per_activation`, `per_step`, `never`.
    pub reset: Option<&'static str>,
    /// The visibility: `program` for all agents of the program; this agent alone if absent.
    pub scope: Option<&'static str>,
    /// Who may write it: `mutable` for the agents, `linked` for the platform alone.
    pub mutability: Option<&'static str>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl SessionVariable {
    /// A variable with default values apart from its name.
    #[must_use]
    pub fn new(name: Spanned<Name>) -> Self {
        Self {
            span: name.span,
            name,
            ty: None,
            description: None,
            initial_value: None,
            reset: None,
            scope: None,
            mutability: None,
            extensions: Extensions::default(),
        }
    }
}

/// A path of the persistent memory.
#[derive(Clone, Debug)]
pub struct PersistentPath {
    /// The dotted path.
    pub path: Spanned<Name>,
    /// The owner of the memory: `user`, `project`, `execution_tree`.
    pub scope: &'static str,
    /// `read`, `write`, `readwrite`.
    pub access: &'static str,
    /// The type.
    pub ty: Option<TypeExpr>,
    /// The unit.
    pub unit: Option<SmolStr>,
    /// The value if none is stored.
    pub default_value: Option<Data>,
    /// Whether values are personal or regulated data.
    pub sensitive: Option<bool>,
    /// How sensitive values are shown.
    pub sensitive_display: Option<&'static str>,
    /// How sensitive values are masked.
    pub mask_config: Option<MaskConfig>,
    /// A description.
    pub description: Option<Template>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl PersistentPath {
    /// The scope of a path, by its first segment, where none is declared.
    #[must_use]
    pub fn scope_of(path: &str) -> &'static str {
        match path.split('.').next() {
            Some("project") => "project",
            Some("workflow" | "execution") => "execution_tree",
            _ => "user",
        }
    }

    /// A path with default values apart from its scope and access.
    #[must_use]
    pub fn new(path: Spanned<Name>, scope: &'static str, access: &'static str) -> Self {
        Self {
            span: path.span,
            path,
            scope,
            access,
            ty: None,
            unit: None,
            default_value: None,
            sensitive: None,
            sensitive_display: None,
            mask_config: None,
            description: None,
            extensions: Extensions::default(),
        }
    }
}

/// A rule that stores a value.
#[derive(Clone, Debug)]
pub struct Remember {
    /// The condition.
    pub when: Option<Condition>,
    /// The value and its target.
    pub store: Option<StoredValue>,
    /// How long the value is kept.
    pub ttl: Option<Spanned<SmolStr>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A value to store in memory.
#[derive(Clone, Debug)]
pub struct StoredValue {
    /// The value.
    pub value: Option<Expr>,
    /// The path.
    pub target: Option<Spanned<Name>>,
    /// `overwrite`, `set`, `append`.
    pub operation: Option<&'static str>,
    /// Whether duplicates are dropped.
    pub unique: Option<bool>,
    /// The maximum number of values.
    pub max_size: Option<Number>,
}

/// A rule that loads memory.
#[derive(Clone, Debug)]
pub struct Recall {
    /// The event: `session:start`, `tool:<name>:after`, …
    pub event: Spanned<SmolStr>,
    /// An instruction to the model about the data.
    pub instruction: Option<Template>,
    /// The action.
    pub action: Option<RecallAction>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// The action of a recall rule.
#[derive(Clone, Debug)]
pub enum RecallAction {
    /// Adds values to the context.
    InjectContext {
        /// The paths of the values.
        paths: Vec<Spanned<Name>>,
    },
    /// Loads a memory domain.
    LoadMemory {
        /// The domain.
        domain: Option<SmolStr>,
    },
    /// Gives the model an instruction.
    PromptLlm {
        /// The instruction.
        instruction: Template,
    },
}

/// A variable of a supervisor's state.
#[derive(Clone, Debug)]
pub struct StateVariable {
    /// The name, with its namespace: `session.tier`.
    pub name: Spanned<Name>,
    /// The type.
    pub ty: Option<TypeExpr>,
    /// Whether it must have a value.
    pub required: Option<bool>,
    /// The initial value.
    pub default: Option<Data>,
    /// A description.
    pub description: Option<Template>,
    /// The origin of the value: `system`, `user`, `agent`, `computed`.
    pub source: Option<&'static str>,
    /// The agents that may change it.
    pub updated_by: Vec<Spanned<Name>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}
