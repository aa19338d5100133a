//! Recognition of dates and times of day. Regular expressions locate them; the `interim` library
//! resolves relative dates.

use super::numbers::MAX_MATCHES;
use jiff::civil::{Date, Time};
use jiff::{ToSpan, Zoned};
use regex::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// The order of day and month in `3/4/2026`. It also decides the meaning of "next Friday".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DateOrder {
    /// 4 March, as in the United States, where "next Friday" is the coming Friday.
    #[default]
    MonthFirst,
    /// 3 April, as in most other countries; "next Friday" is the one in the following week.
    DayFirst,
}

/// Whether a date without a year is the next or the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Future,
    Past,
}

/// A recognised value and its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Located<T> {
    pub at: Range<usize>,
    pub value: T,
}

const MONTH: &str = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const WEEKDAY: &str =
    "(?:mon|tue|wed|thu|fri|(?:mon|tues|wednes|thurs|fri|satur|sun)day|tues|weds|thurs)";
/// A day of a month, in digits or as a word.
const DAY: &str = "(?:\\d{1,2}(?:st|nd|rd|th)?|(?:twenty|thirty)[- ](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth)";
/// What stands between the days of a range.
const THROUGH: &str = "(?: (?:to|until|till|through|-|–) |-|–)";
const COUNT: &str =
    "(?:\\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";

/// The form of a date expression.
#[derive(Clone, Copy)]
enum DateForm {
    /// The first day of a range that shares its month with the second: "the 10th to the 14th of April".
    RangeStart,
    /// The second one: "April 10th to 14th".
    RangeEnd,
    Iso,
    Slashes,
    Dots,
    DayMonth,
    MonthDay,
    AfterNext,
    Relative,
    Weekday,
    Span,
    Week,
    DayOnly,
    /// "Monday the fourteenth".
    WeekdayDay,
}

#[expect(clippy::expect_used, reason = "constants, which a test compiles")]
fn regex(pattern: &str) -> Regex {
    Regex::new(&format!("(?i){pattern}")).expect("a constant pattern")
}

