//! Tools of type `mcp`: servers of the Model Context Protocol, called with the official SDK.
//!
//! A tool's binding names a server and one of its tools; a file defines the servers ([`McpFile`]).
//! A server is started or connected to when it is first needed, and lives as long as [`Mcp`]. This
//! is a crate of its own because nothing else needs the dependencies of the SDK.
//!
//! Whoever runs the agents names the file, and so allows what stands in it: the processes, the addresses,
//! and the variables of the environment ([`McpFile::variables`]). The SDK follows redirects only within
//! the same origin.
//!
//! *Invariant*: nothing here decides whether a tool may be called; only servers that a file defines
//! are started, and never through a shell.

use agentir_ir::Data;
use agentir_runtime::{FailureKind, ToolCall, ToolFailure, Tools};
#[cfg(unix)]
use agentir_tools::ProcessSpec;
use agentir_tools::{
    EnvVars, FillError, MAX_ANSWER_BYTES, McpFile, Process, Secrets, Server, Supervisor,
    call_timeout,
};
use http::{HeaderName, HeaderValue};
#[cfg(windows)]
use process_wrap::tokio::{CommandWrap, JobObject, KillOnDrop};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::serve_client;
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
#[cfg(windows)]
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
#[cfg(unix)]
use std::ffi::{OsStr, OsString};
#[cfg(unix)]
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout, timeout_at};

type Client = RunningService<RoleClient, ()>;

/// How long a server may take to end by itself when it is not needed any more.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// A server that is spoken to.
#[derive(Debug)]
struct Connection {
    client: Client,
    /// Its process, if it was started here.
    process: Option<Process>,
}

/// Calls tools of MCP servers.
#[derive(Debug)]
pub struct Mcp {
    // Ends before the runtime that it runs in.
    clients: BTreeMap<String, Connection>,
    servers: BTreeMap<String, Server>,
    env: EnvVars,
    supervisor: Option<Supervisor>,
    runtime: Runtime,
}

/// Why there is no answer.
enum CallError {
    /// It cannot be called like this.
    InvalidCall(String),
    /// The server failed, or is not there.
    Server(String),
}

impl Mcp {
    /// Calls the servers of a file, with the settings of an environment.
    ///
    /// # Errors
    /// The system gives no threads or no events.
    pub fn new(file: McpFile, env: EnvVars) -> std::io::Result<Self> {
        // One thread, so that requests of servers are answered even if no call is active.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("mcp")
            .enable_all()
            .build()?;
        let servers = file.servers;
        Ok(Self { clients: BTreeMap::new(), servers, env, supervisor: None, runtime })
    }

    /// Ends servers with this process, however it ends.
    #[must_use]
    pub fn supervisor(mut self, by: Option<Supervisor>) -> Self {
        self.supervisor = by;
        self
    }

    fn run(&mut self, call: &ToolCall<'_>, secrets: &mut Secrets) -> Result<Json, ToolFailure> {
        let name = call.name;
        let fail = |kind, words: String| ToolFailure::new(kind, format!("`{name}` {words}"));
        let binding = call.tool.and_then(|tool| tool.binding.as_ref());
        let text_field = |field: &str| binding.and_then(|b| b.0.get(field)).and_then(Data::as_str);
        let Some(server) = text_field("server") else {
            return Err(fail(FailureKind::Refused, "does not say its `server`".to_owned()));
        };
        let tool = text_field("tool").unwrap_or(name).to_owned();
        let timed_out = || {
            let words = format!("(server `{server}`) did not answer within {} ms", call.timeout_ms);
            fail(FailureKind::Timeout, words)
        };
        let failure = |error| match error {
            CallError::InvalidCall(why) => {
                fail(FailureKind::Refused, format!("cannot be called: {why}"))
            }
            CallError::Server(why) => fail(FailureKind::Api, format!("(server `{server}`): {why}")),
        };
        let end = Instant::now() + call_timeout(call);
        // A server that has exited is restarted.
        self.clients.retain(|_, connection| !connection.client.is_closed());
        let Self { clients, servers, env, supervisor, runtime } = self;
        if !clients.contains_key(server) {
            let known =
                servers.get(server).ok_or_else(|| failure(unknown_server(server, servers)))?;
            let by = supervisor.as_ref();
            let client =
                runtime.block_on(async { timeout_at(end, connect(known, env, by, secrets)).await });
            clients.insert(server.to_owned(), client.map_err(|_| timed_out())?.map_err(failure)?);
        }
        let Some(Connection { client, .. }) = clients.get(server) else {
            return Err(failure(CallError::Server("it is not there".to_owned())));
        };
        let request = CallToolRequestParams::new(tool).with_arguments(call.arguments.clone());
        // The clock is the runtime's.
        let answer = runtime.block_on(async { timeout_at(end, client.call_tool(request)).await });
        match answer {
            Err(_) => Err(timed_out()),
            Ok(Err(ServiceError::McpError(e))) => {
                Err(fail(FailureKind::Error, format!("(server `{server}`): {}", e.message)))
            }
            Ok(Err(e)) => {
                clients.remove(server);
                Err(failure(CallError::Server(e.to_string())))
            }
            Ok(Ok(result)) => result_of(result).map_err(|(words, data)| {
                let message = format!("`{name}` (server `{server}`): {words}");
                ToolFailure { kind: FailureKind::Error, message, data }
            }),
        }
    }
}

impl Tools for Mcp {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let mut secrets = Secrets::default();
        self.run(call, &mut secrets)
            .map_err(|failure| ToolFailure { message: secrets.redact(&failure.message), ..failure })
    }
}

