//! Extraction of strings: the answer to a question, or the text after the name of a field.

use super::answers::answer;
use super::extract::{Field, ParsedMessage, Reach};
use super::kinds::{self, TextKind, kind_of};
use super::phrases::small_talk;
use super::words::{Word, is_question};
use super::{Offline, spans};
use agentir_runtime::{FieldSpec, FieldType};
use serde_json::Value as Json;
use std::ops::Range;

/// Extracts string and list fields.
pub(super) fn extract_strings<'f>(
    offline: &Offline,
    reading: &mut ParsedMessage<'_>,
    fields: &mut Vec<Field<'f>>,
    reach: Reach,
    values: &mut Vec<(&'f FieldSpec, Json)>,
) {
    let is_text = |field: &Field<'_>| matches!(field.spec.ty, FieldType::Text | FieldType::List);
    let identifiers =
        fields.iter().filter(|f| is_text(f) && kind_of(f.spec) == TextKind::Identifier).count();
    let persons =
        fields.iter().filter(|f| is_text(f) && kind_of(f.spec) == TextKind::Person).count();
    let asked = fields.iter().any(|f| f.asked);
    // What somebody wants, in their own words, may contain everything else, so it comes last.
    fields.sort_by_key(|f| kind_of(f.spec) == TextKind::Request && !f.asked);
    // Named values first, so that an answer that names other fields is not used as a whole.
    let mut named: Vec<&str> = Vec::new();
    for field in fields.iter().filter(|f| is_text(f)) {
        let Some(at) = beside_name(offline, reading, field) else { continue };
        if let Some(text) = reading.text.get(at.clone()) {
            let value = as_type(offline, field.spec, text);
            reading.used.push(at);
            values.push((field.spec, value));
            named.push(&field.spec.name);
        }
    }
    // An answer that is only a day or an address is for the field that holds such things.
    let loose =
        |kind: TextKind| matches!(kind, TextKind::Thing | TextKind::Person | TextKind::Request);
    let asked_loosely = fields.iter().any(|f| f.asked && is_text(f) && loose(kind_of(f.spec)));
    for field in fields.iter().filter(|f| is_text(f) && !f.asked && asked_loosely) {
        let kind = kind_of(field.spec);
        if !matches!(kind, TextKind::Date | TextKind::Email | TextKind::Phone)
            || named.contains(&field.spec.name.as_str())
        {
            continue;
        }
        let Some(at) = kinds::find(offline, reading, field, Reach::Named, false) else { continue };
        let only = reading
            .words
            .iter()
            .all(|w| !w.is_content() || at.start <= w.at.start && w.at.end <= at.end);
        if only && let Some(text) = reading.text.get(at.clone()) {
            let value = as_type(offline, field.spec, text);
            reading.used.push(0..reading.text.len());
            values.push((field.spec, value));
            named.push(&field.spec.name);
        }
    }
    let mut unanswered: Vec<&Field<'_>> = Vec::new();
    let others: Vec<Word> =
        fields.iter().filter(|f| !f.asked).flat_map(|f| f.name.clone()).collect();
    for field in fields.iter().filter(|f| is_text(f) && !named.contains(&f.spec.name.as_str())) {
        let only = identifiers == 1 && !fields.iter().any(|f| f.asked && !std::ptr::eq(f, field));
        let kind = kind_of(field.spec);
        let request = kind == TextKind::Request;
        let quoted = spans::quoted(reading, field).or_else(|| super::nouns::file(reading, field));
        let found = spans::street(reading, field)
            .or_else(|| spans::role(reading, field))
            .or_else(|| spans::entity(reading, field))
            .or_else(|| (reach > Reach::Named).then(|| spans::of_change(reading, field)).flatten())
            .or_else(|| after_field_name(reading, field))
            .or_else(|| after_preposition(reading, field))
            .or_else(|| {
                after_colon(reading, field)
                    .filter(|_| request && !field.asked && reach != Reach::Named)
            })
            .filter(|at| {
                // Of what the user wants, words after the name of the field are only a part.
                !(request && (field.asked || reach != Reach::Named))
                    || reading.text.get(..at.start).is_some_and(|t| t.trim_end().ends_with(':'))
            })
            .or_else(|| {
                let goods = field.asked && kind == TextKind::Thing && field.named(kinds::GOODS);
                goods.then(|| kinds::goods(reading, field)).flatten()
            })
            .or_else(|| (kind == TextKind::Thing).then(|| listed_value(reading, field)).flatten())
            .or_else(|| (reach > Reach::Named).then(|| spans::qualifier(reading, field)).flatten())
            .or_else(|| whole_code(reading).filter(|_| field.asked && kind == TextKind::Identifier))
            .or_else(|| {
                let reach = if field.asked && kind != TextKind::Thing { Reach::Any } else { reach };
                (!field.asked || !matches!(kind, TextKind::Thing | TextKind::Request))
                    .then(|| kinds::find(offline, reading, field, reach, only))
                    .flatten()
            })
            .or_else(|| {
                // A bare name that is no answer to the question is that of the only person.
                let person = kind == TextKind::Person && persons == 1;
                (person && asked && !field.asked && values.is_empty())
                    .then(|| whole_name(reading))
                    .flatten()
            })
            .filter(|at| {
                reading.text.get(at.clone()).is_some_and(|text| kinds::may_be(field.spec, text))
            });
        let found = quoted.or(found);
        let found =
            found.map(|at| if request && field.named(QUERIES) { query(reading, at) } else { at });
        if let Some(at) = found
            && let Some(text) = reading.text.get(at.clone())
        {
            let value = as_type(offline, field.spec, text);
            reading.used.push(at);
            values.push((field.spec, value));
        } else if field.asked {
            unanswered.push(field);
        }
    }
    // What is the value of another field is no answer as a whole.
    for field in unanswered {
        let kind = kind_of(field.spec);
        let request = kind == TextKind::Request;
        if (matches!(kind, TextKind::Thing | TextKind::Request)
            || !super::phrases::is_wish(reading.text))
            && !(kind == TextKind::Thing && !field.named(kinds::GOODS) && wishes_act(reading))
            && !(spans::is_cause(field) && reading.words.iter().take(2).any(|w| w.text == "please"))
            && !(kind != TextKind::Person && (persons > 0 || request) && introduces(reading))
            && !is_about_others(reading, field)
            && let Some(text) = answer(reading, field).filter(|text| {
                kinds::may_be(field.spec, text) && !only_words_of(text, &others, field)
            })
        {
            values.push((field.spec, as_type(offline, field.spec, &text)));
        }
    }
    fields.retain(|field| !is_text(field));
}

