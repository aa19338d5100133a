//! Extraction of values from a message: typed values are located and assigned to the fields that
//! the surrounding words indicate.

use super::Offline;
use super::dates::{Direction, Located, times};
use super::numbers::{emails, money, numbers, overlap, phones};
use super::strings;
use super::words::{Word, is_question, is_typo, name_words, similarity, truncated, words};
use super::yes_no::yes_or_no;
use crate::fields::fits;
use agentir_runtime::{FieldSpec, FieldType};
use regex::{Match, RegexBuilder};
use serde_json::{Map, Value as Json};
use std::ops::Range;

/// The number of fields considered.
pub(super) const MAX_FIELDS: usize = 128;

/// The maximum size of a compiled pattern, in bytes.
const MAX_REGEX_SIZE: usize = 1 << 20;

/// Prepositions that introduce a value, by words in the names of the fields that it is meant for.
const PREPOSITIONS: &[(&[&str], &[&str])] = &[
    (
        &[
            "origin",
            "departure",
            "from",
            "source",
            "start",
            "begin",
            "pickup",
            "arrival",
            "checkin",
            "since",
        ],
        &["from", "starting", "since", "beginning"],
    ),
    (&["arrival", "checkin"], &["arrive", "arriving", "come", "coming"]),
    (&["departure", "checkout", "out"], &["leave", "leaving", "depart", "departing"]),
    (
        &[
            "destination",
            "to",
            "end",
            "until",
            "out",
            "checkout",
            "return",
            "target",
            "recipient",
            "dropoff",
            "deadline",
        ],
        &["to", "until", "till", "through", "returning", "back", "out", "by"],
    ),
];

/// Words in names of fields for amounts of money.
const MONEY_WORDS: &[&str] = &[
    "budget", "price", "amount", "cost", "total", "fee", "payment", "salary", "income", "balance",
    "deposit", "money", "spend", "spending", "revenue", "value",
];

/// Words in names of fields for technical limits, which only a message that names them sets.
pub(super) const LIMIT_WORDS: &[&str] = &[
    "length",
    "limit",
    "max",
    "maximum",
    "min",
    "minimum",
    "ttl",
    "timeout",
    "seconds",
    "retries",
    "offset",
    "interval",
    "precision",
    "threshold",
];

/// Words in names of fields that refer to the past.
pub(super) const PAST_WORDS: &[&str] = &[
    "birth",
    "born",
    "birthday",
    "dob",
    "purchase",
    "purchased",
    "incident",
    "happened",
    "accident",
    "paid",
    "issued",
    "hired",
    "past",
    "previous",
    "last",
];

/// A field to extract.
pub(super) struct Field<'f> {
    pub spec: &'f FieldSpec,
    /// The words of its name.
    pub name: Vec<Word>,
    /// Whether the user was just asked for it.
    pub asked: bool,
}

impl Field<'_> {
    pub(super) fn named(&self, list: &[&str]) -> bool {
        self.name.iter().any(|w| list.contains(&w.text.as_str()))
    }
}

/// A message and the ranges that are already assigned.
pub(super) struct ParsedMessage<'m> {
    pub text: &'m str,
    pub words: Vec<Word>,
    pub used: Vec<Range<usize>>,
    /// The stems of the names of all fields.
    pub names: Vec<String>,
}

