//! The time that each rule takes.

use agentir_analysis::Clock;
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// The time of each rule, without that of shared analyses, which have rows of their own in
/// parentheses. The times of several programs can be added.
#[derive(Clone, Debug, Default)]
pub struct Times {
    by_name: FxHashMap<&'static str, Duration>,
}

impl Times {
    /// Returns the times that a clock has measured.
    pub(crate) fn of(clock: &Clock) -> Self {
        Self { by_name: clock.times() }
    }

    /// Returns the rows, slowest first.
    #[must_use]
    pub fn slowest_first(&self) -> Vec<(&'static str, Duration)> {
        let mut all: Vec<_> = self.by_name.iter().map(|(name, time)| (*name, *time)).collect();
        all.sort_unstable_by_key(|(name, time)| (std::cmp::Reverse(*time), *name));
        all
    }

    /// Returns the total.
    #[must_use]
    pub fn sum(&self) -> Duration {
        self.by_name.values().sum()
    }
}

impl AddAssign for Times {
    fn add_assign(&mut self, other: Self) {
        for (name, time) in other.by_name {
            *self.by_name.entry(name).or_default() += time;
        }
    }
}

/// The number of rows to print.
const SHOWN: usize = 15;

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = self.sum().as_secs_f64();
        let share = |time: Duration| 100.0 * time.as_secs_f64() / sum.max(1e-9);
        let rows = self.slowest_first();
        writeln!(f, "{:<36}{:>10}{:>8}", "rules and (analyses), slowest first", "ms", "share")?;
        for (name, time) in rows.iter().take(SHOWN) {
            let ms = time.as_secs_f64() * 1e3;
            writeln!(f, "{name:<36}{ms:>10.3}{:>6.1} %", share(*time))?;
        }
        let rest: Duration = rows.iter().skip(SHOWN).map(|(_, time)| *time).sum();
        let ms = rest.as_secs_f64() * 1e3;
        write!(f, "{:<36}{ms:>10.3}{:>6.1} %", "(others)", share(rest))
    }
}
