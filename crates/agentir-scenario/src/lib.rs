//! Conversation tests: files with the user's messages and the expected behaviour of the agents.
//!
//! [`Scenario`] is a test file, [`run`] executes it, and [`Coverage`] reports which parts of the
//! program the conversations visited. Models are [`agentir_model::Scripted`] or
//! [`agentir_model::Offline`], tools are stubs: tests use no network and are deterministic.
//!
//! *Invariant*: nothing here reads or writes files.

mod coverage;
mod file;
mod generate;
mod intents;
mod replay;
mod report;
mod run;
mod update;
mod yaml_spans;

pub use coverage::{Coverage, CoverageMetric};
pub use file::{
    Agents, ExpectedCall, ModelMode, Scenario, ScenarioError, Test, TextMatch, Turn,
    scenario_schema,
};
pub use generate::{Conversation, Generated, GeneratedTurn, Limits, generate};
pub use intents::Names;
pub use replay::{
    Action, ActionKind, ReplayedTurn, Replayer, compare_by_replay, compare_conversations,
    first_agent,
};
pub use report::{coverage, junit, text};
pub use run::{Failure, FixedClock, TestOutcome, run};
pub use update::{Updated, update};