impl ParsedMessage<'_> {
    pub(super) fn is_free(&self, at: &Range<usize>) -> bool {
        !self.used.iter().any(|used| overlap(used, at))
    }

    /// Whether a range is negated: "not Friday", "instead of Rome".
    pub(super) fn negated(&self, at: &Range<usize>) -> bool {
        // "Not a barge", "not the blue one".
        let before = self.before(at, 3);
        let article = before.last().is_some_and(|w| {
            matches!(w.text.as_str(), "a" | "an" | "the" | "my" | "any" | "really")
        });
        let end = before.len() - usize::from(article);
        let before = before.get(end.saturating_sub(2)..end).unwrap_or_default();
        let before: Vec<&str> = before.iter().map(|w| w.text.as_str()).collect();
        matches!(
            before.as_slice(),
            [.., "not"]
                | [_, "except"]
                | ["instead", "of"]
                | ["rather", "than"]
                | ["not", "on" | "in" | "at" | "for"]
                | [.., "isn't" | "wasn't" | "aren't"]
        )
    }

    /// The words before a range, nearest last.
    pub(super) fn before(&self, at: &Range<usize>, count: usize) -> &[Word] {
        let end = self.words.partition_point(|w| w.at.start < at.start);
        self.words.get(end.saturating_sub(count)..end).unwrap_or_default()
    }

    pub(super) fn after(&self, at: &Range<usize>, count: usize) -> &[Word] {
        let start = self.words.partition_point(|w| w.at.start < at.end);
        self.words.get(start..(start + count).min(self.words.len())).unwrap_or_default()
    }

    /// Whether the words around a value indicate the field: "2 guests", "check in on Friday", "from
    /// Rome".
    pub(super) fn names(&self, at: &Range<usize>, field: &Field<'_>) -> bool {
        let near = self.before(at, 3).iter().chain(self.after(at, 2));
        // "The code is 12" says nothing about the length of the code.
        let limit = field.named(LIMIT_WORDS);
        let names = |n: &Word| n.is_content() && (!limit || LIMIT_WORDS.contains(&n.text.as_str()));
        let own =
            |w: &Word| w.text.len() > 2 && field.name.iter().any(|n| n.stem == w.stem && names(n));
        // The nearest word, or the one before an article.
        let marked = PREPOSITIONS.iter().any(|(names, marks)| {
            field.named(names)
                && self.before(at, 2).iter().rev().any(|w| marks.contains(&w.text.as_str()))
        });
        marked || near.into_iter().any(own) || self.counts_what(at, field)
    }

    /// Whether the words after a number are those in which the field is asked for: "30 square metres" after "How many square
    /// metres?"
    pub(super) fn counts_what(&self, at: &Range<usize>, field: &Field<'_>) -> bool {
        let number = matches!(field.spec.ty, FieldType::Number | FieldType::Currency);
        let Some(prompt) = field.spec.prompt.as_deref().filter(|_| number) else { return false };
        let asked = words(prompt);
        self.after(at, 2).iter().any(|w| {
            w.text.len() > 2 && w.is_content() && asked.iter().any(|own| own.stem == w.stem)
        })
    }
}

/// How far a message is expected to give values of fields that it does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// It is not.
    Named,
    /// It says what the user wants: perhaps also which item.
    Wish,
    /// It may say what the user wants, in their own words.
    Request,
    /// It is why the fields are needed.
    Any,
}

/// Extracts the values of a message.
pub(super) fn extract(
    offline: &Offline,
    message: &str,
    fields: &[FieldSpec],
    asked: Option<&str>,
    reach: Reach,
) -> Map<String, Json> {
    let text = truncated(message);
    let names = fields.iter().take(MAX_FIELDS).flat_map(|spec| name_words(&spec.name));
    let names = names.filter(Word::is_content).map(|w| w.stem).collect();
    let mut reading = ParsedMessage { text, words: words(text), used: Vec::new(), names };
    let mut fields: Vec<Field<'_>> = fields
        .iter()
        .take(MAX_FIELDS)
        .map(|spec| Field {
            spec,
            name: name_words(&spec.name),
            asked: asked == Some(spec.name.as_str()),
        })
        .collect();
    // The requested field is served first; the others keep their order.
    fields.sort_by_key(|field| !field.asked);
    let mut values: Vec<(&FieldSpec, Json)> = Vec::new();
    extract_patterns(&mut reading, &mut fields, &mut values);
    extract_formats(&mut reading, &mut fields, &mut values);
    extract_enums(&mut reading, &mut fields, &mut values);
    let all = TypedValues::of(offline, text);
    for (types, free, found) in all.by_type(&reading, &fields, asked.is_some()) {
        assign(&mut reading, &mut fields, types, found, free, &mut values);
    }
    extract_booleans(&reading, &mut fields, &mut values);
    strings::extract_strings(offline, &mut reading, &mut fields, reach, &mut values);
    values.retain(|(field, value)| fits(field, value).is_ok());
    values.into_iter().map(|(field, value)| (field.name.clone(), value)).collect()
}

