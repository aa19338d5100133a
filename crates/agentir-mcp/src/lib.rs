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

#[cfg(unix)]
mod bounded;

use agentir_ir::Data;
use agentir_runtime::{Cancellation, FailureKind, ToolCall, ToolFailure, Tools};
#[cfg(unix)]
use agentir_tools::ProcessSpec;
use agentir_tools::{
    EnvVars, FillError, MAX_ANSWER_BYTES, McpFile, Process, Secrets, Server, Supervisor,
    call_timeout,
};
#[cfg(unix)]
use bounded::{Bounded, SharedComplaints};
use http::{HeaderName, HeaderValue};
#[cfg(windows)]
use process_wrap::tokio::{CommandWrap, JobObject, KillOnDrop};
use rmcp::model::{CallToolRequestParams, CallToolResult, ContentBlock};
use rmcp::serve_client;
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
#[cfg(windows)]
use rmcp::transport::TokioChildProcess;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value as Json;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;
#[cfg(unix)]
use std::ffi::{OsStr, OsString};
#[cfg(unix)]
use std::path::Path;
use std::process::Stdio;
#[cfg(unix)]
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{Instant, timeout, timeout_at};

type Client = RunningService<RoleClient, ()>;

/// How long a server may take to end by itself when it is not needed any more.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a server that closed its output may take to say why, and to end.
#[cfg(unix)]
const LAST_WORDS_TIMEOUT: Duration = Duration::from_millis(500);

/// How much of what a server writes to its error output is shown, in bytes.
#[cfg(unix)]
const MAX_STDERR_BYTES: usize = 2 << 10;

/// The key of `_meta` that identifies a call that may be made again.
const IDEMPOTENCY_KEY: &str = "idempotencyKey";

/// A server that is spoken to.
#[derive(Debug)]
struct Connection {
    client: Client,
    /// Its process, if it was started here.
    process: Option<ServerProcess>,
}

impl Connection {
    /// Why the last answer is no result of a tool, as far as that is known: of a process.
    fn no_result(&self) -> Option<String> {
        #[cfg(unix)]
        if let Some(process) = &self.process {
            let complaints = process.complaints.lock().unwrap_or_else(PoisonError::into_inner);
            return complaints.no_result.clone();
        }
        None
    }
}

/// The process of a server, and the end of what it wrote to its error output.
#[cfg(unix)]
#[derive(Debug)]
struct ServerProcess {
    process: Process,
    stderr: Arc<Mutex<Vec<u8>>>,
    complaints: SharedComplaints,
}

#[cfg(unix)]
impl ServerProcess {
    fn new(mut process: Process, complaints: SharedComplaints) -> Self {
        let stderr = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut from) = process.stderr() {
            let kept = Arc::clone(&stderr);
            std::thread::spawn(move || {
                let mut part = [0; 1 << 10];
                while let Ok(length @ 1..) = std::io::Read::read(&mut from, &mut part) {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    kept.extend_from_slice(part.get(..length).unwrap_or_default());
                    let surplus = kept.len().saturating_sub(MAX_STDERR_BYTES);
                    kept.drain(..surplus);
                }
            });
        }
        Self { process, stderr, complaints }
    }

    /// How it ended, and its last words.
    fn last_words(&mut self) -> (String, String) {
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = complaints.refusal.take();
        drop(complaints);
        let how = refusal.unwrap_or_else(|| match self.process.wait_for(LAST_WORDS_TIMEOUT) {
            Some(status) => format!("it ended ({status})"),
            None => "it closed its output".to_owned(),
        });
        // What it wrote before it ended may still be on its way.
        std::thread::sleep(Duration::from_millis(20));
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        (how, String::from_utf8_lossy(&stderr).trim().to_owned())
    }
}

#[cfg(windows)]
type ServerProcess = Process;

/// Calls tools of MCP servers.
#[derive(Debug)]
pub struct Mcp {
    // Ends before the runtime that it runs in.
    clients: BTreeMap<String, Connection>,
    servers: BTreeMap<String, Server>,
    env: EnvVars,
    supervisor: Option<Supervisor>,
    cancellation: Cancellation,
    runtime: Runtime,
}

