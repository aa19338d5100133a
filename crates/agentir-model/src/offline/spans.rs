//! Spans of a message that are values by how they are said: in quotation marks, before the noun that they qualify, as the
//! cause of what the user wants, as what is changed and into what.

use super::addressed::USERS;
use super::extract::{Field, ParsedMessage};
use super::phrases::{complains, is_wish};
use super::strings::{capitals_from, trimmed};
use super::words::{Word, is_question, regex, words};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A text in quotation marks; an apostrophe inside a word is none.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?:^|[\s(:])(?:'(?P<one>[^'"]{2,}?)'|["“](?P<two>[^"“”]{2,}?)["”]|‘(?P<three>[^‘’]{2,}?)’)(?:$|[\s).,;!?])"#,
    )
});

/// The number and the name of a street.
static STREET: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b\d{1,5}[a-z]?,?\s+(?:[\p{L}'-]+\s+){1,3}(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|way|place|square|court|close|terrace|row|hill|park|crescent|highway)\b\.?",
    )
});

/// A street and the number of a house after it.
static STREET_AND_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?P<street>\b(?:[\p{L}'-]+\s+){1,3}?(?:street|st|road|rd|avenue|ave|lane|ln|drive|dr|boulevard|blvd|way|place|square|court|close|terrace|row|hill|park|crescent|highway))\b\.?,?\s+(?:(?:number|no\.?|nr\.?|house)\s+)?#?\d{1,5}[a-z]?\b",
    )
});

/// Where the texts in quotation marks are.
fn quoted_spans(text: &str) -> impl Iterator<Item = Range<usize>> {
    QUOTED.captures_iter(super::words::truncated(text)).take(8).filter_map(|found| {
        let inside = ["one", "two", "three"].iter().find_map(|mark| found.name(mark))?;
        Some(inside.range())
    })
}

/// The texts in quotation marks: "Use this when the user says 'with those dates'".
pub(super) fn quotations(text: &str) -> Vec<&str> {
    quoted_spans(text).filter_map(|at| text.get(at)).collect()
}

/// Names of fields for texts that are quoted.
const QUOTABLE: &[&str] =
    &["text", "phrase", "sentence", "message", "content", "title", "subject", "word", "body"];

/// Nouns of names of fields that are qualified by their value: "a financial report", "the sales department".
const QUALIFIED: &[&str] = &["type", "category", "kind", "genre", "department", "style", "section"];

/// A text in quotation marks that the word before it assigns to the field, or the only one for a field that holds texts.
pub(super) fn quoted(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    let free = |at: &Range<usize>| reading.is_free(at) && !reading.negated(at);
    let found: Vec<Range<usize>> = quoted_spans(reading.text).filter(free).collect();
    let own = |w: &Word| field.name.iter().any(|own| own.is_content() && own.stem == w.stem);
    let named = found.iter().find(|at| reading.before(at, 3).iter().any(own));
    let other = |at: &Range<usize>| {
        reading.before(at, 2).iter().any(|w| w.is_content() && reading.names.contains(&w.stem))
    };
    named.cloned().or_else(|| match found.as_slice() {
        [only] if field.named(QUOTABLE) && !other(only) => Some(only.clone()),
        _ => None,
    })
}

/// The word before the noun that a field qualifies: "financial" in "a financial report", for `report_type`.
pub(super) fn qualifier(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    let described = words(&super::sentence(&field.spec.description));
    let described = described.iter().filter(|_| described.len() <= 4);
    let nouns: Vec<Word> = field.name.iter().chain(described).cloned().collect();
    let at = qualified_by(reading.text, &reading.words, &field.name, &nouns)?;
    (reading.is_free(&at) && !reading.negated(&at)).then_some(at)
}

