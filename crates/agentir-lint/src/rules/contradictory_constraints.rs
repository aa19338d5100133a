//! Constraints that apply together but cannot all be satisfied.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::wording::evaluation_point;
use agentir_analysis::constraints::{
    EvaluationPoint, GuardedConstraint, guarded_constraints, related,
};
use agentir_analysis::limits::Limit;
use agentir_analysis::proof::{Assumption, QueryBuilder, UnsatCore};
use agentir_diagnostics::{Diagnostic, RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_solver::Test;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("contradictory-constraints"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "constraints that apply together cannot all be met",
    vendor: &[],
    requires: &[Construct::Constraints],
    check: Check::Agent(check),
};

/// The maximum number of assumptions in all queries about an agent.
const MAX_ASSUMPTIONS: usize = 40_000;

/// What an assumption stands for.
#[derive(Clone, Copy)]
enum Part {
    Gate,
    Test(usize),
}

/// A set of constraints in one query.
struct ConstraintSet<'c, 'a> {
    query: QueryBuilder<'c, 'a>,
    parts: Vec<Part>,
}

impl<'c, 'a> ConstraintSet<'c, 'a> {
    fn new(cx: &'c AgentContext<'c, 'a>) -> Self {
        Self { query: cx.query(), parts: Vec::new() }
    }

    fn gates(&mut self, guarded: &GuardedConstraint<'a>) {
        for gate in &guarded.gates {
            self.query.assume(*gate, true);
            self.parts.push(Part::Gate);
        }
    }

    fn test(&mut self, at: usize, guarded: &GuardedConstraint<'a>) {
        self.query.assume(guarded.test, guarded.required);
        self.parts.push(Part::Test(at));
    }
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut budget = MAX_ASSUMPTIONS;
    for (point, all) in guarded_constraints(cx) {
        for group in related(&all) {
            Situations { cx, point, report, budget: &mut budget }.check(&group);
        }
    }
}

struct Situations<'s, 'r, 'a> {
    cx: &'s AgentContext<'s, 'a>,
    point: EvaluationPoint<'a>,
    report: &'s mut Report<'r>,
    budget: &'s mut usize,
}

