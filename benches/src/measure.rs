//! Helpers of all measurements: the fastest of several runs.

use cpu_time::ThreadTime;
use std::time::{Duration, Instant};

/// The fewest bytes that a measurement reads.
pub(crate) const WORK: usize = 2_000_000;

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The number of documents.
    pub files: usize,
    /// The seed they are generated from.
    pub seed: u64,
    /// The number of runs of each measurement, of which the fastest counts.
    pub rounds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { files: 10_000, seed: 1, rounds: 3 }
    }
}

/// The processor time of this thread in the fastest of several runs, which other processes affect little.
pub(crate) fn fastest(rounds: usize, mut run: impl FnMut()) -> Duration {
    (0..rounds.max(1))
        .map(|_| {
            let start = ThreadTime::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// The wall-clock time of the fastest of several runs, for work on several threads.
pub(crate) fn fastest_wall_clock(rounds: usize, mut run: impl FnMut()) -> Duration {
    (0..rounds.max(1))
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

pub(crate) fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

pub(crate) fn rate(amount: f64, time: Duration) -> f64 {
    amount / time.as_secs_f64().max(1e-9)
}
