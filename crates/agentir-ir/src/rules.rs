//! Constraints, guardrails, policies and behaviour profiles.

use crate::data::{Data, Extensions, Number, NumberOrText};
use crate::flow::Step;
use crate::gather::GatherField;
use crate::statement::{Jump, Target};
use crate::tool::Tool;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::dialect::Notation;
use agentir_expr::{Condition, Dialect, Expr, Name, Template};
use indexmap::IndexMap;
use smol_str::SmolStr;

/// The constraints and guardrails of an agent.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    /// Conditions over the state, in the order they are checked.
    pub constraints: Vec<Constraint>,
    /// Checks of messages and of data passed on.
    pub guardrails: Vec<Guardrail>,
}

/// A condition over the state.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// What must hold; for `RESTRICT`, what must not hold.
    pub condition: Condition,
    /// What happens if it is violated.
    pub on_fail: Option<ConstraintFailure>,
    /// `warning` for `WARN`.
    pub severity: Option<&'static str>,
    /// The keyword.
    pub kind: Option<ConstraintKind>,
    /// The constraint applies only if this holds.
    pub applies_when: Option<Condition>,
    /// The point where it is checked.
    pub checkpoint: Option<Checkpoint>,
    /// The enclosing label.
    pub label: Option<Spanned<Name>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl Constraint {
    /// Whether it is checked in every turn: without a point, and with one that the language does not define.
    #[must_use]
    pub fn is_of_every_turn(&self) -> bool {
        matches!(self.checkpoint, None | Some(Checkpoint::Other { .. }))
    }

    /// Whether it is checked before every call, whatever it reads, because nobody knows which call it was meant for: its
    /// point is none of the language, or a call of what is not among the `callable` names of its agent.
    #[must_use]
    pub fn is_before_every_call(&self, callable: impl Fn(&str) -> bool) -> bool {
        match &self.checkpoint {
            Some(Checkpoint::Other { .. }) => true,
            Some(Checkpoint::ToolCall { target }) => !callable(&target.value),
            Some(Checkpoint::Response) | None => false,
        }
    }

    /// Whether a failure refuses what it guards: warnings do not, nor does `THEN: continue` in a turn (ABL, current
    /// specification, 3.8.3). Before a call or an answer, `THEN: continue` goes on without that.
    #[must_use]
    pub fn refuses(&self) -> bool {
        let goes_on = self.checkpoint.is_none()
            && self.on_fail.as_ref().is_some_and(ConstraintFailure::continues);
        self.severity != Some("warning") && !goes_on
    }

    /// Whether it is checked before the calls of this tool.
    #[must_use]
    pub fn is_before_call(&self, tool: &str) -> bool {
        matches!(&self.checkpoint, Some(Checkpoint::ToolCall { target }) if target.value == tool)
    }
}

/// The keyword of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The point where a constraint is checked.
#[derive(Clone, Debug)]
pub enum Checkpoint {
    /// Before a tool call.
    ToolCall {
        /// The tool.
        target: Spanned<Name>,
    },
    /// Before the response to the user.
    Response,
    /// A point the language does not define: the constraint is checked in every turn, and before every call.
    Other {
        /// The text as written.
        target: Spanned<SmolStr>,
    },
}

/// What happens if a constraint is violated.
#[derive(Clone, Debug)]
pub struct ConstraintFailure {
    /// The kind of reaction.
    pub kind: FailureKind,
    /// The message to the user.
    pub message: Option<Template>,
    /// The agent that takes over.
    pub target: Option<Spanned<Name>>,
    /// The reason, shown to the human who takes over.
    pub reason: Option<Spanned<SmolStr>>,
    /// Fields to collect again.
    pub collect_fields: Vec<Spanned<Name>>,
    /// Variables to clear.
    pub clear: Vec<Spanned<Name>>,
    /// `continue`, `retry`.
    pub then_action: Option<Jump>,
    /// The next step.
    pub then_step: Option<Jump>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl ConstraintFailure {
    /// Whether it goes on as if the constraint had held.
    #[must_use]
    pub fn continues(&self) -> bool {
        let mut jumps = self.then_step.iter().chain(&self.then_action);
        self.target.is_none()
            && jumps.next().is_some_and(|to| to.target.continues() || to.target == Target::Resume)
    }
}

/// The kinds of [`ConstraintFailure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Sends a message to the user.
    Respond,
    /// Escalates to a human.
    Escalate,
    /// Hands over to another agent.
    Handoff,
    /// Blocks further processing.
    Block,
    /// Removes the offending part.
    Redact,
    /// Restarts the step.
    RetryStep,
    /// Jumps to another step.
    GotoStep,
    /// Collects fields again.
    CollectField,
}

