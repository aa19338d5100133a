//! Lists of statements: where they are, and the ways out of them.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{Agent, Body, Branch, Digression, Jump, Profile, ReasoningZone, Statement, Step};

/// A way out of a list of statements.
#[derive(Debug, Clone, Copy)]
pub enum Exit<'a> {
    /// A jump.
    Jump(&'a Jump),
    /// Another agent takes over.
    Handoff(&'a Spanned<Name>),
    /// Another agent is asked; control comes back, but the agent is reached.
    Delegate(&'a Spanned<Name>),
    /// A person takes over.
    Escalate(Span),
}

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
pub fn profile_bodies<'a>(profile: &'a Profile, found: &mut dyn FnMut(&'a Body)) {
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

/// Calls `found` with every list of branches among the statements, inner ones included.
pub fn branch_lists<'a>(body: &'a Body, found: &mut dyn FnMut(&'a [Branch])) {
    for statement in &body.0 {
        match statement {
            Statement::Await { branches } | Statement::If { branches } => {
                inner_lists(branches, found)
            }
            Statement::Call(call) => {
                inner_lists(&call.on_result, found);
                branch_lists(&call.on_success, found);
                branch_lists(&call.on_failure, found);
            }
            Statement::Collect(collect) => {
                branch_lists(&collect.on_success, found);
                branch_lists(&collect.on_failure, found);
            }
            _ => {}
        }
    }
}

fn inner_lists<'a>(branches: &'a [Branch], found: &mut dyn FnMut(&'a [Branch])) {
    found(branches);
    branches.iter().for_each(|b| branch_lists(&b.body, found));
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
        Statement::Log { .. } => return None,
    })
}

/// Calls `found` with every way out, dead ones included.
pub fn exits<'a>(body: &'a Body, found: &mut dyn FnMut(Exit<'a>)) {
    for statement in &body.0 {
        match statement {
            Statement::Goto(jump) | Statement::Repeat { jump, .. } => found(Exit::Jump(jump)),
            Statement::Check { otherwise: Some(jump), .. } => found(Exit::Jump(jump)),
            Statement::Await { branches } | Statement::If { branches } => all(branches, found),
            Statement::Call(call) => {
                exits(&call.on_success, found);
                exits(&call.on_failure, found);
                all(&call.on_result, found);
            }
            Statement::Collect(collect) => {
                exits(&collect.on_success, found);
                exits(&collect.on_failure, found);
            }
            Statement::Delegate(d) => found(Exit::Delegate(&d.agent)),
            Statement::Handoff(d) => found(Exit::Handoff(&d.agent)),
            Statement::Escalate { span, .. } => found(Exit::Escalate(*span)),
            _ => {}
        }
    }
}

fn all<'a>(branches: &'a [Branch], found: &mut dyn FnMut(Exit<'a>)) {
    for branch in branches {
        exits(&branch.body, found);
    }
}

/// Whether control can reach the end of the statements.
#[must_use]
pub fn falls_through(body: &Body) -> bool {
    body.0.iter().all(passes)
}

/// Whether control can go on behind a statement.
fn passes(statement: &Statement) -> bool {
    match statement {
        Statement::Goto(jump) => !jump.target.leaves(),
        Statement::Handoff(d) => d.returns == Some(true),
        Statement::Escalate { .. } => false,
        // The lowering writes what follows success or failure of nothing this way.
        Statement::If { branches }
            if matches!(branches.as_slice(), [Branch { condition: None, .. }]) =>
        {
            true
        }
        // With an `ELSE` one branch is always taken; without it perhaps none.
        Statement::If { branches } | Statement::Await { branches } => some_pass(branches),
        Statement::Call(call) => {
            let decided = !call.on_result.is_empty() && !some_pass(&call.on_result);
            let success = call.on_success.is_empty() || falls_through(&call.on_success);
            let failure = call.on_failure.is_empty() || falls_through(&call.on_failure);
            !decided && (success || failure)
        }
        Statement::Collect(collect) => {
            collect.on_success.is_empty()
                || falls_through(&collect.on_success)
                || (!collect.on_failure.is_empty() && falls_through(&collect.on_failure))
        }
        _ => true,
    }
}

fn some_pass(branches: &[Branch]) -> bool {
    branches.iter().all(|b| b.condition.is_some())
        || branches.iter().any(|b| falls_through(&b.body))
}

/// `HANDOFF: agent` and then `THEN: step`: the step is for when the conversation comes back.
const fn comes_back(before: &Statement, after: &Statement) -> bool {
    matches!(before, Statement::Handoff(_) | Statement::Escalate { .. })
        && matches!(after, Statement::Goto(_))
}

/// The statements behind one that always leaves: the first dead one of each list, with the one that
/// leaves.
pub fn dead_statements<'a>(body: &'a Body, found: &mut dyn FnMut(&'a Statement, &'a Statement)) {
    for pair in body.0.windows(2) {
        if let [before, after] = pair
            && !passes(before)
            && !comes_back(before, after)
        {
            found(before, after);
            break;
        }
    }
    for statement in &body.0 {
        match statement {
            Statement::Await { branches } | Statement::If { branches } => {
                branches.iter().for_each(|b| dead_statements(&b.body, found));
            }
            Statement::Call(call) => {
                dead_statements(&call.on_success, found);
                dead_statements(&call.on_failure, found);
                call.on_result.iter().for_each(|b| dead_statements(&b.body, found));
            }
            Statement::Collect(collect) => {
                dead_statements(&collect.on_success, found);
                dead_statements(&collect.on_failure, found);
            }
            _ => {}
        }
    }
}
