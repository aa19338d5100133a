//! A condition that holds in every state.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{branches, comparisons, is_constant, is_stable};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Keyword;
use agentir_expr::{Condition, ConditionKind};
use agentir_ir::{ConditionUse, ConstraintKind};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("always-true-condition"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a condition is always true",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let (closed, mistyped_spans) = (closed(cx), cx.mistyped_conditions());
    for (condition, used) in &cx.index.conditions {
        let at = condition.span();
        let ConditionKind::Expr(expr) = &condition.kind else { continue };
        // Another rule reports the branches after one that is always taken.
        if is_constant(expr) || !is_stable(expr) || closed.contains(&at) || !cx.owns(at) {
            continue;
        }
        let mut alone = mistyped_spans.contains(&expr.span);
        comparisons(expr, &mut |c| {
            alone = alone || mistyped_spans.contains(&c.span) || cx.decide_comparison(c).is_some();
        });
        // The finding is reported at the comparison that decides the condition.
        if alone {
            continue;
        }
        let Some(core) = cx.prove_outcome(expr, true) else { continue };
        let (note, help) = note_and_help(cx, *used, at);
        let finding = report.finding(at, "this condition is always true").note(note).help(help);
        report.push(explain_core(finding, &core));
    }
}

/// Returns the conditions that further branches follow.
fn closed(cx: &AgentContext<'_, '_>) -> FxHashSet<agentir_diagnostics::Span> {
    let mut all = FxHashSet::default();
    let Some(agent_cfg) = cx.agent_cfg() else { return all };
    for at in agent_cfg.nodes() {
        let Some(node) = cx.program.graph().node(at) else { continue };
        if let Some((_, before)) = branches(node).split_last() {
            all.extend(before.iter().filter_map(|b| b.condition.as_ref()).map(Condition::span));
        }
    }
    all
}

/// Returns the effect of the condition, and what to do.
fn note_and_help(
    cx: &AgentContext<'_, '_>,
    used: ConditionUse,
    at: agentir_diagnostics::Span,
) -> (String, &'static str) {
    let mut constraints = cx
        .agent
        .constraints
        .constraints
        .iter()
        .chain(cx.profiles().flat_map(|p| &p.constraints))
        .filter(|c| c.condition.span() == at);
    match used {
        ConditionUse::Constraint
            if constraints.any(|c| c.kind == Some(ConstraintKind::Restrict)) =>
        {
            (
                cx.words(at).either(
"a `RESTRICT` fails when its condition is true, so this one fails whenever it is checked",
"a constraint of the kind `restrict` fails when its condition is true, so this one fails whenever it is checked").to_owned(),
                "state what must not happen",
            )
        }
        ConditionUse::Constraint => (
            format!(
                "the constraint can never fail, so its `{}` never runs",
                cx.words(at).keyword(Keyword::OnFail)
            ),
            "test what can go wrong, or remove the constraint",
        ),
        ConditionUse::Completion => (
            "the agent completes after its first turn".to_owned(),
            "test what shows that the agent has done its work",
        ),
        ConditionUse::Escalation => (
            "every conversation is escalated to a person immediately".to_owned(),
            "test for the cases in which a person has to take over",
        ),
        ConditionUse::Coordination => (
            "every conversation is handed over immediately".to_owned(),
            "test for when the other agent should take over",
        ),
        _ => (
            "whatever depends on it happens every time".to_owned(),
            "test something that can vary, or remove the condition",
        ),
    }
}
