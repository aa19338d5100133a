//! Scripts in a program: tools of type `sandbox` whose `runtime` is JavaScript, run by QuickJS in this process.
//!
//! `code` is the body of an asynchronous function with the parameters of the tool; what it returns is the answer. A script
//! sees its arguments and what the language has of its own: no files, no network, no processes, no modules, no timers.
//! Nothing that it does can be noticed outside, so it runs without permission, as tables do.
//!
//! *Limits*: [`MAX_MEMORY_BYTES`], [`MAX_STACK_BYTES`], [`MAX_ANSWER_BYTES`], and the time limit of its call. The
//! interpreter looks at the time between instructions. A built-in function that takes longer is left to itself in its
//! thread, within its memory, until it ends or the process does. Where [`MAX_RUNAWAYS`] go on so, no other script is run.

use crate::MAX_ANSWER_BYTES;
use agentir_runtime::{Cancellation, FailureKind, ToolCall, ToolFailure, Tools};
use rquickjs::context::EvalOptions;
use rquickjs::function::{Args, Function};
use rquickjs::{Context, Ctx, Promise, Runtime, Value};
use serde_json::{Map, Value as Json};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How much memory a script may use, in bytes.
const MAX_MEMORY_BYTES: usize = 64 << 20;

/// How much of its stack the interpreter may use, in bytes.
const MAX_STACK_BYTES: usize = 1 << 20;

/// The stack of the thread that a script runs in, in bytes.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// How long to wait, after the time limit, for the interpreter to look at the time.
const GRACE: Duration = Duration::from_millis(500);

/// So many scripts may go on after their time, each of which keeps a processor busy.
const MAX_RUNAWAYS: usize = 4;

/// The threads of those that were left to themselves, whichever toolbox called them.
static RUNAWAYS: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// The number of characters of an error that are shown.
const MAX_SHOWN_CHARS: usize = 400;

/// What scripts of browsers and of Node expect, and what reaches nothing here.
const PRELUDE: &str = "globalThis.console = Object.fromEntries(['debug', 'error', 'info', 'log', 'warn'].map((n) => [n, () => {}]));";

/// Runs the scripts of a program.
#[derive(Clone, Debug, Default)]
pub struct Scripts {
    cancellation: Cancellation,
}

impl Scripts {
    /// Ends a script when it is cancelled.
    #[must_use]
    pub fn cancellation(mut self, by: Cancellation) -> Self {
        self.cancellation = by;
        self
    }
}

/// Why a script gave no answer.
#[derive(Debug)]
enum Stopped {
    /// It failed, in words.
    Failed(String),
    /// It was ended from outside.
    Ended,
}

impl Tools for Scripts {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let fail = |kind, why: &str| Err(ToolFailure::new(kind, format!("`{}` {why}", call.name)));
        let code = call.tool.and_then(|tool| tool.binding.as_ref()?.0.get("code")?.as_str());
        let (Some(tool), Some(code)) = (call.tool, code) else {
            return fail(FailureKind::Refused, "has no `code`");
        };
        let mut runaways = RUNAWAYS.lock().unwrap_or_else(PoisonError::into_inner);
        runaways.retain(|script| !script.is_finished());
        if runaways.len() >= MAX_RUNAWAYS {
            let message =
                format!("is not run, because {} other scripts are still running", runaways.len());
            return fail(FailureKind::Refused, &message);
        }
        drop(runaways);
        let names: Vec<String> = tool.parameters.iter().map(|p| p.name.to_string()).collect();
        let (code, arguments) = (code.to_owned(), call.arguments.clone());
        let timeout = crate::call_timeout(call);
        let end = Instant::now() + timeout;
        let cancellation = self.cancellation.clone();
        let (tell, answers) = mpsc::channel();
        let work = move || {
            let ended = move || cancellation.is_cancelled() || Instant::now() >= end;
            let _ = tell.send(run(&code, &names, &arguments, ended));
        };
        let thread = thread::Builder::new().name("script".into()).stack_size(THREAD_STACK_BYTES);
        let thread = match thread.spawn(work) {
            Ok(thread) => thread,
            Err(e) => return fail(FailureKind::Api, &format!("cannot be started: {e}")),
        };
        let stopped = loop {
            let left = (end + GRACE).saturating_duration_since(Instant::now());
            match answers.recv_timeout(left.min(Cancellation::INTERVAL)) {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(stopped)) => break stopped,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    RUNAWAYS.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
                    break Stopped::Ended;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    break Stopped::Failed("the interpreter failed".to_owned());
                }
            }
        };
        match stopped {
            Stopped::Failed(why) => fail(FailureKind::Error, &format!("failed: {why}")),
            Stopped::Ended if self.cancellation.is_cancelled() => Err(crate::cancelled(call)),
            Stopped::Ended => {
                let message = format!("did not end within {} ms", call.timeout_ms);
                fail(FailureKind::Timeout, &message)
            }
        }
    }
}

