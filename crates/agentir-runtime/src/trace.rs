//! What happens in a conversation, step by step: one event a line in a trace file.

use crate::model::Usage;
use agentir_diagnostics::Span;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use serde_with::skip_serializing_none;

/// Something that happened.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Event {
    /// The turn, from 0, which is what agents do before the user says anything.
    pub turn: u32,
    /// The agent in charge.
    pub agent: String,
    /// The step it is in.
    pub step: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventKind {
    /// The user said something.
    Input {
        /// What.
        text: String,
    },
    /// A node of the control-flow graph is entered.
    Node {
        /// Its number in the graph of the program (`agentir graph --format json`).
        node: usize,
        /// What it is for.
        kind: &'static str,
        /// Why it comes next: the kind of the edge that was taken.
        why: Option<&'static str>,
        /// Where it is written, as `file:line:column`; whoever has the sources fills it in.
        #[serde(rename = "place")]
        location: Option<String>,
        /// The same, as the machine knows it.
        #[serde(skip)]
        span: Span,
    },
    /// A condition was looked at.
    Condition {
        /// As it is written.
        condition: String,
        /// Whether it holds.
        holds: bool,
        /// Who said so: `expression` or `model`.
        decided_by: &'static str,
    },
    /// A variable got a value.
    Set {
        /// Which.
        variable: String,
        /// What it holds now; sensitive values are masked.
        value: Json,
    },
    /// A variable was removed.
    Clear {
        /// Which.
        variable: String,
    },
    /// A tool is called.
    Call {
        /// Which.
        tool: String,
        /// With what; sensitive values are masked.
        arguments: Map<String, Json>,
    },
    /// A tool came back.
    Result {
        /// Which.
        tool: String,
        /// What it gave.
        result: Option<Json>,
        /// Why it failed.
        error: Option<String>,
    },
    /// A model was asked.
    Model {
        /// For what: `converse`, `extract`, `choose`, `judge`.
        #[serde(rename = "ask")]
        task: &'static str,
        /// What it answered, in short.
        answer: String,
        /// What it cost.
        usage: Usage,
    },
    /// The agent says something.
    Say {
        /// What.
        text: String,
    },
    /// Something is written to the log.
    Log {
        /// What.
        value: Json,
    },
    /// A constraint or guardrail did not pass.
    Violation {
        /// Its name, or the condition.
        rule: String,
        /// What is done about it.
        action: String,
    },
    /// Something went wrong.
    Error {
        /// The kind that handlers know it by.
        kind: String,
        /// In words.
        message: String,
    },
    /// Another agent takes over, is asked, or comes back.
    Transfer {
        /// `handoff`, `delegate`, `return`.
        how: &'static str,
        /// From whom.
        from: String,
        /// To whom.
        to: String,
    },
    /// What an agent of an ensemble would answer was tried out. What it did stands before this; unless
    /// it is taken, none of it has happened.
    Attempt {
        /// Whose.
        by: String,
        /// Whether the conversation goes on with it.
        taken: bool,
    },
    /// A person takes over.
    Escalated {
        /// Why.
        reason: Option<String>,
    },
    /// Something is remembered for longer.
    Remember {
        /// Under which path.
        path: String,
        /// What; sensitive values are masked.
        value: Json,
    },
    /// The turn is over.
    TurnEnd {
        /// What comes next: `await`, `human`, `done`, `failed`.
        status: &'static str,
    },
}

/// The JSON Schema of an event.
#[must_use]
pub fn trace_schema() -> Json {
    schemars::schema_for!(Event).to_value()
}
