//! Conditions that hold whenever an earlier one does, as far as that can be seen without a solver:
//! the same condition again, a part of it, a narrower bound.

use agentir_diagnostics::Span;
use agentir_expr::{BinaryOp, Effect, Expr, ExprKind, Literal, Visit, function};
use rustc_hash::FxHashMap;

/// What is known to have been tried.
#[derive(Debug, Default)]
pub(crate) struct Covered {
    /// Alternatives, by their canonical text.
    same: FxHashMap<String, Span>,
    /// The widest bound tried of each value, from below and from above.
    above: FxHashMap<String, Bound>,
    below: FxHashMap<String, Bound>,
}

#[derive(Debug, Clone, Copy)]
struct Bound {
    limit: f64,
    /// Whether the limit itself belongs to it.
    with: bool,
    span: Span,
}

/// `value > limit` and its like.
struct Comparison<'a> {
    value: &'a Expr,
    op: BinaryOp,
    limit: f64,
}

impl Covered {
    /// The earlier condition that holds whenever `expr` does.
    pub(crate) fn by(&self, expr: &Expr) -> Option<Span> {
        let alternatives = parts(expr, |kind| match kind {
            ExprKind::Or(all) => Some(all),
            _ => None,
        });
        let mut span = None;
        for one in alternatives {
            let conjuncts = parts(one, |kind| match kind {
                ExprKind::And(all) => Some(all),
                _ => None,
            });
            let found = self
                .same
                .get(&one.to_string())
                .copied()
                .or_else(|| conjuncts.iter().find_map(|part| self.single(part)))?;
            span = span.or(Some(found));
        }
        span
    }

    fn single(&self, expr: &Expr) -> Option<Span> {
        if let Some(span) = self.same.get(&expr.to_string()) {
            return Some(*span);
        }
        let Comparison { value, op, limit } = comparison(expr)?;
        let value = value.to_string();
        let above = self.above.get(&value).filter(|b| match op {
            BinaryOp::Greater => limit >= b.limit,
            BinaryOp::GreaterEqual | BinaryOp::Equal => {
                limit > b.limit || (limit >= b.limit && b.with)
            }
            _ => false,
        });
        let below = self.below.get(&value).filter(|b| match op {
            BinaryOp::Less => limit <= b.limit,
            BinaryOp::LessEqual | BinaryOp::Equal => {
                limit < b.limit || (limit <= b.limit && b.with)
            }
            _ => false,
        });
        above.or(below).map(|b| b.span)
    }

    /// Adds a condition that has been tried.
    pub(crate) fn add(&mut self, expr: &Expr, span: Span) {
        if !is_pure(expr) {
            return;
        }
        let alternatives = parts(expr, |kind| match kind {
            ExprKind::Or(all) => Some(all),
            _ => None,
        });
        for one in alternatives {
            self.same.entry(one.to_string()).or_insert(span);
            let Some(Comparison { value, op, limit }) = comparison(one) else { continue };
            let with = matches!(op, BinaryOp::GreaterEqual | BinaryOp::LessEqual);
            let new = Bound { limit, with, span };
            let wider = |old: &Bound| match op {
                BinaryOp::Greater | BinaryOp::GreaterEqual => limit < old.limit,
                _ => limit > old.limit,
            };
            let side = match op {
                BinaryOp::Greater | BinaryOp::GreaterEqual => &mut self.above,
                BinaryOp::Less | BinaryOp::LessEqual => &mut self.below,
                _ => continue,
            };
            let value = value.to_string();
            if side.get(&value).is_none_or(wider) {
                side.insert(value, new);
            }
        }
    }
}

/// The parts of a conjunction or disjunction; the whole if it is none.
fn parts<'a>(expr: &'a Expr, of: impl Fn(&'a ExprKind) -> Option<&'a Vec<Expr>>) -> Vec<&'a Expr> {
    of(&expr.kind).map_or_else(|| vec![expr], |all| all.iter().collect())
}

fn comparison(expr: &Expr) -> Option<Comparison<'_>> {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual};
    let ExprKind::Binary { op, left, right } = &expr.kind else { return None };
    let mirrored = match op {
        Greater => Less,
        GreaterEqual => LessEqual,
        Less => Greater,
        LessEqual => GreaterEqual,
        Equal => Equal,
        _ => return None,
    };
    match (&left.kind, &right.kind) {
        (_, ExprKind::Literal(Literal::Number(limit))) => {
            Some(Comparison { value: left, op: *op, limit: *limit })
        }
        (ExprKind::Literal(Literal::Number(limit)), _) => {
            Some(Comparison { value: right, op: mirrored, limit: *limit })
        }
        _ => None,
    }
}

/// Whether asking twice gives the same answer.
fn is_pure(expr: &Expr) -> bool {
    let mut pure = true;
    expr.visit(&mut |e| {
        if let ExprKind::Call { function: name, .. } = &e.kind {
            pure &= function(&name.value).is_some_and(|f| f.effect == Effect::Pure);
        }
        Visit::Children
    });
    pure
}
