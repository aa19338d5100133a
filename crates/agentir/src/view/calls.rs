//! Handoffs and delegations between agents.

use crate::snapshot::{ProgramId, Snapshot};
use agentir_diagnostics::Span;
use agentir_flow::Cfg;

/// A place where an agent hands over to another one, or calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    /// The agent that hands over, by its index in the program.
    pub from: usize,
    /// The agent that takes over, if the program has it.
    pub to: Option<usize>,
    /// Its name.
    pub name: String,
    /// Where it is named.
    pub span: Span,
    /// Whether control returns.
    pub returns: bool,
}

impl Snapshot {
    /// The handoffs and delegations of a program, in the order of their places.
    #[must_use]
    pub fn agent_calls(&self, program: ProgramId) -> Vec<AgentCall> {
        let Some(ir) = self.ir(program) else { return Vec::new() };
        let cfg = Cfg::of_program(ir);
        let index = |id: agentir_flow::cfg::AgentId| id.0 as usize;
        let mut all: Vec<AgentCall> = cfg
            .transfers()
            .iter()
            .filter_map(|transfer| {
                Some(AgentCall {
                    from: index(cfg.node(transfer.node)?.agent),
                    to: transfer.target.map(index),
                    name: transfer.to.to_owned(),
                    span: transfer.span,
                    returns: transfer.returns.is_some(),
                })
            })
            .collect();
        all.sort_by_key(|call| (call.span.file, call.span.start, call.from, call.to));
        all.dedup();
        all
    }
}
