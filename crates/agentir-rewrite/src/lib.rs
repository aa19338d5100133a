//! Source-to-source rewriting within a language: formatting, migration to newer versions, fixes.
//!
//! ```text
//! text ──► lines with canonical columns ──► formatted text ──┐
//!   └────────────► IR, comments ◄──── compare ────► IR ◄─────┘
//! ```
//!
//! A document is never printed from its tree; its own lines are moved. Comments, text blocks and
//! unrecognised lines therefore survive byte for byte. The result is parsed again and returned only if
//! its IR and comments are the same.
//!
//! *Invariant*: this crate does no I/O. A result means the same as its source, apart from the fixes it
//! was asked to apply, and is never broken where its source was not.

mod edit;
mod fix;
mod format;
mod migrate;
mod round_trip;

pub use agentir_syntax::migrate::NewFile;
pub use fix::{Fixed, fix};
pub use format::{format, format_range};
pub use migrate::{FindingsOf, Migration, migrate};

use agentir_diagnostics::Diagnostic;

/// Why a document was not rewritten.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// It has errors that make its structure doubtful.
    #[error("the file has errors and was left unchanged")]
    InvalidStructure(Vec<Diagnostic>),
    /// The result would differ in meaning, at this path or in this comment. This is a bug in the
    /// formatter or the migration; the document stays unchanged.
    #[error("the file was left unchanged, because {0} would have been changed")]
    MeaningChanged(String),
}
