//! Branches over the values of a variable that omit some values.

use crate::evidence::{binding, explain_core};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{branch_guard, branches, is_stable, test};
use agentir_analysis::proof::{FactSource, UnsatCore};
use agentir_diagnostics::{Diagnostic, RuleName, Severity};
use agentir_eval::Value;
use agentir_expr::dialect::{Construct, Keyword};
use agentir_expr::{BinaryOp, Expr, ExprKind, Path, UnaryOp};
use agentir_flow::cfg::{Fact, GuardLiteral, NodeKind};
use agentir_solver::FactKind;
use petgraph::graph::NodeIndex;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("missing-case"),
    group: Group::Proofs,
    severity: Severity::Info,
    summary: "branches on the values of a variable leave some of them out",
    vendor: &[],
    requires: &[Construct::StepGraph],
    check: Check::Agent(check),
};

/// Longer enumerations are not meant to be matched exhaustively.
const MAX_VALUES: usize = 64;

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let Some(agent_cfg) = cx.agent_cfg() else { return };
    for node in agent_cfg.nodes() {
        if let Some(finding) = missing_case(cx, node, report)
            && cx.owns(finding.primary.span)
        {
            report.push(finding);
        }
    }
}

fn missing_case(
    cx: &AgentContext<'_, '_>,
    node: NodeIndex,
    report: &Report<'_>,
) -> Option<Diagnostic> {
    let cfg = cx.program.graph();
    let all = branches(cfg.node(node)?);
    let (tried, None) = branch_guard(all, all.len())? else { return None };
    let (first, rest) = tried.split_first()?;
    let path = subject(first)?;
    if rest.is_empty() || !rest.iter().all(|l| subject(l) == Some(path)) {
        return None;
    }
    // The edge where no branch is taken.
    let (next, edge) = cfg.successors(node).find(|(_, edge)| {
        let guard = || cfg.literals_backwards(edge.guard);
        guard().all(|l| !l.holds) && guard().take(tried.len() + 1).count() == tried.len()
    })?;
    let variable_facts = cx.variable_facts();
    let mut values = variable_facts.values(path);
    if values.is_empty() && variable_facts.is_bool(path) {
        values = vec![Value::Bool(true), Value::Bool(false)];
    }
    if values.len() > MAX_VALUES {
        return None;
    }
    let open = |value: &Value| {
        let mut query = cx.query();
        query.add_fact(path.clone(), FactKind::Is(value.clone()), FactSource::default());
        for known in cx.flow_facts().at(node) {
            match known {
                Fact::Value(set) if set.target.root != path.root => {}
                Fact::Cleared(name) if name.value != path.root.value => {}
                Fact::Test(literal) if subject(&literal) != Some(path) => {}
                known => {
                    query.assume_fact(known);
                }
            }
        }
        tried.iter().for_each(|l| {
            query.assume(test(l.test), l.holds);
        });
        query.is_satisfiable()
    };
    let mut missing = Vec::new();
    for value in &values {
        if open(value)? {
            missing.push(value);
        }
    }
    // If most values are missing, the branches are special cases.
    if missing.is_empty() || missing.len() * 2 > values.len() {
        return None;
    }
    let examples: Vec<String> = missing.iter().map(|v| format!("`{v}`")).collect();
    let mut finding = report.finding(
        first.test.span(),
        format!("no branch handles `{path}` being {}", examples.join(" or ")),
    );
    let (ends, what) = after(cx, next, edge.kind);
    if ends {
        finding.severity = Severity::Warning;
    }
    let core = UnsatCore::of_facts(variable_facts.listed(path));
    let example = missing.first()?;
    Some(
        explain_core(finding, &core)
            .example([binding(&path.to_string(), example)])
            .note(format!("if `{path} = {example}`, {what}"))
            .help(format!(
                "add a branch for this value, or an `{}`",
                cx.words(first.test.span()).keyword(Keyword::Else)
            )),
    )
}

/// Returns what happens where no branch is taken, and whether nothing does.
fn after(
    cx: &AgentContext<'_, '_>,
    next: NodeIndex,
    why: agentir_flow::cfg::EdgeKind,
) -> (bool, &'static str) {
    match cx.program.graph().node(next).map(|n| n.kind) {
        Some(NodeKind::FlowEnd) => (true, "no branch is taken and the flow ends without an answer"),
        _ if why == agentir_flow::cfg::EdgeKind::Sequence => {
            (false, "no branch is taken and the flow continues with the next step")
        }
        _ => (false, "no branch is taken and execution continues after them"),
    }
}

/// Returns the variable that a branch matches.
fn subject<'a>(literal: &GuardLiteral<'a>) -> Option<&'a Path> {
    let expr = literal.test.expr().filter(|e| is_stable(e))?;
    variable(expr)
}

fn variable(expr: &Expr) -> Option<&Path> {
    match &expr.kind {
        ExprKind::Path(path) => Some(path),
        ExprKind::Unary { op: UnaryOp::Not, operand } => variable(operand),
        ExprKind::Or(parts) => {
            let (first, rest) = parts.split_first()?;
            let path = variable(first)?;
            rest.iter().all(|p| variable(p) == Some(path)).then_some(path)
        }
        ExprKind::Binary { op, left, right } => {
            let equals =
                matches!(op, BinaryOp::Equal | BinaryOp::StrictEqual | BinaryOp::Is | BinaryOp::In);
            let constant = |e: &Expr| matches!(e.kind, ExprKind::Literal(_) | ExprKind::List(_));
            match (left.as_path(), right.as_path()) {
                (Some(path), None) if equals && constant(right) => Some(path),
                (None, Some(path)) if equals && constant(left) && *op != BinaryOp::In => Some(path),
                _ => None,
            }
        }
        _ => None,
    }
}
