//! Predicates on dialects, for messages that differ between them. Each rule declares the dialects
//! that it applies to.

use agentir_ir::{Agent, Dialect, Program};

/// Whether an agent is written in ADL.
pub(crate) fn is_adl(agent: &Agent) -> bool {
    agent.metadata.dialect == Dialect::Adl.name()
}

/// Whether a program is written in ADL.
pub(crate) fn is_adl_program(program: &Program) -> bool {
    program.agents().any(is_adl)
}
