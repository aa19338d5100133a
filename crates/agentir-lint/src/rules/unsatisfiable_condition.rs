//! A condition that holds in no state.

use crate::evidence::explain_core;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::conditions::{comparisons, is_constant, is_stable};
use agentir_diagnostics::{RuleName, Severity, Span};
use agentir_expr::Condition;
use agentir_ir::{ConditionUse, ConstraintKind, Instruction};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unsatisfiable-condition"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a condition can never be true",
    vendor: &[],
    requires: &[],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut mistyped_spans = cx.mistyped_conditions().clone();
    mistyped_spans.extend(cx.broken_comparisons());
    for (condition, used) in &cx.index.conditions {
        let Some(expr) = condition.expr() else { continue };
        if is_constant(expr) || !is_stable(expr) || !cx.owns(condition.span()) {
            continue;
        }
        // What surrounds an instruction is no condition that somebody wrote; its own part is never reached.
        if cx.agent.identity.instructions.iter().any(|i| is_nested(i, condition)) {
            continue;
        }
        let Some(core) = cx.prove_outcome(expr, false) else { continue };
        // The finding is reported at a comparison that never holds.
        let mut alone = mistyped_spans.contains(&expr.span);
        comparisons(expr, &mut |c| {
            alone = alone
                || mistyped_spans.contains(&c.span)
                || cx.decide_comparison(c).is_some_and(|(holds, _)| !holds);
        });
        if alone {
            continue;
        }
        let mut finding = report
            .finding(condition.span(), "this condition can never be true")
            .help("test for a value that can occur, or remove what depends on it");
        if *used == ConditionUse::Constraint {
            let all = &cx.agent.constraints.constraints;
            let restricts = all.iter().any(|c| {
                c.condition.span() == condition.span() && c.kind == Some(ConstraintKind::Restrict)
            });
            finding = finding.note(if restricts {
                cx.words(condition.span()).either(
"a `RESTRICT` fails when its condition is true, so this one never blocks anything",
"a constraint of the kind `restrict` fails when its condition is true, so this one never blocks anything")
            } else {
                "the constraint fails whenever it is checked, whatever the user says"
            });
        }
        report.push(explain_core(finding, &core));
    }
}

/// Whether a condition is that of an instruction, put together of those of the branches around it: nobody wrote it.
pub(super) fn is_nested(instruction: &Instruction, condition: &Condition) -> bool {
    let Span { start, end, .. } = condition.span();
    instruction.when.as_ref().is_some_and(|when| std::ptr::eq(when, condition))
        && condition.text.value.len() != (end - start) as usize
}
