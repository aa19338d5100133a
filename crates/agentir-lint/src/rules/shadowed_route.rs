//! A handoff or a routing rule that an earlier one shadows.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::routes::{self, Route};
use agentir_analysis::shadowing::{Shadowed, shadowed_by};
use agentir_diagnostics::{Diagnostic, RuleName, Severity, Span};
use agentir_expr::Condition;
use agentir_expr::dialect::{Construct, Keyword};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("shadowed-route"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a handoff or routing rule never applies because an earlier one always does",
    vendor: &[],
    requires: &[Construct::RoutingRules],
    check: Check::Agent(check),
};

/// The maximum number of earlier routes to compare with; longer tables are generated.
const MAX_ROUTES: usize = 128;

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for (routes, what) in
        [(routes::rules(cx.agent), "rule"), (routes::handoffs(cx.agent), "handoff")]
    {
        for (at, route) in routes.iter().enumerate() {
            let from = if routes.len() > MAX_ROUTES { at.saturating_sub(MAX_ROUTES) } else { 0 };
            let to = if routes.len() > MAX_ROUTES { at } else { routes.len() };
            let near = routes.get(from..to).unwrap_or_default();
            let earlier: Vec<&Route<'_>> =
                near.iter().filter(|e| !e.narrowed && e.precedes(route)).collect();
            if earlier.is_empty() {
                continue;
            }
            if route.intents.is_empty() {
                if let Some(proof) = by(cx, &earlier, route, None) {
                    let message = match route.to {
                        Some(to) => format!("this {what} never leads to `{to}`"),
                        None => format!("this {what} never applies"),
                    };
                    report.push(explain(cx, report, route.at(), message, &proof, what));
                }
            } else {
                intents(cx, &earlier, route, report);
            }
        }
    }
}

/// Returns the intents of a route that an earlier one matches; whether all of them do.
fn intents<'a>(
    cx: &AgentContext<'_, 'a>,
    earlier: &[&Route<'a>],
    route: &Route<'a>,
    report: &mut Report<'_>,
) {
    let lost: Vec<_> = route
        .intents
        .iter()
        .filter_map(|intent| Some((intent, by(cx, earlier, route, Some(&intent.value))?)))
        .collect();
    for (intent, proof) in &lost {
        let (name, to) = (&intent.value, route.to.unwrap_or("here"));
        let message = if lost.len() == route.intents.len() {
            format!("the intent `{name}` never leads to `{to}`, nor do the others of this rule")
        } else {
            format!("the intent `{name}` never leads to `{to}`")
        };
        report.push(explain(cx, report, intent.span, message, proof, "rule"));
    }
}

/// Why a route never applies.
struct Proof<'r, 'a> {
    by: Vec<(&'r Route<'a>, Span)>,
    shadowed_by: Shadowed,
}

/// Returns the earlier routes that always apply when this one does, for an intent if it has
/// intents.
fn by<'r, 'a>(
    cx: &AgentContext<'_, 'a>,
    earlier: &[&'r Route<'a>],
    route: &Route<'a>,
    intent: Option<&str>,
) -> Option<Proof<'r, 'a>> {
    let mut tried: Vec<(&'r Route<'a>, Option<&'a Condition>, Span)> = Vec::new();
    for other in earlier {
        let taken = intent
            .and_then(|name| other.intents.iter().find(|i| i.value.eq_ignore_ascii_case(name)));
        // Branches of one rule share its condition.
        let when = if other.is_of_rule_of(route) { None } else { other.when };
        match taken {
            Some(taken) => tried.push((other, when, taken.span)),
            // Without a condition the model decides whether it applies.
            None if other.intents.is_empty() && when.is_some() => {
                tried.push((other, when, other.at()));
            }
            None => {}
        }
    }
    let conditions: Vec<_> = tried.iter().map(|(_, when, _)| *when).collect();
    let shadowed_by = shadowed_by(cx, &conditions, route.when)?;
    let by =
        shadowed_by.by.iter().filter_map(|at| tried.get(*at)).map(|(r, _, s)| (*r, *s)).collect();
    Some(Proof { by, shadowed_by })
}

fn explain(
    cx: &AgentContext<'_, '_>,
    report: &Report<'_>,
    at: Span,
    message: String,
    proof: &Proof<'_, '_>,
    what: &str,
) -> Diagnostic {
    let mut finding = report.finding(at, message).at("whenever this applies …");
    for (nth, (route, span)) in proof.by.iter().enumerate() {
        let to = route.to.map_or_else(String::new, |to| format!(", and leads to `{to}`"));
        let label = match (nth, proof.by.len()) {
            (0, 1) => format!("… this does as well, and is tried first{to}"),
            (0, _) => format!("… this one{to}, or …"),
            _ => format!("… this one is tried first{to}"),
        };
        finding = finding.label(*span, label);
    }
    explain_core(finding, &proof.shadowed_by.core)
        .note(format!(
            "if several apply, the {what} with the lowest `{}` is taken; without priorities, the first",
            cx.words(at).keyword(Keyword::Priority)
        ))
        .help("put the narrower one first, or remove this one")
}
