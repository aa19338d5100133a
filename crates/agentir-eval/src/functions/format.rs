//! Functions that give texts for people (current specification 8.3).

use super::{Call, Result, round};
use crate::date::Date;
use crate::error::EvalError;
use crate::value::Value;

/// The month names of `MMM`; the documentation knows English ones only.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Symbols of currencies, and how many decimals they have.
const CURRENCIES: &[(&str, &str, usize)] = &[
    ("USD", "$", 2),
    ("EUR", "€", 2),
    ("GBP", "£", 2),
    ("JPY", "¥", 0),
    ("INR", "₹", 2),
    ("CNY", "CN¥", 2),
    ("KRW", "₩", 0),
    ("BRL", "R$", 2),
    ("CAD", "CA$", 2),
    ("AUD", "A$", 2),
    ("MXN", "MX$", 2),
];

/// `last4`, `first4` and `N*N` keep characters at the ends; all others are hidden. What is no
/// pattern hides everything, and so does one that would keep everything.
pub(super) fn mask(call: &Call<'_, '_>) -> Result<Value> {
    let whole = call.text(0);
    let by = call.text(1);
    let hide = call.optional_text(2).and_then(|c| c.chars().next()).unwrap_or('*');
    let digits = |text: &str| text.parse::<usize>().ok();
    let (first, last) = if let Some(n) = by.strip_prefix("last").and_then(digits) {
        (0, n)
    } else if let Some(n) = by.strip_prefix("first").and_then(digits) {
        (n, 0)
    } else {
        by.split_once('*').and_then(|(a, b)| Some((digits(a)?, digits(b)?))).unwrap_or_default()
    };
    let length = whole.chars().count();
    let kept = first.saturating_add(last) < length;
    let masked: String = whole
        .chars()
        .enumerate()
        .map(|(i, c)| if kept && (i < first || length - i <= last) { c } else { hide })
        .collect();
    Value::made_text(masked)
}

/// With exactly so many decimals.
pub(super) fn fixed(n: f64, decimals: f64) -> Result<Value> {
    let places = decimals.clamp(0.0, 20.0) as usize;
    Value::made_text(format!("{:.places$}", round(n, decimals)))
}

/// `$1,234.56`. Every locale is written as `en-US`, the default; the documentation shows no other.
pub(super) fn currency(call: &Call<'_, '_>) -> Result<Value> {
    let n = call.number(0)?;
    let code = call.text(1).to_ascii_uppercase();
    let known = CURRENCIES.iter().find(|(c, ..)| *c == code);
    let (symbol, places) = known
        .map_or_else(|| (format!("{code}\u{a0}"), 2), |(_, symbol, n)| ((*symbol).to_owned(), *n));
    let amount = format!("{:.places$}", round(n.abs(), places as f64));
    let (whole, decimals) = amount.split_once('.').unwrap_or((&amount, ""));
    let mut grouped = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if n < 0.0 { "-" } else { "" };
    let point = if decimals.is_empty() { "" } else { "." };
    Value::made_text(format!("{sign}{symbol}{grouped}{point}{decimals}"))
}

/// A date as text, as a date or in milliseconds; null if it is none. In UTC unless a zone is named.
pub(super) fn date(call: &Call<'_, '_>) -> Result<Value> {
    let date = match call.arg(0) {
        Value::Date(date) => Some(*date),
        Value::Number(n) => Date::from_milliseconds(*n as i64),
        Value::Text(text) => Date::parse(text),
        _ => None,
    };
    let Some(date) = date else { return Ok(Value::Null) };
    let at = date.in_zone(call.optional_text(2).as_deref());
    let month = usize::try_from(at.month()).unwrap_or(1);
    let name = MONTHS.get(month.saturating_sub(1)).copied().unwrap_or_default();
    let parts = [
        ("YYYY", format!("{:04}", at.year())),
        ("MMM", name.to_owned()),
        ("MM", format!("{:02}", at.month())),
        ("DD", format!("{:02}", at.day())),
        ("HH", format!("{:02}", at.hour())),
        ("mm", format!("{:02}", at.minute())),
        ("ss", format!("{:02}", at.second())),
    ];
    let format = call.text(1);
    let mut rest = format.as_str();
    let mut made = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some((token, part)) = parts.iter().find(|(token, _)| rest.starts_with(token)) {
            made.push_str(part);
            rest = rest.get(token.len()..).unwrap_or_default();
        } else {
            made.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    Value::made_text(made)
}

/// `1st`, `2nd`, `3rd`, `11th`; of whole numbers.
pub(super) fn ordinal(n: f64) -> Result<Value> {
    if n.fract() != 0.0 {
        return Err(EvalError::NotANumber("a fraction"));
    }
    let last = n.abs() % 100.0;
    let suffix = match (last % 10.0) as u8 {
        _ if (11.0..=13.0).contains(&last) => "th",
        1 => "st",
        2 => "nd",
        3 => "rd",
        _ => "th",
    };
    Ok(Value::text(format!("{n}{suffix}")))
}
