//! What kind of text a field holds, by its name and description, and how such texts are found in a message that does not
//! name the field.

use super::extract::{Field, ParsedMessage, Reach};
use super::numbers::{emails, money, numbers, phones};
use super::phrases::is_wish;
use super::words::{Word, is_question, name_words, regex, words};
use super::{Offline, spans, strings};
use agentir_runtime::FieldSpec;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextKind {
    Email,
    Phone,
    /// A telephone number or an e-mail address.
    Contact,
    Month,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A company or another organisation.
    Company,
    /// An amount of something.
    Amount,
    /// A number or a code that names something.
    Identifier,
    Place,
    Person,
    /// What the user wants or has to say, in their own words.
    Request,
    /// Anything else.
    Thing,
}

/// Words of names, by the kind that they indicate; the first row that fits counts.
const KINDS: &[(TextKind, &[&str])] = &[
    (TextKind::Email, &["email", "mail", "e-mail"]),
    (TextKind::Phone, &["phone", "telephone", "mobile", "cell", "fax"]),
    (TextKind::Contact, &["contact"]),
    (TextKind::Month, &["month"]),
    (
        TextKind::Date,
        &["date", "checkin", "checkout", "dob", "birthday", "birth", "deadline", "datetime"],
    ),
    (TextKind::Time, &["time"]),
    (TextKind::Company, &["company", "organization", "organisation", "employer", "firm"]),
    (
        TextKind::Amount,
        &[
            "amount", "price", "budget", "cost", "quantity", "count", "total", "salary", "income",
            "fee", "balance",
        ],
    ),
    (
        TextKind::Identifier,
        &[
            "id",
            "number",
            "code",
            "reference",
            "ref",
            "sku",
            "key",
            "zip",
            "postcode",
            "postal",
            "serial",
            "tracking",
            "plate",
            "identifier",
            "iban",
            "vin",
            "isbn",
            "pin",
            "token",
            "no",
            "ssn",
            "barcode",
            "account",
        ],
    ),
    (
        TextKind::Place,
        &[
            "city",
            "location",
            "place",
            "town",
            "destination",
            "country",
            "region",
            "area",
            "origin",
            "venue",
            "airport",
            "station",
            "district",
            "where",
            "neighborhood",
            "departure",
            "arrival",
            "port",
            "harbour",
            "harbor",
            "route",
            "address",
            "street",
        ],
    ),
    (
        TextKind::Person,
        &[
            "name",
            "recipient",
            "payee",
            "beneficiary",
            "passenger",
            "owner",
            "patient",
            "person",
            "surname",
            "lastname",
            "firstname",
            "forename",
            "username",
        ],
    ),
    (
        TextKind::Request,
        &[
            "query",
            "question",
            "issue",
            "problem",
            "description",
            "topic",
            "request",
            "keywords",
            "symptom",
            "symptoms",
            "details",
            "complaint",
            "feedback",
            "concern",
            "reason",
            "summary",
            "subject",
            "text",
            "comment",
            "notes",
            "note",
            "message",
            "describe",
            "requirements",
            "preferences",
            "search",
            "inquiry",
            "enquiry",
            "fault",
            "incident",
            "cause",
            "caused",
            "why",
        ],
    ),
];

/// Nouns before "name" that show that it is not the name of a person.
pub(super) const NAMED_THINGS: &[&str] = &[
    "city",
    "product",
    "file",
    "company",
    "hotel",
    "item",
    "book",
    "service",
    "event",
    "restaurant",
    "medicine",
    "project",
    "team",
    "game",
    "movie",
    "course",
    "plan",
    "store",
    "brand",
    "model",
    "dish",
    "pet",
    "drug",
    "song",
    "property",
    "field",
    "category",
    "account",
    "department",
    "campaign",
    "vendor",
    "supplier",
    "equipment",
    "document",
    "report",
];

