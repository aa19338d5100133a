//! What an author's instructions tell a model to do, as far as they are written in the usual ways: ask the user for
//! something, say something, call a tool, and when.

use super::addressed::{USERS, question_to_user};
use super::conditions::{
    When, condition, is_forbidden, limits_call, shared_condition, trailing_condition,
};
use super::facts::LABEL;
use super::sentences::{
    Sentence, clauses, is_quoted, is_request, is_spoken, joined, lower_first, mentions, sentences,
    spoken_lines, swap_owner, unquoted,
};
use super::words::regex;
use super::yes_no::reports_agreement;
use agentir_runtime::ToolSpec;
use regex::Regex;
use std::sync::LazyLock;

/// The number of steps that are considered.
pub(super) const MAX_STEPS: usize = 64;

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

static ASK: LazyLock<Regex> = LazyLock::new(|| {
    let users = USERS.join("|");
    regex(&format!(
        r#"(?:\bask|(?:^|[,;]\s*|\b(?:and|to|then|must|should|please|always|first|will|you|or)\s+)(?:prompt|request|inquire))(?:\s+and\s+\w+)?\s+(?:(?:the|a|your|each)\s+)?(?:(?:{users}|them|him|her)\b\s*)?(?:again\s+|\w+ly\s+)?(?P<what>(?:for|if|whether|about|to|what|which|when|where|how|who|why)\b.*|(?:the|their|his|her|any|an?)\b.*)$"#
    ))
});

static QUOTED_ASK: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\b(?:ask|asking|asked)\b[^"“]*["“](?P<text>[^"”]+[?:])["”]"#));

/// A question after a colon: "Ask this question: What did you do yesterday?"
static LITERAL_ASK: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"\bask\b[^:"“]{0,60}:\s*(?P<text>[^:"“{]+\?)\s*$"#));

/// The beginning of a list of what the user has to provide.
static NEEDS: LazyLock<Regex> = LazyLock::new(|| {
    let users = USERS.join("|");
    regex(&format!(
        r"(?:\b(?:please (?:provide|share|enter|tell me|give me)|(?:i|we)(?:'ll| will)? need|(?:ensure|make sure) (?:that )?you (?:know|have)|(?:collect|gather|request|obtain|ask for|find out)\b.*|help (?:the )?(?:{users}) (?:specify|provide|choose)|the (?:{users}) (?:must|has to|should|needs to) provide|request the following data\b.*|required (?:information|details|fields))\b[^.?!]*):?\s*$"
    ))
});

/// The end of a line that a list continues.
static LISTS: LazyLock<Regex> = LazyLock::new(|| regex(r":$|\bthe following\b"));

/// The beginning of what is asked or said in quotation marks on the next line.
static INTRODUCES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?:ask|inform|tell|say|reply|respond|answer)\b[^.!?]*:$"));

/// The beginning of a list of what the user is told.
static TELLS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:show(?:ing)?|display(?:ing)?|includ(?:e|ing)|present(?:ing)?|respond|provide)\b[^?!]*:\s*$|\bshow(?:ing)? (?:this|the following)\b",
    )
});

/// The beginning of a message in quotation marks.
static DISPLAYS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:display|say|show|send|output|print|reply with|respond with)\b.*\b(?:message|text|following|below)\b",
    )
});

/// The beginning of a list of what the agent can do.
static ABILITIES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:i|we) can (?:help|assist)(?: you)?(?: with| to)?(?: the following)?:\s*$|^here(?:'s| is) what i can (?:do|help (?:you )?with)[^:]*:\s*$",
    )
});

static COLLECT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:\b(?:collect(?:ing)?|gather(?:ing)?|obtain(?:ing)?|find out|elicit)(?:\s+and\s+\w+)?\s+|(?:^|and\s+|to\s+)record\s+)(?P<what>.+)$",
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

/// Whether a question asks for agreement, so that only agreement answers it.
pub(super) fn is_consent(question: &str) -> bool {
    const CONFIRMS: &str = "Could you please confirm ";
    question == IS_ALL_CORRECT
        || question.strip_prefix(CONFIRMS).is_some_and(|rest| {
            ["whether ", "that ", "if "].iter().any(|start| rest.starts_with(start))
        })
}