/// The word before one of some nouns, for a field whose name says that it qualifies them.
pub(super) fn qualified_by(
    text: &str,
    all: &[Word],
    field: &[Word],
    nouns: &[Word],
) -> Option<Range<usize>> {
    if !field.iter().any(|w| QUALIFIED.contains(&w.text.as_str())) {
        return None;
    }
    let noun = |w: &Word| nouns.iter().any(|own| own.is_content() && own.stem == w.stem);
    (1..all.len()).find_map(|index| {
        let (before, word) = (all.get(index - 1)?, all.get(index)?);
        let joined = text.get(before.at.end..word.at.start)? == " ";
        let vague = matches!(
            before.text.as_str(),
            "new"
                | "latest"
                | "last"
                | "next"
                | "other"
                | "another"
                | "same"
                | "full"
                | "my"
                | "different"
        ) || before.text.chars().any(|c| c.is_ascii_digit())
            || super::words::is_act(before);
        let fits = noun(word) && joined && before.is_content() && !vague && !noun(before);
        fits.then(|| before.at.clone())
    })
}

/// Stems of names of fields for what may follow a street: "5 Mill Lane, Berger".
const OTHER_PARTS: &[&str] = &["citi", "town", "surnam", "name", "lastnam"];

/// The number and the name of a street, for a field that holds an address.
pub(super) fn street(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    if !field.named(&["address", "street", "location"]) || field.named(&["email", "ip", "web"]) {
        return None;
    }
    let Some(at) = STREET.find(reading.text).map(|m| m.range()) else {
        let found = STREET_AND_NUMBER.captures(reading.text)?;
        let group = if field.named(&["address", "location"]) { 0 } else { 1 };
        let at = trimmed(reading.text, found.get(group)?.range());
        // "In Oak Road 7": a preposition is no part of the name.
        let first = reading.words.iter().find(|w| w.at.start >= at.start && w.is_content())?;
        return Some(first.at.start..at.end).filter(|at| group == 0 || reading.is_free(at));
    };
    // "12 Oak Street, Dayton", unless the town has a field of its own.
    let town = reading.words.iter().position(|w| w.at.start >= at.end);
    let town = town.and_then(|index| capitals_from(reading, index, 3)).filter(|town| {
        reading.text.get(at.end..town.start) == Some(", ")
            && !reading.names.iter().any(|n| OTHER_PARTS.contains(&n.as_str()))
    });
    let end = town.map_or(at.end, |town| town.end);
    let at = trimmed(reading.text, at.start..end);
    reading.is_free(&at).then_some(at)
}

/// A person for whom something is wanted: "an appointment for Maria Lopez", "the patient Maria Lopez".
pub(super) fn beneficiary(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    let marks = |w: &Word| {
        matches!(w.text.as_str(), "for" | "called" | "named") || USERS.contains(&w.text.as_str())
    };
    // "My landlord Otto Brandt"
    let owned = |index: usize| {
        let before = index.checked_sub(1).and_then(|at| reading.words.get(at));
        let plain = reading.words.get(index).is_some_and(|w| {
            w.is_content()
                && reading.text.get(w.at.clone()).is_some_and(|t| t.starts_with(char::is_lowercase))
        });
        plain && before.is_some_and(|w| matches!(w.text.as_str(), "my" | "our" | "his" | "her"))
    };
    let marked = |(index, w): &(usize, &Word)| (marks(w) || owned(*index)) && !w.negated;
    reading.words.iter().enumerate().filter(marked).find_map(|(index, _)| {
        let at = capitals_from(reading, index + 1, 4)?;
        let count = reading.text.get(at.clone())?.split([' ', '-']).count();
        (2..=3).contains(&count).then_some(at)
    })
}

/// Words in names of fields that hold a job, and their stems.
const JOBS: &[&str] = &["role", "position", "occupation", "profession", "job"];
const JOB_STEMS: &[&str] = &["role", "posit", "occup", "profess", "job"];

/// Nouns for what somebody is in a company.
const POSTS: &[&str] = &[
    "ceo",
    "cto",
    "cfo",
    "coo",
    "cio",
    "manager",
    "director",
    "head",
    "founder",
    "owner",
    "engineer",
    "developer",
    "president",
    "chair",
    "chairman",
    "chairwoman",
    "secretary",
    "accountant",
    "buyer",
    "partner",
    "principal",
    "lead",
    "officer",
];

