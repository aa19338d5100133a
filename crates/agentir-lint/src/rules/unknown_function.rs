//! A function that does not exist, or not in this version or context.

use crate::names::{check_functions, suggest};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::wording::listed;
use agentir_analysis::expressions::expressions;
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::dialect::{Construct, Functions, Keyword, Phrase};
use agentir_expr::{ExprKind, Visit};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unknown-function"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a function is called that does not exist, or not in this version of ABL",
    vendor: &[
        "CEL_CONDITION_UNRESOLVED_CALL",
        "unknown-function",
        "namespace-function-call",
        "indirect-function-call",
    ],
    requires: &[Construct::Functions],
    check: Check::Agent(check),
};

/// Agent Script lists its functions; agentfabric has more, and namespaces of functions.
fn not_listed(cx: &AgentContext<'_, '_>, known: &[&'static str], report: &mut Report<'_>) {
    if cx.program.open_references {
        return;
    }
    cx.index.all_exprs(&mut |expr| {
        expr.visit(&mut |e| {
            if let ExprKind::Call { function, .. } = &e.kind
                && !known.contains(&function.value.as_str())
            {
                let finding = report
                    .finding(function.span, format!("there is no function `{function}`"))
                    .note("the agent does not compile");
                report.push(suggest(finding, &function.value, known.iter().copied(), || {
                    let all: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                    let call = cx.words(function.span).phrase(Phrase::CallTool);
                    format!("the functions are {}; {call}", listed(&all))
                }));
            }
            Visit::Children
        });
    });
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if let Functions::Listed(known) = cx.dialect().functions() {
        return not_listed(cx, known, report);
    }
    // Calls that do not refer to functions: named templates and tools.
    let mut others: FxHashMap<Span, bool> = FxHashMap::default();
    expressions(cx, &mut |expr, _| {
        expr.visit(&mut |e| {
            if let ExprKind::Call { function, .. } = &e.kind {
                let tool = cx.tool(&function.value).is_some();
                if tool || function.value == "TEMPLATE" {
                    others.insert(function.span, tool);
                }
            }
            Visit::Children
        });
    });
    let mut found = Vec::new();
    check_functions(cx, &mut Report { rule: report.rule, diagnostics: &mut found });
    for mut finding in found {
        match others.get(&finding.primary.span) {
            Some(false) => {}
            Some(true) => {
                finding.message = "tools cannot be called in an expression".to_owned();
                let call = cx.words(finding.primary.span).keyword(Keyword::Call);
                finding.help = Some(format!(
                    "call it in a step with `{call}`, and read its result here: `tool.field`"
                ));
                finding.fixes.clear();
                report.push(finding);
            }
            None => report.push(finding),
        }
    }
}
