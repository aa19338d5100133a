//! Z3, the last resort. It is not available without the feature `z3`, or if its library cannot be loaded.
//!
//! Each query gets its own context and solver with a fixed seed: even the names and the order of earlier
//! terms change which model Z3 finds and whether it finds one within its limit. A context takes about a
//! millisecond, and few queries get here.

#[cfg(feature = "z3")]
mod encode;
#[cfg(feature = "z3")]
mod query;
#[cfg(feature = "z3")]
mod regex;
#[cfg(feature = "z3")]
mod term;
#[cfg(feature = "z3")]
mod text;

use crate::problem::Problem;
use crate::search::Assignment;
use std::time::{Duration, Instant};

/// Z3 is not asked about more constraints than this at once.
const MAX_CONSTRAINTS: usize = 5000;

/// Nor about more nodes of expressions, each of which takes some kilobytes.
const MAX_NODES: u64 = 20_000;

/// What Z3 found.
#[cfg_attr(not(feature = "z3"), allow(dead_code, reason = "only Z3 decides anything"))]
pub(crate) enum Verdict {
    /// A state, not yet confirmed by the evaluator.
    State(Assignment),
    /// There is no state.
    Nothing,
    /// The limit was reached.
    Unknown,
    /// Z3 is not available.
    Unavailable,
}

/// Asks Z3 and counts how often.
#[derive(Default)]
pub(crate) struct Smt {
    asked: u64,
    unavailable: u64,
    /// The time in Z3; `None` if it is not measured.
    time: Option<Duration>,
}

impl Smt {
    /// Returns one that measures the time in Z3.
    pub(crate) fn timed() -> Self {
        Self { time: Some(Duration::ZERO), ..Self::default() }
    }

    /// How often Z3 was needed.
    pub(crate) const fn asked(&self) -> u64 {
        self.asked
    }

    /// How often Z3 was needed while it was not available.
    pub(crate) const fn unavailable(&self) -> u64 {
        self.unavailable
    }

    pub(crate) fn time(&self) -> Duration {
        self.time.unwrap_or_default()
    }

    /// Searches for a state that satisfies `constraints`.
    pub(crate) fn check(&mut self, problem: &Problem<'_>, constraints: &[usize]) -> Verdict {
        self.asked += 1;
        if constraints.len() > MAX_CONSTRAINTS
            || nodes(problem, constraints) > MAX_NODES
            || problem.work.is_exhausted()
        {
            return Verdict::Unknown;
        }
        let start = self.time.map(|_| Instant::now());
        let verdict = check(problem, constraints);
        if let (Some(time), Some(start)) = (&mut self.time, start) {
            *time += start.elapsed();
        }
        if matches!(verdict, Verdict::Unavailable) {
            self.unavailable += 1;
        }
        verdict
    }
}

/// The nodes of the atoms of constraints.
fn nodes(problem: &Problem<'_>, constraints: &[usize]) -> u64 {
    let constraints = constraints.iter().filter_map(|at| problem.constraints.get(*at));
    let mut atoms: Vec<usize> = constraints.flat_map(|c| c.atoms.iter().copied()).collect();
    problem.work.spend(atoms.len() as u64);
    atoms.sort_unstable();
    atoms.dedup();
    atoms.iter().filter_map(|at| problem.atoms.get(*at)).map(|atom| atom.steps).sum()
}

#[cfg(feature = "z3")]
fn check(problem: &Problem<'_>, constraints: &[usize]) -> Verdict {
    if agentir_z3::load().is_err() {
        return Verdict::Unavailable;
    }
    query::check(problem, constraints)
}

#[cfg(not(feature = "z3"))]
fn check(_: &Problem<'_>, _: &[usize]) -> Verdict {
    NEEDED.store(true, std::sync::atomic::Ordering::Relaxed);
    Verdict::Unavailable
}

/// Whether there was a query for Z3.
#[cfg(not(feature = "z3"))]
static NEEDED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Why queries for Z3 of this process were not answered; `None` if all were, or none was needed.
#[must_use]
pub fn z3_failure() -> Option<String> {
    #[cfg(feature = "z3")]
    return agentir_z3::failure().map(ToString::to_string);
    #[cfg(not(feature = "z3"))]
    return NEEDED
        .load(std::sync::atomic::Ordering::Relaxed)
        .then(|| "this build does not use it".to_owned());
}
