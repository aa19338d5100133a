//! Conditions and comparisons, and the queries about them that several rules share.

use crate::proof::{QueryBuilder, UnsatCore};
use crate::rule::AgentContext;
use crate::types::ScriptTypes;
use agentir_diagnostics::Span;
use agentir_expr::{
    BinaryOp, Effect, Expr, ExprKind, UnaryOp, Visit, function, system_namespace, system_variable,
};
use agentir_flow::cfg::{self, GuardLiteral, Node, NodeKind, Origin};
use agentir_ir::{Branch, Statement};
use agentir_solver::Test;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use std::rc::Rc;

/// Converts a test of the control-flow graph to one of the solver.
pub(crate) fn test(test: cfg::Test<'_>) -> Test<'_> {
    match test {
        cfg::Test::Condition(condition) => condition.into(),
        cfg::Test::Expr(expr) => expr.into(),
    }
}

/// Whether an expression has the same value in every state. `WHEN: false` disables something on
/// purpose.
pub(crate) fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.visit(&mut |e| {
        constant &=
            !matches!(e.kind, ExprKind::Path(_) | ExprKind::Call { .. } | ExprKind::Ellipsis);
        Visit::Children
    });
    constant
}

/// Whether an expression is deterministic: it reads neither a clock nor a random number.
pub(crate) fn is_stable(expr: &Expr) -> bool {
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
pub(crate) fn roots(expr: &Expr, names: &mut FxHashSet<SmolStr>) {
    expr.paths(&mut |path| {
        names.insert(path.root.value.clone());
    });
}

/// Calls `found` with the comparisons and membership tests that determine a condition. A condition
/// that is a single comparison by order is omitted: rules report it as a condition.
pub(crate) fn comparisons<'a>(condition: &'a Expr, found: &mut dyn FnMut(&'a Expr)) {
    condition.visit(&mut |e| match &e.kind {
        ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Conditional { .. } => Visit::Children,
        ExprKind::Unary { op: UnaryOp::Not, .. } => Visit::Children,
        ExprKind::Binary { op: BinaryOp::Implies, .. } => Visit::Children,
        ExprKind::Binary { op, .. } => {
            let equality = op.is_equality() || matches!(op, BinaryOp::In | BinaryOp::NotIn);
            let whole = std::ptr::eq(e, condition);
            if !op.is_arithmetic() && (equality || !whole) && !is_constant(e) && is_stable(e) {
                found(e);
            }
            Visit::Skip
        }
        _ => Visit::Skip,
    });
}

/// Returns the ill-typed expressions in conditions of Agent Script, which another rule reports.
pub(crate) fn mistyped_spans<'c>(cx: &'c AgentContext<'_>) -> &'c FxHashSet<Span> {
    cx.mistyped_spans.get_or_init(|| find_mistyped(cx))
}

fn find_mistyped(cx: &AgentContext<'_>) -> FxHashSet<Span> {
    let mut found = FxHashSet::default();
    if cx.is_agent_script() {
        let types = ScriptTypes::new(cx);
        for expr in cx.index.conditions.iter().filter_map(|(c, _)| c.expr()) {
            types.infer(expr, &mut |span, _| {
                found.insert(span);
            });
        }
    }
    found
}

/// Proves that a condition or a comparison always has an outcome. The result is cached, because
/// several rules query the same expressions.
pub(crate) fn prove_outcome<'a>(
    cx: &AgentContext<'a>,
    expr: &'a Expr,
    holds: bool,
) -> Option<Rc<UnsatCore>> {
    let key = (std::ptr::from_ref(expr).addr(), holds);
    if let Some(known) = cx.decided.borrow().get(&key) {
        return known.clone();
    }
    // Nearly all conditions are contingent, which refutes both outcomes.
    if !cx.decided.borrow().contains_key(&(key.0, !holds)) && QueryBuilder::is_contingent(cx, expr)
    {
        cx.decided.borrow_mut().extend([((key.0, true), None), ((key.0, false), None)]);
        return None;
    }
    let mut query = cx.query();
    let core = if holds {
        query.prove(expr, true)
    } else {
        query.assume(expr, true);
        query.refute()
    };
    let core = core.map(Rc::new);
    cx.decided.borrow_mut().insert(key, core.clone());
    core
}

/// Returns the constant outcome of a comparison, with its proof.
pub(crate) fn decide_comparison<'a>(
    cx: &AgentContext<'a>,
    comparison: &'a Expr,
) -> Option<(bool, Rc<UnsatCore>)> {
    let decided = |holds| prove_outcome(cx, comparison, holds).map(|core| (holds, core));
    decided(true).or_else(|| decided(false))
}

/// Returns the branches of a node in order.
pub(crate) fn branches<'a>(node: &Node<'a>) -> &'a [Branch] {
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
pub(crate) fn branch_guard(
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
pub(crate) fn starts_unset(cx: &AgentContext<'_>, name: &str) -> bool {
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
        && system_namespace(name).is_none()
        && name != "user"
        && system_variable(name).is_none()
}
