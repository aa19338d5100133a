//! Interprocedural definitions: variables that agents set for each other.

use agentir_flow::Cfg;
use agentir_flow::cfg::Origin;
use agentir_ir::{Node, Program, Statement};
use rustc_hash::{FxHashMap, FxHashSet};

/// The variables that other agents set, by the name of the owner.
#[derive(Debug, Default)]
pub(crate) struct ExternalDefs<'a> {
    /// Variables that are bound where an agent is called, and `agent.variable` in ADL.
    pub(super) set: FxHashMap<&'a str, FxHashSet<&'a str>>,
    /// Those of them that other agents set while they run: `agent.variable` in ADL.
    pub(super) by_field: FxHashMap<&'a str, FxHashSet<&'a str>>,
    /// Agents that the model may choose because of a message.
    pub(crate) chosen: FxHashSet<&'a str>,
}

impl<'a> ExternalDefs<'a> {
    pub(crate) fn new(program: &'a Program, cfg: &Cfg<'a>) -> Self {
        let mut external_defs = Self::default();
        for node in cfg.graph().node_weights() {
            if let Origin::Statement(Statement::Delegate(to) | Statement::Handoff(to)) = node.origin
            {
                let given = external_defs.set.entry(to.agent.value.as_str()).or_default();
                given.extend(to.bindings.iter().map(|b| b.variable.value.as_str()));
            }
        }
        for transfer in cfg.transfers() {
            let element = cfg.node(transfer.node).map(|n| n.origin);
            if !matches!(element, Some(Origin::Statement(Statement::Delegate(_)))) {
                external_defs.chosen.insert(transfer.to);
            }
        }
        for agent in program.agents() {
            if !agent.metadata.dialect.traits().reads_other_agents {
                continue;
            }
            agent.walk(&mut |node| {
                if let Node::Set(set) = node
                    && let Some(field) = set.target.first_field()
                {
                    let (owner, field) = (set.target.root.value.as_str(), field.value.as_str());
                    for sets in [&mut external_defs.set, &mut external_defs.by_field] {
                        sets.entry(owner).or_default().insert(field);
                    }
                }
            });
        }
        external_defs
    }
}
