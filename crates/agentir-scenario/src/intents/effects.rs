//! The effect of choosing a tool, an agent or an intent, independent of its name and of the
//! language.

use agentir_flow::cfg::{Cfg, Origin};
use agentir_ir::BindingAction;
use agentir_runtime::Purpose;
use petgraph::visit::EdgeRef;
use rustc_hash::{FxHashMap, FxHashSet};

/// The effect of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// An agent handles the message.
    Agent(String),
    /// A tool is called.
    Tool(String),
    /// Values are collected from the user's message.
    Collect,
    /// A person takes over.
    Human,
    /// The agent completes.
    Done,
    /// Control is returned.
    Back,
    /// An effect that is only known by name.
    Other(String),
}

/// The effects of the names that each agent uses.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    names: FxHashMap<(String, String), Effect>,
    /// Natural-language reasons for escalation, by agent.
    reasons: FxHashSet<(String, String)>,
}

/// Normalises white space.
pub(super) fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

impl Effects {
    pub(crate) fn of(cfg: &Cfg<'_>) -> Self {
        let mut effects = Self::default();
        for edge in cfg.graph().edge_references() {
            let node = cfg.node(edge.source());
            let Some(agent) = node.and_then(|n| cfg.agent(n.agent)).map(|p| p.agent) else {
                continue;
            };
            let owner = agent.metadata.name.value.as_str();
            let to = |name: &agentir_diagnostics::Spanned<agentir_expr::Name>| {
                Effect::Agent(agent.resolve_alias(name).value.to_string())
            };
            let mut note = |name: &str, effect: Effect| {
                effects.names.entry((owner.to_owned(), name.to_owned())).or_insert(effect);
            };
            match edge.weight().origin {
                Origin::ToolBinding(offer) => {
                    let effect = match &offer.action {
                        BindingAction::Call { tool } => Effect::Tool(tool.value.to_string()),
                        BindingAction::Handoff { to: agent }
                        | BindingAction::Delegate { agent } => to(agent),
                        BindingAction::Escalate => Effect::Human,
                        BindingAction::Collect => Effect::Collect,
                        BindingAction::Complete => Effect::Done,
                        BindingAction::Other { reference } => {
                            Effect::Other(reference.value.to_string())
                        }
                    };
                    note(&offer.name.value, effect);
                }
                Origin::Rule(rule) => {
                    let Some(target) = &rule.to else { continue };
                    let names = rule.intents.first().into_iter().map(|i| i.value.as_str());
                    let own = rule.name.iter().map(|n| n.value.as_str());
                    for name in names.chain(own).chain([target.value.as_str()]) {
                        note(name, to(target));
                    }
                }
                Origin::Handoff(handoff) => note(&handoff.to.value, to(&handoff.to)),
                Origin::Delegate(delegate) => note(&delegate.agent.value, to(&delegate.agent)),
                Origin::Reference(reference) => {
                    note(&reference.alias.value, to(&reference.alias));
                }
                _ => {}
            }
        }
        for agent in cfg.agents().iter().map(|agent| agent.agent) {
            let triggers = agent.coordination.escalation.iter().flat_map(|e| &e.triggers);
            for when in triggers.filter_map(|t| t.when.as_ref()) {
                let words = (agent.metadata.name.value.to_string(), plain(&when.text.value));
                effects.reasons.insert(words);
            }
        }
        effects
    }

    /// Whether a statement is a reason for escalation.
    pub(crate) fn is_reason(&self, agent: &str, statement: &str) -> bool {
        self.reasons.contains(&(agent.to_owned(), plain(statement)))
    }

    /// The effect of a tool that an agent exposes.
    pub(crate) fn offered(&self, agent: &str, name: &str, purpose: Purpose) -> Effect {
        match (self.names.get(&(agent.to_owned(), name.to_owned())), purpose) {
            (Some(effect), _) => effect.clone(),
            (None, Purpose::Complete) => Effect::Done,
            (None, Purpose::Return) => Effect::Back,
            (None, Purpose::Escalate) => Effect::Human,
            (None, Purpose::Collect) => Effect::Collect,
            (None, Purpose::Handoff | Purpose::Delegate) => Effect::Agent(name.to_owned()),
            (None, Purpose::Call) => Effect::Tool(name.to_owned()),
        }
    }

    /// The effect of a candidate that an agent lets the model choose.
    pub(crate) fn chosen(&self, agent: &str, name: &str) -> Effect {
        let known = self.names.get(&(agent.to_owned(), name.to_owned()));
        known.cloned().unwrap_or_else(|| Effect::Other(name.to_owned()))
    }
}
