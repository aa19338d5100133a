//! An agent: who it is, how it runs, and all that it can do.

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
use agentir_expr::{Condition, Dialect, Name, Template as Text};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// An agent or a supervisor.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "AgentIR")]
pub struct Agent {
    /// [`crate::IR_VERSION`].
    pub ir_version: &'static str,
    /// Its name and origin.
    pub metadata: Metadata,
    /// How it runs.
    pub execution: Execution,
    /// Who it is.
    pub identity: Identity,
    /// What it can call.
    pub tools: Vec<Tool>,
    /// What it asks for.
    pub gather: Gather,
    /// Files it asks for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// What it keeps.
    pub memory: Memory,
    /// What it answers from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge: Option<Knowledge>,
    /// What must hold.
    pub constraints: Constraints,
    /// How it works with others.
    pub coordination: Coordination,
    /// When it is done.
    pub completion: Completion,
    /// What happens when something goes wrong.
    pub error_handling: ErrorHandling,
    /// Its steps; without them the model leads.
    pub flow: Option<Flow>,
    /// What the model may do where it leads, if more is said of it than which tools there are.
    pub reasoning: Option<ReasoningZone>,
    /// What is done when it starts.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub on_start: Body,
    /// Texts of its own for what the platform says.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub messages: IndexMap<SmolStr, Response>,
    /// What is done around each turn.
    #[serde(skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
    /// How it understands.
    pub nlu: Option<Nlu>,
    /// Reusable kinds of values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    /// What it does with several wishes at once.
    pub intent_handling: Option<IntentHandling>,
    /// Named texts: their plain form.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub templates: IndexMap<SmolStr, Template>,
    /// Templates that are defined again under a name that is taken; only the last definition counts.
    #[serde(skip)]
    pub shadowed_templates: Vec<Template>,
    /// How it chooses among agents.
    pub routing: Option<Routing>,
    /// The agents it chooses among.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub available_agents: Vec<AgentReference>,
    /// Reference tables.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub lookup_tables: IndexMap<SmolStr, LookupTable>,
    /// Reference tables whose names are defined again; only the last definition counts.
    #[serde(skip)]
    pub shadowed_lookup_tables: Vec<LookupTable>,
    /// Behaviour that depends on the context, defined here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behavior_profiles: Vec<Profile>,
    /// Behaviour that depends on the context, defined elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub use_behavior_profiles: Vec<Spanned<Name>>,
    /// Tools defined elsewhere that it uses by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub use_tools: Vec<Spanned<Name>>,
    /// How the conversation is led.
    pub conversation_behavior: Option<Data>,
    /// Where events go.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub destinations: Vec<Data>,
    /// What buttons do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub action_handlers: Vec<ActionHandler>,
    /// What a supervisor may do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub policies: Vec<Policy>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Agent {
    /// An agent of which nothing is known but where it comes from.
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

/// Where an agent comes from.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Metadata {
    /// Its name.
    pub name: Spanned<Name>,
    /// Its version.
    pub version: Option<Spanned<SmolStr>>,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: AgentType,
    /// What it is for.
    pub description: Option<Text>,
    /// The dialect it was written in.
    pub dialect: &'static str,
    /// A hash of its source.
    pub source_hash: SmolStr,
    /// What compiled it.
    pub compiler_version: &'static str,
}

