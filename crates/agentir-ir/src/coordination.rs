//! Coordination between agents, and with humans.

use crate::data::{Data, Extensions, Number, NumberOrText, TextData};
use crate::memory::StoredValue;
use crate::statement::{Jump, SetVariable, bindings_json};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// Who decides that something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// A condition over the state.
    Condition,
    /// The model, from the conversation.
    Model,
    /// The user, by a message or a button.
    User,
    /// Nobody: it happens whenever it is reached.
    Always,
}

impl Decider {
    /// Who decides a transition with this condition.
    #[must_use]
    pub const fn of(condition: Option<&Condition>) -> Self {
        match condition {
            Some(c) if c.expr().is_some() => Self::Condition,
            Some(_) => Self::Model,
            None => Self::Model,
        }
    }
}

/// How an agent works with others.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Coordination {
    /// Agents it delegates to.
    pub delegates: Vec<Delegate>,
    /// Agents it hands over to.
    pub handoffs: Vec<Handoff>,
    /// Handlers run when control returns.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub return_handlers: IndexMap<SmolStr, ReturnHandler>,
    /// When a human takes over.
    pub escalation: Option<Escalation>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A delegation: another agent does a task, and control returns.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Delegate {
    /// The agent.
    pub agent: Spanned<Name>,
    /// The condition.
    pub when: Option<Condition>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// The purpose.
    pub purpose: Option<Template>,
    /// The input: parameters of the other agent, and expressions of this one.
    #[serde(serialize_with = "bindings_json")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub input: Vec<(Spanned<Name>, Expr)>,
    /// The type of the result.
    pub returns: Option<TypeExpr>,
    /// How the result is used.
    pub use_result: Option<Template>,
    /// The timeout.
    pub timeout: Option<Spanned<SmolStr>>,
    /// `continue`, `escalate`, `respond`, `retry`.
    pub on_failure: Option<Jump>,
    /// The message to the user on failure.
    pub failure_message: Option<Template>,
    /// Where a remote agent runs.
    pub remote: Option<Remote>,
    /// How the user experiences the change of agent.
    #[serde(rename = "experienceMode")]
    pub experience_mode: Option<&'static str>,
    /// The memory paths the other agent may access.
    pub memory_grants: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

impl Delegate {
    /// A delegation to an agent with default values.
    #[must_use]
    pub fn new(agent: Spanned<Name>) -> Self {
        Self {
            span: agent.span,
            agent,
            when: None,
            decided_by: Decider::of(None),
            purpose: None,
            input: Vec::new(),
            returns: None,
            use_result: None,
            timeout: None,
            on_failure: None,
            failure_message: None,
            remote: None,
            experience_mode: None,
            memory_grants: None,
            extensions: Extensions::default(),
        }
    }
}

/// A handoff: another agent takes over the conversation.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Handoff {
    /// The agent.
    pub to: Spanned<Name>,
    /// The condition.
    pub when: Option<Condition>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// The priority; lower first.
    pub priority: Option<NumberOrText>,
    /// What the other agent receives.
    pub context: Context,
    /// Whether control returns.
    #[serde(rename = "return")]
    pub returns: bool,
    /// What happens if the agent cannot take over.
    pub on_failure: Option<Jump>,
    /// The message to the user in that case.
    pub failure_message: Option<Template>,
    /// What happens when control returns.
    pub on_return: Option<OnReturn>,
    /// Where a remote agent runs.
    pub remote: Option<Remote>,
    /// The timeout.
    pub timeout: Option<Data>,
    /// What happens after the timeout.
    pub on_timeout: Option<Data>,
    /// Whether the user can continue in the meantime.
    #[serde(rename = "async")]
    pub is_async: Option<bool>,
    /// The timeout of an asynchronous handoff, in seconds.
    #[serde(rename = "asyncTimeout")]
    pub async_timeout: Option<NumberOrText>,
    /// How the user experiences the change of agent.
    #[serde(rename = "experienceMode")]
    pub experience_mode: Option<&'static str>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

impl Handoff {
    /// A permanent handoff to an agent under a condition.
    #[must_use]
    pub fn new(to: Spanned<Name>, when: Option<Condition>) -> Self {
        Self {
            span: to.span,
            to,
            decided_by: Decider::of(when.as_ref()),
            when,
            priority: None,
            context: Context::default(),
            returns: false,
            on_failure: None,
            failure_message: None,
            on_return: None,
            remote: None,
            timeout: None,
            on_timeout: None,
            is_async: None,
            async_timeout: None,
            experience_mode: None,
            extensions: Extensions::default(),
        }
    }
}

/// What the next agent receives.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Context {
    /// The variables passed.
    pub pass: Vec<PassedValue>,
    /// A summary of the conversation so far.
    pub summary: Option<Template>,
    /// Assignments made during the handoff.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// The memory paths the next agent may access.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_grants: Vec<MemoryGrant>,
    /// Values bound to the next agent's own variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<VariableBinding>,
    /// How much of the history is passed: `auto`, `none`, `summary_only`, `full`, `{last_n}`.
    pub history: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A variable of the next agent, and the value it is bound to while that agent runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VariableBinding {
    /// The next agent's variable.
    pub variable: Spanned<Name>,
    /// The value, an expression of this agent.
    pub value: Expr,
    /// Whether writes to the variable also change this agent's value; otherwise it is copied.
    pub by_reference: bool,
}

/// A variable that is passed to another agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PassedValue {
    /// The name or path.
    pub name: Spanned<Name>,
    /// The declared type; `string` if there is none.
    #[serde(rename = "type")]
    pub ty: SmolStr,
}

