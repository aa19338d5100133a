//! Flows and their steps.

use crate::agent::ErrorHandler;
use crate::coordination::Decider;
use crate::data::{Data, Extensions, Number};
use crate::rules::Constraint;
use crate::statement::{ActionHandler, Body, Jump};
use crate::tool::ToolBinding;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Name, Template};
use indexmap::IndexMap;
use smol_str::SmolStr;

/// A flow. Without one, the model leads the conversation.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The steps in declaration order; a step without a `then` continues with the next.
    pub steps: Vec<Spanned<Name>>,
    /// An explicit order, written as `a -> b -> c`.
    pub sequence: Vec<Spanned<Name>>,
    /// The steps by name.
    pub definitions: IndexMap<SmolStr, Step>,
    /// The first step; the first of `steps` if absent.
    pub entry_point: Option<Spanned<Name>>,
    /// Digressions available in every step.
    pub global_digressions: Vec<Digression>,
    /// Steps redefined under the same name; only the last definition is effective.
    pub shadowed: Vec<Step>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
    /// The location of the key that introduces it; empty if there is none.
    pub key: Span,
}

impl Flow {
    /// The name of the first step.
    #[must_use]
    pub fn entry(&self) -> Option<&str> {
        match &self.entry_point {
            Some(name) => Some(&name.value),
            None => self
                .steps
                .first()
                .map(|s| s.value.as_str())
                .or_else(|| self.definitions.keys().next().map(SmolStr::as_str)),
        }
    }
}

/// A step: its statements in execution order, and what may interrupt them.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// The name.
    pub name: Spanned<Name>,
    /// The step is skipped if this does not hold.
    pub when: Option<Condition>,
    /// A description.
    pub description: Option<Template>,
    /// The model leads in this step.
    pub reasoning_zone: Option<ReasoningZone>,
    /// The value of `REASONING`, if written.
    pub reasoning: Option<bool>,
    /// The statements.
    pub body: Body,
    /// The maximum number of attempts.
    pub max_attempts: Option<Number>,
    /// What happens when the attempts are used up.
    pub on_exhausted: Option<Jump>,
    /// Digressions: intents that leave the step.
    pub digressions: Vec<Digression>,
    /// Sub-intents: questions answered without leaving the step.
    pub sub_intents: Vec<SubIntent>,
    /// Handlers of buttons and inputs in this step.
    pub on_action: Vec<ActionHandler>,
    /// Error handlers of this step.
    pub on_error: Vec<ErrorHandler>,
    /// A file the step waits for.
    pub await_attachment: Option<Spanned<Data>>,
    /// An approval by a human.
    pub human_approval: Option<Spanned<Data>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A part of a conversation that the model leads.
#[derive(Clone, Debug, Default)]
pub struct ReasoningZone {
    /// The goal.
    pub goal: Option<Template>,
    /// The tools it may use; all if absent.
    pub available_tools: Option<Vec<Spanned<Name>>>,
    /// Statements executed before each model request; they may add instructions.
    pub prepare: Body,
    /// The tools as exposed to the model, where they differ from their declarations.
    pub bindings: Vec<ToolBinding>,
    /// The exit condition.
    pub exit_when: Option<Condition>,
    /// The maximum number of turns.
    pub max_turns: Option<Number>,
    /// Constraints in this zone.
    pub constraints: Vec<Constraint>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A digression: leaves a step when the user has another intent.
#[derive(Clone, Debug)]
pub struct Digression {
    /// The intent.
    pub intent: Option<Spanned<SmolStr>>,
    /// Keywords that indicate it.
    pub keywords: Vec<Template>,
    /// The condition.
    pub condition: Option<Condition>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// The statements.
    pub body: Body,
    /// Whether the step is resumed afterwards.
    pub resume: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A question that is answered without leaving the step.
pub type SubIntent = Digression;
