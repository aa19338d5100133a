//! The agent: identity, execution settings, and everything it contains.

use crate::coordination::{AgentReference, Completion, Coordination, Routing};
use crate::data::{Data, Extensions, Number, NumberOrText};
use crate::flow::{Flow, ReasoningZone};
use crate::gather::{Attachment, Gather, MaskConfig, Validation};
use crate::knowledge::Knowledge;
use crate::memory::Memory;
use crate::rules::{Constraints, Policy, Profile};
use crate::statement::{ActionHandler, Actions, Body, Jump, Response};
use crate::tool::Tool;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::dialect::Notation;
use agentir_expr::{Condition, Dialect, Name, Template as Text};
use indexmap::IndexMap;
use smol_str::SmolStr;

/// An agent or a supervisor.
#[derive(Clone, Debug)]
pub struct Agent {
    /// [`crate::IR_VERSION`].
    pub ir_version: &'static str,
    /// Name and origin.
    pub metadata: Metadata,
    /// Execution settings.
    pub execution: Execution,
    /// Identity and instructions.
    pub identity: Identity,
    /// The tools it can call.
    pub tools: Vec<Tool>,
    /// The fields it collects.
    pub gather: Gather,
    /// The files it asks the user for.
    pub attachments: Vec<Attachment>,
    /// Variables and longer-lived memory.
    pub memory: Memory,
    /// The knowledge base it answers from.
    pub knowledge: Option<Knowledge>,
    /// Constraints and guardrails.
    pub constraints: Constraints,
    /// Handoffs, delegation and escalation.
    pub coordination: Coordination,
    /// When the agent is done.
    pub completion: Completion,
    /// Error handlers.
    pub error_handling: ErrorHandling,
    /// The flow; without one the model leads the conversation.
    pub flow: Option<Flow>,
    /// What the model may do where it leads, if more is declared than the tools.
    pub reasoning: Option<ReasoningZone>,
    /// Statements executed when the agent starts.
    pub on_start: Body,
    /// Overrides of the platform's messages, by key.
    pub messages: IndexMap<SmolStr, Response>,
    /// Statements executed around agents and turns.
    pub hooks: Hooks,
    /// Natural-language understanding.
    pub nlu: Option<Nlu>,
    /// Reusable entity types.
    pub entities: Vec<Entity>,
    /// Handling of several intents in one message.
    pub intent_handling: Option<IntentHandling>,
    /// Named templates.
    pub templates: IndexMap<SmolStr, Template>,
    /// Templates redefined under the same name; only the last definition is effective.
    pub shadowed_templates: Vec<Template>,
    /// Routing rules of a supervisor.
    pub routing: Option<Routing>,
    /// The agents a supervisor can route to.
    pub available_agents: Vec<AgentReference>,
    /// Lookup tables.
    pub lookup_tables: IndexMap<SmolStr, LookupTable>,
    /// Lookup tables redefined under the same name; only the last definition is effective.
    pub shadowed_lookup_tables: Vec<LookupTable>,
    /// Behaviour profiles defined in the agent.
    pub behavior_profiles: Vec<Profile>,
    /// Names of behaviour profiles defined elsewhere.
    pub use_behavior_profiles: Vec<Spanned<Name>>,
    /// Names of tools defined elsewhere.
    pub use_tools: Vec<Spanned<Name>>,
    /// Settings of the conversation style.
    pub conversation_behavior: Option<Data>,
    /// Destinations of events.
    pub destinations: Vec<Data>,
    /// Handlers of buttons and inputs.
    pub action_handlers: Vec<ActionHandler>,
    /// Policies of a supervisor.
    pub policies: Vec<Policy>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl Agent {
    /// The agents that its handoffs and delegates say run elsewhere.
    pub fn remote_agents(&self) -> impl Iterator<Item = &Name> {
        let handoffs = self.coordination.handoffs.iter().filter(|h| h.remote.is_some());
        let delegates = self.coordination.delegates.iter().filter(|d| d.remote.is_some());
        handoffs.map(|h| &h.to.value).chain(delegates.map(|d| &d.agent.value))
    }

    /// An agent with default values apart from its metadata.
    #[must_use]
    pub fn new(metadata: Metadata, span: Span) -> Self {
        Self {
            ir_version: crate::IR_VERSION,
            metadata,
            execution: Execution::default(),
            identity: Identity::default(),
            tools: Vec::new(),
            gather: Gather::default(),
            attachments: Vec::new(),
            memory: Memory::default(),
            knowledge: None,
            constraints: Constraints::default(),
            coordination: Coordination::default(),
            completion: Completion::default(),
            error_handling: ErrorHandling::default(),
            flow: None,
            reasoning: None,
            on_start: Body::default(),
            messages: IndexMap::new(),
            hooks: Hooks::default(),
            nlu: None,
            entities: Vec::new(),
            intent_handling: None,
            templates: IndexMap::new(),
            shadowed_templates: Vec::new(),
            routing: None,
            available_agents: Vec::new(),
            lookup_tables: IndexMap::new(),
            shadowed_lookup_tables: Vec::new(),
            behavior_profiles: Vec::new(),
            use_behavior_profiles: Vec::new(),
            use_tools: Vec::new(),
            conversation_behavior: None,
            destinations: Vec::new(),
            action_handlers: Vec::new(),
            policies: Vec::new(),
            extensions: Extensions::default(),
            span,
        }
    }
}

/// The origin of an agent.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The name.
    pub name: Spanned<Name>,
    /// Where a document says the name a second time: AgentIR has agents by their names.
    pub named_again: Option<Span>,
    /// Its version.
    pub version: Option<Spanned<SmolStr>>,
    /// Agent or supervisor.
    pub kind: AgentType,
    /// A description.
    pub description: Option<Text>,
    /// The source dialect.
    pub dialect: Dialect,
    /// The notation of the source.
    pub notation: Notation,
    /// The version of the language, unless it is the current one.
    pub language_version: Option<&'static str>,
    /// A hash of the source.
    pub source_hash: SmolStr,
    /// The version of the compiler.
    pub compiler_version: SmolStr,
}