/// Whether a message says what the user wants to do: "I'd like to order the tea".
fn wishes_act(reading: &ParsedMessage<'_>) -> bool {
    super::phrases::is_wish(reading.text)
        && reading.words.windows(2).any(|pair| {
            let [to, verb] = pair else { return false };
            to.text == "to"
                && (super::words::is_act(verb) || kinds::WISHED.contains(&verb.text.as_str()))
        })
}

/// Whether a message only says who the user is.
fn introduces(reading: &ParsedMessage<'_>) -> bool {
    kinds::person(reading).is_some_and(|at| {
        let rest = reading.words.iter().filter(|w| !super::numbers::overlap(&w.at, &at));
        rest.into_iter().all(|w| !w.is_content() || w.text == "name" || w.text == "i'm")
    })
}

/// Names of fields for what is searched for.
const QUERIES: &[&str] = &["query", "search", "keywords", "keyword", "topic"];

/// What is searched for, without the words that ask for the search: "Search for cases about two-factor login".
fn query(reading: &ParsedMessage<'_>, at: Range<usize>) -> Range<usize> {
    const ASKING: &[&str] = &[
        "please",
        "can",
        "could",
        "would",
        "you",
        "i",
        "want",
        "need",
        "like",
        "to",
        "search",
        "find",
        "look",
        "lookup",
        "up",
        "show",
        "me",
        "get",
        "give",
        "for",
        "about",
        "on",
        "the",
        "a",
        "an",
        "any",
        "some",
        "articles",
        "article",
        "information",
        "info",
        "do",
        "have",
        "is",
        "there",
        "tell",
        "hi",
        "hello",
        "help",
        "with",
        "in",
        "your",
        "anything",
    ];
    let inside = reading.words.iter().filter(|w| w.at.start >= at.start && w.at.end <= at.end);
    let first = inside.clone().find(|w| !ASKING.contains(&w.text.as_str()));
    let verb = inside.take(6).any(|w| {
        matches!(
            w.text.as_str(),
            "search" | "find" | "look" | "lookup" | "show" | "information" | "articles"
        )
    });
    match first.filter(|_| verb) {
        Some(first) => trimmed(reading.text, first.at.start..at.end),
        None => at,
    }
}

