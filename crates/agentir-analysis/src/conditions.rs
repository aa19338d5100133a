//! Conditions, comparisons and branches.

use crate::symbols::AgentSymbols;
use agentir_expr::{BinaryOp, Effect, Expr, ExprKind, UnaryOp, Visit, function};
use agentir_flow::cfg::{self, GuardLiteral, Node, NodeKind, Origin};
use agentir_ir::{Branch, Statement};
use agentir_solver::Test;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// Converts a test of the control-flow graph to one of the solver.
pub fn test(test: cfg::Test<'_>) -> Test<'_> {
    match test {
        cfg::Test::Condition(condition) => condition.into(),
        cfg::Test::Expr(expr) => expr.into(),
    }
}

/// Whether an expression has the same value in every state. `WHEN: false` disables something on
/// purpose.
pub fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.visit(&mut |e| {
        constant &=
            !matches!(e.kind, ExprKind::Path(_) | ExprKind::Call { .. } | ExprKind::Ellipsis);
        Visit::Children
    });
    constant
}

/// Whether an expression is deterministic: it reads neither a clock nor a random number.
pub fn is_stable(expr: &Expr) -> bool {
    let mut stable = true;
    expr.visit(&mut |e| {
        if let ExprKind::Call { function: name, .. } = &e.kind {
            stable &= function(&name.value).is_some_and(|f| f.effect == Effect::Pure);
        }
        Visit::Children
    });
    stable
}

/// Adds the roots of the variables that an expression reads.
pub fn roots(expr: &Expr, names: &mut FxHashSet<SmolStr>) {
    expr.paths(&mut |path| {
        names.insert(path.root.value.clone());
    });
}

/// Calls `found` with the comparisons and membership tests that determine a condition. A condition
/// that is a single comparison by order is omitted: rules report it as a condition.
pub fn comparisons<'a>(condition: &'a Expr, found: &mut dyn FnMut(&'a Expr)) {
    // The condition itself is visited first.
    let mut is_whole = true;
    condition.visit(&mut |e| match (&e.kind, std::mem::take(&mut is_whole)) {
        (ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Conditional { .. }, _) => Visit::Children,
        (ExprKind::Unary { op: UnaryOp::Not, .. }, _) => Visit::Children,
        (ExprKind::Binary { op: BinaryOp::Implies, .. }, _) => Visit::Children,
        (ExprKind::Binary { op, .. }, whole) => {
            let equality = op.is_equality() || matches!(op, BinaryOp::In | BinaryOp::NotIn);
            if !op.is_arithmetic() && (equality || !whole) && !is_constant(e) && is_stable(e) {
                found(e);
            }
            Visit::Skip
        }
        _ => Visit::Skip,
    });
}

/// Returns the branches of a node in order.
pub fn branches<'a>(node: &Node<'a>) -> &'a [Branch] {
    match node.origin {
        Origin::Statement(Statement::If { branches } | Statement::Await { branches }) => branches,
        Origin::Statement(Statement::Call(call)) if node.kind == NodeKind::Branch => {
            &call.on_result
        }
        _ => &[],
    }
}

/// The maximum number of earlier branches in a query. Longer chains are generated code, and a query
/// per branch must not be linear in their length.
const MAX_EARLIER_BRANCHES: usize = 64;

/// Returns the guard of a branch: the nearest earlier branches do not hold; and its own condition,
/// if it has one. `None` after an `ELSE`.
pub fn branch_guard(
    branches: &[Branch],
    at: usize,
) -> Option<(Vec<GuardLiteral<'_>>, Option<GuardLiteral<'_>>)> {
    let (before, rest) = branches.split_at_checked(at)?;
    let near = before.get(before.len().saturating_sub(MAX_EARLIER_BRANCHES)..)?;
    let earlier: Option<Vec<GuardLiteral<'_>>> = near
        .iter()
        .map(|b| {
            Some(GuardLiteral { test: cfg::Test::Condition(b.condition.as_ref()?), holds: false })
        })
        .collect();
    let own = rest.first().and_then(|b| b.condition.as_ref());
    let own = own.map(|c| GuardLiteral { test: cfg::Test::Condition(c), holds: true });
    Some((earlier?, own))
}

/// Whether a variable is the agent's own and nothing sets it before the agent begins.
pub fn starts_unset(cx: &AgentSymbols<'_, '_>, name: &str) -> bool {
    let memory = &cx.agent.memory;
    let root = |path: &str| path.split('.').next() == Some(name);
    let given = memory.session.iter().any(|v| {
        v.name.value == name
            && (v.initial_value.is_some() || v.scope.is_some() || v.reset.is_some())
    });
    let kept = memory.persistent.iter().any(|p| root(&p.path.value));
    let passed = cx.program.passed.get(cx.agent.metadata.name.value.as_str());
    !given
        && !kept
        && passed.is_none_or(|names| !names.contains(name))
        && !cx.dialect().runtime().assigns(name, name)
}
