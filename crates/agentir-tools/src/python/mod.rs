//! Functions of ADL bots: Python files beside the bot, called in a process of their own.
//!
//! Each call is a process, so no call sees what another one left, and one that hangs or fails takes
//! nothing with it. Of the files of a bot, only the one with the function is executed, and what it
//! imports. Arguments and results are JSON over pipes. A function gives a list of
//! `{bot}`, `{arg, value}` and `{status, msg}` (MICA, `exec_tool.py`); what it gives is passed on as it
//! is, and the runtime decides what it means.

use crate::MAX_ANSWER_BYTES;
use crate::environment::EnvVars;
use crate::process::{Process, ProcessSpec, Supervisor};
use agentir_runtime::{FailureKind, ToolCall, ToolFailure, Tools};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// What calls the function.
const RUNNER: &str = include_str!("runner.py");

/// What is said of a name that is none of a function.
const NO_FUNCTION: &str = "is no function of the bot";

/// How much of what a function prints is kept, in bytes.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The number of its characters that are shown if the process exits without an answer.
const MAX_SHOWN_STDERR_CHARS: usize = 400;

/// How much memory a process may ask for, in bytes: enough for the usual libraries.
const MAX_MEMORY_BYTES: u64 = 4 << 30;

/// How long to wait for the end of a process that has answered.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// The functions of a bot.
#[derive(Clone, Debug)]
pub struct Python {
    folder: PathBuf,
    /// The files of the functions, by name.
    functions: BTreeMap<String, PathBuf>,
    interpreter: OsString,
    environment: Vec<(OsString, OsString)>,
    supervisor: Option<Supervisor>,
}

impl Python {
    /// Functions with the files that define them, which run in `folder`. Where several files define a
    /// function, the last one's is called.
    ///
    /// # Errors
    /// The folder or a file cannot be found.
    pub fn new(
        folder: &Path,
        functions: impl IntoIterator<Item = (String, PathBuf)>,
    ) -> std::io::Result<Self> {
        let functions = functions.into_iter().map(|(name, file)| Ok((name, file.canonicalize()?)));
        Ok(Self {
            folder: folder.canonicalize()?,
            functions: functions.collect::<std::io::Result<_>>()?,
            interpreter: if cfg!(windows) { "python" } else { "python3" }.into(),
            environment: EnvVars::inherited().map(|(name, value)| (name.into(), value)).collect(),
            supervisor: None,
        })
    }

    /// Uses this interpreter and not the first one of the path.
    #[must_use]
    pub fn interpreter(mut self, program: impl Into<OsString>) -> Self {
        self.interpreter = program.into();
        self
    }

    /// Lets functions see a variable of the environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Ends functions with this process, however it ends.
    #[must_use]
    pub fn supervisor(mut self, by: Option<Supervisor>) -> Self {
        self.supervisor = by;
        self
    }

    fn start(&self) -> std::io::Result<Process> {
        // Isolated: neither the user's own packages nor variables change what is run.
        let args = ["-I", "-X", "utf8", "-c", RUNNER];
        let spec = ProcessSpec {
            program: &self.interpreter,
            args: args.map(OsString::from).to_vec(),
            env: self.environment.clone(),
            folder: Some(&self.folder),
            stderr: Stdio::piped(),
        };
        Process::start(spec, self.supervisor.as_ref())
    }
}

/// What a thread has read.
struct Output {
    bytes: Vec<u8>,
    truncated: bool,
}

/// Reads so much in a thread of its own, so that neither side waits for the other: a line, or all.
fn read_in_thread(
    from: Option<impl Read + Send + 'static>,
    most: usize,
    line: bool,
) -> mpsc::Receiver<Output> {
    let (done, result) = mpsc::channel();
    thread::spawn(move || {
        let Some(from) = from else { return };
        let mut from = BufReader::new(from);
        let mut bytes = Vec::new();
        let mut some = from.by_ref().take(most as u64);
        // What was read until it broke is what there is.
        let _ =
            if line { some.read_until(b'\n', &mut bytes) } else { some.read_to_end(&mut bytes) };
        let truncated = bytes.len() == most;
        let _ = done.send(Output { bytes, truncated });
        // The function goes on printing.
        let _ = std::io::copy(&mut from, &mut std::io::sink());
    });
    result
}

impl Tools for Python {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let fail =
            |kind, words: &str| Err(ToolFailure::new(kind, format!("`{}` {words}", call.name)));
        let timed_out =
            || fail(FailureKind::Timeout, &format!("did not end within {} ms", call.timeout_ms));
        let Some(file) = self.functions.get(call.name) else {
            return fail(FailureKind::Refused, NO_FUNCTION);
        };
        let timeout = crate::call_timeout(call);
        let end = Instant::now() + timeout;
        // Threads compute at the same time.
        let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
        let request = json!({
            "folder": self.folder, "file": file, "function": call.name, "arguments": call.arguments,
            "cpu_seconds": timeout.as_secs().saturating_add(1).saturating_mul(threads),
            "memory_bytes": MAX_MEMORY_BYTES,
        });
        let mut child = match self.start() {
            Ok(child) => child,
            Err(e) if e.kind() == ErrorKind::NotFound => {
                let interpreter = self.interpreter.to_string_lossy();
                return fail(
                    FailureKind::Api,
                    &format!(
                        "needs Python, and `{interpreter}` is not found: install it or stub the tool"
                    ),
                );
            }
            Err(e) => return fail(FailureKind::Api, &format!("cannot be started: {e}")),
        };
        let answers = read_in_thread(child.stdout(), MAX_ANSWER_BYTES, true);
        let printed = read_in_thread(child.stderr(), MAX_STDERR_BYTES, false);
        let input = child.stdin();
        // If it does not read, it will not answer either.
        thread::spawn(move || {
            input.map(|mut input| input.write_all(request.to_string().as_bytes()))
        });

        let answer = match answers.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => return timed_out(),
            Err(RecvTimeoutError::Disconnected) => return fail(FailureKind::Api, "gave no answer"),
        };
        if answer.truncated {
            let most = MAX_ANSWER_BYTES >> 20;
            return fail(FailureKind::Error, &format!("gives more than {most} MB"));
        }
        if answer.bytes.is_empty() {
            // It ended, or is about to: it closed its output.
            let _ = child.wait_for(EXIT_TIMEOUT);
            drop(child);
            let stderr =
                printed.recv_timeout(EXIT_TIMEOUT).map(|output| output.bytes).unwrap_or_default();
            let stderr = String::from_utf8_lossy(&stderr);
            let stderr: Vec<char> = stderr.trim().chars().collect();
            let stderr: String = stderr
                .get(stderr.len().saturating_sub(MAX_SHOWN_STDERR_CHARS)..)
                .unwrap_or(&stderr)
                .iter()
                .collect();
            let why = if stderr.is_empty() { String::new() } else { format!(": {stderr}") };
            return fail(FailureKind::Error, &format!("ended without an answer{why}"));
        }
        let Ok(Json::Object(mut answer)) = serde_json::from_slice(&answer.bytes) else {
            return fail(FailureKind::Error, "gave an answer that is no JSON, or lies too deep");
        };
        match answer.get("error").and_then(Json::as_str) {
            Some(_) if answer.contains_key("missing") => fail(FailureKind::Refused, NO_FUNCTION),
            Some(words) => fail(FailureKind::Error, words),
            None => Ok(answer.remove("value").unwrap_or_default()),
        }
    }
}
