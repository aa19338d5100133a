//! The interfaces between a conversation and the outside world: a model, tools, people, a clock.
//! Everything with external effects implements one of these traits; the runtime itself has none.

use crate::model::{FieldSpec, Model};
use crate::session::AgentMessage;
use crate::trace::Event;
use agentir_ir::{Remote, Tool};
use serde_json::{Map, Value as Json};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// The maximum size of a call's arguments, in bytes of JSON (ABL, current specification, 7.11).
pub const MAX_ARGUMENTS: usize = 512 * 1024;

/// A tool call, or a message to a remote agent.
#[derive(Clone, Debug)]
pub struct ToolCall<'a> {
    /// The calling agent.
    pub agent: &'a str,
    /// The name of the tool or of the remote agent.
    pub name: &'a str,
    /// The tool's declaration, if there is one.
    pub tool: Option<&'a Tool>,
    /// How to reach the remote agent; `None` for a tool call.
    pub remote: Option<&'a Remote>,
    /// The arguments, by name.
    pub arguments: Map<String, Json>,
    /// The time limit, in milliseconds.
    pub timeout_ms: u64,
    /// Identifies the call to a service that must not carry it out twice: a call that is made again,
    /// because its turn was not finished or because it failed, has the same key. Empty if there is
    /// none.
    pub idempotency_key: String,
    /// The variables of the conversation that the declaration of the tool reads (`{{session.user.id}}`),
    /// by their paths. Those without a value are missing.
    pub session: Map<String, Json>,
}

/// The reason why a call failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The call exceeded its time limit: `tool_timeout`.
    Timeout,
    /// The tool reported an error: `tool_error`.
    Error,
    /// The transport failed: `api_error`.
    Api,
    /// No handler exists for the tool, or the call is not allowed: also `tool_error`.
    Refused,
}

impl FailureKind {
    /// The kind of error that error handlers match on (ABL, current specification, 3.13).
    #[must_use]
    pub const fn error(self) -> &'static str {
        match self {
            Self::Timeout => "tool_timeout",
            Self::Error | Self::Refused => "tool_error",
            Self::Api => "api_error",
        }
    }
}

/// A failed call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// A message for people. Agents and models read it, and users may be told it.
    pub message: String,
    /// The data that the tool returned with the error; null if it returned none.
    pub data: Json,
    /// What is said instead to whoever runs the agents, if it is of no use to others: how to allow the
    /// call, for example.
    pub for_developers: Option<Box<str>>,
}

impl ToolFailure {
    /// A failure with a message and no data.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), data: Json::Null, for_developers: None }
    }

    /// The message for whoever runs the agents.
    #[must_use]
    pub fn explanation(&self) -> &str {
        self.for_developers.as_deref().unwrap_or(&self.message)
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Executes tool calls.
pub trait Tools {
    /// Calls a tool and waits for its result.
    ///
    /// # Errors
    /// Returns a [`ToolFailure`], which the runtime passes to the agent's error handling.
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure>;

    /// Why a call is not made, if its arguments are not those that the tool declares. The runtime asks before it reports
    /// a call. Who wraps other tools asks these.
    fn refusal(&self, call: &ToolCall<'_>) -> Option<ToolFailure> {
        let _ = call;
        None
    }
}

/// A request to hand a conversation over to a person.
#[derive(Clone, Debug)]
pub struct Escalation<'a> {
    /// The agent that escalates.
    pub agent: &'a str,
    /// The reason, if the agent states one.
    pub reason: Option<String>,
    /// `low`, `medium`, `high`, `critical`.
    pub priority: Option<String>,
    /// The context passed to the person.
    pub context: Map<String, Json>,
}

/// The outcome of a handover to a person.
#[derive(Clone, Debug, Default)]
pub struct HumanReply {
    /// The messages that the person sent to the user.
    pub messages: Vec<String>,
    /// The values that agents read as `human.…`: `resolved`, `handed_back`, …; `None` while the
    /// person is still handling the conversation.
    pub outcome: Option<Map<String, Json>>,
}

