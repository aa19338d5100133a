//! What an agent asks for, and how the answers are checked.

use crate::data::{Data, Extensions, Number};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Condition, Name, Template};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// Fields that are collected together.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Gather {
    /// The fields, in order.
    pub fields: Vec<GatherField>,
    /// How values are found in what the user says: `pattern`, `llm`, `hybrid`, …
    pub strategy: Option<&'static str>,
    /// Asks for all of them at once.
    pub prompt: Option<Template>,
    /// The key of the message that asks for all of them.
    pub message_key: Option<Spanned<Name>>,
    /// How a correction is recognised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub correction_patterns: Vec<Template>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A field.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct GatherField {
    /// Its name, which is also the variable that gets the value.
    pub name: Spanned<Name>,
    /// The entity that says what values it takes.
    pub entity_ref: Option<Spanned<Name>>,
    /// Asks for it.
    pub prompt: Option<Template>,
    /// The key of the message that asks for it.
    pub message_key: Option<Spanned<Name>>,
    /// What it is.
    pub description: Option<Template>,
    /// Its type; absent where an entity says it or nobody does.
    #[serde(rename = "type")]
    pub ty: Option<Spanned<Name>>,
    /// Whether the agent goes on without it; required if nobody says.
    pub required: bool,
    /// The value if the user gives none.
    pub default: Option<Data>,
    /// How a value is checked.
    pub validation: Option<Validation>,
    /// The values it takes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enum_values: Vec<Spanned<SmolStr>>,
    /// Other words for each value.
    pub synonyms: Option<Data>,
    /// Hints to whoever extracts it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extraction_hints: Vec<Template>,
    /// A pattern that extracts it.
    pub extraction_pattern: Option<Spanned<SmolStr>>,
    /// The group of that pattern.
    pub extraction_group: Option<Number>,
    /// How this field is extracted, where it differs from the others.
    pub strategy: Option<&'static str>,
    /// Whether the model may infer it.
    pub infer: Option<bool>,
    /// How sure it must be.
    pub infer_confidence: Option<Number>,
    /// Whether the user must confirm what was inferred.
    pub infer_confirm: Option<bool>,
    /// What its values mean.
    pub semantics: Option<Semantics>,
    /// A range of values.
    pub range: Option<Data>,
    /// Several values.
    pub list: Option<Data>,
    /// Preferred values.
    pub preferences: Option<Data>,
    /// When it is asked for.
    pub activation: Option<Activation>,
    /// The fields that must be there first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<Spanned<Name>>,
    /// `ask` or `extract_only`.
    pub prompt_mode: Option<&'static str>,
    /// Who may fill it: `user_input`, `authoritative_tool`, `system`.
    pub satisfied_by: Option<&'static str>,
    /// Personal or regulated.
    pub sensitive: Option<bool>,
    /// How it is shown: `redact`, `replace`, `mask`.
    pub sensitive_display: Option<&'static str>,
    /// How it is masked.
    pub mask_config: Option<MaskConfig>,
    /// What kind of personal data it is.
    pub pii_type: Option<Spanned<Name>>,
    /// Forgotten after use.
    pub transient: Option<bool>,
    /// How it is spoken.
    pub voice_config: Option<Data>,
    /// How it looks.
    pub rich_content: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// How a value is checked.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Validation {
    /// `pattern`, `range`, `enum`, `custom`, `llm`, `intrinsic`.
    #[serde(rename = "type")]
    pub kind: Spanned<Name>,
    /// The pattern, range, values, expression or instruction.
    pub rule: Spanned<SmolStr>,
    /// Said if it fails.
    pub error_message: Option<Template>,
    /// Asked again with.
    pub retry_prompt: Option<Template>,
    /// How often.
    pub max_retries: Option<Number>,
    /// `REGEX`, `CODE`, `LLM`.
    pub validation_process: Option<SmolStr>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

impl Validation {
    /// The short form it is written in, if it is, and what is checked: `min` and `1` of `min(1)`.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        let text = self.rule.value.trim();
        text.strip_suffix(')').and_then(|t| t.split_once('(')).unwrap_or(("", text))
    }

    /// The ends of a range: `1-10`, `-5..5`, `min(1)`, `range(1, 10)`, `>= 1`.
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
        // The first separator that leaves numbers on both sides: a minus may also be a sign.
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// Always.
    Required,
    /// Taken if mentioned.
    Optional,
    /// Once the fields it depends on are there.
    Progressive,
    /// When a condition holds.
    #[serde(untagged)]
    When {
        /// The condition.
        when: Condition,
    },
}

/// How a sensitive value is masked.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MaskConfig {
    /// So many characters stay at the start.
    pub show_first: Option<Number>,
    /// So many at the end.
    pub show_last: Option<Number>,
    /// The rest becomes this.
    pub char: Option<SmolStr>,
}

/// What the values of a field mean.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Semantics {
    /// `airport_code`, `address`, …
    pub format: Option<SmolStr>,
    /// Its parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Spanned<Name>>,
    /// Its unit.
    pub unit: Option<SmolStr>,
    /// The reference table that knows its values.
    pub lookup: Option<Spanned<Name>>,
    /// The unit it is converted to.
    pub convert_to: Option<SmolStr>,
    /// How it is written where the user lives.
    pub locale: Option<SmolStr>,
    /// `future`, `past`, `any`.
    pub temporal: Option<&'static str>,
    /// Its values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enum_set: Vec<Template>,
    /// Its type in the platform it comes from.
    pub kore_entity_type: Option<SmolStr>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// A file the user is asked for.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Attachment {
    /// Its name.
    pub name: Spanned<Name>,
    /// Asks for it.
    pub prompt: Option<Template>,
    /// `image`, `document`, `audio`, `video`.
    pub category: &'static str,
    /// Whether the agent goes on without it.
    pub required: bool,
    /// The types it may have.
    pub allowed_mime_types: Vec<Template>,
    /// How large it may be.
    pub max_file_size_bytes: Option<Number>,
    /// What is done with it.
    pub processing: Option<Data>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}
