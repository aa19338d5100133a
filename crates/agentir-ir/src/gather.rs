//! Fields collected from the user, and their validation.

use crate::data::{Data, Extensions, Number};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Expr, Name, Template};
use smol_str::SmolStr;

/// Fields that are collected together.
#[derive(Clone, Debug, Default)]
pub struct Gather {
    /// The fields, in order.
    pub fields: Vec<GatherField>,
    /// How values are extracted from messages: `pattern`, `llm`, `hybrid`, …
    pub strategy: Option<&'static str>,
    /// The prompt that asks for all fields.
    pub prompt: Option<Template>,
    /// The key of that prompt's message.
    pub message_key: Option<Spanned<Name>>,
    /// Patterns that indicate a correction.
    pub correction_patterns: Vec<Template>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// The types of fields and entities (ABL §3.6); a field without one has the type of its entity.
pub const FIELD_TYPES: &[&str] = &[
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

/// A field to collect.
#[derive(Clone, Debug)]
pub struct GatherField {
    /// The name, which is also the variable that receives the value.
    pub name: Spanned<Name>,
    /// The entity that defines the values.
    pub entity_ref: Option<Spanned<Name>>,
    /// The prompt.
    pub prompt: Option<Template>,
    /// The key of the prompt's message.
    pub message_key: Option<Spanned<Name>>,
    /// A description.
    pub description: Option<Template>,
    /// The type; absent if an entity defines it or it is unknown.
    pub ty: Option<Spanned<Name>>,
    /// Whether a value is required; `true` by default.
    pub required: bool,
    /// The default value.
    pub default: Option<Data>,
    /// The validation of values.
    pub validation: Option<Validation>,
    /// The allowed values.
    pub enum_values: Vec<Spanned<SmolStr>>,
    /// Synonyms of each value.
    pub synonyms: Option<Data>,
    /// Hints for extraction.
    pub extraction_hints: Vec<Template>,
    /// A pattern that extracts the value.
    pub extraction_pattern: Option<Spanned<SmolStr>>,
    /// The capture group of that pattern.
    pub extraction_group: Option<Number>,
    /// The extraction strategy, where it differs from the default.
    pub strategy: Option<&'static str>,
    /// Whether the model may infer the value.
    pub infer: Option<bool>,
    /// The minimum confidence of an inferred value.
    pub infer_confidence: Option<Number>,
    /// Whether the user must confirm an inferred value.
    pub infer_confirm: Option<bool>,
    /// The meaning of the values.
    pub semantics: Option<Semantics>,
    /// Settings for ranges of values.
    pub range: Option<Data>,
    /// Settings for lists of values.
    pub list: Option<Data>,
    /// Settings for preferred values.
    pub preferences: Option<Data>,
    /// When the field is asked for.
    pub activation: Option<Activation>,
    /// The fields that must be collected first.
    pub depends_on: Vec<Spanned<Name>>,
    /// `ask` or `extract_only`.
    pub prompt_mode: Option<&'static str>,
    /// Who may provide the value: `user_input`, `authoritative_tool`, `system`.
    pub satisfied_by: Option<&'static str>,
    /// Whether values are personal or regulated data.
    pub sensitive: Option<bool>,
    /// How sensitive values are shown: `redact`, `replace`, `mask`.
    pub sensitive_display: Option<&'static str>,
    /// How sensitive values are masked.
    pub mask_config: Option<MaskConfig>,
    /// The category of personal data.
    pub pii_type: Option<Spanned<Name>>,
    /// Whether the value is discarded after use.
    pub transient: Option<bool>,
    /// Settings for speech output.
    pub voice_config: Option<Data>,
    /// Rich content for channels that show more than text.
    pub rich_content: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// The validation of a value.
#[derive(Clone, Debug)]
pub struct Validation {
    /// `pattern`, `range`, `enum`, `custom`, `llm`, `intrinsic`.
    pub kind: Spanned<Name>,
    /// The pattern, range, values, expression or instruction.
    pub rule: Spanned<SmolStr>,
    /// The expression of a `custom` rule.
    pub check: Option<Expr>,
    /// The message on failure.
    pub error_message: Option<Template>,
    /// The prompt for another attempt.
    pub retry_prompt: Option<Template>,
    /// The maximum number of retries.
    pub max_retries: Option<Number>,
    /// `REGEX`, `CODE`, `LLM`.
    pub validation_process: Option<SmolStr>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

impl Validation {
    /// The message about an invalid value.
    #[must_use]
    pub fn message(&self) -> Option<&Template> {
        self.error_message.as_ref().or(self.retry_prompt.as_ref())
    }

    /// The name of the short form, or an empty string, and its argument: `min` and `1` of `min(1)`.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        let text = self.rule.value.trim();
        text.strip_suffix(')').and_then(|t| t.split_once('(')).unwrap_or(("", text))
    }

    /// The bounds of a range: `1-10`, `-5..5`, `min(1)`, `range(1, 10)`, `>= 1`.
    #[must_use]
    pub fn bounds(&self) -> Option<(Option<f64>, Option<f64>)> {
        let (word, text) = self.parts();
        let number = |t: &str| t.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let text = text.trim();
        match word {
            "min" => return Some((Some(number(text)?), None)),
            "max" => return Some((None, Some(number(text)?))),
            _ => {}
        }
        if let Some(n) = text.strip_prefix(">=").and_then(number) {
            return Some((Some(n), None));
        }
        if let Some(n) = text.strip_prefix("<=").and_then(number) {
            return Some((None, Some(n)));
        }
        // The first separator with numbers on both sides: a minus may also be a sign.
        ["..", ",", " to ", "-"].into_iter().find_map(|separator| {
            text.match_indices(separator).find_map(|(at, _)| {
                let (low, high) = (text.get(..at)?, text.get(at + separator.len()..)?);
                Some((Some(number(low)?), Some(number(high)?)))
            })
        })
    }

    /// The values of an `enum`.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let list = self.parts().1.trim_matches(|c| c == '[' || c == ']');
        list.split([',', '|']).map(|v| v.trim().trim_matches(['"', '\'']))
    }
}

/// When a field is asked for.
#[derive(Clone, Debug)]
pub enum Activation {
    /// Always.
    Required,
    /// Only taken if mentioned.
    Optional,
    /// Once the fields it depends on are collected.
    Progressive,
    /// When a condition holds.
    When {
        /// The condition.
        when: Condition,
    },
}

/// How sensitive values are masked.
#[derive(Clone, Debug)]
pub struct MaskConfig {
    /// The number of characters shown at the start.
    pub show_first: Option<Number>,
    /// The number of characters shown at the end.
    pub show_last: Option<Number>,
    /// The masking character.
    pub char: Option<SmolStr>,
}

/// The meaning of a field's values.
#[derive(Clone, Debug, Default)]
pub struct Semantics {
    /// `airport_code`, `address`, …
    pub format: Option<SmolStr>,
    /// The components.
    pub components: Vec<Spanned<Name>>,
    /// The unit.
    pub unit: Option<SmolStr>,
    /// The lookup table of the values.
    pub lookup: Option<Spanned<Name>>,
    /// The unit values are converted to.
    pub convert_to: Option<SmolStr>,
    /// The locale of the notation.
    pub locale: Option<SmolStr>,
    /// `future`, `past`, `any`.
    pub temporal: Option<&'static str>,
    /// The values.
    pub enum_set: Vec<Template>,
    /// The entity type on the source platform.
    pub kore_entity_type: Option<SmolStr>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
}

/// A file the user is asked for.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// The name.
    pub name: Spanned<Name>,
    /// The prompt.
    pub prompt: Option<Template>,
    /// `image`, `document`, `audio`, `video`.
    pub category: &'static str,
    /// Whether the file is required.
    pub required: bool,
    /// The allowed MIME types.
    pub allowed_mime_types: Vec<Template>,
    /// The maximum size, in bytes.
    pub max_file_size_bytes: Option<Number>,
    /// How the file is processed.
    pub processing: Option<Data>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}