/// Hands conversations over to people.
pub trait Human {
    /// Hands a conversation over to a person.
    fn take_over(&mut self, escalation: &Escalation<'_>) -> HumanReply;
}

/// No person is available: the session stays suspended after the handover.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHuman;

impl Human for NoHuman {
    fn take_over(&mut self, _: &Escalation<'_>) -> HumanReply {
        HumanReply::default()
    }
}

/// Provides time and random numbers.
pub trait Clock {
    /// The current time, in milliseconds since the Unix epoch.
    fn now(&self) -> i64;
    /// A random number.
    fn random(&self) -> u64;
    /// Sleeps before a retry. Implementations for tests may return at once.
    fn sleep(&self, milliseconds: u64);
}

/// Extracts values from messages without a language model, by patterns and by the types of the values
/// (ABL, current specification, 3.6, "Extraction Strategies").
pub trait Extractor {
    /// The values of a message, by field; `asked` is the field that the user was asked for. Values that
    /// the message does not contain are left out.
    fn extract(
        &self,
        message: &str,
        fields: &[FieldSpec],
        asked: Option<&str>,
    ) -> Map<String, Json>;
}

/// Receives the events of a conversation.
pub trait Observer {
    /// Called for every event. Sensitive values that are known are already masked.
    fn event(&mut self, event: &Event);
    /// Called when a sensitive value becomes known, before the events that mask it. Earlier events may contain it, such
    /// as the message in which the user gave it: whoever keeps them masks it there ([`crate::EventKind::mask`]).
    fn sensitive(&mut self, _value: &str) {}
    /// Called when a call has failed, before anything else happens. Agents and models learn less about it than the failure
    /// [explains](ToolFailure::explanation).
    fn call_failed(&mut self, _failure: &ToolFailure) {}
    /// Called before a wait, before something that failed is tried again. If the wait is longer than what is left for
    /// waits in this turn, it is not made, and nothing is tried again.
    fn waits(&mut self, _milliseconds: u64, _left: u64) {}
    /// Called with each part of an answer that is streamed.
    fn partial(&mut self, _text: &str) {}
    /// Called once with each message to the user, in their order, as soon as no check can withdraw
    /// or change it; at the latest at the end of the turn. A message that was streamed follows its
    /// parts.
    fn message(&mut self, _message: &AgentMessage) {}
    /// Whether the turn is to be given up, which is asked at every node.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Tells those who wait for something that it is not needed any more. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// How long a wait goes on before it notices that it is cancelled.
    pub const INTERVAL: Duration = Duration::from_millis(20);

    /// Cancels what is going on.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Begins something new.
    pub fn reset(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    /// Whether what is going on is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The flag that cancels, for handlers of signals.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Does a job in a thread of its own. Returns nothing, and does not wait for its end, if it is
    /// cancelled, or if the thread ends without a result.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (tell, result) = mpsc::channel();
        std::thread::spawn(move || tell.send(job()));
        self.receive(&result)
    }

    /// The next message of a channel; none if it is cancelled, or nobody sends any more.
    pub fn receive<T>(&self, from: &mpsc::Receiver<T>) -> Option<T> {
        self.receive_until(from, None)
    }

    /// Like [`Self::receive`], and none if the time has come, even if there are more messages.
    pub fn receive_until<T>(&self, from: &mpsc::Receiver<T>, end: Option<Instant>) -> Option<T> {
        let time_left = || end.is_none_or(|end| Instant::now() < end);
        while !self.is_cancelled() && time_left() {
            match from.recv_timeout(Self::INTERVAL) {
                Ok(message) => return Some(message),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            }
        }
        None
    }

    /// Sleeps; returns whether the time has passed, as opposed to a cancellation.
    #[must_use]
    pub fn sleep(&self, time: Duration) -> bool {
        let end = Instant::now().checked_add(time);
        loop {
            if self.is_cancelled() {
                return false;
            }
            let left =
                end.map_or(Self::INTERVAL, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(Self::INTERVAL));
        }
    }
}

/// Ignores all events.
impl Observer for () {
    fn event(&mut self, _: &Event) {}
}

/// The outside world of a conversation.
pub struct Host<'h> {
    /// Answers requests to the language model.
    pub model: &'h mut dyn Model,
    /// Extracts values where no language model may be asked.
    pub extractor: &'h dyn Extractor,
    /// Executes tool calls.
    pub tools: &'h mut dyn Tools,
    /// Receives escalations.
    pub human: &'h mut dyn Human,
    /// Provides the time.
    pub clock: &'h dyn Clock,
    /// Receives the events.
    pub observer: &'h mut dyn Observer,
}