/// Words for having a job.
const WORKS: &[&str] = &["work", "works", "working", "worked", "employed"];

/// What somebody is, and the name after it.
struct Post {
    at: Range<usize>,
    /// "Of Fjord Labs": the index of the first word of the name.
    of: Option<usize>,
    /// Whether it is said to be the work.
    works: bool,
}

/// What somebody says that they are: "I'm the CTO of Fjord Labs", "I work as a nurse".
fn post(reading: &ParsedMessage<'_>) -> Option<Post> {
    const ENDS: &[&str] = &["of", "at", "for", "in", "from", "with", "and", "who", "here", "by"];
    // "A bit lost", "the one who called", "a new customer".
    const NONE: &[&str] = &[
        "bit", "little", "lot", "tad", "few", "one", "customer", "client", "caller", "guest",
        "user", "member", "visitor", "fan", "friend",
    ];
    let all = &reading.words;
    let text = |at: usize| all.get(at).map_or("", |w| w.text.as_str());
    let (start, works) = (0..all.len()).find_map(|at| {
        let works = text(at) == "as" && at.checked_sub(1).is_some_and(|b| WORKS.contains(&text(b)));
        let am = matches!(text(at), "i'm" | "im") || (text(at), text(at + 1)) == ("i", "am");
        let article = if text(at) == "i" { at + 2 } else { at + 1 };
        let found = (am || works) && matches!(text(article), "a" | "an" | "the");
        found.then_some((article + 1, works))
    })?;
    let named = all.iter().skip(start).take(4).take_while(|w| !ENDS.contains(&w.text.as_str()));
    let named: Vec<&Word> = named.collect();
    let at = named.first()?.at.start..named.last()?.at.end;
    let said = reading.text.get(at.clone())?;
    let at = at.start..at.start + said.split([',', ';', '.']).next()?.len();
    let none = named.iter().any(|w| NONE.contains(&w.text.as_str()));
    if none || at.is_empty() || super::kinds::is_clause(said) {
        return None;
    }
    let mark = start + named.len();
    let of = matches!(text(mark), "of" | "at" | "for" | "in")
        .then(|| all.get(mark + 1))
        .flatten()
        .filter(|w| {
            reading.text.get(w.at.clone()).is_some_and(|t| t.starts_with(char::is_uppercase))
        })
        .map(|_| mark + 1);
    Some(Post { at, of, works })
}

/// What somebody is, for a field that holds a job. If it was not asked for, it is said to be the work or to be in a company.
pub(super) fn role(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    if !field.named(JOBS) || field.named(&["id", "number"]) {
        return None;
    }
    let post = post(reading)?;
    let told = field.asked || post.works || post.of.is_some();
    (told && reading.is_free(&post.at)).then_some(post.at)
}

/// A company for which somebody works: "I work for Fjord Labs", "the CTO of Fjord Labs".
pub(super) fn employer(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    let works = |w: &Word| WORKS.contains(&w.text.as_str()) && !w.negated;
    let by_work = reading.words.windows(2).enumerate().find_map(|(index, pair)| {
        let [work, mark] = pair else { return None };
        let found = works(work) && mark.text == "for";
        found.then(|| capitals_from(reading, index + 2, 4)).flatten()
    });
    by_work.or_else(|| {
        let post = post(reading)?;
        // "The king of Spain" has no company.
        let titled = reading.names.iter().any(|name| JOB_STEMS.contains(&name.as_str()));
        let last = words(reading.text.get(post.at)?).pop()?;
        let of = post.of.filter(|_| titled || POSTS.contains(&last.text.as_str()))?;
        capitals_from(reading, of, 4)
    })
}

