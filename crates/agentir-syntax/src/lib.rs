//! Front ends: parse source text into spanned, typed trees.
//!
//! Parsing has three stages. An outline nests entries by indentation ([`outline`], shared by ABL and ADL;
//! Agent Script has its own). A reader assigns entries to fields by the schema tables of its language.
//! Values contain small *inline* languages. [`abl`], [`agent_script`] and [`adl`] each have a reader,
//! tables, inline parsers and a typed tree. The shared infrastructure of inline parsers is in [`inline`],
//! that of lines and columns in `text`. [`line_layout`] describes documents line by line, with comments.
//!
//! # Two-level grammars
//!
//! ABL and ADL documents are an outline whose values are written in inline languages. The layout
//! pass turns columns into balanced tokens, so every token sequence is a sentence of the outline
//! grammar and parsing it cannot fail: a malformed line costs that line. Each inline grammar has a
//! single start symbol, whose first token selects the entry point, so all entry points share one
//! parse table. An invalid inline text costs one diagnostic.
//!
//! # Limits
//!
//! Outlines nest at most [`outline::MAX_NESTING`] levels, expressions [`agentir_expr::MAX_DEPTH`];
//! lexers count before parsers recurse. Deeper or malformed input yields a diagnostic, never a
//! crash, and time is linear in the size of the input.
//!
//! *Invariant*: parsing never fails and does not resolve names. The result is a tree that preserves
//! everything in the text, and a list of diagnostics.

/// Declares a module `grammar` with the parsers that LALRPOP generated from files in `grammars/`.
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
            $(lalrpop_util::lalrpop_mod!(pub(crate) $name);)+
        }
    };
}

pub mod abl;
pub mod adl;
pub mod agent_script;
mod embedded;
pub mod inline;
pub mod json;
pub mod line_layout;
pub mod outline;
pub mod rules;
mod stray;
mod text;
mod words;
pub mod xo;

pub use embedded::template;
