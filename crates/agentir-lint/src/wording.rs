//! The vocabulary of a dialect for messages: a message must not mention `TOOLS:` to an author who
//! writes `actions:`.

use agentir_ir::{Agent, Dialect};

/// The vocabulary of a dialect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    /// An agent of the program.
    pub(crate) agent: &'static str,
    /// A callable.
    pub(crate) tool: &'static str,
    /// An argument of a call.
    pub(crate) argument: &'static str,
    /// The section that declares tools.
    pub(crate) tools_section: &'static str,
}

const ABL: Wording =
    Wording { agent: "agent", tool: "tool", argument: "parameter", tools_section: "TOOLS:" };
const AGENT_SCRIPT: Wording =
    Wording { agent: "subagent", tool: "action", argument: "input", tools_section: "actions:" };

impl Wording {
    /// Returns the vocabulary of the dialect of `agent`.
    pub(crate) fn of(agent: &Agent) -> Self {
        if agent.metadata.dialect == Dialect::AgentScript.name() { AGENT_SCRIPT } else { ABL }
    }
}
