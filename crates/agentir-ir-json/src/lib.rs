//! The JSON of AgentIR: written, read, and described by a JSON Schema.
//!
//! Each type has one description (see `model`), from which all three follow, so that they cannot drift. The model
//! itself (`agentir-ir`) knows nothing of JSON.
//!
//! - [`Written`] writes any part of a program with any serializer, [`to_value`] as a value. [`Mode`] says whether
//!   values are written with their spans, for tools that relate two programs to their sources.
//! - [`read`] reads a document: a whole program, or one agent. Every value has its location in the document as its
//!   span. Mistakes are diagnostics, and reading goes on.
//! - [`schema`] is the published schema. `required` lists the keys that a reader insists on. All other keys may be
//!   absent; keys with an empty value are not written.
//!
//! Expressions, conditions and types are strings in the canonical notation ([`agentir_expr::Expr`] prints it), whatever
//! language they come from; `metadata.dialect` decides what `==` means. Texts with placeholders have the notation of
//! their language.
//!
//! *Invariant*: reading what was written gives an equal program.

mod condition;
mod describe;
mod document;
mod expression;
mod forms;
mod language;
mod model;
mod notation;
mod reader;
mod repetitions;
mod schema;
mod values;
mod words;

pub use condition::is_expression;
pub use describe::{Json, MARKED, Mode, PLACED, TEXT, Written, to_value};
pub use document::{Document, is_agent_ir, is_agent_ir_name, is_complete, read};
pub use language::AgentIr;
pub use notation::{shared_expression, shared_notation};
pub use reader::Reader;
pub use reader::{Parsers, TemplateParser};
pub use schema::{Schemas, schema};
