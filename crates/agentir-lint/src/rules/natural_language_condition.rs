//! A natural-language condition where the runtime evaluates an expression.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{Confidence, RuleName, Severity, Span};
use agentir_expr::ConditionKind;
use agentir_expr::dialect::Construct;
use agentir_ir::ConditionUse;
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("natural-language-condition"),
    group: Group::Versions,
    severity: Severity::Info,
    summary: "natural language is used where the runtime evaluates a condition",
    vendor: &[],
    requires: &[Construct::NaturalLanguageConditions],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    // The model evaluates the rules of a reasoning zone.
    let steps = cx.agent.flow.iter().flat_map(|f| f.definitions.values());
    let for_model: FxHashSet<Span> = steps
        .filter_map(|s| s.reasoning_zone.as_ref())
        .flat_map(|z| &z.constraints)
        .map(|c| c.condition.span())
        .collect();
    for (condition, used) in &cx.index.conditions {
        let place = match used {
            // The model decides about handoffs; `COMPLETE` has a rule of its own.
            ConditionUse::Coordination | ConditionUse::Completion => continue,
            ConditionUse::Constraint => "a constraint",
            ConditionUse::Escalation => "an escalation condition",
            ConditionUse::Branch => "a branch",
            ConditionUse::Remember => "a `remember` rule",
            ConditionUse::Applies | ConditionUse::Other => "a condition",
        };
        let reported =
            matches!(condition.kind, ConditionKind::Natural) && cx.owns(condition.span());
        if reported && !for_model.contains(&condition.span()) {
            let guards = matches!(used, ConditionUse::Constraint);
            let note = match guards {
                true => {
                    "`agentir run` has the model judge it; a platform that evaluates it has a non-empty string, and the guard is open"
                }
                false => {
                    "the runtime evaluates it without the model, and a non-empty string is always true"
                }
            };
            let mut finding = report
                .finding(condition.span(), format!("{place} is written in natural language"))
                .confidence(Confidence::Medium)
                .note(note)
                .help("test a variable, for example `status == \"open\"`, or `user.intent == \"…\"` for what the user wants");
            if guards {
                finding.severity = Severity::Warning;
            }
            report.push(finding);
        }
    }
}
