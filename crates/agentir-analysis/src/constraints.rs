//! Constraints, grouped by when they are evaluated.

use crate::conditions::{is_stable, roots};
use crate::symbols::AgentSymbols;
use agentir_expr::{BinaryOp, Condition, ConditionKind, Expr, ExprKind};
use agentir_ir::{Checkpoint, Constraint, ConstraintKind};
use agentir_solver::Test;
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;

/// When constraints are evaluated. All constraints of a group see the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvaluationPoint<'a> {
    /// In every turn.
    Turn,
    /// Before the user gets an answer.
    Response,
    /// Before a call of the tool.
    Call(&'a str),
    /// Before a reasoning zone: its position among those of the agent.
    Zone(usize),
}

/// A constraint as an implication: if all gates hold, the test has the required outcome.
#[derive(Debug, Clone)]
pub struct GuardedConstraint<'a> {
    /// The constraint.
    pub constraint: &'a Constraint,
    /// `WHEN` of the constraint and of its profile, then the premises of `IMPLIES`.
    pub gates: Vec<Test<'a>>,
    /// The number of gates that come from `WHEN`.
    pub whens: usize,
    /// Its own test.
    pub test: Test<'a>,
    /// Whether the test must hold. The test of a `RESTRICT` must not.
    pub required: bool,
    /// Whether a failure ends the checks.
    pub stops: bool,
    /// The roots of the variables that it reads.
    pub about: FxHashSet<SmolStr>,
}

impl<'a> GuardedConstraint<'a> {
    fn new(constraint: &'a Constraint, when: Option<&'a Condition>) -> Option<Self> {
        let mut gates: Vec<Test<'a>> = Vec::new();
        for gate in when.into_iter().chain(&constraint.applies_when) {
            gates.push(readable(gate)?);
        }
        let whens = gates.len();
        let mut test = readable(&constraint.condition)?;
        let required = constraint.kind != Some(ConstraintKind::Restrict);
        while required
            && let Test::Expr(Expr {
                kind: ExprKind::Binary { op: BinaryOp::Implies, left, right },
                ..
            }) = test
        {
            gates.push(Test::Expr(left));
            test = Test::Expr(right);
        }
        let mut about = FxHashSet::default();
        for test in gates.iter().chain([&test]) {
            if let Test::Expr(expr) = test {
                roots(expr, &mut about);
            }
        }
        Some(Self { constraint, gates, whens, test, required, stops: stops(constraint), about })
    }

    /// Returns the keys that identify a set of gates.
    pub fn gate_keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self
            .gates
            .iter()
            .map(|gate| match gate {
                Test::Expr(expr) | Test::In(_, expr) => expr.to_string(),
                Test::Words(words) => format!("\"{words}\""),
            })
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// Returns the test of a condition that is valid and stable.
fn readable(condition: &Condition) -> Option<Test<'_>> {
    match &condition.kind {
        ConditionKind::Invalid => None,
        ConditionKind::Expr(expr) if !is_stable(expr) => None,
        _ => Some(condition.into()),
    }
}

/// Whether a failure of the constraint ends the checks. Warnings do not, nor do constraints that
/// continue.
fn stops(constraint: &Constraint) -> bool {
    let warns =
        constraint.severity == Some("warning") || constraint.kind == Some(ConstraintKind::Warn);
    let goes_on = constraint.on_fail.as_ref().is_some_and(|failure| {
        let mut jumps = failure.then_action.iter().chain(&failure.then_step);
        jumps.any(|jump| jump.target.continues())
    });
    !warns && !goes_on
}

/// Returns the constraints of an agent and its profiles, grouped by evaluation point and in
/// evaluation order.
pub fn guarded_constraints<'a>(
    cx: &AgentSymbols<'_, 'a>,
) -> Vec<(EvaluationPoint<'a>, Vec<GuardedConstraint<'a>>)> {
    let own = cx.agent.constraints.constraints.iter().map(|c| (c, None));
    let profiles = cx.profiles();
    let profiles = profiles.flat_map(|p| p.constraints.iter().map(move |c| (c, p.when.as_ref())));
    let mut points: Vec<(EvaluationPoint<'a>, Vec<GuardedConstraint<'a>>)> = Vec::new();
    let mut at: FxHashMap<EvaluationPoint<'a>, usize> = FxHashMap::default();
    let mut add = |point: EvaluationPoint<'a>, guarded: Option<GuardedConstraint<'a>>| {
        let Some(guarded) = guarded else { return };
        let at = *at.entry(point).or_insert_with(|| {
            points.push((point, Vec::new()));
            points.len() - 1
        });
        points.get_mut(at).into_iter().for_each(|(_, all)| all.push(guarded.clone()));
    };
    for (constraint, when) in own.chain(profiles) {
        let point = match &constraint.checkpoint {
            None | Some(Checkpoint::Other { .. }) => EvaluationPoint::Turn,
            Some(Checkpoint::Response) => EvaluationPoint::Response,
            Some(Checkpoint::ToolCall { target }) => EvaluationPoint::Call(&target.value),
        };
        add(point, GuardedConstraint::new(constraint, when));
    }
    let steps = cx.agent.flow.iter().flat_map(|f| f.definitions.values());
    let zones = steps.filter_map(|s| s.reasoning_zone.as_ref()).chain(&cx.agent.reasoning);
    for (position, zone) in zones.enumerate() {
        let point = EvaluationPoint::Zone(position);
        zone.constraints.iter().for_each(|c| add(point, GuardedConstraint::new(c, None)));
    }
    points
}

/// Partitions constraints into groups with common variables (transitively). Each group is in order.
pub fn related<'r, 'a>(all: &'r [GuardedConstraint<'a>]) -> Vec<Vec<&'r GuardedConstraint<'a>>> {
    let mut group: Vec<usize> = (0..all.len()).collect();
    let mut first: FxHashMap<&str, usize> = FxHashMap::default();
    for (at, guarded) in all.iter().enumerate() {
        for name in &guarded.about {
            let other = *first.entry(name.as_str()).or_insert(at);
            let (a, b) = (find(&mut group, at), find(&mut group, other));
            if let Some(parent) = group.get_mut(a.max(b)) {
                *parent = a.min(b);
            }
        }
    }
    let mut groups: Vec<Vec<&GuardedConstraint<'a>>> = vec![Vec::new(); all.len()];
    for (at, guarded) in all.iter().enumerate() {
        let found = find(&mut group, at);
        groups.get_mut(found).into_iter().for_each(|g| g.push(guarded));
    }
    groups.retain(|g| !g.is_empty());
    groups
}

fn find(group: &mut [usize], mut at: usize) -> usize {
    while let Some(parent) = group.get(at).copied().filter(|p| *p != at) {
        let grand = group.get(parent).copied().unwrap_or(parent);
        if let Some(slot) = group.get_mut(at) {
            *slot = grand;
        }
        at = parent;
    }
    at
}