impl Metadata {
    /// The metadata of an agent with this name and dialect.
    #[must_use]
    pub fn new(name: Spanned<Name>, dialect: Dialect, source_hash: SmolStr) -> Self {
        Self {
            name,
            named_again: None,
            version: None,
            kind: AgentType::Agent,
            description: None,
            dialect,
            notation: Notation::default(),
            language_version: None,
            source_hash,
            compiler_version: SmolStr::new_static(env!("CARGO_PKG_VERSION")),
        }
    }
}

/// The kinds of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentType {
    /// An agent that does the work itself.
    Agent,
    /// An agent that routes to others.
    Supervisor,
}

/// The identity of an agent.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The goal.
    pub goal: Option<Text>,
    /// The persona: tone and character.
    pub persona: Option<Text>,
    /// What the agent must not or cannot do.
    pub limitations: Vec<Text>,
    /// Further instructions to the model; parts may be conditional.
    pub instructions: Vec<Instruction>,
    /// The system prompt.
    pub system_prompt: Option<SystemPrompt>,
    /// The language the agent speaks.
    pub language: Option<Spanned<SmolStr>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A part of the instructions to the model.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Included only if this holds.
    pub when: Option<Condition>,
    /// The text.
    pub text: Text,
}

/// The author's own system prompt.
#[derive(Clone, Debug)]
pub struct SystemPrompt {
    /// Its text.
    pub template: Text,
    /// Whether the author wrote it.
    pub custom: bool,
}

