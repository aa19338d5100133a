//! What all measurements share: how long the fastest of some runs takes.

use cpu_time::ThreadTime;
use std::time::{Duration, Instant};

/// How many bytes each measurement reads at least.
pub(crate) const WORK: usize = 2_000_000;

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many documents.
    pub files: usize,
    /// What they are made from.
    pub seed: u64,
    /// How often each measurement is repeated; the fastest counts.
    pub rounds: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { files: 10_000, seed: 1, rounds: 3 }
    }
}

/// The processor time of this thread that the fastest of some runs took: what others do on the same
/// machine at the same time counts little.
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

/// The time on the clock that the fastest of some runs took, for what runs on several threads.
pub(crate) fn fastest_on_the_clock(rounds: usize, mut run: impl FnMut()) -> Duration {
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
