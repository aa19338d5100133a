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
    /// A sentence of the instructions that is addressed to the user: "I can help with returns."
    Tell(String),
    /// Show the user what the instructions list: "Tracking number: 12".
    Show(String),
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
    /// If the last tool said that it is all right: "if available".
    Good,
    /// If the user agrees: "if correct".
    Agreed,
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
        r#"(?:\bask|(?:^|[,;]\s*|\b(?:and|to|then|must|should|please|always|first|will|you|or)\s+)(?:prompt|request|inquire))(?:\s+and\s+\w+)?\s+(?:(?:the|a|your|each)\s+)?(?:(?:{users}|them|him|her)\b\s*)?(?:again\s+|\w+ly\s+)?(?P<what>(?:for|if|whether|about|to|what|which|when|where|how|who|why)\b.*|(?:the|their|his|her|any|an?)\b.*)$"#
    ))
});

static QUOTED_ASK: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\b(?:ask|asking|asked)\b[^"“]*["“](?P<text>[^"”]+\?)["”]"#));

/// A question after a colon: "Ask this question: What did you do yesterday?"
static LITERAL_ASK: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\bask\b[^:"“]{0,60}:\s*(?P<text>[^:"“{]+\?)\s*$"#));

/// The beginning of a list of what the user has to provide.
static NEEDS: LazyLock<Regex> = LazyLock::new(|| {
    let users = USERS.join("|");
    regex(&format!(
        r"(?:\b(?:please (?:provide|share|enter|tell me|give me)|(?:i|we)(?:'ll| will)? need|(?:ensure|make sure) (?:that )?you (?:know|have)|(?:collect|gather|request|obtain|ask for|find out)\b.*|help (?:the )?(?:{users}) (?:specify|provide|choose)|the (?:{users}) (?:must|has to|should|needs to) provide|request the following data\b.*|required (?:information|details|fields))\b[^.?!]*):\s*$"
    ))
});

/// The beginning of a list of what the user is told.
static TELLS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:show(?:ing)?|display(?:ing)?|includ(?:e|ing)|present(?:ing)?|respond|provide)\b[^?!]*:\s*$|\bshow(?:ing)? (?:this|the following)\b",
    )
});

/// The beginning of a list of what the agent can do.
static ABILITIES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:i|we) can (?:help|assist)(?: you)?(?: with| to)?(?: the following)?:\s*$|^here(?:'s| is) what i can (?:do|help (?:you )?with)[^:]*:\s*$",
    )
});

/// A line that says what something is: "Tracking number: 12".
static LABEL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?P<label>[a-z][\w' /&-]{1,40}?):\s+(?P<value>[^\s{].*)$"));

static COLLECT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:\b(?:collect|gather|obtain|find out|elicit)(?:\s+and\s+\w+)?\s+|(?:^|and\s+|to\s+)record\s+)(?P<what>.+)$",
    )
});

static CONFIRM: LazyLock<Regex> = LazyLock::new(|| {
    let users = USERS.join("|");
    regex(&format!(
        r"\b(?:confirm|verify|check) with (?:the )?(?:{users}|them)\s+(?P<what>(?:whether|that|if)\b.+)$"
    ))
});

/// An instruction to have everything that was said confirmed.
static CONFIRM_ALL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:confirm|verify|repeat|summari[sz]e)\s+(?:(?:whether|that|if)\s+)?(?:all|everything|the details|these details)\b",
    )
});

/// The question that has everything confirmed.
pub(super) const IS_ALL_CORRECT: &str = "Is everything that you told me correct?";

static QUOTED_SAY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"\b(?:say|respond|reply|answer|tell|thank|greet|inform|close|end)\b[^"“]*["“](?P<text>[^"”]+)["”]"#,
    )
});

static FORBIDDEN: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(?:not|never|n't|without|avoid)\s+(?:\w+\s+)?(?:ask|asking|collect|request|prompt)")
});

static PARENTHESES: LazyLock<Regex> = LazyLock::new(|| regex(r"\s*\([^()]*\)"));

/// What follows the thing that is asked for.
static AFTER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:[;.:]|\s[-–—]\s|,?\s+(?:and|then)\s+(?:then|store|save|use|call|run|proceed|wait|put|set|record|instruct|append|complete|remember|continue|go|pass|provide)\b|\s+(?:in order to|so that|before|using|by|from (?:the|your)|one at a time|step by step|if (?:not|they|it|you)|to (?:determine|begin|start|proceed|create|complete|continue|process|help|get started|ensure|verify|identify|look))\b|\s+\(|,\s*(?:and\s+)?(?:then|store|save|use|call|if|do|but|so|which)\b).*$",
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
    "basic",
];

