//! AgentIR: the model that agents of all dialects are lowered to and that every analysis reads.
//!
//! The model is the same for ABL, Agent Script and ADL. Its JSON is a versioned contract, the crate
//! `agentir-ir-json`, and uses the names of ABL's own tools where they exist. Names, texts and
//! conditions carry their source spans so that diagnostics can point into the source; spans are
//! neither part of the JSON nor of equality.
//!
//! Transitions state who decides them: a condition, the model, the user, or nobody. Conditions in
//! natural language are first-class; they are printed as text, and no rule guesses what they mean.
//!
//! # Concepts and their spellings
//!
//! `corpus/rosetta/` has the same small agents in several languages, and a test requires equal IRs;
//! it lists what may differ. Conditions in JSON have canonical syntax, so a reader does not need to
//! know their language of origin.
//!
//! | concept | ABL | Agent Script | ADL | AgentIR |
//! |---|---|---|---|---|
//! | program | project: agents, tools, profiles, entry agent | one file | one YAML; a `main` that only calls names the entry | `Program`; `agents{}`, `libraries[]`, `entry_agent` in JSON |
//! | agent | `AGENT`, `SUPERVISOR` | `start_agent`, `subagent`, `topic` | llm, flow, ensemble, kb agent | `Agent`, `metadata.type`, `metadata.dialect` |
//! | agent elsewhere | `REMOTE` | `connected_subagent` | – | `remote` on the transition |
//! | identity | `GOAL PERSONA LIMITATIONS INSTRUCTIONS` | `description` (the goal), `system.instructions` | `description` (the goal), `prompt` | `identity` |
//! | greeting | `ON_START` | `messages.welcome` | – | `on_start` |
//! | prompt built at run time | profiles, templates | instruction procedure | – | `identity.instructions[]`, each with `when` |
//! | state | session and persistent memory, gathered fields, results | `variables` | `args` | `memory`, `gather`, results of calls |
//! | another agent's variable | `PASS`, `SET` of a handoff | – | `contains … args`, `ref` | `bindings[]` of a handoff or a delegation |
//! | limited jump | `MAX_ATTEMPTS` of a step | – | `next` with `tries` | `repeat` |
//! | knowledge | search tools | `knowledge` | kb agent | `knowledge` |
//! | collecting values | `GATHER` (agent, step), `COLLECT` | `@utils.setVariables`, `...` | `args` of an LLM agent | `gather`; in a body `collect` |
//! | tool | `TOOLS` signature + binding | `actions` | Python function | `tools[]` |
//! | tools exposed to the model | all tools, `AVAILABLE_TOOLS` | reasoning action | `uses` | `reasoning_zone.available_tools` |
//! | deterministic code | step, `ON_START`, hooks, handlers | `before_reasoning`, callbacks | `steps` | `Body` of `Statement`s |
//! | position | step | subagent | step, label, subflow | `flow.definitions` |
//! | waiting for the user | `ON_INPUT` | end of the reasoning loop | `user`, and the `if` after it | `await` with branches |
//! | model in charge | no `FLOW`; `REASONING: true` | `reasoning` | LLM agent | agent without `flow`; `reasoning_zone` |
//! | hand over for good | `HANDOFF` | `transition to` | `exit`, `fallback` | `handoffs[]`, `decided_by` |
//! | hand over and return | `HANDOFF` with `RETURN: true` | – | `contains` of an ensemble | `handoffs[]` with `return` |
//! | call and come back | `DELEGATE`, `RETURN: true` | `@subagent.x` as an action | `call` agent | `delegates[]`, `return` |
//! | choosing among agents | `ROUTING`, `INTENT(…)`, natural-language `WHEN` | descriptions of transitions | descriptions of the agents in `contains` | `routing.rules[]`, `default_agent`; a natural `when` of handoffs and delegates |
//! | human | `ESCALATE` | `@utils.escalate` | – | `coordination.escalation` |
//! | done | `COMPLETE` | `@utils.end_session` | `return`, `exit` | `completion`, `Target::Complete`, `Target::Fail` |
//! | business rule | `CONSTRAINTS` | guards | – | `constraints.constraints[]` |
//! | safety check | `GUARDRAILS` | – | guardrail agent | `constraints.guardrails[]` |
//! | error handling | `ON_ERROR`, `ON_FAIL` | the platform | `fallback` | `error_handling`, `on_failure` |
//! | natural-language condition | English `WHEN`, intents | a description | `the user claims "…"` | `Condition` of kind `Natural` |
//! | message to the user | `RESPOND`, `TEMPLATES` | messages, `{! }` | `bot`, `${}` | `Template`: text with placeholders |
//!
//! *Invariant*: this crate knows no dialect's syntax. Dialect-specific data without a field in AgentIR
//! goes to [`Extensions`] and is never dropped.

mod agent;
mod coordination;
mod data;
mod flow;
mod gather;
mod knowledge;
mod memory;
mod names;
pub mod polarity;
mod program;
pub mod recall;
mod rules;
mod statement;
mod tool;
mod walk;

pub use agent::{
    Agent, AgentType, ConversationIntents, Entity, EntitySource, ErrorHandler, ErrorHandling,
    Execution, ExecutionHints, Hook, Hooks, Identity, Instruction, IntentHandling, LookupTable,
    Metadata, MultiIntent, Nlu, NluIntent, OnErrorThen, SystemPrompt, Template as NamedTemplate,
    Timeouts,
};
pub use agentir_expr::dialect::{self, Dialect};
pub use coordination::{
    AgentReference, Completion, CompletionCondition, Context, Coordination, Decider, Delegate,
    Escalation, Handoff, HumanOutcome, IntentClassification, MemoryGrant, OnReturn, PassedValue,
    Remote, ReturnHandler, Routing, RoutingRule, RoutingTarget, Trigger, VariableBinding,
};
pub use data::{Data, Extension, Extensions, Number, NumberOrText, TextData, free_key};
pub use flow::{Digression, Flow, ReasoningZone, Step, SubIntent};
pub use gather::{
    Activation, Attachment, BadRule, FIELD_TYPES, Gather, GatherField, MaskConfig, Requirement,
    Semantics, Validation, is_integer_type,
};
pub use knowledge::{Knowledge, Question};
pub use memory::{
    Memory, PersistentPath, Recall, RecallAction, Remember, SessionVariable, StateVariable,
    StoredValue,
};
pub use names::NamedThing;
pub use program::{Aliases, CompilationIssue, CompilationOutput, Deployment, Program, ToolLibrary};
pub use rules::{
    Checkpoint, Constraint, ConstraintFailure, ConstraintKind, Constraints, FailureKind,
    FlowModifications, GatherOverrides, Guardrail, GuardrailKind, Insertion, Policy, PolicyRule,
    Profile,
};
pub use statement::{
    ActionElement, ActionHandler, Actions, Body, Branch, Call, Collect, Delegation, Jump, Phase,
    Response, SetVariable, SortBy, Statement, Target, Transform, falls_through,
};
pub use tool::{
    Binding, BindingAction, Confirmation, ContextAccess, FilledBy, InputBinding, Parameter,
    ReturnField, ReturnType, Tool, ToolBinding, ToolHints, ToolType,
};

pub use walk::{AgentUse, ConditionUse, Node, ReadUse, ToolUse, WriteUse};

/// The version of AgentIR's JSON, which `agentir-ir-json` writes and reads.
pub const IR_VERSION: &str = "1.0";
