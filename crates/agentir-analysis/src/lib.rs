//! Analyses of AgentIR programs, for lints, comparison, rewriting and editors.
//!
//! [`ProgramAnalysis`] collects the names of a program. Everything else is computed when it is
//! first asked for, once per program or agent: the control-flow graph, def-use chains, facts at
//! program points, facts about variables, the steps of instructions. [`AgentAnalysis`] is a handle
//! to what is known about one agent.
//!
//! Agents are identified by [`AgentId`](agentir_flow::cfg::AgentId), their index in
//! [`Program::agents`](agentir_ir::Program::agents). What is below them is identified by its span.
//!
//! The modules are layers. [`symbols`] holds names. [`dataflow`], [`proof`], [`prompt`] and
//! [`types`] analyse them and know nothing of [`ProgramAnalysis`], which keeps their results. The
//! others combine these results, and nothing keeps theirs.
//!
//! Every part of an agent is visited once ([`agentir_ir::Node`]) and indexed by its use
//! ([`AgentIndex`]); analyses read the index and seldom walk the IR.
//!
//! *Invariant*: nothing here reports findings, reads source text or changes the program.

pub mod broken_guards;
pub mod calls;
mod cancel;
mod clock;
pub mod conditions;
pub mod constraints;
pub mod cycles;
pub mod dataflow;
pub mod endless;
pub mod expressions;
mod index;
pub mod initial_state;
pub mod limits;
pub mod points;
mod program;
pub mod prompt;
pub mod proof;
pub mod references;
pub mod routes;
pub mod script;
pub mod shadowing;
pub mod symbols;
pub mod taint;
mod text_conditions;
pub mod types;
mod value_flow;
pub mod values;
pub mod variables;

pub use cancel::{Cancellation, Cancelled};
pub use clock::Clock;
pub use index::AgentIndex;
pub use program::{AgentAnalysis, ProgramAnalysis};
