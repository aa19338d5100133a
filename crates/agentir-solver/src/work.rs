//! Counting work, so that findings do not depend on the machine.

use agentir_expr::{Expr, ExprKind, Literal, Visit};
use std::sync::atomic::{AtomicU64, Ordering};

/// The steps that the evaluation of an expression takes at most.
pub(crate) fn of_expr(expr: &Expr) -> u64 {
    let mut steps = 0;
    expr.visit(&mut |e| {
        steps += of_node(e);
        Visit::Children
    });
    steps
}

/// The steps of a node alone, without its children.
pub(crate) fn of_node(expr: &Expr) -> u64 {
    match &expr.kind {
        ExprKind::Literal(Literal::Regex(by) | Literal::String(by)) => of_pattern(by),
        _ => 1,
    }
}

/// The steps that matching a pattern takes: strings may be patterns, too.
pub(crate) fn of_pattern(by: &str) -> u64 {
    1 + by.len() as u64 / 8
}

/// The steps that a query spends, and how many it may spend. A step is about the evaluation of one
/// node of an expression, some tens of nanoseconds.
#[derive(Debug)]
pub(crate) struct Work {
    /// Of one thread. Z3's interface wants what is shared between threads.
    spent: AtomicU64,
    limit: u64,
}

impl Work {
    pub(crate) const fn new(limit: u64) -> Self {
        Self { spent: AtomicU64::new(0), limit }
    }

    pub(crate) fn spend(&self, steps: u64) {
        self.spent.store(self.spent().saturating_add(steps), Ordering::Relaxed);
    }

    pub(crate) fn spent(&self) -> u64 {
        self.spent.load(Ordering::Relaxed)
    }

    /// The steps that may still be spent.
    pub(crate) fn left(&self) -> u64 {
        self.limit.saturating_sub(self.spent())
    }

    /// Whether the limit was reached. Whoever repeats work asks this each time.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left() == 0
    }
}
