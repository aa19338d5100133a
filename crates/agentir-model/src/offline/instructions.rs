//! What an author's instructions tell a model to do, as far as they are written in the usual ways: ask the user for
//! something, say something, call a tool, and when.

use super::phrases::{USERS, question_to_user};
use super::words::{regex, truncated};
use agentir_runtime::ToolSpec;
use regex::Regex;
use std::sync::LazyLock;

/// The number of steps that are considered.
const MAX_STEPS: usize = 64;

/// A step that instructions demand.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub what: What,
    pub when: When,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// Ask the user for something: the question, and what is asked for, one or several things.
    Ask { question: String, items: Vec<String> },
    /// Say a text to the user.
    Say(String),
    /// Call a tool.
    Call(String),
}

/// When it is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum When {
    /// In its turn.
    Always,
    /// If something is missing, in the words of the author.
    Missing(String),
    /// If the user wants something, in the words of the author.
    Wants(String),
    /// Once everything before is done.
    Done,
    /// In a case that cannot be recognised.
    Unknown,
}

static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*(?:#+\s*|(?:step\s+)?\d{1,2}[a-z]?\s*[.):]\s+|[-*•|]\s+|[a-z][.)]\s+)*")
});

static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:then,?\s+|otherwise,?\s+)?(if|when|whenever|once|after|as soon as|before|until|unless)\b(.*)$",
    )
});

static ASK: LazyLock<Regex> = LazyLock::new(|| {
    let users = USERS.join("|");
    regex(&format!(
        r#"\b(?:ask|prompt|request|inquire)(?:\s+and\s+\w+)?\s+(?:(?:the|a|your|each)\s+)?(?:(?:{users}|them|him|her)\b\s*)?(?:again\s+|politely\s+|directly\s+)?(?P<what>(?:for|if|whether|about|to|what|which|when|where|how|who|why)\b.*|(?:the|their|his|her|any|an?)\b.*)$"#
    ))
});

static QUOTED_ASK: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\b(?:ask|asking|asked)\b[^"“]*["“](?P<text>[^"”]+\?)["”]"#));

static COLLECT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:(?:collect|gather|obtain|find out|elicit)(?:\s+and\s+\w+)?\s+|record\s+(?:the|their|which|what|his|her)\s+)(?P<what>.+)$",
    )
});

static CONFIRM: LazyLock<Regex> = LazyLock::new(|| {
    let users = USERS.join("|");
    regex(&format!(
        r"\b(?:confirm|verify|check) with (?:the )?(?:{users}|them)\s+(?P<what>(?:whether|that|if)\b.+)$"
    ))
});

static QUOTED_SAY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"\b(?:say|respond|reply|answer|tell|thank|greet|inform|close|end)\b[^"“]*["“](?P<text>[^"”]+)["”]"#,
    )
});

static FORBIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(?:not|never|n't|without|avoid)\s+(?:\w+\s+)?(?:ask|asking|collect|request|prompt)")
});

/// What follows the thing that is asked for.
static AFTER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:[;.:]|\s[-–—]\s|,?\s+(?:and|then)\s+(?:then|store|save|use|call|run|proceed|wait|put|set|record|append|complete|remember|continue|go|pass|provide)\b|\s+(?:in order to|so that|before|using|by|from (?:the|your)|one at a time|step by step|if (?:not|they|it|you)|to (?:determine|begin|start|proceed|create|complete|continue|process|help|get started|ensure|verify|identify|look))\b|\s+\(|,\s*(?:and\s+)?(?:then|store|save|use|call|if|do|but|so|which)\b).*$",
    )
});

