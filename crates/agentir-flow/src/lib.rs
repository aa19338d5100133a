//! What can follow what: one control-flow graph for the agents of all languages, see [`cfg`].
//!
//! *Invariant*: this crate is the only place that knows which places control can go to from where.
//! It never asks whether a condition can hold; every edge that is written is taken to be possible.

mod body;
pub mod cfg;
pub mod cost;
mod dependency;

pub use body::{bodies, others, statement_span};
pub use cfg::Cfg;
pub use dependency::{Dependency, dependency_cycles};
