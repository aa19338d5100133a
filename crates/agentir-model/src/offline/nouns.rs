//! Noun phrases: what of an answer is the value of a field that holds a thing.

use super::extract::{Field, ParsedMessage};
use super::kinds::is_clause;
use super::numbers::emails;
use super::strings::trimmed;
use super::words::{Word, regex, words};
use super::yes_no::yes_or_no;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Articles and possessives before a noun.
const DETERMINERS: &[&str] =
    &["a", "an", "the", "some", "my", "our", "your", "this", "that", "any"];

/// Verbs whose object is what somebody has, wants or does something with.
const OBJECT_VERBS: &[&str] = &[
    "have", "having", "like", "love", "want", "need", "take", "taking", "play", "playing", "learn",
    "learning", "eat", "eating", "cook", "cooking", "drink", "rent", "hire", "borrow", "choose",
    "prefer", "pick", "try", "buy", "order", "get", "make", "making", "use", "bring", "serve",
    "serving", "grow", "study",
];

/// What follows a noun that is preferred: "the Zweigelt sounds nice", "Wednesdays would be best". That something "is nice" may be
/// said of the weather.
static SUITS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?P<what>.{2,60}?)\s+(?:(?:would|will|should|might|could)\s+(?:be|do|suit|work)|sounds?|works?|suits?|looks?|(?:is|are)\s+(?:best|better|perfect|ideal))\b(?:\s+(?:best|good|better|nice|great|fine|ok|okay|perfect|lovely|ideal|for|us|me|well|just|really|very|most|the))*\s*(?:[,.!].*)?$",
    )
});

/// The name of a file.
static FILE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"[\w./-]*\w\.(?:jpe?g|png|gif|webp|heic|pdf|docx?|txt|csv|mp[34]|wav|zip)\b")
});

/// Words in names of fields for what is sent as a file.
const FILES: &[&str] = &[
    "photo",
    "picture",
    "image",
    "file",
    "document",
    "attachment",
    "proof",
    "scan",
    "receipt",
    "screenshot",
    "upload",
];

/// The name of a file, for a field that holds one.
pub(super) fn file(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    if !field.named(FILES) {
        return None;
    }
    let at = FILE.find(reading.text)?.range();
    reading.is_free(&at).then_some(at)
}

/// The noun phrase in an answer, for a field that holds a thing: without its article, and of a sentence only the object or the
/// subject that is preferred. `None` if it is a day or a time for a field that is about none.
pub(super) fn noun_phrase(
    reading: &ParsedMessage<'_>,
    field: &Field<'_>,
    range: Range<usize>,
) -> Option<Range<usize>> {
    // What somebody writes is no noun.
    if field.named(PROSE) {
        return Some(range);
    }
    let range = part(reading.text, range);
    let text = reading.text.get(range.clone())?;
    let mut at = range.clone();
    if let Some(what) = SUITS.captures(text).and_then(|found| found.name("what")) {
        at = range.start + what.start()..range.start + what.end();
    } else if is_clause(text) {
        at = object(reading, &range)?;
    } else if reading.text.get(..range.start).is_some_and(|lead| lead.ends_with("to "))
        && let Some(object) = object(reading, &range)
    {
        // "I'd like to learn the cello"
        at = object;
    }
    let at = without_article(reading.text, at);
    let named = reading.text.get(at.clone())?;
    (names_thing(reading, &at) && (field.named(TIMES) || !is_time(named))).then_some(at)
}

/// Words in names of fields for what somebody writes.
const PROSE: &[&str] = &[
    "body",
    "text",
    "content",
    "message",
    "note",
    "notes",
    "details",
    "reason",
    "summary",
    "remark",
    "remarks",
    "instructions",
    "wording",
];

