//! Business rules, safety checks, policies and profiles.

use crate::data::{Data, Extensions, Number, NumberOrText};
use crate::flow::Step;
use crate::gather::GatherField;
use crate::statement::Jump;
use crate::tool::Tool;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// All rules of an agent.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Constraints {
    /// Checks over the state, in the order in which they are made.
    pub constraints: Vec<Constraint>,
    /// Checks over what is said and passed on.
    pub guardrails: Vec<Guardrail>,
}

/// A check over the state.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Constraint {
    /// What must hold; for `RESTRICT`, what must not.
    pub condition: Condition,
    /// What happens if it fails.
    pub on_fail: Option<ConstraintFailure>,
    /// `warning` for `WARN`.
    pub severity: Option<&'static str>,
    /// Which keyword it was written with.
    pub kind: Option<ConstraintKind>,
    /// Only then.
    pub applies_when: Option<Condition>,
    /// Only there.
    pub checkpoint: Option<Checkpoint>,
    /// The label it stands under.
    pub label: Option<Spanned<Name>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// The keyword of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConstraintKind {
    /// Must hold.
    Require,
    /// Should hold.
    Warn,
    /// Bounds a number.
    Limit,
    /// Must not hold.
    Restrict,
}

/// Where a constraint is checked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Checkpoint {
    /// Before a tool is called.
    ToolCall {
        /// Which.
        target: Spanned<Name>,
    },
    /// Before the user gets an answer.
    Response,
    /// Something the language does not define.
    Other {
        /// The words.
        target: Spanned<SmolStr>,
    },
}

/// What happens if a constraint fails.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ConstraintFailure {
    /// What kind of thing.
    #[serde(rename = "type")]
    pub kind: FailureKind,
    /// What is said.
    pub message: Option<Template>,
    /// The agent that takes over.
    pub target: Option<Spanned<Name>>,
    /// Why, for the person who takes over.
    pub reason: Option<Spanned<SmolStr>>,
    /// Fields that are asked for again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collect_fields: Vec<Spanned<Name>>,
    /// Variables that are removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<Spanned<Name>>,
    /// `continue`, `retry`.
    pub then_action: Option<Jump>,
    /// The step that comes next.
    pub then_step: Option<Jump>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// The kinds of [`ConstraintFailure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The user is told.
    Respond,
    /// A person takes over.
    Escalate,
    /// Another agent takes over.
    Handoff,
    /// Nothing more is done.
    Block,
    /// The offending part is removed.
    Redact,
    /// The step starts again.
    RetryStep,
    /// Another step comes next.
    GotoStep,
    /// Fields are asked for again.
    CollectField,
}

/// A check over what is said and passed on.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Guardrail {
    /// Its name.
    pub name: Spanned<Name>,
    /// What it is for.
    pub description: Option<Template>,
    /// Where it looks.
    pub kind: GuardrailKind,
    /// Lower first.
    pub priority: Number,
    /// What decides: `local`, `model`, `llm`.
    pub tier: &'static str,
    /// True if the content is not allowed.
    pub check: Option<Expr>,
    /// The classifier that decides.
    pub provider: Option<SmolStr>,
    /// What it looks for.
    pub category: Option<SmolStr>,
    /// How sure it must be.
    pub threshold: Option<NumberOrText>,
    /// What the model is asked.
    #[serde(rename = "llmCheck")]
    pub llm_check: Option<Template>,
    /// What happens.
    pub action: Data,
    /// What happens, by severity.
    #[serde(rename = "severityActions")]
    pub severity_actions: Option<Data>,
    /// Whether it looks at parts of an answer.
    pub streaming: Option<Data>,
    /// How often.
    #[serde(rename = "streamingInterval")]
    pub streaming_interval: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
    /// Where the action is written.
    #[serde(skip)]
    pub check_span: Option<Span>,
}

/// Where a guardrail looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardrailKind {
    /// At what the user says.
    Input,
    /// At what the agent says.
    Output,
    /// At what a tool is given.
    ToolInput,
    /// At what a tool returns.
    ToolOutput,
    /// At what another agent is given.
    Handoff,
}

/// What a supervisor may do.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Policy {
    /// Its name.
    pub name: Spanned<Name>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Template>,
    /// When something is allowed or not.
    pub rules: Vec<PolicyRule>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A rule of a [`Policy`].
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PolicyRule {
    /// Its name, if it has one.
    pub name: Option<Spanned<Name>>,
    /// When it is allowed.
    #[serde(rename = "allowedWhen")]
    pub allowed_when: Option<Condition>,
    /// When it is not.
    #[serde(rename = "forbiddenWhen")]
    pub forbidden_when: Option<Condition>,
    /// The signal it gives.
    #[serde(rename = "triggerSignal")]
    pub trigger_signal: Option<SmolStr>,
    /// What happens then.
    pub behavior: Option<Template>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// Behaviour that depends on the context.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Profile {
    /// Its name.
    pub name: Spanned<Name>,
    /// What it is for.
    pub description: Option<Template>,
    /// Higher wins.
    pub priority: NumberOrText,
    /// When it applies.
    pub when: Option<Condition>,
    /// What the model is told in addition.
    pub instructions: Option<Template>,
    /// How it is spoken.
    pub voice: Option<Data>,
    /// How answers look.
    pub response_rules: Option<Data>,
    /// More rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
    /// More rules, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraint_texts: Vec<Template>,
    /// Tools that are not offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_hide: Vec<Spanned<Name>>,
    /// Tools that are offered in addition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_add: Vec<Tool>,
    /// How fields are asked for.
    pub gather_overrides: Option<GatherOverrides>,
    /// Which steps are skipped, changed, added.
    pub flow_modifications: Option<FlowModifications>,
    /// The flow that takes the place of the agent's.
    pub flow_replace: Option<Spanned<Name>>,
    /// How the conversation is led.
    pub conversation_behavior: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// How a profile changes the asking.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct GatherOverrides {
    /// `strict` or `lenient`.
    pub validation_style: Option<&'static str>,
    /// `always`, `never`, `on_change`.
    pub confirmation: Option<&'static str>,
    /// By field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub field_overrides: Vec<GatherField>,
}

/// How a profile changes the flow.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct FlowModifications {
    /// Steps that are skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<Spanned<Name>>,
    /// Steps that are done otherwise.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub overrides: IndexMap<SmolStr, Step>,
    /// Steps that come in addition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub insertions: Vec<Insertion>,
}

/// A step that comes in addition.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Insertion {
    /// `before` or `after`.
    pub position: &'static str,
    /// Which step.
    pub target_step: Spanned<Name>,
    /// The new one.
    pub step: Step,
}
