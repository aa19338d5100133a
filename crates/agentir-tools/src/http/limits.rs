//! When a service is left alone: circuit breakers and rate limits, for each tool.

use super::binding::HttpBinding;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// What a rate limit counts in.
const MINUTE: Duration = Duration::from_secs(60);

/// What happened to each tool.
#[derive(Debug, Default)]
pub(super) struct Limits(HashMap<String, ToolRecord>);

#[derive(Debug, Default)]
struct ToolRecord {
    /// Failures since the last success.
    failures: u32,
    /// When it is tried again.
    closed_until: Option<Instant>,
    /// The calls of the last minute.
    calls: VecDeque<Instant>,
}

impl Limits {
    /// Asks to make a call, and counts it.
    ///
    /// # Errors
    /// In words: why not.
    pub(super) fn acquire(&mut self, key: &str, binding: &HttpBinding) -> Result<(), String> {
        let now = Instant::now();
        let record = self.0.entry(key.to_owned()).or_default();
        if let Some(left) = record.closed_until.and_then(|until| until.checked_duration_since(now))
        {
            return Err(format!(
                "it failed {} times in a row and is tried again in {:.1} s (circuit breaker)",
                record.failures,
                left.as_secs_f64()
            ));
        }
        if let Some(limit) = binding.rate_limit {
            while record.calls.front().is_some_and(|at| now.duration_since(*at) >= MINUTE) {
                record.calls.pop_front();
            }
            if record.calls.len() >= usize::try_from(limit).unwrap_or(usize::MAX) {
                return Err(format!("its {limit} calls of this minute are made (rate limit)"));
            }
            record.calls.push_back(now);
        }
        Ok(())
    }

    /// Notes how a call went. After the time of a breaker one call decides: it is open again, or
    /// closed as long once more.
    pub(super) fn record(&mut self, key: &str, binding: &HttpBinding, healthy: bool) {
        let record = self.0.entry(key.to_owned()).or_default();
        if healthy {
            record.failures = 0;
            record.closed_until = None;
            return;
        }
        record.failures = record.failures.saturating_add(1);
        if let Some(breaker) = binding.breaker.filter(|b| record.failures >= b.threshold) {
            record.closed_until = Instant::now().checked_add(breaker.reset);
        }
    }
}
