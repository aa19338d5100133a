//! Front ends: parse source text into spanned, typed trees.
//!
//! Parsing has three stages. An outline nests entries by indentation ([`outline`], shared by ABL and ADL;
//! Agent Script has its own). A reader assigns entries to fields by the schema tables of its language.
//! Values contain small *inline* languages. [`abl`], [`agent_script`] and [`adl`] each have a reader,
//! tables, inline parsers and a typed tree. The shared infrastructure of inline parsers is in [`inline`],
//! that of lines and columns in `text`. [`line_layout`] describes documents line by line, with comments.
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
pub mod inline;
pub mod line_layout;
pub mod outline;
pub mod rules;
pub mod secrets;
mod text;
mod words;
pub mod xo;
