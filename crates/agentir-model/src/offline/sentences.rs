//! Sentences of instructions: how they are divided, and whom they address.

use super::addressed::USERS;
use super::words::{regex, truncated};
use regex::Regex;
use std::sync::LazyLock;

static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*(?:#+\s*|(?:step\s+)?\d{1,2}[a-z]?\s*[.):]\s+|[-*•|]\s+|[a-z][.)]\s+)*")
});

/// A sentence of the instructions.
pub(super) struct Sentence {
    pub text: String,
    /// Whether it stands in a list.
    pub listed: bool,
    /// How far its line is indented; an item of a list stands below a line that is none.
    pub indent: usize,
}

/// The sentences of a text, without markers of lists. Lines that continue a sentence are joined.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
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
            _ => {
                let indent = line.len() - line.trim_start().len() + usize::from(marker);
                lines.push(Sentence { text: bare, listed: marker, indent });
            }
        }
    }
    let split = |line: &Sentence| {
        let (listed, indent) = (line.listed, line.indent);
        // Steps may be numbered within a line.
        let bare = |text: String| MARKER.replace(&text, "").trim().to_owned();
        let texts = split(&line.text).into_iter().map(bare).filter(|text| !text.is_empty());
        texts.map(move |text| Sentence { text, listed, indent }).collect::<Vec<_>>()
    };
    lines.iter().flat_map(split).collect()
}

/// The sentences of a line.
pub(super) fn split(line: &str) -> Vec<String> {
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

/// Whether a line is a text in quotation marks.
pub(super) fn is_quoted(line: &str) -> bool {
    let marks = ['"', '“', '”'];
    line.len() > 2 && line.starts_with(marks) && line.ends_with(marks)
}

pub(super) fn unquoted(line: &str) -> &str {
    line.trim_matches(['"', '“', '”']).trim_start_matches(['-', ' '])
}

/// Lines of a message as sentences: what a line with a colon introduces is a list.
pub(super) fn spoken_lines(lines: &[&str]) -> String {
    let mut out = String::new();
    let mut listing = false;
    for line in lines {
        let ends = line.ends_with(['.', '!', '?', ':']);
        if !out.is_empty() {
            let list = listing && !ends && !out.ends_with(':');
            let close = listing && ends;
            out.push_str(if list {
                ", "
            } else if close {
                ". "
            } else {
                " "
            });
        }
        listing = line.ends_with(':') || listing && !ends;
        out.push_str(line);
    }
    out
}

/// Whether a sentence of the instructions is addressed to the user, in the agent's own words: "I can help with returns",
/// "Please provide your name". What is addressed to the agent speaks about the user, or tells it what it is.
pub(super) fn is_spoken(sentence: &str) -> bool {
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
    const ABOUT: &[&str] =
        &["they", "their", "them", "he", "she", "model", "llm", "topic", "subagent", "tool"];
    let all = super::words::words(sentence);
    let is = |list: &[&str]| all.iter().any(|w| list.contains(&w.text.as_str()));
    let lower = sentence.to_lowercase();
    // A value that is missing: "You are logged in as None", but not "None of the tours".
    if sentence
        .strip_prefix("None of ")
        .unwrap_or(sentence)
        .split(|c: char| !c.is_alphanumeric())
        .any(|w| matches!(w, "None" | "null"))
    {
        return false;
    }
    let starts = |list: &[&str]| list.iter().any(|start| lower.starts_with(start));
    if sentence.contains(['{', '}', '@', '_', '`', '"', '“', '<'])
        || starts(TO_AGENT)
        || is(ABOUT)
        || all.windows(2).any(|pair| {
            let [before, noun] = pair else { return false };
            noun.text == "agent"
                && !matches!(
                    before.text.as_str(),
                    "human" | "live" | "real" | "support" | "service"
                )
        })
        || all.windows(2).any(|pair| {
            let [article, noun] = pair else { return false };
            article.text == "the" && USERS.contains(&noun.text.trim_end_matches("'s"))
        })
    {
        return false;
    }
    let to_you = is(&["you", "your", "yours"]) || is(FIRST) || is(&["we"]);
    // "Transferring you to a colleague."
    let doing = to_you && all.first().is_some_and(|w| w.text.ends_with("ing"));
    let opens = all.first().is_some_and(|w| OPENINGS.contains(&w.text.as_str()));
    (lower.ends_with('?') && to_you) || is(FIRST) || opens || doing || is_request(sentence)
}

/// Whether a sentence to the user requests something.
pub(super) fn is_request(sentence: &str) -> bool {
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

/// The clauses of a sentence that each demand something: "ask for the number, then call `find`, and finally ask …".
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
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
pub(super) fn unlinked(clause: &str) -> &str {
    const LINKS: &[&str] =
        &[",", ";", " and", " then", " finally", " next", " also", " afterwards"];
    let mut clause = clause.trim();
    while let Some(rest) = LINKS.iter().find_map(|link| clause.strip_suffix(link)) {
        clause = rest.trim_end();
    }
    clause
}

/// Whether a text contains a name as a word.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
            !before.is_some_and(word) && !after.is_some_and(word)
        })
}

/// "Your email" as "their email": items are phrases about the user.
pub(super) fn swap_owner(item: &str) -> String {
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
pub(super) fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let (first, second) = (letters.next(), letters.clone().next());
    match first {
        Some(first) if !second.is_some_and(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}
