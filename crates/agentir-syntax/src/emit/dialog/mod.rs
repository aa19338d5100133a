//! Flows that are no more than a dialog: they collect, call tools and answer. What such a flow makes sure of can be said
//! without its steps, by what has to be known before each question, call and end.

mod facts;
mod ways;

pub use facts::{Fact, Facts, alternatives, shared};
pub use ways::{Asked, Decision, Event, Reason, Ways, by_tools, names_of, tail};