/// A name beside the noun that the field is the name of: "the Hotel Aurora", "hotel Aurora", "Aurora hotel".
pub(super) fn entity(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    let noun = field.name.iter().find(|w| super::kinds::NAMED_THINGS.contains(&w.text.as_str()))?;
    let index = reading.words.iter().position(|w| w.stem == noun.stem && !w.negated)?;
    let capital = |at: usize| {
        let word = reading.words.get(at)?;
        reading.text.get(word.at.clone())?.starts_with(char::is_uppercase).then_some(word)
    };
    let joined = |one: usize| {
        let (one, next) = (reading.words.get(one)?, reading.words.get(one + 1)?);
        (reading.text.get(one.at.end..next.at.start)? == " ").then_some(())
    };
    // Names before the noun, and with it the noun if it is part of the name.
    let mut first = index;
    while first > 1 && joined(first - 1).is_some() && capital(first - 1).is_some() {
        first -= 1;
    }
    let after = joined(index).and_then(|()| capitals_from(reading, index + 1, 4));
    let own = capital(index).is_some();
    let start = reading.words.get(if own || first < index { first } else { index + 1 })?.at.start;
    let end = match (&after, own || first < index) {
        (Some(after), _) => after.end,
        (None, true) if first < index => reading.words.get(index)?.at.end,
        (None, _) => return None,
    };
    let at = start..end;
    (reading.is_free(&at) && !reading.negated(&at)).then_some(at)
}

/// What a complaint is about: "The headphones I bought are awful", "my kettle leaks".
pub(super) fn complained_of(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    const ENDS: &[&str] = &[
        "i", "we", "that", "which", "is", "are", "was", "were", "has", "have", "from", "arrived",
        "came", "does", "do", "doesn't", "don't", "won't", "isn't", "broke", "stopped", "you",
    ];
    if !complains(reading.text) || is_question(reading.text) {
        return None;
    }
    let first = reading.words.first()?;
    let named: Vec<&Word> = reading
        .words
        .iter()
        .skip(1)
        .take_while(|w| w.is_content() && !ENDS.contains(&w.text.as_str()) && !complains(&w.text))
        .collect();
    let begins = matches!(first.text.as_str(), "the" | "my" | "our" | "this" | "these" | "your");
    let ended = reading
        .words
        .get(named.len() + 1)
        .is_some_and(|w| ENDS.contains(&w.text.as_str()) || complains(&w.text));
    let at = named.first()?.at.start..named.last()?.at.end;
    (begins && ended && named.len() <= 3 && reading.is_free(&at)).then_some(at)
}

/// Words in names and descriptions of fields for why something is so.
const CAUSES: &[&str] = &["reason", "cause", "caused", "causes", "why"];

/// Whether a field holds why something is so.
pub(super) fn is_cause(field: &Field<'_>) -> bool {
    field.named(CAUSES)
}

/// The clause that says why the user wants something: "I lost my card and need to block it".
pub(super) fn cause(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    static BREAK: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"[,;.!?]\s+(?:and\s+|so\s+)?|\s+(?:and|so)\s+(?:i\s+|we\s+)?(?:\w+\s+)?(?:need|want|would like|have) to\s|\s+-\s+|\s+because\s+",
        )
    });
    if let Some(because) = reading.words.iter().find(|w| w.text == "because") {
        let at = trimmed(reading.text, because.at.end..reading.text.len());
        return (!at.is_empty() && reading.is_free(&at)).then_some(at);
    }
    let mut starts = vec![(0, 0)];
    starts.extend(BREAK.find_iter(reading.text).map(|m| (m.start(), m.end())));
    starts.push((reading.text.len(), reading.text.len()));
    // A single clause says what is wanted.
    if starts.len() < 3 {
        return None;
    }
    let clauses = starts.windows(2).filter_map(|pair| {
        let at = trimmed(reading.text, pair.first()?.1..pair.get(1)?.0);
        Some((at.clone(), reading.text.get(at)?))
    });
    let mut stated = clauses.filter(|(at, text)| {
        let said = words(text);
        let past = said.iter().any(|w| {
            w.text.len() > 3 && w.text.ends_with("ed")
                || matches!(
                    w.text.as_str(),
                    "fell" | "hit" | "got" | "broke" | "lost" | "was" | "were"
                )
        });
        // "Please issue another one" asks for something.
        let asks = said.first().is_some_and(|w| w.text == "please" || super::words::is_act(w));
        said.len() >= 3
            && !asks
            && (complains(text) || past)
            && !is_wish(text)
            && !is_question(text)
            && reading.is_free(at)
    });
    stated.next().map(|(at, _)| at)
}