/// Whether a part of an answer can name a thing: not a mere yes, what is denied, somebody's address, or the rest of a sentence
/// ("think about it").
fn names_thing(reading: &ParsedMessage<'_>, at: &Range<usize>) -> bool {
    const PRONOUNS: &[&str] = &["i", "you", "he", "she", "it", "we", "they", "them", "so"];
    let Some(text) = reading.text.get(at.clone()) else { return false };
    let inside = || reading.words.iter().filter(|w| at.start <= w.at.start && w.at.end <= at.end);
    // "It" in a title is written with a capital letter.
    let pronoun = |word: &Word| {
        let own = reading.text.get(word.at.clone()).unwrap_or_default();
        PRONOUNS
            .iter()
            .any(|p| own == *p || own.strip_prefix(p).is_some_and(|r| r.starts_with('\'')))
    };
    let only_yes = yes_or_no(text).is_some() && inside().count() <= 2;
    !only_yes && emails(text).is_empty() && !inside().any(|w| w.negated || pronoun(w))
}

/// The part of an answer before another clause, without parts that are only numbers: "two hundred and fifty, by paypal".
fn part(text: &str, range: Range<usize>) -> Range<usize> {
    static CLAUSE: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"[,;]?\s+(?:and|but|because|so|as|since)\s+(?:i|we|he|she|they|it|i'm|we're|it's|she's|he's|there)\b|[,;]?\s+(?:i|we)\s+(?:think|guess|believe|suppose|reckon)\b|[.!?]\s|\s[-–]\s",
        )
    });
    let Some(inside) = text.get(range.clone()) else { return range };
    let end = CLAUSE.find(inside).map_or(range.end, |m| range.start + m.start());
    let range = range.start..end.max(range.start);
    let Some(inside) = text.get(range.clone()) else { return range };
    let Some((first, rest)) = inside.split_once(", ") else { return range };
    let counted = super::numbers::numbers(first);
    let number = words(first).iter().all(|w| {
        !w.is_content() || counted.iter().any(|n| n.at.start <= w.at.start && w.at.end <= n.at.end)
    });
    if counted.is_empty() || !number {
        return range;
    }
    let start = range.end - rest.len();
    let lead = ["by ", "with ", "via ", "in ", "as "].iter().find(|lead| rest.starts_with(**lead));
    start + lead.map_or(0, |lead| lead.len())..range.end
}

/// Words in names of fields that may hold a day or a time.
const TIMES: &[&str] = &[
    "day",
    "days",
    "weekday",
    "weekdays",
    "date",
    "dates",
    "time",
    "times",
    "when",
    "slot",
    "hour",
    "hours",
    "schedule",
    "night",
    "nights",
    "appointment",
    "availability",
    "period",
    "month",
    "timing",
];

/// Whether a text is only about a day or a time of day.
fn is_time(text: &str) -> bool {
    const DAYS: &[&str] = &[
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
        "weekend",
        "weekday",
        "morning",
        "afternoon",
        "evening",
        "today",
        "tomorrow",
        "tonight",
    ];
    let all = words(text);
    let mut content = all.iter().filter(|w| w.is_content()).peekable();
    content.peek().is_some()
        && content.all(|w| DAYS.contains(&w.text.trim_end_matches('s')) || w.text == "next")
}

/// The object of a sentence: "roast duck" in "we're having roast duck and a salad".
fn object(reading: &ParsedMessage<'_>, range: &Range<usize>) -> Option<Range<usize>> {
    let inside: Vec<&Word> = reading
        .words
        .iter()
        .filter(|w| range.start <= w.at.start && w.at.end <= range.end)
        .collect();
    let verb = |w: &Word| OBJECT_VERBS.contains(&w.text.as_str()) && !w.negated;
    // "Would like to learn the cello": the last verb before the noun.
    let first = inside.iter().position(|w| verb(w))?;
    let mut start = first + 1;
    while let Some(next) = inside.get(start) {
        let onward = next.text == "to" && inside.get(start + 1).is_some();
        if onward {
            start += 2;
        } else if verb(next) {
            start += 1;
        } else {
            break;
        }
    }
    let start = start
        + inside.iter().skip(start).take_while(|w| DETERMINERS.contains(&w.text.as_str())).count();
    let mut end = start;
    while let Some(word) = inside.get(end) {
        let joined = end == start
            || reading
                .text
                .get(inside.get(end - 1)?.at.end..word.at.start)
                .is_some_and(|gap| matches!(gap, " " | "-"));
        if !joined || !word.is_content() || end - start >= 5 {
            break;
        }
        end += 1;
    }
    let at = inside.get(start)?.at.start..inside.get(end.checked_sub(1)?)?.at.end;
    (end > start).then_some(at)
}