/// Nouns for what is bought, sold or repaired, in names of fields.
pub(super) const GOODS: &[&str] =
    &["item", "items", "product", "products", "goods", "thing", "article", "object"];

/// Names of fields for people who are reached by an address.
const ADDRESSEES: &[&str] = &["recipient", "receiver", "to"];

/// Names of fields with several words, by the kind that they indicate.
const PAIRS: &[(TextKind, [&str; 2])] =
    &[(TextKind::Date, ["check", "in"]), (TextKind::Date, ["check", "out"])];

/// The values that a description lists: "Low, medium or high", "Output format (pdf, csv or html)".
pub(super) fn listed_values(description: &str) -> Vec<&str> {
    const MAX_LISTED: usize = 12;
    let inside =
        description.split_once('(').map(|(_, rest)| rest.split(')').next().unwrap_or(rest));
    let after = || description.split_once(": ").map(|(_, rest)| rest);
    let whole = || (description.len() <= 60).then_some(description);
    let text = inside.or_else(after).or_else(whole).unwrap_or_default();
    let text = text.trim_start_matches("e.g.").trim_start_matches([',', ' ', ':']);
    let parts =
        text.split([',', '/']).flat_map(|part| part.split(" or ")).flat_map(|p| p.split(" and "));
    let values: Vec<&str> = parts
        .map(|part| {
            part.trim().trim_start_matches("or ").trim_end_matches('.').trim_matches(['"', '\''])
        })
        .filter(|part| !part.is_empty() && part.split(' ').count() <= 3)
        .filter(|part| part.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')))
        .take(MAX_LISTED)
        .collect();
    if values.len() > 1 && (text.contains(',') || text.contains('/') || text.contains(" or ")) {
        values
    } else {
        Vec::new()
    }
}

/// The kind of text that a field holds.
pub(super) fn kind_of(spec: &FieldSpec) -> TextKind {
    let name = name_words(&spec.name);
    let has = |list: &[&str]| name.iter().any(|w| list.contains(&w.text.as_str()));
    let things = has(NAMED_THINGS);
    let pair = |pair: &[&str; 2]| {
        name.windows(2).any(|w| w.iter().map(|w| w.text.as_str()).eq(pair.iter().copied()))
    };
    if let Some((kind, _)) = PAIRS.iter().find(|(_, words)| pair(words)) {
        return *kind;
    }
    let by_name =
        KINDS.iter().find(|(kind, list)| has(list) && !(*kind == TextKind::Person && things));
    if let Some((kind, _)) = by_name {
        // A "contact name" is a name, "account type" is a type.
        let last = name.last().map(|w| w.text.as_str());
        let of_last = KINDS.iter().find(|(_, list)| last.is_some_and(|last| list.contains(&last)));
        return match (kind, of_last) {
            (TextKind::Contact, Some((kind, _))) if *kind != TextKind::Contact => *kind,
            (TextKind::Identifier | TextKind::Company, _)
                if last.is_some_and(|l| {
                    matches!(l, "type" | "size" | "status" | "kind" | "category")
                }) =>
            {
                TextKind::Thing
            }
            (
                TextKind::Company,
                Some((kind @ (TextKind::Email | TextKind::Phone | TextKind::Identifier), _)),
            ) => *kind,
            _ => *kind,
        };
    }
    if things {
        return TextKind::Thing;
    }
    // The description of a field with a name of its own says more than the name.
    let about = spec.prompt.as_deref().filter(|p| !p.is_empty()).unwrap_or(&spec.description);
    let about = words(super::sentence(about).as_str());
    let says = |list: &[&str]| about.iter().take(8).any(|w| list.contains(&w.text.as_str()));
    if about.iter().any(|w| matches!(w.text.as_str(), "yyyy" | "iso")) {
        return TextKind::Date;
    }
    let specific = [TextKind::Email, TextKind::Phone, TextKind::Place, TextKind::Month];
    let by_words = KINDS.iter().find(|(kind, list)| specific.contains(kind) && says(list));
    by_words.map_or(TextKind::Thing, |(kind, _)| *kind)
}

static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?:\b[A-Za-z]{1,8}[-_/]?|#|\b)\d[A-Za-z0-9]*(?:[-_/][A-Za-z0-9]+)*\b")
});

