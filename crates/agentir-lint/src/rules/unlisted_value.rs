//! A value that is not in the enumeration of its target.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::calls::matched_calls;
use agentir_diagnostics::{Applicability, RuleName, Severity, Span, closest};
use agentir_expr::dialect::Construct;
use agentir_expr::{Expr, ExprKind, Literal};
use agentir_ir::{Data, GatherField};
use rustc_hash::FxHashMap;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unlisted-value"),
    group: Group::Data,
    severity: Severity::Warning,
    summary: "a value is not among those that are listed for the field or parameter",
    vendor: &[],
    requires: &[Construct::ValueLists],
    check: Check::Agent(check),
};

/// The enumerated values of a target, with their span.
struct Listed<'a> {
    values: Vec<&'a str>,
    at: Span,
}

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let fields = listed(cx);
    for set in cx.index.sets.iter().filter(|s| s.target.segments.is_empty()) {
        let name = set.target.root.value.as_str();
        if let Some(Some(listed)) = fields.get(name) {
            constant(cx, name, &set.value, listed, report);
        }
    }
    for field in &cx.index.fields {
        if let (Some(Data::String(text)), Some(Some(listed))) =
            (&field.default, fields.get(field.name.value.as_str()))
        {
            // The IR has no span for defaults.
            tell(cx, &field.name.value, text, field.name.span, listed, report, false);
        }
    }
    synonyms(cx, report);
    for parameter in cx.agent.tools.iter().flat_map(|tool| &tool.parameters) {
        let (Some(Data::String(text)), false) = (&parameter.default, parameter.values.is_empty())
        else {
            continue;
        };
        let values = parameter.values.iter().map(|value| value.text.value.as_str());
        let listed = Listed { values: values.collect(), at: parameter.span };
        tell(cx, &parameter.name.value, text, parameter.name.span, &listed, report, false);
    }
    for matched_calls in matched_calls(cx) {
        for (parameter, given) in &matched_calls.parameters {
            let values = parameter.values.iter().map(|v| v.text.value.as_str());
            let listed = Listed { values: values.collect(), at: parameter.span };
            if let (Some(argument), false) = (given, listed.values.is_empty()) {
                constant(cx, &parameter.name.value, &argument.value, &listed, report);
            }
        }
    }
}

/// Other words for values that are not listed. The IR has no span for them.
fn synonyms(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let fields = cx.index.fields.iter().filter_map(|field| {
        let listed = values(field).filter(|_| field.entity_ref.is_none())?;
        Some((&field.name, listed, field.synonyms.as_ref()?))
    });
    let entities = cx.agent.entities.iter().filter_map(|entity| {
        let (first, last) = (entity.values.first()?, entity.values.last()?);
        let values = entity.values.iter().map(|value| value.value.as_str()).collect();
        let listed = Listed { values, at: first.span.to(last.span) };
        Some((&entity.name, listed, entity.synonyms.as_ref()?))
    });
    for (name, listed, synonyms) in fields.chain(entities) {
        let Data::Object(synonyms) = synonyms else { continue };
        for value in synonyms.keys() {
            tell(cx, &name.value, value, name.span, &listed, report, false);
        }
    }
}

/// Returns the enumerations of fields by name; `None` if several fields of one name disagree.
fn listed<'a>(cx: &AgentContext<'_, 'a>) -> FxHashMap<&'a str, Option<Listed<'a>>> {
    let mut found: FxHashMap<&str, Option<Listed<'a>>> = FxHashMap::default();
    for field in cx.index.fields.iter().copied() {
        let own = values(field);
        match found.get_mut(field.name.value.as_str()) {
            None => {
                found.insert(&field.name.value, own);
            }
            Some(known) => {
                let same = known.as_ref().map(|l| &l.values) == own.as_ref().map(|l| &l.values);
                if !same {
                    *known = None;
                }
            }
        }
    }
    found
}

fn values(field: &GatherField) -> Option<Listed<'_>> {
    let (first, last) = (field.enum_values.first()?, field.enum_values.last()?);
    let values = field.enum_values.iter().map(|v| v.value.as_str()).collect();
    Some(Listed { values, at: first.span.to(last.span) })
}

fn constant(
    cx: &AgentContext<'_, '_>,
    name: &str,
    value: &Expr,
    listed: &Listed<'_>,
    report: &mut Report<'_>,
) {
    if let ExprKind::Literal(Literal::String(text)) = &value.kind {
        tell(cx, name, text, value.span, listed, report, true);
    }
}

fn tell(
    cx: &AgentContext<'_, '_>,
    name: &str,
    text: &str,
    at: Span,
    listed: &Listed<'_>,
    report: &mut Report<'_>,
    is_value: bool,
) {
    // Templates are not constant, and an empty string stands for no value.
    let open = text.is_empty() || text.contains("{{");
    if open || listed.values.contains(&text) || !cx.owns(at) {
        return;
    }
    let finding = report
        .finding(at, format!("`{text}` is not one of the values of `{name}`"))
        .label(listed.at, "these are its values")
        .note("conditions and branches that test for the listed values do not match");
    report.push(match closest(text, listed.values.iter().copied()) {
        Some(near) if is_value => finding
            .help(format!("did you mean `{near}`?"))
            .replace(Literal::String(near.into()).to_string(), Applicability::Unsafe),
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help("use one of the values, or add this one"),
    });
}
