//! Questions about conditions: can they hold together, does one follow from others, are two the
//! same? Each answer comes with its proof: a state that the evaluator confirmed, or a smallest set
//! of lines.
//!
//! There is one type of question, [`Query`], and one way to ask it, [`Solver::answer`]. What the
//! conditions mean is what `agentir-eval` says, in the dialect of the query.
//!
//! A question is simplified, looked up among those answered before, given to the solver's own
//! search over classes of values (module `cells`), and only if that does not decide it, to Z3. Who
//! only wants to know whether there is a state, not which ([`Solver::verdict`]), mostly has the answer
//! before all that, from a few values that are tried (module `guess`).
//!
//! *Invariant*: nothing here knows the IR, a rule or a diagnostic; work is limited by counts, never
//! by clocks; the same question gets the same answer whatever was asked before; no state leaves that
//! the evaluator did not confirm.

mod answer;
mod cells;
mod example;
mod guess;
mod minimal;
mod outcome;
mod problem;
mod query;
mod samples;
mod search;
mod shape;
mod smt;
mod solver;
mod statistics;

pub use answer::{Answer, Example, Verdict, Why};
pub use query::{Bound, Fact, FactKind, Facts, Label, Literal, Query, Question, Test, Type};
pub use solver::{Cache, Solver};
pub use statistics::Statistics;