static MONTH: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    )
});

/// The days, times and amounts of money in a text: their numbers name nothing.
pub(super) fn measures(offline: &Offline, text: &str) -> Vec<Range<usize>> {
    let direction = super::dates::Direction::Future;
    let days = offline.dates(text, direction);
    let days = days.into_iter().map(|f| f.at);
    // "4417" alone may be read as a time, "10:30" and "10am" are nothing else.
    let clock = |at: &Range<usize>| {
        text.get(at.clone()).is_some_and(|t| t.contains(|c: char| !c.is_ascii_digit()))
    };
    let times = super::dates::times(text).into_iter().map(|f| f.at).filter(clock);
    let amounts = money(text).into_iter().map(|f| f.at);
    days.chain(times).chain(amounts).collect()
}

/// Whether a field holds a code, and a message does not say what kind of thing the field's code names.
pub(super) fn is_code_of_another(field: &FieldSpec, message: &str) -> bool {
    if kind_of(field) != TextKind::Identifier {
        return false;
    }
    let said = words(message);
    let named = |own: &Word| said.iter().any(|w| w.stem == own.stem);
    let name = name_words(&field.name);
    let mut own = name.iter().filter(|w| w.is_content() && !CODES.contains(&w.text.as_str()));
    match own.next() {
        Some(first) => !named(first) && !own.any(named),
        None => false,
    }
}

/// General words for codes, which do not tell what they name.
pub(super) const CODES: &[&str] =
    &["id", "number", "code", "no", "ref", "reference", "identifier", "key"];

/// Codes and numbers that may name something.
pub(super) fn identifiers(text: &str) -> Vec<Range<usize>> {
    IDENTIFIER.find_iter(text).take(super::numbers::MAX_MATCHES).map(|m| m.range()).collect()
}

