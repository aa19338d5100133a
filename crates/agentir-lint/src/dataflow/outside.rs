//! What agents set of each other.

use agentir_flow::Cfg;
use agentir_flow::cfg::Element;
use agentir_ir::{Dialect, Node, Program, Statement};
use rustc_hash::{FxHashMap, FxHashSet};

/// What agents set of each other, by the name of the one whose variables they are.
#[derive(Debug, Default)]
pub(crate) struct Outside<'a> {
    /// What is bound where an agent is called, and in ADL `agent.variable` where others set it.
    pub(super) set: FxHashMap<&'a str, FxHashSet<&'a str>>,
    /// Agents that a model may choose because of what the user says.
    pub(super) chosen: FxHashSet<&'a str>,
}

impl<'a> Outside<'a> {
    pub(crate) fn new(program: &'a Program, cfg: &Cfg<'a>) -> Self {
        let mut outside = Self::default();
        for node in cfg.graph().node_weights() {
            if let Element::Statement(Statement::Delegate(to) | Statement::Handoff(to)) =
                node.element
            {
                let given = outside.set.entry(to.agent.value.as_str()).or_default();
                given.extend(to.bindings.iter().map(|b| b.variable.value.as_str()));
            }
        }
        for transfer in cfg.transfers() {
            let element = cfg.node(transfer.node).map(|n| n.element);
            if !matches!(element, Some(Element::Statement(Statement::Delegate(_)))) {
                outside.chosen.insert(transfer.to);
            }
        }
        for agent in program.agents() {
            if agent.metadata.dialect != Dialect::Adl.name() {
                continue;
            }
            agent.walk(&mut |node| {
                if let Node::Set(set) = node
                    && let Some(field) = set.target.first_field()
                {
                    outside.set.entry(&set.target.root.value).or_default().insert(&field.value);
                }
            });
        }
        outside
    }
}
