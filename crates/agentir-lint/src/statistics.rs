//! Statistics of a check.

use agentir_analysis::ProgramAnalysis;
use std::fmt;
use std::ops::AddAssign;

/// Counts of a check. The counts of several programs can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The queries to the solver.
    pub solver: agentir_solver::Statistics,
    /// The nodes that dataflow searches visited, counted with repetition.
    pub visited_nodes: u64,
    /// The dataflow searches that exhausted their budget.
    pub given_up: u64,
}

impl Statistics {
    pub(crate) fn of(program: &ProgramAnalysis<'_>) -> Self {
        Self {
            solver: program.solver_statistics(),
            visited_nodes: program.search_stats().visited_nodes.get(),
            given_up: program.search_stats().given_up.get(),
        }
    }
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.solver += other.solver;
        self.visited_nodes += other.visited_nodes;
        self.given_up += other.given_up;
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "solver: {}\ndataflow: {} nodes visited, {} searches over budget",
            self.solver, self.visited_nodes, self.given_up
        )
    }
}
