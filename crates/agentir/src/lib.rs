//! Check, convert, format and draw conversational agents written in ABL, Agent Script, ADL, or exported from
//! Kore.ai XO.
//!
//! ```
//! use agentir::Workspace;
//!
//! let mut workspace = Workspace::in_memory();
//! workspace.set_text("pool.agent.abl", "AGENT: Pool\nGOAL: \"Book lanes\"\nON_START:\n  CALL: book_line()\n");
//! let snapshot = workspace.snapshot()?;
//! let findings = snapshot.check()?;
//! assert!(findings.iter().any(|finding| finding.rule.0 == "undefined-tool"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Workspace`] holds texts, from disk, memory, or an overlay of the two. A [`Snapshot`] is a consistent view of it
//! at one moment: cheap to clone, `Send + Sync`, and unaffected by later changes. Files are parsed once per content;
//! rules run over whole programs.
//!
//! *Invariant*: nothing here prints or writes; errors are types.

mod compile;
mod context;
mod languages;
mod migrate;
mod renamed;
mod residue;
mod snapshot;
mod symbols;
mod unclear;
mod view;
mod workspace;

pub use agentir_analysis::points::PointFacts;
pub use agentir_analysis::references;
pub use agentir_compare as compare;
pub use agentir_compare::Comparison;
pub use agentir_config::{ConfigProblems, Configs, Names as ConfigNames};
pub use agentir_convert::{Conversion, OutputFile, Target};
pub use agentir_diagnostics as diagnostics;
pub use agentir_diagnostics::{Diagnostic, Severity, SourceMap};
pub use agentir_draw as draw;
pub use agentir_draw::{Detail, Graph};
pub use agentir_expr::Version;
pub use agentir_flow::cost::CostReport;
pub use agentir_ir as ir;
pub use agentir_ir_json as ir_json;
pub use agentir_lint::{Cancellation, Cancelled, Selection, UnknownRule};
pub use agentir_project::{LoadError, config_names};
pub use agentir_rewrite::{Migration, RewriteError};
pub use agentir_solver::z3_failure;
pub use agentir_syntax::context::{
    Context, Expected, ExpectedKind, FieldContext, NameKind, Position, RecordContext, Shape,
};
pub use agentir_syntax::names::NameProblem;
pub use agentir_syntax::{Language, Languages, ReadOptions};
pub use agentir_vfs as vfs;
pub use context::{Description, Signature};
pub use languages::{is_agent_file, languages, targets};
pub use migrate::migrate;
pub use renamed::OtherName;
pub use snapshot::{FixError, FormatError, ProgramId, Snapshot};
pub use symbols::{Rename, RenameError};
pub use view::{AgentCall, Fold, FoldKind, Hint, HintKind, Link, OutlineItem, Token, TokenKind};
pub use workspace::Workspace;

/// The page of a rule: what it finds, why it matters, and examples; `None` if there is no such rule.
#[must_use]
pub fn explain(rule: &str) -> Option<&'static str> {
    agentir_lint::page(rule)
}
