//! The ABL front end: from an outline to a typed tree.

pub mod inline;
mod reader;
pub mod schema;
mod tree;

pub use reader::{Options, classify, read};
pub use tree::{Document, DocumentKind, Field, Format, HeaderValue, Record, Value};
pub use typed_arena::Arena;
