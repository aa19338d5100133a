//! Execution of tool calls: stubs from a file, HTTP, Python functions, and the toolbox that
//! combines them.
//!
//! [`Toolbox`] is what a conversation uses ([`agentir_runtime::Tools`]). It knows the declarations
//! of a program, checks the arguments of a call against them, and selects who answers it:
//!
//! 1. [`Stubs`], if there is one for the tool; they are always allowed,
//! 2. a table or a script that is written in the program (`Scripts`, feature `scripts`),
//! 3. if tools are [allowed](Allow): [`Http`], MCP servers ([`Toolbox::mcp`]) or [`Python`], by the
//!    tool's binding.
//!
//! Any other call is refused, with a message that says how to allow or to stub the tool.
//!
//! Agents that are not part of the program are called through [`agentir_runtime::Tools::call`] as
//! well, so stubs, permissions, credentials and limits apply to them; `remote` has the protocols.
//! Asking the user for confirmation before a call is a node of the graph, not a part of the call,
//! so that comparison, drawings and cost bounds see it.
//!
//! Tools, hosts and variables of the environment are allowed by name, and only by whoever runs the
//! program: nothing that comes with a program can allow anything. A [`Process`] that is started for a
//! tool ends with its call, and with a [`Supervisor`] whenever this process does.
//!
//! *Invariant*: nothing here has external effects unless whoever runs the program allowed them. The
//! environment ([`EnvVars`]) goes only where the program's author wrote it and into no message.
//! Values from a model stay values: they end no string, start no header or command, and leave
//! neither their part of a URL nor the host.

mod arguments;
mod environment;
mod error;
mod hosts;
mod http;
mod knowledge;
mod mcp_servers;
mod process;
mod python;
mod remote;
#[cfg(feature = "scripts")]
mod scripts;
mod settings;
mod stubs;
#[cfg(unix)]
mod supervise;
mod tables;
mod template;
mod toolbox;

pub use environment::{EnvVars, FillError, NoVariable, Secrets};
pub use error::FileError;
pub use hosts::{HostGrant, Hosts};
pub use http::Http;
pub use mcp_servers::{McpFile, Server};
pub use process::{Process, ProcessSpec, Supervisor};
pub use python::Python;
#[cfg(feature = "scripts")]
pub use scripts::Scripts;
pub use stubs::{FailureMode, Matcher, MatcherError, RecordedCall, StubCase, StubFile, Stubs};
#[cfg(unix)]
pub use supervise::supervise;
pub use toolbox::{Allow, Toolbox};

use agentir_runtime::{FailureKind, ToolCall, ToolFailure};
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

/// How deep the values of an answer may lie in each other; deeper ones are not values of the languages.
pub const MAX_DEPTH: usize = 64;

/// No call takes longer, whatever an agent says.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// A call that was given up.
#[must_use]
pub fn cancelled(call: &ToolCall<'_>) -> ToolFailure {
    ToolFailure::new(FailureKind::Error, format!("`{}` was cancelled", call.name))
}

/// How long to wait for the answer of a call.
#[must_use]
pub fn call_timeout(call: &ToolCall<'_>) -> Duration {
    Duration::from_millis(call.timeout_ms).min(MAX_TIMEOUT)
}