static DATE_PATTERNS: LazyLock<Vec<(DateForm, Regex)>> = LazyLock::new(|| {
    vec![
        (DateForm::Iso, regex(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")),
        (
            DateForm::RangeStart,
            regex(&format!(r"\b(?:the )?({DAY}){THROUGH}(?:the )?({DAY})(?: of)? ({MONTH})\b")),
        ),
        (
            DateForm::RangeEnd,
            regex(&format!(r"\b({MONTH})\b\.? (?:the )?({DAY}){THROUGH}(?:the )?({DAY})\b")),
        ),
        (DateForm::Slashes, regex(r"\b(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d{2}))?\b")),
        (DateForm::Dots, regex(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")),
        (
            DateForm::DayMonth,
            regex(&format!(r"\b(?:the )?({DAY})(?: of)? ({MONTH})\b\.?(?:,? (\d{{4}})\b)?")),
        ),
        (
            DateForm::MonthDay,
            regex(&format!(r"\b({MONTH})\b\.? (?:the )?({DAY})\b(?:,? (\d{{4}})\b)?")),
        ),
        (DateForm::AfterNext, regex(r"\b(?:the )?day (after tomorrow|before yesterday)\b")),
        (DateForm::Relative, regex(r"\b(today|tonight|tomorrow|tmrw|yesterday)\b")),
        (
            DateForm::WeekdayDay,
            regex(&format!(
                r"\b(?:{WEEKDAY}),? the ({DAY})\b|\b(?:{WEEKDAY}) (\d{{1,2}}(?:st|nd|rd|th))\b"
            )),
        ),
        (DateForm::Weekday, regex(&format!(r"\b(?:(next|last|this|coming) )?({WEEKDAY})\b"))),
        (
            DateForm::Span,
            regex(&format!(
                r"\b(?:(in) )?({COUNT}) (day|week|month|year)s?(?: (ago|from now|from today|hence))?\b"
            )),
        ),
        (DateForm::Week, regex(r"\b(next|last) (week|month|year)\b")),
        (
            DateForm::DayOnly,
            regex(&format!(
                r"\bthe (\d{{1,2}}(?:st|nd|rd|th))\b|\b(?:on|until|till|to|through|from|by) the ({DAY})(?:[.,!?]|$)"
            )),
        ),
    ]
});

/// The dates in a text, in order. "The 14th" is the one that follows `anchor`.
pub(super) fn dates(
    text: &str,
    now: &Zoned,
    anchor: Date,
    order: DateOrder,
    direction: Direction,
) -> Vec<Located<Date>> {
    let mut found: Vec<Located<Date>> = Vec::new();
    for (form, pattern) in DATE_PATTERNS.iter() {
        for captures in pattern.captures_iter(text).take(MAX_MATCHES) {
            let Some(whole) = captures.get(0) else { continue };
            // Of a range, only one day is read here, because the other one has the month beside it.
            let at = match form {
                DateForm::RangeStart => captures.get(1).map_or(whole.range(), |m| m.range()),
                DateForm::RangeEnd => captures.get(3).map_or(whole.range(), |m| m.range()),
                _ => whole.range(),
            };
            // The forms are ordered from most to least specific; earlier matches take precedence.
            let read = found.iter().any(|f| f.at.start < at.end && at.start < f.at.end);
            if !read
                && !is_other_word(*form, &captures, text)
                && let Some(value) = day(*form, &captures, now, anchor, order, direction)
            {
                found.push(Located { at, value });
            }
        }
    }
    found.sort_by_key(|f| f.at.start);
    found
}

/// Whether a spelled ordinal and a month are other words: "First may I ask", "the second may be late", "you may first".
fn is_other_word(form: DateForm, captures: &Captures<'_>, text: &str) -> bool {
    let (day, month) = match form {
        DateForm::DayMonth => (1, 2),
        DateForm::MonthDay => (2, 1),
        _ => return false,
    };
    let (Some(whole), Some(day), Some(month)) =
        (captures.get(0), captures.get(day), captures.get(month))
    else {
        return false;
    };
    let verb = match month.as_str().to_lowercase().as_str() {
        "may" => true,
        "march" => matches!(form, DateForm::DayMonth),
        _ => false,
    };
    if !verb || day.as_str().starts_with(|c: char| c.is_ascii_digit()) || captures.get(3).is_some()
    {
        return false;
    }
    let whole = (whole.as_str().to_lowercase(), text.get(whole.end()..).unwrap_or_default());
    if let DateForm::MonthDay = form {
        return !whole.0.contains(" the ");
    }
    let ends = !whole.1.starts_with(' ');
    let named = month.as_str().starts_with(char::is_uppercase) || ends;
    !(whole.0.contains(" of ") || whole.0.starts_with("the ") && named)
}

fn day(
    form: DateForm,
    captures: &Captures<'_>,
    now: &Zoned,
    anchor: Date,
    order: DateOrder,
    direction: Direction,
) -> Option<Date> {
    let group = |n: usize| captures.get(n).map(|m| m.as_str().to_lowercase());
    let number = |n: usize| group(n)?.parse::<i16>().ok();
    let dialect = match order {
        DateOrder::MonthFirst => interim::Dialect::Us,
        DateOrder::DayFirst => interim::Dialect::Uk,
    };
    let ask = |phrase: &str, dialect| {
        interim::parse_date_string(phrase, now.clone(), dialect).ok().map(|at| at.date())
    };
    let near = |day: &str, month: &str| match direction {
        // The library resolves to this year; "next" must not be added if the date is still to come.
        Direction::Future => {
            let this = ask(&format!("{day} {month}"), dialect)?;
            if this < now.date() {
                ask(&format!("next {day} {month}"), dialect)
            } else {
                Some(this)
            }
        }
        Direction::Past => {
            let this = ask(&format!("{day} {month}"), dialect)?;
            if this > now.date() {
                ask(&format!("last {day} {month}"), dialect)
            } else {
                Some(this)
            }
        }
    };
    match form {
        DateForm::RangeStart | DateForm::RangeEnd => {
            let starts = matches!(form, DateForm::RangeStart);
            let (first, second, month) = if starts { (1, 2, 3) } else { (2, 3, 1) };
            let (first, second) = (day_number(&group(first)?)?, day_number(&group(second)?)?);
            let month = group(month)?;
            let (own, other) = if starts { (first, second) } else { (second, first) };
            if first <= second {
                return near(&own.to_string(), &month);
            }
            // "From the 28th to the 3rd of May" begins in April.
            let other = near(&other.to_string(), &month)?.first_of_month();
            let months = if starts { -1 } else { 1 };
            let beside = other.checked_add(months.months()).ok()?;
            civil(beside.year(), i16::from(beside.month()), i16::try_from(own).ok()?)
        }
        DateForm::Iso => civil(number(1)?, number(2)?, number(3)?),
        DateForm::Dots => civil(number(3)?, number(2)?, number(1)?),
        DateForm::Slashes => {
            let (first, second) = (number(1)?, number(2)?);
            // If one of the numbers cannot be a month, only one order is possible.
            let day_first = match order {
                DateOrder::MonthFirst => first > 12,
                DateOrder::DayFirst => second <= 12,
            };
            let (day, month) = if day_first { (first, second) } else { (second, first) };
            match number(3) {
                Some(year) if year < 100 => {
                    // Two-digit years are resolved as the library does.
                    civil(if year <= 40 { 2000 + year } else { 1900 + year }, month, day)
                }
                Some(year) => civil(year, month, day),
                None => {
                    let this = civil(now.year(), month, day)?;
                    let years = match direction {
                        Direction::Future if this < now.date() => 1,
                        Direction::Past if this > now.date() => -1,
                        _ => 0,
                    };
                    this.checked_add(years.years()).ok()
                }
            }
        }
        DateForm::DayMonth | DateForm::MonthDay => {
            let (day, month) = match form {
                DateForm::DayMonth => (group(1)?, group(2)?),
                _ => (group(2)?, group(1)?),
            };
            let day = day_number(&day)?.to_string();
            match group(3) {
                Some(year) => ask(&format!("{day} {month} {year}"), dialect),
                None => near(&day, &month),
            }
        }
        DateForm::AfterNext => {
            let days = if group(1)?.starts_with("after") { 2 } else { -2 };
            now.date().checked_add(days.days()).ok()
        }
        DateForm::Relative => match group(1)?.as_str() {
            "tonight" => Some(now.date()),
            "tmrw" => ask("tomorrow", dialect),
            word => ask(word, dialect),
        },
        DateForm::Weekday => {
            let day = group(2)?;
            let day = day.get(..3)?;
            match group(1).as_deref() {
                Some("next") => ask(&format!("next {day}"), dialect),
                Some("last") => ask(&format!("last {day}"), dialect),
                _ => ask(day, dialect),
            }
        }
        DateForm::Span => {
            let suffix = group(4);
            // "Two weeks" alone is a duration.
            if group(1).is_none() && suffix.is_none() {
                return None;
            }
            let count = count(&group(2)?)?;
            let ago = if suffix.as_deref() == Some("ago") { " ago" } else { "" };
            ask(&format!("{count} {}s{ago}", group(3)?), dialect)
        }
        DateForm::Week => ask(&format!("{} {}", group(1)?, group(2)?), dialect),
        DateForm::DayOnly | DateForm::WeekdayDay => {
            let day = i16::try_from(day_number(&group(1).or_else(|| group(2))?)?).ok()?;
            let this = civil(anchor.year(), i16::from(anchor.month()), day);
            match (this, direction) {
                (Some(this), Direction::Future) if this < anchor => {
                    let next = anchor.first_of_month().checked_add(1.month()).ok()?;
                    civil(next.year(), i16::from(next.month()), day)
                }
                (Some(this), Direction::Past) if this > anchor => {
                    let last = anchor.first_of_month().checked_sub(1.month()).ok()?;
                    civil(last.year(), i16::from(last.month()), day)
                }
                (this, _) => this,
            }
        }
    }
}

fn civil(year: i16, month: i16, day: i16) -> Option<Date> {
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

/// Whether a text names a longer time than a day: "next week".
pub(super) fn is_vague(text: &str) -> bool {
    static LONGER: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^(?:next|last) (?:week|month|year)$"));
    LONGER.is_match(text)
}

/// The number of a day of a month: "14th", "fourteenth", "twenty-first".
fn day_number(text: &str) -> Option<u32> {
    const ORDINALS: [&str; 20] = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
        "twentieth",
    ];
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic());
    if !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit()) {
        return digits.parse().ok();
    }
    let number = |word: &str| {
        let at = ORDINALS.iter().position(|own| *own == word)?;
        u32::try_from(at + 1).ok()
    };
    match text.split_once(['-', ' ']) {
        Some(("twenty", unit)) => Some(20 + number(unit)?),
        Some(("thirty", unit)) => Some(30 + number(unit)?),
        _ if text == "thirtieth" => Some(30),
        _ => number(text),
    }
}

fn count(word: &str) -> Option<u32> {
    const WORDS: [&str; 13] = [
        "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    if matches!(word, "a" | "an") {
        return Some(1);
    }
    let named = WORDS.iter().position(|w| *w == word).and_then(|n| u32::try_from(n).ok());
    named.or_else(|| word.parse().ok())
}

static TIMES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    const HOUR: &str =
        "(?:\\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)";
    const MINUTE: &str = "(?:fifteen|thirty|forty[- ]five)";
    let part = r"(?: ?(a\.?m\b\.?|p\.?m\b\.?|in the morning\b|in the afternoon\b|in the evening\b|at night\b|tonight\b))";
    vec![
        regex(&format!(r"\b(\d{{1,2}})(?:[:.](\d{{2}}))?{part}")),
        regex(&format!(r"\b({HOUR})(?: ({MINUTE}))?(?: o'?clock)?{part}")),
        regex(&format!(r"\bat ({HOUR})(?: ({MINUTE}))?(?: o'?clock)?\b")),
        regex(r"\b(\d{1,2}):(\d{2})\b"),
        regex(r"\b(?:at|by|around|about) (\d{1,2})(?:\.(\d{2}))?(?: o'?clock)?\b"),
        regex(&format!(r"\b({HOUR})() o'?clock\b")),
    ]
});