/// The text of a field in a message that does not name the field; `only` if it is the only field of its kind.
pub(super) fn find(
    offline: &Offline,
    reading: &ParsedMessage<'_>,
    field: &Field<'_>,
    reach: Reach,
    only: bool,
) -> Option<Range<usize>> {
    let text = reading.text;
    let free = |at: &Range<usize>| reading.is_free(at) && !reading.negated(at);
    let email = || emails(text).into_iter().map(|f| f.at).find(free);
    let phone = || phones(text, offline.home()).into_iter().map(|f| f.at).find(free);
    match kind_of(field.spec) {
        TextKind::Email => email(),
        TextKind::Phone => phone(),
        TextKind::Contact => phone().or_else(email),
        TextKind::Month => MONTH.find(text).map(|m| m.range()).filter(free),
        TextKind::Amount => {
            let amounts = money(text).into_iter().map(|f| f.at);
            let counts =
                numbers(text).into_iter().map(|f| f.at).filter(|_| reach == Reach::Any || only);
            amounts.chain(counts).find(free)
        }
        TextKind::Date => day(offline, reading, field, reach),
        TextKind::Company => {
            strings::after_words(reading, &["from", "at", "with", "represent"], false)
                .or_else(|| spans::employer(reading).filter(free))
        }
        TextKind::Identifier if reach == Reach::Any || only || field.asked => {
            let measured = measures(offline, text);
            let day = |at: &Range<usize>| measured.iter().any(|m| super::numbers::overlap(m, at));
            let mut found = identifiers(text).into_iter().filter(free).filter(|at| !day(at));
            // Amounts are not identifiers.
            found.find(|at| {
                let before = text.get(..at.start).and_then(|t| t.chars().next_back());
                let plain = text.get(at.clone()).unwrap_or_default();
                !before.is_some_and(|c| "$€£.".contains(c))
                    && (plain.len() > 3 || plain.chars().any(char::is_alphabetic) || field.asked)
            })
        }
        TextKind::Time => super::dates::times(text).into_iter().map(|f| f.at).find(free),
        TextKind::Request if spans::is_cause(field) && reach < Reach::Request && !field.asked => {
            spans::cause(reading)
        }
        TextKind::Place => strings::after_words(reading, PLACE_MARKS, reach == Reach::Any),
        TextKind::Person => {
            let addressed = field.named(ADDRESSEES).then(email).flatten();
            let part =
                field.named(&["surname", "lastname", "firstname", "forename", "last", "first"]);
            addressed
                .or_else(|| person(reading))
                .or_else(|| spans::beneficiary(reading).filter(|_| reach >= Reach::Wish))
                .or_else(|| bare_name(reading, if part { 1 } else { 2 }))
        }
        TextKind::Request if reach >= Reach::Request => {
            // What says another value, a name or an address, is not what the user wants.
            let addresses = emails(text);
            let taken = |w: &&Word| {
                !reading.is_free(&w.at)
                    || !reading.used.is_empty() && reading.names.contains(&w.stem)
                    || addresses.iter().any(|f| super::numbers::overlap(&f.at, &w.at))
            };
            let said: Vec<&Word> =
                reading.words.iter().filter(|w| w.is_content() && !taken(w)).collect();
            let plain = |w: &&&Word| {
                text.get(w.at.clone()).is_some_and(|t| t.starts_with(char::is_lowercase))
            };
            let content = if said.iter().any(|w| plain(&w)) { said.len() } else { 0 };
            let at = strings::trimmed(text, 0..text.len());
            (content >= 2).then_some(at)
        }
        TextKind::Thing if reach == Reach::Any => thing(reading, field),
        // "I want to return my shoes" says which item.
        TextKind::Thing if reach >= Reach::Wish && field.named(GOODS) => goods(reading, field),
        TextKind::Thing if field.named(GOODS) => spans::complained_of(reading),
        _ => None,
    }
}

/// Whether a text may be a value of a field: words without any number are no amount and no telephone number, but one
/// word may be what the user says about it.
pub(super) fn may_be(field: &FieldSpec, text: &str) -> bool {
    let several = || words(text).len() > 1;
    match kind_of(field) {
        TextKind::Email => text.contains('@') || !several(),
        TextKind::Amount | TextKind::Phone => !numbers(text).is_empty() || !several(),
        TextKind::Identifier => {
            text.chars().any(|c| c.is_ascii_digit()) || words(text).len() <= 3 && !is_wish(text)
        }
        // A mere yes or no names nobody and nothing.
        TextKind::Place | TextKind::Person | TextKind::Company | TextKind::Date
            if super::yes_no::yes_or_no(text).is_some() && words(text).len() <= 2 =>
        {
            false
        }
        TextKind::Place | TextKind::Person | TextKind::Company | TextKind::Date => {
            let name = name_words(&field.name);
            let addressed = name.iter().any(|w| ADDRESSEES.contains(&w.text.as_str()));
            words(text).len() <= 12
                && !is_wish(text)
                && !is_clause(text)
                && (addressed || emails(text).is_empty())
        }
        _ => true,
    }
}

/// Whether a text says that something happened or is so: a name has no verb.
pub(super) fn is_clause(text: &str) -> bool {
    const VERBS: &[&str] = &[
        "was", "were", "wasn't", "weren't", "is", "are", "isn't", "aren't", "have", "has",
        "hasn't", "haven't", "had", "didn't", "don't", "doesn't", "can't", "cannot", "couldn't",
        "won't", "did", "does", "do", "will", "would", "should", "could", "they", "we", "he",
        "she", "i", "i've", "i'll", "they're", "we're",
    ];
    let said = words(text);
    said.len() > 2 && said.iter().skip(1).any(|w| VERBS.contains(&w.text.as_str()))
}

