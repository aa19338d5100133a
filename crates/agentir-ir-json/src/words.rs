//! Words that several fields may have as their values.

use agentir_expr::Dialect;
use std::sync::LazyLock;

/// The versions of the JSON that are read.
pub(crate) const VERSIONS: &[&str] = &[agentir_ir::IR_VERSION];

pub(crate) const LEXICAL_FALLBACK: &[&str] = &["never", "when_unavailable", "always"];

pub(crate) const SENSITIVE_DISPLAY: &[&str] = &["redact", "replace", "mask"];

/// How values are extracted from messages.
pub(crate) const EXTRACTION: &[&str] = &["pattern", "llm", "hybrid", "auto", "ml"];

pub(crate) const EXPERIENCE_MODES: &[&str] =
    &["shared_voice_handoff", "visible_handoff", "silent_delegate", "human_escalation"];

pub(crate) const ENTITY_TYPES: &[&str] = &[
    "string",
    "text",
    "free_text",
    "number",
    "integer",
    "float",
    "currency",
    "boolean",
    "date",
    "datetime",
    "email",
    "phone",
    "enum",
    "pattern",
    "location",
    "attachment",
    "array",
    "object",
];

/// The names of the dialects, and of languages that are only imported, which have the semantics of the first dialect.
pub(crate) fn dialects() -> &'static [&'static str] {
    static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
        let dialects = Dialect::ALL.iter().map(|dialect| dialect.name());
        dialects.chain(["kore-xo"]).collect()
    });
    &NAMES
}

/// The dialect with a name of [`dialects`].
pub(crate) fn dialect(name: &str) -> Dialect {
    Dialect::from_name(name).unwrap_or(Dialect::ALL[0])
}

/// Whether `==` of a dialect compares without conversion, which is an operator of its own in the tree.
pub(crate) fn is_strict(dialect: Dialect) -> bool {
    dialect == Dialect::AgentScript
}

/// Whether a file of a dialect is a whole program, as it is in all but ABL.
pub(crate) fn writes_programs(dialect: Dialect) -> bool {
    dialect != Dialect::Abl
}
