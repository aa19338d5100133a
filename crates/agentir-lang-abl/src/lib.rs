//! The ABL front end: from an outline to a typed tree.
//!
//! The tree is generic: a record has fields whose values are parsed, and the tables in [`schema`]
//! define its types. There are no structs for each construct, which would repeat those of the IR.
//!
//! Fields of the tables carry the first and the last version of ABL that has them. The reader
//! collects the uses of forms that not every version has. Only when the document is complete is the
//! version decided (configured, else detected, else `current`), and only then are forms of other
//! versions reported, so detection and reporting cannot disagree.

pub mod inline;
mod reader;
pub mod schema;
mod tree;

pub use reader::{Options, classify, read};
pub use tree::{Document, DocumentKind, Field, Format, HeaderValue, Record, Value};
pub use typed_arena::Arena;
