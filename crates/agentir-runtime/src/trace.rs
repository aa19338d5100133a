//! The events of a conversation, one per line in a trace file.

use crate::model::Usage;
use agentir_diagnostics::Span;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use serde_with::skip_serializing_none;

/// An event.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// The number of the turn; turn 0 is what agents do before the user's first message.
    pub turn: u32,
    /// The agent in charge.
    pub agent: String,
    /// The current step.
    pub step: Option<String>,
    /// The kind of event.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// The kind of an event.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// The user sent a message.
    Input {
        /// The text.
        text: String,
    },
    /// A node of the control-flow graph was entered.
    Node {
        /// The number of the node in the program's graph (`agentir graph --format json`).
        node: usize,
        /// The kind of node.
        kind: &'static str,
        /// The kind of edge that led to the node.
        why: Option<&'static str>,
        /// The source location, as `file:line:column`; filled in by the observer, which has the
        /// sources.
        #[serde(rename = "place")]
        location: Option<String>,
        /// The source location as a span.
        #[serde(skip)]
        span: Span,
    },
    /// A condition was evaluated.
    Condition {
        /// The condition, as written.
        condition: String,
        /// Whether it holds.
        holds: bool,
        /// What decided it: `expression` or `model`.
        decided_by: &'static str,
    },
    /// A variable was set.
    Set {
        /// The variable.
        variable: String,
        /// The new value; sensitive values are masked.
        value: Json,
    },
    /// A variable was removed.
    Clear {
        /// The variable.
        variable: String,
    },
    /// A tool was called.
    Call {
        /// The tool.
        tool: String,
        /// The arguments; sensitive values are masked.
        arguments: Map<String, Json>,
    },
    /// A call was not made, because an earlier one has done the same: its result is used.
    Reuse {
        /// The tool.
        tool: String,
        /// The arguments; sensitive values are masked.
        arguments: Map<String, Json>,
    },
    /// A tool call returned, or its result is used again.
    Result {
        /// The tool.
        tool: String,
        /// The result of a successful call.
        result: Option<Json>,
        /// The error message of a failed call.
        error: Option<String>,
    },
    /// A model answered a request.
    Model {
        /// The task: `converse`, `extract`, `choose`, `judge`.
        #[serde(rename = "ask")]
        task: &'static str,
        /// A summary of the answer.
        answer: String,
        /// The token usage.
        usage: Usage,
    },
    /// The agent sent a message to the user.
    Say {
        /// The text.
        text: String,
    },
    /// A `LOG` statement was executed.
    Log {
        /// The logged value.
        value: Json,
    },
    /// A constraint was violated or a guardrail was triggered.
    Violation {
        /// The name of the guardrail, or the condition of the constraint.
        rule: String,
        /// The action taken.
        action: String,
    },
    /// An error occurred.
    Error {
        /// The kind that error handlers match on.
        kind: String,
        /// A message for people.
        message: String,
    },
    /// Control moved from one agent to another.
    Transfer {
        /// `handoff`, `delegate`, `return`.
        how: &'static str,
        /// The agent that had control.
        from: String,
        /// The agent that has control now.
        to: String,
    },
    /// An agent of an ensemble was tried out. The events of the attempt precede this one; they
    /// count only if the attempt is accepted.
    Attempt {
        /// The agent.
        by: String,
        /// Whether the attempt is accepted.
        taken: bool,
    },
    /// The conversation was handed over to a person.
    Escalated {
        /// The reason.
        reason: Option<String>,
    },
    /// A value was written to long-term memory.
    Remember {
        /// The path.
        path: String,
        /// The value; sensitive values are masked.
        value: Json,
    },
    /// The turn ended.
    TurnEnd {
        /// The status after the turn: `await`, `human`, `done`, `failed`.
        status: &'static str,
    },
}

/// The JSON Schema of an event.
#[must_use]
pub fn trace_schema() -> Json {
    schemars::schema_for!(Event).to_value()
}
