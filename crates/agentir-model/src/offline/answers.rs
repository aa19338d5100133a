//! The whole message as the answer to a question.

use super::extract::{Field, ParsedMessage};
use super::kinds::{TextKind, kind_of};
use super::phrases::small_talk;
use super::spans;
use super::strings::trimmed;
use super::words::{Word, is_question};
use std::ops::Range;

/// Phrases that introduce an answer, besides those that introduce anything ([`POLITE`]).
const LEAD_INS: &[&str] = &[
    "my name is",
    "the name is",
    "name is",
    "i am called",
    "call me",
    "this is",
    "it is",
    "it's",
    "its",
    "that is",
    "that's",
    "that would be",
    "i'm",
    "i am",
    "i'd like",
    "i would like",
    "i want to go to",
    "i want",
    "i need",
    "i like",
    "i love",
    "i prefer",
    "i'd prefer",
    "i would prefer",
    "i'll take",
    "i take",
    "i'd take",
    "i choose",
    "i'll have",
    "i think",
    "he is a",
    "she is a",
    "he is",
    "she is",
    "make it",
    "let's say",
    "to",
    "in",
    "for",
    "at",
    "she's called",
    "he's called",
    "it's called",
    "they're called",
    "she is called",
    "he is called",
    "it is called",
    "we're having",
    "we are having",
    "i'm having",
    "with",
    "by",
    "via",
    "i said",
    "i told you",
    "maybe",
    "probably",
    "perhaps",
    "just",
    "only",
    "how about",
    "we'll take",
    "we'd like",
    "we would like",
    "we want",
    "we need",
];

/// Introductions that say nothing, in front of whatever a user wants to say.
const POLITE: &[&str] = &[
    "please",
    "sure,",
    "yes,",
    "well,",
    "um,",
    "ok,",
    "okay,",
    "the answer is",
    "because",
    "as i said,",
    "like i said,",
    "as mentioned,",
    "as i told you,",
    "here you go,",
    "here you are,",
];

/// Messages that do not answer the question.
const NO_ANSWER: &[&str] = &[
    "i don't know",
    "i do not know",
    "dunno",
    "no idea",
    "not sure",
    "i'm not sure",
    "skip",
    "help",
    "cancel",
    "stop",
    "never mind",
    "nevermind",
    "none of your business",
    "what?",
    "huh?",
];

/// The whole message as the answer to a question, without an introduction and without values of
/// other fields at either end.
pub(super) fn answer(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<String> {
    let wants_question = field.named(&[
        "question",
        "query",
        "message",
        "topic",
        "request",
        "issue",
        "description",
        "comment",
        "feedback",
    ]);
    if (is_question(reading.text) && !wants_question)
        || small_talk(reading.text).is_some()
        || spans::declines(reading.text)
    {
        return None;
    }
    let request = kind_of(field.spec) == TextKind::Request;
    let mut range = trimmed(reading.text, 0..reading.text.len());
    loop {
        let before = range.clone();
        for used in &reading.used {
            if used.start <= range.start && range.start < used.end {
                range.start = used.end.min(range.end);
            }
            if used.end >= range.end && range.end > used.start {
                range.end = used.start.max(range.start);
            }
        }
        range = trimmed(reading.text, range);
        let text = reading.text.get(range.clone())?;
        let lower = text.to_lowercase();
        if lower.len() == text.len() {
            for lead in POLITE.iter().chain(LEAD_INS.iter().filter(|_| !request)) {
                let rest = lower.strip_prefix(lead).and_then(|rest| rest.strip_prefix(' '));
                if rest.is_some_and(|rest| !rest.trim().is_empty())
                    && text.is_char_boundary(lead.len())
                {
                    range.start += lead.len() + 1;
                    break;
                }
            }
            if let Some(rest) = lower.strip_suffix(" please").filter(|rest| !rest.is_empty()) {
                range.end = range.start.max(range.start + rest.len());
            }
            // "Rome on Friday", without the Friday.
            if !reading.used.is_empty() && range.start == before.start {
                for end in [" on", " at", " for", " in", " and", " from", " by", " with"] {
                    if lower.ends_with(end) {
                        range.end -= end.len();
                        break;
                    }
                }
            }
        }
        range = trimmed(reading.text, range);
        if range == before {
            break;
        }
    }
    let mut range = introduced(reading, field, range);
    // "Ada Moor and my email is …"
    if let Some(text) = reading.text.get(range.clone()) {
        let next =
            [" and my ", ", my ", " and the ", " and it "].iter().filter_map(|w| text.find(w));
        if let Some(end) = next.min().filter(|_| !wants_question) {
            range.end = range.start + end;
        }
    }
    let mut range = trimmed(reading.text, range);
    if kind_of(field.spec) == TextKind::Thing {
        range = super::nouns::noun_phrase(reading, field, range)?;
    }
    let text = reading.text.get(range)?;
    let plain = text.to_lowercase();
    // An introduction without its value: "my new number is".
    let introduces = [" is", " are", " be", " was"].iter().any(|end| plain.ends_with(end));
    let nothing = [LEAD_INS, POLITE].iter().any(|all| all.contains(&plain.as_str()))
        || (introduces && !reading.used.is_empty())
        || !text.chars().any(char::is_alphanumeric)
        || NO_ANSWER.contains(&plain.as_str());
    (!nothing).then(|| text.to_owned())
}

/// The part of an answer after an introduction that names the field in other words: "my order number is A-5512", for the
/// field `order_id`.
fn introduced(reading: &ParsedMessage<'_>, field: &Field<'_>, range: Range<usize>) -> Range<usize> {
    let inside: Vec<&Word> = reading.words.iter().filter(|w| w.at.start >= range.start).collect();
    let starts =
        inside.first().is_some_and(|w| matches!(w.text.as_str(), "my" | "the" | "our" | "its"));
    let verb = inside.iter().take(6).position(|w| matches!(w.text.as_str(), "is" | "are" | "was"));
    let (true, Some(verb)) = (starts, verb) else { return range };
    let about = field.spec.prompt.as_deref().unwrap_or(&field.spec.description);
    let about = super::words::words(about);
    let named = inside
        .iter()
        .take(verb)
        .filter(|w| w.is_content())
        .any(|w| field.name.iter().chain(&about).any(|own| own.stem == w.stem));
    match inside.get(verb + 1) {
        Some(next) if named && next.at.start < range.end => next.at.start..range.end,
        _ => range,
    }
}
