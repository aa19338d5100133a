//! AgentIR: the model that agents of all dialects are lowered to and that every analysis reads.
//!
//! The model is the same for ABL, Agent Script and ADL. Its JSON is a versioned contract ([`schema`])
//! and uses the names of ABL's own tools where they exist. Names, texts and conditions carry their
//! source spans so that diagnostics can point into the source; spans are neither part of the JSON nor
//! of equality.
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
mod program;
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
pub use agentir_expr::Dialect;
pub use coordination::{
    AgentReference, Completion, CompletionCondition, Context, Coordination, Decider, Delegate,
    Escalation, Handoff, HumanOutcome, IntentClassification, MemoryGrant, OnReturn, PassedValue,
    Remote, ReturnHandler, Routing, RoutingRule, RoutingTarget, Trigger, VariableBinding,
};
pub use data::{Data, Extension, Extensions, Number, NumberOrText, free_key};
pub use flow::{Digression, Flow, ReasoningZone, Step, SubIntent};
pub use gather::{Activation, Attachment, Gather, GatherField, MaskConfig, Semantics, Validation};
pub use knowledge::{Knowledge, Question};
pub use memory::{
    Memory, PersistentPath, Recall, RecallAction, Remember, SessionVariable, StateVariable,
    StoredValue,
};
pub use program::{CompilationIssue, CompilationOutput, Deployment, Program, ToolLibrary};
pub use rules::{
    Checkpoint, Constraint, ConstraintFailure, ConstraintKind, Constraints, FailureKind,
    FlowModifications, GatherOverrides, Guardrail, GuardrailKind, Insertion, Policy, PolicyRule,
    Profile,
};
pub use statement::{
    ActionElement, ActionHandler, Actions, Body, Branch, Call, Collect, Delegation, Jump, Phase,
    Response, SetVariable, SortBy, Statement, Target, Transform,
};
pub use tool::{
    Binding, BindingAction, Confirmation, ContextAccess, FilledBy, InputBinding, Parameter,
    ReturnField, ReturnType, Tool, ToolBinding, ToolHints, ToolType,
};

pub use walk::{AgentUse, ConditionUse, Node, ReadUse, ToolUse, WriteUse};

/// The version of the JSON that [`schema`] describes.
pub const IR_VERSION: &str = "1.0";

/// The JSON Schema of the compilation output, with the IR of an agent in it.
#[must_use]
pub fn schema() -> serde_json::Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    settings.meta_schema = Some("https://json-schema.org/draft/2020-12/schema".into());
    let schema = settings.into_generator().into_root_schema_for::<CompilationOutput>();
    let mut value = schema.to_value();
    if let Some(object) = value.as_object_mut() {
        object.insert("title".into(), "AgentIR compilation output".into());
    }
    value
}
