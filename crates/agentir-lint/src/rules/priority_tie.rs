//! Alternatives with the same priority that can apply together.

use crate::evidence::bindings;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::routes::{self, Route, numeric_priority};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::Condition;
use agentir_expr::dialect::{Construct, Keyword};
use agentir_ir::Profile;
use agentir_solver::Example;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("priority-tie"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "two rules, handoffs or profiles of the same priority conflict",
    vendor: &[],
    requires: &[Construct::RoutingRules],
    check: Check::Agent(check),
};

/// Each alternative is compared with this many of those before it.
const MAX_NEIGHBOURS: usize = 64;

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    routes(cx, &routes::rules(cx.agent), "rules", report);
    routes(cx, &routes::handoffs(cx.agent), "handoffs", report);
    profiles(cx, report);
}

fn routes<'a>(cx: &AgentContext<'_, 'a>, all: &[Route<'a>], what: &str, report: &mut Report<'_>) {
    for (at, later) in all.iter().enumerate() {
        let mut nearest = all.iter().take(at).rev().take(MAX_NEIGHBOURS);
        let tied = nearest.find_map(|earlier| {
            let tied = same(earlier.priority, later.priority)
                && !earlier.is_of_rule_of(later)
                && earlier.to != later.to
                && !earlier.narrowed
                && !later.narrowed;
            if !tied {
                return None;
            }
            let state = match shared_intent(earlier, later) {
                Some(intent) => {
                    let also = together(cx, [earlier.when, later.when], 0)?;
                    let and = if also.is_any() { String::new() } else { format!(" and `{also}`") };
                    (format!("the user wants `{intent}`{and}"), also)
                }
                None if earlier.intents.is_empty() || later.intents.is_empty() => {
                    let state = together(cx, [earlier.when, later.when], 2)?;
                    (quoted(&state.to_string()), state)
                }
                None => return None,
            };
            Some((earlier, state))
        });
        let Some((earlier, (text, state))) = tied else { continue };
        let to = |route: &Route<'_>| match route.to {
            Some(to) => format!("leads to `{to}`"),
            None => "leads to another target".to_owned(),
        };
        report.push(
            report
                .finding(
                    later.at(),
                    format!("two {what} of the same priority apply{}", when(&text)),
                )
                .at(format!("this {}", to(later)))
                .label(earlier.at(), format!("this {}, with the same priority", to(earlier)))
                .example(bindings(&state))
                .note(format!(
                    "{what} are tried in ascending order of `{}`; the order among equal priorities is undefined",
                    cx.words(later.at()).keyword(Keyword::Priority)
                ))
                .help("give them different priorities, or make one condition exclude the other"),
        );
    }
}

fn profiles(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let all: Vec<&Profile> = cx.profiles().filter(|p| cx.owns(p.span)).collect();
    for (at, later) in all.iter().enumerate() {
        let own = numeric_priority(Some(&later.priority));
        let mut near = all.iter().take(at).skip(at.saturating_sub(MAX_NEIGHBOURS));
        let tied = near.find_map(|earlier| {
            if !same(own, numeric_priority(Some(&earlier.priority))) {
                return None;
            }
            let (field, span, other) = disagree(earlier, later)?;
            let state = together(cx, [earlier.when.as_ref(), later.when.as_ref()], 0)?;
            Some((field, span, other, state))
        });
        let Some((field, span, other, state)) = tied else { continue };
        report.push(
            report
                .finding(
                    span,
                    format!(
                        "two profiles of the same priority set `{field}`{}",
                        when(&quoted(&state.to_string()))
                    ),
                )
                .at(format!("`{}` sets it", later.name))
                .label(other, "this profile sets it to something else")
                .example(bindings(&state))
                .note(format!(
                    "among profiles that apply together, the one with the highest `{}` wins",
                    cx.words(span).keyword(Keyword::Priority)
                ))
                .help("give them different priorities, or make one condition exclude the other"),
        );
    }
}

/// Returns a field that both profiles set, with its spans in the second and in the first one.
fn disagree(a: &Profile, b: &Profile) -> Option<(&'static str, Span, Span)> {
    let field = super::shadowed_profile::fields(b).into_iter().find(|field| {
        field.decides && super::shadowed_profile::fields(a).iter().any(|f| f.name == field.name)
    })?;
    Some((field.name, b.name.span, a.name.span))
}

fn same(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
}

fn quoted(state: &str) -> String {
    if state.is_empty() { String::new() } else { format!("`{state}`") }
}

fn when(state: &str) -> String {
    if state.is_empty() { String::new() } else { format!(" when {state}") }
}

/// Returns an intent that both routes match.
fn shared_intent<'a>(a: &Route<'a>, b: &Route<'_>) -> Option<&'a str> {
    a.intents.iter().map(|i| i.value.as_str()).find(|intent| b.takes(intent))
}

/// Returns a state in which the conditions hold. `None` if there is none, if it is
/// undecided, or if there are fewer than `least` conditions.
fn together<'a>(
    cx: &AgentContext<'_, 'a>,
    conditions: [Option<&'a Condition>; 2],
    least: usize,
) -> Option<Example> {
    let conditions: Vec<_> = conditions.into_iter().flatten().collect();
    if conditions.len() < least {
        return None;
    }
    let mut query = cx.query();
    for condition in conditions {
        condition.expr()?;
        query.assume(condition, true);
    }
    query.solve()?.state()
}
