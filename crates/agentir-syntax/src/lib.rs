//! What the languages share: the kit that their crates are built from, and the trait [`Language`] that the
//! rest of the program sees them through.
//!
//! Each language is a crate, `agentir-lang-*`: a reader from text to a typed tree, the lowering of the tree to
//! AgentIR, an emitter, and a table for the formatter. Shared are [`outline`]s and their YAML form, the
//! infrastructure of inline parsers ([`inline`]), that of lines and columns ([`text`]), layouts of documents
//! line by line with their comments ([`line_layout`]), and helpers of lowering ([`lower`]) and of emitters
//! ([`emit`]). [`Languages`] is the list of languages that a program knows; the library `agentir` makes it.
//!
//! # Two-level grammars
//!
//! Documents are an outline whose values are written in inline languages. A layout pass turns columns into
//! balanced tokens, so every token sequence is a sentence of the outline grammar and parsing it cannot fail: a
//! malformed line costs that line. Each inline grammar has a single start symbol, whose first token selects the
//! entry point, so all entry points share one parse table. An invalid inline text costs one diagnostic.
//!
//! # Limits
//!
//! Outlines nest at most [`outline::MAX_NESTING`] levels, expressions [`agentir_expr::MAX_DEPTH`];
//! lexers count before parsers recurse. Deeper or malformed input yields a diagnostic, never a
//! crash, and time is linear in the size of the input.
//!
//! *Invariant*: nothing here depends on a language. Parsing never fails and does not resolve names: the result
//! is a tree that preserves everything in the text, and a list of diagnostics.

/// Declares a module `grammar` with the parsers that LALRPOP generated from files in `grammars/`.
#[macro_export]
macro_rules! grammars {
    ($($name:ident),+) => {
        #[allow(
            clippy::all,
            clippy::nursery,
            clippy::panic,
            clippy::pedantic,
            clippy::indexing_slicing,
            clippy::unwrap_used,
            missing_docs,
            unused_imports,
            reason = "generated"
        )]
        mod grammar {
            $(::lalrpop_util::lalrpop_mod!(pub(crate) $name);)+
        }
    };
}

pub mod code;
pub mod context;
pub mod data;
pub mod docs;
pub mod emit;
pub mod inline;
pub mod json;
mod language;
pub mod limits;
pub mod line_layout;
pub mod lower;
mod lowered;
pub mod migrate;
pub mod misspelled;
pub mod names;
pub mod outline;
pub mod rules;
pub mod stray;
pub mod text;
pub mod words;

pub use language::{
    Claim, Confidence, Detected, FileHead, FileKind, InlineParsers, Language, Languages, Package,
    PackageError, ProgramLayout, YamlForm,
};
pub use lowered::{Definition, LoweredFile, MAX_FILE_SIZE, Origin, ReadOptions};
