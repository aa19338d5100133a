//! Replaces calls of functions that versions before the current one had.
//!
//! What the current version can compute otherwise it does. Of the rest, a value is not set or stored, and a condition is
//! decided so that it opens nothing: a constraint does not hold, and a branch, handoff or end is not taken.

use super::expr::{of_expr, replace_text};
use agentir_diagnostics::Spanned;
use agentir_expr::{
    Condition, Expr, ExprKind, Literal, Name, Template, TemplatePart, Version, Visit,
};
use agentir_ir::{
    ActionHandler, Activation, Agent, Body, Branch, Constraint, ConstraintKind, Digression,
    ErrorHandler, Gather, ReasoningZone, SetVariable, Statement, Step,
};

/// Whether an expression calls a function that was removed.
fn calls_removed(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |e| {
        if let ExprKind::Call { function, .. } = &e.kind {
            let known = agentir_expr::function(&function.value);
            found |= known.and_then(|f| f.removed).is_some_and(|in_| in_ <= Version::Current);
        }
        if found { Visit::Skip } else { Visit::Children }
    });
    found
}

/// The same value without removed functions, if there is one: the mean of values that are listed is their sum divided by
/// their number. How many items a variable has is not known.
fn computed(e: &Expr) -> Option<Expr> {
    let ExprKind::Call { function, args } = &e.kind else { return None };
    let values: &[Expr] = match args.as_slice() {
        [Expr { kind: ExprKind::List(items), .. }] => items,
        [_] => return None,
        args => args,
    };
    let spreads = |e: &Expr| matches!(e.kind, ExprKind::Spread(_));
    if function.value != "AVG" || values.iter().any(|e| spreads(e) || calls_removed(e)) {
        return None;
    }
    let call = |name, args| {
        let function = Spanned::new(Name::new_static(name), function.span);
        Expr::new(ExprKind::Call { function, args }, e.span).ok()
    };
    let (first, rest) = values.split_first()?;
    let sum = rest.iter().try_fold(first.clone(), |sum, next| call("ADD", vec![sum, next.clone()]));
    let count = Expr::literal(Literal::Number(values.len() as f64), e.span);
    call("DIV", vec![sum?, count])
}

/// Replaces an expression; whether the current version has it now.
fn replaced(e: &mut Expr) -> bool {
    if !calls_removed(e) {
        return true;
    }
    if let Some(other) = computed(e) {
        *e = other;
        return true;
    }
    let mut all = true;
    match e.clone().with_children(&mut |child| all &= replaced(child)) {
        Ok(made) if all && !calls_removed(&made) => {
            *e = made;
            true
        }
        _ => false,
    }
}

/// Replaces a condition, by a constant if the current version has none that is the same.
fn condition(condition: &mut Condition, otherwise: bool) {
    let Some(e) = condition.expr().filter(|e| calls_removed(e)) else { return };
    let mut e = e.clone();
    if !replaced(&mut e) {
        e = Expr::literal(Literal::Bool(otherwise), e.span);
    }
    *condition = of_expr(e);
}

fn conditions<'c>(all: impl IntoIterator<Item = &'c mut Condition>, otherwise: bool) {
    all.into_iter().for_each(|one| condition(one, otherwise));
}

fn sets(all: &mut Vec<SetVariable>) {
    all.retain_mut(|set| replaced(&mut set.value));
}

/// A text without the placeholders that the current version cannot fill in.
fn text(template: &mut Template) {
    let called = |part: &TemplatePart| match part {
        TemplatePart::Value { expr, .. } | TemplatePart::SingleBrace { expr, .. } => {
            calls_removed(expr).then(|| expr.clone())
        }
        _ => None,
    };
    if template.parts.iter().all(|part| called(part).is_none()) {
        return;
    }
    let text = template.rewritten(|part, _| {
        let mut expr = called(part)?;
        Some(if replaced(&mut expr) { format!("{{{{{expr}}}}}") } else { String::new() })
    });
    replace_text(template, &text);
}

fn constraint(one: &mut Constraint) {
    // What must not hold is taken to hold.
    condition(&mut one.condition, one.kind == Some(ConstraintKind::Restrict));
    // Where it is not known whether it applies, it does.
    conditions(&mut one.applies_when, true);
    one.on_fail.iter_mut().filter_map(|fail| fail.message.as_mut()).for_each(text);
}