const PLACE_MARKS: &[&str] = &[
    "in", "at", "near", "to", "around", "for", "from", "of", "leave", "leaving", "visit",
    "visiting", "reach", "via", "through", "toward", "towards",
];

/// A person who introduces themselves: "I'm Ada Moor", "this is Ada".
pub(super) fn person(reading: &ParsedMessage<'_>) -> Option<Range<usize>> {
    const INTRODUCTIONS: &[&[&str]] = &[
        &["i'm"],
        &["i", "am"],
        &["this", "is"],
        &["my", "name", "is"],
        &["name's"],
        &["im"],
        &["name", "is"],
    ];
    reading.words.iter().enumerate().find_map(|(index, _)| {
        let phrase = INTRODUCTIONS.iter().find(|phrase| {
            let from = reading.words.iter().skip(index).take(phrase.len());
            from.map(|w| w.text.as_str()).eq(phrase.iter().copied())
        })?;
        strings::capitals_from(reading, index + phrase.len(), 4)
    })
}

/// A day in a text field: one that the words around it assign to the field, else the first.
fn day(
    offline: &Offline,
    reading: &ParsedMessage<'_>,
    field: &Field<'_>,
    reach: Reach,
) -> Option<Range<usize>> {
    let direction = if field.named(super::extract::PAST_WORDS) {
        super::dates::Direction::Past
    } else {
        super::dates::Direction::Future
    };
    // A day without a year that nobody asked for is no day of birth.
    let born = field.named(&["birth", "birthday", "dob", "born"]);
    let year = reading.text.as_bytes().windows(4).any(|w| w.iter().all(u8::is_ascii_digit));
    if born && !field.asked && !year && !reading.words.iter().any(|w| w.text == "born") {
        return None;
    }
    let found = offline.dates(reading.text, direction);
    let free: Vec<Range<usize>> = found
        .into_iter()
        .map(|f| f.at)
        .filter(|at| reading.is_free(at) && !reading.negated(at))
        .collect();
    let named = free.iter().find(|at| reading.names(at, field));
    let any = || free.first().filter(|_| field.asked || reach != Reach::Named || free.len() == 1);
    named.or_else(any).cloned()
}

/// Up to three words with capital letters between commas or the ends of the message: "Ada Moor, ada@moor.org".
fn bare_name(reading: &ParsedMessage<'_>, least: usize) -> Option<Range<usize>> {
    let ends = |c: Option<char>| c.is_none_or(|c| ",;.:\n".contains(c));
    (0..reading.words.len()).find_map(|index| {
        let at = strings::capitals_from(reading, index, 4)?;
        let text = reading.text.get(at.clone())?;
        let count = text.split([' ', '-']).count();
        let before = reading.text.get(..at.start)?.trim_end().chars().next_back();
        let after = reading.text.get(at.end..)?.trim_start().chars().next();
        // Only beside something else: a lone capitalised answer belongs to what was asked.
        let alone = before.is_none() && after.is_none_or(|c| !",;".contains(c));
        let first = reading.words.get(index)?;
        ((least..=3).contains(&count)
            && ends(before)
            && ends(after)
            && !alone
            && first.is_content())
        .then_some(at)
    })
}

/// Verbs for what somebody wants with goods.
pub(super) const WISHED: &[&str] = &[
    "want", "need", "like", "buy", "order", "return", "exchange", "purchase", "rent", "hire",
    "sell", "repair", "looking", "lost", "find", "get", "cancel", "replace", "refund", "add",
    "bought", "lend", "borrow", "forgot",
];

