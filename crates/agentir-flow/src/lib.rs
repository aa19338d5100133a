//! What can follow what: the steps of a flow and the agents of a program as graphs.
//!
//! *Invariant*: this crate is the only place that knows which places control can go to from where.
//! It never asks whether a condition can hold; every edge that is written is taken to be possible.

mod body;
mod dependency;
mod program;
mod steps;

pub use body::{
    Exit, bodies, branch_lists, dead_statements, exits, falls_through, others, profile_bodies,
    statement_span,
};
pub use dependency::{Dependency, dependency_cycles};
pub use program::{AgentEdge, AgentGraph};
pub use steps::{Edge, EdgeKind, FlowGraph, Place};