/// Whether a text consists of words that name other fields: "order number", which introduced a value that was taken.
fn only_words_of(text: &str, others: &[Word], field: &Field<'_>) -> bool {
    let said = super::words::words(text);
    let mut content = said.iter().filter(|w| w.is_content()).peekable();
    content.peek().is_some()
        && content.all(|w| {
            others.iter().any(|own| own.stem == w.stem || w.text == "number" && own.text == "id")
                && !field.name.iter().any(|own| own.stem == w.stem)
        })
}

/// Whether a message has values of other fields, and beside them only the names of these, what they replace, and words that
/// correct: "actually 4 guests, not 3".
fn is_about_others(reading: &ParsedMessage<'_>, field: &Field<'_>) -> bool {
    const CORRECTING: &[&str] = &[
        "actually",
        "sorry",
        "oops",
        "wait",
        "correction",
        "correct",
        "rather",
        "instead",
        "make",
        "change",
        "meant",
        "mean",
    ];
    let beside = reading.words.iter().filter(|w| reading.is_free(&w.at));
    !reading.used.is_empty()
        && beside.into_iter().all(|w| {
            let names_other =
                reading.names.contains(&w.stem) && !field.name.iter().any(|own| own.stem == w.stem);
            !w.is_content()
                || names_other
                || CORRECTING.contains(&w.text.as_str())
                || reading.negated(&w.at)
        })
}

/// One of the values that the description of a field lists.
fn listed_value(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    kinds::listed_values(&field.spec.description).into_iter().find_map(|value| {
        let at = super::extract::find_phrase(reading, value, field.asked)?;
        (reading.is_free(&at) && !reading.negated(&at)).then_some(at)
    })
}

/// An answer that is a code of several parts: "it's W-1234 AB".
fn whole_code(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    let code = |w: &&Word| {
        let text = reading.text.get(w.at.clone()).unwrap_or_default();
        text.chars().all(|c| c.is_ascii_digit() || c.is_uppercase())
    };
    let first = reading.words.iter().position(|w| w.text.chars().any(|c| c.is_ascii_digit()))?;
    let start = reading.words.iter().take(first).rev().take_while(code).count();
    let parts: Vec<&Word> = reading.words.iter().skip(first - start).take_while(code).collect();
    let whole = reading.words.len() <= first + parts.len() - start;
    let at = parts.first()?.at.start..parts.last()?.at.end;
    (whole && parts.len() > 1 && first - start <= 3 && reading.is_free(&at)).then_some(at)
}

/// An identifier beside a word of the field's name: "order 88213", "account number 556677", "from 111222".
fn beside_name(
    offline: &Offline,
    reading: &ParsedMessage<'_>,
    field: &Field<'_>,
) -> Option<Range<usize>> {
    const DIRECTIONS: &[(&[&str], &[&str])] = &[
        (&["from", "source", "origin", "sender"], &["from"]),
        (&["to", "target", "destination", "recipient", "receiver"], &["to", "into"]),
    ];
    if kind_of(field.spec) != TextKind::Identifier {
        return None;
    }
    let own: Vec<&Word> = field
        .name
        .iter()
        .filter(|w| w.is_content() && !kinds::CODES.contains(&w.text.as_str()))
        .collect();
    let direction =
        DIRECTIONS.iter().find(|(names, _)| field.named(names)).map(|(_, marks)| *marks);
    let found = kinds::identifiers(reading.text);
    let measured = kinds::measures(offline, reading.text);
    let code = |at: &Range<usize>| !measured.iter().any(|m| super::numbers::overlap(m, at));
    let free = |at: &Range<usize>| reading.is_free(at) && !reading.negated(at) && code(at);
    found.into_iter().filter(free).find(|at| {
        let before = reading.before(at, 4);
        // Up to what belongs to another value.
        let start = before
            .iter()
            .rposition(|w| {
                reading
                    .text
                    .get(w.at.end..at.start)
                    .is_none_or(|gap| gap.contains([',', ';', '.', '?']))
                    || w.text == "and"
                    || w.text.chars().any(|c| c.is_ascii_digit())
            })
            .map_or(0, |at| at + 1);
        let near = before.get(start..).unwrap_or_default();
        match direction {
            Some(marks) => near.iter().any(|w| marks.contains(&w.text.as_str())),
            None => near.iter().any(|w| own.iter().any(|own| own.stem == w.stem)),
        }
    })
}

