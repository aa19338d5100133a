//! What checks find: whether constraints and guardrails hold, and the edges that follow from it (ABL, current
//! specification, 3.8 and 3.9). A check that cannot be evaluated does not hold.

use super::{Next, NodeResult, Run};
use crate::session::RuntimeError;
use agentir_expr::{BinaryOp, Condition, ConditionKind, Expr, ExprKind, Name, Segment, UnaryOp};
use agentir_flow::cfg::{Guard, Test};
use agentir_ir::{Agent, Constraint, ConstraintKind, Guardrail, GuardrailKind, Profile};
use petgraph::graph::{EdgeIndex, NodeIndex};

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passes,
    Fails,
    /// It cannot be evaluated.
    Broken,
}

impl<'p> Run<'_, 'p, '_> {
    /// The constraints of the active agent and its profiles that a call or an answer has to meet.
    pub(super) fn constraints_where(
        &self,
        wanted: impl Fn(&Constraint) -> bool,
    ) -> Vec<(&'p Constraint, Option<&'p Profile>)> {
        let Ok(agent) = self.agent() else { return Vec::new() };
        let profiles = self.profiles_of(agent);
        let own = agent.constraints.constraints.iter().map(|c| (c, None));
        own.chain(profiles.flat_map(|p| p.constraints.iter().map(move |c| (c, Some(p)))))
            .filter(|(c, _)| wanted(c))
            .collect()
    }

    /// The profiles of an agent, its own and those of the program that it uses.
    fn profiles_of(&self, agent: &'p Agent) -> impl Iterator<Item = &'p Profile> {
        let program = self.machine.program;
        let used = agent.use_behavior_profiles.iter();
        let used =
            used.filter_map(move |name| program.profiles().find(|p| p.name.value == name.value));
        agent.behavior_profiles.iter().chain(used)
    }

    /// Whether a constraint is checked before every call, because nobody knows which call it was meant for.
    pub(super) fn is_before_every_call(&self, constraint: &Constraint) -> bool {
        let Ok(agent) = self.agent() else { return true };
        let program = self.machine.program;
        let is_agent = |name: &str| {
            self.machine.agent(name).is_some() || program.remote_agents.iter().any(|a| a == name)
        };
        constraint
            .is_before_every_call(|name| agent.can_call(name, self.profiles_of(agent), is_agent))
    }

    /// The guardrails of a kind, lowest priority number first (3.9).
    pub(super) fn guardrails_of(&self, kind: GuardrailKind) -> Vec<&'p Guardrail> {
        let Ok(agent) = self.agent() else { return Vec::new() };
        let all = agent.constraints.guardrails.iter();
        let mut all: Vec<_> = all.filter(|rail| rail.kind == kind).collect();
        all.sort_by(|a, b| a.priority.0.total_cmp(&b.priority.0));
        all
    }

    /// Whether a constraint holds now, or does not apply.
    pub(super) fn constraint_verdict(
        &mut self,
        constraint: &'p Constraint,
        profile: Option<&'p Profile>,
    ) -> Verdict {
        let gates = [profile.and_then(|p| p.when.as_ref()), constraint.applies_when.as_ref()];
        let must = constraint.kind != Some(ConstraintKind::Restrict);
        if gates.iter().all(Option::is_none) && self.lacks_collected(constraint) {
            return Verdict::Fails;
        }
        let mut decide = || -> Result<bool, RuntimeError> {
            for gate in gates.into_iter().flatten() {
                if !self.decide(gate)? {
                    return Ok(true);
                }
            }
            Ok(self.decide(&constraint.condition)? == must)
        };
        match decide() {
            Ok(true) => Verdict::Passes,
            Ok(false) => Verdict::Fails,
            Err(problem) => {
                let what = format!("the constraint `{}`", constraint.condition.text.value);
                self.report_broken(&what, &problem);
                Verdict::Broken
            }
        }
    }

    /// The value of a condition of a check. Unlike others, it is an error if it cannot be evaluated.
    pub(super) fn decide(&mut self, condition: &'p Condition) -> Result<bool, RuntimeError> {
        let text = condition.text.value.as_str();
        match &condition.kind {
            ConditionKind::Expr(expr) if expr.text_as_condition().is_some() => {
                Err(super::check_error(text, super::conditions::TEXT_AS_CONDITION))
            }
            ConditionKind::Expr(expr) => {
                let dialect = self.dialect();
                agentir_eval::evaluate(expr, &self.scope(), dialect)
                    .map(|value| agentir_eval::truthy(&value, dialect.semantics()))
                    .map_err(|error| super::check_error(text, &error.to_string()))
            }
            ConditionKind::Natural => {
                let message = self.input.as_ref().map(|i| i.text.clone()).unwrap_or_default();
                self.judge_once(text, message)
            }
            ConditionKind::Invalid => Err(super::check_error(text, "it is not a valid expression")),
        }
    }