impl<'a> Situations<'_, '_, 'a> {
    /// Checks the unconditional constraints first; then, together with them, those with the same
    /// gates; then pairs of these groups.
    fn check(&mut self, all: &[&GuardedConstraint<'a>]) {
        let (always, gated): (Vec<_>, Vec<_>) =
            all.iter().copied().partition(|r| r.gates.is_empty());
        let always = self.without_conflict(Vec::new(), always);
        let mut order = Vec::new();
        let mut by_gates: FxHashMap<Vec<String>, Vec<&GuardedConstraint<'a>>> =
            FxHashMap::default();
        for guarded in gated {
            let keys = guarded.gate_keys();
            let same = by_gates.entry(keys.clone()).or_default();
            if same.is_empty() {
                order.push(keys);
            }
            same.push(guarded);
        }
        let mut situations: Vec<Vec<&GuardedConstraint<'a>>> = Vec::new();
        for keys in order {
            let Some(same) = by_gates.remove(&keys) else { continue };
            let near = near(&always, &same);
            if self.can_apply(&near, &same) {
                situations.push(self.without_conflict(near, same));
            }
        }
        for (at, one) in situations.iter().enumerate() {
            for other in situations.iter().skip(at + 1) {
                let shares =
                    one.iter().any(|a| other.iter().any(|b| !a.about.is_disjoint(&b.about)));
                if !shares {
                    continue;
                }
                let both: Vec<&GuardedConstraint<'a>> = one.iter().chain(other).copied().collect();
                if self.can_apply(&near(&always, &both), &both) {
                    self.without_conflict(one.clone(), other.clone());
                }
            }
        }
    }

    /// Whether all gates of `guarded_constraints` can hold together with the constraints in
    /// `always`.
    fn can_apply(
        &mut self,
        always: &[&GuardedConstraint<'a>],
        guarded_constraints: &[&GuardedConstraint<'a>],
    ) -> bool {
        if !self.spend(always.len() + guarded_constraints.len()) {
            return false;
        }
        let mut set = ConstraintSet::new(self.cx);
        always.iter().for_each(|r| set.test(0, r));
        guarded_constraints.iter().for_each(|r| set.gates(r));
        set.query.is_satisfiable() == Some(true)
    }

    fn spend(&mut self, work: usize) -> bool {
        let budget = self.budget.checked_sub(work);
        *self.budget = budget.unwrap_or(0);
        if budget.is_none() {
            let at = self.cx.agent.metadata.name.span;
            self.cx.program.limits().reach(Limit::Combinations, Some(at));
        }
        budget.is_some()
    }

    /// Reports contradictions among `new` and `known`. Returns the constraints of `new` that are
    /// left.
    fn without_conflict<'b>(
        &mut self,
        known: Vec<&'b GuardedConstraint<'a>>,
        mut new: Vec<&'b GuardedConstraint<'a>>,
    ) -> Vec<&'b GuardedConstraint<'a>> {
        loop {
            let all: Vec<&GuardedConstraint<'a>> = known.iter().chain(&new).copied().collect();
            if !self.spend(all.len()) {
                return new;
            }
            let mut set = ConstraintSet::new(self.cx);
            for (at, guarded) in all.iter().enumerate() {
                set.gates(guarded);
                set.test(at, guarded);
            }
            let Some(core) = set.query.refute() else { return new };
            let parts: Vec<Part> = core
                .assumptions
                .iter()
                .filter_map(|Assumption(at)| set.parts.get(*at).copied())
                .collect();
            let tests =
                parts.iter().filter_map(|p| if let Part::Test(at) = p { Some(*at) } else { None });
            // The contradiction is reported at the last constraint.
            let Some(last) = tests.max().and_then(|at| at.checked_sub(known.len())) else {
                return new;
            };
            if let Some(finding) = self.finding(&all, &parts, &core)
                && self.cx.owns(finding.primary.span)
            {
                self.report.push(finding);
            }
            new.remove(last);
        }
    }

    fn finding(
        &self,
        all: &[&GuardedConstraint<'a>],
        parts: &[Part],
        core: &UnsatCore,
    ) -> Option<Diagnostic> {
        let tests: Vec<&GuardedConstraint<'a>> = parts
            .iter()
            .filter_map(|p| if let Part::Test(at) = p { all.get(*at).copied() } else { None })
            .collect();
        let (last, others) = tests.split_last()?;
        // A single constraint without a gate is an unsatisfiable condition, which another rule
        // reports.
        let gated: Vec<&&GuardedConstraint<'a>> =
            tests.iter().filter(|r| !r.gates.is_empty()).collect();
        if others.is_empty() && !parts.iter().any(|p| matches!(p, Part::Gate)) {
            return None;
        }
        let point = evaluation_point(self.point);
        let note = if gated.is_empty() {
            format!("they are checked {point}, and one of them fails whatever the user says")
        } else {
            format!(
                "they are checked {point}, and where all of them apply, one of them fails whatever the user says"
            )
        };
        let message = match others.len() {
            0 => "this constraint fails whenever it applies".to_owned(),
            1 => "this constraint contradicts another".to_owned(),
            n => format!("this constraint contradicts {n} others in combination"),
        };
        let mut finding = self.report.finding(last.constraint.condition.span(), message);
        finding = finding.at(label(last));
        for other in others {
            finding = finding.label(other.constraint.condition.span(), label(other));
        }
        for guarded in gated {
            for gate in &guarded.gates {
                if let Test::Expr(expr) = gate {
                    finding = finding.label(expr.span, "it applies when this is true");
                }
            }
        }
        finding = explain_core(finding, core);
        let words = self.cx.words(finding.primary.span);
        Some(match others.is_empty() {
            true => finding
                .note(format!(
                    "its `{}` runs every time, whatever the user says",
                    words.keyword(Keyword::OnFail)
                ))
                .help("correct the bounds, or restrict it to other cases"),
            false => finding.note(note).help(format!(
                "widen one of them, or restrict them to different cases with {}",
                match words.is_json() {
                    true => "`applies_when`".to_owned(),
                    false => format!("`{}:`", words.keyword(Keyword::When)),
                }
            )),
        })
    }
}

/// Returns those of `always` that share variables with `guarded_constraints`.
fn near<'b, 'a>(
    always: &[&'b GuardedConstraint<'a>],
    guarded_constraints: &[&'b GuardedConstraint<'a>],
) -> Vec<&'b GuardedConstraint<'a>> {
    let about: FxHashSet<&str> =
        guarded_constraints.iter().flat_map(|r| &r.about).map(smol_str::SmolStr::as_str).collect();
    let near =
        |r: &&&GuardedConstraint<'a>| r.about.iter().any(|name| about.contains(name.as_str()));
    always.iter().filter(near).copied().collect()
}

const fn label(guarded: &GuardedConstraint<'_>) -> &'static str {
    if guarded.required { "this must be true" } else { "this must be false" }
}
