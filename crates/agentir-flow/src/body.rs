//! Lists of statements: where they are.

use agentir_diagnostics::Span;
use agentir_ir::{Agent, Body, Digression, Profile, ReasoningZone, Statement, Step};

/// Calls `found` with every list of statements of an agent, those inside others left out.
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

/// Calls `found` with every list of statements of a profile.
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

/// What was kept as it was written among the statements, inner ones included.
#[must_use]
pub fn others(body: &Body) -> Vec<&agentir_ir::Data> {
    let mut all = Vec::new();
    collect_others(body, &mut all);
    all
}

fn collect_others<'a>(body: &'a Body, all: &mut Vec<&'a agentir_ir::Data>) {
    for statement in &body.0 {
        match statement {
            Statement::Other { value, .. } => all.push(value),
            Statement::Await { branches } | Statement::If { branches } => {
                branches.iter().for_each(|b| collect_others(&b.body, all));
            }
            Statement::Call(call) => {
                collect_others(&call.on_success, all);
                collect_others(&call.on_failure, all);
                call.on_result.iter().for_each(|b| collect_others(&b.body, all));
            }
            Statement::Collect(collect) => {
                collect_others(&collect.on_success, all);
                collect_others(&collect.on_failure, all);
            }
            _ => {}
        }
    }
}

/// Where a statement is written, as far as the model knows.
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