/// Fields with a pattern are filled by the pattern only.
fn extract_patterns<'f>(
    reading: &mut ParsedMessage<'_>,
    fields: &mut Vec<Field<'f>>,
    values: &mut Vec<(&'f FieldSpec, Json)>,
) {
    fields.retain(|field| {
        let Some((pattern, group)) = &field.spec.pattern else { return true };
        let inner = without_anchors(pattern);
        let found = match inner.len() == pattern.len() {
            true => find(reading.text, pattern, *group),
            // What the whole value has to match is found where a value stands in the message.
            false => find_value(reading.text, inner, *group),
        };
        if let Some(found) = found
            && !found.as_str().trim().is_empty()
            && let Some(value) = typed(field.spec, found.as_str().trim())
        {
            reading.used.push(found.range());
            values.push((field.spec, value));
        }
        false
    });
}

/// Fields whose values have to match a pattern: values are searched for in the text. A pattern that fits anything finds a
/// value only if it was asked for.
fn extract_formats<'f>(
    reading: &mut ParsedMessage<'_>,
    fields: &mut Vec<Field<'f>>,
    values: &mut Vec<(&'f FieldSpec, Json)>,
) {
    fields.retain(|field| {
        let Some(format) = &field.spec.format else { return true };
        let inner = without_anchors(format);
        let Some(found) = find_value(reading.text, inner, 0) else { return true };
        let specific = has_literal(inner);
        // The whole answer is a better value than a word of it.
        let word = found.as_str().trim();
        if word.is_empty()
            || !(specific || (field.asked && word.chars().any(|c| c.is_ascii_digit())))
        {
            return true;
        }
        let Some(value) = typed(field.spec, word) else { return true };
        reading.used.push(found.range());
        values.push((field.spec, value));
        false
    });
}

/// A pattern without the anchors that make it match whole texts only.
fn without_anchors(pattern: &str) -> &str {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    match inner.strip_suffix('$') {
        Some(rest) if (rest.len() - rest.trim_end_matches('\\').len()) % 2 == 0 => rest,
        _ => inner,
    }
}

/// The first match of a pattern, or a group of it.
fn find<'t>(text: &'t str, pattern: &str, group: usize) -> Option<Match<'t>> {
    let pattern =
        RegexBuilder::new(pattern).case_insensitive(true).size_limit(MAX_REGEX_SIZE).build();
    let captures = pattern.ok()?.captures(text)?;
    captures.get(group).or_else(|| captures.get(0))
}

/// The first match that stands by itself in a text: at its ends, or between spaces and punctuation.
fn find_value<'t>(text: &'t str, inner: &str, group: usize) -> Option<Match<'t>> {
    let whole = format!(r"(?:^|[\s,;:.(#])({inner})(?:$|[\s,;:.)!?])");
    let pattern =
        RegexBuilder::new(&whole).case_insensitive(true).size_limit(MAX_REGEX_SIZE).build();
    let captures = pattern.ok()?.captures(text)?;
    captures.get(group + 1).or_else(|| captures.get(1))
}

/// Whether a pattern contains letters or digits of its own.
fn has_literal(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    let (mut depth, mut braces) = (0_u32, false);
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '{' => braces = true,
            '}' => braces = false,
            c if depth == 0 && !braces && (c.is_alphanumeric() || matches!(c, '-' | '@')) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Converts a pattern match to the type of the field.
fn typed(field: &FieldSpec, text: &str) -> Option<Json> {
    match field.ty {
        FieldType::Number | FieldType::Currency => number(numbers(text).first()?.value),
        FieldType::Boolean => yes_or_no(text).map(Json::Bool),
        FieldType::List => Some(Json::Array(vec![text.into()])),
        FieldType::Object => None,
        _ => Some(text.into()),
    }
}

/// A JSON number; integers have no fraction.
fn number(value: f64) -> Option<Json> {
    #[expect(clippy::cast_possible_truncation, reason = "whole and exact")]
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(Json::from(value as i64));
    }
    serde_json::Number::from_f64(value).map(Json::Number)
}

