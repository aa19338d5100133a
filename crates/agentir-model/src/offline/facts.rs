//! What instructions state that users may be told.

use super::addressed::USERS;
use super::conditions::CONDITION;
use super::instructions::MAX_STEPS;
use super::sentences::{mentions, sentences};
use super::words::regex;
use agentir_runtime::ToolSpec;
use regex::Regex;
use std::sync::LazyLock;

/// A line that says what something is: "Tracking number: 12".
pub(super) static LABEL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?P<label>[a-z][\w' /&-]{1,40}?):\s+(?P<value>[^\s{].*)$"));

/// The sentences of instructions that state a fact which users may be told: "The library is open on Tuesdays." They
/// are neither about the agent nor about what it has to do.
pub(super) fn facts<'t>(
    instructions: &'t [String],
    tools: &'t [ToolSpec],
) -> impl Iterator<Item = String> + 't {
    let all = instructions.iter().flat_map(|text| sentences(text)).map(|sentence| sentence.text);
    all.take(MAX_STEPS * 4)
        .map(|sentence| told(&sentence).unwrap_or(sentence))
        .filter(|sentence| is_labelled_fact(sentence) || is_fact(sentence, tools))
}

/// A fact that the agent is told to tell, with its value: "Tell the next high water: 14:35" is "The next high water is 14:35."
pub(super) fn told(sentence: &str) -> Option<String> {
    static TELL: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^(?:tell|give|report|state|mention)\s+(?:(?:the\s+)?(?:user|customer|guest|caller|visitor)\s+|them\s+)?(?P<what>(?:the|your|their)\s[\w' -]{2,40}):\s+(?P<value>[^\s{].{0,80})$",
        )
    });
    let found = TELL.captures(sentence)?;
    let (what, value) = (found.name("what")?.as_str(), found.name("value")?.as_str());
    let value = value.trim_end_matches('.');
    let blank =
        matches!(value.to_lowercase().as_str(), "none" | "null" | "undefined" | "false" | "");
    let mut letters = what.chars();
    let first = letters.next()?.to_uppercase();
    (!blank).then(|| format!("{}{} is {value}.", first, letters.as_str()))
}

/// Whether a fact is the value of a label.
pub(super) fn is_labelled(fact: &str) -> bool {
    LABEL.is_match(fact)
}

/// Whether a line says what something is, in words for users: "Required documents: a passport, two photographs".
fn is_labelled_fact(sentence: &str) -> bool {
    const LABELS_FOR_MODELS: &[&str] = &[
        "note",
        "notes",
        "important",
        "example",
        "examples",
        "goal",
        "rule",
        "rules",
        "format",
        "persona",
        "task",
        "context",
        "tone",
        "style",
        "step",
        "steps",
        "warning",
        "instructions",
        "instruction",
        "role",
        "your",
        "user",
        "session",
        "channel",
        "limitations",
        "policy",
        "question",
        "questions",
        "for",
        "if",
        "when",
        "output",
        "input",
        "response",
        "answer",
        "remember",
        "attempts",
        "provide",
        "progress",
        "say",
        "ask",
        "after",
        "before",
        "then",
        "first",
        "next",
        "finally",
        "otherwise",
        "hint",
        "hints",
        "tip",
        "tips",
    ];
    const NOTHING: &[&str] =
        &["n/a", "none", "null", "undefined", "unassigned", "not set", "empty", "0", "false", "()"];
    // A placeholder without a value.
    if super::words::words(sentence).iter().any(|w| matches!(w.text.as_str(), "none" | "null")) {
        return false;
    }
    let Some(captures) = LABEL.captures(sentence) else { return false };
    let text = |name: &str| captures.name(name).map_or("", |m| m.as_str());
    let (label, value) = (super::words::words(text("label")), text("value"));
    label.len() <= 5
        && value.len() <= 200
        // "Claims: for new claims" says when something is to be chosen.
        && !value.to_lowercase().starts_with("for ")
        && !label.iter().any(|w| LABELS_FOR_MODELS.contains(&w.text.as_str()))
        && !NOTHING.contains(&value.to_lowercase().trim_end_matches('.'))
        && value.chars().any(char::is_alphanumeric)
        && !sentence.contains(['{', '}', '@', '_', '`', '<'])
        && !super::words::words(value).iter().any(|w| {
            matches!(
                w.text.as_str(),
                "user" | "customer" | "they" | "them" | "ask" | "call" | "you" | "must" | "should"
            )
        })
}

fn is_fact(sentence: &str, tools: &[ToolSpec]) -> bool {
    // Statements begin with what they are about, instructions with a verb.
    const ARTICLES: &[&str] =
        &["the", "our", "we", "all", "every", "each", "there", "these", "no", "any", "both"];
    const VERBS: &[&str] = &[
        "is", "are", "costs", "cost", "takes", "take", "has", "have", "offers", "offer", "opens",
        "open", "closes", "close", "starts", "start", "lasts", "last", "accepts", "accept",
        "ships", "ship", "includes", "include", "travel", "travels", "pays", "pay", "needs",
        "need", "comes", "come", "can", "delivers", "deliver", "charge", "charges", "covers",
        "cover", "leaves", "leave", "runs", "run", "provide", "provides",
    ];
    const INSIDE: &[&str] = &[
        "you",
        "your",
        "must",
        "should",
        "never",
        "always",
        "assistant",
        "agent",
        "model",
        "chatbot",
        "bot",
        "tool",
        "function",
        "instruction",
        "instructions",
        "variable",
        "step",
        "conversation",
        "message",
        "prompt",
        "if",
        "when",
        "unless",
        "until",
        "internal",
        "confidential",
        "secret",
        "goal",
        "task",
        "action",
        "output",
        "reply",
        "response",
        "they",
        "them",
        "their",
    ];
    if CONDITION.is_match(sentence)
        || !sentence.ends_with('.')
        || sentence.contains(['{', '}', '@', '_', '`', '"', '<'])
        || sentence.len() > 240
        || tools.iter().any(|tool| mentions(sentence, &tool.name))
    {
        return false;
    }
    let words = super::words::words(sentence);
    let is =
        |at: usize, list: &[&str]| words.get(at).is_some_and(|w| list.contains(&w.text.as_str()));
    // "Membership is free", "Dogs travel for free".
    let begins = is(0, ARTICLES) || is(1, VERBS);
    begins
        && words.len() >= 4
        && (0..words.len()).any(|at| is(at, VERBS))
        && !(0..words.len()).any(|at| is(at, INSIDE) || is(at, USERS))
        && !is(0, VERBS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_statements_that_users_may_know() {
        let all = |text: &str| -> Vec<String> { facts(&[text.to_owned()], &[]).collect() };
        let text = "The library is open Tuesday to Saturday, ten to six.\nMembership is free for residents.\n\
                    You are a librarian. Always be polite. The user is impatient. The agent is to be brief.\n\
                    If it is late, the library is closed. Keep it short. The goal is a sale. Our discount {x} is secret.";
        assert_eq!(
            all(text),
            [
                "The library is open Tuesday to Saturday, ten to six.",
                "Membership is free for residents."
            ]
        );
    }
}
