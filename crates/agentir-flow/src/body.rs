//! Traversal of statement lists.

use agentir_diagnostics::Span;
use agentir_ir::{Agent, Body, Digression, Profile, ReasoningZone, Statement, Step};

/// Calls `found` with every top-level statement list of an agent. Nested lists are not visited.
pub fn bodies<'a>(agent: &'a Agent, found: &mut dyn FnMut(&'a Body)) {
    found(&agent.on_start);
    agent.reasoning.iter().for_each(|zone| of_zone(zone, found));
    agent.hooks.iter().for_each(|(_, hook)| found(&hook.body));
    let errors = &agent.error_handling;
    errors.handlers.iter().chain(errors.default_handler.as_deref()).for_each(|h| found(&h.body));
    agent.action_handlers.iter().for_each(|h| found(&h.body));
    if let Some(flow) = &agent.flow {
        flow.definitions.values().chain(&flow.shadowed).for_each(|step| of_step(step, found));
        of_digressions(&flow.global_digressions, found);
    }
    agent.behavior_profiles.iter().for_each(|profile| profile_bodies(profile, found));
}

/// Calls `found` with every statement list of a profile.
fn profile_bodies<'a>(profile: &'a Profile, found: &mut dyn FnMut(&'a Body)) {
    if let Some(changes) = &profile.flow_modifications {
        let inserted = changes.insertions.iter().map(|i| &i.step);
        changes.overrides.values().chain(inserted).for_each(|step| of_step(step, found));
    }
}

fn of_zone<'a>(zone: &'a ReasoningZone, found: &mut dyn FnMut(&'a Body)) {
    found(&zone.prepare);
    zone.bindings.iter().for_each(|b| found(&b.after));
}

fn of_step<'a>(step: &'a Step, found: &mut dyn FnMut(&'a Body)) {
    found(&step.body);
    step.reasoning_zone.iter().for_each(|zone| of_zone(zone, found));
    of_digressions(&step.digressions, found);
    of_digressions(&step.sub_intents, found);
    step.on_action.iter().for_each(|h| found(&h.body));
    step.on_error.iter().for_each(|h| found(&h.body));
}

fn of_digressions<'a>(digressions: &'a [Digression], found: &mut dyn FnMut(&'a Body)) {
    digressions.iter().for_each(|d| found(&d.body));
}

/// Returns the statements without an IR form, nested ones included.
#[must_use]
pub fn other_statements(body: &Body) -> Vec<&agentir_ir::Data> {
    let mut all = Vec::new();
    collect_other_statements(body, &mut all);
    all
}

fn collect_other_statements<'a>(body: &'a Body, all: &mut Vec<&'a agentir_ir::Data>) {
    for statement in &body.0 {
        match statement {
            Statement::Other { value, .. } => all.push(value),
            Statement::Await { branches } | Statement::If { branches } => {
                branches.iter().for_each(|b| collect_other_statements(&b.body, all));
            }
            Statement::Call(call) => {
                collect_other_statements(&call.on_success, all);
                collect_other_statements(&call.on_failure, all);
                call.on_result.iter().for_each(|b| collect_other_statements(&b.body, all));
            }
            Statement::Collect(collect) => {
                collect_other_statements(&collect.on_success, all);
                collect_other_statements(&collect.on_failure, all);
            }
            _ => {}
        }
    }
}

/// Returns the span of a statement, if the IR has one.
#[must_use]
pub fn statement_span(statement: &Statement) -> Option<Span> {
    Some(match statement {
        Statement::Set(set) => set.span,
        Statement::Clear { variables } => variables.first()?.span.to(variables.last()?.span),
        Statement::Transform(transform) => transform.span,
        Statement::Respond(response) => {
            let named = response.template.as_ref().or(response.message_key.as_ref());
            response.text.as_ref().map(|t| t.text.span).or_else(|| named.map(|n| n.span))?
        }
        Statement::Instruct { text } => text.text.span,
        Statement::Collect(collect) => collect.span,
        Statement::Call(call) => call.span,
        Statement::Check { condition, .. } => condition.span(),
        Statement::Await { branches } | Statement::If { branches } => branches.first()?.span,
        Statement::Delegate(d) | Statement::Handoff(d) => d.agent.span,
        Statement::Escalate { span, .. } | Statement::Other { span, .. } => *span,
        Statement::Goto(jump) | Statement::Repeat { jump, .. } => jump.span,
        Statement::Log { value } => value.span,
    })
}