/// The text after a colon: "Please create a ticket: the printer on floor 2 does not print".
fn after_colon(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    let colon = reading.text.find(": ")?;
    let text = reading.text.get(colon + 1..)?;
    let introduces = reading.text.get(..colon)?.split_whitespace().count() <= 8;
    let at = trimmed(reading.text, colon + 1..colon + 1 + text.len());
    // Several fields may be about the same text.
    let free = reading.is_free(&at) || field.spec.ty == FieldType::Text;
    (introduces && free && text.split_whitespace().count() >= 2).then_some(at)
}

/// Words with a capital letter from a position on.
pub(super) fn capitals_from(
    reading: &ParsedMessage<'_>,
    start: usize,
    most: usize,
) -> Option<Range<usize>> {
    let mut named: Vec<&Word> = Vec::new();
    for word in reading.words.iter().skip(start).take(most) {
        let close = named.last().is_none_or(|last| {
            let gap = reading.text.get(last.at.end..word.at.start);
            gap.is_some_and(|gap| matches!(gap, " " | "-" | ". "))
        });
        let text = reading.text.get(word.at.clone()).unwrap_or_default();
        let capital = text.chars().next().is_some_and(char::is_uppercase);
        if !close
            || !capital
            || word.text == "i"
            || word.text == "i'm"
            || !reading.is_free(&word.at)
        {
            break;
        }
        named.push(word);
    }
    let at = named.first()?.at.start..named.last()?.at.end;
    (!reading.negated(&at)).then_some(at)
}

/// A message that consists of two to four words with capital letters.
fn whole_name(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    let at = capitals_from(reading, 0, 4)?;
    let count = reading.words.len();
    let whole = reading.words.last().is_some_and(|last| last.at.end == at.end);
    ((2..=4).contains(&count) && whole && small_talk(reading.text).is_none()).then_some(at)
}

/// Nouns for times, which are no places.
const MOMENTS: &[&str] = &[
    "today", "tomorrow", "moment", "minute", "time", "end", "morning", "evening", "night",
    "weekend", "tonight", "once", "least", "all",
];

/// A name after one of some prepositions; if it is `wanted`, also in lower case, at the end of the message.
pub(super) fn after_words(
    reading: &ParsedMessage<'_>,
    marks: &[&str],
    wanted: bool,
) -> Option<Range<usize>> {
    let article = |index: usize| reading.words.get(index + 1).is_some_and(|w| w.text == "the");
    let at = |index: usize| capitals_from(reading, index + 1 + usize::from(article(index)), 4);
    let marked = |w: &Word| marks.contains(&w.text.as_str()) && !w.negated;
    let mut all = reading.words.iter().enumerate();
    let capital = all.find_map(|(index, word)| at(index).filter(|_| marked(word)));
    if capital.is_some() || !wanted || super::phrases::is_wish(reading.text) {
        return capital;
    }
    let index = reading.words.iter().rposition(marked)?;
    let named: Vec<&Word> = reading
        .words
        .iter()
        .skip(index + 1)
        .skip_while(|w| w.text == "the")
        .take_while(|w| w.is_content() && !MOMENTS.contains(&w.text.as_str()))
        .take(3)
        .collect();
    let at = named.first()?.at.start..named.last()?.at.end;
    reading.is_free(&at).then_some(at)
}

