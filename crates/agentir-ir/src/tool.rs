//! Tools: signatures, bindings and how they are exposed to the model.

use crate::data::{Data, Extension, Extensions, NumberOrText};
use crate::gather::Validation;
use crate::knowledge::Question;
use crate::statement::{Body, SetVariable};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Dialect, Expr, Name, Template, TypeExpr};
use smol_str::SmolStr;

/// What the languages call the setting that makes the user confirm calls, where it is not read into
/// [`Tool::confirmation`].
const CONFIRMATION_SETTINGS: [&str; 4] =
    ["confirm", "confirmation", "require", "require_user_confirmation"];

/// A tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name.
    pub name: Spanned<Name>,
    /// The description shown to the model.
    pub description: Option<Template>,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The result.
    pub returns: Option<ReturnType>,
    /// Hints to the platform.
    pub hints: ToolHints,
    /// The kind of implementation.
    pub tool_type: Option<ToolType>,
    /// How the implementation is reached.
    pub binding: Option<Binding>,
    /// Whether the result is stored.
    pub store_result: Option<bool>,
    /// Assignments from the result.
    pub on_result: Vec<SetVariable>,
    /// Assignments after a failure.
    pub on_error: Vec<SetVariable>,
    /// The conversation data it may read and write.
    pub context_access: Option<ContextAccess>,
    /// When the user must confirm a call.
    pub confirmation: Option<Confirmation>,
    /// Whether it may access personal data.
    pub pii_access: Option<Data>,
    /// How long results are compacted.
    pub compaction: Option<Data>,
    /// The credentials.
    pub auth_profile_ref: Option<Spanned<SmolStr>>,
    /// `per_user` or `shared`.
    pub connection_mode: Option<&'static str>,
    /// `preflight` or `inline`.
    pub consent_mode: Option<&'static str>,
    /// Whether the user logs in at the first call.
    pub jit_auth: Option<bool>,
    /// The content of the knowledge base that it searches, where that lies beside the program.
    pub questions: Vec<Question>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl Tool {
    /// The name of the knowledge base that it searches.
    #[must_use]
    pub fn knowledge_base(&self) -> Option<&str> {
        let searches = self.tool_type == Some(ToolType::Searchai);
        self.binding.as_ref().filter(|_| searches)?.0.get("kb_name")?.as_str()
    }

    /// The location of the setting that makes the user confirm each call; `None` if calls need no
    /// confirmation, the default (ABL, current specification, 3.5).
    #[must_use]
    pub fn confirmation_required_at(&self) -> Option<Span> {
        if let Some(unread) = self.unread_confirmation() {
            return Some(unread.span);
        }
        let require = self.confirmation.as_ref()?.require.as_ref()?;
        let asks = match require.value {
            "always" => true,
            // Without an explicit `side_effects: false`, side effects are assumed.
            "when_side_effects" => self.hints.side_effects != Some(false),
            _ => false,
        };
        asks.then_some(require.span)
    }

    /// A setting of the confirmation that its language could not read: a misspelled value, a value of another type, the
    /// field of another dialect. It does not say that the user need not be asked, so the user is asked.
    #[must_use]
    pub fn unread_confirmation(&self) -> Option<&Extension> {
        let named = self.extensions.0.values().flat_map(|all| all.iter());
        let mut unread = named.filter(|(name, _)| CONFIRMATION_SETTINGS.contains(&name.as_str()));
        let declines = |value: &Data| match value {
            Data::Bool(asks) => !asks,
            Data::String(text) => ["never", "false"].iter().any(|no| text.eq_ignore_ascii_case(no)),
            _ => false,
        };
        unread.find(|(_, one)| !declines(&one.value)).map(|(_, one)| one)
    }

    /// A tool with default values apart from its name.
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
            questions: Vec::new(),
            extensions: Extensions::default(),
        }
    }
}

/// A parameter of a tool.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name.
    pub name: Spanned<Name>,
    /// The type.
    pub ty: Option<TypeExpr>,
    /// A description.
    pub description: Option<Template>,
    /// Whether calls must provide it.
    pub required: bool,
    /// The default value.
    pub default: Option<Data>,
    /// The allowed values.
    pub values: Vec<Template>,
    /// The validation of values.
    pub validation: Option<Validation>,
    /// Who provides the value: `model`, `system`, `runtime`, `config`, `auth`, `expr`, `lookup`.
    pub source: Option<&'static str>,
    /// The value, if its source is not the model.
    pub value: Option<Data>,
    /// The expression of the value, for the source `expr`.
    pub value_expr: Option<Expr>,
    /// What the source calls the value; without it, the name of the parameter.
    pub key: Option<SmolStr>,
    /// Whether the model does not see it.
    pub hidden: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl Parameter {
    /// Whether its value is not the model's to give: another source provides it, it is hidden, or what is said about that
    /// could not be read.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        let hidden = self.extensions.named("visibility").any(|how| {
            let shown = ["visible", "public", "model", "user"];
            !how.value.as_str().is_some_and(|how| shown.iter().any(|s| s.eq_ignore_ascii_case(how)))
        });
        !matches!(self.source, None | Some("model"))
            || self.hidden == Some(true)
            || hidden
            || self.has_unread_source()
            || self.extensions.has("hidden")
    }

    /// Whether its source is given, and could not be read.
    #[must_use]
    pub fn has_unread_source(&self) -> bool {
        self.extensions.has("source")
    }

    /// The type of its values, if the platform declares it as an object whose values are texts
    /// ([`agentir_expr::dialect::RuntimeNames::text_types`]).
    #[must_use]
    pub fn text_type(&self, dialect: Dialect) -> Option<&'static str> {
        let types = dialect.runtime().text_types;
        if types.is_empty() || self.ty.as_ref()?.to_string() != "object" {
            return None;
        }
        let named = self.extensions.0.values().flat_map(|all| all.values());
        let mut named = named.filter_map(|extension| extension.value.as_str());
        named.find_map(|name| types.iter().find(|(known, _)| *known == name).map(|(_, ty)| *ty))
    }

    /// A required parameter with default values apart from name and type.
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
            value: None,
            value_expr: None,
            key: None,
            hidden: None,
            extensions: Extensions::default(),
        }
    }
}

