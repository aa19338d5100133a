//! Knowledge bases.

use crate::describe::*;
use agentir_ir::{Knowledge, Question};

object! {
    /// A knowledge base that an agent answers from.
    Knowledge = "Knowledge" {
        /// Files, folders and URLs.
        sources as "sources": list;
        /// Questions with fixed answers.
        questions as "questions": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}

object! {
    /// A question and its answer.
    Question = "Question" {
        /// The question.
        question as "question": optional;
        /// The answer.
        answer as "answer": optional;
    }
    span span;
}
