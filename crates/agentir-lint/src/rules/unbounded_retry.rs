//! A failure that is retried without a limit.

use super::endless_loop::{explain, retries};
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_analysis::endless::endless_cycles;
use agentir_diagnostics::{RuleName, Severity};
use agentir_expr::dialect::{Construct, Keyword};
use agentir_flow::cfg::NodeKind;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unbounded-retry"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "a failure is retried without a limit and without asking the user",
    vendor: &[],
    requires: &[Construct::StepGraph],
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_, '_>, report: &mut Report<'_>) {
    let cfg = cx.program.graph();
    for cycle in endless_cycles(cx).iter().filter(|c| retries(cx, c)) {
        let also =
            if cycle.state.is_any() { String::new() } else { format!(" (with `{}`)", cycle.state) };
        let call = cycle
            .edges
            .iter()
            .filter_map(|id| cfg.node(cfg.edge(*id)?.0))
            .find(|node| node.kind == NodeKind::Call);
        let what = if call.is_some() { "the call" } else { "the check" };
        let message = format!("if {what} keeps failing, it is retried forever{also}");
        let mut finding = explain(cx, cycle, message, report);
        if let Some(call) = call {
            finding = finding.label(call.span, "this is called again each time");
        }
        let words = cx.words(finding.primary.span);
        report.push(finding.help(format!(
            "limit it with `{}` and `{}`, count the attempts, or go to another step",
            words.keyword(Keyword::MaxAttempts),
            words.keyword(Keyword::OnExhausted)
        )));
    }
}
