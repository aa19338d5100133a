//! An argument of the wrong type.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use crate::signature::signature;
use agentir_analysis::calls::matched_calls;
use agentir_analysis::types::ScopedTypes;
use agentir_diagnostics::{Diagnostic, RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_expr::{Expr, ExprKind, ValueType};
use agentir_ir::{BindingAction, Tool};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("argument-type"),
    group: Group::Names,
    severity: Severity::Error,
    summary: "a tool call passes a value of the wrong type",
    vendor: &["T-06", "type-mismatch", "deterministic-action-input-type-mismatch"],
    requires: &[Construct::DeclaredTypes],
    check: Check::Agent(check),
};

/// References with namespaces: `with` of an action that is run or exposed to the model.
fn with_namespaces(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let types = cx.reference_types();
    let calls = cx.index.calls.iter().flat_map(|call| {
        call.with.iter().filter_map(|a| Some((&call.tool, a.name.as_ref()?, &a.value)))
    });
    let offers = cx.index.offers.iter().filter_map(|offer| match &offer.action {
        BindingAction::Call { tool } => Some((tool, offer)),
        _ => None,
    });
    let offers = offers.flat_map(|(tool, offer)| {
        offer.with.iter().filter_map(move |w| Some((tool, &w.name, w.value.as_ref()?)))
    });
    for (tool, name, value) in calls.chain(offers) {
        let Some(tool) = cx.tool(&tool.value) else { continue };
        let parameter = tool.parameters.iter().find(|p| p.name.value == name.value);
        let Some(parameter) = parameter else { continue };
        let Some(wanted) = parameter.ty.as_ref().and_then(ValueType::of) else { continue };
        // The vendor's linter compares the declared types of variables and inputs.
        let declared = || {
            let found = value.as_path().and_then(|_| types.infer(value, &mut |_, _| {}))?;
            differ(&found, &wanted).then_some(found)
        };
        if let Some(found) = types.mismatch(value, &wanted).or_else(declared) {
            let mut finding = tell(report, tool, &parameter.name.value, value, &wanted, &found)
                .label(parameter.span, "declared here")
                .note("the platform rejects the call, or converts the value to something else");
            // The vendor's tools only warn as well: a platform may have undocumented conversions.
            finding.severity = Severity::Warning;
            report.push(finding);
        }
    }
}

/// Whether two types of single values are different. What converts at run time depends on the value.
pub(super) fn differ(one: &ValueType, other: &ValueType) -> bool {
    let single =
        |ty: &ValueType| matches!(ty, ValueType::Text | ValueType::Number | ValueType::Boolean);
    single(one) && single(other) && one != other
}

fn tell(
    report: &Report<'_>,
    tool: &Tool,
    parameter: &str,
    value: &Expr,
    wanted: &ValueType,
    found: &ValueType,
) -> Diagnostic {
    report.finding(
        value.span,
        format!(
            "`{parameter}` of `{}` expects {}, found {}",
            tool.name,
            wanted.words(),
            found.words(),
        ),
    )
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    if cx.traits().namespaced_references {
        return with_namespaces(cx, report);
    }
    let mut types = None;
    let coercion = cx.dialect().coercion();
    for matched_calls in matched_calls(cx) {
        for (parameter, given) in &matched_calls.parameters {
            let (Some(argument), Some(wanted)) =
                (given, parameter.ty.as_ref().and_then(ValueType::of))
            else {
                continue;
            };
            let mut may_convert = false;
            let found = match &argument.value.kind {
                ExprKind::Path(path) => {
                    types.get_or_insert_with(|| ScopedTypes::new(cx)).of(path).filter(|found| {
                        let never = coercion.never(found, &wanted);
                        // A text may be that of a number, and anything can be written as a text.
                        may_convert = !never;
                        never || (wanted != ValueType::Text && differ(found, &wanted))
                    })
                }
                _ => coercion.rejects(&argument.value, &wanted),
            };
            if let Some(found) = found {
                let tool = matched_calls.tool;
                let mut finding =
                    tell(report, tool, &parameter.name.value, &argument.value, &wanted, &found);
                if may_convert {
                    finding.severity = Severity::Warning;
                }
                report.push(
                    finding
                        .label(parameter.span, "declared here")
                        .help(format!("its signature is `{}`", signature(tool)))
                        .note("a value that cannot be converted makes the call fail"),
                );
            }
        }
    }
}
