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
mod places;
mod replay;
mod report;
mod run;
mod update;

pub use coverage::{Coverage, Part};
pub use file::{
    Agents, Expected, Mode, Scenario, ScenarioError, Test, TextMatch, Turn, scenario_schema,
};
pub use generate::{Conversation, Generated, Limits, MadeTurn, generate};
pub use replay::{Deed, Did, Names, Played, replay};
pub use report::{coverage, junit, text};
pub use run::{Failure, Outcome, Still, run};
pub use update::{Updated, update};
