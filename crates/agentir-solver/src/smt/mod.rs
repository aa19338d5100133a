//! Z3, asked last.
//!
//! Each question gets a context and a solver of its own with a fixed seed: even names and the order
//! in which terms were made before change what Z3 finds and whether it finds it within its limit.
//! A context takes about a millisecond, and few questions get here.

mod encode;
mod regex;
mod term;
mod text;

use crate::problem::Problem;
use crate::search::Assignment;
use encode::Encoding;
use std::time::{Duration, Instant};
use z3::{Config, Params, SatResult};

/// How much work Z3 may do for a verdict, in its own unit. A hundred thousand take a few
/// milliseconds.
const LIMIT: u32 = 1_000_000;

/// More goals than this are not given to Z3 at once.
const MOST_GOALS: usize = 5000;

/// What Z3 says.
pub(crate) enum Verdict {
    /// A state, to be confirmed.
    State(Assignment),
    /// There is none.
    Nothing,
    /// The budget was used up.
    Unknown,
}

/// How often Z3 was asked, and how long it took.
#[derive(Default)]
pub(crate) struct Smt {
    asked: u64,
    time: Duration,
}

impl Smt {
    pub(crate) const fn asked(&self) -> u64 {
        self.asked
    }

    pub(crate) const fn time(&self) -> Duration {
        self.time
    }

    /// Whether `goals` can be met.
    pub(crate) fn check(&mut self, problem: &Problem<'_>, goals: &[usize]) -> Verdict {
        self.asked += 1;
        if goals.len() > MOST_GOALS {
            return Verdict::Unknown;
        }
        let start = Instant::now();
        let verdict = z3::with_z3_config(&Config::new(), || check(problem, goals));
        self.time += start.elapsed();
        verdict
    }
}

fn check(problem: &Problem<'_>, goals: &[usize]) -> Verdict {
    let solver = z3::Solver::new();
    let mut params = Params::new();
    params.set_u32("rlimit", LIMIT);
    params.set_u32("random_seed", 0);
    solver.set_params(&params);
    let encoding = Encoding::new(problem, goals);
    encoding.assert(&solver);
    match solver.check() {
        SatResult::Unsat => Verdict::Nothing,
        SatResult::Unknown => Verdict::Unknown,
        SatResult::Sat => {
            solver.get_model().map_or(Verdict::Unknown, |m| Verdict::State(encoding.state(&m)))
        }
    }
}
