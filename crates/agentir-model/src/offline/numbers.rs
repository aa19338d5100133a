//! Recognition of numbers, amounts of money, telephone numbers and e-mail addresses.

use super::dates::Located;
use super::words::{Word, words};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;
use text2num::Language;

#[expect(clippy::expect_used, reason = "constants, which a test compiles")]
fn regex(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("a constant pattern")
}

static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?:^|[^\w.])(-?\d+(?:[.,'’]\d+|[ \u{A0}\u{202F}]\d{3}\b)*)(?: ?(k|m|thousand|million|billion))?\b",
    )
});

/// The maximum number of matches of a kind.
pub(super) const MAX_MATCHES: usize = 64;

/// The numbers in a text, as digits or words, in order.
pub(super) fn numbers(text: &str) -> Vec<Located<f64>> {
    let mut found: Vec<Located<f64>> = Vec::new();
    for captures in DIGITS.captures_iter(text) {
        let Some(digits) = captures.get(1) else { continue };
        let mut all = quantities(digits.as_str(), digits.start());
        // A factor belongs to the last of them.
        let Some(last) = all.pop() else { continue };
        found.append(&mut all);
        let end = captures.get(2).map_or(last.at.end, |m| m.end());
        let factor = captures.get(2).map_or(1.0, |m| match m.as_str().to_lowercase().as_str() {
            "k" | "thousand" => 1e3,
            "m" | "million" => 1e6,
            _ => 1e9,
        });
        found.push(Located { at: last.at.start..end, value: last.value * factor });
    }
    let words = words(text);
    let mut run: Vec<&Word> = Vec::new();
    for word in &words {
        let joined = run.last().is_none_or(|last| {
            text.get(last.at.end..word.at.start).is_some_and(|gap| matches!(gap, " " | "-"))
        });
        if !joined {
            spelled_numbers(&run, &mut found);
            run.clear();
        }
        if word.text.chars().all(char::is_alphabetic) {
            run.push(word);
        } else {
            spelled_numbers(&run, &mut found);
            run.clear();
        }
    }
    spelled_numbers(&run, &mut found);
    found.sort_by_key(|f| f.at.start);
    // The word of `2 million` is a part of it.
    let mut end = 0;
    found.retain(|number| {
        let apart = number.at.start >= end;
        end = end.max(number.at.end);
        apart
    });
    found.truncate(MAX_MATCHES);
    complete(&words, &mut found);
    // Words that make another number of one: who asks for an amount asks again.
    let unclear = found.iter().any(|number| {
        let before = words.iter().rev().filter(|word| word.at.end <= number.at.start);
        let after = words.iter().filter(|word| word.at.start >= number.at.end);
        let nearest = |mut all: &mut dyn Iterator<Item = &Word>, unclear: &[&str]| {
            let near = (&mut all).find(|word| !JOINS.contains(&word.text.as_str()));
            near.is_some_and(|word| unclear.contains(&word.text.as_str()))
        };
        nearest(&mut before.take(3), UNCLEAR_BEFORE) || nearest(&mut after.take(3), UNCLEAR_AFTER)
    });
    if unclear {
        found.clear();
    }
    found
}

/// Adds what follows numbers and makes other numbers of them, as far as it is clear: "two and a half", "three dozen", "half
/// a dozen".
fn complete(words: &[Word], found: &mut Vec<Located<f64>>) {
    let text = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    for number in found.iter_mut() {
        let next = words.partition_point(|word| word.at.start < number.at.end);
        let end = |at: usize| words.get(at).map(|word| word.at.end);
        let whole = number.value.fract() == 0.0;
        let half = [text(next), text(next + 1), text(next + 2)] == ["and", "a", "half"];
        if half && whole && !UNCLEAR_AFTER.contains(&text(next + 3)) {
            number.value += 0.5;
            number.at.end = end(next + 2).unwrap_or(number.at.end);
        } else if text(next) == "dozen" && whole {
            number.value *= 12.0;
            number.at.end = end(next).unwrap_or(number.at.end);
        }
    }
    for (index, word) in words.iter().enumerate().filter(|(_, word)| word.text == "dozen") {
        let before = |apart: usize| index.checked_sub(apart).map_or("", text);
        let value = match (before(2), before(1)) {
            ("half", "a") => 6.0,
            (_, "a") => 12.0,
            _ => continue,
        };
        let first = if value < 12.0 { index - 2 } else { index - 1 };
        let at = words.get(first).map_or(word.at.start, |w| w.at.start)..word.at.end;
        if !found.iter().any(|number| overlap(&number.at, &at)) {
            found.push(Located { at, value });
        }
    }
    found.sort_by_key(|number| number.at.start);
}

/// Words between a number and one that changes it.
const JOINS: &[&str] = &["a", "an", "and", "of"];

/// Words that change the number after them.
const UNCLEAR_BEFORE: &[&str] =
    &["half", "quarter", "minus", "negative", "couple", "dozen", "between", "point", "comma"];

