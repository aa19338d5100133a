//! An input that the model should fill, in a call without a model.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::ExprKind;
use agentir_expr::dialect::Construct;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("slot-filling-in-run"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "`run` leaves an input to the model, which is not involved there",
    vendor: &["slot-filling-in-deterministic-action"],
    requires: &[Construct::Procedures],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for call in &cx.index.calls {
        for argument in &call.with {
            if !matches!(argument.value.kind, ExprKind::Ellipsis) {
                continue;
            }
            let name = argument.name.as_ref().map(|n| n.value.as_str()).unwrap_or_default();
            report.push(
                report
                    .finding(
                        argument.value.span,
                        format!("`{name} = …` has no effect in `run`: the model does not fill it"),
                    )
                    .label(call.tool.span, "`run` calls the action directly, without the model")
                    .help(format!(
                        "pass a value, or offer the action to the model {}",
                        cx.words(call.tool.span)
                            .either("below `reasoning:`, `actions:`", "in `reasoning.bindings`")
                    )),
            );
        }
    }
}