fn unknown_server(server: &str, servers: &BTreeMap<String, Server>) -> CallError {
    let known: Vec<_> = servers.keys().map(|name| format!("`{name}`")).collect();
    let known = match known.as_slice() {
        [] => "the file of servers names none".to_owned(),
        _ => format!("the file of servers names {}", known.join(", ")),
    };
    CallError::InvalidCall(format!("there is no server `{server}`; {known}"))
}

/// Starts a server or connects to it.
async fn connect(
    server: &Server,
    environment: &EnvVars,
    supervisor: Option<&Supervisor>,
    secrets: &mut Secrets,
) -> Result<Connection, CallError> {
    let mut filled = |written: &BTreeMap<String, String>| {
        let one =
            |(name, text): (&String, &String)| Ok((name.clone(), environment.fill(text, secrets)?));
        let all = written.iter().map(one).collect::<Result<Vec<_>, FillError>>();
        all.map_err(|error| CallError::InvalidCall(error.to_string()))
    };
    let failed = |e: &dyn std::fmt::Display| CallError::Server(format!("it does not come up: {e}"));
    match server {
        Server::Process { command, args, env, folder } => {
            let env = filled(env)?;
            let started = Started { command, args, env, folder: folder.as_deref() };
            start(started, supervisor).await
        }
        Server::Http { url, headers } => {
            // The SDK builds its client with the provider of the process, and there must be one; a
            // second one is not taken.
            let _ = rustls::crypto::ring::default_provider().install_default();
            let mut sent = HashMap::new();
            for (name, value) in filled(headers)? {
                let wrong =
                    || CallError::InvalidCall(format!("its header `{name}` cannot be sent"));
                let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
                let mut value = HeaderValue::from_str(&value).map_err(|_| wrong())?;
                value.set_sensitive(true);
                sent.insert(header, value);
            }
            let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
            config.custom_headers = sent;
            config.max_sse_event_size = MAX_ANSWER_BYTES;
            let transport = StreamableHttpClientTransport::from_config(config);
            let client = serve_client((), transport).await.map_err(|e| failed(&e))?;
            Ok(Connection { client, process: None })
        }
    }
}

/// A server that is started: its program, with what the file says about it.
struct Started<'s> {
    command: &'s str,
    args: &'s [String],
    env: Vec<(String, String)>,
    folder: Option<&'s str>,
}

/// Starts a server.
#[cfg(unix)]
async fn start(
    server: Started<'_>,
    supervisor: Option<&Supervisor>,
) -> Result<Connection, CallError> {
    let command = server.command;
    let cannot = |e| CallError::Server(format!("`{command}` cannot be started: {e}"));
    let inherited = EnvVars::inherited().map(|(name, value)| (name.into(), value));
    // What the file says replaces what is inherited.
    let mut env: BTreeMap<OsString, OsString> = inherited.collect();
    env.extend(server.env.into_iter().map(|(name, value)| (name.into(), value.into())));
    let spec = ProcessSpec {
        program: OsStr::new(command),
        args: server.args.iter().map(OsString::from).collect(),
        env: env.into_iter().collect(),
        folder: server.folder.map(Path::new),
        stderr: Stdio::null(),
    };
    let mut process = Process::start(spec, supervisor).map_err(cannot)?;
    let (Some(output), Some(input)) = (process.stdout(), process.stdin()) else {
        return Err(CallError::Server(format!("`{command}` has no input and output")));
    };
    let output = tokio::process::ChildStdout::from_std(output).map_err(cannot)?;
    let input = tokio::process::ChildStdin::from_std(input).map_err(cannot)?;
    let client = serve_client((), (output, input)).await;
    let client = client.map_err(|e| CallError::Server(format!("it does not come up: {e}")))?;
    Ok(Connection { client, process: Some(process) })
}

/// Starts a server, in a job that ends when this process does.
#[cfg(windows)]
async fn start(server: Started<'_>, _: Option<&Supervisor>) -> Result<Connection, CallError> {
    let command = server.command;
    let mut process = tokio::process::Command::new(command);
    process.args(server.args).env_clear().envs(EnvVars::inherited()).envs(server.env);
    if let Some(folder) = server.folder {
        process.current_dir(folder);
    }
    let mut process = CommandWrap::from(process);
    process.wrap(JobObject);
    process.wrap(KillOnDrop);
    let child = TokioChildProcess::builder(process).stderr(Stdio::null()).spawn();
    let (child, _) =
        child.map_err(|e| CallError::Server(format!("`{command}` cannot be started: {e}")))?;
    let client = serve_client((), child).await;
    let client = client.map_err(|e| CallError::Server(format!("it does not come up: {e}")))?;
    Ok(Connection { client, process: None })
}

/// What a tool gives: its structured content, else its texts; a text that is JSON is data.
fn result_of(result: CallToolResult) -> Result<Json, (String, Json)> {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    if result.is_error == Some(true) {
        let words = if texts.is_empty() { "it failed".to_owned() } else { texts.join("\n") };
        return Err((words, result.structured_content.unwrap_or_default()));
    }
    if let Some(content) = result.structured_content {
        return Ok(content);
    }
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Json::from(text));
    Ok(match texts.as_slice() {
        [] => Json::Null,
        [one] => value(one),
        all => all.iter().map(|text| value(text)).collect(),
    })
}

impl Drop for Mcp {
    fn drop(&mut self) {
        for (_, Connection { client, process }) in std::mem::take(&mut self.clients) {
            let ended = async move { timeout(END_TIMEOUT, client.cancel()).await };
            let _ = self.runtime.block_on(ended);
            // Its input is closed, so it should end; otherwise it is killed as the value is dropped.
            process.and_then(|mut process| process.wait_for(END_TIMEOUT));
        }
    }
}
