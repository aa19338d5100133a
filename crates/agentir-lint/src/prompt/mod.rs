//! What instructions in words ask for: their steps, the agents and tools they name, where they end.
//!
//! Words are read by their form, not by their meaning: a verb of handing over and the name of an agent
//! in one clause, marked as a name. What is behind an `if`, `when` or `after` may happen; all else
//! must. Nothing here belongs to a dialect: any agent has instructions.

mod graph;
mod mentions;
mod text;

pub(crate) use graph::{Ways, loops};
pub(crate) use mentions::{Names, ends_agent, handoffs, tools};
pub(crate) use text::{Prompt, Said, guard, prompts, steps_named};
