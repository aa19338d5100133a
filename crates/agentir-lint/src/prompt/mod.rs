//! What instructions in words ask for: their steps, the agents and tools they name, where they end.
//!
//! Words are read by their form, not by their meaning: a verb of handing over and the name of an agent
//! in one clause, marked as a name. What is behind an `if`, `when` or `after` may happen; all else
//! must. Nothing here belongs to a dialect: any agent has instructions.

mod graph;
mod mentions;
mod text;

pub(crate) use graph::{HandoffGraph, PromptCycle};
pub(crate) use mentions::ends_agent;
pub(crate) use text::{Prompt, PromptUse, guard, steps_named};

use agentir_flow::cfg::AgentId;
use agentir_ir::Program;
use mentions::AgentNames;
use std::sync::OnceLock;

/// The instructions of all agents of a program, read once.
#[derive(Debug)]
pub(crate) struct Instructions<'a> {
    program: &'a Program,
    /// By the agents' order.
    prompts: Vec<Vec<Prompt<'a>>>,
    handoff_graph: OnceLock<HandoffGraph<'a>>,
    cycles: OnceLock<Vec<PromptCycle<'a>>>,
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let names = AgentNames::new(program);
        let prompts = program.agents.iter().map(|agent| text::prompts(agent, &names)).collect();
        Self { program, prompts, handoff_graph: OnceLock::new(), cycles: OnceLock::new() }
    }

    /// Those of one agent.
    pub(crate) fn of(&self, agent: AgentId) -> &[Prompt<'a>] {
        self.prompts.get(agent.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// How agents can hand over to each other.
    pub(crate) fn handoff_graph(&self) -> &HandoffGraph<'a> {
        self.handoff_graph.get_or_init(|| HandoffGraph::new(self.program))
    }

    /// The circles that they lead in, each once.
    pub(crate) fn cycles(&self) -> &[PromptCycle<'a>] {
        self.cycles.get_or_init(|| graph::cycles(self.program, self))
    }
}