/// Fields with allowed values are filled if the message contains a value or a synonym.
fn extract_enums<'f>(
    reading: &mut ParsedMessage<'_>,
    fields: &mut Vec<Field<'f>>,
    values: &mut Vec<(&'f FieldSpec, Json)>,
) {
    let mut taken: Vec<(Range<usize>, usize)> = Vec::new();
    let mut left = Vec::new();
    for (index, field) in fields.drain(..).enumerate() {
        let listed = &field.spec.values;
        if listed.is_empty() {
            left.push(field);
            continue;
        }
        let mut found: Vec<(Range<usize>, &String)> = Vec::new();
        let mut at = |name: &String| {
            find_phrase(reading, name, field.asked)
                .filter(|at| !reading.negated(at) && !taken.iter().any(|(t, _)| overlap(t, at)))
        };
        let named: Vec<_> = listed.keys().map(&mut at).collect();
        let unnamed = listed.iter().zip(&named).filter(|(_, named)| named.is_none());
        let meant: Vec<_> = unnamed
            .filter_map(|((value, others), _)| Some((others.iter().find_map(&mut at)?, value)))
            .collect();
        // What is a value itself does not stand for another one.
        let named =
            named.into_iter().zip(listed.keys()).filter_map(|(at, value)| Some((at?, value)));
        for (at, value) in named.chain(meant) {
            // Of overlapping values ("suite", "junior suite") the longer one is used.
            let inside = found.iter().any(|(f, _)| overlap(f, &at) && f.len() >= at.len());
            if !inside {
                found.retain(|(f, _)| !overlap(f, &at));
                found.push((at, value));
            }
        }
        // A word for the same, if it is for one of them only: "an engine" for a motor boat.
        if found.is_empty() {
            let meant = |value: &&String| synonym(reading, &field, value);
            let mut all = listed.keys().filter_map(|v| meant(&v).map(|at| (at, v)));
            if let (Some(one), None) = (all.next(), all.next()) {
                found.push(one);
            }
        }
        found.sort_by_key(|(at, _)| at.start);
        if found.is_empty() && field.asked {
            // Values that correspond to yes and no.
            let meant = yes_or_no(reading.text).and_then(|yes| {
                let mut named = listed.keys();
                named.find(|value| value.len() <= 5 && yes_or_no(value) == Some(yes))
            });
            found.extend(meant.map(|value| (0..0, value)));
        }
        let value = match (field.spec.ty, found.as_slice()) {
            (_, []) => continue,
            (FieldType::List, all) => all.iter().map(|(_, v)| Json::String((*v).clone())).collect(),
            // The last mention counts: "economy, no, business".
            (_, [.., (_, value)]) => Json::String((*value).clone()),
        };
        taken.extend(found.iter().map(|(at, _)| (at.clone(), index)));
        values.push((field.spec, value));
    }
    reading.used.extend(taken.into_iter().map(|(at, _)| at));
    *fields = left;
}

/// Words for the same, which mean a value wherever they are said. Words that are only about the same topic, such as "money"
/// and "cash", mean it only where the field was asked for or is named.
const SAME: &[&[&str]] = &[
    &["engine", "motor"],
    &["flat", "apartment"],
    &["parcel", "package"],
    &["doctor", "physician"],
    &["rental", "hire"],
    &["rubbish", "trash", "garbage"],
    &["vacation", "holiday"],
    &["phone", "telephone"],
];

/// A word of the message that means the same as a value of one word.
fn synonym(reading: &ParsedMessage<'_>, field: &Field<'_>, value: &str) -> Option<Range<usize>> {
    let wanted = name_words(value);
    let [wanted] = wanted.as_slice() else { return None };
    // Who asks about something does not choose it.
    if is_question(reading.text) {
        return None;
    }
    let same = |w: &Word| {
        let is = |own: &Word, word: &&str| {
            own.text == **word || own.text.strip_suffix('s') == Some(word)
        };
        SAME.iter().any(|row| row.iter().any(|x| is(w, x)) && row.iter().any(|x| is(wanted, x)))
    };
    let means = |w: &&Word| {
        w.is_content()
            && !w.negated
            && (same(w)
                || similarity(w, wanted) >= 0.8 && (field.asked || reading.names(&w.at, field)))
    };
    let word = reading.words.iter().find(means)?;
    (reading.is_free(&word.at) && !reading.negated(&word.at)).then(|| word.at.clone())
}

