//! Constructs that repeat what others say: they get the locations of what they repeat, so that a mistake in both is one
//! finding.

use agentir_diagnostics::{Diagnostic, Span};
use agentir_expr::Condition;
use agentir_ir::{Agent, BindingAction, Routing, ToolBinding};
use agentir_syntax::rules;

/// Gives declarations that repeat bindings the locations of these, and targets of a routing rule that of the first one.
/// The tool that is repeated may be one that could not be read: a missing one is reported only if all were.
pub(crate) fn locate(agent: &mut Agent, all_read: bool, problems: &mut Vec<Diagnostic>) {
    agent.routing.iter_mut().for_each(one_rule);
    let bindings: Vec<ToolBinding> =
        agent.reasoning.iter().flat_map(|zone| &zone.bindings).cloned().collect();
    let mut unused: Vec<&ToolBinding> = bindings.iter().collect();
    let mut repeated =
        |does: &str, flag: &mut bool, span: &mut Span, is: &dyn Fn(&BindingAction) -> bool| {
            if !*flag {
                return None;
            }
            let Some(at) = unused.iter().position(|binding| is(&binding.action)) else {
                *flag = false;
                let message = format!("no tool of the model under `reasoning.bindings` {does}");
                let problem = Diagnostic::warning(rules::CONFLICTING_FIELDS, *span, message)
                    .note("`repeats_binding` says so; it is read as if it were false");
                problems.extend(all_read.then_some(problem));
                return None;
            };
            let binding = unused.remove(at);
            *span = binding.span;
            Some(binding)
        };
    for handoff in &mut agent.coordination.handoffs {
        let target = handoff.to.value.clone();
        let is = |action: &BindingAction| matches!(action, BindingAction::Handoff { to } if to.value == target);
        let does = format!("hands over to `{target}`");
        let span = &mut handoff.span;
        if let Some(binding) = repeated(&does, &mut handoff.repeats_binding, span, &is) {
            if let BindingAction::Handoff { to } = &binding.action {
                handoff.to = to.clone();
            }
            same_condition(&mut handoff.when, binding);
        }
    }
    for delegate in &mut agent.coordination.delegates {
        let target = delegate.agent.value.clone();
        let is = |action: &BindingAction| matches!(action, BindingAction::Delegate { agent } if agent.value == target);
        let does = format!("delegates to `{target}`");
        let span = &mut delegate.span;
        if let Some(binding) = repeated(&does, &mut delegate.repeats_binding, span, &is) {
            if let BindingAction::Delegate { agent } = &binding.action {
                delegate.agent = agent.clone();
            }
            same_condition(&mut delegate.when, binding);
            for (name, value) in &mut delegate.input {
                let given = binding.with.iter().find(|given| given.name == *name);
                if let Some(given) = given.filter(|given| given.value.as_ref() == Some(&*value)) {
                    *name = given.name.clone();
                    given.value.iter().for_each(|given| value.clone_from(given));
                }
            }
        }
    }
    for trigger in agent.coordination.escalation.iter_mut().flat_map(|e| &mut e.triggers) {
        let is = |action: &BindingAction| matches!(action, BindingAction::Escalate);
        let span = &mut trigger.span;
        if let Some(binding) = repeated("escalates", &mut trigger.repeats_binding, span, &is) {
            same_condition(&mut trigger.when, binding);
        }
    }
    for done in &mut agent.completion.conditions {
        let is = |action: &BindingAction| matches!(action, BindingAction::Complete);
        let span = &mut done.span;
        let does = "ends the conversation";
        if let Some(binding) = repeated(does, &mut done.repeats_binding, span, &is) {
            same_condition(&mut done.when, binding);
        }
    }
}

/// Replaces a condition by the equal one of a binding.
fn same_condition(when: &mut Option<Condition>, binding: &ToolBinding) {
    let words = || binding.description.as_ref().map(Condition::words);
    let own = binding.available_when.clone().or_else(words);
    if own == *when {
        *when = own;
    }
}

/// The targets of one rule are at one place, and share its condition.
fn one_rule(routing: &mut Routing) {
    let mut first: Option<(Span, Option<Condition>)> = None;
    for rule in &mut routing.rules {
        match &first {
            Some((span, when)) if rule.continues => {
                rule.span = *span;
                if rule.when == *when {
                    rule.when.clone_from(when);
                }
            }
            _ => {
                rule.continues = false;
                first = Some((rule.span, rule.when.clone()));
            }
        }
    }
}
