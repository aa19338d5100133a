//! Knowledge bases.

use crate::data::Extensions;
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Template;
use smol_str::SmolStr;

/// A knowledge base that an agent answers from.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// Files, folders and URLs.
    pub sources: Vec<Spanned<SmolStr>>,
    /// Questions with fixed answers.
    pub questions: Vec<Question>,
    /// Dialect-specific data that AgentIR has no field for.
    pub extensions: Extensions,
    /// Its location in the source.
    pub span: Span,
}

/// A question and its answer.
#[derive(Clone, Debug)]
pub struct Question {
    /// The question.
    pub question: Option<Template>,
    /// The answer.
    pub answer: Option<Template>,
    /// Its location in the source.
    pub span: Span,
}