/// Access to a memory path.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryGrant {
    /// The path.
    pub path: Spanned<Name>,
    /// `read`, `write`, `readwrite`.
    pub access: Option<SmolStr>,
}

/// What happens when control returns.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OnReturn {
    /// `continue`, `resume_intent`, a step, or a text.
    pub action: Option<Spanned<SmolStr>>,
    /// The return handler.
    pub handler: Option<Spanned<SmolStr>>,
    /// What is resumed.
    pub resume_with: Option<Spanned<SmolStr>>,
    /// Variables of this agent, set from the results.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "bindings_json")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, String>>")]
    pub map: Vec<(Spanned<Name>, Expr)>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// Where a remote agent runs.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Remote {
    /// `local` or `remote`.
    pub location: Option<&'static str>,
    /// The URL.
    pub endpoint: Option<Spanned<SmolStr>>,
    /// `a2a` or `rest`.
    pub protocol: Option<&'static str>,
    /// The authentication.
    pub auth: Option<Data>,
    /// The timeout of a call.
    pub timeout: Option<Spanned<SmolStr>>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// What is done when a child agent returns.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReturnHandler {
    /// The message to the user.
    pub respond: Option<Template>,
    /// The variables to clear.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<Spanned<Name>>,
    /// Whether the agent continues.
    #[serde(rename = "continue")]
    pub continues: Option<bool>,
    /// Whether the interrupted intent is resumed.
    pub resume_intent: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// When and how a human takes over.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Escalation {
    /// The triggers.
    pub triggers: Vec<Trigger>,
    /// What the human is told.
    pub context_for_human: Vec<TextData>,
    /// What happens after the human is done.
    pub on_human_complete: Vec<HumanOutcome>,
    /// The routing to a queue or person.
    pub routing: Option<Data>,
    /// The action of a connected system.
    pub connector_action: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

/// A trigger of an escalation.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trigger {
    /// The condition.
    pub when: Option<Condition>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// The reason, shown to the human.
    pub reason: Option<Template>,
    /// The priority.
    pub priority: Option<SmolStr>,
    /// Tags for routing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Spanned<Name>>,
    /// Variables shown to the human.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Spanned<Name>>,
    /// The message to the user.
    pub respond: Option<Template>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

