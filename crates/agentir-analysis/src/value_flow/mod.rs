//! Computes [what variables may hold](crate::values) at the program points of a program.
//!
//! Work and memory are bounded by a count of sets that are joined or kept (`MAX_WORK`); beyond it nothing is known, and
//! the limit is recorded.

mod flow;
mod followed;
mod hand_over;
mod initial;

use crate::program::{AgentAnalysis, ProgramAnalysis};
use crate::values::expr::Frame;
use crate::values::scope::own_name;
use crate::values::{Scope, Values, When};
use agentir_eval::Value;
use agentir_expr::{Expr, Path};
use agentir_flow::cfg::AccessKind;
use agentir_ir::SessionVariable;
use flow::Flow;
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use std::rc::Rc;

/// The maximum number of sets that are joined or kept, over all variables and program points.
const MAX_WORK: usize = 2_000_000;

impl ProgramAnalysis<'_> {
    /// What variables may hold at program points.
    pub fn values(&self) -> &Values {
        let new = || Flow::new(self).map_or_else(Values::default, Flow::run);
        self.values.get_or_init(|| self.clock().time("(values of variables)", new))
    }
}

impl<'a> ProgramAnalysis<'a> {
    /// The shared variables that nothing in the program or outside of it sets, in the order of their names.
    pub fn never_set(&self) -> Vec<&'a SessionVariable> {
        let cfg = self.graph();
        let all: FxHashSet<SmolStr> =
            self.variables.keys().map(|name| SmolStr::new(*name)).collect();
        if all.is_empty() {
            return Vec::new();
        }
        let scope = followed::scope_of_program(self, cfg, &all);
        let accesses = cfg.graph().node_indices().flat_map(|node| cfg.defs(node));
        let set: FxHashSet<&str> = accesses
            .filter(|access| access.kind != AccessKind::Use)
            .map(|access| own_name(&access.variable.name))
            .collect();
        let names = scope.names.iter().filter(|name| !set.contains(name.as_str()));
        names.filter_map(|name| self.variables.get(name.as_str()).copied()).collect()
    }
}

impl<'a> AgentAnalysis<'_, 'a> {
    fn value_frame<'s>(&'s self, scope: &'s Scope) -> Frame<'s> {
        Frame { scope, dialect: self.dialect(), facts: self.variable_facts() }
    }

    /// Whether tests, in this order, cannot have these outcomes at a node that something reaches. Cheaper than a proof,
    /// which it precedes.
    #[must_use]
    pub fn values_exclude(
        &self,
        (node, when): (NodeIndex, When),
        literals: impl IntoIterator<Item = (&'a Expr, bool)>,
        (last, holds): (&'a Expr, bool),
    ) -> bool {
        let values = self.program.values();
        let (Some(state), Some(scope)) = (values.state(node, when), values.scope(self.id)) else {
            return false;
        };
        if !scope.is_read_by(last) {
            return false;
        }
        let mut literals = literals.into_iter();
        let frame = self.value_frame(scope);
        let mut state = Rc::clone(state);
        literals.all(|(expr, holds)| frame.assume(&mut state, expr, holds))
            && !frame.assume(&mut state, last, holds)
            && (self.reports_constants_where_they_decide() || !self.constants_exclude(last, holds))
    }

    /// Whether variables may have these values together at a node that something reaches.
    #[must_use]
    pub fn may_hold(
        &self,
        (node, when): (NodeIndex, When),
        paths: &[&Path],
        values: &[Value],
    ) -> bool {
        let all = self.program.values();
        let (Some(state), Some(scope)) = (all.state(node, when), all.scope(self.id)) else {
            return true;
        };
        let chosen = paths.iter().zip(values);
        let chosen: Vec<(usize, &Value)> =
            chosen.filter_map(|(path, value)| Some((scope.slot(path)?, value))).collect();
        chosen.iter().all(|(slot, value)| state.get(*slot).is_none_or(|set| set.holds(value)))
            && chosen.iter().all(|(one, first)| {
                chosen.iter().filter(|(other, _)| one < other).all(|(other, second)| {
                    scope
                        .pair(*one, *other)
                        .is_none_or(|(pair, _)| state.allows(pair, first, second))
                })
            })
    }

    /// Whether a variable that nothing sets is reported wherever it decides, not once by a rule of its own: the rule
    /// about the latter is for programs that cannot be complete, and for variables that are shared.
    #[must_use]
    pub fn reports_constants_where_they_decide(&self) -> bool {
        !self.traits().shared_variables && self.program.program.complete
    }

    /// Whether a condition cannot have an outcome because of variables that nothing in the program sets.
    #[must_use]
    pub fn constants_exclude(&self, expr: &Expr, holds: bool) -> bool {
        let values = self.program.values();
        let at = values.scope_of.get(self.id.index());
        let Some((scope, state)) =
            at.and_then(|at| Some((values.scopes.get(*at)?, values.constants.get(*at)?)))
        else {
            return false;
        };
        let frame = self.value_frame(scope);
        !frame.assume(&mut Rc::clone(state), expr, holds)
    }
}