    /// Runs a check: a condition that cannot be evaluated is an error in it.
    pub(super) fn strictly<T>(
        &mut self,
        check: impl FnOnce(&mut Self) -> Result<T, RuntimeError>,
    ) -> Result<T, RuntimeError> {
        let before = std::mem::replace(&mut self.strict, true);
        let result = check(self);
        self.strict = before;
        result
    }

    /// Whether a content passes a guardrail.
    pub(super) fn guardrail_passes(&mut self, rail: &'p Guardrail, content: &str) -> bool {
        self.guardrail_verdict(rail, content) == Verdict::Passes
    }

    /// Whether a guardrail refuses what violates it; otherwise it warns.
    pub(super) fn must_refuse(&self, rail: &Guardrail) -> bool {
        rail.action_type() != "warn"
    }

    /// Whether the outcome of a check before a call or an answer depends on a value that it asks for and that is not there:
    /// what is unset may pass comparisons. Tests for exactly that count, unless the check itself has removed the value to
    /// ask for it.
    fn lacks_collected(&self, constraint: &'p Constraint) -> bool {
        let asked = self.has_asked_for(constraint);
        let unset: Vec<_> = (constraint.on_fail.iter())
            .flat_map(|failure| &failure.collect_fields)
            .filter(|field| !self.has_value(&field.value))
            .flat_map(|field| [field.value.clone(), self.field_variable(&field.value)])
            .collect();
        if unset.is_empty()
            || constraint.applies_when.is_some()
            || (constraint.is_of_every_turn() && !asked)
        {
            return false;
        }
        match constraint.condition.expr() {
            Some(expr) => self.outcome_without(expr, &unset, asked).is_none(),
            // What a condition in words reads is not known.
            None => asked,
        }
    }

    /// The truth of a condition whatever the values of some variables are; `None` if it depends on them, or cannot be
    /// evaluated. What tests whether they are set depends on them only if `tests_count`.
    fn outcome_without(&self, expr: &Expr, unset: &[Name], tests_count: bool) -> Option<bool> {
        let of = |part: &Expr| self.outcome_without(part, unset, tests_count);
        // The first operand that decides, or that all have the other truth.
        let chain = |outcomes: &mut dyn Iterator<Item = Option<bool>>, decides: bool| {
            let mut known = true;
            for outcome in outcomes {
                if outcome == Some(decides) {
                    return outcome;
                }
                known &= outcome.is_some();
            }
            known.then_some(!decides)
        };
        match &expr.kind {
            ExprKind::And(parts) => return chain(&mut parts.iter().map(of), false),
            ExprKind::Or(parts) => return chain(&mut parts.iter().map(of), true),
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                return of(operand).map(|holds| !holds);
            }
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                let mut outcomes = [of(left).map(|holds| !holds), of(right)].into_iter();
                return chain(&mut outcomes, true);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                return of(if of(condition)? { then } else { otherwise });
            }
            _ => {}
        }
        let is_test = matches!(expr.kind, ExprKind::IsSet { .. })
            || matches!(&expr.kind, ExprKind::Binary { left, right, .. }
                if [left, right].iter().any(|side| super::checks::is_null_literal(side)));
        let mut reads = false;
        expr.paths(&mut |path| {
            let mut names = std::iter::once(path.root.value.as_str()).chain(
                path.segments.iter().filter_map(|segment| match segment {
                    Segment::Field(name) => Some(name.value.as_str()),
                    _ => None,
                }),
            );
            reads |= names.any(|name| unset.iter().any(|unset| unset == name));
        });
        if reads && (tests_count || !is_test) {
            return None;
        }
        let dialect = self.dialect();
        let value = agentir_eval::evaluate(expr, &self.scope(), dialect).ok()?;
        Some(agentir_eval::truthy(&value, dialect.semantics()))
    }

    /// The edge by which a constraint passes; `None` if it fails.
    pub(super) fn constraint_edge(
        &mut self,
        at: NodeIndex,
        constraint: &'p Constraint,
    ) -> Result<Option<EdgeIndex>, RuntimeError> {
        if self.lacks_collected(constraint) {
            return Ok(None);
        }
        for (id, to, edge) in self.outgoing_edges(at) {
            if !self.is_failure(edge.guard, constraint)
                && self.can_take(id, to, &edge)
                && self.guard_holds(edge.guard)?
            {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Whether an edge with this guard is taken if the constraint fails.
    fn is_failure(&self, guard: Guard, constraint: &'p Constraint) -> bool {
        let must = constraint.kind != Some(ConstraintKind::Restrict);
        self.machine.cfg.last_literal(guard).is_some_and(|literal| match literal.test {
            Test::Condition(condition) => {
                std::ptr::eq(condition, &raw const constraint.condition) && literal.holds != must
            }
            Test::Expr(_) => false,
        })
    }

    /// Takes the edge for a failed constraint.
    pub(super) fn failure_edge(&mut self, at: NodeIndex, constraint: &'p Constraint) -> NodeResult {
        for (id, to, edge) in self.outgoing_edges(at) {
            if self.is_failure(edge.guard, constraint) && self.can_take(id, to, &edge) {
                return Ok(Next::Take(id));
            }
        }
        self.stop_turn()
    }
}
