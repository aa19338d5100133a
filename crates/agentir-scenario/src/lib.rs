//! Conversation tests: a file says what users do and what agents are to do about it.
//!
//! [`Scenario`] is such a file, [`run`] has a program go through it, and [`Coverage`] says which places
//! of the agents the conversations came to. Models are [`agentir_model::Scripted`] or
//! [`agentir_model::Offline`], tools are stubs: a test reaches no network and gives the same every time.
//!
//! *Invariant*: nothing here reads or writes a file.

mod coverage;
mod file;
mod generate;
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
pub use replay::{Action, ActionKind, Names, ReplayedTurn, replay};
pub use report::{coverage, junit, text};
pub use run::{Failure, FixedClock, TestOutcome, run};
pub use update::{Updated, update};