static NOON_OR_MIDNIGHT: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(noon|midday|midnight)\b"));
static QUARTERS: LazyLock<Regex> = LazyLock::new(|| {
    regex(&format!(r"\b(half past|quarter past|quarter to) ({COUNT})\b(?: ?(am|pm)\b)?"))
});

/// The times of day in a text, in order.
pub(super) fn times(text: &str) -> Vec<Located<Time>> {
    let mut found: Vec<Located<Time>> = Vec::new();
    let mut add = |at: Range<usize>, value: Option<Time>| {
        let read = found.iter().any(|f| f.at.start < at.end && at.start < f.at.end);
        if let (false, Some(value)) = (read, value) {
            found.push(Located { at, value });
        }
    };
    // The part of the day may precede the time: "tonight at 8".
    let evening = mentions_evening(text);
    for captures in QUARTERS.captures_iter(text).take(MAX_MATCHES) {
        let group = |n: usize| captures.get(n).map(|m| m.as_str().to_lowercase());
        let (Some(whole), Some(how), Some(hour)) = (captures.get(0), group(1), group(2)) else {
            continue;
        };
        let Some(hour) = count(&hour).and_then(|h| i8::try_from(h).ok()) else { continue };
        let (hour, minute) = match how.as_str() {
            "half past" => (hour, 30),
            "quarter past" => (hour, 15),
            _ => (if hour == 1 { 12 } else { hour - 1 }, 45),
        };
        add(whole.range(), clock(hour, minute, group(3).as_deref(), evening));
    }
    for captures in NOON_OR_MIDNIGHT.captures_iter(text).take(MAX_MATCHES) {
        let Some(whole) = captures.get(0) else { continue };
        let midnight = whole.as_str().eq_ignore_ascii_case("midnight");
        add(whole.range(), Time::new(if midnight { 0 } else { 12 }, 0, 0, 0).ok());
    }
    for pattern in TIMES.iter() {
        for captures in pattern.captures_iter(text).take(MAX_MATCHES) {
            let number = |n: usize| {
                let text = captures.get(n)?.as_str().to_lowercase();
                let minutes = [("fifteen", 15), ("thirty", 30), ("forty-five", 45)];
                let named = minutes.iter().find(|(word, _)| *word == text.replace(' ', "-"));
                let spelled = || count(&text).and_then(|hour| i8::try_from(hour).ok());
                named.map(|(_, minute)| *minute).or_else(spelled)
            };
            let (Some(whole), Some(hour)) = (captures.get(0), number(1)) else { continue };
            let part = captures.get(3).map(|m| m.as_str().to_lowercase());
            let value = clock(hour, number(2).unwrap_or(0), part.as_deref(), evening);
            add(whole.range(), value);
        }
    }
    found.sort_by_key(|f| f.at.start);
    found
}

fn mentions_evening(text: &str) -> bool {
    static EVENING: LazyLock<Regex> = LazyLock::new(|| {
        regex(r"\b(tonight|this evening|tomorrow evening|this afternoon|tomorrow afternoon)\b")
    });
    EVENING.is_match(text)
}

/// A time of day; `part` is the part of the day given with it.
fn clock(hour: i8, minute: i8, part: Option<&str>, evening: bool) -> Option<Time> {
    let morning =
        part.is_some_and(|p| p.starts_with('a') && !p.starts_with("at") || p.ends_with("morning"));
    let late = part.is_some() && !morning;
    // "13 pm" means 13:00 and "0 am" midnight; "14 am" is invalid.
    let hour = match hour {
        12 if morning => 0,
        12.. if morning => return None,
        1..=11 if late || (part.is_none() && evening) => hour + 12,
        hour => hour,
    };
    Time::new(hour, minute, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_compile() {
        assert!(super::DATE_PATTERNS.len() > 5 && super::TIMES.len() > 3);
        assert!(
            super::NOON_OR_MIDNIGHT.is_match("noon") && super::QUARTERS.is_match("half past two")
        );
        assert!(super::mentions_evening("tonight"));
    }
}