/// The result of a tool.
#[derive(Clone, Debug)]
pub struct ReturnType {
    /// The type.
    pub ty: TypeExpr,
    /// The fields of an object type.
    pub fields: Vec<ReturnField>,
}

/// A field of a result.
#[derive(Clone, Debug)]
pub struct ReturnField {
    /// The name.
    pub name: Spanned<Name>,
    /// The type.
    pub ty: TypeExpr,
    /// Whether it may be absent.
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

/// Hints to the platform about a tool.
#[derive(Clone, Debug, Default)]
pub struct ToolHints {
    /// Whether equal calls have equal results.
    pub cacheable: Option<bool>,
    /// `fast`, `medium`, `slow`.
    pub latency: Option<&'static str>,
    /// Whether it may run in parallel with others.
    pub parallelizable: Option<bool>,
    /// Whether it has side effects.
    pub side_effects: Option<bool>,
    /// Whether it needs authentication.
    pub requires_auth: Option<bool>,
    /// The timeout.
    pub timeout: Option<NumberOrText>,
}

/// The kind of a tool's implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// All types.
    pub const ALL: [Self; 9] = [
        Self::Http,
        Self::Mcp,
        Self::Sandbox,
        Self::Lambda,
        Self::Connector,
        Self::Workflow,
        Self::Searchai,
        Self::AsyncWebhook,
        Self::Table,
    ];

    /// The name of the type.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Mcp => "mcp",
            Self::Sandbox => "sandbox",
            Self::Lambda => "lambda",
            Self::Connector => "connector",
            Self::Workflow => "workflow",
            Self::Searchai => "searchai",
            Self::AsyncWebhook => "async_webhook",
            Self::Table => "table",
        }
    }

    /// The type with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

/// How a tool's implementation is reached: the fields of its type, with the platform's names.
#[derive(Clone, Debug)]
pub struct Binding(pub serde_json::Map<String, Data>);

/// When and how the user confirms a call.
#[derive(Clone, Debug, Default)]
pub struct Confirmation {
    /// `always`, `never`, `when_side_effects`.
    pub require: Option<Spanned<&'static str>>,
    /// Parameters that must not change after confirmation.
    pub immutable_params: Vec<Spanned<Name>>,
    /// Where consent is requested.
    pub consent_required_in: Option<Data>,
    /// The scope of the consent.
    pub consent_scope: Option<SmolStr>,
    /// How consent is requested.
    pub consent_action: Option<SmolStr>,
    /// What happens without consent.
    pub consent_fallback: Option<SmolStr>,
}

/// The conversation data that a tool may read and write.
#[derive(Clone, Debug, Default)]
pub struct ContextAccess {
    /// Paths it may read.
    pub read: Vec<Spanned<Name>>,
    /// Paths it may write.
    pub write: Vec<Spanned<Name>>,
}

/// A tool as exposed to the model: under its own name, possibly under a condition, with some inputs
/// bound.
#[derive(Clone, Debug)]
pub struct ToolBinding {
    /// The name shown to the model.
    pub name: Spanned<Name>,
    /// What happens when the model selects it.
    pub action: BindingAction,
    /// The description shown to the model.
    pub description: Option<Template>,
    /// It is exposed only while this holds.
    pub available_when: Option<Condition>,
    /// The bound inputs.
    pub with: Vec<InputBinding>,
    /// Statements executed afterwards.
    pub after: Body,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// What happens when the model selects a [`ToolBinding`].
#[derive(Clone, Debug)]
pub enum BindingAction {
    /// Calls a tool.
    Call {
        /// The tool.
        tool: Spanned<Name>,
    },
    /// Hands over to another agent.
    Handoff {
        /// The agent.
        to: Spanned<Name>,
    },
    /// Delegates to another agent; control returns.
    Delegate {
        /// The agent.
        agent: Spanned<Name>,
    },
    /// Escalates to a human.
    Escalate,
    /// Sets variables from the conversation.
    Collect,
    /// Ends the conversation.
    Complete,
    /// An action that AgentIR does not model.
    Other {
        /// The reference as written.
        reference: Spanned<SmolStr>,
    },
}

/// An input of a [`ToolBinding`].
#[derive(Clone, Debug)]
pub struct InputBinding {
    /// The parameter.
    pub name: Spanned<Name>,
    /// Who provides the value.
    pub filled_by: FilledBy,
    /// The value, unless the model provides it.
    pub value: Option<Expr>,
}

/// Who provides the value of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilledBy {
    /// The model, from the conversation.
    Model,
    /// The author, by an expression.
    Value,
}