impl Metadata {
    /// Where an agent of this name, written in this dialect, comes from.
    #[must_use]
    pub fn new(name: Spanned<Name>, dialect: Dialect, source_hash: SmolStr) -> Self {
        Self {
            name,
            version: None,
            kind: AgentType::Agent,
            description: None,
            dialect: dialect.name(),
            source_hash,
            compiler_version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The kinds of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentType {
    /// Does something itself.
    Agent,
    /// Chooses who does.
    Supervisor,
}

/// Who an agent is.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Identity {
    /// What it tries to achieve.
    pub goal: Option<Text>,
    /// How it speaks.
    pub persona: Option<Text>,
    /// What it cannot do.
    pub limitations: Vec<Text>,
    /// What the model is told in addition; parts may depend on the state.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<Instruction>,
    /// What the model is told.
    pub system_prompt: Option<SystemPrompt>,
    /// The language it speaks.
    pub language: Option<Spanned<SmolStr>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A part of what the model is told.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Instruction {
    /// Only if this holds.
    pub when: Option<Condition>,
    /// The text.
    pub text: Text,
}

/// The author's own system prompt.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SystemPrompt {
    /// Its text.
    pub template: Text,
    /// Whether the author wrote it.
    pub custom: bool,
}

/// How an agent runs.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Execution {
    /// What the platform should know about it, found by looking at it.
    pub hints: ExecutionHints,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// The model.
    pub model: Option<Spanned<SmolStr>>,
    /// How free it is.
    pub temperature: Option<NumberOrText>,
    /// How long it may speak.
    pub max_tokens: Option<NumberOrText>,
    /// How many tool calls it may make in a turn.
    pub max_iterations: Option<NumberOrText>,
    /// How many steps a flow may take.
    pub max_flow_iterations: Option<NumberOrText>,
    /// The model to use if the first fails.
    pub fallback_model: Option<Spanned<SmolStr>>,
    /// `low`, `medium`, `high`.
    pub reasoning_effort: Option<&'static str>,
    /// Whether the model thinks first.
    pub enable_thinking: Option<bool>,
    /// How long.
    pub thinking_budget: Option<NumberOrText>,
    /// When the history is made shorter.
    pub compaction_threshold: Option<NumberOrText>,
    /// How.
    pub compaction: Option<Data>,
    /// Models for single operations.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub operation_models: IndexMap<SmolStr, Data>,
    /// `serial`, `preemptive`, `parallel`.
    pub concurrency: Option<&'static str>,
    /// How many messages may wait.
    pub max_queue_depth: Option<NumberOrText>,
    /// How many are handled at once.
    pub max_concurrent_messages: Option<NumberOrText>,
    /// Classification before the model is asked.
    pub pipeline: Option<Data>,
    /// Whether fields are asked for in the answer itself.
    pub inline_gather: Option<bool>,
    /// How it speaks.
    pub voice: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

impl Execution {
    /// How many steps a session may take in flows: as it is set, else the platform's 100 (ABL, current
    /// specification, 7.11); none if only configuration says so.
    #[must_use]
    pub const fn flow_steps(&self) -> Option<f64> {
        match &self.max_flow_iterations {
            Some(NumberOrText::Number(n)) => Some(n.0),
            Some(NumberOrText::Text(_)) => None,
            None => Some(100.0),
        }
    }
}

/// What the platform should know about an agent.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExecutionHints {
    /// It speaks.
    pub voice_optimized: bool,
    /// It keeps something beyond the conversation.
    pub requires_persistence: bool,
    /// People may take over.
    pub supports_hitl: bool,
    /// Its tools may run beside each other.
    pub parallel_tools: bool,
    /// `simple`, `moderate`, `complex`.
    pub complexity: &'static str,
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

/// How long things may take, in milliseconds.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Timeouts {
    /// A tool call.
    pub tool_timeout_ms: NumberOrText,
    /// A question to the model.
    pub llm_timeout_ms: NumberOrText,
    /// A silent user.
    pub session_timeout_ms: NumberOrText,
    /// An answer, where the user listens.
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

/// What is done around agents and turns.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Hooks {
    /// Before the agent starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_agent: Option<Hook>,
    /// After it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_agent: Option<Hook>,
    /// Before each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_turn: Option<Hook>,
    /// After each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_turn: Option<Hook>,
}

impl Hooks {
    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.before_agent.is_none()
            && self.after_agent.is_none()
            && self.before_turn.is_none()
            && self.after_turn.is_none()
    }

    /// The hooks there are, with their names.
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
}

/// What is done at one of these moments.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Hook {
    /// What.
    #[serde(flatten)]
    pub body: Body,
    /// Whether the turn fails if it fails.
    pub critical: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// What happens when something goes wrong.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ErrorHandling {
    /// By kind of error, in order.
    pub handlers: Vec<ErrorHandler>,
    /// For every other kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_handler: Option<Box<ErrorHandler>>,
}

/// What happens at one kind of error.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ErrorHandler {
    /// The kind.
    #[serde(rename = "type")]
    pub kind: Spanned<Name>,
    /// Narrower kinds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subtypes: Vec<Spanned<Name>>,
    /// What is said.
    pub respond: Option<Text>,
    /// What is done besides.
    #[serde(skip_serializing_if = "Body::is_empty")]
    pub body: Body,
    /// How often it is tried again.
    pub retry: Option<NumberOrText>,
    /// After how long.
    pub retry_delay_ms: Option<NumberOrText>,
    /// `fixed`, `exponential`, `linear`.
    pub retry_backoff: Option<&'static str>,
    /// At most after how long.
    pub retry_max_delay_ms: Option<NumberOrText>,
    /// What happens after the last try.
    pub then: Option<OnErrorThen>,
    /// The agent that takes over.
    pub handoff_target: Option<Spanned<Name>>,
    /// The step to go back to.
    pub backtrack_to: Option<Spanned<Name>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// What happens after the last try.