/// How an agent is executed.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// Hints to the platform, derived from the agent.
    pub hints: ExecutionHints,
    /// Timeouts.
    pub timeouts: Timeouts,
    /// The language model.
    pub model: Option<Spanned<SmolStr>>,
    /// The sampling temperature.
    pub temperature: Option<NumberOrText>,
    /// The maximum number of tokens in an answer.
    pub max_tokens: Option<NumberOrText>,
    /// The maximum number of tool calls in a turn.
    pub max_iterations: Option<NumberOrText>,
    /// The maximum number of steps a flow may take.
    pub max_flow_iterations: Option<NumberOrText>,
    /// The model to use if the first one fails.
    pub fallback_model: Option<Spanned<SmolStr>>,
    /// `low`, `medium`, `high`.
    pub reasoning_effort: Option<&'static str>,
    /// Whether the model reasons before it answers.
    pub enable_thinking: Option<bool>,
    /// The budget of that reasoning.
    pub thinking_budget: Option<NumberOrText>,
    /// When the history is compacted.
    pub compaction_threshold: Option<NumberOrText>,
    /// How the history is compacted.
    pub compaction: Option<Data>,
    /// Models for single operations.
    pub operation_models: IndexMap<SmolStr, Data>,
    /// `serial`, `preemptive`, `parallel`.
    pub concurrency: Option<&'static str>,
    /// The maximum number of queued messages.
    pub max_queue_depth: Option<NumberOrText>,
    /// The maximum number of messages handled at once.
    pub max_concurrent_messages: Option<NumberOrText>,
    /// Classification before the model is called.
    pub pipeline: Option<Data>,
    /// Whether fields are asked for within the answer itself.
    pub inline_gather: Option<bool>,
    /// Voice settings.
    pub voice: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

impl Execution {
    /// The maximum number of flow steps in a session: the declared value, else the platform's default of
    /// 100 (ABL, current specification, 7.11). `None` if only configuration determines it.
    #[must_use]
    pub const fn max_flow_steps(&self) -> Option<f64> {
        match &self.max_flow_iterations {
            Some(NumberOrText::Number(n)) => Some(n.0),
            Some(NumberOrText::Text(_)) => None,
            None => Some(100.0),
        }
    }
}

/// Hints to the platform about an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionHints {
    /// Whether it is a voice agent.
    pub voice_optimized: bool,
    /// Whether it stores data beyond the conversation.
    pub requires_persistence: bool,
    /// Whether a human can take over (human in the loop).
    pub supports_hitl: bool,
    /// Whether its tools may run in parallel.
    pub parallel_tools: bool,
    /// `simple`, `moderate`, `complex`.
    pub complexity: &'static str,
}

impl ExecutionHints {
    /// Derives them from what an agent has.
    #[must_use]
    pub fn of(agent: &Agent) -> Self {
        let memory = &agent.memory;
        let steps = agent.flow.as_ref().map_or(0, |f| f.definitions.len());
        let parts = steps
            + agent.tools.len()
            + agent.coordination.handoffs.len()
            + agent.coordination.delegates.len()
            + agent.constraints.constraints.len();
        Self {
            voice_optimized: agent.execution.voice.is_some()
                || agent.execution.timeouts.voice_latency_target_ms.is_some(),
            requires_persistence: !memory.persistent.is_empty() || !memory.remember.is_empty(),
            supports_hitl: agent.coordination.escalation.is_some(),
            parallel_tools: agent.tools.len() > 1
                && agent.tools.iter().all(|t| t.hints.parallelizable != Some(false)),
            complexity: match parts {
                0..=5 => "simple",
                6..=20 => "moderate",
                _ => "complex",
            },
        }
    }
}

impl Default for ExecutionHints {
    fn default() -> Self {
        Self {
            voice_optimized: false,
            requires_persistence: false,
            supports_hitl: false,
            parallel_tools: false,
            complexity: "simple",
        }
    }
}

/// Timeouts, in milliseconds.
#[derive(Clone, Debug)]
pub struct Timeouts {
    /// Timeout of a tool call.
    pub tool_timeout_ms: NumberOrText,
    /// Timeout of a model request.
    pub llm_timeout_ms: NumberOrText,
    /// How long a session waits for the user.
    pub session_timeout_ms: NumberOrText,
    /// Target latency of an answer in voice channels.
    pub voice_latency_target_ms: Option<NumberOrText>,
}

impl Default for Timeouts {
    /// The defaults of the specification (§7.11).
    fn default() -> Self {
        Self {
            tool_timeout_ms: NumberOrText::Number(Number(30_000.0)),
            llm_timeout_ms: NumberOrText::Number(Number(30_000.0)),
            session_timeout_ms: NumberOrText::Number(Number(1_800_000.0)),
            voice_latency_target_ms: None,
        }
    }
}

/// Statements executed around agents and turns.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// Runs before the agent starts.
    pub before_agent: Option<Hook>,
    /// Runs after the agent is done.
    pub after_agent: Option<Hook>,
    /// Runs before each turn.
    pub before_turn: Option<Hook>,
    /// Runs after each turn.
    pub after_turn: Option<Hook>,
}

