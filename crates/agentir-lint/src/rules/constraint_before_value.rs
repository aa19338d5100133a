//! A constraint that is checked before its variables can be set.

use crate::evidence::binding;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::wording::evaluation_point;
use agentir_analysis::conditions::starts_unset;
use agentir_analysis::constraints::{EvaluationPoint, GuardedConstraint, guarded_constraints};
use agentir_analysis::proof::FactSource;
use agentir_diagnostics::{Confidence, Diagnostic, RuleName, Severity, Span};
use agentir_eval::Value;
use agentir_expr::dialect::Construct;
use agentir_expr::{Path, Segment};
use agentir_flow::cfg::{AccessKind, Origin};
use agentir_solver::{FactKind, Test};
use petgraph::graph::NodeIndex;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("constraint-before-value"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a constraint is checked before anything can set the variable it reads",
    vendor: &[],
    requires: &[Construct::Constraints],
    check: Check::Agent(check),
};

/// The definitions of a variable.
#[derive(Default)]
struct Setters {
    nodes: Vec<NodeIndex>,
    /// The first definition.
    first: Option<Span>,
    /// Whether a definition may run at any time, as in hooks and digressions.
    anywhere: bool,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.agent.constraints.constraints.is_empty() || cx.agent.flow.is_none() {
        return;
    }
    let Some(agent_cfg) = cx.agent_cfg() else { return };
    let cfg = cx.program.graph();
    let mut setters: FxHashMap<SmolStr, Setters> = FxHashMap::default();
    let mut checks: FxHashMap<Span, Vec<NodeIndex>> = FxHashMap::default();
    // A check that is never made is another mistake.
    let reachable = cfg.reachable_in(cx.id);
    for at in agent_cfg.nodes() {
        let Some(node) = cfg.node(at) else { continue };
        if let Origin::Constraint(constraint) = node.origin
            && reachable.contains(at)
        {
            checks.entry(constraint.span).or_default().push(at);
        }
        for access in cfg.defs(at).iter().filter(|a| a.kind == AccessKind::Def) {
            let set = setters.entry(SmolStr::new(access.variable.root())).or_default();
            set.nodes.push(at);
            set.first = set.first.or(Some(access.variable.span));
            set.anywhere |= node.step.is_none();
        }
    }
    for (point, all) in guarded_constraints(cx) {
        if matches!(point, EvaluationPoint::Zone(_)) {
            continue;
        }
        for guarded in &all {
            let Some(nodes) = checks.get(&guarded.constraint.span) else { continue };
            for name in &guarded.about {
                let own = starts_unset(cx, name);
                let Some(set) = setters.get(name).filter(|s| own && !s.anywhere) else { continue };
                let reached = cfg.reachable(set.nodes.iter().copied(), |_| true);
                if nodes.iter().any(|n| reached.contains(*n)) {
                    continue;
                }
                if let Some(finding) = unset(cx, guarded, point, name, set, report)
                    && cx.owns(finding.primary.span)
                {
                    report.push(finding);
                    break;
                }
            }
        }
    }
}

/// Reports the effect of a constraint on a variable that is never set before.
fn unset<'a>(
    cx: &AgentContext<'_, 'a>,
    guarded: &GuardedConstraint<'a>,
    point: EvaluationPoint<'_>,
    name: &str,
    set: &Setters,
    report: &Report<'_>,
) -> Option<Diagnostic> {
    let mut query = cx.query();
    let paths = paths(guarded, name);
    for path in &paths {
        let source = FactSource::default();
        query.add_fact(path.clone(), FactKind::Is(Value::Undefined), source);
    }
    guarded.gates.iter().for_each(|gate| {
        query.assume(*gate, true);
    });
    // A gate that excludes unset values works as intended.
    query.is_satisfiable()?.then_some(())?;
    let outcome = |holds: bool| query.prove(guarded.test, holds).is_some();
    let what = if outcome(!guarded.required) {
        "so it always fails"
    } else if outcome(guarded.required) {
        "so it never fails"
    } else {
        return None;
    };
    let mut finding = report
        .finding(
            guarded.constraint.condition.span(),
            format!("`{name}` cannot have a value when this is checked, {what}"),
        )
        .note(format!("it is checked {}", evaluation_point(point)))
        .help(format!("set `{name}` before this, or check it where it is known"))
        .confidence(Confidence::Medium)
        .example(paths.iter().map(|path| binding(&path.to_string(), &Value::Undefined)));
    if let Some(span) = set.first {
        finding = finding.label(span, format!("`{name}` is set here, which happens later"));
    }
    Some(finding)
}

/// Returns the paths below a root variable that a constraint reads.
fn paths(guarded: &GuardedConstraint<'_>, name: &str) -> Vec<Path> {
    let mut found = Vec::new();
    for test in guarded.gates.iter().chain([&guarded.test]) {
        if let Test::Expr(expr) = test {
            expr.paths(&mut |path| {
                let plain = path.segments.iter().all(|s| matches!(s, Segment::Field(_)));
                if path.root.value == name && plain && !found.contains(path) {
                    found.push(path.clone());
                }
            });
        }
    }
    found
}
