//! What tools of the model stand for.

use super::required_field;
use agentir_expr::Condition;
use agentir_ir::{
    Agent, BindingAction, CompletionCondition, Decider, Delegate, Extensions, FilledBy,
    GatherField, Handoff, Remote, ToolBinding, Trigger,
};

/// Declares what an agent can do because the model may select a tool: whoever reads declarations alone finds all ways
/// out of the agent, and all values that it collects. `remote` is the target, if it runs elsewhere.
pub fn declare_effect(agent: &mut Agent, binding: &ToolBinding, remote: Option<&Remote>) {
    // Without a guard the model decides by the description.
    let words = || binding.description.as_ref().map(Condition::words);
    let when = binding.available_when.clone().or_else(words);
    let span = binding.span;
    match &binding.action {
        BindingAction::Handoff { to } => agent.coordination.handoffs.push(Handoff {
            decided_by: Decider::Model,
            remote: remote.cloned(),
            repeats_binding: true,
            span,
            ..Handoff::new(to.clone(), when)
        }),
        BindingAction::Delegate { agent: to } => agent.coordination.delegates.push(Delegate {
            when,
            decided_by: Decider::Model,
            input: binding
                .with
                .iter()
                .filter_map(|w| Some((w.name.clone(), w.value.clone()?)))
                .collect(),
            remote: remote.cloned(),
            repeats_binding: true,
            span,
            ..Delegate::new(to.clone())
        }),
        BindingAction::Escalate => {
            let escalation = agent.coordination.escalation.get_or_insert_default();
            escalation.triggers.push(Trigger {
                when,
                decided_by: Decider::Model,
                reason: None,
                priority: None,
                tags: Vec::new(),
                context: Vec::new(),
                respond: None,
                set: Vec::new(),
                repeats_binding: true,
                extensions: Extensions::default(),
                span,
            });
        }
        BindingAction::Collect => {
            let left = binding.with.iter().filter(|w| w.filled_by == FilledBy::Model);
            agent.gather.fields.extend(
                left.map(|w| GatherField { required: false, ..required_field(w.name.clone()) }),
            );
        }
        BindingAction::Complete => agent.completion.conditions.push(CompletionCondition {
            terminal: Some(true),
            repeats_binding: true,
            ..CompletionCondition::new(when, span)
        }),
        BindingAction::Call { .. } | BindingAction::Other { .. } => {}
    }
}

/// Declares what the tools of the model stand for as far as no declaration repeats them, or has the collected value.
pub fn declare_missing_effects<'r>(
    agent: &mut Agent,
    remote: impl Fn(&agentir_expr::Name) -> Option<&'r Remote>,
) {
    let Some(zone) = &agent.reasoning else { return };
    let bindings = zone.bindings.clone();
    let c = &agent.coordination;
    let handoffs = c.handoffs.iter().filter(|h| h.repeats_binding).map(|h| &h.to.value);
    let delegates = c.delegates.iter().filter(|d| d.repeats_binding).map(|d| &d.agent.value);
    let triggers = c.escalation.iter().flat_map(|e| &e.triggers);
    let mut handoffs: Vec<_> = handoffs.cloned().collect();
    let mut delegates: Vec<_> = delegates.cloned().collect();
    let mut escalations = triggers.filter(|t| t.repeats_binding).count();
    let mut ends = agent.completion.conditions.iter().filter(|c| c.repeats_binding).count();
    let take = |list: &mut Vec<agentir_expr::Name>, name: &agentir_expr::Name| {
        let at = list.iter().position(|known| known == name);
        at.map(|at| list.swap_remove(at)).is_some()
    };
    let counted = |left: &mut usize| {
        let known = *left > 0;
        *left = left.saturating_sub(1);
        known
    };
    for mut binding in bindings {
        let mut elsewhere = None;
        let known = match &binding.action {
            BindingAction::Handoff { to } => {
                elsewhere = remote(&to.value);
                take(&mut handoffs, &to.value)
            }
            BindingAction::Delegate { agent: to } => {
                elsewhere = remote(&to.value);
                take(&mut delegates, &to.value)
            }
            BindingAction::Escalate => counted(&mut escalations),
            BindingAction::Complete => counted(&mut ends),
            BindingAction::Collect => {
                let fields = &agent.gather.fields;
                let known = |w: &agentir_ir::InputBinding| {
                    fields.iter().any(|f| f.name.value == w.name.value)
                };
                binding.with.retain(|w| !known(w));
                binding.with.is_empty()
            }
            BindingAction::Call { .. } | BindingAction::Other { .. } => true,
        };
        if !known {
            declare_effect(agent, &binding, elsewhere);
        }
    }
}
