//! Documents written anew in their own language, changing nothing but what was asked.
//!
//! ```text
//! text ──► lines, with their columns ──► text in canonical layout ──┐
//!   └────────────► meaning, comments ◄──── compare ────► meaning ◄──┘
//! ```
//!
//! A document is never printed from its tree: it is its own lines, moved. So comments, texts and what
//! nobody understands are still there, byte for byte. What is written is read back before it is given
//! away, and given away only if it means the same and has the same comments.
//!
//! *Invariant*: nothing here reads or writes a file; no text is given that says something else than
//! its source, but for the fixes that it was asked to apply, and none that is broken where its source was
//! not.

mod edit;
mod fix;
mod layout;
pub mod migrate;
mod same;

pub use fix::{Fixed, fix};
pub use layout::format;
pub use migrate::migrate;

use agentir_diagnostics::Diagnostic;

/// Why a document was not written anew.
#[derive(Debug)]
pub enum Refusal {
    /// It cannot be read well enough to know which lines belong together.
    Broken(Vec<Diagnostic>),
    /// What came out would have said something else, here. A defect of ours, which costs nobody
    /// anything.
    Differs(String),
}
