//! Knowledge bases.

use crate::data::Extensions;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Template;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use smol_str::SmolStr;

/// A knowledge base that an agent answers from.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Knowledge {
    /// Files, folders and URLs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Spanned<SmolStr>>,
    /// Questions with fixed answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// Dialect-specific data that AgentIR has no field for.
    #[serde(skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}

/// A question and its answer.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Question {
    /// The question.
    pub question: Option<Template>,
    /// The answer.
    pub answer: Option<Template>,
    /// Its location in the source.
    #[serde(skip)]
    pub span: Span,
}
