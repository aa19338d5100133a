//! Natural-language instructions: their steps, the agents and tools that they mention, and where
//! they end.
//!
//! The analysis is syntactic: a verb of handing over and the marked name of an agent in one clause.
//! What follows an `if`, `when` or `after` may happen, everything else must. Nothing here depends
//! on the dialect.
//!
//! Instructions under a condition count as weaker than unconditional ones.

mod graph;
mod mentions;
mod prompts;
mod text;

pub use graph::{HandoffGraph, PromptCycle, PromptHandoff};
pub use mentions::{Handoff, Mentions, MisspelledAgent, Strength, ToolMention, ends_agent};
pub use prompts::Prompt;
pub use text::{PromptStep, PromptUse, Sentence, guard, steps_named};

use agentir_flow::cfg::AgentId;
use agentir_ir::Program;
use mentions::AgentNames;
use std::cell::OnceCell;

/// The instructions of all agents of a program, parsed once.
#[derive(Debug)]
pub struct Instructions<'a> {
    program: &'a Program,
    /// In the order of the agents.
    prompts: Vec<Vec<Prompt<'a>>>,
    handoff_graph: OnceCell<HandoffGraph<'a>>,
    cycles: OnceCell<Vec<PromptCycle<'a>>>,
}

impl<'a> Instructions<'a> {
    /// Parses the instructions of a program.
    #[must_use]
    pub fn new(program: &'a Program) -> Self {
        let names = AgentNames::new(program);
        let prompts = program.agents().map(|agent| prompts::prompts(agent, &names)).collect();
        Self { program, prompts, handoff_graph: OnceCell::new(), cycles: OnceCell::new() }
    }

    /// Returns the prompts of an agent.
    #[must_use]
    pub fn of(&self, agent: AgentId) -> &[Prompt<'a>] {
        self.prompts.get(agent.index()).map_or(&[], Vec::as_slice)
    }

    /// The ways in which agents can hand over to each other.
    pub fn handoff_graph(&self) -> &HandoffGraph<'a> {
        self.handoff_graph.get_or_init(|| HandoffGraph::new(self.program))
    }

    /// The cycles of the instructions, each once.
    pub fn cycles(&self) -> &[PromptCycle<'a>] {
        self.cycles
            .get_or_init(|| graph::cycles(self.program, &self.prompts, || self.handoff_graph()))
    }
}
