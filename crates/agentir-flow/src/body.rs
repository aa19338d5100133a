//! Ways out of a list of statements.

use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_ir::{Body, Branch, Jump, Statement};

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

/// Calls `found` with every way out, dead ones included.
pub fn exits<'a>(body: &'a Body, found: &mut dyn FnMut(Exit<'a>)) {
    for statement in &body.0 {
        match statement {
            Statement::Goto(jump) => found(Exit::Jump(jump)),
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
    branches.iter().all(|b| b.condition.is_some()) || branches.iter().any(|b| falls_through(&b.body))
}

/// The statements behind one that always leaves: the first dead one of each list, with the one that
/// leaves.
pub fn dead_statements<'a>(body: &'a Body, found: &mut dyn FnMut(&'a Statement, &'a Statement)) {
    for pair in body.0.windows(2) {
        if let [before, after] = pair
            && !passes(before)
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