/// Words that name nothing in particular.
const VAGUE: &[&str] = &[
    "information",
    "info",
    "details",
    "data",
    "the",
    "all",
    "required",
    "necessary",
    "following",
    "relevant",
    "needed",
    "any",
    "more",
    "additional",
    "their",
    "user",
    "user's",
    "customer",
    "customer's",
    "missing",
    "appropriate",
    "other",
    "of",
    "what",
    "clarification",
    "for",
    "questions",
    "question",
    "to",
    "follow-up",
    "clarifying",
    "input",
    "from",
    "them",
    "about",
];

/// The steps of instructions, in their order.
pub(super) fn steps(instructions: &[String], tools: &[ToolSpec]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for text in instructions {
        for sentence in sentences(text) {
            if steps.len() >= MAX_STEPS {
                return steps;
            }
            read(&sentence, tools, &mut steps);
        }
    }
    steps
}

fn read(sentence: &str, tools: &[ToolSpec], steps: &mut Vec<Step>) {
    let (when, main) = condition(sentence);
    let calls = tools.iter().filter(|tool| mentions(main, &tool.name));
    let calls: Vec<String> = calls.map(|tool| tool.name.clone()).collect();
    if let Some(what) = ask(main) {
        steps.push(Step { what, when: when.clone() });
    } else if let Some(said) = QUOTED_SAY.captures(main).and_then(|c| c.name("text")) {
        steps.push(Step { what: What::Say(said.as_str().trim().to_owned()), when: when.clone() });
    } else if is_speech(sentence) {
        // Sentences to the user that follow each other are one question.
        if let Some(Step { what: What::Ask { question, items }, when: When::Always }) =
            steps.last_mut()
            && items.is_empty()
        {
            question.push(' ');
            question.push_str(sentence);
        } else {
            let what = What::Ask { question: sentence.to_owned(), items: Vec::new() };
            steps.push(Step { what, when: When::Always });
        }
        return;
    }
    for call in calls {
        steps.push(Step { what: What::Call(call), when: when.clone() });
    }
}

/// The sentences of instructions that state a fact which users may be told: "The library is open on Tuesdays." They
/// are neither about the agent nor about what it has to do.
pub(super) fn facts<'t>(
    instructions: &'t [String],
    tools: &'t [ToolSpec],
) -> impl Iterator<Item = String> + 't {
    let all = instructions.iter().flat_map(|text| sentences(text));
    all.take(MAX_STEPS * 4).filter(|sentence| is_fact(sentence, tools))
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

/// The question that a sentence tells the model to ask.
fn ask(main: &str) -> Option<What> {
    let lower = main.to_lowercase();
    let forbids =
        ["never ", "do not ", "don't ", "avoid ", "no "].iter().any(|w| lower.starts_with(w));
    if forbids || FORBIDDEN.is_match(main) {
        return None;
    }
    if let Some(text) = QUOTED_ASK.captures(main).and_then(|c| c.name("text")) {
        let question = text.as_str().trim().to_owned();
        return Some(What::Ask { items: vec![question.clone()], question });
    }
    if let Some(what) = CONFIRM.captures(main).and_then(|c| c.name("what")) {
        let what = AFTER.replace(what.as_str(), "");
        let question =
            format!("Could you please confirm {}?", super::phrases::to_user(what.trim()));
        return Some(What::Ask { question, items: vec![what.trim().to_owned()] });
    }
    let phrase = ASK.captures(main).or_else(|| COLLECT.captures(main))?.name("what")?;
    let phrase = AFTER.replace(phrase.as_str(), "");
    let phrase = phrase.trim().trim_end_matches(['.', ',', ';', ':']);
    let content = |text: &str| {
        text.split_whitespace().any(|word| {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            !word.is_empty() && !VAGUE.contains(&word.as_str())
        })
    };
    if !content(phrase) || phrase.len() > 160 || phrase.contains(['{', '"', '“']) {
        return None;
    }
    let question = question_to_user(phrase)?;
    let listed = phrase.strip_prefix("for ").or_else(|| phrase.strip_prefix("to provide "));
    let items = items(listed.unwrap_or(phrase));
    Some(What::Ask { question, items })
}

