//! Where the statements of a step go on.

use agentir_ir::{Body, Data, Flow, Jump, Statement, Step, Target};
use indexmap::IndexSet;

/// Whether a jump is written somewhere: steps go on and end of themselves, too.
pub(super) const fn is_placed(jump: &Jump) -> bool {
    jump.span.start != jump.span.end
}

/// Whether a jump is the end that steps have of themselves (paper B.4).
pub(super) fn is_implied(jump: &Jump) -> bool {
    jump.target == Target::Complete && jump.reason.is_none() && !is_placed(jump)
}

/// The steps that statements jump to, at any depth.
pub(super) fn jumps(body: &Body) -> Vec<&str> {
    let mut found = Vec::new();
    each_jump(&body.0, &mut |jump| found.extend(jump.target.step().map(|s| s.value.as_str())));
    found
}

/// Whether statements repeat their step, or what they ask for.
fn retries(body: &Body) -> bool {
    let mut found = false;
    each_jump(&body.0, &mut |jump| {
        found |= matches!(jump.target, Target::Retry | Target::RetryStep);
    });
    found
}

fn each_jump<'b>(all: &'b [Statement], found: &mut dyn FnMut(&'b Jump)) {
    for statement in all {
        match statement {
            Statement::Goto(jump) | Statement::Repeat { jump, .. } => found(jump),
            Statement::Check { otherwise: Some(jump), .. } => found(jump),
            Statement::If { branches } | Statement::Await { branches } => {
                branches.iter().for_each(|b| each_jump(&b.body.0, found));
            }
            Statement::Call(call) => {
                each_jump(&call.on_success.0, found);
                each_jump(&call.on_failure.0, found);
                call.on_result.iter().for_each(|b| each_jump(&b.body.0, found));
            }
            Statement::Collect(collect) => {
                each_jump(&collect.on_success.0, found);
                each_jump(&collect.on_failure.0, found);
            }
            _ => {}
        }
    }
}

/// The steps of a flow in the order in which they are written: its entry first.
pub(super) fn order(flow: &Flow) -> IndexSet<&str> {
    let declared = flow.steps.iter().map(|s| s.value.as_str());
    flow.entry()
        .into_iter()
        .chain(declared)
        .chain(flow.definitions.keys().map(|k| k.as_str()))
        .filter(|name| flow.definitions.contains_key(*name))
        .collect()
}

/// Whether a flow begins with a step and nothing leads back to it, so that its name is not written.
pub(in crate::emit) fn is_nameless(flow: &Flow, step: &str) -> bool {
    order(flow).first() == Some(&step) && !has_label(flow, step) && !is_led_back_to(flow, step)
}

/// Whether a statement is the label of a step.
pub(super) fn has_label(flow: &Flow, step: &str) -> bool {
    let is_label = |statement: &Statement| matches!(statement, Statement::Other { keyword, value: Data::String(name), .. } if keyword == "label" && name == step);
    flow.definitions.values().any(|one| one.body.0.iter().any(is_label))
}

/// Whether a step is gone to again.
pub(super) fn is_led_back_to(flow: &Flow, step: &str) -> bool {
    let again = |one: &Step| one.max_attempts.is_some() || retries(&one.body);
    flow.definitions.values().any(|one| jumps(&one.body).contains(&step))
        || flow.definitions.get(step).is_some_and(again)
}
