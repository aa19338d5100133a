//! A value of the wrong type.

use super::argument_type::differ;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::types::{ReferenceTypes, ScopedTypes};
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span};
use agentir_expr::dialect::Construct;
use agentir_expr::{Coercion, Expr, Mismatch, TypeExpr, ValueType};
use agentir_ir::{BindingAction, Data};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("type-mismatch"),
    group: Group::Names,
    severity: Severity::Warning,
    summary: "a value has a type that does not fit where it is used",
    vendor: &[
        "type-mismatch",
        "variable-default-type-mismatch",
        "non-iterable-spread",
        "deterministic-action-output-type-mismatch",
        "list-element-type-mismatch",
        "non-numeric-list-index",
    ],
    requires: &[Construct::DeclaredTypes],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    declarations(cx, cx.dialect().coercion(), report);
    if !cx.traits().namespaced_references {
        return in_scope(cx, report);
    }
    let types = cx.reference_types();
    for set in &cx.index.sets {
        let target = &set.target;
        if target.segments.is_empty()
            && target.namespace.as_ref().is_none_or(|n| n.value == "variables")
        {
            assigned(cx, &types, &target.root.value, &set.value, report);
        }
    }
    for offer in cx.index.offers.iter().filter(|o| matches!(o.action, BindingAction::Collect)) {
        for with in &offer.with {
            if let Some(value) = &with.value {
                assigned(cx, &types, &with.name.value, value, report);
            }
        }
    }
    cx.index.all_exprs(&mut |expr| {
        types.infer(expr, &mut |span, mismatch| report.push(in_words(report, span, mismatch)));
    });
}

/// Names in scope: comparisons are left to the rules that prove their outcome.
fn in_scope(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let types = ScopedTypes::new(cx);
    for set in cx.index.sets.iter().filter(|s| s.target.segments.is_empty()) {
        if let Some((wanted, at)) = types.declared(&set.target.root.value)
            && let Some(found) = types.mismatch(&set.value, wanted)
            && cx.owns(set.value.span)
        {
            report.push(not_a(report, &set.target.root.value, set.value.span, wanted, &found, *at));
        }
    }
    cx.index.all_exprs(&mut |expr| {
        types.infer(expr, &mut |span, mismatch| {
            if !matches!(mismatch, Mismatch::Comparison { .. }) && cx.owns(span) {
                report.push(in_words(report, span, mismatch));
            }
        });
    });
}

/// Checks the initial values of variables and inputs.
fn declarations(cx: &AgentContext<'_, '_>, coercion: &'static Coercion, report: &mut Report<'_>) {
    let memory = &cx.agent.memory;
    let variables = memory.session.iter();
    let variables = variables.map(|v| (&v.name, v.ty.as_ref(), v.initial_value.as_ref()));
    let inputs = cx.agent.tools.iter().flat_map(|t| &t.parameters);
    let inputs = inputs.map(|p| (&p.name, p.ty.as_ref(), p.default.as_ref()));
    for (name, ty, value) in variables.chain(inputs) {
        let (Some(ty), Some(value)) = (ty, value) else { continue };
        let Some(wanted) = ValueType::of(ty) else { continue };
        if let Some(found) = rejected(value, &wanted, coercion) {
            report.push(
                report
                    .finding(
                        name.span,
                        format!(
                            "`{name}` is declared as {}, but its default value is {}",
                            words(ty, &wanted),
                            found.words()
                        ),
                    )
                    .help("change the type or the default value"),
            );
        }
    }
}

/// Returns a declared type with its element type.
fn words(ty: &TypeExpr, of: &ValueType) -> String {
    match (of, &ty.kind) {
        (ValueType::List(Some(element)), _) => format!("a list (each element {})", element.words()),
        _ => of.words().to_owned(),
    }
}

/// Returns the type of a constant that cannot be converted to `wanted`.
fn rejected(value: &Data, wanted: &ValueType, coercion: &Coercion) -> Option<ValueType> {
    let found = match value {
        Data::Null => return None,
        Data::Bool(_) => ValueType::Boolean,
        Data::Number(_) => ValueType::Number,
        Data::String(text) => {
            // Computed values are kept verbatim.
            let constant = !text.starts_with('@');
            return (constant && coercion.rejects_text(text, wanted)).then_some(ValueType::Text);
        }
        Data::Array(items) => {
            let ValueType::List(Some(element)) = wanted else {
                let found = ValueType::List(None);
                return coercion.never(&found, wanted).then_some(found);
            };
            let found = items.iter().find_map(|item| rejected(item, element, coercion))?;
            return Some(ValueType::List(Some(Box::new(found))));
        }
        Data::Object(_) => ValueType::Object,
    };
    coercion.never(&found, wanted).then_some(found)
}

/// Checks a value for a variable.
fn assigned(
    cx: &AgentContext<'_, '_>,
    types: &ReferenceTypes<'_, '_>,
    name: &str,
    value: &Expr,
    report: &mut Report<'_>,
) {
    let (Some(wanted), Some(variable)) = (types.variable(name), cx.program.variables.get(name))
    else {
        return;
    };
    // The vendor's linter compares the declared types of outputs and variables.
    let declared = || {
        let found = value.as_path().and_then(|_| types.infer(value, &mut |_, _| {}))?;
        differ(&found, &wanted).then_some(found)
    };
    let Some(found) = types.mismatch(value, &wanted).or_else(declared) else { return };
    let at = variable.ty.as_ref().map_or(variable.name.span, |ty| ty.span);
    report.push(not_a(report, name, value.span, &wanted, &found, at));
}

fn not_a(
    report: &Report<'_>,
    name: &str,
    value: Span,
    wanted: &ValueType,
    found: &ValueType,
    declared: Span,
) -> Diagnostic {
    let message = format!("`{name}` is {}, but this value is {}", wanted.words(), found.words());
    report
        .finding(value, message)
        .label(declared, "declared here")
        .note("the value is rejected, or converted to something else")
        .help("assign a value of this type, or change the type of the variable")
}

fn in_words(report: &Report<'_>, span: Span, mismatch: Mismatch) -> Diagnostic {
    match mismatch {
        Mismatch::Operand { operator, found, wanted } => report
            .finding(span, format!("`{operator}` expects {wanted}, found {}", found.words()))
            .note("the expression fails when it is evaluated"),
        Mismatch::Comparison { left, right } => report
            .finding(span, format!("this compares {} with {}", left.words(), right.words()))
            .note("values of these types are never equal, so the result is always the same"),
        Mismatch::Index(found) => report
            .finding(span, format!("a list index must be a number, found {}", found.words()))
            .help("write `[0]` for the first element"),
        Mismatch::Member(of, name) => report
            .finding(span, format!("{} has no member `{name}`", of.words()))
            .help("only objects have members; lists and strings have `length`"),
    }
}
