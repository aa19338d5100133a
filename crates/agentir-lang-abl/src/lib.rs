//! ABL, Kore.ai's agent blueprint language.
//!
//! The tree is generic: a record has fields whose values are parsed, and the tables in [`schema`]
//! define its types. There are no structs for each construct, which would repeat those of the IR.
//!
//! Fields of the tables carry the first and the last version of ABL that has them. The reader
//! collects the uses of forms that not every version has. Only when the document is complete is the
//! version decided (configured, else detected, else `current`), and only then are forms of other
//! versions reported, so detection and reporting cannot disagree.
//!
//! Lowering need not remember to preserve data: taking a field moves it out of the record, and the rest of a
//! record is written to the `extensions` of its element, with spans.
//!
//! *Invariant*: nothing a document says is lost. A field that no element of the IR takes goes to that element's
//! extensions, because taking a field removes it from the tree and what is left at the end is kept.

mod context;
pub mod dialect;
mod emit;
pub mod inline;
mod language;
mod line_layout;
mod lower;
pub mod migrate;
mod names;
pub mod outline;
mod reader;
mod reference;
mod runtime_names;
pub mod schema;
mod tree;

pub use emit::{ABL as ABL_EMITTER, YAML as YAML_EMITTER};
pub use language::{ABL, ABL_FILE, INLINE_PARSERS, YAML_FILE};
pub use reader::{Options, classify, read};
pub use tree::{Document, DocumentKind, Field, Format, HeaderValue, Record, Value};
pub use typed_arena::Arena;