impl Hooks {
    /// Whether there are no hooks.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.before_agent.is_none()
            && self.after_agent.is_none()
            && self.before_turn.is_none()
            && self.after_turn.is_none()
    }

    /// The hooks that are set, with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Hook)> {
        [
            ("before_agent", &self.before_agent),
            ("after_agent", &self.after_agent),
            ("before_turn", &self.before_turn),
            ("after_turn", &self.after_turn),
        ]
        .into_iter()
        .filter_map(|(name, hook)| Some((name, hook.as_ref()?)))
    }

    /// All hooks with their names, those included that are not set.
    pub fn slots_mut(&mut self) -> [(&'static str, &mut Option<Hook>); 4] {
        [
            ("before_agent", &mut self.before_agent),
            ("after_agent", &mut self.after_agent),
            ("before_turn", &mut self.before_turn),
            ("after_turn", &mut self.after_turn),
        ]
    }

    /// The statements of the hooks that are set.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut Body> {
        self.slots_mut().into_iter().filter_map(|(_, hook)| Some(&mut hook.as_mut()?.body))
    }
}

/// The statements of one hook.
#[derive(Clone, Debug, Default)]
pub struct Hook {
    /// The statements.
    pub body: Body,
    /// Whether a failure of the hook fails the turn.
    pub critical: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// The error handlers of an agent.
#[derive(Clone, Debug, Default)]
pub struct ErrorHandling {
    /// Handlers by error type, in order.
    pub handlers: Vec<ErrorHandler>,
    /// The handler of all other errors.
    pub default_handler: Option<Box<ErrorHandler>>,
}

/// The handler of one error type.
#[derive(Clone, Debug)]
pub struct ErrorHandler {
    /// The error type.
    pub kind: Spanned<Name>,
    /// Error subtypes.
    pub subtypes: Vec<Spanned<Name>>,
    /// The message to the user.
    pub respond: Option<Text>,
    /// Further statements.
    pub body: Body,
    /// The number of retries.
    pub retry: Option<NumberOrText>,
    /// The delay before a retry.
    pub retry_delay_ms: Option<NumberOrText>,
    /// `fixed`, `exponential`, `linear`.
    pub retry_backoff: Option<&'static str>,
    /// The maximum delay.
    pub retry_max_delay_ms: Option<NumberOrText>,
    /// What happens after the last retry.
    pub then: Option<OnErrorThen>,
    /// The agent that takes over.
    pub handoff_target: Option<Spanned<Name>>,
    /// The step to go back to.
    pub backtrack_to: Option<Spanned<Name>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// What happens after the last retry.
pub type OnErrorThen = Jump;

/// Natural-language understanding of an agent.
#[derive(Clone, Debug, Default)]
pub struct Nlu {
    /// The intents.
    pub intents: Vec<NluIntent>,
    /// The entities.
    pub entities: Vec<Entity>,
    /// The supported languages.
    pub languages: Vec<Spanned<Name>>,
    /// The language if none is detected.
    pub default_language: Option<SmolStr>,
    /// Whether users may mix languages.
    pub allow_code_switching: Option<bool>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// The intents of an `INTENTS` section.
#[derive(Clone, Debug, Default)]
pub struct ConversationIntents {
    /// The intents.
    pub intents: Vec<NluIntent>,
    /// `never`, `when_unavailable`, `always`.
    pub lexical_fallback: Option<&'static str>,
}

/// An intent of the user.
#[derive(Clone, Debug)]
pub struct NluIntent {
    /// The name.
    pub name: Spanned<Name>,
    /// A description.
    pub description: Option<Text>,
    /// Patterns that match it.
    pub patterns: Vec<Text>,
    /// Example utterances.
    pub examples: Vec<Text>,
    /// A file with further examples.
    pub examples_file: Option<SmolStr>,
    /// The entities mentioned with it.
    pub entities: Vec<Spanned<Name>>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A reusable entity type.
#[derive(Clone, Debug)]
pub struct Entity {
    /// The name.
    pub name: Spanned<Name>,
    /// The type.
    pub ty: &'static str,
    /// The allowed values.
    pub values: Vec<Spanned<SmolStr>>,
    /// Synonyms of each value.
    pub synonyms: Option<Data>,
    /// A pattern that values match.
    pub pattern: Option<Spanned<SmolStr>>,
    /// The validation of values.
    pub validation: Option<Validation>,
    /// Whether values are personal or regulated data.
    pub sensitive: Option<bool>,
    /// How sensitive values are shown.
    pub sensitive_display: Option<&'static str>,
    /// How sensitive values are masked.
    pub mask_config: Option<MaskConfig>,
    /// The category of personal data.
    pub pii_type: Option<Spanned<Name>>,
    /// A description.
    pub description: Option<Text>,
    /// Hints for extraction.
    pub extraction_hints: Vec<Text>,
    /// The section it is declared in.
    pub source: EntitySource,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// The section an entity is declared in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntitySource {
    /// The `ENTITIES` section.
    Explicit,
    /// The `NLU` section.
    NluLowered,
    /// An inline gather field.
    GatherInline,
    /// The platform.
    System,
}

/// The declared intents, and the handling of several in one message.
#[derive(Clone, Debug, Default)]
pub struct IntentHandling {
    /// Handling of several intents in one message.
    pub multi_intent: Option<MultiIntent>,
    /// The declared intents.
    pub intents: Option<ConversationIntents>,
}

/// Handling of several intents in one message.
#[derive(Clone, Debug, Default)]
pub struct MultiIntent {
    /// Whether several intents are detected.
    pub enabled: Option<bool>,
    /// `primary_queue`, `sequential`, `parallel`, `disambiguate`, `auto`.
    pub strategy: Option<&'static str>,
    /// The strategy if their relationship is unknown.
    pub unknown_relationship_strategy: Option<SmolStr>,
    /// The maximum number of intents.
    pub max_intents: Option<NumberOrText>,
    /// The minimum confidence of the classifier.
    pub confidence_threshold: Option<NumberOrText>,
    /// How long an intent may stay queued.
    pub queue_max_age_ms: Option<NumberOrText>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A named template and its variants.
#[derive(Clone, Debug)]
pub struct Template {
    /// The name.
    pub name: Spanned<Name>,
    /// The plain text, used where no other variant fits.
    pub default: Option<Text>,
    /// Variants for richer channels, by format.
    pub rich_content: IndexMap<SmolStr, Text>,
    /// Instructions for speech output.
    pub voice_instructions: Option<Text>,
    /// Buttons and inputs shown with the message.
    pub actions: Option<Actions>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A lookup table.
#[derive(Clone, Debug)]
pub struct LookupTable {
    /// The name.
    pub name: Spanned<Name>,
    /// `inline`, `collection`, `api`.
    pub source: Option<&'static str>,
    /// The values.
    pub values: Vec<Text>,
    /// The values by key.
    pub map: Option<Data>,
    /// The collection that holds the table.
    pub table_name: Option<Spanned<SmolStr>>,
    /// The URL that serves the table.
    pub endpoint: Option<Spanned<SmolStr>>,
    /// The field to read.
    pub field: Option<Spanned<SmolStr>>,
    /// Request headers.
    pub headers: Option<Data>,
    /// The timeout.
    pub timeout_ms: Option<NumberOrText>,
    /// Whether matching is case-sensitive.
    pub case_sensitive: Option<bool>,
    /// Whether approximate matches count.
    pub fuzzy_match: Option<bool>,
    /// The minimum similarity of approximate matches.
    pub fuzzy_threshold: Option<NumberOrText>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

impl LookupTable {
    /// Whether its rows are part of the program: those of the platform's collections and services are not, unless they lie
    /// beside the program.
    #[must_use]
    pub fn has_rows(&self) -> bool {
        let has_some = !self.values.is_empty() || self.map.is_some();
        matches!(self.source, None | Some("inline" | "collection")) && has_some
    }

    /// The collection that it is, by its name on the platform.
    #[must_use]
    pub fn collection(&self) -> Option<&str> {
        let name = self.table_name.as_ref().map_or(self.name.value.as_str(), |name| &name.value);
        (self.source == Some("collection")).then_some(name)
    }
}

impl Template {
    /// All texts of the template.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.default.iter().chain(self.rich_content.values()).chain(self.voice_instructions.iter())
    }
}
