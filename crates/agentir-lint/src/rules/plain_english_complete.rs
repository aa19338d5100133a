//! A natural-language completion condition.

use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::ConditionKind;
use agentir_expr::dialect::{Construct, Keyword};
use agentir_ir::ConditionUse;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("plain-english-complete"),
    group: Group::Versions,
    severity: Severity::Error,
    summary: "`COMPLETE` has natural language instead of a condition",
    vendor: &["PLAIN_ENGLISH_COMPLETE_WHEN"],
    requires: &[Construct::Completion],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    for (condition, used) in &cx.index.conditions {
        if *used == ConditionUse::Completion && matches!(condition.kind, ConditionKind::Natural) {
            let words = cx.words(condition.span());
            let (complete, when) = (words.keyword(Keyword::Complete), words.keyword(Keyword::When));
            report.push(
                report
                    .finding(condition.span(), format!("the condition of `{complete}` is written in natural language"))
                    .note("the runtime evaluates it without the model, and a non-empty string is always true, so the agent completes immediately")
                    .help(format!(
                        "set a variable when this is the case, and test it here: {}, {}",
                        words.entry(when, "order_placed == true"),
                        words.entry(when, "all_fields_gathered == true"),
                    )),
            );
        }
    }
}
