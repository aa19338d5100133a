//! One query to Z3.

use super::Verdict;
use super::encode::Encoding;
use crate::problem::Problem;
use agentir_z3::z3::{Config, Params, SatResult, Solver, StatisticsValue, with_z3_config};

/// The limit of a query, in Z3's own unit of work. 100,000 take a few milliseconds.
const RESOURCE_LIMIT: u32 = 1_000_000;

/// The steps of one of Z3's units, where patterns are among the constraints; of others it is about one.
const STEPS_OF_PATTERNS: u64 = 10;

/// The steps of a query but for Z3's units: for the context, and for what is said to it.
const STEPS_OF_QUERY: u64 = 50_000;

/// The units that a solver has spent.
fn resources(solver: &Solver) -> u64 {
    match solver.get_statistics().value("rlimit count") {
        Some(StatisticsValue::UInt(count)) => count.into(),
        Some(StatisticsValue::Double(count)) => count as u64,
        None => RESOURCE_LIMIT.into(),
    }
}

/// Searches for a state that satisfies `constraints`. Z3 must be loaded.
pub(super) fn check(problem: &Problem<'_>, constraints: &[usize]) -> Verdict {
    problem.work.spend(STEPS_OF_QUERY);
    with_z3_config(&Config::new(), || {
        let solver = Solver::new();
        let encoding = Encoding::new(problem, constraints);
        // What Z3 does with patterns takes longer than its units say.
        let steps = if encoding.has_patterns() { STEPS_OF_PATTERNS } else { 1 };
        let limit = (problem.work.left() / steps).min(u64::from(RESOURCE_LIMIT) / steps);
        let mut params = Params::new();
        params.set_u32("rlimit", u32::try_from(limit).unwrap_or(RESOURCE_LIMIT).max(1));
        params.set_u32("random_seed", 0);
        // Z3's handler of SIGINT belongs to the whole process. Queries on several threads restore it in
        // the wrong order, and an interrupt then reaches a query that has ended: a segmentation fault.
        params.set_bool("ctrl_c", false);
        solver.set_params(&params);
        encoding.assert(&solver);
        let found = solver.check();
        problem.work.spend(steps.saturating_mul(resources(&solver)));
        match found {
            SatResult::Unsat => Verdict::Nothing,
            SatResult::Unknown => Verdict::Unknown,
            SatResult::Sat => {
                solver.get_model().map_or(Verdict::Unknown, |m| Verdict::State(encoding.state(&m)))
            }
        }
    })
}
