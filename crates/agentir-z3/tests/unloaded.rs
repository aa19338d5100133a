//! What happens where nobody has called `load`. The only test of its process: the library is loaded for
//! all of it.

use agentir_z3::z3::ast::Bool;
use agentir_z3::z3::{Config, Solver};
use std::panic::catch_unwind;

#[test]
fn using_z3_before_it_is_loaded_panics() {
    assert!(agentir_z3::failure().is_none());
    assert!(catch_unwind(Config::new).is_err());
    assert!(catch_unwind(|| Solver::new().check()).is_err());
    assert!(catch_unwind(|| Bool::from_bool(true)).is_err());
    assert!(agentir_z3::load().is_ok());
    assert!(catch_unwind(|| Solver::new().check()).is_ok());
}
