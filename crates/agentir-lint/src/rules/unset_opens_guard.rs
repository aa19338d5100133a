//! A guard that holds while the variables it reads have no value.

use crate::evidence::binding;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{is_stable, starts_unset};
use agentir_diagnostics::{Confidence, Diagnostic, RuleName, Severity, Span};
use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::{BinaryOp, Condition, Expr, ExprKind, Literal, Path, Segment, Visit};
use agentir_flow::cfg::Origin;
use agentir_ir::{Checkpoint, Constraint, ConstraintKind};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unset-opens-guard"),
    group: Group::Security,
    severity: Severity::Warning,
    summary: "a guard lets through what it guards while its variables have no value",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let guards: Vec<&Constraint> = cx.agent.constraints.constraints.iter().collect();
    let candidates: Vec<(&Constraint, &Expr, Vec<Path>)> = guards
        .into_iter()
        .filter(|c| c.severity != Some("warning"))
        .filter(|c| {
            matches!(c.checkpoint, Some(Checkpoint::ToolCall { .. } | Checkpoint::Response))
        })
        .filter(|c| applies_at_first(cx, c.applies_when.as_ref()))
        .filter_map(|c| {
            let expr = c.condition.expr()?;
            let paths = opened_by(cx, expr, c.kind != Some(ConstraintKind::Restrict))?;
            Some((c, expr, paths))
        })
        .collect();
    if !candidates.is_empty() {
        let names: FxHashSet<String> =
            candidates.iter().flat_map(|(.., paths)| paths).map(ToString::to_string).collect();
        let cfg = cx.program.graph();
        let unset = cfg.uninitialized_reads_after_failures(cx.id, |name| names.contains(name));
        for (constraint, expr, paths) in candidates {
            // The check itself reads all of them; each may be unset there.
            let reads = |path: &Path| {
                unset.iter().any(|read| {
                    read.variable.name == path.to_string()
                        && cfg.node(read.read).is_some_and(|node| {
                            matches!(node.origin, Origin::Constraint(c) if std::ptr::eq(c, constraint))
                        })
                })
            };
            if paths.iter().all(reads) && cx.owns(expr.span) {
                let guarded = match &constraint.checkpoint {
                    Some(Checkpoint::ToolCall { target }) => {
                        format!("`{}` is called", target.value)
                    }
                    _ => "the answer is sent".to_owned(),
                };
                report.push(finding(report, expr.span, &paths, &guarded));
            }
        }
    }
    for offer in &cx.index.offers {
        if let Some(expr) = offer.available_when.as_ref().and_then(Condition::expr)
            && let Some(paths) = opened_by(cx, expr, true)
            && cx.owns(expr.span)
        {
            let guarded = format!("`{}` is offered", offer.name.value);
            report.push(finding(report, expr.span, &paths, &guarded));
        }
    }
}

fn finding(report: &Report<'_>, span: Span, paths: &[Path], guarded: &str) -> Diagnostic {
    let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    let (names, have) = match names.as_slice() {
        [one] => (one.clone(), "has"),
        all => (all.join(" and "), "have"),
    };
    report
        .finding(span, format!("this also holds while {names} {have} no value"))
        .note(format!(
            "{guarded} then, although nothing has set it; a call that fails sets nothing either"
        ))
        .help("give it an initial value that closes the guard, or test that it is set, too")
        .confidence(Confidence::Medium)
        .example(paths.iter().map(|path| binding(&path.to_string(), &Value::Undefined)))
}

/// Whether a constraint with this gate applies before anything is set.
fn applies_at_first(cx: &AgentContext<'_, '_>, gate: Option<&Condition>) -> bool {
    gate.and_then(Condition::expr)
        .is_none_or(|expr| outcome(expr, &State::new(), cx.dialect()) == Outcome::True)
}

/// The variables of a guard, if it holds (or, for what must not hold, does not) while none of them has a value, and
/// does not test just that.
fn opened_by(cx: &AgentContext<'_, '_>, expr: &Expr, required: bool) -> Option<Vec<Path>> {
    let wanted = if required { Outcome::True } else { Outcome::False };
    if !is_stable(expr) || outcome(expr, &State::new(), cx.dialect()) != wanted {
        return None;
    }
    let mut paths: Vec<Path> = Vec::new();
    let mut tested = false;
    expr.visit(&mut |e| {
        match &e.kind {
            // What an implication asks for first is a gate.
            ExprKind::IsSet { .. } | ExprKind::Binary { op: BinaryOp::Implies, .. } => {
                tested = true;
            }
            // Only where `!=` says the same as `IS SET` is it such a test.
            ExprKind::Binary { op, left, right }
                if [left, right].iter().any(|side| is_null(side)) =>
            {
                let open = matches!(op, BinaryOp::NotEqual | BinaryOp::StrictNotEqual)
                    && outcome(e, &State::new(), cx.dialect()) == Outcome::True;
                tested |= !open;
            }
            ExprKind::Path(path) if !paths.contains(path) => paths.push(path.clone()),
            _ => {}
        }
        Visit::Children
    });
    let plain = |path: &Path| path.segments.iter().all(|s| matches!(s, Segment::Field(_)));
    let open = !tested
        && !paths.is_empty()
        && paths.iter().all(|path| plain(path) && is_unset_at_first(cx, path));
    open.then_some(paths)
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Null | Literal::Undefined))
}

/// Whether a variable has no value when the conversation begins.
fn is_unset_at_first(cx: &AgentContext<'_, '_>, path: &Path) -> bool {
    let name = path.root.value.as_str();
    match path.namespace.as_ref().map(|n| n.value.as_str()) {
        None => starts_unset(cx, name),
        Some("variables") => cx.program.program.agents().any(|agent| {
            agent.memory.session.iter().any(|v| {
                v.name.value == name && v.initial_value.is_none() && v.mutability != Some("linked")
            })
        }),
        Some(_) => false,
    }
}
