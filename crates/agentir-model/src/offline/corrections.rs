//! Messages that replace a value that is known: which one, and by what.

use super::dates::{Direction, Located};
use super::extract::{
    Field, MAX_FIELDS, ParsedMessage, Reach, TypedValues, counts, extract, find_phrase,
};
use super::numbers::{money, numbers, overlap};
use super::words::{Word, is_question, name_words, similarity, truncated, words};
use super::{Offline, kinds};
use agentir_runtime::{FieldSpec, FieldType};
use serde_json::{Map, Value as Json};
use std::ops::Range;

/// The number of days that a correction is compared with.
const MAX_DAYS: usize = 8;

/// A field whose known value a message replaces.
pub(super) struct Correction<'t> {
    pub field: &'t str,
    /// Where the new value stands, if the message says so: "make it 60".
    at: Option<Range<usize>>,
}

/// Extracts the values of a message: the new value of a corrected field is the one that the correction is about.
pub(super) fn extract_corrected(
    offline: &Offline,
    message: &str,
    fields: &[FieldSpec],
    correction: Option<&Correction<'_>>,
    asked: Option<&str>,
    reach: Reach,
) -> Map<String, Json> {
    let asked = correction.map(|correction| correction.field).or(asked);
    let placed = correction.and_then(|one| Some((one.field, one.at.clone()?)));
    let Some((name, at)) = placed else { return extract(offline, message, fields, asked, reach) };
    let text = truncated(message);
    let (own, others): (Vec<FieldSpec>, Vec<FieldSpec>) =
        fields.iter().cloned().partition(|field| field.name == name);
    // What is beside the new value may be for other fields, in the places where it stands.
    let gap = " ".repeat(at.len());
    let beside = [text.get(..at.start), Some(&gap), text.get(at.end..)];
    let beside: String = beside.into_iter().flatten().collect();
    let mut values = extract(offline, &beside, &others, None, reach.min(Reach::Wish));
    values.extend(extract(offline, text.get(at).unwrap_or_default(), &own, asked, reach));
    values
}

/// Whether a message may replace a known number: "2 reasons" are no other number of guests.
pub(super) fn may_replace(message: &str, field: &FieldSpec) -> bool {
    if !matches!(field.ty, FieldType::Number | FieldType::Currency) {
        return true;
    }
    let text = truncated(message);
    let reading = ParsedMessage { text, words: words(text), used: Vec::new(), names: Vec::new() };
    let name = name_words(&field.name);
    let own = Field { spec: field, name, asked: false };
    let found = numbers(text);
    found.is_empty() || found.iter().any(|found| !counts_other(&reading, &found.at, &own))
}

/// The field whose known value a message rejects: "on the 15th, not the 14th". Another value in it is for this field.
pub(super) fn corrected<'t>(
    offline: &Offline,
    message: &str,
    fields: &'t [FieldSpec],
    known: &Map<String, Json>,
) -> Option<Correction<'t>> {
    let text = truncated(message);
    let reading = ParsedMessage { text, words: words(text), used: Vec::new(), names: Vec::new() };
    if let Some((field, at)) = replaced(offline, &reading, fields, known) {
        return Some(Correction { field, at: Some(at) });
    }
    let marks = |w: &Word| w.negated || matches!(w.text.as_str(), "instead" | "rather" | "not");
    if !reading.words.iter().any(marks) {
        return None;
    }
    let typed = TypedValues::of(offline, text);
    let mut days = 0;
    let rejects = |field: &&FieldSpec| {
        let Some(value) = known.get(&field.name).filter(|value| !super::is_blank(value)) else {
            return false;
        };
        let is = |found: &Located<Json>| found.value == *value && reading.negated(&found.at);
        if [&typed.past, &typed.times, &typed.numbers].into_iter().flatten().any(is) {
            return true;
        }
        let Some(value) = value.as_str() else { return false };
        let Ok(day) = value.parse::<jiff::civil::Date>() else {
            return find_phrase(&reading, value, false).is_some_and(|at| reading.negated(&at));
        };
        // "Not the 14th" is about the month of the value that is rejected.
        days += 1;
        let near = offline.with_days_of(known, Some(&field.name));
        days <= MAX_DAYS
            && near
                .dates(text, Direction::Future)
                .iter()
                .any(|found| found.value == day && reading.negated(&found.at))
    };
    let field = fields.iter().take(MAX_FIELDS).find(rejects)?;
    Some(Correction { field: &field.name, at: None })
}