pub type OnErrorThen = Jump;

/// How an agent understands.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Nlu {
    /// What users may want.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intents: Vec<NluIntent>,
    /// What they may mention.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Entity>,
    /// The languages they may speak.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<Spanned<Name>>,
    /// The language they speak if nobody knows.
    pub default_language: Option<SmolStr>,
    /// Whether they may mix them.
    pub allow_code_switching: Option<bool>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// The intents of an `INTENTS` section.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct ConversationIntents {
    /// What users may want.
    pub intents: Vec<NluIntent>,
    /// `never`, `when_unavailable`, `always`.
    pub lexical_fallback: Option<&'static str>,
}

/// Something users may want.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NluIntent {
    /// Its name.
    pub name: Spanned<Name>,
    /// What it means.
    pub description: Option<Text>,
    /// Patterns that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<Text>,
    /// How users say it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Text>,
    /// A file with more of that.
    pub examples_file: Option<SmolStr>,
    /// What they mention then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<Spanned<Name>>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// A reusable kind of value.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Entity {
    /// Its name.
    pub name: Spanned<Name>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// The values it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Spanned<SmolStr>>,
    /// Other words for each of them.
    pub synonyms: Option<Data>,
    /// A pattern its values have.
    pub pattern: Option<Spanned<SmolStr>>,
    /// How a value is checked.
    pub validation: Option<Validation>,
    /// Personal or regulated.
    pub sensitive: Option<bool>,
    /// How it is shown.
    pub sensitive_display: Option<&'static str>,
    /// How it is masked.
    pub mask_config: Option<MaskConfig>,
    /// What kind of personal data it is.
    pub pii_type: Option<Spanned<Name>>,
    /// What it is.
    pub description: Option<Text>,
    /// Hints to whoever extracts it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extraction_hints: Vec<Text>,
    /// Which section it comes from.
    pub source: EntitySource,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// Which section an entity comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntitySource {
    /// `ENTITIES`.
    Explicit,
    /// `NLU`.
    NluLowered,
    /// A gather field.
    GatherInline,
    /// The platform.
    System,
}

/// What is done with several wishes at once, and which wishes there are.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct IntentHandling {
    /// Several at once.
    pub multi_intent: Option<MultiIntent>,
    /// Which there are.
    pub intents: Option<ConversationIntents>,
}

/// What is done with several wishes at once.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MultiIntent {
    /// Whether they are told apart.
    pub enabled: Option<bool>,
    /// `primary_queue`, `sequential`, `parallel`, `disambiguate`, `auto`.
    pub strategy: Option<&'static str>,
    /// What to do if nobody knows how they relate.
    pub unknown_relationship_strategy: Option<SmolStr>,
    /// At most so many.
    pub max_intents: Option<NumberOrText>,
    /// How sure the classifier must be.
    pub confidence_threshold: Option<NumberOrText>,
    /// How long one may wait.
    pub queue_max_age_ms: Option<NumberOrText>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A named text with its variants.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Template {
    /// Its name.
    #[serde(skip)]
    pub name: Spanned<Name>,
    /// The plain form, used where no other fits.
    pub default: Option<Text>,
    /// Forms for channels that can show more.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub rich_content: IndexMap<SmolStr, Text>,
    /// How it is spoken.
    pub voice_instructions: Option<Text>,
    /// Buttons and inputs beside it.
    pub actions: Option<Actions>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// A reference table.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LookupTable {
    /// Its name.
    #[serde(skip)]
    pub name: Spanned<Name>,
    /// `inline`, `collection`, `api`.
    pub source: Option<&'static str>,
    /// Its values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Text>,
    /// Its values by key.
    pub map: Option<Data>,
    /// The collection that has it.
    pub table_name: Option<Spanned<SmolStr>>,
    /// The address that has it.
    pub endpoint: Option<Spanned<SmolStr>>,
    /// The field to read.
    pub field: Option<Spanned<SmolStr>>,
    /// Headers of the request.
    pub headers: Option<Data>,
    /// How long it may take.
    pub timeout_ms: Option<NumberOrText>,
    /// Whether letter case counts.
    pub case_sensitive: Option<bool>,
    /// Whether something similar will do.
    pub fuzzy_match: Option<bool>,
    /// How similar.
    pub fuzzy_threshold: Option<NumberOrText>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

impl Template {
    /// All its texts.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.default.iter().chain(self.rich_content.values()).chain(self.voice_instructions.iter())
    }
}