/// Why there is no answer.
enum CallError {
    /// It cannot be called like this.
    InvalidCall(String),
    /// The server failed, or is not there.
    Server(String),
    /// Its process has ended: how, and the end of its error output.
    Ended(String, String),
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
        Ok(Self {
            clients: BTreeMap::new(),
            servers,
            env,
            supervisor: None,
            cancellation: Cancellation::default(),
            runtime,
        })
    }

    /// Ends servers with this process, however it ends.
    #[must_use]
    pub fn supervisor(mut self, by: Option<Supervisor>) -> Self {
        self.supervisor = by;
        self
    }

    /// Gives up a call when it is cancelled.
    #[must_use]
    pub fn cancellation(mut self, by: Cancellation) -> Self {
        self.cancellation = by;
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
            CallError::Ended(how, stderr) => {
                let failure = fail(FailureKind::Api, format!("(server `{server}`): {how}"));
                let words = match stderr.as_str() {
                    "" => format!("{failure}; it wrote nothing to its error output"),
                    words => format!("{failure}; its error output:\n{words}"),
                };
                ToolFailure { for_developers: Some(words.into()), ..failure }
            }
        };
        let end = Instant::now() + call_timeout(call);
        // A server that has exited is restarted.
        self.clients.retain(|_, connection| !connection.client.is_closed());
        let Self { clients, servers, env, supervisor, cancellation, runtime } = self;
        if !clients.contains_key(server) {
            let known =
                servers.get(server).ok_or_else(|| failure(unknown_server(server, servers)))?;
            let by = supervisor.as_ref();
            let client = runtime.block_on(async {
                tokio::select! {
                    client = timeout_at(end, connect(known, env, by, secrets)) => Some(client),
                    () = cancelled(cancellation) => None,
                }
            });
            let Some(client) = client else { return Err(agentir_tools::cancelled(call)) };
            clients.insert(server.to_owned(), client.map_err(|_| timed_out())?.map_err(failure)?);
        }
        let Some(Connection { client, .. }) = clients.get(server) else {
            return Err(failure(CallError::Server("it is not there".to_owned())));
        };
        let mut request = CallToolRequestParams::new(tool).with_arguments(call.arguments.clone());
        if !call.idempotency_key.is_empty() {
            let meta = serde_json::json!({ IDEMPOTENCY_KEY: call.idempotency_key });
            request.meta = serde_json::from_value(meta).ok();
        }
        // The clock is the runtime's.
        let answer = runtime.block_on(async {
            tokio::select! {
                answer = timeout_at(end, client.call_tool(request)) => Some(answer),
                () = cancelled(cancellation) => None,
            }
        });
        let Some(answer) = answer else { return Err(agentir_tools::cancelled(call)) };
        match answer {
            Err(_) => Err(timed_out()),
            Ok(Err(ServiceError::McpError(e))) => {
                Err(fail(FailureKind::Error, format!("(server `{server}`): {}", e.message)))
            }
            Ok(Err(e @ (ServiceError::TransportSend(_) | ServiceError::TransportClosed))) => {
                let connection = clients.remove(server);
                Err(failure(lost(&e, connection)))
            }
            // The server is there, and can be asked again.
            Ok(Err(ServiceError::UnexpectedResponse)) => {
                let why = clients.get(server).and_then(Connection::no_result);
                let what = "its answer is no result of a tool";
                let words = why.map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"));
                Err(failure(CallError::Server(words)))
            }
            Ok(Err(e)) => Err(failure(CallError::Server(e.to_string()))),
            Ok(Ok(result)) => result_of(result).map_err(|(words, data)| {
                let message = format!("`{name}` (server `{server}`): {words}");
                ToolFailure { data, ..ToolFailure::new(FailureKind::Error, message) }
            }),
        }
    }
}

impl Tools for Mcp {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let mut secrets = Secrets::default();
        self.run(call, &mut secrets).map_err(|failure| ToolFailure {
            message: secrets.redact(&failure.message),
            for_developers: failure.for_developers.map(|words| secrets.redact(&words).into()),
            ..failure
        })
    }
}

/// Ends when a call is cancelled.
async fn cancelled(cancellation: &Cancellation) {
    while !cancellation.is_cancelled() {
        tokio::time::sleep(Cancellation::INTERVAL).await;
    }
}

/// Why a server that was spoken to does not answer any more.
fn lost(error: &ServiceError, connection: Option<Connection>) -> CallError {
    let why = match error {
        ServiceError::TransportSend(error) => root_cause(&*error.error),
        _ => "the connection was closed".to_owned(),
    };
    #[cfg(unix)]
    if let Some(mut process) = connection.and_then(|connection| connection.process) {
        let (how, stderr) = process.last_words();
        return CallError::Ended(how, stderr);
    }
    #[cfg(windows)]
    drop(connection);
    CallError::Server(why)
}

/// What an error comes from, without the parts of the program that it went through.
fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    // The SDK does not say what its client failed at.
    let words = root.to_string();
    words.strip_prefix("Client error: ").unwrap_or(&words).to_owned()
}

/// Why a server does not start.
fn not_up(error: &ClientInitializeError) -> String {
    let why = match error {
        ClientInitializeError::ConnectionClosed(_) => {
            "it closed the connection before it answered".to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => root_cause(&*error.error),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "its answer is not of the Model Context Protocol".to_owned()
        }
        other => other.to_string(),
    };
    format!("it does not start: {why}")
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
            let client = serve_client((), transport).await;
            let client = client.map_err(|e| CallError::Server(not_up(&e)))?;
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
        stderr: Stdio::piped(),
    };
    let mut process = Process::start(spec, supervisor).map_err(cannot)?;
    let (Some(output), Some(input)) = (process.stdout(), process.stdin()) else {
        return Err(CallError::Server(format!("`{command}` has no input and output")));
    };
    let output = tokio::process::ChildStdout::from_std(output).map_err(cannot)?;
    let complaints = SharedComplaints::default();
    let output = Bounded::new(output, Arc::clone(&complaints));
    let input = tokio::process::ChildStdin::from_std(input).map_err(cannot)?;
    let mut process = ServerProcess::new(process, complaints);
    match serve_client((), (output, input)).await {
        Ok(client) => Ok(Connection { client, process: Some(process) }),
        // It may end before it is written to.
        Err(
            ClientInitializeError::ConnectionClosed(_)
            | ClientInitializeError::TransportError { .. },
        ) => {
            let (how, stderr) = process.last_words();
            Err(CallError::Ended(format!("`{command}` does not start: {how}"), stderr))
        }
        Err(error) => Err(CallError::Server(not_up(&error))),
    }
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
    let client = client.map_err(|e| CallError::Server(not_up(&e)))?;
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
            #[cfg(unix)]
            process.and_then(|mut process| process.process.wait_for(END_TIMEOUT));
            #[cfg(windows)]
            drop(process);
        }
    }
}
