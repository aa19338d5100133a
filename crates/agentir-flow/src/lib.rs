//! Control-flow graphs of agents, one representation for all languages; see [`cfg`](mod@cfg).
//!
//! Rules, cost bounds, drawings, comparison and runtime all use this graph, so they cannot disagree
//! about control flow.
//!
//! *Invariant*: only this crate defines which program points can follow each other. It never
//! decides whether a condition can hold; it takes every written edge to be possible.

mod body;
pub mod cfg;
pub mod cost;
mod dependency;

pub use body::{bodies, other_statements, statement_span};
pub use cfg::Cfg;
pub use dependency::{Dependency, dependency_cycles};
