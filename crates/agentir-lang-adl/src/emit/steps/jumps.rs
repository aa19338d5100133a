//! Where the statements of a step go on.

use agentir_ir::{Body, Jump, Statement, Target};

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
pub(super) fn retries(body: &Body) -> bool {
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
