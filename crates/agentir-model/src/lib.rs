//! Language models for the runtime.
//!
//! There are three implementations of [`agentir_runtime::Model`]:
//!
//! - [`Scripted`] answers from a file, for tests that depend on exact answers;
//! - [`Offline`] uses heuristics: it is free, needs no network and is deterministic;
//! - [`OpenAi`] calls a service with OpenAI's chat completions API.
//!
//! All of them count tokens in the same way: a request is converted to the chat that a service
//! would receive ([`Chat`]), and that chat is counted ([`Tokens`]) unless the service reports its
//! own usage. So the figures of an offline run are those of the prompts, and runs with different
//! models are comparable.
//!
//! *Invariant*: only [`OpenAi`] uses the network, and only its retries read the clock; no model
//! invents a value, and no error message contains a key.

mod chat;
mod fields;
mod offline;
mod openai;
mod script;
mod tokens;

pub use chat::Chat;
pub use fields::{FieldError, fits, schema_of};
pub use offline::{DateOrder, Offline};
pub use openai::{ApiKey, Endpoint, EndpointError, OpenAi};
pub use script::{FailureMode, Script, ScriptEntry, ScriptError, Scripted, Times, script_schema};
pub use tokens::Tokens;
