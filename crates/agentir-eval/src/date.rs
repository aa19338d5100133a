//! Dates and times, as far as they are in an order.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};
use std::fmt;

/// A date or a time. What has no zone is taken as UTC, a date as its first moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    at: Timestamp,
}

impl Date {
    /// Reads `2026-01-31`, `2026-01-31T08:30:00`, with or without seconds, a fraction, and a zone
    /// (`Z`, `+02:00`); nothing else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        // Most strings are not dates; they are rejected at once.
        if !(10..=40).contains(&bytes.len()) || bytes.get(4) != Some(&b'-') {
            return None;
        }
        if bytes.len() == 10 {
            let date: civil::Date = text.parse().ok()?;
            return Self::utc(date.to_datetime(civil::Time::midnight()));
        }
        if let Ok(at) = text.parse::<Timestamp>() {
            return Some(Self { at });
        }
        text.contains('T').then(|| text.parse::<DateTime>().ok()).flatten().and_then(Self::utc)
    }

    fn utc(at: DateTime) -> Option<Self> {
        Some(Self { at: at.to_zoned(TimeZone::UTC).ok()?.timestamp() })
    }

    /// The moment so many seconds after the beginning of 1970, if the calendar reaches there.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Option<Self> {
        Timestamp::from_second(seconds).ok().map(|at| Self { at })
    }

    /// The moment so many milliseconds after the beginning of 1970.
    #[must_use]
    pub fn from_milliseconds(milliseconds: i64) -> Option<Self> {
        Timestamp::from_millisecond(milliseconds).ok().map(|at| Self { at })
    }

    /// Nanoseconds since the beginning of 1970.
    #[must_use]
    pub fn nanoseconds(self) -> i128 {
        self.at.as_nanosecond()
    }

    /// Seconds since the beginning of 1970, parts of one cut off.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.at.as_second()
    }

    /// In the zone of this name (`Europe/Vienna`); in UTC if there is no such zone.
    pub(crate) fn in_zone(self, zone: Option<&str>) -> jiff::Zoned {
        let zone = zone.and_then(|z| TimeZone::get(z).ok()).unwrap_or(TimeZone::UTC);
        self.at.to_zoned(zone)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.to_zoned(TimeZone::UTC).datetime();
        if at.time() == civil::Time::midnight() { at.date().fmt(f) } else { self.at.fmt(f) }
    }
}
