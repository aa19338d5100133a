//! Proved outcomes of conditions and comparisons, which several rules query.

use super::{QueryBuilder, UnsatCore};
use agentir_diagnostics::Span;
use agentir_expr::Expr;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

/// The proof of an outcome, if there is one.
type Proof = Option<Rc<UnsatCore>>;

/// The outcomes of an agent's expressions that have been queried.
#[derive(Debug, Default)]
pub(crate) struct Outcomes<'a> {
    /// Lowering may give several expressions the same span, of which few are queried.
    by_span: RefCell<FxHashMap<Span, Vec<Queried<'a>>>>,
}

/// An expression with its queried outcomes.
#[derive(Debug)]
struct Queried<'a> {
    expr: &'a Expr,
    /// The proofs that it never holds and that it always holds.
    proofs: [Option<Proof>; 2],
}

impl<'a> Outcomes<'a> {
    /// Returns the proof that an expression always has an outcome. Returns `None` if it has not
    /// been queried.
    fn get(&self, expr: &Expr, holds: bool) -> Option<Proof> {
        let by_span = self.by_span.borrow();
        let queried = by_span.get(&expr.span)?.iter().find(|known| known.expr == expr)?;
        queried.proofs.get(usize::from(holds))?.clone()
    }

    fn insert(&self, expr: &'a Expr, holds: bool, proof: Proof) {
        let mut by_span = self.by_span.borrow_mut();
        let all = by_span.entry(expr.span).or_default();
        let at = all.iter().position(|known| known.expr == expr).unwrap_or_else(|| {
            all.push(Queried { expr, proofs: [None, None] });
            all.len() - 1
        });
        let slot = all.get_mut(at).and_then(|known| known.proofs.get_mut(usize::from(holds)));
        if let Some(slot) = slot {
            *slot = Some(proof);
        }
    }

    /// Proves that an expression always has an outcome, with a new query about its agent.
    pub(crate) fn prove<'q>(
        &self,
        query: impl FnOnce() -> QueryBuilder<'q, 'a>,
        expr: &'a Expr,
        holds: bool,
    ) -> Proof
    where
        'a: 'q,
    {
        if let Some(known) = self.get(expr, holds) {
            return known;
        }
        let mut query = query();
        // Nearly all conditions are contingent, which refutes both outcomes.
        if self.get(expr, !holds).is_none() && query.is_contingent(expr) {
            self.insert(expr, true, None);
            self.insert(expr, false, None);
            return None;
        }
        let core = if holds {
            query.prove(expr, true)
        } else {
            query.assume(expr, true);
            query.refute()
        };
        let core = core.map(Rc::new);
        self.insert(expr, holds, core.clone());
        core
    }
}
