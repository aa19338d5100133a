//! Where the statements of a step no longer fit into one subagent.
//!
//! A subagent runs its effects before reasoning, says its messages during it, and jumps after it. Statements in
//! another order fit if nobody can tell the difference: an assignment behind a message, for instance, whose
//! variable the message does not read.

use agentir_expr::{Condition, Expr, Path, Template};
use agentir_ir::{Agent, Branch, Response, Statement};
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// The variables that statements use in the phases of a subagent.
#[derive(Default)]
struct Uses {
    /// What effects assign.
    written: FxHashSet<SmolStr>,
    /// What messages and the conditions of messages and jumps read.
    read: FxHashSet<SmolStr>,
    has_effects: bool,
    talks: bool,
    /// Whether execution may leave from here, so that the rest depends on it.
    may_jump: bool,
}

/// Whether nothing behind a statement is executed.
pub(super) fn diverges(statement: &Statement) -> bool {
    match statement {
        Statement::Goto(jump) => jump.target.diverges(),
        Statement::Handoff(_) | Statement::Escalate { .. } => true,
        Statement::If { branches } => all_diverge(branches),
        Statement::Call(call) => {
            all_diverge(&call.on_result) || call.on_success.0.last().is_some_and(diverges)
        }
        _ => false,
    }
}

/// Whether a statement or one of its branches waits for the user.
pub(super) fn waits(statement: &Statement) -> bool {
    match statement {
        Statement::Collect(_) | Statement::Await { .. } => true,
        Statement::If { branches } => branches.iter().any(|b| b.body.0.iter().any(waits)),
        _ => false,
    }
}

fn all_diverge(branches: &[Branch]) -> bool {
    branches.iter().any(|b| b.condition.is_none())
        && branches.iter().all(|b| b.body.0.last().is_some_and(diverges))
}

/// The number of statements that fit into one subagent, up to the first that waits, needs subagents of its own, or would
/// run too early beside those before it.
pub(super) fn fitting(agent: &Agent, statements: &[Statement]) -> usize {
    let mut before = Uses::default();
    for (at, one) in statements.iter().enumerate() {
        if waits(one) || needs_branches(agent, one) {
            return at;
        }
        let own = uses(agent, one);
        let too_early = own.written.iter().any(|name| before.read.contains(name));
        if too_early || (before.may_jump && (own.has_effects || own.talks)) {
            return at;
        }
        before.add(own);
        if diverges(one) {
            break;
        }
    }
    statements.len()
}

/// Whether the branches of a statement need subagents of their own: its conditions would be asked again after its effects
/// have changed what they read, or a branch does not fit.
pub(super) fn needs_branches(agent: &Agent, statement: &Statement) -> bool {
    let Statement::If { branches } = statement else { return false };
    // Words are for the model to judge, in the instructions.
    if branches.iter().any(|b| b.condition.as_ref().is_some_and(|c| c.expr().is_none())) {
        return false;
    }
    let mut conditions = Uses::default();
    let mut bodies = Uses::default();
    for branch in branches {
        if let Some(condition) = &branch.condition {
            conditions.condition(condition);
        }
        if fitting(agent, &branch.body.0) < branch.body.0.len() {
            return true;
        }
        branch.body.0.iter().for_each(|one| bodies.add(uses(agent, one)));
    }
    (bodies.talks || bodies.may_jump)
        && bodies.written.iter().any(|name| conditions.read.contains(name))
}

/// The statements with what follows a successful call behind it, as its subagent has them.
pub(super) fn flat(statements: &[Statement]) -> Vec<Statement> {
    let mut out = Vec::with_capacity(statements.len());
    for one in statements {
        let Statement::Call(call) = one else {
            out.push(one.clone());
            continue;
        };
        let mut call = (**call).clone();
        let success = std::mem::take(&mut call.on_success.0);
        let branches = std::mem::take(&mut call.on_result);
        out.push(Statement::Call(Box::new(call)));
        out.extend(flat(&success));
        if !branches.is_empty() {
            out.push(Statement::If { branches });
        }
    }
    out
}

fn uses(agent: &Agent, statement: &Statement) -> Uses {
    let mut all = Uses::default();
    all.statement(agent, statement);
    all
}

impl Uses {
    fn add(&mut self, other: Self) {
        self.written.extend(other.written);
        self.read.extend(other.read);
        self.has_effects |= other.has_effects;
        self.talks |= other.talks;
        self.may_jump |= other.may_jump;
    }

    fn statement(&mut self, agent: &Agent, statement: &Statement) {
        match statement {
            Statement::Set(set) => self.writes(&set.target.root.value),
            Statement::Clear { variables } => {
                for variable in variables {
                    self.writes(variable.value.split('.').next().unwrap_or_default());
                }
            }
            Statement::Call(call) => {
                self.writes(call.result.as_ref().map_or(&call.tool.value, |r| &r.value));
                self.writes("result");
                for one in call.on_success.0.iter().chain(&call.on_failure.0) {
                    self.statement(agent, one);
                }
                self.branches(agent, &call.on_result);
            }
            Statement::Respond(response) => self.response(agent, response),
            Statement::Instruct { text } => self.says(text),
            Statement::Escalate { .. } | Statement::Delegate(_) => self.talks = true,
            Statement::If { branches } => self.branches(agent, branches),
            Statement::Check { condition, .. } => {
                self.condition(condition);
                self.may_jump = true;
            }
            Statement::Goto(_) | Statement::Handoff(_) | Statement::Repeat { .. } => {
                self.may_jump = true;
            }
            Statement::Transform(_)
            | Statement::Log { .. }
            | Statement::Collect(_)
            | Statement::Await { .. }
            | Statement::Other { .. } => {}
        }
    }

    /// The conditions of effects are asked where the effects are, those of messages and jumps again.
    fn branches(&mut self, agent: &Agent, branches: &[Branch]) {
        let mut below = Self::default();
        let mut conditions = Self::default();
        for branch in branches {
            branch.body.0.iter().for_each(|one| below.statement(agent, one));
            if let Some(condition) = &branch.condition {
                conditions.condition(condition);
            }
        }
        if below.talks || below.may_jump {
            below.add(conditions);
        }
        self.add(below);
    }

    fn response(&mut self, agent: &Agent, response: &Response) {
        self.talks = true;
        if let Some(text) = agent.response_text(response) {
            self.says(text);
        }
    }

    fn says(&mut self, text: &Template) {
        self.talks = true;
        text.exprs(&mut |expr| self.expr(expr));
    }

    fn condition(&mut self, condition: &Condition) {
        if let Some(expr) = condition.expr() {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.paths(&mut |Path { root, .. }| {
            self.read.insert(root.value.clone());
        });
    }

    fn writes(&mut self, name: &str) {
        self.has_effects = true;
        self.written.insert(SmolStr::new(name));
    }
}
