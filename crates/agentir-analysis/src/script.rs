//! References of Agent Script by namespace, and the meaning of `@outputs`
//! (specification part I, 3.2 and 5.9).

use crate::symbols::AgentSymbols;
use agentir_diagnostics::Spanned;
use agentir_expr::{Condition, Expr, ExprKind, Name, Path, Template, Visit};
use agentir_ir::{Agent, BindingAction, Body, Branch, Statement};

/// Calls `found` with every `@namespace.name` that the agent reads.
pub fn references<'a>(
    cx: &AgentSymbols<'_, 'a>,
    found: &mut dyn FnMut(&'a Name, &'a Spanned<Name>, &'a Path),
) {
    cx.index.paths(&mut |path, _| {
        if let Some(namespace) = &path.namespace {
            found(&namespace.value, &path.root, path);
        }
    });
}

/// Calls `found` with every reference to a variable, and whether it is a write.
pub fn variables<'a>(cx: &AgentSymbols<'_, 'a>, found: &mut dyn FnMut(&'a Spanned<Name>, bool)) {
    references(cx, &mut |namespace, name, _| {
        if namespace == "variables" {
            found(name, false);
        }
    });
    written(cx, &mut |name| found(name, true));
}

/// Calls `found` with every variable that the agent writes.
pub fn written<'a>(cx: &AgentSymbols<'_, 'a>, found: &mut dyn FnMut(&'a Spanned<Name>)) {
    for set in &cx.index.sets {
        // The target of `set` may omit the namespace.
        if set.target.namespace.as_ref().is_none_or(|n| n.value == "variables") {
            found(&set.target.root);
        }
    }
    for field in &cx.index.fields {
        found(&field.name);
    }
    for offer in cx.index.offers.iter().filter(|o| matches!(o.action, BindingAction::Collect)) {
        offer.with.iter().filter(|w| w.value.is_some()).for_each(|w| found(&w.name));
    }
}

/// The actions that `@outputs` refers to at some point.
#[derive(Clone, Copy)]
pub enum Outputs<'s, 'a> {
    /// None: no action has run.
    Nothing,
    /// An action without known outputs.
    Unknown,
    /// An action, and what `@outputs` refers to outside of its callback.
    Of(&'a Spanned<Name>, &'s Outputs<'s, 'a>),
}

/// Calls `found` with every path that begins with `@outputs`, and what `@outputs` refers to there.
pub fn outputs<'a>(agent: &'a Agent, found: &mut dyn FnMut(&'a Path, &Outputs<'_, 'a>)) {
    let none = Outputs::Nothing;
    let identity = &agent.identity;
    for instruction in &identity.instructions {
        of_condition(instruction.when.as_ref(), &none, found);
        of_template(&instruction.text, &none, found);
    }
    agent.hooks.iter().for_each(|(_, hook)| of_body(&hook.body, &none, found));
    of_body(&agent.on_start, &none, found);
    let Some(zone) = &agent.reasoning else { return };
    of_body(&zone.prepare, &none, found);
    for binding in &zone.bindings {
        of_condition(binding.available_when.as_ref(), &none, found);
        binding.with.iter().filter_map(|w| w.value.as_ref()).for_each(|e| of(e, &none, found));
        let inside = match &binding.action {
            BindingAction::Call { tool } => Outputs::Of(tool, &none),
            BindingAction::Delegate { .. }
            | BindingAction::Collect
            | BindingAction::Other { .. } => Outputs::Unknown,
            _ => Outputs::Nothing,
        };
        of_body(&binding.after, &inside, found);
    }
}

type Found<'f, 'a> = &'f mut dyn FnMut(&'a Path, &Outputs<'_, 'a>);

fn of<'a>(expr: &'a Expr, here: &Outputs<'_, 'a>, found: Found<'_, 'a>) {
    expr.visit(&mut |e| {
        if let ExprKind::Path(path) = &e.kind
            && path.namespace.as_ref().is_some_and(|n| n.value == "outputs")
        {
            found(path, here);
        }
        Visit::Children
    });
}

fn of_condition<'a>(
    condition: Option<&'a Condition>,
    here: &Outputs<'_, 'a>,
    found: Found<'_, 'a>,
) {
    if let Some(expr) = condition.and_then(Condition::expr) {
        of(expr, here, found);
    }
}

fn of_template<'a>(template: &'a Template, here: &Outputs<'_, 'a>, found: Found<'_, 'a>) {
    template.exprs(&mut |e| of(e, here, found));
}

fn of_branches<'a>(branches: &'a [Branch], here: &Outputs<'_, 'a>, found: Found<'_, 'a>) {
    for branch in branches {
        of_condition(branch.condition.as_ref(), here, found);
        of_body(&branch.body, here, found);
    }
}

fn of_body<'a>(body: &'a Body, here: &Outputs<'_, 'a>, found: Found<'_, 'a>) {
    for statement in &body.0 {
        match statement {
            Statement::Set(set) => of(&set.value, here, found),
            Statement::Instruct { text } => of_template(text, here, found),
            Statement::If { branches } => of_branches(branches, here, found),
            Statement::Call(call) => {
                // Inputs are bound before the action runs.
                call.with.iter().for_each(|a| of(&a.value, here, found));
                of_body(&call.on_success, &Outputs::Of(&call.tool, here), found);
            }
            _ => {}
        }
    }
}

/// Returns the name of the output that a path reads: `x` in `@outputs.x`.
#[must_use]
pub fn output(path: &Path) -> &Spanned<Name> {
    &path.root
}
