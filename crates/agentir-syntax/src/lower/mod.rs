//! Helpers of lowering.

mod assignments;
mod bindings;
pub mod data;
mod limits;

pub use assignments::report_lost;
pub use bindings::{declare_effect, declare_missing_effects};
pub(crate) use limits::too_many;
pub use limits::{MAX_AGENTS, MAX_TOKENS, not_text, too_many_agents, unreadable};

use agentir_diagnostics::{Diagnostic, Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{Decider, Extensions, GatherField, RoutingRule};
use smol_str::{SmolStr, format_smolstr};
use std::hash::{Hash, Hasher};

/// A hash that changes when the source does. Not for security.
#[must_use]
pub fn source_hash(text: &str) -> SmolStr {
    let mut hasher = rustc_hash::FxHasher::default();
    text.hash(&mut hasher);
    format_smolstr!("{:016x}", hasher.finish())
}

/// Leaves the first `count` findings, those of the parser, where an error ended the reading: what the others say rests
/// on a part of the file.
pub fn keep_parser_errors(diagnostics: &mut Vec<Diagnostic>, count: usize, stopped: Option<Span>) {
    if stopped.is_some() {
        diagnostics.truncate(count);
    }
}

/// Moves the extensions of one element to another.
pub fn merge_extensions(into: &mut Extensions, from: Extensions) {
    for (dialect, all) in from.0 {
        for (key, extension) in all {
            into.insert(dialect.clone(), &key, extension.value, extension.span);
        }
    }
}

/// A required field to collect, of which only the name is known.
#[must_use]
pub fn required_field(name: Spanned<Name>) -> GatherField {
    let span = name.span;
    GatherField {
        name,
        entity_ref: None,
        prompt: None,
        message_key: None,
        description: None,
        ty: None,
        required: true,
        default: None,
        validation: None,
        enum_values: Vec::new(),
        synonyms: None,
        extraction_hints: Vec::new(),
        extraction_pattern: None,
        extraction_group: None,
        strategy: None,
        infer: None,
        infer_confidence: None,
        infer_confirm: None,
        semantics: None,
        range: None,
        list: None,
        preferences: None,
        activation: None,
        depends_on: Vec::new(),
        prompt_mode: None,
        satisfied_by: None,
        sensitive: None,
        sensitive_display: None,
        mask_config: None,
        pii_type: None,
        transient: None,
        voice_config: None,
        rich_content: None,
        extensions: Extensions::default(),
        span,
    }
}

/// A rule of routing that says nothing yet.
#[must_use]
pub fn empty_rule(span: Span) -> RoutingRule {
    RoutingRule {
        name: None,
        to: None,
        action: None,
        when: None,
        intents: Vec::new(),
        decided_by: Decider::Model,
        description: None,
        priority: None,
        returns: None,
        pass: Vec::new(),
        flags: Vec::new(),
        channels: Vec::new(),
        ignore_intents: Vec::new(),
        requires_state: Vec::new(),
        continues: false,
        extensions: Extensions::default(),
        span,
    }
}
