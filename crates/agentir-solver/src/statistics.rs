//! Statistics of queries.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

/// Counts of queries. The counts of several solvers can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All queries.
    pub queries: u64,
    /// Queries that sampling answered.
    pub by_sampling: u64,
    /// Queries that the cache answered.
    pub cached: u64,
    /// Queries that were decided without Z3.
    pub without_z3: u64,
    /// Queries that needed Z3.
    pub with_z3: u64,
    /// Queries that needed Z3 while it was not available. Most of them are unknown; the
    /// unsatisfiable cores of the others may not be minimal.
    pub incomplete: u64,
    /// Queries that are unknown because of opaque conditions or calls.
    pub opaque: u64,
    /// Queries that are unknown because a limit was reached.
    pub out_of_budget: u64,
    /// Queries that are unknown because the evaluator did not confirm the state.
    pub unconfirmed: u64,
    /// Queries that are unknown because Z3 is not available.
    pub unavailable: u64,
    /// The work, in steps: the evaluation of one node of an expression is about one.
    pub steps: u64,
    /// The total time, Z3's share included; zero unless the solver is timed.
    pub time: Duration,
    /// The time in Z3.
    pub z3_time: Duration,
}

impl Statistics {
    /// Whether neither Z3 nor steps were missing, so that the same queries have the same answers everywhere.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.incomplete == 0 && self.out_of_budget == 0
    }
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.queries += other.queries;
        self.by_sampling += other.by_sampling;
        self.cached += other.cached;
        self.without_z3 += other.without_z3;
        self.with_z3 += other.with_z3;
        self.opaque += other.opaque;
        self.out_of_budget += other.out_of_budget;
        self.incomplete += other.incomplete;
        self.unconfirmed += other.unconfirmed;
        self.unavailable += other.unavailable;
        self.steps += other.steps;
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
            "{} queries: {} answered by sampling, {} cached, {} decided without Z3, {} with Z3; {} unknown ({} opaque, {} over budget, {} unconfirmed, {} without Z3 available); {} steps; {:.1} ms, of which {:.1} ms in Z3",
            self.queries,
            self.by_sampling,
            self.cached,
            self.without_z3,
            self.with_z3,
            self.opaque + self.out_of_budget + self.unconfirmed + self.unavailable,
            self.opaque,
            self.out_of_budget,
            self.unconfirmed,
            self.unavailable,
            self.steps,
            self.time.as_secs_f64() * 1e3,
            self.z3_time.as_secs_f64() * 1e3,
        )
    }
}