/// The position of a name's words in the message.
pub(super) fn find_phrase(
    reading: &ParsedMessage<'_>,
    name: &str,
    asked: bool,
) -> Option<Range<usize>> {
    let wanted = name_words(name);
    // Stop words such as "a" and "in" count only as an answer to a question.
    if wanted.is_empty() || (!asked && !wanted.iter().any(Word::is_content)) {
        return None;
    }
    let at = |same: &dyn Fn(&Word, &Word) -> bool| {
        reading.words.windows(wanted.len()).find_map(|window| {
            let all = window.iter().zip(&wanted).all(|(word, wanted)| same(word, wanted));
            Some(window.first()?.at.start..window.last()?.at.end).filter(|_| all)
        })
    };
    at(&|word, wanted| word.text == wanted.text)
        .or_else(|| at(&|word, wanted| word.stem == wanted.stem))
        .or_else(|| {
            at(&|word, wanted| word.stem == wanted.stem || is_typo(&word.text, &wanted.text))
        })
}

/// All typed values of a message.
pub(super) struct TypedValues {
    emails: Vec<Located<Json>>,
    phones: Vec<Located<Json>>,
    /// Numbers that are invalid in every country; used only as an answer to a question.
    loose_phones: Vec<Located<Json>>,
    pub(super) future: Vec<Located<Json>>,
    pub(super) past: Vec<Located<Json>>,
    pub(super) moments: Vec<Located<Json>>,
    pub(super) times: Vec<Located<Json>>,
    pub(super) money: Vec<Located<Json>>,
    pub(super) numbers: Vec<Located<Json>>,
}

