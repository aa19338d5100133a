//! Agents among each other and with people.

use crate::data::{Data, Extensions, Number, NumberOrText};
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
    /// The model, from words.
    Model,
    /// The user, by what they say or press.
    User,
    /// Nobody: it happens when it is reached.
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
    /// Agents it asks.
    pub delegates: Vec<Delegate>,
    /// Agents it hands over to.
    pub handoffs: Vec<Handoff>,
    /// What it does when control comes back.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub return_handlers: IndexMap<SmolStr, ReturnHandler>,
    /// When people take over.
    pub escalation: Option<Escalation>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// Another agent does something, and control comes back.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Delegate {
    /// The agent.
    pub agent: Spanned<Name>,
    /// When.
    pub when: Option<Condition>,
    /// Who decides.
    pub decided_by: Decider,
    /// Why.
    pub purpose: Option<Template>,
    /// What it is given: its names, our expressions.
    #[serde(serialize_with = "bindings_json")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub input: Vec<(Spanned<Name>, Expr)>,
    /// What it gives back.
    pub returns: Option<TypeExpr>,
    /// What is done with that.
    pub use_result: Option<Template>,
    /// How long it may take.
    pub timeout: Option<Spanned<SmolStr>>,
    /// `continue`, `escalate`, `respond`, `retry`.
    pub on_failure: Option<Jump>,
    /// Said if it fails.
    pub failure_message: Option<Template>,
    /// Where it runs.
    pub remote: Option<Remote>,
    /// How the user notices.
    #[serde(rename = "experienceMode")]
    pub experience_mode: Option<&'static str>,
    /// What of the memory it may use.
    pub memory_grants: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Delegate {
    /// Asking an agent, of which nothing else is said.
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

/// Another agent takes over.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Handoff {
    /// The agent.
    pub to: Spanned<Name>,
    /// When.
    pub when: Option<Condition>,
    /// Who decides.
    pub decided_by: Decider,
    /// Lower first.
    pub priority: Option<NumberOrText>,
    /// What it is given.
    pub context: Context,
    /// Whether control comes back.
    #[serde(rename = "return")]
    pub returns: bool,
    /// What happens if it cannot take over.
    pub on_failure: Option<Jump>,
    /// Said then.
    pub failure_message: Option<Template>,
    /// What happens when control comes back.
    pub on_return: Option<OnReturn>,
    /// Where it runs.
    pub remote: Option<Remote>,
    /// How long it may take.
    pub timeout: Option<Data>,
    /// What happens after that.
    pub on_timeout: Option<Data>,
    /// Whether the user goes on in the meantime.
    #[serde(rename = "async")]
    pub is_async: Option<bool>,
    /// How long that may take, in seconds.
    #[serde(rename = "asyncTimeout")]
    pub async_timeout: Option<NumberOrText>,
    /// How the user notices.
    #[serde(rename = "experienceMode")]
    pub experience_mode: Option<&'static str>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Handoff {
    /// Handing over to an agent for good, if a condition holds.
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

/// What the next agent is given.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Context {
    /// Variables.
    pub pass: Vec<PassedValue>,
    /// What happened so far.
    pub summary: Option<Template>,
    /// Assignments made on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// What of the memory it may use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memory_grants: Vec<MemoryGrant>,
    /// What its own variables are bound to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<VariableBinding>,
    /// How much of the conversation: `auto`, `none`, `summary_only`, `full`, `{last_n}`.
    pub history: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A variable of the next agent, and what it stands for while that agent runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VariableBinding {
    /// The variable of the next agent.
    pub variable: Spanned<Name>,
    /// Our value.
    pub value: Expr,
    /// Whether a change of the variable changes our value too. Otherwise it is only given.
    pub by_reference: bool,
}

/// A variable that is handed over.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PassedValue {
    /// Its name or path.
    pub name: Spanned<Name>,
    /// Its type, from its declaration; `string` if there is none.
    #[serde(rename = "type")]
    pub ty: SmolStr,
}

/// A right to a path of the memory.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MemoryGrant {
    /// The path.
    pub path: Spanned<Name>,
    /// `read`, `write`, `readwrite`.
    pub access: Option<SmolStr>,
}

