//! A transition behind an action that the model picks.

use crate::rule::{AGENT_SCRIPT, AgentContext, Check, Group, Report, Rule};
use agentir_diagnostics::{RuleName, Severity};
use agentir_ir::{Offer, Statement};

pub(crate) static RULE: Rule = Rule {
    name: RuleName("dropped-transition"),
    group: Group::Reachability,
    severity: Severity::Warning,
    summary: "a transition below an action of the model's is dropped by the vendor's compiler",
    vendor: &[],
    dialects: AGENT_SCRIPT,
    check: Check::Agent(check),
};

fn check(cx: &AgentContext<'_>, report: &mut Report<'_>) {
    for offer in &cx.facts.offers {
        let Offer::Call { tool } = &offer.does else { continue };
        for statement in &offer.after.0 {
            let Statement::Handoff(handoff) = statement else { continue };
            let to = &handoff.agent;
            report.push(
                report
                    .finding(to.span, format!("the transition to `{to}` is dropped"))
                    .label(tool.span, format!("it stands below the action `{tool}`"))
                    .note("the specification allows it here (part I, 5.9), but the vendor's compiler leaves it out without a word")
                    .help(format!(
                        "set a variable here, and in `after_reasoning:` write `transition to @subagent.{to}` below an `if` on it"
                    )),
            );
        }
    }
}
