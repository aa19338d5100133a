//! Front ends: text to spanned, typed trees.
//!
//! A document passes through three stages. [`outline`] finds out who is inside whom; [`abl`] reads
//! the outline by the tables of the language, [`adl`] by those of ADL; [`leaf`] reads the small
//! languages inside values. [`agent_script`] has the same three stages of its own.
//!
//! *Invariant*: parsing never fails and never resolves a name. It gives a tree, in which everything
//! the text says can be found again, and a list of problems.

pub mod abl;
pub mod adl;
pub mod agent_script;
pub mod leaf;
pub mod outline;
pub mod rules;
