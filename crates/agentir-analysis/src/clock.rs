//! A clock for nested measurements.

use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Measures named work. The time of an inner measurement does not count for the outer one. The
/// default clock does not measure.
#[derive(Debug, Default)]
pub struct Clock {
    running: bool,
    /// The time of the inner measurements of the current one.
    within: Cell<Duration>,
    times: RefCell<FxHashMap<&'static str, Duration>>,
}

impl Clock {
    /// Returns a running clock.
    #[must_use]
    pub fn running() -> Self {
        Self { running: true, ..Self::default() }
    }

    /// Whether the clock measures.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.running
    }

    /// Runs `work` and measures it if the clock is running.
    pub fn time<T>(&self, name: &'static str, work: impl FnOnce() -> T) -> T {
        if !self.running {
            return work();
        }
        let outside = self.within.take();
        let start = Instant::now();
        let result = work();
        let whole = start.elapsed();
        let own = whole.saturating_sub(self.within.get());
        *self.times.borrow_mut().entry(name).or_default() += own;
        self.within.set(outside + whole);
        result
    }

    /// Returns the time of each name so far.
    #[must_use]
    pub fn times(&self) -> FxHashMap<&'static str, Duration> {
        self.times.borrow().clone()
    }
}
