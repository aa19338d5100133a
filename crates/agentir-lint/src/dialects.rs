//! Which rules hold for agents of which dialect.
//!
//! Most rules are about what ABL says and how its platform runs it. Those that mean the same in ADL are
//! listed here; the words of their messages differ by [`is_adl`].

use crate::rule::{Group, Rule};
use agentir_ir::{Agent, Dialect, Program};

/// Rules that were written for ABL and hold for ADL as well.
const SHARED: &[&str] = &[
    "duplicate-agent",
    "duplicate-gather-field",
    "duplicate-step",
    "duplicate-tool",
    "duplicate-variable",
    "missing-argument",
    "missing-entry-point",
    "self-handoff",
    "undefined-agent",
    "undefined-step",
    "undefined-tool",
    "unknown-argument",
    "unreachable-agent",
    "unreachable-branch",
    "unreachable-statement",
    "unreachable-step",
];

/// Rules that hold for ADL only.
const ADL_ONLY: &[&str] = &[
    "conflicting-bindings",
    "turnless-cycle",
    "undeclared-arg",
    "unlisted-tool",
    "unmentioned-tool",
];

/// Whether an agent is written in ADL.
pub(crate) fn is_adl(agent: &Agent) -> bool {
    agent.metadata.dialect == Dialect::Adl.name()
}

/// Whether a program is written in ADL.
pub(crate) fn is_adl_program(program: &Program) -> bool {
    program.agents.iter().any(is_adl)
}

/// Whether a rule holds for agents of ADL, or for those of other dialects.
pub(crate) fn holds(rule: &Rule, adl: bool) -> bool {
    let name = rule.name.0;
    match (adl, rule.group) {
        (_, Group::Prompts) if !ADL_ONLY.contains(&name) => true,
        (true, _) => SHARED.contains(&name) || ADL_ONLY.contains(&name),
        (false, _) => !ADL_ONLY.contains(&name),
    }
}