/// The things that a phrase lists.
pub(super) fn items(phrase: &str) -> Vec<String> {
    let parts =
        phrase.split([',', ';']).flat_map(|part| part.split(" and ")).flat_map(|p| p.split(" or "));
    let parts = parts.map(|part| part.trim().trim_start_matches("and ").trim().to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether a sentence of the instructions is addressed to the user.
fn is_speech(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let padded = format!(" {} ", lower.replace([',', '?', '!', '.'], " "));
    let to_you = [" you ", " your ", " i ", " we "].iter().any(|word| padded.contains(word));
    let about_user = USERS.iter().any(|user| padded.contains(&format!(" the {user} ")));
    (lower.ends_with('?') && to_you && !about_user && !lower.contains('"'))
        || ([
            "please provide",
            "please enter",
            "please share",
            "please tell me",
            "please give me",
            "please choose",
        ]
        .iter()
        .any(|start| lower.starts_with(start)))
}

/// The condition of a sentence, and what is to be done.
fn condition(sentence: &str) -> (When, &str) {
    let Some(captures) = CONDITION.captures(sentence) else { return (When::Always, sentence) };
    let (Some(word), Some(rest)) = (captures.get(1), captures.get(2)) else {
        return (When::Always, sentence);
    };
    let text = rest.as_str();
    // Up to the comma or the colon, or to a verb that begins what is to be done.
    let end = text.find([',', ':']).or_else(|| text.find(" then ")).or_else(|| {
        [" ask ", " call ", " use ", " run ", " respond ", " say ", " tell ", " thank ", " reply "]
            .iter()
            .filter_map(|verb| text.find(verb))
            .min()
    });
    let Some(end) = end else { return (When::Unknown, sentence) };
    let about = text.get(..end).unwrap_or_default().trim();
    let main = text.get(end..).unwrap_or_default().trim_start_matches([',', ':', ' ']);
    (kind_of(&word.as_str().to_lowercase(), about), main)
}

fn kind_of(word: &str, about: &str) -> When {
    const MISSING: &[&str] = &[
        "is empty",
        "are empty",
        "is missing",
        "are missing",
        "not provided",
        "not been provided",
        "hasn't provided",
        "has not provided",
        "have not provided",
        "does not provide",
        "doesn't provide",
        "not given",
        "is 0",
        "is not set",
        "is unknown",
        "not known",
        "is none",
        "== \"\"",
        "don't have",
        "do not have",
        "haven't",
        "not specified",
        "not yet",
        "is blank",
        "is not available",
        "isn't provided",
        "did not provide",
    ];
    const FAILURES: &[&str] = &[
        "unclear",
        "wrong",
        "fail",
        "error",
        "invalid",
        "not found",
        "declin",
        "incorrect",
        "unsure",
        "cannot",
        "can't",
        "insufficient",
        "unable",
        "ambiguous",
        "no results",
        "no match",
        "too ",
        "refuse",
        "upset",
        "angry",
        "not enough",
    ];
    let lower = about.to_lowercase();
    let has = |list: &[&str]| list.iter().any(|phrase| lower.contains(phrase));
    if has(MISSING) {
        return When::Missing(lower);
    }
    if has(FAILURES) || matches!(word, "before" | "until" | "unless") {
        return When::Unknown;
    }
    if matches!(word, "once" | "after" | "as soon as")
        || ["received", "collected", "gathered", "verified", "you have"]
            .iter()
            .any(|w| lower.contains(w))
    {
        return When::Done;
    }
    let user = lower.split_whitespace().any(|w| {
        let w = w.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
        USERS.contains(&w) || matches!(w, "they" | "asks" | "asked" | "someone" | "wants")
    });
    if user { When::Wants(lower) } else { When::Unknown }
}

/// Whether a text contains a name as a word.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(word) && !after.is_some_and(word)
        })
}