/// A check of messages or of data passed on.
#[derive(Clone, Debug)]
pub struct Guardrail {
    /// The name.
    pub name: Spanned<Name>,
    /// A description.
    pub description: Option<Template>,
    /// What it checks.
    pub kind: GuardrailKind,
    /// The priority; lower first.
    pub priority: Number,
    /// Who decides: `local`, `model`, `llm`.
    pub tier: &'static str,
    /// True if the content is a violation.
    pub check: Option<Expr>,
    /// The classifier.
    pub provider: Option<SmolStr>,
    /// The category it detects.
    pub category: Option<SmolStr>,
    /// The minimum confidence.
    pub threshold: Option<NumberOrText>,
    /// The question put to the model.
    pub llm_check: Option<Template>,
    /// The reaction.
    pub action: Data,
    /// The reactions by severity.
    pub severity_actions: Option<Data>,
    /// Whether partial answers are checked.
    pub streaming: Option<Data>,
    /// How often partial answers are checked.
    pub streaming_interval: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
    /// The location of the check in the source.
    pub check_span: Option<Span>,
}

impl Guardrail {
    /// What it does when it finds something: `block`, unless it says otherwise.
    #[must_use]
    pub fn action_type(&self) -> &str {
        match &self.action {
            Data::Object(fields) => fields.get("type").and_then(Data::as_str),
            other => other.as_str(),
        }
        .unwrap_or("block")
    }
}

/// What a guardrail checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardrailKind {
    /// Messages of the user.
    Input,
    /// Messages of the agent.
    Output,
    /// Inputs of tools.
    ToolInput,
    /// Outputs of tools.
    ToolOutput,
    /// Data passed to another agent.
    Handoff,
}

/// A policy of a supervisor.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The name.
    pub name: Spanned<Name>,
    /// A description.
    pub description: Option<Template>,
    /// The rules.
    pub rules: Vec<PolicyRule>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A rule of a [`Policy`].
#[derive(Clone, Debug)]
pub struct PolicyRule {
    /// The name, if any.
    pub name: Option<Spanned<Name>>,
    /// When the behaviour is allowed.
    pub allowed_when: Option<Condition>,
    /// When the behaviour is forbidden.
    pub forbidden_when: Option<Condition>,
    /// The signal it raises.
    pub trigger_signal: Option<SmolStr>,
    /// The behaviour then.
    pub behavior: Option<Template>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A behaviour profile: changes to an agent that depend on the context.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The name.
    pub name: Spanned<Name>,
    /// The source dialect.
    pub dialect: Dialect,
    /// The notation of the source.
    pub notation: Notation,
    /// A description.
    pub description: Option<Template>,
    /// The priority; higher wins.
    pub priority: NumberOrText,
    /// When it applies.
    pub when: Option<Condition>,
    /// Additional instructions to the model.
    pub instructions: Option<Template>,
    /// Voice settings.
    pub voice: Option<Data>,
    /// Rules for the form of answers.
    pub response_rules: Option<Data>,
    /// Additional constraints.
    pub constraints: Vec<Constraint>,
    /// Additional constraints in natural language.
    pub constraint_texts: Vec<Template>,
    /// Tools hidden from the model.
    pub tools_hide: Vec<Spanned<Name>>,
    /// Additional tools.
    pub tools_add: Vec<Tool>,
    /// Changes to field collection.
    pub gather_overrides: Option<GatherOverrides>,
    /// Changes to the flow.
    pub flow_modifications: Option<FlowModifications>,
    /// The flow that replaces the agent's.
    pub flow_replace: Option<Spanned<Name>>,
    /// Settings of the conversation style.
    pub conversation_behavior: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl Profile {
    /// A profile that changes nothing.
    #[must_use]
    pub fn new(name: Spanned<Name>, dialect: Dialect) -> Self {
        Self {
            span: name.span,
            name,
            dialect,
            notation: Notation::default(),
            description: None,
            priority: NumberOrText::Number(Number(0.0)),
            when: None,
            instructions: None,
            voice: None,
            response_rules: None,
            constraints: Vec::new(),
            constraint_texts: Vec::new(),
            tools_hide: Vec::new(),
            tools_add: Vec::new(),
            gather_overrides: None,
            flow_modifications: None,
            flow_replace: None,
            conversation_behavior: None,
            extensions: Extensions::default(),
        }
    }
}

/// Changes of a profile to field collection.
#[derive(Clone, Debug, Default)]
pub struct GatherOverrides {
    /// `strict` or `lenient`.
    pub validation_style: Option<&'static str>,
    /// `always`, `never`, `on_change`.
    pub confirmation: Option<&'static str>,
    /// Overrides by field.
    pub field_overrides: Vec<GatherField>,
}

/// Changes of a profile to the flow.
#[derive(Clone, Debug, Default)]
pub struct FlowModifications {
    /// Skipped steps.
    pub skip: Vec<Spanned<Name>>,
    /// Replaced steps.
    pub overrides: IndexMap<SmolStr, Step>,
    /// Inserted steps.
    pub insertions: Vec<Insertion>,
}

/// An inserted step.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// `before` or `after`.
    pub position: &'static str,
    /// The existing step.
    pub target_step: Spanned<Name>,
    /// The inserted step.
    pub step: Step,
}
