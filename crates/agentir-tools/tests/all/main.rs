//! Tools through their public doors, with servers of our own.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests end by panicking"
)]

mod calls;
mod docs;
mod http;
mod http_limits;
mod python;
mod remote;
#[cfg(feature = "scripts")]
mod scripts;
mod server;
mod stubs;
mod toolbox;

use agentir::languages;
use agentir_ir::{Program, Tool};
use agentir_runtime::{ToolCall, ToolFailure, Tools};
use agentir_tools::{HostGrant, Hosts};
use serde_json::{Map, Value as Json};
use std::str::FromStr;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// When work is taken to hang.
const WATCHDOG: Duration = Duration::from_mins(1);

/// A program of files, by name.
fn program(files: &[(&str, &str)]) -> Program {
    let files = files.iter().copied();
    let mut loaded =
        agentir_project::read_program(languages(), files, agentir::ReadOptions::default());
    loaded.programs.remove(0).program
}

/// Does some work that must not go on for ever. This is not a measurement: it fails only if the work hangs.
fn does_not_hang<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = mpsc::channel();
    thread::spawn(move || done.send(work()));
    match result.recv_timeout(WATCHDOG) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("still at work after {WATCHDOG:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("the work panicked"),
    }
}

/// The servers of the tests, and whatever else is at this address.
fn here() -> Hosts {
    [HostGrant::from_str("127.0.0.1").unwrap()].into_iter().collect()
}

/// The tool of a library, as it is written there below `TOOLS:`.
fn tool(written: &str) -> Tool {
    let text = format!("TOOLS:\n{written}");
    let program = program(&[("x.tools.abl", &text)]);
    let tool = program.tools().next().cloned();
    tool.unwrap_or_else(|| panic!("no tool in:\n{text}"))
}

fn arguments(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(fields) => fields,
        other => panic!("{other} are not arguments"),
    }
}

/// Calls a tool, with time enough.
fn call(by: &mut dyn Tools, tool: &Tool, with: Json) -> Result<Json, ToolFailure> {
    call_within(by, tool, with, 60_000)
}

fn call_within(
    by: &mut dyn Tools,
    tool: &Tool,
    with: Json,
    timeout_ms: u64,
) -> Result<Json, ToolFailure> {
    let name = tool.name.value.as_str();
    by.call(&ToolCall {
        agent: "Desk",
        name,
        tool: Some(tool),
        remote: None,
        arguments: arguments(with),
        timeout_ms,
        idempotency_key: String::new(),
        session: serde_json::Map::new(),
    })
}

/// Calls a tool that reads variables of the conversation.
fn call_with_session(
    by: &mut dyn Tools,
    tool: &Tool,
    with: Json,
    session: Json,
) -> Result<Json, ToolFailure> {
    by.call(&ToolCall {
        agent: "Desk",
        name: tool.name.value.as_str(),
        tool: Some(tool),
        remote: None,
        arguments: arguments(with),
        timeout_ms: 10_000,
        idempotency_key: String::new(),
        session: arguments(session),
    })
}

/// Calls a tool that nobody declares.
fn call_by_name(by: &mut dyn Tools, name: &str, with: Json) -> Result<Json, ToolFailure> {
    by.call(&ToolCall {
        agent: "Desk",
        name,
        tool: None,
        remote: None,
        arguments: arguments(with),
        timeout_ms: 10_000,
        idempotency_key: String::new(),
        session: serde_json::Map::new(),
    })
}