/// The steps of instructions, in their order.
pub(super) fn steps(instructions: &[String], tools: &[ToolSpec]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    // Lines of one list may be several instructions, because each may have a condition.
    let all = sentences(&instructions.join("\n"));
    let mut rest = all.as_slice();
    while let Some((sentence, after)) = rest.split_first() {
        if steps.len() >= MAX_STEPS {
            return steps;
        }
        rest = after;
        let count =
            after.iter().take_while(|next| next.listed && !next.text.ends_with(':')).count();
        let list = after.get(..count).filter(|list| !list.is_empty());
        if let Some(list) =
            list.filter(|_| sentence.text.ends_with(':') || TELLS.is_match(&sentence.text))
            && let Some(step) = of_list(&sentence.text, list)
        {
            steps.push(step);
            rest = after.get(count..).unwrap_or_default();
            continue;
        }
        read(&sentence.text, tools, &mut steps);
    }
    steps
}

/// The step that a list demands, by the line above it.
fn of_list(lead: &str, list: &[Sentence]) -> Option<Step> {
    let lines: Vec<&str> = list.iter().map(|s| s.text.trim_end_matches(['.', ';', ','])).collect();
    let labelled = lines.iter().all(|line| LABEL.is_match(line));
    if labelled && TELLS.is_match(lead) {
        return Some(Step { what: What::Show(lines.join("; ")), when: When::Always });
    }
    if labelled {
        return None;
    }
    if ABILITIES.is_match(lead) {
        let lowered: Vec<String> = lines.iter().map(|line| lower_first(line)).collect();
        let (last, most) = lowered.split_last()?;
        let text =
            if most.is_empty() { last.clone() } else { format!("{} and {last}", most.join(", ")) };
        let with = if super::phrases::ability(lines.first()?).is_some() { "" } else { " with" };
        return Some(Step {
            what: What::Tell(format!("I can help you{with} {text}.")),
            when: When::Always,
        });
    }
    let short =
        |line: &&str| line.split_whitespace().count() <= 12 && !line.contains(['{', '@', '"']);
    if !NEEDS.is_match(lead) || FORBIDDEN.is_match(lead) || !lines.iter().all(short) {
        return None;
    }
    let (when, _) = condition(lead);
    let spoken =
        lines.iter().any(|line| line.to_lowercase().split(' ').any(|w| w == "your" || w == "you"));
    let listed: Vec<String> = lines
        .iter()
        .flat_map(|line| {
            let end = [" (", " - ", " – ", ":"].iter().filter_map(|mark| line.find(mark)).min();
            let plain = lower_first(line.get(..end.unwrap_or(line.len())).unwrap_or(line).trim());
            // What is said to the user is about "your name", what is said about the user about "their name".
            let plain = if spoken { swap_owner(&plain) } else { plain };
            if plain.contains(" of ") { vec![plain] } else { items(&plain) }
        })
        .filter(|item| !item.is_empty())
        .collect();
    let question = super::phrases::question_to_user(&format!("for {}", joined(&listed)))?;
    Some(Step { what: What::Ask { question, items: listed }, when })
}

