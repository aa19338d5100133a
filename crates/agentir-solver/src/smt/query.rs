//! One query to Z3.

use super::Verdict;
use super::encode::Encoding;
use crate::problem::Problem;
use agentir_z3::z3::{Config, Params, SatResult, Solver, with_z3_config};

/// The limit of a query, in Z3's own unit of work. 100,000 take a few milliseconds.
const RESOURCE_LIMIT: u32 = 1_000_000;

/// Searches for a state that satisfies `constraints`. Z3 must be loaded.
pub(super) fn check(problem: &Problem<'_>, constraints: &[usize]) -> Verdict {
    with_z3_config(&Config::new(), || {
        let solver = Solver::new();
        let mut params = Params::new();
        params.set_u32("rlimit", RESOURCE_LIMIT);
        params.set_u32("random_seed", 0);
        // Z3's handler of SIGINT belongs to the whole process. Queries on several threads restore it in
        // the wrong order, and an interrupt then reaches a query that has ended: a segmentation fault.
        params.set_bool("ctrl_c", false);
        solver.set_params(&params);
        let encoding = Encoding::new(problem, constraints);
        encoding.assert(&solver);
        match solver.check() {
            SatResult::Unsat => Verdict::Nothing,
            SatResult::Unknown => Verdict::Unknown,
            SatResult::Sat => {
                solver.get_model().map_or(Verdict::Unknown, |m| Verdict::State(encoding.state(&m)))
            }
        }
    })
}
