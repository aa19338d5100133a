//! A decision procedure for conditions: satisfiability, implication and equivalence. Each answer
//! comes with its proof: a state that the evaluator confirmed, or a minimal unsatisfiable core.
//!
//! There is one type of query, [`Query`], and one way to decide it, [`Solver::solve`].
//! `agentir-eval` defines the semantics of conditions, in the dialect of the query.
//!
//! A query is normalized and looked up in the cache. If it is new, the solver searches over
//! equivalence classes of values (module `classes`); only if that does not decide it, Z3 does.
//! [`Solver::check`] does not construct a state; it usually finds the answer before all that, by
//! sampling a few values (module `sampling`).
//!
//! What Z3 cannot express is encoded as unknown, so "unsatisfiable" stays sound. Arithmetic is
//! exact in Z3 and rounds in the evaluator; a model that the evaluator does not confirm makes the
//! answer `Unknown`. Minimal cores come from QuickXplain. No Z3 solver is kept warm: a warm one
//! finds other models and reaches other limits, depending on earlier queries, and few queries reach
//! Z3 at all.
//!
//! Where Z3 is needed and cannot be loaded, the answer is `Unknown`. [`Statistics`] count such
//! queries; the command line reports the reason once and does not cache the findings.
//!
//! *Invariant*: nothing here knows the IR, a rule or a diagnostic. Work is limited by counts, never
//! by clocks. The answer to a query does not depend on earlier queries. The evaluator has confirmed
//! every state that is returned.

mod answer;
mod atom_class;
mod classes;
mod example;
mod patterns;
mod problem;
mod query;
mod quickxplain;
mod representatives;
mod sampling;
mod search;
mod smt;
mod solver;
mod statistics;
mod truth;
mod work;

pub use answer::{Answer, Example, UnknownReason, Verdict};
pub use query::{Assertion, Bound, Fact, FactKind, Facts, Goal, Label, Query, Test, Type};
pub use smt::z3_failure;
pub use solver::{Cache, Solver};
pub use statistics::Statistics;