/// "Your email" as "their email": items are phrases about the user.
fn swap_owner(item: &str) -> String {
    let words = item.split(' ').map(|word| match word {
        "your" => "their",
        "you" => "they",
        "us" | "me" => "us",
        other => other,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Items as a phrase: "their name, their email and the date".
pub(super) fn joined(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// A text with a lower-case first letter, unless its first word is an abbreviation.
fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let (first, second) = (letters.next(), letters.clone().next());
    match first {
        Some(first) if !second.is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

fn read(sentence: &str, tools: &[ToolSpec], steps: &mut Vec<Step>) {
    let (when, main) = condition(sentence);
    let calls = tools.iter().filter(|tool| mentions(main, &tool.name));
    let calls: Vec<String> = calls.map(|tool| tool.name.clone()).collect();
    let spoken = calls.is_empty() && is_spoken(sentence);
    if spoken && is_request(sentence) {
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
    if spoken {
        if !sentence.ends_with(':') {
            steps.push(Step { what: What::Tell(sentence.to_owned()), when: When::Always });
        }
        return;
    }
    let mut left = calls;
    for clause in clauses(main) {
        if let Some(what) = ask(clause).or_else(|| ask_for_inputs(clause, tools)) {
            steps.push(Step { what, when: when.clone() });
        } else if let Some(said) = QUOTED_SAY.captures(clause).and_then(|c| c.name("text")) {
            steps.push(Step {
                what: What::Say(said.as_str().trim().to_owned()),
                when: when.clone(),
            });
        }
        left.retain(|call| {
            let named = mentions(clause, call);
            if named {
                steps.push(Step { what: What::Call(call.clone()), when: when.clone() });
            }
            !named
        });
    }
}

/// The clauses of a sentence that each demand something: "ask for the number, then call `find`, and finally ask …".
fn clauses(sentence: &str) -> Vec<&str> {
    const VERBS: &[&str] = &[
        "ask", "inquire", "request", "collect", "call", "confirm", "record", "prompt", "gather",
        "use",
    ];
    const LINKS: &[&str] = &["and", "then", "finally", "next", "also", "afterwards"];
    let mut starts = vec![0];
    let mut linked = false;
    let mut quoted = false;
    let mut at = 0;
    for token in sentence.split(' ') {
        let word = token.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        if linked && !quoted && at > 0 && VERBS.contains(&word.as_str()) {
            starts.push(at);
        }
        if token.matches(['"', '“', '”']).count() % 2 == 1 {
            quoted = !quoted;
        }
        linked = token.ends_with([',', ';'])
            || (LINKS.contains(&word.as_str()) && (linked || word != "also"));
        at += token.len() + 1;
    }
    starts.push(sentence.len());
    starts
        .windows(2)
        .filter_map(|pair| sentence.get(*pair.first()?..*pair.last()?))
        .map(unlinked)
        .collect()
}

/// A clause without the words that lead to the next one.
fn unlinked(clause: &str) -> &str {
    const LINKS: &[&str] =
        &[",", ";", " and", " then", " finally", " next", " also", " afterwards"];
    let mut clause = clause.trim();
    while let Some(rest) = LINKS.iter().find_map(|link| clause.strip_suffix(link)) {
        clause = rest.trim_end();
    }
    clause
}

/// An instruction to collect information without saying which: what the tools need.
fn ask_for_inputs(clause: &str, tools: &[ToolSpec]) -> Option<What> {
    let phrase = COLLECT.captures(clause)?.name("what")?.as_str();
    let vague = super::words::words(phrase);
    let basic = |w: &super::words::Word| {
        !w.is_content()
            || VAGUE.contains(&w.text.as_str())
            || matches!(w.text.as_str(), "basic" | "personal" | "key")
    };
    if !vague.iter().all(basic) || FORBIDDEN.is_match(clause) {
        return None;
    }
    let calls = tools.iter().filter(|t| t.purpose == agentir_runtime::Purpose::Call);
    let needed =
        calls.flat_map(|t| t.awaits.iter().chain(t.parameters.iter().filter(|p| p.required)));
    let mut items: Vec<String> = Vec::new();
    for field in needed {
        let name = super::questions::spoken(&field.name);
        if items.len() < MAX_INPUTS && !items.contains(&name) {
            items.push(name);
        }
    }
    let own: Vec<String> = items
        .iter()
        .map(|item| item.split(' ').filter(|w| !USERS.contains(w)).collect::<Vec<_>>().join(" "))
        .map(|item| if item.is_empty() { "name".to_owned() } else { item })
        .collect();
    let question = super::phrases::question_to_user(&format!("for {}", joined(&own)))?;
    (!items.is_empty()).then_some(What::Ask { question, items: own })
}

/// The number of inputs that are asked for together.
const MAX_INPUTS: usize = 4;

/// The sentences of instructions that state a fact which users may be told: "The library is open on Tuesdays." They
/// are neither about the agent nor about what it has to do.
pub(super) fn facts<'t>(
    instructions: &'t [String],
    tools: &'t [ToolSpec],
) -> impl Iterator<Item = String> + 't {
    let all = instructions.iter().flat_map(|text| sentences(text)).map(|sentence| sentence.text);
    all.take(MAX_STEPS * 4)
        .filter(|sentence| is_labelled_fact(sentence) || is_fact(sentence, tools))
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
    let Some(captures) = LABEL.captures(sentence) else { return false };
    let text = |name: &str| captures.name(name).map_or("", |m| m.as_str());
    let (label, value) = (super::words::words(text("label")), text("value"));
    label.len() <= 5
        && value.len() <= 200
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
    if let Some(text) = LITERAL_ASK.captures(main).and_then(|c| c.name("text")) {
        let question = text.as_str().trim().to_owned();
        return Some(What::Ask { items: Vec::new(), question });
    }
    if CONFIRM_ALL.is_match(main) && !lower.starts_with("if ") {
        return Some(What::Ask { question: IS_ALL_CORRECT.to_owned(), items: Vec::new() });
    }
    if let Some(what) = CONFIRM.captures(main).and_then(|c| c.name("what")) {
        let what = AFTER.replace(what.as_str(), "");
        let question =
            format!("Could you please confirm {}?", super::phrases::to_user(what.trim()));
        return Some(What::Ask { question, items: vec![what.trim().to_owned()] });
    }
    let plain = PARENTHESES.replace_all(main, "");
    let phrase = ASK.captures(&plain).or_else(|| COLLECT.captures(&plain))?.name("what")?;
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

/// Whether a sentence of the instructions is addressed to the user, in the agent's own words: "I can help with returns",
/// "Please provide your name". What is addressed to the agent speaks about the user, or tells it what it is.
fn is_spoken(sentence: &str) -> bool {
    const TO_AGENT: &[&str] = &[
        "you are",
        "you're",
        "your role",
        "your job",
        "your task",
        "your goal",
        "you must",
        "you should",
        "you can",
    ];
    const FIRST: &[&str] = &["i", "i'm", "i'll", "i'd", "i've", "let's", "me"];
    const OPENINGS: &[&str] = &["welcome", "thank", "hello", "hi", "great", "excellent", "here"];
    const ABOUT: &[&str] = &[
        "they", "their", "them", "he", "she", "agent", "model", "llm", "topic", "subagent", "tool",
    ];
    let all = super::words::words(sentence);
    let is = |list: &[&str]| all.iter().any(|w| list.contains(&w.text.as_str()));
    let lower = sentence.to_lowercase();
    let starts = |list: &[&str]| list.iter().any(|start| lower.starts_with(start));
    if sentence.contains(['{', '}', '@', '_', '`', '"', '“', '<'])
        || starts(TO_AGENT)
        || is(ABOUT)
        || all.windows(2).any(|pair| {
            let [article, noun] = pair else { return false };
            article.text == "the" && USERS.contains(&noun.text.trim_end_matches("'s"))
        })
    {
        return false;
    }
    let to_you = is(&["you", "your", "yours"]) || is(FIRST) || is(&["we"]);
    let opens = all.first().is_some_and(|w| OPENINGS.contains(&w.text.as_str()));
    (lower.ends_with('?') && to_you) || is(FIRST) || opens || is_request(sentence)
}

/// Whether a sentence to the user requests something.
fn is_request(sentence: &str) -> bool {
    const STARTS: &[&str] = &[
        "please provide",
        "please enter",
        "please share",
        "please tell me",
        "please give me",
        "please choose",
        "please describe",
        "please select",
        "please confirm",
    ];
    let lower = sentence.to_lowercase();
    (lower.ends_with('?') || STARTS.iter().any(|start| lower.starts_with(start)))
        && !lower.ends_with(':')
}

/// The condition of a sentence, and what is to be done.
fn condition(sentence: &str) -> (When, &str) {
    let Some(captures) = CONDITION.captures(sentence) else {
        let other = sentence.to_lowercase().starts_with("otherwise");
        return (if other { When::Unknown } else { When::Always }, sentence);
    };
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
    const GOOD: &[&str] = &[
        "available",
        "sufficient",
        "successful",
        "succeeds",
        "eligible",
        "valid",
        "approved",
        "enough",
        "is found",
        "exists",
    ];
    const AGREED: &[&str] =
        &["correct", "confirm", "agree", "says yes", "\u{201c}yes", "accepts", "approves"];
    if word == "if" && has(AGREED) {
        return When::Agreed;
    }
    if word == "if" && has(GOOD) && !lower.contains("user") {
        return When::Good;
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

/// A sentence of the instructions.
struct Sentence {
    text: String,
    /// Whether it stands in a list.
    listed: bool,
}

/// The sentences of a text, without markers of lists. Lines that continue a sentence are joined.
fn sentences(text: &str) -> Vec<Sentence> {
    let mut lines: Vec<Sentence> = Vec::new();
    let mut broken = false;
    for line in truncated(text).lines() {
        let marker =
            MARKER.find(line).is_some_and(|m| !m.as_str().trim().trim_matches('#').is_empty());
        let bare = MARKER.replace(line, "").trim().replace("**", "");
        if bare.is_empty() {
            broken = true;
            continue;
        }
        let continues = !std::mem::take(&mut broken)
            && bare.chars().next().is_some_and(char::is_lowercase)
            && !marker;
        match lines.last_mut() {
            Some(last) if continues && !last.text.ends_with(['.', '!', '?', ':', ';']) => {
                last.text.push(' ');
                last.text.push_str(&bare);
            }
            _ => lines.push(Sentence { text: bare, listed: marker }),
        }
    }
    let split = |line: &Sentence| {
        let listed = line.listed;
        split(&line.text).into_iter().map(move |text| Sentence { text, listed })
    };
    lines.iter().flat_map(split).collect()
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
            passes: Vec::new(),
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
