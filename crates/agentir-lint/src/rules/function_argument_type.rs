//! A constant argument that a built-in function does not accept.

use crate::names::check_functions;
use crate::rule::{Check, Group, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("function-argument-type"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a built-in function is called with a constant of the wrong type",
    vendor: &[],
    requires: &[Construct::FunctionLibrary],
    check: Check::Agent(check_functions),
};