/// The goods that a wish is about: "I want to return my shoes", "I'd like to buy two pens".
pub(super) fn goods(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    const DETERMINERS: &[&str] =
        &["my", "our", "a", "an", "the", "these", "this", "those", "some", "two", "three"];
    // "Could you bake two dozen rolls?" is a wish in the form of a question.
    if is_question(reading.text) && !is_wish(reading.text) {
        return None;
    }
    let all = &reading.words;
    let text = |at: usize| all.get(at).map_or("", |w| w.text.as_str());
    let counted = numbers(reading.text);
    let number =
        |w: &Word| counted.iter().any(|n| n.at.start <= w.at.start && w.at.end <= n.at.end);
    // What is to be done is a verb that is common in wishes, or the one after "could you".
    let asked = |at: usize| {
        let modal = at.checked_sub(2).map_or("", text);
        matches!(modal, "could" | "can" | "would") && at.checked_sub(1).map_or("", text) == "you"
    };
    let verb = |at: usize, w: &Word| (WISHED.contains(&w.text.as_str()) || asked(at)) && !w.negated;
    // "To sell jam" needs no article.
    let bare = |at: usize| {
        let (to, verb) = (at.checked_sub(2).map_or("", text), at.checked_sub(1).map_or("", text));
        let lower = all.get(at).is_some_and(|w| {
            w.is_content() && !super::words::is_act(w) && !w.text.ends_with("ing")
        });
        to == "to" && matches!(verb, "sell" | "buy" | "order" | "rent" | "hire" | "return") && lower
    };
    let start = (0..all.len()).find_map(|index| {
        let verb = all.get(index).is_some_and(|w| verb(index, w));
        let after = (index + 1..all.len().min(index + 4)).take_while(|_| verb);
        let determined = after.into_iter().find(|at| {
            all.get(*at).is_some_and(|w| DETERMINERS.contains(&w.text.as_str()) || number(w))
        });
        determined.or_else(|| bare(index + 1).then_some(index))
    })?;
    let start = (start..all.len())
        .take_while(|at| all.get(*at).is_some_and(number))
        .last()
        .unwrap_or(start);
    if field.named(&["items", "products", "goods", "articles"])
        && let Some(at) = listed_goods(reading, start)
    {
        return Some(at).filter(|at| reading.is_free(at));
    }
    let named: Vec<&Word> = all
        .iter()
        .skip(start + 1)
        .take_while(|w| w.is_content() && w.text != "because")
        .take(4)
        .collect();
    let vague = ["item", "product", "order", "something", "thing", "question", "problem", "help"];
    let own = named
        .iter()
        .any(|w| !vague.contains(&w.text.as_str()) && !field.name.iter().any(|n| n.stem == w.stem));
    let at = named.first()?.at.start..named.last()?.at.end;
    (own && reading.is_free(&at)).then_some(at)
}

/// Several goods with their numbers: "two blue t-shirts and a cap", from the word at an index.
fn listed_goods(reading: &ParsedMessage<'_>, start: usize) -> Option<Range<usize>> {
    const BETWEEN: &[&str] = &["and", "a", "an", "some", "of", "t"];
    const ENDS: &[&str] = &["please", "thanks", "because", "now", "today", "tomorrow", "too"];
    let all = &reading.words;
    let mut end = start;
    while let Some(word) = all.get(end) {
        let text = word.text.as_str();
        let gap = end.checked_sub(1).filter(|_| end > start).and_then(|last| all.get(last));
        let gap = gap.and_then(|last| reading.text.get(last.at.end..word.at.start));
        let joined = gap.is_none_or(|gap| matches!(gap, " " | "-" | ", "));
        let inside = word.is_content() && !ENDS.contains(&text) || BETWEEN.contains(&text);
        if !joined || end > start && !inside || end - start >= 16 {
            break;
        }
        end += 1;
    }
    // "And" ends nothing.
    while end > start && all.get(end - 1).is_some_and(|w| BETWEEN.contains(&w.text.as_str())) {
        end -= 1;
    }
    let several = all.get(start..end)?.iter().any(|w| w.text == "and");
    let first = all.get(start)?;
    let from = if matches!(first.text.as_str(), "my" | "the" | "these" | "those" | "our") {
        start + 1
    } else {
        start
    };
    let at = all.get(from)?.at.start..all.get(end.checked_sub(1)?)?.at.end;
    (several && end > from + 1).then_some(at)
}