/// The only field with a value of the kind that a message gives another of, and where: "no, make it 60", "sorry, I meant
/// Wednesday". The value follows the words that announce it.
fn replaced<'t>(
    offline: &Offline,
    reading: &ParsedMessage<'_>,
    fields: &'t [FieldSpec],
    known: &Map<String, Json>,
) -> Option<(&'t str, Range<usize>)> {
    const CUES: &[&[&str]] = &[
        &["make", "it"],
        &["make", "that"],
        &["i", "meant"],
        &["i", "mean"],
        &["change", "it", "to"],
        &["change", "that", "to"],
        &["it", "has", "to", "be"],
        &["it", "should", "be"],
    ];
    const BETWEEN: &[&str] = &[
        "a", "an", "the", "to", "on", "in", "at", "for", "of", "about", "around", "just", "only",
        "exactly", "from", "until", "by",
    ];
    // The number of words that may stand between them and the value.
    const MAX_BETWEEN: usize = 2;
    let all = &reading.words;
    let ends: Vec<usize> = (0..all.len())
        .filter_map(|at| {
            let cue = CUES.iter().find(|cue| {
                let said = all.iter().skip(at).take(cue.len()).map(|w| w.text.as_str());
                said.eq(cue.iter().copied())
            })?;
            Some(at + cue.len())
        })
        .collect();
    if ends.is_empty() || is_question(reading.text) && !super::phrases::is_wish(reading.text) {
        return None;
    }
    let typed = TypedValues::of(offline, reading.text);
    // Of several corrections the last one counts.
    let announced = |found: &[Located<Json>]| {
        let after = |end: &usize, at: &Range<usize>| {
            let first = all.iter().position(|w| w.at.end > at.start)?;
            let between = all.get(*end..first)?;
            let close = between.len() <= MAX_BETWEEN
                && between.iter().all(|w| BETWEEN.contains(&w.text.as_str()));
            close.then(|| at.clone())
        };
        ends.iter().rev().find_map(|end| found.iter().find_map(|found| after(end, &found.at)))
    };
    let amounts = || {
        let at = announced(&typed.numbers).or_else(|| announced(&typed.money))?;
        let part = [&typed.future, &typed.times].into_iter().flatten().any(|f| overlap(&f.at, &at));
        (!part).then_some(at)
    };
    // With the currency, where it may be part of the value.
    let paid = |at: Range<usize>| {
        let whole = typed.money.iter().find(|m| overlap(&m.at, &at));
        whole.map_or(at, |m| m.at.clone())
    };
    let of_kind = |field: &&'t FieldSpec| {
        if known.get(&field.name).is_none_or(super::is_blank) {
            return None;
        }
        let number = || {
            let own = Field { spec: field, name: name_words(&field.name), asked: true };
            amounts().filter(|at| !counts_other(reading, at, &own))
        };
        let at = match (field.ty, kinds::kind_of(field)) {
            (FieldType::Date, _) | (FieldType::Text, kinds::TextKind::Date) => {
                announced(&typed.future)
            }
            (FieldType::DateTime, _) => announced(&typed.moments),
            (FieldType::Time, _) => announced(&typed.times),
            (FieldType::Number, _) => number(),
            (FieldType::Currency, _) | (FieldType::Text, kinds::TextKind::Amount) => {
                number().map(paid)
            }
            _ => None,
        }?;
        Some((field.name.as_str(), at))
    };
    let mut all = fields.iter().take(MAX_FIELDS).filter_map(|field| of_kind(&field));
    let only = all.next()?;
    all.next().is_none().then_some(only)
}

/// Whether a number counts something else than a field does: "2 reasons" is no number of guests.
fn counts_other(reading: &ParsedMessage<'_>, at: &Range<usize>, field: &Field<'_>) -> bool {
    const HEADS: &[&str] = &[
        "guests",
        "guest",
        "people",
        "persons",
        "person",
        "adults",
        "adult",
        "visitors",
        "visitor",
        "travellers",
        "travelers",
        "passengers",
        "passenger",
        "seats",
        "seat",
        "tickets",
        "ticket",
        "covers",
        "party",
        "pax",
    ];
    // Quantities count what is ordered, whatever it is.
    const QUANTITIES: &[&str] = &["quantity", "qty", "count", "number", "units", "pieces", "items"];
    const UNITS: &[&str] = &[
        "second",
        "minute",
        "hour",
        "day",
        "night",
        "week",
        "month",
        "year",
        "time",
        "reason",
        "question",
        "confirmation",
        "email",
        "message",
        "call",
    ];
    if reading.counts_what(at, field) {
        return false;
    }
    if !counts(reading, at) || money(reading.text).iter().any(|m| overlap(&m.at, at)) {
        return false;
    }
    let Some(next) = reading.after(at, 1).first() else { return false };
    // Words that go on with the sentence are not counted: "make it 5 instead".
    let adverb = matches!(
        next.text.as_str(),
        "instead"
            | "rather"
            | "now"
            | "then"
            | "thanks"
            | "thank"
            | "sorry"
            | "only"
            | "not"
            | "because"
    );
    let heads = HEADS.contains(&next.text.as_str()) && field.named(HEADS);
    let unit = UNITS.contains(&next.text.trim_end_matches('s'));
    let ordered = field.named(QUANTITIES) && !unit;
    !adverb && !heads && !ordered && !field.name.iter().any(|own| similarity(own, next) > 0.7)
}
