//! Answers from a file, for tests and for trying an agent out.
//!
//! ```yaml
//! tools:
//!   search_hotels:
//!     - when: { city: Paris, guests: { at_least: 2 } }
//!       answer:
//!         - { name: "Grand {{city}}", price: 120 }
//!     - when: { city: { matches: "^Old " } }
//!       fail: api
//!       message: "the old system is down"
//!     - times: 1          # the next call without another answer, once
//!       fail: timeout
//!     - answer: []        # every other call
//! ```
//!
//! The first case of a tool whose `when` holds and that is not used up answers. What `when` does not
//! name may be anything; a case without `when` holds always, so one at the end is the default.

mod matcher;
mod messages;

pub use matcher::{Matcher, MatcherError};

use crate::error::FileError;
use crate::template;
use agentir_ir::Tool;
use agentir_runtime::{Cancellation, FailureKind, ToolCall, ToolFailure, Tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How large a file of stubs may be, in bytes.
const MAX_FILE: usize = 16 << 20;

/// A file of stubs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StubFile {
    /// The cases of each tool, by its name. The first that holds answers.
    pub tools: BTreeMap<String, Vec<StubCase>>,
}

/// What a tool answers to some calls. It needs `answer` or `fail`; with only a `delay`, it answers null.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StubCase {
    /// The arguments it is for, by name. Those that are not named may be anything.
    #[serde(default)]
    pub when: BTreeMap<String, Matcher>,
    /// What the tool gives. `{{name}}` inserts an argument, `{{name.field}}` a part of it; a text that is
    /// nothing but that becomes the argument itself, be it a number, a list or an object.
    #[serde(default, deserialize_with = "present")]
    pub answer: Option<Json>,
    /// How the tool fails.
    pub fail: Option<FailureMode>,
    /// What it says about the failure; may insert arguments.
    pub message: Option<String>,
    /// What it gives along with the failure; may insert arguments.
    pub data: Option<Json>,
    /// How long it takes, in milliseconds. If that is longer than the agent waits, the call fails with a
    /// time-out. Time passes only where it is asked for.
    pub delay: Option<u64>,
    /// For how many calls it is; for all of them if it does not say.
    pub times: Option<u32>,
}

/// `answer: null` is an answer.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}

/// How a tool fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// It takes too long: `tool_timeout`.
    Timeout,
    /// It says that it failed: `tool_error`.
    Error,
    /// What it is reached by failed: `api_error`.
    Api,
}

impl From<FailureMode> for FailureKind {
    fn from(fails: FailureMode) -> Self {
        match fails {
            FailureMode::Timeout => Self::Timeout,
            FailureMode::Error => Self::Error,
            FailureMode::Api => Self::Api,
        }
    }
}

/// A call that was made, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCall {
    /// The agent that called.
    pub agent: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Json>,
    /// What it gave.
    pub result: Result<Json, ToolFailure>,
}

impl RecordedCall {
    /// The record of a call.
    pub(crate) fn of(call: &ToolCall<'_>, result: &Result<Json, ToolFailure>) -> Self {
        Self {
            agent: call.agent.to_owned(),
            tool: call.name.to_owned(),
            arguments: call.arguments.clone(),
            result: result.clone(),
        }
    }
}

/// Tools that answer from a file. It remembers all calls.
#[derive(Clone, Debug, Default)]
pub struct Stubs {
    file: StubFile,
    /// How often each case was used, as the cases in the file.
    used: BTreeMap<String, Vec<u32>>,
    calls: Vec<RecordedCall>,
    real_time: bool,
    cancellation: Cancellation,
}

impl Stubs {
    /// The stubs of a file.
    ///
    /// # Errors
    /// [`FileError`] says what is wrong with the file, and where.
    pub fn read(text: &str) -> Result<Self, FileError> {
        if text.len() > MAX_FILE {
            return Err(FileError::new(format!(
                "a file of stubs has at most {} MB",
                MAX_FILE >> 20
            )));
        }
        let file: StubFile = serde_saphyr::from_str(text).map_err(|e| FileError::yaml(&e))?;
        Self::new(file)
    }

    /// Stubs that were made otherwise.
    ///
    /// # Errors
    /// [`FileError`] says which case contradicts itself.
    pub fn new(file: StubFile) -> Result<Self, FileError> {
        for (tool, cases) in &file.tools {
            for (n, case) in cases.iter().enumerate() {
                case.check().map_err(|problem| {
                    FileError::new(format!("case {} of `{tool}` {problem}", n + 1))
                })?;
            }
        }
        Ok(Self { file, ..Self::default() })
    }