/// Words that change the number before them.
const UNCLEAR_AFTER: &[&str] = &[
    "half", "hundred", "thousand", "million", "billion", "quarter", "cent", "cents", "pence",
    "penny", "pennies", "grand", "mio", "mil", "mill", "lakh", "crore", "dozen", "point", "comma",
];

/// The numbers that digits and what separates them may be: one number, or several.
fn quantities(text: &str, start: usize) -> Vec<Located<f64>> {
    if let Some(value) = quantity(text) {
        return vec![Located { at: start..start + text.len(), value }];
    }
    let is_space = |c: char| c.is_whitespace();
    let separator: &dyn Fn(char) -> bool = match text {
        text if text.contains(is_space) => &is_space,
        text if is_list(text) => &|c| c == ',',
        // Versions, dates, addresses; or an amount that may be two: `1.000` is one, or a thousand.
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    let mut at = start;
    for part in text.split_inclusive(separator) {
        found.extend(quantities(part.trim_end_matches(separator), at));
        at += part.len();
    }
    found
}

/// Whether digits are a list of small numbers: `3,4,5`.
fn is_list(text: &str) -> bool {
    let is_item = |part: &str| {
        part.bytes().all(|b| b.is_ascii_digit())
            && matches!(part.len(), 1..=2)
            && (part.len() == 1 || !part.starts_with('0'))
    };
    text.split(',').all(is_item)
}

/// The number that a text is, with a point or a comma before decimals, and groups of three digits before them. None if it
/// may be another one: who asks for an amount asks again.
fn quantity(text: &str) -> Option<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
    let parts: Vec<&str> = digits.split(|c: char| !c.is_ascii_digit()).collect();
    let separators: Vec<char> = digits.chars().filter(|c| !c.is_ascii_digit()).collect();
    let (whole, decimals) = match (separators.as_slice(), parts.as_slice()) {
        ([], [whole]) => {
            return Some(sign * whole.parse::<f64>().ok().filter(|_| whole.len() <= 15)?);
        }
        (['.' | ','], [whole, decimals])
            if decimals.len() != 3 || *whole == "0" || whole.len() > 3 =>
        {
            (vec![*whole], *decimals)
        }
        (['.'], _) => return None,
        ([first @ .., last], [whole @ .., decimals])
            if !first.is_empty() && !first.contains(last) && matches!(last, '.' | ',') =>
        {
            (whole.to_vec(), *decimals)
        }
        (_, all) => (all.to_vec(), ""),
    };
    let grouped = separators.iter().take(whole.len() - 1).collect::<Vec<_>>();
    let same = grouped.windows(2).all(|pair| pair.first() == pair.last());
    let (lead, groups) = whole.split_first()?;
    let fits = groups.is_empty()
        || (same && (1..=3).contains(&lead.len()) && groups.iter().all(|group| group.len() == 3));
    let number = format!("{}.{decimals}0", whole.concat());
    (fits && decimals.len() <= 9 && number.len() <= 26)
        .then(|| number.parse::<f64>().ok())?
        .map(|n| sign * n)
}

/// Adapts a word to the library's trait.
struct Token<'w>(&'w Word);

impl text2num::Token for Token<'_> {
    fn text(&self) -> std::borrow::Cow<'_, str> {
        self.0.text.as_str().into()
    }

    fn text_lowercase(&self) -> std::borrow::Cow<'_, str> {
        self.0.text.as_str().into()
    }

    fn nt_separated(&self, _: &Self) -> bool {
        false
    }
}

/// The numbers in a sequence of words.
fn spelled_numbers(run: &[&Word], found: &mut Vec<Located<f64>>) {
    if run.is_empty() {
        return;
    }
    let language = Language::english();
    let tokens = run.iter().map(|word| Token(word));
    for number in text2num::find_numbers(tokens, &language, 0.0) {
        let words = run.get(number.start..number.end).unwrap_or_default();
        let (Some(first), Some(last)) = (words.first(), words.last()) else { continue };
        // Ordinals are not quantities.
        if number.is_ordinal || !number.value.is_finite() {
            continue;
        }
        found.push(Located { at: first.at.start..last.at.end, value: number.value });
    }
}

/// Names of currencies, singular.
const CURRENCIES: &[&str] = &["dollar", "buck", "euro", "pound", "franc", "yen", "rupee"];

static MONEY: LazyLock<Regex> = LazyLock::new(|| {
    let amount =
        r"(\d+(?:[.,'’]\d+|[ \u{A0}\u{202F}]\d{3}\b)*)(?: ?(k|m|thousand|million|billion)\b)?";
    regex(&format!(
        r"(?:[$€£¥₹]|\b(?:usd|eur|gbp|chf|jpy|inr|cad|aud) ?) ?{amount}|\b{amount} ?(?:[$€£¥₹]|(?:dollars?|bucks|euros?|pounds?|francs?|yen|rupees?|usd|eur|gbp|chf|jpy|inr|cad|aud)\b)"
    ))
});

