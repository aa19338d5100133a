//! A built-in function with too few or too many arguments.

use crate::names::check_functions;
use crate::rule::{Check, Group, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("function-arity"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a built-in function is called with too few or too many arguments",
    vendor: &[],
    requires: &[Construct::FunctionLibrary],
    check: Check::Agent(check_functions),
};
