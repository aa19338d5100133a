//! The reference runtime: executes the semantics of the supported languages.
//!
//! A [`Machine`] follows the control-flow graph of a program ([`agentir_flow::Cfg`]), the same
//! graph that the lints analyse. A [`Host`] provides the outside world (a model, tools, people, the
//! time); an [`Observer`] receives [`Event`]s; the state that survives between two turns is a
//! [`Session`], which is plain data.
//!
//! `docs/semantics.md` defines what each construct does, and where the specifications leave it
//! open.
//!
//! *Invariant*: nothing here touches files, the network, the clock or a random source; with the
//! same answers from the host, a conversation is the same.

mod derived;
mod host;
mod json;
mod machine;
mod model;
mod orchestration;
mod random;
mod session;
mod trace;

pub use host::{
    Cancellation, Clock, Escalation, Extractor, FailureKind, Host, Human, HumanReply,
    MAX_ARGUMENTS, NoHuman, Observer, ToolCall, ToolFailure, Tools,
};
pub use json::{from_json, to_json};
pub use machine::{Input, Machine, Misfit, ShownSession, StartError, Turn, entry_of};
pub use model::{
    Answer, Candidate, FieldSpec, FieldType, Message, Model, ModelError, ModelRequest,
    ModelResponse, ModelSettings, ModelTask, Purpose, Role, ToolSpec, ToolUse, Usage, is_email,
};
pub use orchestration::OrchestrationMethod;
pub use random::SplitMix64;
pub use session::{AgentMessage, Attachment, MemoryWrite, SESSION_VERSION, Session, Status};
pub use trace::{Event, EventKind, trace_schema};
