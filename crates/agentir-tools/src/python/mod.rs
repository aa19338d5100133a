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
use agentir_runtime::{Cancellation, FailureKind, ToolCall, ToolFailure, Tools};
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

/// How much a function may print, in bytes.
const MAX_PRINTED_BYTES: u64 = 16 << 20;

/// How much of it is kept, in bytes: its end.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The number of its characters that are shown if the process exits without an answer.
const MAX_SHOWN_STDERR_CHARS: usize = 400;

/// How much memory a process may ask for, in bytes: enough for the usual libraries.
const MAX_MEMORY_BYTES: u64 = 4 << 30;

/// How large a file that it writes may be, in bytes.
const MAX_FILE_BYTES: u64 = 1 << 30;

/// The variable with the key of a call that may be made again.
const IDEMPOTENCY_KEY: &str = "AGENTIR_IDEMPOTENCY_KEY";

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
    cancellation: Cancellation,
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
            cancellation: Cancellation::default(),
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

    /// Ends a function when it is cancelled.
    #[must_use]
    pub fn cancellation(mut self, by: Cancellation) -> Self {
        self.cancellation = by;
        self
    }

    fn start(&self, call: &ToolCall<'_>) -> std::io::Result<Process> {
        // Isolated: neither the user's own packages nor variables change what is run.
        let args = ["-I", "-X", "utf8", "-c", RUNNER];
        let mut env = self.environment.clone();
        if !call.idempotency_key.is_empty() {
            env.push((IDEMPOTENCY_KEY.into(), call.idempotency_key.as_str().into()));
        }
        let spec = ProcessSpec {
            program: &self.interpreter,
            args: args.map(OsString::from).to_vec(),
            env,
            folder: Some(&self.folder),
            stderr: Stdio::piped(),
        };
        Process::start(spec, self.supervisor.as_ref())
    }
}

/// What the threads that read say.
enum Output {
    /// The answer: a line, or the beginning of one that is too long.
    Answer(Vec<u8>),
    /// The end of what was printed, when all of it was read.
    Printed(Vec<u8>),
    /// More was printed than may be.
    TooMuch,
}

/// Reads the answer in a thread of its own, so that neither side waits for the other.
fn read_answer(from: Option<impl Read + Send + 'static>, tell: mpsc::Sender<Output>) {
    thread::spawn(move || {
        let Some(from) = from else { return };
        let mut line = Vec::new();
        // What was read until it broke is what there is.
        let _ = BufReader::new(from).take(MAX_ANSWER_BYTES as u64).read_until(b'\n', &mut line);
        let _ = tell.send(Output::Answer(line));
    });
}

/// Reads what is printed.
fn read_printed(from: Option<impl Read + Send + 'static>, tell: mpsc::Sender<Output>) {
    thread::spawn(move || {
        let Some(mut from) = from else { return };
        let (mut part, mut end, mut total) = (vec![0; 16 << 10], Vec::new(), 0_u64);
        while let Ok(length @ 1..) = from.read(&mut part) {
            total = total.saturating_add(length as u64);
            if total > MAX_PRINTED_BYTES {
                let _ = tell.send(Output::TooMuch);
                return;
            }
            end.extend_from_slice(part.get(..length).unwrap_or_default());
            let surplus = end.len().saturating_sub(MAX_STDERR_BYTES);
            end.drain(..surplus);
        }
        let _ = tell.send(Output::Printed(end));
    });
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
            "memory_bytes": MAX_MEMORY_BYTES, "file_bytes": MAX_FILE_BYTES,
        });
        let mut child = match self.start(call) {
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
        let (tell, outputs) = mpsc::channel();
        read_answer(child.stdout(), tell.clone());
        read_printed(child.stderr(), tell);
        let input = child.stdin();
        // If it does not read, it will not answer either.
        thread::spawn(move || {
            input.map(|mut input| input.write_all(request.to_string().as_bytes()))
        });

        let mut printed = None;
        let answer = loop {
            if self.cancellation.is_cancelled() {
                return Err(crate::cancelled(call));
            }
            let left = end.saturating_duration_since(Instant::now());
            match outputs.recv_timeout(left.min(Cancellation::INTERVAL)) {
                Ok(Output::Answer(answer)) => break answer,
                Ok(Output::Printed(end)) => printed = Some(end),
                Ok(Output::TooMuch) => {
                    let most = MAX_PRINTED_BYTES >> 20;
                    return fail(FailureKind::Error, &format!("prints more than {most} MB"));
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return timed_out(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return fail(FailureKind::Api, "gave no answer");
                }
            }
        };
        if answer.len() >= MAX_ANSWER_BYTES {
            let most = MAX_ANSWER_BYTES >> 20;
            return fail(FailureKind::Error, &format!("gives more than {most} MB"));
        }
        if answer.is_empty() {
            // It ended, or is about to: it closed its output.
            let _ = child.wait_for(EXIT_TIMEOUT);
            drop(child);
            if printed.is_none()
                && let Ok(Output::Printed(end)) = outputs.recv_timeout(EXIT_TIMEOUT)
            {
                printed = Some(end);
            }
            let stderr = printed.unwrap_or_default();
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
        let Ok(Json::Object(mut answer)) = serde_json::from_slice(&answer) else {
            return fail(FailureKind::Error, "gave an answer that is no JSON, or lies too deep");
        };
        match answer.get("error").and_then(Json::as_str) {
            Some(_) if answer.contains_key("missing") => fail(FailureKind::Refused, NO_FUNCTION),
            Some(words) => fail(FailureKind::Error, words),
            None => Ok(answer.remove("value").unwrap_or_default()),
        }
    }
}
