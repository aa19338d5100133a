//! The semantics of expressions: values, states, the evaluator.
//!
//! [`evaluate`] returns the value of an expression in a state, [`outcome`] whether a condition
//! holds. Both are total: they return a value or an [`EvalError`], never panic, and their time and
//! memory are bounded by the sizes of the expression and the state. The solver, the lints and the
//! runtime have no semantics of their own.
//!
//! # What an unset value does
//!
//! A value is *unset* if it is null or undefined. The sources are the current specification of ABL
//! (3.8.2, 8), its documentation of expressions, the formal specification of Agent Script (3.1) and
//! the paper of ADL (B.4.5); what they leave open is marked with *.
//!
//! | with an unset value | ABL | Agent Script | ADL |
//! |---|---|---|---|
//! | `x == null` | true, null and undefined alike | true | `x == None` asks whether it is unset |
//! | `x == 0`, `x == ""` | false | false | false |
//! | `x != 5` | true | true | true, the negation of `==` |
//! | `x != null` | **true as well** | false | false |
//! | `x < 5` | counts as 0: true | fails* | fails* |
//! | truthiness | false | false | false* |
//! | `x + 1` | counts as 0*: 1 | fails* | fails* |
//! | `x.field` | undefined | **fails** if `x` is unset | undefined* |
//! | `x IN [1]`, `x contains "a"` | false* | false | false* |
//! | in a text | nothing | `None`* | nothing |
//!
//! # Other differences
//!
//! | | ABL | Agent Script | ADL |
//! |---|---|---|---|
//! | falsy besides unset, `false`, 0, `""`, `[]`, `{}` | the text `"false"` | – | –* |
//! | `"5" == 5` | true | false | true* |
//! | `true == 1` | false* | true* (Python) | false* |
//! | `"10" < 9` | as numbers: false | fails* | fails* |
//! | `"b" < "c"` | fails*; texts that are dates are compared as dates* | true* (Python) | true* |
//! | `"b" < 9` | fails*: it has no place among numbers | fails* | fails* |
//! | `[1, 2] < 3` | a list counts as its length | fails* | fails* |
//! | `a AND b` gives | true or false* | one of the operands* (Python) | true or false |
//! | `7 % -4` | 3, the sign of the left side* | -1, the sign of the right side* (Python) | -1* |
//! | a condition that fails | does not hold | stops the procedure | stops the flow* |
//! | characters are counted as | Unicode scalar values* | the same | the same |
//!
//! The rows are the columns of [`Semantics`](agentir_expr::dialect::Semantics), so a difference is data and nowhere else.
//!
//! Numbers are doubles, as ABL has it (and JavaScript and Python, which run the other two); they are
//! always finite, because what would overflow is an error. Two numbers of a program that are equal
//! in decimals are equal here, arithmetic rounds as doubles do.
//!
//! *Invariant*: nothing here reads the clock, draws random numbers or knows the IR; external values
//! come through [`Environment`].

mod coerce;
mod compare;
mod date;
mod error;
mod eval;
mod functions;
mod json;
mod pattern;
mod state;
mod value;

pub use coerce::{number, parse_number, text, truthy};
pub use compare::{contains, equal, is_in, order, strictly_equal};
pub use date::Date;
pub use error::EvalError;
pub use eval::{Outcome, evaluate, length, member, outcome};
pub use functions::{is_evaluated, is_evaluated_method};
pub use pattern::{KEPT_PATTERNS, Pattern, captures, pattern, portable};
pub use state::{Environment, State};
pub use value::{List, MAX_SIZE, MAX_TEXT, MAX_VALUE_DEPTH, Object, Value};
