//! Something that failed is tried again and again.

use super::endless_loop::{explain, retries};
use crate::proof::circle::circles;
use crate::rule::{AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_flow::cfg::NodeKind;

pub(crate) static RULE: Rule = Rule {
    name: RuleName("unbounded-retry"),
    group: Group::Proofs,
    severity: Severity::Warning,
    summary: "what fails is tried again without a bound and without asking the user",
    vendor: &[],
    dialects: crate::rule::ABL,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    let cfg = cx.program.graph();
    for circle in circles(cx).iter().filter(|c| retries(cx, c)) {
        let also = if circle.state.is_empty() {
            String::new()
        } else {
            format!(" (with `{}`)", circle.state)
        };
        let call = circle
            .edges
            .iter()
            .filter_map(|id| cfg.node(cfg.edge(*id)?.0))
            .find(|node| node.kind == NodeKind::Call);
        let what = if call.is_some() { "the call" } else { "the check" };
        let message = format!("if {what} keeps failing, this tries it for ever{also}");
        let mut finding = explain(cx, circle, message, report);
        if let Some(call) = call {
            finding = finding.label(call.span, "this is called again each time");
        }
        report.push(finding.help(
            "limit it with `MAX_ATTEMPTS` and `ON_EXHAUSTED`, count the attempts, or lead the user elsewhere",
        ));
    }
}