/// What is changed and into what: "change her telephone number to 12", "my new address is 12".
pub(super) fn changed(text: &str) -> Option<(Range<usize>, Range<usize>)> {
    static CHANGE: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?:\b(?:change|update|set|modify|edit|correct)\s+(?:(?:my|the|his|her|their|our)\s+)?(?P<what>[\p{L} -]{2,40}?)\s+to\s+|\bnew\s+(?P<named>[\p{L} -]{2,40}?)\s+(?:is|should be|will be)\s+)(?P<value>\S.*)$",
        )
    });
    let found = CHANGE.captures(text)?;
    let what = found.name("what").or_else(|| found.name("named"))?.range();
    let value = trimmed(text, found.name("value")?.range());
    let end =
        text.get(value.clone())?.find([',', ';', '\n']).map_or(value.end, |at| value.start + at);
    Some((what, trimmed(text, value.start..end)))
}

/// The part of a change that a field holds: what is changed, or its new value.
pub(super) fn of_change(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    let value = field.named(&["value", "new", "content"]);
    let what = field.named(&["field", "key", "attribute", "property", "column"]);
    if !value && !what {
        return None;
    }
    let (changed, into) = changed(reading.text)?;
    let at = if value { into } else { changed };
    reading.is_free(&at).then_some(at)
}

/// Whether a message only says that nothing more is wanted: "No, that's all I want".
pub(super) fn declines(text: &str) -> bool {
    const ENOUGH: &[&str] = &[
        "that's all",
        "that is all",
        "that's it",
        "nothing else",
        "nothing more",
        "no more",
        "that'll be all",
        "that will be all",
        "i'm done",
        "i am done",
        "that's everything",
        "don't need anything",
        "don't want anything",
    ];
    let said: Vec<String> = words(text).into_iter().map(|w| w.text).collect();
    let said = said.join(" ");
    let rest = ["no ", "nope ", "no thanks ", "ok ", "okay "]
        .iter()
        .fold(said.as_str(), |rest, lead| rest.strip_prefix(lead).unwrap_or(rest));
    // "I don't have anything else to add."
    let nothing_else =
        ["don't ", "do not "].iter().any(|not| rest.starts_with(&format!("i {not}")))
            && ["anything else", "anything more"].iter().any(|more| rest.contains(more));
    nothing_else || ENOUGH.iter().any(|phrase| rest.starts_with(phrase)) || rest == "no thank you"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_compile() {
        assert!(
            QUOTED.is_match("say 'hello there' twice") && !QUOTED.is_match("it didn't, they don't")
        );
        assert!(STREET.is_match("at 7b Mill Lane") && !STREET.is_match("2 rooms in the old town"));
    }

    #[test]
    fn changes_have_two_parts() {
        let parts =
            |text: &'static str| changed(text).map(|(what, value)| (&text[what], &text[value]));
        assert_eq!(
            parts("Please change the delivery date to 4 May."),
            Some(("delivery date", "4 May"))
        );
        assert_eq!(parts("My new e-mail is a@b.org"), Some(("e-mail", "a@b.org")));
        assert_eq!(parts("I want to go to Rome"), None);
    }

    #[test]
    fn nothing_more_is_no_value() {
        assert!(declines("No, that's all for today") && declines("Nothing else"));
        assert!(declines("I don't have anything else I need."));
        assert!(!declines("No onions") && !declines("all of them"));
    }
}
