//! A branch that is taken for an unset variable, because unset counts as 0.

use crate::evidence::{binding, step_transitions};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{branch_guard, branches, is_stable, starts_unset, test};
use agentir_analysis::proof::FactSource;
use agentir_diagnostics::{Confidence, Diagnostic, Label, RuleName, Severity, Span};
use agentir_eval::{Outcome, State, Value, outcome};
use agentir_expr::dialect::{Construct, Unset};
use agentir_expr::{BinaryOp, Expr, ExprKind, Path, Visit};
use agentir_flow::cfg::{Fact, GuardLiteral, Origin};
use agentir_solver::FactKind;
use petgraph::graph::{EdgeIndex, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unset-counts-as-zero"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a branch is also taken if the variable it compares has no value",
    vendor: &[],
    requires: &[Construct::StepGraph],
    check: Check::Agent(check),
};

/// A branch that compares a variable by order.
struct Compares<'a> {
    node: NodeIndex,
    earlier: Vec<GuardLiteral<'a>>,
    own: GuardLiteral<'a>,
    path: &'a Path,
    comparison: &'a Expr,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.dialect().semantics().unset_number == Unset::Error {
        return;
    }
    let Some(agent_cfg) = cx.agent_cfg() else { return };
    let cfg = cx.program.graph();
    // The user may provide the fields of the agent at any time.
    let fields = &cx.agent.gather.fields;
    let fields: FxHashSet<&str> = fields.iter().map(|f| f.name.value.as_str()).collect();
    let asked = |path: &Path| fields.contains(path.root.value.as_str());
    let nothing = State::new();
    let mut all = Vec::new();
    for node in agent_cfg.nodes() {
        let Some(branched) = cfg.node(node).map(branches) else { continue };
        for at in 0..branched.len() {
            let Some((earlier, own)) = branch_guard(branched, at) else { break };
            let Some((own, expr)) = own.and_then(|o| Some((o, o.test.expr()?))) else { continue };
            ordered(expr, &mut |path, comparison| {
                if outcome(comparison, &nothing, cx.dialect()) == Outcome::True
                    && is_stable(expr)
                    && !asked(path)
                    && starts_unset(cx, &path.root.value)
                {
                    all.push(Compares { node, earlier: earlier.clone(), own, path, comparison });
                }
            });
        }
    }
    if all.is_empty() {
        return;
    }
    let names: FxHashSet<String> = all.iter().map(|c| c.path.to_string()).collect();
    let unset = cfg.uninitialized_reads(cx.id, |name| names.contains(name));
    let paths: FxHashMap<(NodeIndex, &str), &[EdgeIndex]> =
        unset.iter().map(|u| ((u.read, u.variable.name.as_str()), u.path.as_slice())).collect();
    let mut seen = FxHashSet::default();
    for compares in all {
        let name = compares.path.to_string();
        if let Some(edges) = paths.get(&(compares.node, name.as_str()))
            && cx.owns(compares.own.test.span())
            && let Some(finding) = taken_unset(cx, &compares, edges, report)
            && seen.insert(finding.primary.span)
        {
            report.push(finding);
        }
    }
}

/// Calls `found` with the comparisons with a constant by order that determine the whole condition,
/// without a negation.
fn ordered<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a Path, &'a Expr)) {
    use BinaryOp::{Greater, GreaterEqual, Less, LessEqual};
    expr.visit(&mut |e| match &e.kind {
        ExprKind::And(_) | ExprKind::Or(_) => Visit::Children,
        ExprKind::Binary { op: Less | LessEqual | Greater | GreaterEqual, left, right } => {
            let constant = |e: &Expr| matches!(e.kind, ExprKind::Literal(_));
            match (left.as_path(), right.as_path()) {
                (Some(path), None) if constant(right) => found(path, e),
                (None, Some(path)) if constant(left) => found(path, e),
                _ => {}
            }
            Visit::Skip
        }
        _ => Visit::Skip,
    });
}

fn taken_unset<'a>(
    cx: &AgentContext<'_, 'a>,
    compares: &Compares<'a>,
    edges: &[EdgeIndex],
    report: &Report<'_>,
) -> Option<Diagnostic> {
    let path = compares.path;
    let mut query = cx.query();
    query.add_fact(path.clone(), FactKind::Is(Value::Undefined), FactSource::default());
    // The unset value must be the reason.
    query.prove(compares.comparison, true)?;
    for known in cx.flow_facts().at(compares.node) {
        match known {
            Fact::Test(literal) if literal.test.expr().is_some() => {
                query.assume_fact(known);
            }
            _ => {}
        }
    }
    for literal in compares.earlier.iter().chain([&compares.own]) {
        query.assume(test(literal.test), literal.holds);
    }
    query.is_satisfiable()?.then_some(())?;
    let mut finding = report
        .finding(
            compares.own.test.span(),
            format!("this branch is also taken if `{path}` has no value"),
        )
        .note("in `<`, `<=`, `>` and `>=`, a variable without a value counts as 0")
        .help(format!("add `{path} IS SET AND`, or collect `{path}` first"))
        .confidence(Confidence::Medium)
        .example([binding(&path.to_string(), &Value::Undefined)]);
    let transitions = step_transitions(cx.program.graph(), edges).into_iter();
    let mut run: Vec<Label> =
        transitions.map(|(span, message)| Label::new(span, message)).collect();
    if !run.is_empty() {
        run.push(Label::new(finding.primary.span, finding.message.as_str()));
    }
    finding = finding.run(run, false);
    if let Some((span, step)) = passed(cx, edges) {
        finding = finding
            .label(span, format!("a path through `{step}` leads here without setting `{path}`"));
    }
    Some(finding)
}

/// Returns the last step on a path.
fn passed<'a>(cx: &AgentContext<'_, 'a>, edges: &[EdgeIndex]) -> Option<(Span, &'a str)> {
    let cfg = cx.program.graph();
    let mut steps = edges.iter().rev().filter_map(|edge| {
        let (_, to, _) = cfg.edge(*edge)?;
        match cfg.node(to)?.origin {
            Origin::Step(step) => Some((step.name.span, step.name.value.as_str())),
            _ => None,
        }
    });
    steps.next()
}
