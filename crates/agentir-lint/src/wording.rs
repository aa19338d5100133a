//! What things are called in the dialect an author writes: a message must not speak of `TOOLS:` to
//! somebody who writes `actions:`.

use agentir_ir::{Agent, Dialect};

/// The words of a dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    /// An agent of the program.
    pub(crate) agent: &'static str,
    /// Something that can be called.
    pub(crate) tool: &'static str,
    /// What a call gives.
    pub(crate) argument: &'static str,
    /// Where tools are declared.
    pub(crate) tools_section: &'static str,
}

const ABL: Wording =
    Wording { agent: "agent", tool: "tool", argument: "parameter", tools_section: "TOOLS:" };
const AGENT_SCRIPT: Wording =
    Wording { agent: "subagent", tool: "action", argument: "input", tools_section: "actions:" };

impl Wording {
    /// The words of the dialect that `agent` is written in.
    pub(crate) fn of(agent: &Agent) -> Self {
        if agent.metadata.dialect == Dialect::AgentScript.name() { AGENT_SCRIPT } else { ABL }
    }
}