/// Whether a question can be answered by agreement, if what follows depends on that: "Should the transfer be made?"
pub(super) fn asks_consent(question: &str) -> bool {
    const AUXILIARIES: &[&str] = &[
        "should", "shall", "may", "is", "are", "do", "does", "will", "would", "can", "has", "have",
    ];
    const WORDS: &[&str] =
        &["confirmation", "permission", "approval", "agreement", "consent", "whether"];
    let said = super::words::words(question);
    let asks = said.first().is_some_and(|w| AUXILIARIES.contains(&w.text.as_str()));
    is_consent(question)
        || asks
        || said.iter().any(|w| WORDS.contains(&w.text.as_str()) || reports_agreement(&w.text))
}

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
        r"(?:[;.:]|\s[-–—]\s|,?\s+(?:and|then)\s+(?:then|fill|store|save|use|call|run|proceed|wait|put|set|record|instruct|append|complete|remember|continue|go|pass|provide)\b|\s+(?:in order to|so that|before|using|by|from (?:the|your)|one at a time|step by step|if (?:not|they|it|you)|to (?:determine|begin|start|proceed|create|complete|continue|process|help|get started|ensure|verify|identify|look))\b|\s+\(|,\s*(?:and\s+)?(?:then|store|save|use|call|if|do|but|so|which)\b).*$",
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
    // The condition that the lines below it share: "If they agree:".
    let mut case: Option<(usize, When)> = None;
    let mut first = 0;
    while let Some((sentence, after)) = rest.split_first() {
        share(case.as_ref(), steps.get_mut(first..));
        first = steps.len();
        if first >= MAX_STEPS {
            return steps;
        }
        case = case.filter(|(indent, _)| sentence.indent > *indent);
        if let Some(when) = shared_condition(&sentence.text) {
            case = Some((sentence.indent, when));
        }
        rest = after;
        let count =
            after.iter().take_while(|next| next.listed && !next.text.ends_with(':')).count();
        // "Display the message below", and the message in quotation marks.
        let quoted = after.iter().take_while(|next| is_quoted(&next.text)).count();
        if quoted > 0 && DISPLAYS.is_match(&sentence.text) {
            let lines = after.iter().take(quoted).map(|next| unquoted(&next.text));
            let lines: Vec<&str> = lines.filter(|line| !line.starts_with('[')).collect();
            steps.push(Step { what: What::Tell(spoken_lines(&lines)), when: When::Always });
            rest = after.get(quoted..).unwrap_or_default();
            continue;
        }
        // "Ask the user:" or "If it is lost, inform the user:", and what is said in quotation marks on the next line.
        if let Some(next) = after.first()
            && sentence.text.ends_with(':')
            && INTRODUCES.is_match(&sentence.text)
            && next.text.starts_with(['"', '“'])
        {
            read(&format!("{} {}", sentence.text, next.text), tools, &mut steps);
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let list = after.get(..count).filter(|list| !list.is_empty());
        if let Some(list) =
            list.filter(|_| LISTS.is_match(&sentence.text) || TELLS.is_match(&sentence.text))
            && let Some(step) = of_list(&sentence.text, list)
        {
            steps.push(step);
            rest = after.get(count..).unwrap_or_default();
            continue;
        }
        read(&sentence.text, tools, &mut steps);
    }
    share(case.as_ref(), steps.get_mut(first..));
    steps
}

/// Gives the calls of steps the condition of the line above them.
fn share(case: Option<&(usize, When)>, steps: Option<&mut [Step]>) {
    let Some((_, when)) = case else { return };
    for step in steps.unwrap_or_default() {
        if matches!(step.what, What::Call(_)) && step.when == When::Always {
            step.when = when.clone();
        }
    }
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
        // "Flights (use `book_flight`)"
        let plain = |line: &&str| {
            let line = line.split(" (").next().unwrap_or(line);
            lower_first(line.trim_end_matches(|c: char| !c.is_alphanumeric()))
        };
        let lowered: Vec<String> = lines.iter().map(plain).collect();
        let (last, most) = lowered.split_last()?;
        let text =
            if most.is_empty() { last.clone() } else { format!("{} and {last}", most.join(", ")) };
        let verb = ABILITIES.captures(lead).and_then(|c| c.name("verb"));
        let with = match verb {
            Some(verb) => verb.as_str(),
            None if super::abilities::ability(lines.first()?).is_some() => "",
            None => " with",
        };
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
    let question = super::addressed::question_to_user(&format!("for {}", joined(&listed)))?;
    Some(Step { what: What::Ask { question, items: listed }, when })
}

fn read(sentence: &str, tools: &[ToolSpec], steps: &mut Vec<Step>) {
    let (when, main) = condition(sentence);
    let calls = tools.iter().filter(|tool| mentions(main, &tool.name));
    let calls: Vec<String> = calls.map(|tool| tool.name.clone()).collect();
    // A question after a colon is what is said, not the instruction to ask it.
    let spoken = calls.is_empty() && is_spoken(sentence) && !LITERAL_ASK.is_match(sentence);
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
            let own = if named { trailing_condition(clause, call) } else { None };
            // "Never call `pay`" holds always, and "never call `pay` for others" may hold in this case.
            let forbidden = named && own.is_none() && is_forbidden(clause, call);
            let when = match own.filter(|_| when == When::Always) {
                Some(own) => own,
                None if forbidden => When::Unknown,
                None => when.clone(),
            };
            let limited = || {
                let tool = tools.iter().find(|tool| tool.name == *call);
                let inputs =
                    tool.iter().flat_map(|tool| tool.parameters.iter().chain(&tool.awaits));
                limits_call(clause, call, &inputs.map(|one| one.name.as_str()).collect::<Vec<_>>())
            };
            if named && !(forbidden && limited()) {
                steps.push(Step { what: What::Call(call.clone()), when });
            }
            !named
        });
    }
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
    if items.is_empty() {
        let personal = vague.iter().any(|w| matches!(w.text.as_str(), "basic" | "personal"));
        let question = "Could you tell me a little about yourself, please?".to_owned();
        return personal.then_some(What::Ask { question, items: Vec::new() });
    }
    let question = super::addressed::question_to_user(&format!("for {}", joined(&own)))?;
    Some(What::Ask { question, items: own })
}

/// The number of inputs that are asked for together.
const MAX_INPUTS: usize = 4;

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
            format!("Could you please confirm {}?", super::addressed::to_user(what.trim()));
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
    // Names of variables are said as words.
    let question = question_to_user(phrase)?.replace('_', " ");
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

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "tests")]

    use super::*;

    fn of(text: &str) -> Vec<Step> {
        let tool = |name: &str| ToolSpec::new(name, "", agentir_runtime::Purpose::Call);
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