fn as_type(offline: &Offline, field: &FieldSpec, text: &str) -> Json {
    if field.ty != FieldType::List {
        return Json::String(as_written(offline, field, text));
    }
    let items = text.split([',', ';', '\n']).flat_map(|part| part.split(" and "));
    items.map(str::trim).filter(|item| !item.is_empty()).map(Json::from).collect()
}

/// A text in the form that the field describes: a day as an ISO date. Other forms are left as they are written.
fn as_written(offline: &Offline, field: &FieldSpec, text: &str) -> String {
    let about = format!("{} {}", field.description, field.prompt.as_deref().unwrap_or_default());
    let iso = about.contains("YYYY-MM-DD") || about.contains("ISO");
    // "Tomorrow" is another day tomorrow.
    let relative = !text.contains(|c: char| c.is_ascii_digit());
    if (iso || relative) && kind_of(field) == TextKind::Date {
        let found = offline.dates(text, super::dates::Direction::Future);
        if let [day] = found.as_slice() {
            return day.value.to_string();
        }
    }
    text.to_owned()
}

/// The text after the name of a field: "my name is Ada", "city: Rome".
fn after_field_name(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    let name: Vec<&Word> = field.name.iter().filter(|w| w.is_content()).collect();
    let last = name.last()?;
    // "My name is Ada" is not the name of a product.
    let things = last.text == "name" && kind_of(field.spec) != TextKind::Person;
    // "Full name" is also introduced by "name", and "customer_name" by "my name".
    let all = reading.words.iter().enumerate();
    let from = all
        .filter(|(_, w)| w.stem == last.stem)
        .filter(|(index, _)| {
            let before = index.checked_sub(1).and_then(|at| reading.words.get(at));
            !things || before.is_some_and(|w| name.iter().any(|own| own.stem == w.stem))
        })
        .find_map(|(index, word)| {
            let next = reading.words.get(index + 1);
            let gap =
                reading.text.get(word.at.end..next.map_or(reading.text.len(), |n| n.at.start))?;
            if gap.contains([':', '=']) {
                return next.map(|n| n.at.start);
            }
            next.filter(|n| matches!(n.text.as_str(), "is" | "are" | "was"))
                .and_then(|_| reading.words.get(index + 2))
                .map(|n| n.at.start)
        })
        .or_else(|| {
            let called = last.text == "name" && name.len() <= 2;
            let at = |words: &[&str]| {
                reading.words.windows(words.len()).position(|window| {
                    window.iter().map(|w| w.text.as_str()).eq(words.iter().copied())
                })
            };
            let after = [&["call", "me"][..], &["i", "am", "called"]]
                .iter()
                .find_map(|words| Some(at(words)? + words.len()))
                .filter(|_| called)?;
            reading.words.get(after).map(|w| w.at.start)
        })?;
    if is_question(reading.text) {
        return None;
    }
    // "My card was stolen" says what happened to it, not which one it is.
    let stated = reading.words.iter().position(|w| w.at.start >= from);
    if !matches!(kind_of(field.spec), TextKind::Request | TextKind::Person)
        && stated.is_some_and(|index| is_state(reading, index))
    {
        return None;
    }
    let rest = reading.text.get(from..)?;
    // Up to the end of the clause.
    let mut end = rest.find([',', ';', '!', '?', '\n']).unwrap_or(rest.len());
    if let Some(stop) = rest.find(". ").or_else(|| rest.ends_with('.').then(|| rest.len() - 1)) {
        end = end.min(stop);
    }
    if let Some(and) = rest.find(" and ") {
        end = end.min(and);
    }
    let found = rest.get(..end)?.trim_end();
    let at = from..from + found.len();
    (!found.is_empty() && reading.is_free(&at)).then_some(at)
}

