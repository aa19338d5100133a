//! What an agent can do, as it says it: from descriptions, instructions and names.

use super::addressed::{to_user, user_noun};
use super::words::words;

/// A description of an ability as something an agent can do: "Retrieves the weather" is "retrieve the weather".
pub(super) fn ability(description: &str) -> Option<String> {
    let sentence = super::sentence(description);
    let sentence = sentence.trim_end_matches(['.', '!']).trim();
    let lower = sentence.to_lowercase();
    const PREFIXES: &[&str] = &[
        "i can ",
        "you can ",
        "this agent can ",
        "this is an agent that ",
        "this is an agent to ",
        "this tool ",
        "use this to ",
        "use this tool to ",
        "used to ",
        "agent that ",
        "an agent that ",
        "this action ",
        "can ",
        "call this to ",
    ];
    let start = PREFIXES.iter().find(|prefix| lower.starts_with(**prefix)).map_or(0, |p| p.len());
    let text = sentence.get(start..)?.trim();
    // How it is done does not matter to users.
    let text = text.split(" using ").next().unwrap_or(text).trim();
    let (first, rest) = text.split_once(' ')?;
    if rest.is_empty() || text.len() > 90 || text.contains(['_', '{', '@', '(']) {
        return None;
    }
    let verb = base_form(&first.to_lowercase())?;
    Some(format!("{verb} {}", to_user(rest)))
}

/// Who the agent is, from the sentence that tells it: "You are a polite librarian."
pub(super) fn introduction(instruction: &str) -> Option<String> {
    let sentence = super::sentence(instruction.trim());
    let sentence = sentence.trim_end_matches(['.', '!']);
    let who = sentence.strip_prefix("You are ").or_else(|| sentence.strip_prefix("You're "))?;
    let first = who.split(' ').next().unwrap_or_default();
    let plain = matches!(first, "a" | "an" | "the")
        && (3..=9).contains(&words(who).len())
        && !who.contains([',', '_', '{', '@']);
    let internal = [
        "robot",
        "bot",
        "router",
        "selector",
        "model",
        "topic",
        "llm",
        "classifier",
        "that",
        "who",
        "which",
    ];
    (plain && !words(who).iter().any(|w| internal.contains(&w.text.as_str())))
        .then(|| format!("I am {who}."))
}

/// The subject of a tool that hands over, from its name: `go_to_shipping` is about shipping.
pub(super) fn subject(name: &str) -> Option<String> {
    const MOVES: &[&str] = &[
        "go",
        "to",
        "goto",
        "transition",
        "route",
        "start",
        "begin",
        "switch",
        "move",
        "handoff",
        "transfer",
        "open",
        "use",
        "escalate",
        "escalation",
        "human",
        "return",
        "back",
        "main",
        "topic",
        "subagent",
        "menu",
        "selector",
        "next",
        "exit",
        "agent",
        "handling",
        "now",
    ];
    let own: Vec<String> = super::words::name_words(name).into_iter().map(|w| w.text).collect();
    let own: Vec<&str> = own.iter().map(String::as_str).filter(|w| !MOVES.contains(w)).collect();
    (!own.is_empty()).then(|| own.join(" "))
}

/// What an instruction says that the agent helps with: "Help the user with shipping questions" is "with shipping
/// questions", "Answer questions about plants" is "with questions about plants".
pub(super) fn topic(instruction: &str) -> Option<String> {
    let sentence = super::sentence(instruction.trim_start_matches(['-', '*', '•', ' ']));
    let sentence = sentence.trim_end_matches(['.', '!', ':']).trim();
    let lower = sentence.to_lowercase();
    if sentence.len() > 120 || sentence.contains(['{', '@', '_', '`', '"']) {
        return None;
    }
    const HELPS: &[&str] = &["help ", "assist ", "helps ", "assists ", "guide ", "guides "];
    const HANDLES: &[&str] = &[
        "handle ",
        "handles ",
        "answer ",
        "answers ",
        "handling ",
        "manage ",
        "manages ",
        "process ",
        "processes ",
        "tell ",
        "explain ",
    ];
    if let Some(start) = HELPS.iter().find(|start| lower.starts_with(**start)) {
        let rest = sentence.get(start.len()..)?;
        let mut tokens = rest.split(' ').skip_while(|w| {
            let w = w.to_lowercase();
            matches!(w.as_str(), "the" | "a" | "new") || user_noun(&w).is_some() || w == "them"
        });
        let first = tokens.next()?;
        let tail = tokens.collect::<Vec<_>>().join(" ");
        if tail.is_empty() {
            return None;
        }
        return Some(to_user(&format!("{first} {tail}")));
    }
    let start = HANDLES.iter().find(|start| lower.starts_with(**start))?;
    let rest = sentence.get(start.len()..)?.trim();
    let internal = [
        "them", "the", "that", "what", "whether", "how", "stage", "topic", "subagent", "syntax",
        "step", "tool", "input",
    ];
    let words = words(rest);
    (!words.is_empty()
        && words.len() <= 8
        && !words.iter().any(|w| internal.contains(&w.text.as_str())))
    .then(|| format!("with {}", to_user(rest)))
}

/// The base form of a verb at the beginning of a description; `None` if the word is none.
fn base_form(word: &str) -> Option<String> {
    const NOT_VERBS: &[&str] = &[
        "the",
        "a",
        "an",
        "transition",
        "route",
        "begin",
        "start",
        "use",
        "this",
        "when",
        "select",
        "return",
        "go",
        "move",
        "general",
        "main",
        "user",
        "customer",
        "handle",
        "handles",
        "routes",
        "starts",
        "begins",
        "transitions",
        "save",
        "saves",
        "set",
        "sets",
        "store",
        "stores",
        "capture",
        "captures",
        "collect",
        "collects",
        "logs",
        "log",
        "marks",
        "mark",
        "orchestrates",
        "welcome",
        "welcomes",
        "escalate",
        "escalates",
        "demonstrates",
        "technical",
        "what",
        "specialist",
        "internal",
        "called",
        "know",
        "knows",
        "is",
        "are",
        "has",
        "have",
    ];
    if NOT_VERBS.contains(&word) || !word.chars().all(|c| c.is_ascii_lowercase()) {
        return None;
    }
    Some(match word {
        _ if word.ends_with("ies") && word.len() > 4 => {
            format!("{}y", word.get(..word.len() - 3).unwrap_or_default())
        }
        _ if ["sses", "shes", "ches", "xes", "zzes"].iter().any(|end| word.ends_with(end)) => {
            word.get(..word.len() - 2).unwrap_or_default().to_owned()
        }
        _ if word.ends_with('s') && !word.ends_with("ss") => {
            word.get(..word.len() - 1).unwrap_or_default().to_owned()
        }
        _ => word.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_become_abilities() {
        let of = |text| ability(text);
        assert_eq!(
            of("Retrieves current weather conditions.").as_deref(),
            Some("retrieve current weather conditions")
        );
        assert_eq!(of("I can place an order.").as_deref(), Some("place an order"));
        assert_eq!(of("Transition to the next topic"), None);
    }
}
