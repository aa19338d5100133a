//! A constraint that cannot fail, because of earlier constraints or its own gate.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::constraints::{GuardedConstraint, guarded_constraints, related};
use agentir_analysis::proof::Assumption;
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_solver::Test;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("redundant-constraint"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a constraint cannot fail because of those that are checked before it",
    vendor: &[],
    requires: &[Construct::Constraints],
    check: Check::Agent(check),
};

/// The maximum number of earlier constraints in a query.
const MAX_CONSTRAINTS: usize = 64;

/// What an assumption stands for.
enum Part {
    Gate(Span),
    Earlier(Span, bool),
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for (_, all) in guarded_constraints(cx) {
        for group in related(&all) {
            for (at, guarded) in group.iter().enumerate() {
                let before = group.get(..at).unwrap_or_default();
                if let Some(finding) = redundant(cx, guarded, before, report)
                    && cx.owns(finding.primary.span)
                {
                    report.push(finding);
                }
            }
        }
    }
}

fn redundant<'a>(
    cx: &AgentContext<'_, 'a>,
    guarded: &GuardedConstraint<'a>,
    before: &[&GuardedConstraint<'a>],
    report: &Report<'_>,
) -> Option<Diagnostic> {
    let keys = guarded.gate_keys();
    let mut query = cx.query();
    let mut parts = Vec::new();
    // A failure would have ended the checks, so the earlier constraints hold.
    for earlier in before.iter().rev().filter(|r| r.stops).take(MAX_CONSTRAINTS) {
        if earlier.about.is_disjoint(&guarded.about) {
            continue;
        }
        if earlier.gate_keys().iter().all(|key| keys.contains(key)) {
            query.assume(earlier.test, earlier.required);
            parts.push(Part::Earlier(earlier.constraint.condition.span(), earlier.required));
        }
    }
    let others = parts.len();
    for gate in &guarded.gates {
        query.assume(*gate, true);
        parts.push(Part::Gate(match gate {
            Test::Expr(expr) | Test::In(_, expr) => expr.span,
            Test::Words(_) => guarded.constraint.span,
        }));
    }
    if parts.is_empty() {
        return None;
    }
    let (core, never) = match query.refute() {
        Some(core) => (core, true),
        None => {
            query.is_satisfiable()?.then_some(())?;
            (query.prove(guarded.test, guarded.required)?, false)
        }
    };
    // Tautologies (`a IMPLIES a`) and gates that never hold are reported by other rules.
    let used: Vec<&Part> =
        core.assumptions.iter().filter_map(|Assumption(at)| parts.get(*at)).collect();
    let by_itself = core.assumptions.iter().all(|Assumption(at)| *at >= others + guarded.whens);
    if by_itself || (never && !core.assumptions.iter().any(|Assumption(at)| *at < others)) {
        return None;
    }
    // Contradictory earlier constraints are reported by another rule.
    if never && !used.iter().any(|p| matches!(p, Part::Gate(_))) {
        return None;
    }
    let at = guarded.constraint.condition.span();
    let mut finding = report.finding(
        at,
        if never { "this constraint never applies" } else { "this constraint can never fail" },
    );
    for part in used {
        finding = match part {
            Part::Gate(span) => finding.label(*span, "it applies only when this is true"),
            Part::Earlier(span, true) => {
                finding.label(*span, "this is checked before, and must be true")
            }
            Part::Earlier(span, false) => {
                finding.label(*span, "this is checked before, and must be false")
            }
        };
    }
    Some(
        explain_core(finding, &core)
            .note(format!(
                "only the `{}` of the first constraint that fails runs, so that of this one never does",
                cx.words(at).keyword(Keyword::OnFail)
            ))
            .help("remove it, or move it before the others if its message matters"),
    )
}