/// The amounts in a text that include a currency.
pub(super) fn money(text: &str) -> Vec<Located<f64>> {
    let mut found: Vec<Located<f64>> = MONEY
        .find_iter(text)
        .take(MAX_MATCHES)
        .filter_map(|m| {
            let number = numbers(&m.as_str().replace(['$', '€', '£', '¥', '₹'], " "));
            Some(Located { at: m.range(), value: number.first()?.value })
        })
        .collect();
    // Amounts in words: "eighty dollars".
    for number in numbers(text) {
        let suffix = text.get(number.at.end..).unwrap_or_default();
        let suffix = suffix.trim_start().split(|c: char| !c.is_alphabetic()).next();
        let currency = suffix
            .is_some_and(|word| CURRENCIES.contains(&word.to_lowercase().trim_end_matches('s')));
        if currency && !found.iter().any(|f| overlap(&f.at, &number.at)) {
            found.push(number);
        }
    }
    found.sort_by_key(|f| f.at.start);
    found
}

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b[a-z0-9][a-z0-9._%+-]{0,63}@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}\b",
    )
});

/// The e-mail addresses in a text.
pub(super) fn emails(text: &str) -> Vec<Located<String>> {
    let found = EMAIL.find_iter(text).take(MAX_MATCHES);
    found.map(|m| Located { at: m.range(), value: m.as_str().to_owned() }).collect()
}

static PHONE: LazyLock<Regex> = LazyLock::new(|| regex(r"(?:\+|\(|\b)\d[\d ()./-]{5,22}\d\b"));

/// A telephone number.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phone {
    /// In E.164 format.
    pub number: String,
    /// Whether the number is valid in its country; numbers in fiction and tests are not.
    pub valid: bool,
}

/// The telephone numbers in a text; `region` is the default country.
pub(super) fn phones(text: &str, region: phonenumber::country::Id) -> Vec<Located<Phone>> {
    let parsed = |text: &str| {
        let number = phonenumber::parse(Some(region), text).ok()?;
        let valid = number.is_valid();
        let number = number.format().mode(phonenumber::Mode::E164).to_string();
        let digits = number.strip_prefix('+')?;
        let good = (8..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
        good.then_some(Phone { number, valid })
    };
    let found = PHONE.find_iter(text).take(MAX_MATCHES);
    found.filter_map(|m| Some(Located { at: m.range(), value: parsed(m.as_str())? })).collect()
}

/// Whether two ranges overlap.
pub(super) fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_compile() {
        assert!(super::DIGITS.is_match("2") && super::MONEY.is_match("$2"));
        assert!(super::EMAIL.is_match("a@b.co") && super::PHONE.is_match("415 555 0123"));
    }

    #[test]
    fn amounts_are_read_as_they_are_written_or_not_at_all() {
        for (text, expected) in [
            ("42", &[42.0][..]),
            ("-3.5", &[-3.5]),
            ("1,000", &[1000.0]),
            ("1,000,000.25", &[1_000_000.25]),
            ("1.000,00", &[1000.0]),
            ("1.000.000", &[1_000_000.0]),
            ("1'000", &[1000.0]),
            ("10 000", &[10_000.0]),
            ("10\u{202F}000,50", &[10_000.5]),
            ("EUR 20,50", &[20.5]),
            ("0.125 or 0,125", &[0.125, 0.125]),
            ("2026.125", &[2026.125]),
            ("5k and 2 million", &[5_000.0, 2_000_000.0]),
            ("seats 3,4,5", &[3.0, 4.0, 5.0]),
            ("2026 100", &[2026.0, 100.0]),
            // It may be one, or a thousand.
            ("1.000", &[]),
            ("version 1.2.3", &[]),
            ("1,00,000", &[]),
            ("half a million", &[]),
            ("two and a half thousand", &[]),
            ("one point five million", &[]),
            ("minus 50", &[]),
            ("fifty cents", &[]),
            ("ten grand", &[]),
            ("between 100 and 200", &[]),
            ("a couple of hundred", &[]),
            ("two tickets and a coffee", &[2.0]),
            ("fifteen and a half metres", &[15.5]),
            ("2 and a half", &[2.5]),
            ("two dozen rolls", &[24.0]),
            ("a dozen eggs", &[12.0]),
            ("half a dozen eggs", &[6.0]),
            ("a few dozen", &[]),
        ] {
            let found: Vec<f64> = super::numbers(text).iter().map(|one| one.value).collect();
            assert_eq!(found, expected, "{text}");
        }
        let money = |text: &str| super::money(text).first().map(|one| one.value);
        assert_eq!(money("€ 1.250,00"), Some(1250.0));
        assert_eq!(money("10 000 euros"), Some(10_000.0));
    }
}
