//! Where analyses stopped early.

use agentir_diagnostics::Span;
use std::cell::RefCell;

/// What an analysis has stopped at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// A question about a condition takes too many steps.
    Condition,
    /// The questions about a program's conditions took all the steps that they have together.
    Conditions,
    /// The paths of an agent are too many for its variables.
    Paths,
    /// Constraints or handoffs have too many combinations.
    Combinations,
    /// The values of a program's variables are too many.
    Values,
}

/// The places at which analyses of a program stopped early. Mistakes that only show there are not found.
#[derive(Debug, Default)]
pub struct Limits {
    reached: RefCell<Vec<(Limit, Option<Span>)>>,
}

impl Limits {
    /// Records that an analysis stopped at a place; `None` if it has none.
    pub fn reach(&self, limit: Limit, at: Option<Span>) {
        let mut reached = self.reached.borrow_mut();
        if !reached.contains(&(limit, at)) && reached.len() < MAX_PLACES {
            reached.push((limit, at));
        }
    }

    /// The places so far, in the order in which they were reached.
    #[must_use]
    pub fn reached(&self) -> Vec<(Limit, Option<Span>)> {
        self.reached.borrow().clone()
    }
}

/// More places are not recorded.
const MAX_PLACES: usize = 100;
