//! A variable that the model fills without a description.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::Construct;
use agentir_ir::{BindingAction, FilledBy};
use rustc_hash::FxHashSet;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("undescribed-variable"),
    group: Group::Prompts,
    severity: Severity::Warning,
    summary: "the model fills a variable that has no description",
    vendor: &["slot-filled-variable-missing-description"],
    requires: &[Construct::VariableTools],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let mut seen = FxHashSet::default();
    for offer in cx.index.offers.iter().filter(|o| matches!(o.action, BindingAction::Collect)) {
        for with in offer.with.iter().filter(|w| w.filled_by == FilledBy::Model) {
            let Some(variable) = cx.program.variables.get(with.name.value.as_str()) else {
                continue;
            };
            if variable.description.is_some() || !seen.insert(&variable.name.value) {
                continue;
            }
            let name = &variable.name;
            report.push(
                report
                    .finding(with.name.span, format!("the model fills `{name}`, which has no description"))
                    .label(name.span, "declared here, without a description")
                    .note("the model uses the description to find the value in the conversation (part II, 3)")
                    .help(format!("add `description: \"…\"` below `{name}`")),
            );
        }
    }
}
