//! A `LIMIT` or `RESTRICT` with inverted polarity, which fails from the first turn on.

use crate::evidence::{binding, explain_core};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::starts_unset;
use agentir_analysis::constraints::{EvaluationPoint, GuardedConstraint, guarded_constraints};
use agentir_analysis::initial_state::InitialState;
use agentir_analysis::proof::FactSource;
use agentir_diagnostics::{Confidence, Diagnostic, RuleName, Severity};
use agentir_eval::Value;
use agentir_expr::dialect::{Construct, Keyword};
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path};
use agentir_flow::cfg::Origin;
use agentir_ir::ConstraintKind;
use agentir_ir::polarity::inverted;
use agentir_solver::{FactKind, Test};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("constraint-polarity"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a `LIMIT` or `RESTRICT` is inverted and fails from the first turn on",
    vendor: &[],
    requires: &[Construct::Constraints],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut start = None;
    for (point, all) in guarded_constraints(cx) {
        if point != EvaluationPoint::Turn {
            continue;
        }
        for guarded in &all {
            if let Some(finding) = inverse(cx, guarded, &mut start, report)
                && cx.owns(finding.primary.span)
            {
                report.push(finding);
            }
        }
    }
}

/// Reports a bound on a variable that fails for the initial value, or while the variable is unset,
/// which counts as 0.
fn inverse<'a>(
    cx: &AgentContext<'_, 'a>,
    guarded: &GuardedConstraint<'a>,
    start: &mut Option<InitialState>,
    report: &Report<'_>,
) -> Option<Diagnostic> {
    let Test::Expr(expr) = guarded.test else { return None };
    let path = bounded(expr)?;
    let kind = guarded.constraint.kind?;
    if !matches!(kind, ConstraintKind::Limit | ConstraintKind::Restrict)
        || !guarded.gates.is_empty()
    {
        return None;
    }
    let mut query = cx.query();
    let unset = starts_unset(cx, &path.root.value) && is_read_unset(cx, guarded, path);
    if unset {
        let source = FactSource::default();
        query.add_fact(path.clone(), FactKind::Is(Value::Undefined), source);
    } else {
        let start = start.get_or_insert_with(|| InitialState::of(cx));
        if !start.has_value(&path.root.value) {
            return None;
        }
        start.add_to(&mut query, [path]);
    }
    let core = query.prove(guarded.test, !guarded.required)?;
    // Constraints that fail for every value are reported by another rule.
    if !unset && core.facts.is_empty() {
        return None;
    }
    let words = cx.words(expr.span);
    let (message, note) = match kind {
        ConstraintKind::Limit => (
            "this limit is exceeded from the first turn on",
            words.either(
                "a `LIMIT` must be true",
                "the condition of a constraint of the kind `limit` must be true",
            ),
        ),
        _ => (
            "this restriction applies from the first turn on",
            words.either(
                "a `RESTRICT` fails when its condition is true",
                "a constraint of the kind `restrict` fails when its condition is true",
            ),
        ),
    };
    let instead = inverted(expr);
    let help = match kind {
        ConstraintKind::Limit if words.is_json() => format!("state the limit: `{instead}`"),
        ConstraintKind::Limit => format!("state the limit: `LIMIT {instead}`"),
        _ if words.is_json() => format!(
            "state what must not happen: `{instead}`; if that is what it does, add `\"applies_when\": \"{path} IS SET\"`"
        ),
        _ => format!(
            "state what must not happen: `RESTRICT {instead}`; if that is what it does, add `{}: {path} IS SET`",
            words.keyword(Keyword::When)
        ),
    };
    let because = match unset {
        true => format!("as long as `{path}` has no value it counts as 0"),
        false => format!("nothing has set `{path}` then"),
    };
    let finding = report.finding(expr.span, message);
    let finding = if unset {
        finding.example([binding(&path.to_string(), &Value::Undefined)])
    } else {
        explain_core(finding, &core)
    };
    Some(finding.note(format!("{note}, and {because}")).help(help).confidence(Confidence::Medium))
}

/// Whether some path leads to the check before anything sets the variable.
fn is_read_unset(cx: &AgentContext<'_, '_>, guarded: &GuardedConstraint<'_>, path: &Path) -> bool {
    let name = path.to_string();
    let cfg = cx.program.graph();
    cfg.uninitialized_reads(cx.id, |read| read == name).iter().any(|unset| {
        matches!(cfg.node(unset.read).map(|n| n.origin),
            Some(Origin::Constraint(c)) if c.span == guarded.constraint.span)
    })
}

/// Returns the variable that is compared with a number by order.
fn bounded(expr: &Expr) -> Option<&Path> {
    use BinaryOp::{Greater, GreaterEqual, Less, LessEqual};
    match &expr.kind {
        ExprKind::Binary { op: Less | LessEqual | Greater | GreaterEqual, left, right } => {
            let number = |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::Number(_)));
            match (left.as_path(), right.as_path()) {
                (Some(path), None) if number(right) => Some(path),
                (None, Some(path)) if number(left) => Some(path),
                _ => None,
            }
        }
        _ => None,
    }
}
