//! Front ends: text to spanned, typed trees.
//!
//! A document passes through three stages. An outline says who is inside whom ([`outline`], which
//! ABL and ADL share; Agent Script has its own). A reader goes through it by the tables of its
//! language. What stands inside values are small languages, *leaves*. [`abl`], [`agent_script`] and
//! [`adl`] have a reader, tables, leaves and a typed tree each; what they share in reading leaves is in
//! [`leaf`], how they count lines and columns in `text`. Documents as lines, with their comments, are
//! in [`line_layout`].
//!
//! *Invariant*: parsing never fails and never resolves a name. It gives a tree, in which everything
//! the text says can be found again, and a list of problems.

/// The parsers that LALRPOP made of files in `grammars/`, in a module `grammar`.
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
pub mod leaf;
pub mod line_layout;
pub mod outline;
pub mod rules;
pub mod secrets;
mod text;
mod words;
pub mod xo;
