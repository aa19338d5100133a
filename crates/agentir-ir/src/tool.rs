//! Tools: what can be called, with what, and where it runs.

use crate::data::{Data, Extensions, NumberOrText};
use crate::gather::Validation;
use crate::statement::{Body, SetVariable};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// A tool.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tool {
    /// Its name.
    pub name: Spanned<Name>,
    /// What it does, for the model.
    pub description: Option<Template>,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it gives.
    pub returns: Option<ReturnType>,
    /// What the platform should know about it.
    pub hints: ToolHints,
    /// Where it runs.
    pub tool_type: Option<ToolType>,
    /// How it is reached.
    pub binding: Option<Binding>,
    /// Whether the result is kept.
    pub store_result: Option<bool>,
    /// What is set from the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_result: Vec<SetVariable>,
    /// What is set after a failure.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub on_error: Vec<SetVariable>,
    /// What it may read and write of the conversation.
    pub context_access: Option<ContextAccess>,
    /// When the user must agree first.
    pub confirmation: Option<Confirmation>,
    /// Whether it may see personal data.
    pub pii_access: Option<Data>,
    /// How a long result is made short.
    pub compaction: Option<Data>,
    /// The credentials it uses.
    pub auth_profile_ref: Option<Spanned<SmolStr>>,
    /// `per_user` or `shared`.
    pub connection_mode: Option<&'static str>,
    /// `preflight` or `inline`.
    pub consent_mode: Option<&'static str>,
    /// Whether the user logs in when it is first called.
    pub jit_auth: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Tool {
    /// Where it is written that the user must agree before each call; nothing if nobody asks them (ABL,
    /// current specification, 3.5: what is not said is not asked).
    #[must_use]
    pub fn asks_first(&self) -> Option<Span> {
        let require = self.confirmation.as_ref()?.require.as_ref()?;
        let asks = match require.value {
            "always" => true,
            // Whether it changes something is what its author says; who asks thinks it may.
            "when_side_effects" => self.hints.side_effects != Some(false),
            _ => false,
        };
        asks.then_some(require.span)
    }

    /// A tool of which only the name is known.
    #[must_use]
    pub fn new(name: Spanned<Name>) -> Self {
        Self {
            span: name.span,
            name,
            description: None,
            parameters: Vec::new(),
            returns: None,
            hints: ToolHints::default(),
            tool_type: None,
            binding: None,
            store_result: None,
            on_result: Vec::new(),
            on_error: Vec::new(),
            context_access: None,
            confirmation: None,
            pii_access: None,
            compaction: None,
            auth_profile_ref: None,
            connection_mode: None,
            consent_mode: None,
            jit_auth: None,
            extensions: Extensions::default(),
        }
    }
}

/// A parameter of a tool.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Parameter {
    /// Its name.
    pub name: Spanned<Name>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Option<TypeExpr>,
    /// What it is.
    pub description: Option<Template>,
    /// Whether a call must give it.
    pub required: bool,
    /// Its value if a call does not.
    pub default: Option<Data>,
    /// The values it takes.
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Template>,
    /// How a value is checked.
    pub validation: Option<Validation>,
    /// Who fills it: `model`, `system`, `runtime`, `config`, `auth`, `expr`, `lookup`.
    pub source: Option<&'static str>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Parameter {
    /// A required parameter of which only the name and perhaps the type are known.
    #[must_use]
    pub fn new(name: Spanned<Name>, ty: Option<TypeExpr>) -> Self {
        Self {
            span: name.span,
            name,
            ty,
            description: None,
            required: true,
            default: None,
            values: Vec::new(),
            validation: None,
            source: None,
            extensions: Extensions::default(),
        }
    }
}

/// What a tool gives.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReturnType {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: TypeExpr,
    /// Its fields, if it is an object of known form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<ReturnField>,
}

/// A field of what a tool gives.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReturnField {
    /// Its name.
    pub name: Spanned<Name>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: TypeExpr,
    /// Whether it may be absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

