//! What an agent remembers, for how long, and when it is brought back.

use crate::data::{Data, Extensions, Number};
use crate::gather::MaskConfig;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// Everything an agent keeps.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Memory {
    /// For this conversation.
    pub session: Vec<SessionVariable>,
    /// For longer.
    pub persistent: Vec<PersistentPath>,
    /// What is written to the longer-lived memory, and when.
    pub remember: Vec<Remember>,
    /// What is brought back, and when.
    pub recall: Vec<Recall>,
    /// Variables that a supervisor shares with its agents, with their namespaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<StateVariable>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A variable of the conversation.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SessionVariable {
    /// Its name.
    pub name: Spanned<Name>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Option<TypeExpr>,
    /// What it holds.
    pub description: Option<Template>,
    /// What it holds at first.
    pub initial_value: Option<Data>,
    /// When it is set back: `per_session`, `per_activation`, `per_step`, `never`.
    pub reset: Option<&'static str>,
    /// Who sees it: `program` for all agents of the program; this agent alone if absent.
    pub scope: Option<&'static str>,
    /// Who may write it: `mutable` for the agents, `linked` for the platform alone.
    pub mutability: Option<&'static str>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl SessionVariable {
    /// A variable of which only the name is known.
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

/// A path of the longer-lived memory.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PersistentPath {
    /// The path, dotted.
    pub path: Spanned<Name>,
    /// Whose memory it is: `user`, `project`, `execution_tree`.
    pub scope: &'static str,
    /// `read`, `write`, `readwrite`.
    pub access: &'static str,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Option<TypeExpr>,
    /// Its unit.
    pub unit: Option<SmolStr>,
    /// What it holds if nothing was stored.
    pub default_value: Option<Data>,
    /// Personal or regulated.
    pub sensitive: Option<bool>,
    /// How it is shown.
    pub sensitive_display: Option<&'static str>,
    /// How it is masked.
    pub mask_config: Option<MaskConfig>,
    /// What it holds.
    pub description: Option<Template>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl PersistentPath {
    /// Whose memory a path is in, by its first word, where nobody says.
    #[must_use]
    pub fn scope_of(path: &str) -> &'static str {
        match path.split('.').next() {
            Some("project") => "project",
            Some("workflow" | "execution") => "execution_tree",
            _ => "user",
        }
    }

    /// A path of which only its scope and who may use it are known.
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

/// When something is stored.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Remember {
    /// The condition.
    pub when: Option<Condition>,
    /// What goes where.
    pub store: Option<StoredValue>,
    /// How long it is kept.
    pub ttl: Option<Spanned<SmolStr>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// A value on its way into memory.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StoredValue {
    /// The value.
    pub value: Option<Expr>,
    /// The path.
    pub target: Option<Spanned<Name>>,
    /// `overwrite`, `set`, `append`.
    pub operation: Option<&'static str>,
    /// Whether a value is kept once only.
    pub unique: Option<bool>,
    /// How many values are kept.
    #[serde(rename = "maxSize")]
    pub max_size: Option<Number>,
}

/// When something is brought back.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Recall {
    /// The event: `session:start`, `tool:<name>:after`, …
    pub event: Spanned<SmolStr>,
    /// What to do with it, in words.
    pub instruction: Option<Template>,
    /// What is done.
    pub action: Option<RecallAction>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// What is done at a recall event.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RecallAction {
    /// Values are put into the context.
    InjectContext {
        /// Their paths.
        paths: Vec<Spanned<Name>>,
    },
    /// A domain of memory is loaded.
    LoadMemory {
        /// Which.
        #[serde(skip_serializing_if = "Option::is_none")]
        domain: Option<SmolStr>,
    },
    /// The model gets an instruction.
    PromptLlm {
        /// Which.
        instruction: Template,
    },
}

/// A variable of a supervisor's state.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StateVariable {
    /// Its name, with its namespace: `session.tier`.
    pub name: Spanned<Name>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Option<TypeExpr>,
    /// Whether it must have a value.
    pub required: Option<bool>,
    /// Its value at first.
    pub default: Option<Data>,
    /// What it holds.
    pub description: Option<Template>,
    /// Where its value comes from: `system`, `user`, `agent`, `computed`.
    pub source: Option<&'static str>,
    /// The agents that may change it.
    #[serde(rename = "updatedBy", skip_serializing_if = "Vec::is_empty")]
    pub updated_by: Vec<Spanned<Name>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}
