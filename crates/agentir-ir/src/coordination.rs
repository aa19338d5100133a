//! Coordination between agents, and with humans.

use crate::data::{Data, Extensions, Number, NumberOrText, TextData};
use crate::memory::StoredValue;
use crate::statement::{Jump, SetVariable};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template, TypeExpr, TypeKind};
use indexmap::IndexMap;
use smol_str::SmolStr;

/// Who decides that something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Debug, Default)]
pub struct Coordination {
    /// Agents it delegates to.
    pub delegates: Vec<Delegate>,
    /// Agents it hands over to.
    pub handoffs: Vec<Handoff>,
    /// Handlers run when control returns.
    pub return_handlers: IndexMap<SmolStr, ReturnHandler>,
    /// When a human takes over.
    pub escalation: Option<Escalation>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A delegation: another agent does a task, and control returns.
#[derive(Clone, Debug)]
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
    pub input: Vec<(Spanned<Name>, Expr)>,
    /// The type of the result.
    pub returns: Option<TypeExpr>,
    /// How the result is used.
    pub use_result: Option<Template>,
    /// The timeout.
    pub timeout: Option<Spanned<SmolStr>>,
    /// `continue`, `escalate`, `respond`, `retry`.
    pub on_failure: Option<Jump>,
    /// How many further attempts there are, if `on_failure` is a retry.
    pub max_retries: Option<Number>,
    /// The message to the user on failure.
    pub failure_message: Option<Template>,
    /// Where a remote agent runs.
    pub remote: Option<Remote>,
    /// How the user experiences the change of agent.
    pub experience_mode: Option<&'static str>,
    /// The memory paths the other agent may access.
    pub memory_grants: Option<Data>,
    /// Whether it repeats what a tool of the model does ([`crate::ToolBinding`]), for those who read only
    /// declarations. The model decides about it there.
    pub repeats_binding: bool,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
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
            max_retries: None,
            failure_message: None,
            remote: None,
            experience_mode: None,
            memory_grants: None,
            repeats_binding: false,
            extensions: Extensions::default(),
        }
    }

    /// The fields of the result that come back, each with the variable of this agent that receives it.
    ///
    /// `RETURNS` is written in two ways. With types, as in `{points: number}`, a variable has the name of
    /// its field (ABL, current specification, 3.10). With variables, as in `{points: balance}`, they are
    /// what is written to (reference of supervisors and multiple agents, "Input/output mapping"). A value
    /// is a variable unless it is a type of the language or begins with a capital, as domain types do.
    pub fn returned(&self) -> impl Iterator<Item = ReturnedValue<'_>> {
        let fields = match self.returns.as_ref().map(|ty| &ty.kind) {
            Some(TypeKind::Object(fields)) => fields.as_slice(),
            _ => &[],
        };
        fields.iter().map(|field| match field.ty.name().filter(|name| !names_type(name)) {
            Some(variable) => ReturnedValue { field: &field.name, variable, span: field.ty.span },
            None => ReturnedValue {
                field: &field.name,
                variable: &field.name.value,
                span: field.name.span,
            },
        })
    }
}

/// A field of a delegate's result, and where its value goes.
#[derive(Clone, Copy, Debug)]
pub struct ReturnedValue<'a> {
    /// The field of the result.
    pub field: &'a Spanned<Name>,
    /// The variable of the agent that delegates, as a dotted path.
    pub variable: &'a str,
    /// Where the variable is named.
    pub span: Span,
}

/// Whether a value in `RETURNS` is a type rather than a variable (ABL, current specification, 7.1 and
/// 7.2).
fn names_type(name: &str) -> bool {
    matches!(
        name,
        "string"
            | "number"
            | "integer"
            | "float"
            | "boolean"
            | "date"
            | "datetime"
            | "object"
            | "array"
            | "any"
    ) || name.starts_with(char::is_uppercase)
}

/// A handoff: another agent takes over the conversation.
#[derive(Clone, Debug)]
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
    pub is_async: Option<bool>,
    /// The timeout of an asynchronous handoff, in seconds.
    pub async_timeout: Option<NumberOrText>,
    /// How the user experiences the change of agent.
    pub experience_mode: Option<&'static str>,
    /// Whether it repeats what a tool of the model does ([`crate::ToolBinding`]), for those who read only
    /// declarations. The model decides about it there.
    pub repeats_binding: bool,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
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
            repeats_binding: false,
            extensions: Extensions::default(),
        }
    }
}

/// What the next agent receives.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The variables passed.
    pub pass: Vec<PassedValue>,
    /// A summary of the conversation so far.
    pub summary: Option<Template>,
    /// Assignments made during the handoff.
    pub set: Vec<SetVariable>,
    /// The memory paths the next agent may access.
    pub memory_grants: Vec<MemoryGrant>,
    /// Values bound to the next agent's own variables.
    pub bindings: Vec<VariableBinding>,
    /// How much of the history is passed: `auto`, `none`, `summary_only`, `full`, `{last_n}`.
    pub history: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A variable of the next agent, and the value it is bound to while that agent runs.
#[derive(Clone, Debug)]
pub struct VariableBinding {
    /// The next agent's variable.
    pub variable: Spanned<Name>,
    /// The value, an expression of this agent.
    pub value: Expr,
    /// Whether writes to the variable also change this agent's value; otherwise it is copied.
    pub by_reference: bool,
}

/// A variable that is passed to another agent.
#[derive(Clone, Debug)]
pub struct PassedValue {
    /// The name or path.
    pub name: Spanned<Name>,
    /// The declared type; `string` if there is none.
    pub ty: SmolStr,
}