    /// With it, delays take their time; without, they only decide who is too slow.
    #[must_use]
    pub const fn in_real_time(mut self, real: bool) -> Self {
        self.real_time = real;
        self
    }

    /// Ends a delay when it is cancelled.
    #[must_use]
    pub fn cancellation(mut self, by: Cancellation) -> Self {
        self.cancellation = by;
        self
    }

    /// Whether there is a stub for a tool.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        self.file.tools.contains_key(tool)
    }

    /// All calls so far, in their order.
    #[must_use]
    pub fn calls(&self) -> &[RecordedCall] {
        &self.calls
    }

    fn answer(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let cases = self.file.tools.get(call.name).map(Vec::as_slice).unwrap_or_default();
        let used = self.used.entry(call.name.to_owned()).or_default();
        used.resize(cases.len(), 0);
        let mut open = cases.iter().zip(used.iter_mut()).filter(|(case, used)| {
            case.times.is_none_or(|times| **used < times)
                && case.mismatch(&call.arguments).is_none()
        });
        let Some((case, used)) = open.next() else {
            return Err(ToolFailure::new(
                FailureKind::Refused,
                messages::unanswered(call, cases, used),
            ));
        };
        *used = used.saturating_add(1);
        let delay = case.delay.unwrap_or(0);
        if self.real_time
            && !self.cancellation.sleep(Duration::from_millis(delay.min(call.timeout_ms)))
        {
            return Err(crate::cancelled(call));
        }
        if delay > call.timeout_ms {
            let message = format!(
                "`{}` did not answer within {} ms (its stub takes {delay} ms)",
                call.name, call.timeout_ms
            );
            return Err(ToolFailure::new(FailureKind::Timeout, message));
        }
        let insert = |json: &Json| template::substituted(json, &call.arguments);
        let Some(fails) = case.fail else {
            return Ok(case.answer.as_ref().map(insert).unwrap_or_default());
        };
        let message =
            case.message.as_ref().map(|text| template::value_text(&insert(&text.as_str().into())));
        let message =
            message.unwrap_or_else(|| format!("`{}` failed, as its stub says", call.name));
        let data = case.data.as_ref().map(insert).unwrap_or_default();
        Err(ToolFailure { data, ..ToolFailure::new(fails.into(), message) })
    }
}

impl Tools for Stubs {
    fn call(&mut self, call: &ToolCall<'_>) -> Result<Json, ToolFailure> {
        let result = self.answer(call);
        self.calls.push(RecordedCall::of(call, &result));
        result
    }
}

impl StubCase {
    /// What is wrong with it.
    fn check(&self) -> Result<(), &'static str> {
        match (&self.answer, self.fail) {
            (Some(_), Some(_)) => Err("has `answer` and `fail`: it can only do one of them"),
            (None, None) if self.delay.is_none() => Err("says neither `answer` nor `fail`"),
            (_, None) if self.message.is_some() || self.data.is_some() => {
                Err("has `message` or `data` without `fail`: what a tool gives is its `answer`")
            }
            _ if self.times == Some(0) => Err("is for 0 calls: leave it out"),
            _ => Ok(()),
        }
    }

    /// The first argument that is not as the case wants it, with what it wants.
    fn mismatch(&self, arguments: &Map<String, Json>) -> Option<(&str, &Matcher)> {
        self.when
            .iter()
            .find(|(name, matcher)| {
                !matcher.holds(template::value_at(arguments, name).unwrap_or(&Json::Null))
            })
            .map(|(name, matcher)| (name.as_str(), matcher))
    }
}

/// A stub that would answer a call: how people learn to write one.
pub(crate) fn suggested_stub(
    name: &str,
    tool: Option<&Tool>,
    arguments: &Map<String, Json>,
) -> String {
    messages::suggested_stub(name, &messages::example_answer(tool), arguments)
}

/// A stub that would answer for an agent that runs elsewhere.
pub(crate) fn suggested_agent_stub(name: &str, arguments: &Map<String, Json>) -> String {
    let answer = serde_json::json!({ "says": ["…"], "result": {}, "done": true });
    messages::suggested_stub(name, &answer, arguments)
}