/// Whether a text is a name that a parameter of a function may have. Reserved words are left to the interpreter, which says so.
fn is_identifier(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_alphabetic() || "_$".contains(c));
    starts && text.chars().all(|c| c.is_alphanumeric() || "_$".contains(c))
}

/// Runs the body of a function with arguments for the parameters of these names, until `ended`.
fn run(
    code: &str,
    names: &[String],
    arguments: &Map<String, Json>,
    ended: impl Fn() -> bool + Send + 'static,
) -> Result<Json, Stopped> {
    let broken = |error: rquickjs::Error| Stopped::Failed(error.to_string());
    let ended = std::sync::Arc::new(ended);
    let runtime = Runtime::new().map_err(broken)?;
    runtime.set_memory_limit(MAX_MEMORY_BYTES);
    runtime.set_max_stack_size(MAX_STACK_BYTES);
    let interrupt = ended.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || interrupt())));
    let context = Context::full(&runtime).map_err(broken)?;
    context.with(|cx| {
        let names: Vec<&String> = names.iter().filter(|name| is_identifier(name)).collect();
        evaluate(&cx, code, &names, arguments).map_err(|error| {
            if ended() { Stopped::Ended } else { Stopped::Failed(in_words(&cx, error)) }
        })?
    })
}

/// What a function returns, as JSON. What JSON has no value for is null.
fn evaluate<'js>(
    cx: &Ctx<'js>,
    code: &str,
    names: &[&String],
    arguments: &Map<String, Json>,
) -> rquickjs::Result<Result<Json, Stopped>> {
    let options = || {
        let mut options = EvalOptions::default();
        // As in browsers, where scripts are written for neither modules nor strict mode.
        options.strict = false;
        options.filename = Some("code".to_owned());
        options
    };
    cx.eval_with_options::<(), _>(PRELUDE, options())?;
    let list: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let source = format!("(async function ({}) {{\n{code}\n}})", list.join(", "));
    let function: Function<'js> = cx.eval_with_options(source, options())?;
    let mut values = Args::new(cx.clone(), names.len());
    for name in names {
        match arguments.get(name.as_str()) {
            Some(value) => values.push_arg(cx.json_parse(value.to_string())?)?,
            None => values.push_arg(rquickjs::Undefined)?,
        }
    }
    let promise: Promise<'js> = function.call_arg(values)?;
    let value: Value<'js> = promise.finish()?;
    let Some(text) = cx.json_stringify(value)? else { return Ok(Ok(Json::Null)) };
    let text = text.to_string()?;
    if text.len() >= MAX_ANSWER_BYTES {
        let most = MAX_ANSWER_BYTES >> 20;
        return Ok(Err(Stopped::Failed(format!("it gives more than {most} MB"))));
    }
    let deep = |_| Stopped::Failed("its answer lies too deep".to_owned());
    Ok(serde_json::from_str(&text).map_err(deep))
}

/// An error of a script, with the line of its code.
fn in_words(cx: &Ctx<'_>, error: rquickjs::Error) -> String {
    if let rquickjs::Error::WouldBlock = error {
        return "it waits for something that never comes".to_owned();
    }
    if !matches!(error, rquickjs::Error::Exception) {
        return error.to_string();
    }
    let thrown = cx.catch();
    let Some(exception) = thrown.as_exception() else {
        let text = cx.json_stringify(thrown).ok().flatten().and_then(|text| text.to_string().ok());
        return shortened(&text.unwrap_or_else(|| "it throws nothing".to_owned()));
    };
    let name: Option<String> = exception.as_object().get("name").ok();
    let message = exception.message().unwrap_or_default();
    let line = exception.stack().and_then(|stack| line_of(&stack));
    let name = name.map_or_else(String::new, |name| format!("{name}: "));
    let at = line.map_or_else(String::new, |line| format!(" (line {line} of its code)"));
    format!("{}{at}", shortened(&format!("{name}{message}")))
}

/// The line of the code, which begins in the second line of what is evaluated, that a stack names first.
fn line_of(stack: &str) -> Option<u32> {
    let (_, rest) = stack.split_once("code:")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse::<u32>().ok()?.checked_sub(1).filter(|line| *line > 0)
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_SHOWN_CHARS).collect()
}
