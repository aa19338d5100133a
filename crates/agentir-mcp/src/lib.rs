//! Tools of type `mcp`: servers of the Model Context Protocol, called with the official SDK.
//!
//! A tool's binding names a server and one of its tools; a file defines the servers ([`McpFile`]).
//! A server is started or connected to when it is first needed, and lives as long as [`Mcp`]. This
//! is a crate of its own because nothing else needs the dependencies of the SDK.
//!
//! *Invariant*: nothing here decides whether a tool may be called; only servers that a file defines
//! are started, and never through a shell.

use agentir_ir::Data;
use agentir_runtime::{FailureKind, ToolCall, ToolFailure, Tools};
use agentir_tools::{EnvVars, FillError, MAX_ANSWER_BYTES, McpFile, Secrets, Server, call_timeout};
use http::{HeaderName, HeaderValue};
#[cfg(windows)]
use process_wrap::tokio::JobObject;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{CommandWrap, KillOnDrop};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::serve_client;
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::process::Stdio;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout, timeout_at};

type Client = RunningService<RoleClient, ()>;

/// Calls tools of MCP servers.
#[derive(Debug)]
pub struct Mcp {
    // Ends before the runtime that it runs in.
    clients: BTreeMap<String, Client>,
    servers: BTreeMap<String, Server>,
    env: EnvVars,
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
        Ok(Self { clients: BTreeMap::new(), servers: file.servers, env, runtime })
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
        self.clients.retain(|_, client| !client.is_closed());
        let Self { clients, servers, env, runtime } = self;
        if !clients.contains_key(server) {
            let known =
                servers.get(server).ok_or_else(|| failure(unknown_server(server, servers)))?;
            let client =
                runtime.block_on(async { timeout_at(end, connect(known, env, secrets)).await });
            clients.insert(server.to_owned(), client.map_err(|_| timed_out())?.map_err(failure)?);
        }
        let Some(client) = clients.get(server) else {
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
    secrets: &mut Secrets,
) -> Result<Client, CallError> {
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
            let mut process = tokio::process::Command::new(command);
            process.args(args).env_clear().envs(EnvVars::inherited()).envs(env);
            if let Some(folder) = folder {
                process.current_dir(folder);
            }
            let mut process = CommandWrap::from(process);
            #[cfg(unix)]
            process.wrap(ProcessGroup::leader());
            #[cfg(windows)]
            process.wrap(JobObject);
            process.wrap(KillOnDrop);
            let child = TokioChildProcess::builder(process).stderr(Stdio::null()).spawn();
            let (child, _) = child
                .map_err(|e| CallError::Server(format!("`{command}` cannot be started: {e}")))?;
            serve_client((), child).await.map_err(|e| failed(&e))
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
            serve_client((), transport).await.map_err(|e| failed(&e))
        }
    }
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
        for (_, client) in std::mem::take(&mut self.clients) {
            // Who does not end is killed with its process.
            let ended = async move { timeout(Duration::from_secs(1), client.cancel()).await };
            let _ = self.runtime.block_on(ended);
        }
    }
}
