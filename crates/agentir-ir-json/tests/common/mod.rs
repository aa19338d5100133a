//! Reading documents with mistakes.

#![allow(dead_code, reason = "each test uses some of it")]

use agentir_diagnostics::{Diagnostic, FileId};
use agentir_ir_json::Parsers;
use agentir_ir_json::{Document, read};
use agentir_lang_abl::dialect::ABL;
use agentir_lang_agent_script::dialect::AGENT_SCRIPT;

pub static PARSERS: Parsers = Parsers {
    inline: &agentir_lang_abl::INLINE_PARSERS,
    templates: &[(AGENT_SCRIPT, agentir_lang_agent_script::template)],
    dialects: || vec![ABL, AGENT_SCRIPT],
};

pub fn read_text(text: &str) -> (Document, Vec<Diagnostic>) {
    let mut problems = Vec::new();
    let document = read(FileId(0), text, &PARSERS, &mut problems);
    (document, problems)
}

/// An agent with these keys besides those that it needs.
pub fn agent(keys: &str) -> String {
    let comma = if keys.is_empty() { "" } else { ", " };
    format!(
        r#"{{"ir_version": "1.0", "metadata": {{"name": "Desk", "dialect": "abl"}}{comma}{keys}}}"#
    )
}

/// Reads a document and expects one finding: its rule, its message, and what it underlines. Returns what was read.
pub fn finds(text: &str, rule: &str, message: &str, underlined: &str) -> Document {
    let (document, problems) = read_text(text);
    let [problem] = problems.as_slice() else { panic!("{text}: {problems:#?}") };
    assert_eq!(problem.rule.0, rule, "{text}: {problem:#?}");
    assert_eq!(problem.message, message, "{text}");
    assert_eq!(&text[problem.primary.span.range()], underlined, "{text}: {}", problem.message);
    document
}

/// Like [`finds`], in an agent with these keys; the agent is read nevertheless.
pub fn finds_in_agent(keys: &str, rule: &str, message: &str, underlined: &str) -> Document {
    let document = finds(&agent(keys), rule, message, underlined);
    assert_eq!(document.program.agents.len(), 1, "{keys}");
    document
}