/// Whether words say how something is, or what happened to it: "stolen in Rome", "still missing". "Salted caramel" and "Old
/// Mill Lane" are values.
fn is_state(reading: &ParsedMessage<'_>, index: usize) -> bool {
    // What begins only a state.
    const LEADS: &[&str] = &[
        "gone", "not", "still", "in", "on", "out", "very", "too", "so", "always", "never", "no",
        "being", "going", "due",
    ];
    // What may also qualify a value.
    const STATES: &[&str] = &["old", "open", "closed", "working", "full", "empty", "ready"];
    const WHEN: &[&str] = &[
        "yesterday",
        "today",
        "now",
        "again",
        "twice",
        "already",
        "yet",
        "anymore",
        "last",
        "this",
    ];
    let Some(word) = reading.words.get(index) else { return false };
    let own = word.text.as_str();
    let capital = |w: &Word| {
        reading.text.get(w.at.clone()).is_some_and(|t| t.starts_with(char::is_uppercase))
    };
    if capital(word) {
        return false;
    }
    if LEADS.contains(&own) {
        return true;
    }
    let state = STATES.contains(&own)
        || super::phrases::complains(own)
        || own.len() > 4 && own.ends_with("ed");
    // A noun that follows is qualified by it.
    let qualifies = reading.words.get(index + 1).is_some_and(|next| {
        reading.text.get(word.at.end..next.at.start) == Some(" ")
            && next.is_content()
            && !WHEN.contains(&next.text.as_str())
    });
    state && !qualifies
}

/// A place or a person after a preposition: "from Rome to New York".
fn after_preposition(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    const PLACES: &[(&[&str], &[&str])] = &[
        (&["origin", "departure", "from", "source", "pickup"], &["from"]),
        (&["destination", "to", "arrival", "dropoff", "target"], &["to", "into"]),
        (
            &["city", "location", "place", "town", "country", "area", "region"],
            &["in", "at", "near", "to", "around"],
        ),
        (&["agent", "assignee", "technician", "owner"], &["to", "for"]),
        (&["recipient", "payee", "beneficiary"], &["to"]),
    ];
    if field.named(&["country", "state", "region"])
        && let Some(at) = after_comma(reading)
    {
        return Some(at);
    }
    let (_, marks) = PLACES.iter().find(|(names, _)| field.named(names))?;
    let capital = |w: &Word| {
        reading
            .text
            .get(w.at.clone())
            .and_then(|t| t.chars().next())
            .is_some_and(char::is_uppercase)
    };
    let mut words = reading.words.iter().enumerate();
    words.find_map(|(index, mark)| {
        if !marks.contains(&mark.text.as_str()) || mark.negated {
            return None;
        }
        let mut named: Vec<&Word> = Vec::new();
        let article = reading.words.get(index + 1).is_some_and(|w| w.text == "the");
        for word in reading.words.iter().skip(index + 1 + usize::from(article)).take(4) {
            let close = named.last().is_none_or(|l| {
                reading
                    .text
                    .get(l.at.end..word.at.start)
                    .is_some_and(|gap| matches!(gap, " " | "-"))
            });
            if !close || !capital(word) || word.text == "i" || !reading.is_free(&word.at) {
                break;
            }
            named.push(word);
        }
        let at = named.first()?.at.start..named.last()?.at.end;
        (!reading.negated(&at)).then_some(at)
    })
}

/// The second part of a place: "in Lisbon, Portugal".
fn after_comma(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    (1..reading.words.len()).find_map(|index| {
        let at = capitals_from(reading, index, 3)?;
        let before = reading.words.get(index - 1)?;
        let gap = reading.text.get(before.at.end..at.start)?;
        let capital = reading.text.get(before.at.clone())?.starts_with(char::is_uppercase);
        let placed = reading.before(&(before.at.start..before.at.end), 3);
        let placed = placed.is_empty()
            || placed
                .iter()
                .any(|w| matches!(w.text.as_str(), "in" | "at" | "near" | "for" | "to" | "from"));
        (gap == ", " && capital && placed).then_some(at)
    })
}

/// Trims white space and punctuation from a range.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let Some(inner) = text.get(range.clone()) else { return range };
    let edge = |c: char| c.is_whitespace() || ".,;!\"“”".contains(c);
    let start = range.start + (inner.len() - inner.trim_start_matches(edge).len());
    let end = range.end - (inner.len() - inner.trim_end_matches(edge).len());
    start.min(end)..end
}
