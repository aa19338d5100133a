//! The reference runtime: what the languages mean, executed.
//!
//! A [`Machine`] walks the control-flow graph of a program ([`agentir_flow::Cfg`]), the same that the
//! lints read. What it needs from outside (a model, tools, people, the time) comes through a
//! [`Host`]; what happens is told to an [`Observer`] as [`Event`]s; all that must survive between two
//! turns is in a [`Session`], which is plain data.
//!
//! `docs/semantics.md` says what each construct does, and where the specifications leave it open.
//!
//! *Invariant*: nothing here touches files, network, clock or chance; a conversation with the same
//! answers from the same host is the same conversation.

mod host;
mod json;
mod machine;
mod model;
mod orchestration;
mod session;
mod trace;

pub use host::{
    Clock, Escalation, FailureKind, Host, Human, HumanReply, MAX_ARGUMENTS, NoHuman, Observer,
    ToolCall, ToolFailure, Tools,
};
pub use json::{from_json, to_json};
pub use machine::{AgentMessage, Input, Machine, StartError, Turn};
pub use model::{
    Answer, Candidate, FieldSpec, FieldType, Message, Model, ModelError, ModelRequest,
    ModelResponse, ModelSettings, ModelTask, Purpose, Role, ToolSpec, ToolUse, Usage,
};
pub use orchestration::OrchestrationMethod;
pub use session::{SESSION_VERSION, Session, Status};
pub use trace::{Event, EventKind, trace_schema};