/// What happens after the human is done.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HumanOutcome {
    /// The condition.
    pub condition: Option<Condition>,
    /// What the agent does next.
    pub action: Option<Jump>,
    /// The message to the user.
    pub respond: Option<Template>,
    /// A value to store.
    pub store: Option<StoredValue>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

/// When the agent is done.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Completion {
    /// The conditions, in order.
    pub conditions: Vec<CompletionCondition>,
}

/// One completion condition.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompletionCondition {
    /// The condition.
    pub when: Option<Condition>,
    /// The message to the user.
    pub respond: Option<Template>,
    /// The named template of the message.
    pub respond_template: Option<Spanned<Name>>,
    /// Settings for speech output.
    pub voice_config: Option<Data>,
    /// Rich content for channels that show more than text.
    pub rich_content: Option<Data>,
    /// Buttons and inputs shown with the message.
    pub actions: Option<Data>,
    /// A value to store.
    pub store: Option<StoredValue>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// Whether the conversation ends.
    pub terminal: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

/// The routing of a supervisor.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Routing {
    /// The rules, in the order in which they are tried.
    pub rules: Vec<RoutingRule>,
    /// The agent for messages no rule matches.
    pub default_agent: Option<Spanned<Name>>,
    /// The intents it classifies.
    pub intent_classification: Option<IntentClassification>,
    /// Whether the supervisor may answer itself.
    pub direct_response_allowed: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// The intents a supervisor classifies.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct IntentClassification {
    /// Their names.
    pub categories: Vec<SmolStr>,
    /// The minimum confidence of the classifier.
    pub min_confidence: Number,
    /// `explicit` or `inferred`.
    pub source: &'static str,
    /// When keyword matching replaces the classifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_fallback: Option<&'static str>,
}

impl Default for Number {
    fn default() -> Self {
        Self(0.0)
    }
}

/// One routing rule.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RoutingRule {
    /// The name.
    pub name: Option<Spanned<SmolStr>>,
    /// The agent; absent if the rule does something else.
    pub to: Option<Spanned<Name>>,
    /// The action, if the target is not an agent.
    pub action: Option<RoutingTarget>,
    /// The condition.
    pub when: Option<Condition>,
    /// The intents the rule matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intents: Vec<Spanned<SmolStr>>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// A description.
    pub description: Option<Template>,
    /// The priority, lower first; source order otherwise.
    pub priority: Option<NumberOrText>,
    /// Whether control returns.
    #[serde(rename = "return")]
    pub returns: Option<bool>,
    /// The variables passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<Spanned<Name>>,
    /// `set_active`, `silent`, `no_log`, `priority_boost`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Spanned<Name>>,
    /// The channels it applies to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Spanned<Name>>,
    /// The intents it ignores.
    #[serde(rename = "ignoreIntents", skip_serializing_if = "Vec::is_empty")]
    pub ignore_intents: Vec<Spanned<Name>>,
    /// Variables that must have a value.
    #[serde(rename = "requiresState", skip_serializing_if = "Vec::is_empty")]
    pub requires_state: Vec<Spanned<Name>>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

/// An action of a routing rule other than routing to an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RoutingTarget {
    /// Sends a message and waits for the user.
    RouteToUser {
        /// The message.
        message: Template,
    },
    /// Routes to the agent named by a variable.
    RouteToVariable {
        /// The variable.
        variable: Spanned<Name>,
    },
    /// Ends the conversation.
    EndConversation,
    /// Runs an action of the platform.
    SystemAction {
        /// The action.
        action: Spanned<Name>,
    },
}

/// An agent that a supervisor can route to.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentReference {
    /// The supervisor's name for it.
    pub alias: Spanned<Name>,
    /// The agent's name; absent if only a file is given.
    pub agent: Option<Spanned<Name>>,
    /// The file that defines it.
    #[serde(rename = "ref")]
    pub file: Option<Spanned<SmolStr>>,
    /// The capabilities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Template>,
    /// The channels it is available in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Spanned<Name>>,
    /// Whether the user must be authenticated.
    pub requires_validation: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}
