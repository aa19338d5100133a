//! Source files, byte spans, positions, diagnostics with fixes and evidence, and their renderers.
//!
//! Renderers get [`Shown`] findings: without secrets, and without characters that a terminal or a log
//! would take for a command.
//!
//! *Invariant*: this crate knows no language and no rule. It never reads a file; the caller passes
//! the text as a [`SourceFile`].

mod diagnostic;
mod evidence;
mod lines;
mod render;
mod source;
mod suggest;

pub use diagnostic::{
    Applicability, Confidence, Diagnostic, Edit, Fix, Label, RuleName, Severity, Tag,
};
pub use evidence::{Binding, Evidence, Premise, Run, value_texts_mut};
pub use lines::{LineColumn, Position, PositionEncoding};
pub use render::clean::{clean_lines, escape_json, one_line, write_json_lines};
pub use render::excerpt::{LinePart, shown_of};
pub use render::json::report_schema;
pub use render::merge::{MergeError, merge};
pub use render::shown::Shown;
pub use render::stream::Stream;
pub use render::{Format, Report, Summary, render, sort};
pub use source::{FileId, SourceFile, SourceMap, Span, Spanned};
pub use suggest::closest;