/// Replaces the calls in an agent.
pub(super) fn functions(agent: &mut Agent) {
    let memory = &mut agent.memory;
    memory.remember.retain_mut(|rule| {
        conditions(&mut rule.when, false);
        let value = rule.store.as_mut().and_then(|store| store.value.as_mut());
        value.is_none_or(replaced)
    });
    gather(&mut agent.gather);
    agent.constraints.constraints.iter_mut().for_each(constraint);
    let c = &mut agent.coordination;
    for handoff in &mut c.handoffs {
        conditions(&mut handoff.when, false);
        sets(&mut handoff.context.set);
    }
    c.delegates.iter_mut().for_each(|delegate| conditions(&mut delegate.when, false));
    for trigger in c.escalation.iter_mut().flat_map(|e| &mut e.triggers) {
        // A person looks at it.
        conditions(&mut trigger.when, true);
        sets(&mut trigger.set);
    }
    for done in &mut agent.completion.conditions {
        conditions(&mut done.when, false);
        done.respond.iter_mut().for_each(text);
        sets(&mut done.set);
    }
    for rule in agent.routing.iter_mut().flat_map(|routing| &mut routing.rules) {
        conditions(&mut rule.when, false);
    }
    for tool in &mut agent.tools {
        sets(&mut tool.on_result);
        sets(&mut tool.on_error);
    }
    for part in &mut agent.identity.instructions {
        conditions(&mut part.when, false);
        text(&mut part.text);
    }
    let errors = &mut agent.error_handling;
    errors.handlers.iter_mut().chain(errors.default_handler.as_deref_mut()).for_each(handler);
    body(&mut agent.on_start);
    agent.hooks.bodies_mut().for_each(body);
    agent.templates.values_mut().filter_map(|t| t.default.as_mut()).for_each(text);
    agent.messages.values_mut().filter_map(|m| m.text.as_mut()).for_each(text);
    agent.action_handlers.iter_mut().for_each(action_handler);
    agent.reasoning.iter_mut().for_each(zone);
    if let Some(flow) = &mut agent.flow {
        flow.definitions.values_mut().for_each(step);
        flow.global_digressions.iter_mut().for_each(digression);
    }
    agent.behavior_profiles.iter_mut().for_each(|profile| {
        conditions(&mut profile.when, false);
        profile.constraints.iter_mut().for_each(constraint);
    });
}

fn gather(all: &mut Gather) {
    for field in &mut all.fields {
        if let Some(Activation::When { when }) = &mut field.activation {
            // It is asked for.
            condition(when, true);
        }
        field.prompt.iter_mut().for_each(text);
    }
}

fn handler(handler: &mut ErrorHandler) {
    handler.respond.iter_mut().for_each(text);
    body(&mut handler.body);
}

fn action_handler(handler: &mut ActionHandler) {
    conditions(&mut handler.condition, false);
    body(&mut handler.body);
}

fn digression(digression: &mut Digression) {
    conditions(&mut digression.condition, false);
    body(&mut digression.body);
}

fn zone(zone: &mut ReasoningZone) {
    body(&mut zone.prepare);
    conditions(&mut zone.exit_when, false);
    zone.constraints.iter_mut().for_each(constraint);
}

fn step(step: &mut Step) {
    conditions(&mut step.when, false);
    step.reasoning_zone.iter_mut().for_each(zone);
    body(&mut step.body);
    step.digressions.iter_mut().chain(&mut step.sub_intents).for_each(digression);
    step.on_action.iter_mut().for_each(action_handler);
    step.on_error.iter_mut().for_each(handler);
}

fn branches(all: &mut [Branch]) {
    for branch in all {
        conditions(&mut branch.condition, false);
        body(&mut branch.body);
    }
}

fn body(all: &mut Body) {
    all.0.retain_mut(|one| match one {
        Statement::Set(set) => replaced(&mut set.value),
        // Without a filter or a limit there would be more items.
        Statement::Transform(transform) => {
            let values = transform.map.iter_mut().map(|(_, value)| value);
            let parts = values.chain(&mut transform.filter).chain(&mut transform.limit);
            parts.fold(replaced(&mut transform.source), |all, e| replaced(e) && all)
        }
        _ => true,
    });
    all.0.iter_mut().for_each(statement);
}

fn statement(one: &mut Statement) {
    match one {
        Statement::Respond(response) => response.text.iter_mut().for_each(text),
        Statement::Instruct { text: words } => text(words),
        Statement::Collect(collect) => {
            collect.present.iter_mut().for_each(text);
            gather(&mut collect.gather);
            conditions(&mut collect.complete_when, false);
            body(&mut collect.on_success);
            body(&mut collect.on_failure);
        }
        Statement::Call(call) => {
            for argument in &mut call.with {
                unset(&mut argument.value);
            }
            conditions(&mut call.success_when, false);
            body(&mut call.on_success);
            body(&mut call.on_failure);
            branches(&mut call.on_result);
        }
        Statement::Check { condition: must, .. } => condition(must, false),
        Statement::Await { branches: all } | Statement::If { branches: all } => branches(all),
        Statement::Delegate(delegation) | Statement::Handoff(delegation) => {
            delegation.bindings.iter_mut().for_each(|binding| unset(&mut binding.value));
        }
        _ => {}
    }
}

/// A value that must be there is nothing.
fn unset(value: &mut Expr) {
    if !replaced(value) {
        *value = Expr::literal(Literal::Null, value.span);
    }
}
