//! Which numbers make sense where: limits, delays and probabilities, by the names of their fields.
//!
//! The names are those of AgentIR, which languages use, too, and those of languages where they differ. All readers ask
//! this table, so that what one of them accepts every other one does.

/// The numbers that a field may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The smallest one.
    pub least: f64,
    /// The largest one.
    pub most: f64,
    /// Whether it must be a whole number.
    pub whole: bool,
}

/// The largest number of things that can be counted.
const MOST: f64 = u32::MAX as f64;

/// A year, in milliseconds.
const YEAR: f64 = 365.0 * 24.0 * 3_600_000.0;

/// How often something may happen at most: never makes no sense.
const AT_LEAST_ONCE: Range = Range { least: 1.0, most: MOST, whole: true };

/// How many there may be, also none.
const COUNT: Range = Range { least: 0.0, most: MOST, whole: true };

/// How long something may take.
const DURATION: Range = Range { least: 0.0, most: YEAR, whole: false };

/// How sure something must be.
const CONFIDENCE: Range = Range { least: 0.0, most: 1.0, whole: false };

const RANGES: &[(Range, &[&str])] = &[
    (
        AT_LEAST_ONCE,
        &[
            "max_attempts",
            "max_turns",
            "max_tokens",
            "max_iterations",
            "max_reasoning_iterations",
            "max_flow_iterations",
            "max_concurrent_messages",
            "max_intents",
            "max_file_size_bytes",
            "max_size",
            "maxSize",
            "line",
            "column",
        ],
    ),
    (
        COUNT,
        &[
            "last_n",
            "max_retries",
            "max_reasks",
            "retry",
            "max_queue_depth",
            "thinking_budget",
            "extraction_group",
            "show_first",
            "show_last",
        ],
    ),
    (
        DURATION,
        &[
            "tool_timeout_ms",
            "tool_timeout",
            "llm_timeout_ms",
            "llm_timeout",
            "session_timeout_ms",
            "session_idle_timeout",
            "voice_latency_target_ms",
            "voice_latency_target",
            "retry_delay_ms",
            "retry_delay",
            "retry_max_delay_ms",
            "retry_max_delay",
            "queue_max_age_ms",
            "timeout_ms",
            "timeout",
            "asyncTimeout",
            "async_timeout",
        ],
    ),
    (
        CONFIDENCE,
        &["infer_confidence", "min_confidence", "confidence_threshold", "fuzzy_threshold"],
    ),
    (Range { least: 0.0, most: 2.0, whole: false }, &["temperature"]),
];

/// The numbers that make sense in a field; all if there is no row.
#[must_use]
pub fn range_of(field: &str) -> Option<Range> {
    let row = RANGES.iter().find(|(_, fields)| fields.contains(&field));
    row.map(|(range, _)| *range)
}

/// Whether a number makes sense in a field.
#[must_use]
pub fn makes_sense(field: &str, number: f64) -> bool {
    range_of(field).is_none_or(|range| range.contains(number))
}

impl Range {
    /// Whether a number is one of them.
    #[must_use]
    pub fn contains(self, number: f64) -> bool {
        (self.least..=self.most).contains(&number) && (!self.whole || number.fract() == 0.0)
    }
}

/// `a whole number from 0 to 10`
impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = if self.whole { "a whole number" } else { "a number" };
        write!(f, "{what} from {} to {}", self.least, self.most)
    }
}