impl ReturnType {
    /// The return type `ty`.
    #[must_use]
    pub fn new(ty: TypeExpr) -> Self {
        let fields = match &ty.kind {
            agentir_expr::TypeKind::Object(fields) => fields
                .iter()
                .map(|f| ReturnField {
                    name: f.name.clone(),
                    ty: f.ty.clone(),
                    optional: f.optional,
                })
                .collect(),
            _ => Vec::new(),
        };
        Self { ty, fields }
    }
}

/// What the platform should know about a tool.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ToolHints {
    /// Whether the same call gives the same result.
    pub cacheable: Option<bool>,
    /// `fast`, `medium`, `slow`.
    pub latency: Option<&'static str>,
    /// Whether it may run beside others.
    pub parallelizable: Option<bool>,
    /// Whether it changes something in the world.
    pub side_effects: Option<bool>,
    /// Whether it needs a login.
    pub requires_auth: Option<bool>,
    /// How long it may take.
    pub timeout: Option<NumberOrText>,
}

/// Where a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the platform's tool types")]
pub enum ToolType {
    Http,
    Mcp,
    Sandbox,
    Lambda,
    Connector,
    Workflow,
    Searchai,
    AsyncWebhook,
    Table,
}

impl ToolType {
    /// The type called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "http" => Self::Http,
            "mcp" => Self::Mcp,
            "sandbox" => Self::Sandbox,
            "lambda" => Self::Lambda,
            "connector" => Self::Connector,
            "workflow" => Self::Workflow,
            "searchai" => Self::Searchai,
            "async_webhook" => Self::AsyncWebhook,
            "table" => Self::Table,
            _ => return None,
        })
    }
}

/// How a tool is reached: the fields of its type, by the names the platform gives them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Binding(pub serde_json::Map<String, Data>);

/// When the user must agree first.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Confirmation {
    /// `always`, `never`, `when_side_effects`.
    pub require: Option<Spanned<&'static str>>,
    /// Parameters that may not change afterwards.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub immutable_params: Vec<Spanned<Name>>,
    /// Where consent is asked for.
    pub consent_required_in: Option<Data>,
    /// What it covers.
    pub consent_scope: Option<SmolStr>,
    /// How it is asked for.
    pub consent_action: Option<SmolStr>,
    /// What happens without it.
    pub consent_fallback: Option<SmolStr>,
}

/// What a tool may read and write of the conversation.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ContextAccess {
    /// Paths it may read.
    pub read: Vec<Spanned<Name>>,
    /// Paths it may write.
    pub write: Vec<Spanned<Name>>,
}

/// A tool as it is offered to the model: under a name of its own, perhaps only at times, with some
/// of its inputs decided beforehand.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ToolBinding {
    /// What the model knows it by.
    pub name: Spanned<Name>,
    /// What happens when the model picks it.
    #[serde(flatten)]
    pub does: Offer,
    /// What the model is told about it.
    pub description: Option<Template>,
    /// It is offered only while this holds.
    pub available_when: Option<Condition>,
    /// Its inputs, as far as something is said about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<InputBinding>,
    /// What is done after it.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub after: Body,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// What happens when the model picks a [`ToolBinding`].
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "does", rename_all = "snake_case")]
pub enum Offer {
    /// A tool is called.
    Call {
        /// Which.
        tool: Spanned<Name>,
    },
    /// Another agent takes over.
    Handoff {
        /// Which.
        to: Spanned<Name>,
    },
    /// Another agent is asked, and control comes back.
    Delegate {
        /// Which.
        agent: Spanned<Name>,
    },
    /// A person takes over.
    Escalate,
    /// Variables get values from the conversation.
    Collect,
    /// The conversation ends.
    Complete,
    /// Something the model has no word for.
    Other {
        /// As it was written.
        reference: SmolStr,
    },
}

/// An input of a [`ToolBinding`].
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InputBinding {
    /// The parameter.
    pub name: Spanned<Name>,
    /// Who fills it in.
    pub filled_by: Filler,
    /// The value, if not the model fills it in.
    pub value: Option<Expr>,
}

/// Who fills an input in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Filler {
    /// The model, from the conversation.
    Model,
    /// The author, with an expression.
    Value,
}
