//! A guard that cannot be evaluated, whatever the state.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::broken_guards::{Fields, Unset, always_fails, types_of_fields};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_eval::pattern;
use agentir_ir::{GatherField, Node, Requirement, Validation};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("broken-guard"),
    group: Group::Security,
    severity: Severity::Error,
    summary: "a constraint, guardrail, check or validation cannot be evaluated, so that it refuses what it guards",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let fields = types_of_fields(cx);
    let mut seen: FxHashSet<Span> = FxHashSet::default();
    cx.agent.walk(&mut |node| {
        if let Node::Field(field) = node {
            for (span, why) in broken_rules(cx, &fields, field) {
                refused(cx, report, &mut seen, span, &why);
            }
        }
    });
    for entity in &cx.agent.entities {
        let validation = entity.validation.as_ref();
        if let Some((span, why)) =
            validation.and_then(|v| broken_rule(cx, &fields, v, !entity.values.is_empty()))
        {
            refused(cx, report, &mut seen, span, &why);
        }
    }
    undecided_confirmations(cx, report, &mut seen);
    for question in cx.agent.constraints.guardrails.iter().filter_map(|g| g.llm_check.as_ref()) {
        let span = question.text.span;
        if question.text.value.trim().is_empty() && cx.owns(span) && seen.insert(span) {
            report.push(
                report
                    .finding(span, "this cannot be evaluated: it asks the model nothing")
                    .note("what it guards is refused, whatever the user says")
                    .help("write what must not be so, for the model to judge"),
            );
        }
    }
    for guard in cx.guards() {
        let broken = guard.broken.as_ref();
        let guard = guard.expr;
        if let Some(text) = guard.text_as_condition() {
            if cx.owns(text.span) && seen.insert(guard.span) {
                let message = "this cannot be evaluated: a quoted string is not a condition";
                report.push(
                    report
                        .finding(text.span, message)
                        .note("what it guards is refused, whatever the user says")
                        .help("write the condition without the quotes"),
                );
            }
            continue;
        }
        if !cx.owns(guard.span) || seen.contains(&guard.span) {
            continue;
        }
        let whole = || {
            let why = always_fails(cx, &fields, guard, Unset::Too)?;
            Some((guard.span, why, "what it guards is refused, whatever the user says"))
        };
        let part = || {
            let part = broken?;
            let note = match part.is_always_evaluated {
                true => "what it guards is refused once there are values to compare",
                false => "what it guards is refused, unless another part decides before this one",
            };
            Some((part.expr.span, part.why.clone(), note))
        };
        if let Some((span, why, note)) = whole().or_else(part) {
            seen.insert(guard.span);
            report.push(
                report
                    .finding(span, format!("this cannot be evaluated: {why}"))
                    .note(note)
                    .help("write a condition that has a value"),
            );
        }
    }
}

/// Reports settings that say whether the user is asked before a call, and that are not known before a conversation.
fn undecided_confirmations(
    cx: &AgentContext<'_, '_>,
    report: &mut Report<'_>,
    seen: &mut FxHashSet<Span>,
) {
    for tool in &cx.agent.tools {
        if let Some(unread) = tool.unread_confirmation()
            && unread.value.as_str().is_some_and(|text| text.contains("{{"))
            && cx.owns(unread.span)
            && seen.insert(unread.span)
        {
            let tool = &tool.name.value;
            report.push(
                report
                    .finding(
                        unread.span,
                        format!("it is not known whether `{tool}` has to be confirmed"),
                    )
                    .note("the user is asked before each call")
                    .help("write `always`, `never` or `when_side_effects`"),
            );
        }
    }
}

/// Reports a rule that refuses all values.
fn refused(
    cx: &AgentContext<'_, '_>,
    report: &mut Report<'_>,
    seen: &mut FxHashSet<Span>,
    span: Span,
    why: &str,
) {
    if cx.owns(span) && seen.insert(span) {
        report.push(
            report
                .finding(span, format!("this cannot be evaluated: {why}"))
                .note("all values are refused")
                .help(
                    "write functions such as `min(1) max(9)`, `enum(a, b)`, `pattern(…)` or `email()`, \
                     or a text that a model can judge",
                ),
        );
    }
}

/// The rules of a field that refuse all values, with the reasons.
fn broken_rules(
    cx: &AgentContext<'_, '_>,
    fields: &Fields<'_>,
    field: &GatherField,
) -> Vec<(Span, String)> {
    let listed = !field.enum_values.is_empty() || field.entity_ref.is_some();
    let own = field.validation.as_ref();
    let own = own.and_then(|validation| broken_rule(cx, fields, validation, listed));
    // Brackets that are never closed have been reported, but for those in strings of JSON.
    let text = field.range.as_ref().and_then(|range| range.as_str()).unwrap_or_default();
    let range = field.own_range().and_then(|range| match range {
        Ok(range) => no_value(&range),
        Err(why) if cx.words(field.name.span).is_json() || !text.starts_with(['[', '{']) => {
            Some(why.to_string())
        }
        Err(_) => None,
    });
    own.into_iter().chain(range.map(|why| (field.name.span, why))).collect()
}

/// Why no value fulfils a requirement.
fn no_value(requirement: &Requirement<'_>) -> Option<String> {
    match requirement {
        Requirement::Range { least: Some(least), most: Some(most) } if least > most => {
            Some(format!("no value is from {least} to {most}"))
        }
        _ => None,
    }
}

fn broken_rule(
    cx: &AgentContext<'_, '_>,
    fields: &Fields<'_>,
    validation: &Validation,
    listed: bool,
) -> Option<(Span, String)> {
    let (rule, span) = (&validation.rule.value, validation.rule.span);
    // A parenthesis that is never closed has been reported where it is written without quotes.
    let is_bare = !cx.words(span).is_json() && (span.end - span.start) as usize == rule.len();
    if is_bare && rule.matches('(').count() > rule.matches(')').count() {
        return None;
    }
    // An expression about the value, which it has by then.
    if let Some(check) =
        validation.check.as_ref().filter(|check| check.text_as_condition().is_none())
        && let Some(error) = always_fails(cx, fields, check, Unset::OfField)
    {
        return Some((span, error.to_string()));
    }
    let requirements = match validation.requirements(listed) {
        Ok(requirements) => requirements,
        Err(why) => return Some((span, why.to_string())),
    };
    requirements.iter().find_map(|requirement| match requirement {
        Requirement::Pattern(text) => Some((span, pattern(text).err()?.to_string())),
        requirement => no_value(requirement).map(|why| (span, why)),
    })
}