/// A thing that the message is about: "about the Aurora 500", "my umbrella", "a crime novel".
fn thing(reading: &ParsedMessage<'_>, field: &Field<'_>) -> Option<Range<usize>> {
    const ABOUT: &[&str] = &["about", "regarding"];
    const MARKS: &[&str] = &["about", "for", "of", "called", "named", "on", "with", "regarding"];
    const VERBS: &[&str] = &[
        "buy", "order", "want", "need", "like", "find", "book", "lost", "return", "cancel", "get",
        "love", "prefer", "sell", "repair", "check", "track", "look", "search", "show", "rent",
        "hire", "is",
    ];
    const ENDS: &[&str] = &[
        "please", "on", "in", "at", "for", "from", "to", "with", "that", "which", "because", "and",
        "but", "today", "tomorrow", "now", "by", "when", "if", "since", "is", "are", "was",
    ];
    const DETERMINERS: &[&str] = &[
        "a", "an", "the", "my", "our", "your", "some", "this", "that", "these", "those", "any",
        "me", "for", "up", "you", "to",
    ];
    let all = &reading.words;
    let of_field = |w: &Word| field.name.iter().any(|n| n.stem == w.stem);
    let from = |marks: &[&str]| {
        all.iter().rposition(|w| marks.contains(&w.text.as_str()) && !w.negated).map(|at| at + 1)
    };
    let preposition = |w: &Word| {
        matches!(w.text.as_str(), "to" | "from" | "in" | "on" | "into" | "with" | "for" | "at")
    };
    let possessive = || {
        let at = all.iter().position(|w| matches!(w.text.as_str(), "my" | "our"))?;
        let placed = at.checked_sub(1).and_then(|at| all.get(at)).is_some_and(preposition);
        (!placed).then_some(at + 1)
    };
    // "A task to call the supplier"
    let purpose = || {
        let titled =
            field.named(&["title", "task", "todo", "reminder", "subject", "name", "summary"]);
        let at = all.iter().position(|w| w.text == "to").filter(|_| titled)?;
        let noun = at.checked_sub(1).and_then(|at| all.get(at)).is_some_and(Word::is_content);
        noun.then_some(at + 1)
    };
    let added = || {
        all.iter()
            .position(|w| matches!(w.text.as_str(), "add" | "put" | "remove"))
            .map(|at| at + 1)
    };
    [purpose(), from(ABOUT), added(), possessive(), from(MARKS), from(VERBS)]
        .into_iter()
        .flatten()
        .find_map(|start| {
            let start = start
                + all
                    .iter()
                    .skip(start)
                    .take_while(|w| DETERMINERS.contains(&w.text.as_str()))
                    .count();
            let close = |index: usize| {
                let (Some(one), Some(next)) = (all.get(index.wrapping_sub(1)), all.get(index))
                else {
                    return true;
                };
                reading
                    .text
                    .get(one.at.end..next.at.start)
                    .is_some_and(|gap| !gap.contains([',', ';', '.', '?', '!', '\n']))
            };
            let mut end = start;
            while end < all.len().min(start + 6)
                && all.get(end).is_some_and(|w| !ENDS.contains(&w.text.as_str()))
                && (end == start || close(end))
            {
                end += 1;
            }
            let named = all.get(start..end)?;
            let content = named.iter().any(|w| w.is_content() && !of_field(w));
            let at = named.first()?.at.start..named.last()?.at.end;
            (content && reading.is_free(&at)).then_some(at)
        })
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_compile() {
        assert!(super::IDENTIFIER.is_match("REC-1042") && super::IDENTIFIER.is_match("88412"));
        assert!(super::MONTH.is_match("in May"));
    }
}
