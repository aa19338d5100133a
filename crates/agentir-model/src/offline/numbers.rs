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
        r"(?:^|[^\w.])(-?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,9})?)(?: ?(k|m|thousand|million|billion))?\b",
    )
});

/// The maximum number of matches of a kind.
pub(super) const MAX_MATCHES: usize = 64;

/// The numbers in a text, as digits or words, in order.
pub(super) fn numbers(text: &str) -> Vec<Located<f64>> {
    let mut found: Vec<Located<f64>> = Vec::new();
    for captures in DIGITS.captures_iter(text) {
        let Some(digits) = captures.get(1) else { continue };
        let Ok(number) = digits.as_str().replace(',', "").parse::<f64>() else { continue };
        let end = captures.get(2).map_or(digits.end(), |m| m.end());
        let factor = captures.get(2).map_or(1.0, |m| match m.as_str().to_lowercase().as_str() {
            "k" | "thousand" => 1e3,
            "m" | "million" => 1e6,
            _ => 1e9,
        });
        found.push(Located { at: digits.start()..end, value: number * factor });
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
    found.truncate(MAX_MATCHES);
    found
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
        r"((?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,9})?)(?: ?(k|m|thousand|million|billion)\b)?";
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
}
