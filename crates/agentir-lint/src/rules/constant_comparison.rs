//! A comparison with a constant outcome: by the types, by letter case, by the enumerated values.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::comparisons;
use agentir_analysis::proof::UnsatCore;
use agentir_diagnostics::{Applicability, Diagnostic, RuleName, Severity, Span, closest};
use agentir_eval::Value;
use agentir_expr::dialect::Construct;
use agentir_expr::{BinaryOp, Expr, ExprKind, Literal, Path};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("constant-comparison"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a comparison is always true or always false",
    vendor: &[],
    requires: &[Construct::Comparisons],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    // Type errors are reported by other rules.
    let mut seen = cx.mistyped_conditions().clone();
    seen.extend(cx.broken_comparisons());
    let conditions = cx.index.conditions.iter().filter_map(|(condition, _)| condition.expr());
    let filters = cx.index.transforms.iter().filter_map(|transform| transform.filter.as_ref());
    for expr in conditions.chain(filters).filter(|expr| cx.owns(expr.span)) {
        comparisons(expr, &mut |comparison| {
            if !seen.insert(comparison.span) {
                return;
            }
            match cx.decide_comparison(comparison) {
                Some((holds, core)) => {
                    let finding = decided(cx, comparison, holds, report);
                    report.push(explain_core(finding, &core));
                }
                None => members(cx, comparison, report),
            }
        });
    }
}

fn decided(
    cx: &AgentContext<'_, '_>,
    comparison: &Expr,
    holds: bool,
    report: &Report<'_>,
) -> Diagnostic {
    let always = if holds { "always" } else { "never" };
    let finding = report.finding(comparison.span, format!("`{comparison}` is {always} true"));
    let ExprKind::Binary { op, left, right } = &comparison.kind else { return finding };
    let sides = [(left, right), (right, left)];
    let unset = |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::Null | Literal::Undefined));
    if holds
        && *op == BinaryOp::NotEqual
        && let Some((path, _)) = sides.into_iter().find(|(_, b)| unset(b))
    {
        return finding
            .note("`!=` is true if either side is null, so it is true whether there is a value or not")
            .help(format!("write `{path} IS SET`"))
            .replace(format!("{path} IS SET"), Applicability::Unsafe);
    }
    let compared = sides.into_iter().find_map(|(a, b)| Some((a.as_path()?, value(cx, b)?, b.span)));
    if let Some((path, Value::Text(text), at)) = &compared {
        let values = values_of(cx, path);
        if let Some(near) = meant(text, &values) {
            return instead(finding, *at, &near);
        }
        if let Ok(truth) = text.parse::<bool>() {
            let semantics = cx.dialect().semantics();
            let word = if truth { semantics.true_text } else { semantics.false_text };
            return finding.help(format!("compare with `{word}`, without quotes")).replace_at(
                *at,
                word,
                Applicability::Unsafe,
            );
        }
        if let Ok(number) = text.parse::<f64>() {
            return finding.help(format!("compare with the number: `{number}`")).replace_at(
                *at,
                number.to_string(),
                Applicability::Unsafe,
            );
        }
    }
    finding.help(if holds {
        "compare with a value that it need not have, or remove the comparison"
    } else {
        "compare with a value that it can have, or remove what depends on it"
    })
}

/// Reports members of a list that the variable never has.
fn members(cx: &AgentContext<'_, '_>, comparison: &Expr, report: &mut Report<'_>) {
    let ExprKind::Binary { op: BinaryOp::In | BinaryOp::NotIn, left, right } = &comparison.kind
    else {
        return;
    };
    let (Some(path), ExprKind::List(items)) = (left.as_path(), &right.kind) else { return };
    let values = values_of(cx, path);
    if values.is_empty() {
        return;
    }
    for item in items {
        let Some(value) = value(cx, item).filter(|v| !v.is_unset()) else { continue };
        if values.iter().any(|v| agentir_eval::equal(v, &value)) {
            continue;
        }
        let mut finding =
            report.finding(item.span, format!("`{path}` never has the value `{item}`"));
        if let Value::Text(text) = &value
            && let Some(near) = meant(text, &values)
        {
            finding = instead(finding, item.span, &near);
        }
        let core = UnsatCore::of_facts(cx.variable_facts().listed(path));
        report.push(explain_core(finding, &core));
    }
}

/// Suggests the string `near` at `at`.
fn instead(finding: Diagnostic, at: Span, near: &str) -> Diagnostic {
    let written = Literal::String(near.into()).to_string();
    finding.help(format!("did you mean `{written}`?")).replace_at(
        at,
        written,
        Applicability::Unsafe,
    )
}

/// Returns the value of a constant.
fn value(cx: &AgentContext<'_, '_>, expr: &Expr) -> Option<Value> {
    match expr.kind {
        ExprKind::Literal(_) => {
            agentir_eval::evaluate(expr, &agentir_eval::State::new(), cx.dialect()).ok()
        }
        _ => None,
    }
}

fn values_of(cx: &AgentContext<'_, '_>, path: &Path) -> Vec<Value> {
    cx.variable_facts().values(path)
}

/// Returns the value that was probably meant: equal except for case, or similar.
fn meant(text: &str, values: &[Value]) -> Option<String> {
    let texts = || {
        values.iter().filter_map(|v| if let Value::Text(t) = v { Some(t.as_str()) } else { None })
    };
    let folded = text.trim().to_lowercase();
    texts()
        .find(|t| t.trim().to_lowercase() == folded)
        .or_else(|| closest(text, texts()))
        .map(str::to_owned)
}