/// What happens when control comes back.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OnReturn {
    /// `continue`, `resume_intent`, a step, or words.
    pub action: Option<Spanned<SmolStr>>,
    /// The handler.
    pub handler: Option<Spanned<SmolStr>>,
    /// What is resumed.
    pub resume_with: Option<Spanned<SmolStr>>,
    /// Our variables from its results.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "bindings_json")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, String>>")]
    pub map: Vec<(Spanned<Name>, Expr)>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// An agent that runs elsewhere.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Remote {
    /// `local` or `remote`.
    pub location: Option<&'static str>,
    /// Its address.
    pub endpoint: Option<Spanned<SmolStr>>,
    /// `a2a` or `rest`.
    pub protocol: Option<&'static str>,
    /// How we log in.
    pub auth: Option<Data>,
    /// How long a call may take.
    pub timeout: Option<Spanned<SmolStr>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// What is done when a child returns.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReturnHandler {
    /// What is said.
    pub respond: Option<Template>,
    /// What is removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear: Vec<Spanned<Name>>,
    /// Whether it goes on.
    #[serde(rename = "continue")]
    pub continues: Option<bool>,
    /// Whether the intent that was interrupted goes on.
    pub resume_intent: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// When people take over.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Escalation {
    /// When.
    pub triggers: Vec<Trigger>,
    /// What they are told.
    pub context_for_human: Vec<Data>,
    /// What happens afterwards.
    pub on_human_complete: Vec<HumanOutcome>,
    /// Who gets it.
    pub routing: Option<Data>,
    /// What a connected system does.
    pub connector_action: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// A reason to escalate.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trigger {
    /// When.
    pub when: Option<Condition>,
    /// Who decides.
    pub decided_by: Decider,
    /// Why, for the person.
    pub reason: Option<Template>,
    /// How urgent.
    pub priority: Option<SmolStr>,
    /// For routing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Spanned<Name>>,
    /// What they are told.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<Spanned<Name>>,
    /// What the user is told.
    pub respond: Option<Template>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// What happens after the person is done.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HumanOutcome {
    /// Only then.
    pub condition: Option<Condition>,
    /// What the agent does.
    pub action: Option<Jump>,
    /// What the user is told.
    pub respond: Option<Template>,
    /// What is remembered.
    pub store: Option<StoredValue>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// When the agent is done.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Completion {
    /// The conditions, in order.
    pub conditions: Vec<CompletionCondition>,
}

/// One way to be done.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompletionCondition {
    /// When.
    pub when: Option<Condition>,
    /// What is said.
    pub respond: Option<Template>,
    /// The named template that is said.
    pub respond_template: Option<Spanned<Name>>,
    /// How it is spoken.
    pub voice_config: Option<Data>,
    /// How it looks.
    pub rich_content: Option<Data>,
    /// Buttons and inputs beside it.
    pub actions: Option<Data>,
    /// What is remembered.
    pub store: Option<StoredValue>,
    /// Assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<SetVariable>,
    /// Whether the conversation ends with it.
    pub terminal: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// How a supervisor chooses.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Routing {
    /// The rules, in the order in which they are tried.
    pub rules: Vec<RoutingRule>,
    /// Who gets what no rule takes.
    pub default_agent: Option<Spanned<Name>>,
    /// The intents it tells apart.
    pub intent_classification: Option<IntentClassification>,
    /// Whether it may answer itself.
    pub direct_response_allowed: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// The intents a supervisor tells apart.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct IntentClassification {
    /// Their names.
    pub categories: Vec<SmolStr>,
    /// How sure the classifier must be.
    pub min_confidence: Number,
    /// `explicit` or `inferred`.
    pub source: &'static str,
    /// Whether words decide if the classifier cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_fallback: Option<&'static str>,
}

impl Default for Number {
    fn default() -> Self {
        Self(0.0)
    }
}

/// One rule of a supervisor.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RoutingRule {
    /// Its name.
    pub name: Option<Spanned<SmolStr>>,
    /// The agent; absent where the rule does something else.
    pub to: Option<Spanned<Name>>,
    /// What it does if it is not an agent.
    pub action: Option<RoutingTarget>,
    /// When.
    pub when: Option<Condition>,
    /// The intents it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intents: Vec<Spanned<SmolStr>>,
    /// Who decides.
    pub decided_by: Decider,
    /// What it is for.
    pub description: Option<Template>,
    /// Lower first; the order in the source otherwise.
    pub priority: Option<NumberOrText>,
    /// Whether control comes back.
    #[serde(rename = "return")]
    pub returns: Option<bool>,
    /// What is passed on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<Spanned<Name>>,
    /// `set_active`, `silent`, `no_log`, `priority_boost`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<Spanned<Name>>,
    /// Channels it is for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Spanned<Name>>,
    /// Intents it leaves alone.
    #[serde(rename = "ignoreIntents", skip_serializing_if = "Vec::is_empty")]
    pub ignore_intents: Vec<Spanned<Name>>,
    /// Variables that must be set.
    #[serde(rename = "requiresState", skip_serializing_if = "Vec::is_empty")]
    pub requires_state: Vec<Spanned<Name>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// What a routing rule does besides routing to an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RoutingTarget {
    /// Says something and waits.
    RouteToUser {
        /// What.
        message: Template,
    },
    /// The agent whose name a variable holds.
    RouteToVariable {
        /// Which.
        variable: Spanned<Name>,
    },
    /// The conversation ends.
    EndConversation,
    /// The platform does something.
    SystemAction {
        /// What.
        action: Spanned<Name>,
    },
}

/// An agent that a supervisor knows.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentReference {
    /// What the supervisor calls it.
    pub alias: Spanned<Name>,
    /// Its name; absent where only a file is given.
    pub agent: Option<Spanned<Name>>,
    /// The file that defines it.
    #[serde(rename = "ref")]
    pub file: Option<Spanned<SmolStr>>,
    /// What it can do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<Template>,
    /// Where it can do it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<Spanned<Name>>,
    /// Whether the user must be known.
    pub requires_validation: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}