/// A range without the article at its beginning; names that begin with one keep it.
pub(super) fn without_article(text: &str, at: Range<usize>) -> Range<usize> {
    let at = trimmed(text, at);
    let Some(inside) = text.get(at.clone()) else { return at };
    let Some((first, rest)) = inside.split_once(' ') else { return at };
    let lower = first.to_lowercase();
    let indefinite = matches!(lower.as_str(), "a" | "an" | "some");
    let definite = matches!(lower.as_str(), "the" | "my" | "our")
        && (first == lower || rest.starts_with(char::is_lowercase));
    if !(indefinite || definite) || rest.trim().is_empty() {
        return at;
    }
    trimmed(text, at.start + first.len()..at.end)
}

/// Whether a message wants to be taken elsewhere, rather than to be told something: "can you switch me to the advanced mode".
pub(super) fn wants_moved(message: &str) -> bool {
    const MOVES: &[&str] =
        &["switch", "change", "put", "connect", "transfer", "take", "bring", "move", "return"];
    let said = words(message);
    said.windows(3).any(|three| {
        let [you, verb, me] = three else { return false };
        you.text == "you"
            && MOVES.contains(&verb.text.as_str())
            && matches!(me.text.as_str(), "me" | "us" | "to")
    })
}

/// What somebody asks about instead of what was known: "and Calais?", "what about the blue one?"
pub(super) fn instead(message: &str) -> Option<&str> {
    static INSTEAD: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"^(?:ok(?:ay)?,?\s+)?(?:and|what about|how about|and what about|and how about)\s+(?:for|in|at|from|to|on)?\s*(?P<what>[^?.!]{2,40})\?\s*$",
        )
    });
    let what = INSTEAD.captures(message.trim())?.name("what")?;
    let at = without_article(message.trim(), what.range());
    let text = message.trim().get(at)?;
    const RELATES: &[&str] = &["for", "of", "in", "on", "at", "to", "from", "with", "about", "by"];
    let said = words(text);
    let relates = said.iter().any(|w| RELATES.contains(&w.text.as_str()));
    (said.len() <= 3 && !relates && !is_clause(text) && !super::words::is_question(text))
        .then_some(text)
}

/// Whether a wish names what it is about by a title: "I'd like to borrow The Hobbit".
pub(super) fn has_title(message: &str) -> bool {
    let said = words(message);
    said.iter().enumerate().any(|(index, word)| {
        let capital = |at: usize| {
            said.get(at).is_some_and(|w| {
                w.text != "i"
                    && !w.text.starts_with("i'")
                    && message.get(w.at.clone()).is_some_and(|t| t.starts_with(char::is_uppercase))
            })
        };
        super::kinds::WISHED.contains(&word.text.as_str()) && capital(index + 1)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn articles_are_no_part_of_a_value() {
        let of =
            |text: &str| text.get(super::without_article(text, 0..text.len())).map(str::to_owned);
        assert_eq!(of("A flute").as_deref(), Some("flute"));
        assert_eq!(of("the cello").as_deref(), Some("cello"));
        assert_eq!(of("The Hobbit").as_deref(), Some("The Hobbit"));
        assert_eq!(of("a").as_deref(), Some("a"));
    }

    #[test]
    fn other_values_are_asked_about() {
        assert_eq!(super::instead("And Calais?"), Some("Calais"));
        assert_eq!(super::instead("what about the blue one?"), Some("blue one"));
        assert_eq!(super::instead("and is it open?"), None);
    }
}
