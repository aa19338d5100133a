//! How much was asked, and what it took.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// Counts of questions. Those of several solvers are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Questions asked.
    pub asked: u64,
    /// Of these, answered by a state that was found at once.
    pub at_once: u64,
    /// Of these, answered from memory.
    pub cached: u64,
    /// Of these, decided without Z3.
    pub cheap: u64,
    /// Of these, for which Z3 was asked.
    pub needed_z3: u64,
    /// Of these, left unknown because of words or calls.
    pub opaque: u64,
    /// Of these, left unknown because the limit on work was reached.
    pub out_of_budget: u64,
    /// Of these, left unknown because the evaluator did not confirm the state found.
    pub unconfirmed: u64,
    /// The time all this took, the whole and Z3's part of it.
    pub time: Duration,
    /// Z3's part of the time.
    pub z3_time: Duration,
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.asked += other.asked;
        self.at_once += other.at_once;
        self.cached += other.cached;
        self.cheap += other.cheap;
        self.needed_z3 += other.needed_z3;
        self.opaque += other.opaque;
        self.out_of_budget += other.out_of_budget;
        self.unconfirmed += other.unconfirmed;
        self.time += other.time;
        self.z3_time += other.z3_time;
    }
}

impl std::iter::Sum for Statistics {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} questions: {} answered at once, {} answered before, {} decided without Z3, {} with Z3; {} unknown ({} words or calls, {} limit, {} unconfirmed); {:.1} ms, Z3 {:.1} ms",
            self.asked,
            self.at_once,
            self.cached,
            self.cheap,
            self.needed_z3,
            self.opaque + self.out_of_budget + self.unconfirmed,
            self.opaque,
            self.out_of_budget,
            self.unconfirmed,
            self.time.as_secs_f64() * 1e3,
            self.z3_time.as_secs_f64() * 1e3,
        )
    }
}
