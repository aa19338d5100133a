//! What calls tools: stubs from a file, HTTP, Python functions, and the box that puts them together.
//!
//! [`Toolbox`] is the one that a conversation gets ([`agentir_runtime::Tools`]). It knows the
//! declarations of a program, checks the arguments of a call by them, and finds who answers it:
//!
//! 1. [`Stubs`], where there is one for the tool: they always may,
//! 2. a table that is written in the program,
//! 3. if tools are [allowed](Allow): [`Http`], what calls MCP servers
//!    ([`Toolbox::mcp`]) or [`Python`], by the tool's binding.
//!
//! Agents that run elsewhere are asked in the same way, under their names.
//!
//! Everything else is refused, with a sentence that says how to allow or to stub it.
//!
//! *Invariant*: nothing here reaches the world unless it was allowed by whoever runs the program.
//! What the environment says ([`EnvVars`]) goes where the program's author wrote it and into no
//! message, and what a model says stays a value: it ends no string, begins no header or command, and
//! leaves neither its part of an address nor the host.

mod arguments;
mod environment;
mod error;
mod http;
mod mcp_servers;
mod python;
mod remote;
mod stubs;
mod tables;
mod template;
mod toolbox;

pub use environment::{EnvVars, FillError, Secrets};
pub use error::FileError;
pub use http::Http;
pub use mcp_servers::{McpFile, Server};
pub use python::Python;
pub use stubs::{FailureMode, Matcher, MatcherError, RecordedCall, StubCase, StubFile, Stubs};
pub use toolbox::{Allow, Toolbox};

use agentir_runtime::ToolCall;
use std::time::Duration;

/// The JSON Schema of files of stubs ([`StubFile`]).
#[must_use]
pub fn stubs_schema() -> serde_json::Value {
    schemars::schema_for!(StubFile).to_value()
}

/// The JSON Schema of files of MCP servers ([`McpFile`]).
#[must_use]
pub fn mcp_schema() -> serde_json::Value {
    schemars::schema_for!(McpFile).to_value()
}

/// How large the answer of a tool may be, in bytes.
pub const MAX_ANSWER_BYTES: usize = 4 << 20;

/// How deep the values of an answer may lie in each other; deeper ones are no values of the languages.
pub const MAX_DEPTH: usize = 64;

/// No call takes longer, whatever an agent says.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long to wait for the answer of a call.
#[must_use]
pub fn call_timeout(call: &ToolCall<'_>) -> Duration {
    Duration::from_millis(call.timeout_ms).min(MAX_TIMEOUT)
}
