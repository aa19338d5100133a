//! Words that several fields may have as their values.

use agentir_expr::Dialect;
use agentir_expr::dialect::Equality;

/// The versions of the JSON that are read.
pub(crate) const VERSIONS: &[&str] = &[agentir_ir::IR_VERSION];

pub(crate) const LEXICAL_FALLBACK: &[&str] = &["never", "when_unavailable", "always"];

pub(crate) const SENSITIVE_DISPLAY: &[&str] = &["redact", "replace", "mask"];

/// How a value is validated.
pub(crate) const VALIDATIONS: &[&str] = &["pattern", "range", "enum", "custom", "llm", "intrinsic"];

/// What a guardrail does with a violation.
pub(crate) const REACTIONS: &[&str] =
    &["block", "warn", "redact", "fix", "reask", "filter", "escalate"];

/// How values are extracted from messages.
pub(crate) const EXTRACTION: &[&str] = &["pattern", "llm", "hybrid", "auto", "ml"];

pub(crate) const EXPERIENCE_MODES: &[&str] =
    &["shared_voice_handoff", "visible_handoff", "silent_delegate", "human_escalation"];

/// Whether `==` of a dialect compares without conversion, which is an operator of its own in the tree.
pub(crate) fn is_strict(dialect: Dialect) -> bool {
    dialect.semantics().equality == Equality::Strict
}
