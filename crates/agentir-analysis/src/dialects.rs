//! Predicates on dialects, for messages that differ between them. Each rule declares the dialects
//! that it applies to.

use agentir_ir::{Agent, Dialect, Program};

/// Whether an agent is written in ADL.
pub fn is_adl(agent: &Agent) -> bool {
    agent.metadata.dialect == Dialect::Adl.name()
}

/// Whether a program is written in ADL.
pub fn is_adl_program(program: &Program) -> bool {
    program.agents().any(is_adl)
}

/// Whether an agent is written in Agent Script.
#[must_use]
pub fn is_agent_script(agent: &Agent) -> bool {
    agent.metadata.dialect == Dialect::AgentScript.name()
}
