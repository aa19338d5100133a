//! What an agent knows beside what the model knows.

use crate::data::Extensions;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Template;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// A body of knowledge that an agent answers from.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Knowledge {
    /// Files, folders and addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Spanned<SmolStr>>,
    /// Questions whose answers are fixed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// What the model does not model.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}

/// A question and its answer.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Question {
    /// What users ask.
    pub question: Option<Template>,
    /// What they are told.
    pub answer: Option<Template>,
    /// Where it is written.
    #[serde(skip)]
    pub span: Span,
}
