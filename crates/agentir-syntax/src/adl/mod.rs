//! ADL, the agent declarative language of the MICA project: from YAML to a typed tree.
//!
//! The language is that of the paper (ADL 1.0, Appendices A to C). [`schema`] has its tables;
//! `reader` reads agents by them, `steps` reads steps, `leaf` the strings inside (conditions,
//! paths, returns, texts with `${…}`; `grammars/adl_leaf.lalrpop`), [`python`] the functions that
//! a bot brings along, [`config`] the settings beside it.
//!
//! Forms that MICA, the language's implementation, treats otherwise than the paper says are reported
//! here, because only the text shows them.
//!
//! *Invariant*: nothing here knows which agents and functions exist.

pub mod config;
mod leaf;
mod members;
pub mod python;
mod reader;
pub mod schema;
mod steps;
mod tree;

pub use leaf::Verb;
pub use reader::read;
pub use schema::AgentKind;
pub use tree::{
    Agent, Assignment, Binding, Branch, Document, Faq, Field, Member, Step, StepKind, Subflow,
    Value,
};