/// Access to a memory path.
#[derive(Clone, Debug)]
pub struct MemoryGrant {
    /// The path.
    pub path: Spanned<Name>,
    /// `read`, `write`, `readwrite`.
    pub access: Option<SmolStr>,
}

/// What happens when control returns.
#[derive(Clone, Debug)]
pub struct OnReturn {
    /// `continue`, `resume_intent`, a step, or a text.
    pub action: Option<Spanned<SmolStr>>,
    /// The return handler.
    pub handler: Option<Spanned<SmolStr>>,
    /// What is resumed.
    pub resume_with: Option<Spanned<SmolStr>>,
    /// Variables of this agent, set from the results.
    pub map: Vec<(Spanned<Name>, Expr)>,
    /// Assignments.
    pub set: Vec<SetVariable>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// Where a remote agent runs.
#[derive(Clone, Debug, Default)]
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
    pub extensions: Extensions,
}

/// What is done when a child agent returns.
#[derive(Clone, Debug)]
pub struct ReturnHandler {
    /// The message to the user.
    pub respond: Option<Template>,
    /// The variables to clear.
    pub clear: Vec<Spanned<Name>>,
    /// Whether the agent continues.
    pub continues: Option<bool>,
    /// Whether the interrupted intent is resumed.
    pub resume_intent: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// When and how a human takes over.
#[derive(Clone, Debug, Default)]
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
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A trigger of an escalation.
#[derive(Clone, Debug)]
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
    pub tags: Vec<Spanned<Name>>,
    /// Variables shown to the human.
    pub context: Vec<Spanned<Name>>,
    /// The message to the user.
    pub respond: Option<Template>,
    /// Assignments.
    pub set: Vec<SetVariable>,
    /// Whether it repeats what a tool of the model does ([`crate::ToolBinding`]), for those who read only
    /// declarations. The model decides about it there.
    pub repeats_binding: bool,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// What happens after the human is done.
#[derive(Clone, Debug)]
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
    pub set: Vec<SetVariable>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// When the agent is done.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// The conditions, in order.
    pub conditions: Vec<CompletionCondition>,
}

/// One completion condition.
#[derive(Clone, Debug)]
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
    pub set: Vec<SetVariable>,
    /// Whether the conversation ends.
    pub terminal: Option<bool>,
    /// Whether it repeats what a tool of the model does ([`crate::ToolBinding`]), for those who read only
    /// declarations. The model decides about it there.
    pub repeats_binding: bool,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl CompletionCondition {
    /// A condition under which the agent is done without a word.
    #[must_use]
    pub fn new(when: Option<Condition>, span: Span) -> Self {
        Self {
            when,
            respond: None,
            respond_template: None,
            voice_config: None,
            rich_content: None,
            actions: None,
            store: None,
            set: Vec::new(),
            terminal: None,
            repeats_binding: false,
            extensions: Extensions::default(),
            span,
        }
    }
}

/// The routing of a supervisor.
#[derive(Clone, Debug, Default)]
pub struct Routing {
    /// The rules, in the order in which they are tried.
    pub rules: Vec<RoutingRule>,
    /// The agent for messages no rule matches.
    pub default_agent: Option<Spanned<Name>>,
    /// The intents it classifies.
    pub intent_classification: Option<IntentClassification>,
    /// Whether the supervisor may answer itself.
    pub direct_response_allowed: Option<bool>,
    /// The tools that the supervisor never calls.
    pub forbidden_actions: Vec<Spanned<Name>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// The intents a supervisor classifies.
#[derive(Clone, Debug, Default)]
pub struct IntentClassification {
    /// Their names.
    pub categories: Vec<SmolStr>,
    /// The minimum confidence of the classifier.
    pub min_confidence: Number,
    /// `explicit` or `inferred`.
    pub source: &'static str,
    /// When keyword matching replaces the classifier.
    pub lexical_fallback: Option<&'static str>,
}

/// One routing rule.
#[derive(Clone, Debug)]
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
    pub intents: Vec<Spanned<SmolStr>>,
    /// Who decides that it happens.
    pub decided_by: Decider,
    /// A description.
    pub description: Option<Template>,
    /// The priority, lower first; source order otherwise.
    pub priority: Option<NumberOrText>,
    /// Whether control returns.
    pub returns: Option<bool>,
    /// The variables passed.
    pub pass: Vec<Spanned<Name>>,
    /// `set_active`, `silent`, `no_log`, `priority_boost`.
    pub flags: Vec<Spanned<Name>>,
    /// The channels it applies to.
    pub channels: Vec<Spanned<Name>>,
    /// The intents it ignores.
    pub ignore_intents: Vec<Spanned<Name>>,
    /// Variables that must have a value.
    pub requires_state: Vec<Spanned<Name>>,
    /// Whether it is another target of the rule before it, whose condition it shares.
    pub continues: bool,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// An action of a routing rule other than routing to an agent.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
pub struct AgentReference {
    /// The supervisor's name for it.
    pub alias: Spanned<Name>,
    /// The agent's name; absent if only a file is given.
    pub agent: Option<Spanned<Name>>,
    /// The file that defines it.
    pub file: Option<Spanned<SmolStr>>,
    /// The capabilities.
    pub capabilities: Vec<Template>,
    /// The channels it is available in.
    pub channels: Vec<Spanned<Name>>,
    /// Whether the user must be authenticated.
    pub requires_validation: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl AgentReference {
    /// Whether the user must be authenticated; also if what is said about that could not be read.
    #[must_use]
    pub fn requires_authentication(&self) -> bool {
        let unread = || self.extensions.has("requires_validation");
        self.requires_validation.unwrap_or_else(unread)
    }
}