/// The sentences of a text, without markers of lists. Lines that continue a sentence are joined.
fn sentences(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in truncated(text).lines() {
        let bare = MARKER.replace(line, "").trim().replace("**", "");
        if bare.is_empty() {
            lines.push(String::new());
            continue;
        }
        let continues = bare.chars().next().is_some_and(char::is_lowercase)
            && MARKER.find(line).is_none_or(|m| m.as_str().trim().is_empty());
        match lines.last_mut() {
            Some(last)
                if continues && !last.is_empty() && !last.ends_with(['.', '!', '?', ':', ';']) =>
            {
                last.push(' ');
                last.push_str(&bare);
            }
            _ => lines.push(bare),
        }
    }
    lines.iter().flat_map(|line| split(line)).collect()
}

/// The sentences of a line.
fn split(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut quoted = false;
    let chars: Vec<(usize, char)> = line.char_indices().collect();
    for (index, (at, c)) in chars.iter().enumerate() {
        match c {
            '"' | '“' | '”' => quoted = !quoted,
            '.' | '!' | '?' if !quoted => {
                let ends = chars.get(index + 1).is_none_or(|(_, next)| next.is_whitespace());
                let word =
                    line.get(start..*at).unwrap_or_default().rsplit(' ').next().unwrap_or_default();
                // "e.g. this", "1. this"
                let short = *c == '.' && (word.len() < 2 || word.contains('.') || word == "etc");
                if ends && !short {
                    let end = at + c.len_utf8();
                    found.push(line.get(start..end).unwrap_or_default().trim().to_owned());
                    start = end;
                }
            }
            _ => {}
        }
    }
    found.push(line.get(start..).unwrap_or_default().trim().to_owned());
    found.retain(|sentence| !sentence.is_empty());
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use super::*;

    fn of(text: &str) -> Vec<Step> {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            purpose: agentir_runtime::Purpose::Call,
            parameters: Vec::new(),
            awaits: Vec::new(),
        };
        steps(&[text.to_owned()], &[tool("find_thing"), tool("book")])
    }

    fn questions(text: &str) -> Vec<String> {
        let steps = of(text).into_iter();
        steps
            .filter_map(|step| match step.what {
                What::Ask { question, .. } => Some(question),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn questions_are_found_in_their_order() {
        let text = "1. Ask what the guest has lost.\n2. Call find_thing.\n3. If it is unclear, ask for details.\n\
                    4. Then ask for their name and email, and store them.\nNever ask about the weather.";
        assert_eq!(questions(text).first().map(String::as_str), Some("What have you lost?"),);
        let steps = of(text);
        assert!(
            steps.contains(&Step { what: What::Call("find_thing".into()), when: When::Always })
        );
        let both = steps.iter().find_map(|s| match &s.what {
            What::Ask { items, .. } if items.len() == 2 => Some(items.clone()),
            _ => None,
        });
        assert_eq!(both, Some(vec!["their name".to_owned(), "email".to_owned()]));
        assert!(!questions(text).iter().any(|q| q.contains("weather")));
    }

    #[test]
    fn sentences_to_the_user_are_questions() {
        assert_eq!(
            questions(
                "I can search by number. Which would you prefer? Please provide your order number."
            ),
            ["Which would you prefer? Please provide your order number."]
        );
        assert!(questions("Help the user. Does the user want a refund?").is_empty());
    }

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

    #[test]
    fn conditions_are_recognised() {
        let when = |text: &str| of(text).into_iter().map(|s| s.when).next();
        assert!(matches!(
            when("If the email is missing, ask for it by name."),
            Some(When::Missing(_))
        ));
        assert!(matches!(when("When a user wants to leave, use book."), Some(When::Wants(_))));
        assert_eq!(when("Once all is collected, say \"Thank you\"."), Some(When::Done));
        assert_eq!(when("If the code is wrong, ask for the code again."), Some(When::Unknown));
    }
}
