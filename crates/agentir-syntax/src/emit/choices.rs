//! What the model may choose, with the description and the guard that its tool has.

use agentir_expr::Name;
use agentir_ir::{Agent, BindingAction, ToolBinding};

/// For each declaration of an agent the tool of the model that it repeats, if it repeats one.
#[derive(Debug, Default)]
pub struct Choices<'a> {
    /// Beside the handoffs.
    pub handoffs: Vec<Option<&'a ToolBinding>>,
    /// Beside the delegations.
    pub delegates: Vec<Option<&'a ToolBinding>>,
    /// Beside the triggers of an escalation.
    pub triggers: Vec<Option<&'a ToolBinding>>,
    /// Beside the conditions of completion.
    pub completions: Vec<Option<&'a ToolBinding>>,
}

impl<'a> Choices<'a> {
    /// Those of an agent. Declarations of one target repeat its tools in their order.
    #[must_use]
    pub fn of(agent: &'a Agent) -> Self {
        let mut left: Vec<&ToolBinding> =
            agent.reasoning.iter().flat_map(|zone| &zone.bindings).collect();
        let mut take = |repeats: bool, fits: &dyn Fn(&BindingAction) -> bool| {
            let at = left.iter().position(|binding| fits(&binding.action)).filter(|_| repeats)?;
            Some(left.remove(at))
        };
        let c = &agent.coordination;
        let hands_over = |name: &Name, action: &BindingAction| matches!(action, BindingAction::Handoff { to } if to.value == *name);
        let asks = |name: &Name, action: &BindingAction| matches!(action, BindingAction::Delegate { agent } if agent.value == *name);
        let triggers = c.escalation.iter().flat_map(|e| &e.triggers);
        Self {
            handoffs: c
                .handoffs
                .iter()
                .map(|h| take(h.repeats_binding, &|action| hands_over(&h.to.value, action)))
                .collect(),
            delegates: c
                .delegates
                .iter()
                .map(|d| take(d.repeats_binding, &|action| asks(&d.agent.value, action)))
                .collect(),
            triggers: triggers
                .map(|t| {
                    take(t.repeats_binding, &|action| matches!(action, BindingAction::Escalate))
                })
                .collect(),
            completions: agent
                .completion
                .conditions
                .iter()
                .map(|c| {
                    take(c.repeats_binding, &|action| matches!(action, BindingAction::Complete))
                })
                .collect(),
        }
    }
}