/// Types, whether a value may be assigned without an indication, and the values found.
type OfType = (&'static [FieldType], bool, Vec<Located<Json>>);

impl TypedValues {
    pub(super) fn of(offline: &Offline, text: &str) -> Self {
        let now = offline.now();
        let json = |f: Located<String>| Located { at: f.at, value: Json::String(f.value) };
        let days = |direction| offline.dates(text, direction);
        let day = |f: &Located<jiff::civil::Date>| Located {
            at: f.at.clone(),
            value: Json::String(f.value.to_string()),
        };
        let future = days(Direction::Future);
        let times = times(text);
        let moments = future
            .iter()
            .filter_map(|d| {
                // The nearest time of day.
                let near = times.iter().min_by_key(|t| d.at.start.abs_diff(t.at.start))?;
                let at = d.value.to_datetime(near.value).to_zoned(now.time_zone().clone()).ok()?;
                let range = d.at.start.min(near.at.start)..d.at.end.max(near.at.end);
                let value = at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
                Some(Located { at: range, value: Json::String(value) })
            })
            .collect();
        let (valid, loose): (Vec<_>, Vec<_>) =
            phones(text, offline.region).into_iter().partition(|p| p.value.valid);
        let phone =
            |f: Located<super::numbers::Phone>| Located { at: f.at, value: f.value.number.into() };
        let amount = |f: Located<f64>| Some(Located { at: f.at, value: number(f.value)? });
        Self {
            emails: emails(text).into_iter().map(json).collect(),
            phones: valid.into_iter().map(phone).collect(),
            loose_phones: loose.into_iter().map(phone).collect(),
            past: days(Direction::Past).iter().map(day).collect(),
            future: future.iter().map(day).collect(),
            moments,
            times: times
                .into_iter()
                .map(|t| Located { at: t.at, value: t.value.strftime("%H:%M").to_string().into() })
                .collect(),
            money: money(text).into_iter().filter_map(amount).collect(),
            numbers: numbers(text).into_iter().filter_map(amount).collect(),
        }
    }
}

impl TypedValues {
    /// The values by type, most specific first: dates contain numbers, numbers never contain dates.
    /// The flag tells whether a value may be assigned to a field that no word indicates.
    fn by_type(
        self,
        reading: &ParsedMessage<'_>,
        fields: &[Field<'_>],
        asked: bool,
    ) -> Vec<OfType> {
        let asks = |ty| fields.iter().any(|f| f.asked && f.spec.ty == ty);
        // "Next week" is a day only for who was asked for one.
        let mut future = self.future;
        if !asks(FieldType::Date) && !asks(FieldType::DateTime) {
            let vague = |f: &Located<Json>| {
                reading.text.get(f.at.clone()).is_some_and(super::dates::is_vague)
            };
            future.retain(|f| !vague(f));
        }
        let mut phones = self.phones;
        if asks(FieldType::Phone) && phones.is_empty() {
            phones = self.loose_phones;
        }
        // Numbers that are part of another value are excluded; "about 12" is a number if one was asked for.
        let number = asks(FieldType::Number) || asks(FieldType::Currency);
        let times = self.times.iter().filter(|_| !number);
        let parts: Vec<Range<usize>> = [&self.emails, &phones, &future]
            .into_iter()
            .flatten()
            .chain(times)
            .map(|f| f.at.clone())
            .collect();
        let mut numbers = self.numbers;
        let answered = |f: &Located<Json>| {
            // "One" counts as a number only if a number was asked for; otherwise it is usually a
            // pronoun.
            asks(FieldType::Number)
                || asks(FieldType::Currency)
                || !reading.text.get(f.at.clone()).is_some_and(|t| t.eq_ignore_ascii_case("one"))
        };
        numbers.retain(|n| !parts.iter().any(|p| overlap(p, &n.at)) && answered(n));
        let mut plain = numbers.clone();
        // "Two rooms for 80 dollars": 80 is a price.
        plain.retain(|n| !self.money.iter().any(|m| overlap(&m.at, &n.at)));
        // An amount that was asked for needs no currency.
        let amounts =
            if asks(FieldType::Currency) && self.money.is_empty() { numbers } else { self.money };
        // A number that was not asked for is ambiguous. A single number goes to the only numeric
        // field, unless it answers another question.
        let free = !asked || fields.iter().any(|f| f.asked && f.spec.ty != FieldType::Text);
        // "Mill Lane 12" also has the number of the house.
        let house = fields.iter().any(|f| f.asked && f.named(&["street", "address"]))
            && fields.iter().any(|f| f.spec.ty == FieldType::Number && f.named(&["house"]));
        let free = free || house;
        let past = fields.iter().any(|f| f.named(PAST_WORDS));
        let mut all: Vec<OfType> = vec![
            (&[FieldType::Email], true, self.emails),
            (&[FieldType::Phone], true, phones),
            (&[FieldType::DateTime], true, self.moments),
        ];
        if past {
            all.push((&[FieldType::Date], true, self.past));
        } else {
            all.push((&[FieldType::Date], true, future));
        }
        all.push((&[FieldType::Time], true, self.times));
        all.push((&[FieldType::Currency], true, amounts));
        all.push((&[FieldType::Number], free, plain));
        all
    }
}

/// Assigns values to fields of a type: first to fields that the surrounding words indicate, then to
/// the requested field, then in order.
fn assign<'f>(
    reading: &mut ParsedMessage<'_>,
    fields: &mut Vec<Field<'f>>,
    types: &[FieldType],
    mut found: Vec<Located<Json>>,
    free: bool,
    values: &mut Vec<(&'f FieldSpec, Json)>,
) {
    found.retain(|f| reading.is_free(&f.at) && !reading.negated(&f.at));
    let mut give = |reading: &mut ParsedMessage<'_>, field: &Field<'f>, found: &Located<Json>| {
        reading.used.push(found.at.clone());
        values.push((field.spec, found.value.clone()));
    };
    let numeric = types.contains(&FieldType::Number) || types.contains(&FieldType::Currency);
    // A number that is called a budget or a price is an amount of money.
    let amounts = types == [FieldType::Currency];
    let of_type = |field: &Field<'_>| {
        let money = amounts && field.spec.ty == FieldType::Number && field.named(MONEY_WORDS);
        (money || types.contains(&field.spec.ty)) && field.spec.values.is_empty()
    };
    fields.retain(|field| {
        if !of_type(field) {
            return true;
        }
        let named = found.iter().position(|f| reading.names(&f.at, field));
        named.is_none_or(|index| {
            give(reading, field, &found.remove(index));
            false
        })
    });
    fields.retain(|field| {
        if !of_type(field) || !field.asked || found.is_empty() {
            return true;
        }
        // In a self-correction the last value counts.
        let corrects =
            reading.words.iter().any(|w| matches!(w.text.as_str(), "sorry" | "actually" | "mean"));
        // "My wife and the two kids, so four."
        let sum = found.iter().position(|f| {
            let before = reading.before(&f.at, 2);
            before
                .iter()
                .any(|w| matches!(w.text.as_str(), "so" | "makes" | "total" | "altogether" | "sum"))
        });
        let index = if corrects { found.len() - 1 } else { sum.unwrap_or(0) };
        give(reading, field, &found.remove(index));
        false
    });
    // "The latest 3 articles" limits what is listed.
    fields.retain(|field| {
        if !numeric || !of_type(field) || !field.named(&["limit", "count", "max", "top"]) {
            return true;
        }
        let limits = |w: &Word| {
            matches!(w.text.as_str(), "latest" | "first" | "last" | "top" | "most" | "next")
        };
        let limit = found.iter().position(|f| reading.before(&f.at, 1).iter().any(limits));
        limit.is_none_or(|index| {
            give(reading, field, &found.remove(index));
            false
        })
    });
    let left = fields.iter().filter(|f| of_type(f) && !(numeric && f.named(LIMIT_WORDS))).count();
    if !free || (numeric && (left != 1 || found.len() != 1)) {
        return;
    }
    let mut rest = found.into_iter();
    fields.retain(|field| {
        if !of_type(field) || numeric && field.named(LIMIT_WORDS) {
            return true;
        }
        // "I have two accounts": two of something are no amount of money.
        let counted = |found: &Located<Json>| {
            numeric && !amounts && field.named(MONEY_WORDS) && counts(reading, &found.at)
        };
        if rest.as_slice().first().is_some_and(counted) {
            return true;
        }
        rest.next().is_none_or(|found| {
            give(reading, field, &found);
            false
        })
    });
}

/// Whether a number counts what the word after it names.
pub(super) fn counts(reading: &ParsedMessage<'_>, at: &Range<usize>) -> bool {
    let [next] = reading.after(at, 1) else { return false };
    reading.text.get(at.end..next.at.start) == Some(" ") && next.is_content()
}

/// Boolean fields: a yes or no to the question, or "with breakfast", "no parking".
fn extract_booleans<'f>(
    reading: &ParsedMessage<'_>,
    fields: &mut Vec<Field<'f>>,
    values: &mut Vec<(&'f FieldSpec, Json)>,
) {
    let question = is_question(reading.text);
    fields.retain(|field| {
        if field.spec.ty != FieldType::Boolean {
            return true;
        }
        let about: Vec<&Word> = field
            .name
            .iter()
            .filter(|w| {
                w.is_content()
                    && !matches!(
                        w.text.as_str(),
                        "needs"
                            | "need"
                            | "include"
                            | "included"
                            | "confirmed"
                            | "flag"
                            | "requested"
                    )
            })
            .collect();
        let mentioned: Vec<&Word> = about
            .iter()
            .filter_map(|word| reading.words.iter().find(|w| w.stem == word.stem))
            .collect();
        // Asking whether there is breakfast is not ordering it.
        let named = !about.is_empty() && mentioned.len() == about.len() && !question;
        let value = if named {
            Some(!mentioned.iter().any(|w| w.negated))
        } else if field.asked {
            yes_or_no(reading.text)
        } else {
            None
        };
        if let Some(value) = value {
            values.push((field.spec, Json::Bool(value)));
        }
        value.is_none()
    });
}
